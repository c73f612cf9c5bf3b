// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// AXI4 slave memory for the simulation loop: one read port, one write port, one flat array of bytes.
//
// Use, once a cycle of the Verilated model:
//     memory.pre_edge();              // the model's outputs have settled: note the handshakes of the coming
//     edge top.clk_i = 1; top.eval(); memory.post_edge();             // drive the port's inputs for the next
//     edge top.clk_i = 0; top.eval();
// The constructor drives all inputs to their idle state, so create it before the first eval(). Both calls are
// cheap when nothing happens; a beat costs one copy of the bus width.
//
// Timing. `read_latency` counts edges from the one that takes an address to the one that can take its first
// beat, `write_latency` from the edge that takes the last data beat to the one that can take the response;
// both at least 1. `bytes_per_cycle` (0: no bound; may be a fraction) bounds the beats of both directions
// together, as one DRAM on the bus does, counting a beat as the whole bus width; with
// `separate_directions` each direction has it for itself. Stalls withhold a READY or a VALID with the given
// probability in each cycle.
//
// Order. Beats of one ID return in the order of their addresses; with `shuffle_ids` beats of different IDs
// interleave at random. Write data may come before their address (they are kept). A write is in memory when
// its beat is taken, a read samples memory when its beat is put on the bus.
//
// Bursts must be INCR with full-width beats; anything else throws DeviceError (the monitors report the finer
// rules).
#ifndef KAITEN_SIM_AXI_MEMORY_H
#define KAITEN_SIM_AXI_MEMORY_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "sim/axi_port.h"
#include "sim/random.h"

namespace kaiten::sim {

inline constexpr uint8_t kRespOkay = 0, kRespExokay = 1, kRespSlverr = 2, kRespDecerr = 3;

struct AxiMemoryOptions {
  static constexpr double kLeastBytesPerCycle = 0.01, kMostBytesPerCycle = 1e6;

  uint64_t base = 0;  // address of the first byte
  size_t bytes = size_t{1} << 20;
  uint8_t* storage = nullptr;  // the caller's bytes, which outlive the memory; null: its own, zero at first
  unsigned read_latency = 1;   // cycles
  unsigned write_latency = 1;  // cycles
  double bytes_per_cycle = 0;  // 0: unbounded; else in the range above
  bool separate_directions = false;
  unsigned max_reads = 64;  // bursts taken and not finished; ARREADY is low beyond
  unsigned max_writes = 64;
  unsigned stall_ar = 0, stall_r = 0, stall_aw = 0, stall_w = 0, stall_b = 0;  // percent of the cycles
  void stall_all(unsigned percent) { stall_ar = stall_r = stall_aw = stall_w = stall_b = percent; }
  bool shuffle_ids = false;
  bool data_first = false;  // AWREADY waits for a beat of the burst, as AXI4 allows
  uint64_t seed = 1;
};

struct AxiMemoryCounters {
  uint64_t read_bursts = 0, read_beats = 0;
  uint64_t write_bursts = 0, write_beats = 0;
  uint64_t write_bytes = 0;                      // bytes with their strobe set
  std::array<uint64_t, 256> read_beats_of_id{};  // by ARID
  unsigned most_reads = 0, most_writes = 0;      // outstanding bursts, highest seen
};

class AxiMemory {
 public:
  explicit AxiMemory(const AxiMemoryOptions& options);

  // Either port may be left unconnected. Drives the port's inputs to idle.
  void connect(const AxiReadPort& port);
  void connect(const AxiWritePort& port);

  void pre_edge() {
    const bool reads = r_.ar_valid && (*r_.ar_valid | *r_.r_valid);
    const bool writes = w_.aw_valid && (*w_.aw_valid | *w_.w_valid | *w_.b_valid);
    event_ = (reads || writes) && accept();
  }
  void post_edge() {
    if (!quiet_ || event_) drive();
    cycle_++;
  }
  // Forgets everything under way and drives the inputs to idle; contents, counters and options stay.
  void reset();

