// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Runs a system on chip that soc/system.py wrote until its firmware's last word: prints its serial line, watches both ports of the
// accelerator with the protocol monitors of sw/sim.
//
// usage: soc_NAME [CYCLES [FAULT]]    in the folder of the memories' contents
//   CYCLES  limit, default 50 million
//   FAULT   shows the monitors one wrong signal, as `--faults` names them; they must find it
// Exit code: 0 PASS, 1 FAIL or a broken rule, 2 usage, 3 neither within the limit.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "Vkaiten_soc.h"
#include "sim/axi_monitor.h"

namespace {

using kaiten::sim::AxiLiteMonitor;
using kaiten::sim::AxiMonitorOptions;
using kaiten::sim::AxiReadMonitor;
using kaiten::sim::AxiWriteMonitor;
using kaiten::sim::ProtocolLog;

// The signals of both ports as the monitors see them.
struct Seen {
  uint8_t ar_valid, ar_ready, ar_id, ar_len, ar_size, ar_burst, r_valid, r_ready, r_id, r_resp, r_last;
  uint8_t aw_valid, aw_ready, aw_id, aw_len, aw_size, aw_burst, w_valid, w_ready, w_last, b_valid, b_ready,
      b_id, b_resp;
  uint16_t w_strb;
  uint64_t ar_addr, aw_addr;
  std::array<uint32_t, 4> r_data, w_data;
  struct {
    uint8_t aw_valid, aw_ready, w_valid, w_ready, w_strb, b_valid, b_ready, b_resp;
    uint8_t ar_valid, ar_ready, r_valid, r_ready, r_resp;
    uint32_t aw_addr, w_data, ar_addr, r_data;
  } lite;

  void look(Vkaiten_soc& soc) {
    ar_valid = soc.axi_ar_valid, ar_ready = soc.axi_ar_ready, ar_id = soc.axi_ar_id;
    ar_len = soc.axi_ar_len, ar_size = soc.axi_ar_size, ar_burst = soc.axi_ar_burst;
    r_valid = soc.axi_r_valid, r_ready = soc.axi_r_ready, r_id = soc.axi_r_id;
    r_resp = soc.axi_r_resp, r_last = soc.axi_r_last;
    aw_valid = soc.axi_aw_valid, aw_ready = soc.axi_aw_ready, aw_id = soc.axi_aw_id;
    aw_len = soc.axi_aw_len, aw_size = soc.axi_aw_size, aw_burst = soc.axi_aw_burst;
    w_valid = soc.axi_w_valid, w_ready = soc.axi_w_ready, w_last = soc.axi_w_last;
    b_valid = soc.axi_b_valid, b_ready = soc.axi_b_ready, b_id = soc.axi_b_id, b_resp = soc.axi_b_resp;
    w_strb = soc.axi_w_strb, ar_addr = soc.axi_ar_addr, aw_addr = soc.axi_aw_addr;
    lite = {soc.lite_aw_valid, soc.lite_aw_ready, soc.lite_w_valid, soc.lite_w_ready,  soc.lite_w_strb,
            soc.lite_b_valid,  soc.lite_b_ready,  soc.lite_b_resp,  soc.lite_ar_valid, soc.lite_ar_ready,
            soc.lite_r_valid,  soc.lite_r_ready,  soc.lite_r_resp,  soc.lite_aw_addr,  soc.lite_w_data,
            soc.lite_ar_addr,  soc.lite_r_data};
    for (size_t i = 0; i < r_data.size(); i++) r_data[i] = soc.axi_r_data[i], w_data[i] = soc.axi_w_data[i];
  }
};

// A wrong signal, and when it may be shown.
struct Fault {
  const char* name;
  bool (*show)(Seen&);  // false: not now
};
const std::array<Fault, 10> kFaults = {{
    {"ar_len", [](Seen& s) { return s.ar_valid && (s.ar_len = 63) != 0; }},
    {"ar_addr", [](Seen& s) { return s.ar_valid && !s.ar_ready && (s.ar_addr ^= 64, true); }},
    {"r_id", [](Seen& s) { return s.r_valid && s.r_ready && !s.r_last && (s.r_id ^= 1, true); }},
    {"r_last", [](Seen& s) { return s.r_valid && s.r_ready && (s.r_last ^= 1, true); }},
    {"r_resp", [](Seen& s) { return s.r_valid && (s.r_resp = 1) != 0; }},
    {"w_last", [](Seen& s) { return s.w_valid && s.w_ready && (s.w_last ^= 1, true); }},
    {"b_valid", [](Seen& s) { return !s.b_valid && (s.b_valid = s.b_ready = 1) != 0; }},
    {"lite_aw_addr", [](Seen& s) { return s.lite.aw_valid && (s.lite.aw_addr |= 2) != 0; }},
    {"lite_r_valid", [](Seen& s) { return !s.lite.r_valid && (s.lite.r_valid = s.lite.r_ready = 1) != 0; }},
    {"lite_r_resp", [](Seen& s) { return s.lite.r_valid && (s.lite.r_resp = 1) != 0; }},
}};

// The serial line: whole lines are printed; a line that ends in PASS or FAIL is the last.
class Console {
 public:
  // 'P', 'F', or 0 where it goes on.
  char take(char byte) {
    if (byte == '\r') return 0;
    if (byte != '\n') {
      line_ += byte;
      return 0;
    }
    std::printf("%s\n", line_.c_str());
    std::fflush(stdout);
    const char verdict = line_.ends_with("PASS") ? 'P' : line_.ends_with("FAIL") ? 'F' : '\0';
    line_.clear();
    return verdict;
  }

