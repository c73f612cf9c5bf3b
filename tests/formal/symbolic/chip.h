// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A chip (the netlist of kaiten_top), its registers written over AXI4-Lite, and a memory behind its AXI4 port, whose bytes are
// literals. The bus does in each cycle what the caller chooses; what AXI4 forbids a memory to do is no choice. All that decides
// when something happens must be known: a valid, an address or an interrupt that depends on data ends the run.
#ifndef KAITEN_TESTS_FORMAL_SYMBOLIC_CHIP_H
#define KAITEN_TESTS_FORMAL_SYMBOLIC_CHIP_H

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/formal/symbolic/netlist.h"

namespace kaiten::symbolic {

using Byte = std::array<Literal, 8>;

// What went wrong in a run: a message that names the cycle; a bit that should be known and is not.
struct RunError : std::runtime_error {
  explicit RunError(const std::string& text, Literal bit = kFalse) : std::runtime_error(text), unknown(bit) {}
  Literal unknown;
};

// Bytes by address. Where nobody has put any, reads find unknown ones.
class Contents {
 public:
  using Unknown = Simulation::Unknown;
  explicit Contents(Unknown unknown) : unknown_(std::move(unknown)) {}
  void put(std::uint64_t address, const Byte& byte) { bytes_[address] = byte; }
  void put(std::uint64_t address, std::span<const std::uint8_t> bytes);
  const Byte& get(std::uint64_t address);
  const Unknown& unknown() const { return unknown_; }

 private:
  Unknown unknown_;
  std::map<std::uint64_t, Byte> bytes_;
};

// What the bus does not do in a cycle though it could.
enum Stall : unsigned { kStallAr = 1, kStallR = 2, kStallAw = 4, kStallW = 8, kStallB = 16, kOtherRead = 32 };

class Chip {
 public:
  static std::vector<std::string> observed();

  // `contents` must outlive the chip and its copies, which share them; what the chip writes is each one's own. Without stalls a
  // read's first beat comes `latency` cycles after its address, the answer to a write as long after its last beat; at least 1.
  Chip(const Netlist& netlist, Nodes& nodes, Contents& contents, unsigned latency);

  // From the next cycle on these registers are written one after the other.
  void write_registers(std::vector<std::pair<std::uint32_t, std::uint32_t>> writes);
  std::size_t registers_left() const { return writes_.size() - next_write_; }
  bool registers_written() const { return next_write_ == writes_.size(); }
  // One cycle; `stalls` are bits of Stall. kOtherRead: of two reads with different IDs the younger one's beat comes.
  void cycle(unsigned stalls);
  // Stalls of what the memory offers that are possible in the next cycle.
  unsigned offers() const;
  // Stalls of what the chip offered in the last one.
  unsigned offered_by_chip() const { return offered_by_chip_; }

  bool interrupt() const { return interrupt_; }
  bool idle() const { return reads_.empty() && addresses_.empty() && beats_.empty() && answers_.empty(); }
  int cycles() const { return cycles_; }
  const std::map<std::uint64_t, Byte>& written() const { return written_; }
  // Equal for equal states of chip and memory.
  std::array<std::uint64_t, 2> state() const;

 private:
  struct Read {
    std::uint64_t address = 0;
    unsigned left = 0, id = 0;
    unsigned wait = 0;  // cycles before its first beat
  };
  struct Write {
    std::uint64_t address = 0;
    unsigned left = 0;
  };
  struct Beat {
    Word data;
    std::uint64_t strobes = 0;
    bool last = false;
  };

  std::uint64_t number(const std::string& port) const;
  void put(const std::string& port, std::uint64_t n);
  [[noreturn]] void fail(const std::string& what) const;
  std::size_t offered(unsigned stalls) const;
  bool answer_due() const { return !answers_.empty() && answers_.front() == 0; }
  void wait();
  void give(unsigned stalls);
  void take_reads();
  void take_writes();
  void commit();
  Byte byte(std::uint64_t address);

  Simulation simulation_;
  Contents* contents_;
  unsigned latency_;
  Word junk_;  // on data lines without a valid
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes_;
  std::size_t next_write_ = 0;
  bool address_taken_ = false, data_taken_ = false;
  std::deque<Read> reads_;
  std::size_t offer_ = 0;  // 1 + place in reads_ of the beat on the lines, which stays until it is taken
  std::deque<Write> addresses_;
  std::deque<Beat> beats_;
  std::deque<unsigned> answers_;  // cycles before each
  bool answer_offered_ = false;
  std::map<std::uint64_t, Byte> written_;
  unsigned offered_by_chip_ = 0;
  bool interrupt_ = false;
  int cycles_ = 0;
};

}  // namespace kaiten::symbolic

#endif  // KAITEN_TESTS_FORMAL_SYMBOLIC_CHIP_H