  // Bytes that somebody else moved just now, a DMA engine of a link: of a bounded bandwidth (of the direction, where they
  // are separate) they are gone for the port.
  void charge(size_t bytes, bool write);

  // Direct access, by bus address; throws DeviceError when the range is not inside the memory.
  std::span<uint8_t> at(uint64_t address, size_t bytes);
  std::span<const uint8_t> at(uint64_t address, size_t bytes) const;

  // Error responses. A range applies to every beat that touches first .. last (reads) or burst with such a
  // beat (writes, whose bytes are then not written); the n-th beat or burst counts from now, 0 is the next
  // one.
  void fail_range(uint64_t first, uint64_t last, uint8_t resp, bool reads = true, bool writes = true);
  void fail_read_beat(uint64_t n, uint8_t resp);
  void fail_write_burst(uint64_t n, uint8_t resp);
  void clear_failures();

  void set_options(const AxiMemoryOptions& options);  // timing, stalls and seed; base and bytes must stay
  const AxiMemoryOptions& options() const { return options_; }
  const AxiMemoryCounters& counters() const { return counters_; }
  void clear_counters() { counters_ = {}; }
  uint64_t cycle() const { return cycle_; }
  bool idle() const {
    return reads_.empty() && writes_.empty() && early_.empty() && responses_.empty() && !r_on_;
  }

 private:
  struct Read {
    uint64_t address;  // of the next beat
    uint64_t ready;    // cycle
    unsigned beats;    // left
    uint8_t id;
  };
  struct Write {
    uint64_t address;
    unsigned beats;
    uint8_t id, resp;
  };
  struct Response {
    uint64_t ready;
    uint8_t id, resp;
  };
  struct Beat {
    std::array<uint8_t, 64> data;
    uint64_t strobes;
  };
  struct Failure {
    uint64_t first, last;
    uint8_t resp;
    bool reads, writes;
  };

  static constexpr int64_t kOne = int64_t{1} << 32;  // fixed point of the bandwidth account

  bool accept();  // takes the handshakes of the coming edge, true if there is one
  void drive();
  void accept_read();
  void accept_write_address();
  void accept_write_data();
  void apply(const uint8_t* data, uint64_t strobes);
  bool put_read_beat();
  uint8_t range_response(uint64_t address, bool write) const;
  void refill();
  void drive_idle();

  AxiMemoryOptions options_;
  std::unique_ptr<uint8_t, decltype(&std::free)> own_{nullptr, &std::free};
  uint8_t* memory_;
  AxiReadPort r_;
  AxiWritePort w_;
  AxiMemoryCounters counters_;
  Random random_;

  uint64_t cycle_ = 0;
  bool stalls_ = false;  // any stall option set
  bool event_ = false;   // a handshake at the edge, or something driven that is not idle
  bool quiet_ = true;    // inputs stand at idle and nothing is under way
  bool r_on_ = false;    // a read beat stands on the bus
  bool r_taken_ = false, b_taken_ = false;

  std::vector<Read> reads_;
  std::vector<Write> writes_;  // addresses whose data are not complete
  std::deque<Beat> early_;     // data taken before their address
  std::deque<Response> responses_;
  bool b_on_ = false;
  bool read_last_ = false;  // the last beat that used bandwidth was a read

  // bandwidth: bytes that may pass, in 1 / kOne
  int64_t rate_ = 0, cap_ = 0;
  std::array<int64_t, 2> credit_{};  // read (or both), write
  uint64_t credit_cycle_ = 0;

  std::vector<Failure> failures_;
  std::vector<std::pair<uint64_t, uint8_t>> fail_reads_, fail_writes_;  // absolute beat or burst number
  uint64_t read_number_ = 0, write_number_ = 0;
};

}  // namespace kaiten::sim

#endif  // KAITEN_SIM_AXI_MEMORY_H