 private:
  std::string line_;
};

class Bench {
 public:
  explicit Bench(const Fault* fault) : fault_(fault) {}

  int run(uint64_t limit) {
    const auto start = std::chrono::steady_clock::now();
    soc_.serial_source_ready = 1;
    soc_.rst = 1;
    const uint64_t patience = fault_ ? 0 : 20;  // with broken rules
    char verdict = 0;
    uint64_t cycle = 0;
    for (; cycle < limit && verdict == 0; cycle++) {
      if (cycle == kResetCycles) soc_.rst = 0;
      soc_.clk = 0;
      soc_.eval();
      if (cycle > kResetCycles + 1) watch(cycle);
      if (soc_.serial_source_valid) verdict = console_.take(char(soc_.serial_source_data));
      if (log_.count() > patience) break;
      soc_.clk = 1;
      soc_.eval();
    }
    if (verdict == 'P') {
      reads_.finish(cycle);
      writes_.finish(cycle);
      registers_.finish(cycle);
    }
    for (const kaiten::sim::ProtocolError& error : log_.errors()) std::printf("%s\n", error.text().c_str());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf(
        "simulated: %llu cycles, %.0f kHz; ports: %llu read bursts, %llu write bursts, %llu rules broken\n",
        static_cast<unsigned long long>(cycle), double(cycle) / seconds / 1000, read_bursts_, write_bursts_,
        static_cast<unsigned long long>(log_.count()));
    if (fault_) std::printf("fault %s was never shown\n", fault_->name);
    if (verdict == 'P' && log_.clean() && read_bursts_ > 0 && write_bursts_ > 0 && !fault_) return 0;
    if (verdict == 0 && log_.clean())
      std::printf("no PASS within %llu cycles\n", static_cast<unsigned long long>(limit));
    return verdict == 0 && log_.clean() ? 3 : 1;
  }

 private:
  static constexpr uint64_t kResetCycles = 16;

  void watch(uint64_t cycle) {
    seen_.look(soc_);
    // Not before some bursts: a fault in the first would say less.
    if (fault_ && read_bursts_ > 100 && fault_->show(seen_)) fault_ = nullptr;
    read_bursts_ += seen_.ar_valid & seen_.ar_ready;
    write_bursts_ += seen_.aw_valid & seen_.aw_ready;
    reads_.sample(cycle);
    writes_.sample(cycle);
    registers_.sample(cycle);
  }

  static AxiMonitorOptions options(const char* name, unsigned ids) {
    AxiMonitorOptions o;
    o.name = name;
    o.outstanding = 64;
    o.ids = ids;
    return o;
  }

  const Fault* fault_;
  Vkaiten_soc soc_;
  Seen seen_{};
  Console console_;
  ProtocolLog log_;
  unsigned long long read_bursts_ = 0, write_bursts_ = 0;
  AxiReadMonitor reads_{{16, &seen_.ar_valid, &seen_.ar_ready, &seen_.ar_id, &seen_.ar_addr, &seen_.ar_len,
                         &seen_.ar_size, &seen_.ar_burst, &seen_.r_valid, &seen_.r_ready, &seen_.r_id,
                         seen_.r_data.data(), &seen_.r_resp, &seen_.r_last},
                        options("memory", 2),
                        log_};
  AxiWriteMonitor writes_{
      {16, &seen_.aw_valid, &seen_.aw_ready, &seen_.aw_id, &seen_.aw_addr, &seen_.aw_len, &seen_.aw_size,
       &seen_.aw_burst, &seen_.w_valid, &seen_.w_ready, seen_.w_data.data(), &seen_.w_strb, &seen_.w_last,
       &seen_.b_valid, &seen_.b_ready, &seen_.b_id, &seen_.b_resp},
      options("memory", 1),
      log_};
  AxiLiteMonitor registers_{
      {4, &seen_.lite.aw_valid, &seen_.lite.aw_ready, &seen_.lite.aw_addr, &seen_.lite.w_valid,
       &seen_.lite.w_ready, &seen_.lite.w_data, &seen_.lite.w_strb, &seen_.lite.b_valid, &seen_.lite.b_ready,
       &seen_.lite.b_resp, &seen_.lite.ar_valid, &seen_.lite.ar_ready, &seen_.lite.ar_addr,
       &seen_.lite.r_valid, &seen_.lite.r_ready, &seen_.lite.r_data, &seen_.lite.r_resp},
      options("registers", 1),
      log_};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--faults") {
    for (const Fault& fault : kFaults) std::printf("%s\n", fault.name);
    return 0;
  }
  const uint64_t limit = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50'000'000;
  const Fault* fault = nullptr;
  for (const Fault& f : kFaults)
    if (argc > 2 && std::string_view(argv[2]) == f.name) fault = &f;
  if (argc > 3 || limit == 0 || (argc > 2 && !fault)) {
    std::fprintf(stderr, "usage: %s [CYCLES [FAULT]]\n", argv[0]);
    return 2;
  }
  return Bench(fault).run(limit);
}
