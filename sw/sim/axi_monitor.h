// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Protocol monitors for AXI4 read, AXI4 write and AXI4-Lite ports: cheap enough to stay on in every run.
//
// Call sample(cycle) once a cycle when all signals have settled, right before the rising edge (before
// AxiMemory::pre_edge()). Each monitor watches both sides of its port, so a fault of the memory model shows
// as well. A broken rule becomes a ProtocolError in the ProtocolLog that the monitors of a run share;
// finish() adds what is still open at the end. Rules are those of the AMBA AXI specification (IHI 0022),
// narrowed to what Kaiten may do: INCR bursts of full-width aligned beats, at most `max_beats` long.
#ifndef KAITEN_SIM_AXI_MONITOR_H
#define KAITEN_SIM_AXI_MONITOR_H

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/axi_port.h"

namespace kaiten::sim {

enum class AxiRule {
  kValidDropped,    // VALID fell before READY
  kPayloadChanged,  // payload changed while VALID waited for READY; value: which signal, 0 = first of the
                    // channel
  kBurstType,       // AxBURST is not INCR
  kBurstSize,       // AxSIZE is not the bus width
  kBurstLength,     // more than max_beats
  kUnaligned,       // AxADDR is not a multiple of the bus width (AXI4-Lite: of the register width)
  kPage,            // the burst crosses a 4 KiB line
  kIdentifier,      // an ID that the port does not use
  kOutstanding,     // more bursts outstanding than allowed
  kLast,            // RLAST or WLAST missing or early; value: beats of the burst so far
  kNoRequest,       // a response (or read data) that nothing asked for
  kResponse,        // a response code that may not occur (EXOKAY; DECERR and SLVERR are legal)
  kStrobe,          // a write beat without any strobe
  kReset,           // VALID high in reset
  kUnfinished,      // at the end of the run: bursts without their last response; value: how many
};
const char* name(AxiRule rule);

struct ProtocolError {
  uint64_t cycle;
  std::string port;
  const char* channel;  // "AR", "R", "AW", "W", "B"
  AxiRule rule;
  uint64_t value;  // the offending value: address, length, code ...
  std::string text() const;
};

class ProtocolViolation : public DeviceError {
 public:
  explicit ProtocolViolation(const ProtocolError& error) : DeviceError(error.text()), error(error) {}
  ProtocolError error;
};

// Collects errors (the first thousand; all are counted) or throws at the first.
class ProtocolLog {
 public:
  explicit ProtocolLog(bool throw_at_first = false) : throw_(throw_at_first) {}
  void add(const ProtocolError& error);
  const std::vector<ProtocolError>& errors() const { return errors_; }
  uint64_t count() const { return count_; }
  bool clean() const { return count_ == 0; }
  // Throws the first error, if there is one.
  void check() const;

 private:
  bool throw_;
  uint64_t count_ = 0;
  std::vector<ProtocolError> errors_;
};

// Payload of an AR or AW channel.
struct AxiAddress {
  uint64_t address;
  uint8_t id, len, size, burst;
};

// An AR or AW channel from one edge to the next.
struct AxiAddressChannel {
  bool waits = false;  // VALID was high without READY
  AxiAddress offered{};
};

struct AxiMonitorOptions {
  std::string name = "axi";
  unsigned max_beats = 16;
  unsigned outstanding = 16;  // bursts, all IDs together
  unsigned ids = 1;           // IDs 0 .. ids - 1
};

class AxiReadMonitor {
 public:
  AxiReadMonitor(const AxiReadPort& port, const AxiMonitorOptions& options, ProtocolLog& log);
  void sample(uint64_t cycle) {
    if (*p_.ar_valid | *p_.r_valid | waits_) busy_sample(cycle);
  }
  void sample_in_reset(uint64_t cycle);
  void finish(uint64_t cycle);
  unsigned outstanding() const { return open_; }

 private:
  void busy_sample(uint64_t cycle);
  void sample_data(uint64_t cycle);
  void sample_address(uint64_t cycle);
  void fail(uint64_t cycle, const char* channel, AxiRule rule, uint64_t value);

  AxiReadPort p_;
  AxiMonitorOptions options_;
  ProtocolLog& log_;
  bool waits_ = false;  // a VALID was high without READY
  AxiAddressChannel ar_;
  bool r_waits_ = false;
  struct {
    uint8_t id, resp, last;
    std::array<uint8_t, 128> data;
  } r_{};
  std::array<std::deque<unsigned>, 256> beats_;  // by ID: beats of the open bursts
  std::array<unsigned, 256> got_{};              // by ID: beats of the oldest that have come
  unsigned open_ = 0;
};

class AxiWriteMonitor {
 public:
  AxiWriteMonitor(const AxiWritePort& port, const AxiMonitorOptions& options, ProtocolLog& log);
  void sample(uint64_t cycle) {
    if (*p_.aw_valid | *p_.w_valid | *p_.b_valid | waits_) busy_sample(cycle);
  }
  void sample_in_reset(uint64_t cycle);
  void finish(uint64_t cycle);
  unsigned outstanding() const { return open_; }

 private:
  void busy_sample(uint64_t cycle);
  void sample_response(uint64_t cycle);
  void sample_address(uint64_t cycle);
  void sample_data(uint64_t cycle);
  void complete();
  void fail(uint64_t cycle, const char* channel, AxiRule rule, uint64_t value);

  AxiWritePort p_;
  AxiMonitorOptions options_;
  ProtocolLog& log_;
  bool waits_ = false, w_waits_ = false, b_waits_ = false;
  AxiAddressChannel aw_;
  struct {
    uint64_t strobes;
    uint8_t last;
    std::array<uint8_t, 128> data;
  } w_{};
  struct {
    uint8_t id, resp;
  } b_{};
  struct Address {
    unsigned beats;
    uint8_t id;
  };
  std::deque<Address> addresses_;           // accepted, data not complete
  std::deque<unsigned> data_;               // data complete, address not accepted: beats
  unsigned got_ = 0;                        // beats of the burst whose data are coming
  std::array<unsigned, 256> answerable_{};  // by ID: bursts complete, response not taken
  unsigned open_ = 0;                       // addresses accepted, response not taken
};

class AxiLiteMonitor {
 public:
  AxiLiteMonitor(const AxiLitePort& port, const AxiMonitorOptions& options, ProtocolLog& log);
  void sample(uint64_t cycle) {
    if (*p_.aw_valid | *p_.w_valid | *p_.b_valid | *p_.ar_valid | *p_.r_valid | waits_) busy_sample(cycle);
  }
  void sample_in_reset(uint64_t cycle);
  void finish(uint64_t cycle);

 private:
  void busy_sample(uint64_t cycle);
  void fail(uint64_t cycle, const char* channel, AxiRule rule, uint64_t value);
  struct Held {
    bool waits = false;
    std::array<uint64_t, 2> payload{};
  };
  // Stability of one channel.
  void hold(uint64_t cycle, const char* channel, Held& held, bool valid, bool ready, uint64_t a, uint64_t b);

  AxiLitePort p_;
  AxiMonitorOptions options_;
  ProtocolLog& log_;
  bool waits_ = false;
  Held aw_, w_, b_, ar_, r_;
  unsigned addresses_ = 0, data_ = 0, reads_ = 0;  // accepted, not yet answered
};

}  // namespace kaiten::sim

#endif  // KAITEN_SIM_AXI_MONITOR_H
