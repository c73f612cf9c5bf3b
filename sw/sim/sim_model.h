// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// SimDevice around one Verilated class. Included once per model by sim_model.cpp.
#ifndef KAITEN_SIM_SIM_MODEL_H
#define KAITEN_SIM_SIM_MODEL_H

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sim/axi_memory.h"
#include "sim/axi_monitor.h"
#include "sim/coverage_file.h"
#include "sim/sim_device.h"
#include "sim/watch_fields.h"
#include "sim/wave_error.h"
#include "verilated.h"

namespace kaiten::sim {

// Traced models have trace(); the others take any Trace type without looking at it.
struct NoTrace {
  void dump(std::uint64_t) {}
  void close() {}
};

// `evaluate` is Model::eval(), or what is faster, once eval() has been called.
template <class Model, class Trace, void (*evaluate)(Model&)>
class SimModel final : public SimDevice {
 public:
  explicit SimModel(const SimOptions& options)
      : options_(options),
        context_(std::make_unique<VerilatedContext>()),
        memory_(options.memory),
        log_(true) {
    context_->randReset(options.debug ? kInitialState : 0);
    context_->randSeed(static_cast<int>(options.memory.seed % 0x7fffffff) + 1);
    context_->traceEverOn(!options.wave_file.empty());
    top_ = std::make_unique<Model>(context_.get());
    if constexpr (kTraced) {
      if (!options.wave_file.empty()) {
        trace_ = std::make_unique<Trace>();
        top_->trace(trace_.get(), 99);
        trace_->open(options.wave_file.c_str());
      }
    }
    // The reset is asynchronous: with a falling edge it acts before the first clock.
    if constexpr (kMutants) select_mutant();
    top_->clk_i = 0;
    top_->rst_ni = 1;
    top_->eval();
    top_->rst_ni = 0;
    top_->eval();
    top_->csr_aw_valid_i = top_->csr_w_valid_i = top_->csr_ar_valid_i = 0;
    top_->csr_b_ready_i = top_->csr_r_ready_i = 1;
    const AxiReadPort read = KAITEN_AXI_READ_PORT(*top_, axi_);
    const AxiWritePort write = KAITEN_AXI_WRITE_PORT(*top_, axi_);
    memory_.connect(read);
    memory_.connect(write);
    AxiMonitorOptions rules;
    rules.name = "axi";
    rules.ids = 2;
    rules.outstanding = 8 + 32;  // fetch and LOAD
    read_monitor_ = std::make_unique<AxiReadMonitor>(read, rules, log_);
    rules.ids = 1;
    rules.outstanding = 8;
    write_monitor_ = std::make_unique<AxiWriteMonitor>(write, rules, log_);
    AxiMonitorOptions lite;
    lite.name = "csr";
    lite_monitor_ = std::make_unique<AxiLiteMonitor>(lite_port(), lite, log_);
    for (int i = 0; i < 4; i++) edge();
    memory_.reset();  // before the first edge of the reset anything may have stood on the bus
    top_->rst_ni = 1;
    top_->eval();
    running_ = true;
  }
  ~SimModel() override {
    try {
      close_waves();
    } catch (const InputError&) {  // of a run that has ended for another reason: its waves are not wanted
    }
    // Verilator's destructors look at the context that the thread used last: that of another device, which may be gone.
    Verilated::threadContextp(context_.get());
    top_->final();
    save_coverage(*context_);
    top_.reset();
  }

  std::uint32_t read_register(std::uint32_t address) override {
    set_address(top_->csr_ar_addr_i, address);
    top_->csr_ar_valid_i = 1;
    bool taken = false;
    for (int i = 0; i < kRegisterLimit; i++) {
      top_->eval();
      taken = taken || top_->csr_ar_ready_o;
      const bool answer = top_->csr_r_valid_o;
      const std::uint32_t data = top_->csr_r_data_o;
      const unsigned response = top_->csr_r_resp_o;
      edge();
      if (taken) top_->csr_ar_valid_i = 0;
      if (answer) return checked(response, address, data);
    }
    throw DeviceError("register read at " + std::to_string(address) + " is not answered");
  }

  void write_register(std::uint32_t address, std::uint32_t value) override {
    set_address(top_->csr_aw_addr_i, address);
    top_->csr_w_data_i = value;
    top_->csr_w_strb_i = 15;
    top_->csr_aw_valid_i = top_->csr_w_valid_i = 1;
    bool address_taken = false, data_taken = false;
    for (int i = 0; i < kRegisterLimit; i++) {
      top_->eval();
      address_taken = address_taken || top_->csr_aw_ready_o;
      data_taken = data_taken || top_->csr_w_ready_o;
      const bool answer = top_->csr_b_valid_o;
      const unsigned response = top_->csr_b_resp_o;
      edge();
      if (address_taken) top_->csr_aw_valid_i = 0;
      if (data_taken) top_->csr_w_valid_i = 0;
      if (answer) {
        checked(response, address, 0);
        return;
      }
    }
    throw DeviceError("register write at " + std::to_string(address) + " is not answered");
  }

  std::uint64_t memory_base() const override { return options_.memory.base; }
  std::uint64_t memory_bytes() const override { return options_.memory.bytes; }
  void write_memory(std::uint64_t address, std::span<const std::uint8_t> data) override {
    if (!data.empty()) std::copy(data.begin(), data.end(), memory_.at(address, data.size()).begin());
  }
  void read_memory(std::uint64_t address, std::span<std::uint8_t> data) override {
    if (data.empty()) return;
    const auto bytes = memory_.at(address, data.size());
    std::copy(bytes.begin(), bytes.end(), data.begin());
  }

  bool wait_interrupt(std::uint64_t cycles) override {
    const std::uint64_t first = cycle_, last = cycle_ + cycles;
    const auto start = std::chrono::steady_clock::now();
    while (!top_->irq_o && cycle_ < last) edge();
    loop_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    loop_cycles_ += cycle_ - first;
    return top_->irq_o;
  }

  AxiMemory& memory() override { return memory_; }
  bool watchable() const override { return kWatchable; }
  void watch(ResultWatcher* watcher) override {
    require_watchable(watcher);
    watcher_ = watcher;
  }
  void watch_queues(QueueWatcher* watcher) override {
    require_watchable(watcher);
    queue_watcher_ = watcher;
    partial_.assign(partial_.size(), false);
    partial_sums_ = 0;
  }
  int partial_sums() const override { return partial_sums_; }
  void spoil(bool vb, int first, int end) override {
    if constexpr (kWatchable) {
      auto& root = *top_->rootp;
#define KAITEN_BANK(buffer, bank)                                                                           \
  spoil_bank(root.kaiten_top__DOT__u_##buffer##__DOT__gen_bank__BRA__##bank##__KET____DOT__u_ram__DOT__mem, \
             first, end)
#define KAITEN_BANKS(buffer)                                                                          \
  KAITEN_BANK(buffer, 0), KAITEN_BANK(buffer, 1), KAITEN_BANK(buffer, 2), KAITEN_BANK(buffer, 3),     \
      KAITEN_BANK(buffer, 4), KAITEN_BANK(buffer, 5), KAITEN_BANK(buffer, 6), KAITEN_BANK(buffer, 7), \
      KAITEN_BANK(buffer, 8)
      vb ? (KAITEN_BANKS(vb)) : (KAITEN_BANKS(sb));
#undef KAITEN_BANKS
#undef KAITEN_BANK
    }
  }
  void step(std::uint64_t cycles) override {
    for (std::uint64_t i = 0; i < cycles; i++) edge();
  }
  std::uint64_t cycles() const override { return cycle_; }
  std::uint64_t loop_cycles() const override { return loop_cycles_; }
  double loop_seconds() const override { return loop_seconds_; }
  bool interrupt() const override { return top_->irq_o; }
  void close_waves() override {
    if (std::exchange(waves_closed_, true) || !trace_) return;
    writing_waves([this] { trace_->close(); });
  }

 private:
  static constexpr bool kTraced = !std::is_same_v<Trace, NoTrace>;
  static constexpr int kRegisterLimit = 1000;  // cycles for one access

  static std::uint32_t checked(unsigned response, std::uint32_t address, std::uint32_t data) {
    if (response != kRespOkay)
      throw DeviceError("register access at " + std::to_string(address) + " answered with error " +
                        std::to_string(response));
    return data;
  }

  // Addresses beyond the registers would alias: refuse them as the bus would.
  template <class Port>
  static void set_address(Port& port, std::uint32_t address) {
    if (address >> (8 * sizeof(Port)))
      throw DeviceError("there is no register at " + std::to_string(address));
    port = static_cast<Port>(address);
  }

  // Never back to what it was, however often.
  template <class Bank>
  static void spoil_bank(Bank& bank, int first, int end) {
    for (int a = first; a < end; a++) {
      auto& word = bank[static_cast<std::size_t>(a)];
      auto* bytes = reinterpret_cast<std::uint8_t*>(&word);
      for (std::size_t i = 0; i < sizeof(word); i++) bytes[i] = static_cast<std::uint8_t>(bytes[i] + 53);
    }
  }

  AxiLitePort lite_port() const {
    AxiLitePort p;
    p.aw_valid = &top_->csr_aw_valid_i, p.aw_ready = &top_->csr_aw_ready_o, p.aw_addr = &top_->csr_aw_addr_i;
    p.w_valid = &top_->csr_w_valid_i, p.w_ready = &top_->csr_w_ready_o, p.w_data = &top_->csr_w_data_i;
    p.w_strb = &top_->csr_w_strb_i;
    p.b_valid = &top_->csr_b_valid_o, p.b_ready = &top_->csr_b_ready_i, p.b_resp = &top_->csr_b_resp_o;
    p.ar_valid = &top_->csr_ar_valid_i, p.ar_ready = &top_->csr_ar_ready_o, p.ar_addr = &top_->csr_ar_addr_i;
    p.r_valid = &top_->csr_r_valid_o, p.r_ready = &top_->csr_r_ready_i, p.r_data = &top_->csr_r_data_o;
    p.r_resp = &top_->csr_r_resp_o;
    return p;
  }

  // `watch`: kt_pkg::watch_t. `later`: columns further right
  template <class Words>
  void show(std::uint64_t watch, const Words& words, unsigned later = 0) {
    const auto data = std::span(reinterpret_cast<const std::int8_t*>(&words[0]), sizeof(words));
    watcher_->result({static_cast<std::uint32_t>(watch_fields::kIndex.of(watch)),
                      static_cast<unsigned>(watch_fields::kColumns.of(watch)) - later,
                      static_cast<unsigned>(watch_fields::kRows.of(watch)),
                      static_cast<unsigned>(watch_fields::kTiles.of(watch)), data, cycle_});
  }

  // A netlist of scripts/mutants.py: faults to choose from, 0 for none.
  static constexpr bool kMutants = requires(Model & model) { model.mutant; };
  void select_mutant() {
    const char* number = std::getenv("KAITEN_MUTANT");
    top_->mutant = static_cast<std::uint16_t>(number ? std::strtoul(number, nullptr, 10) : 0);
  }

  // The Verilog-2005 file of the design has lost the names of what is inside.
  static constexpr bool kWatchable = requires(Model & model) { model.rootp->kaiten_top__DOT__watch_conv; };

  static void require_watchable(const void* watcher) {
    if (!kWatchable && watcher) throw DeviceError("this model shows its ports only: it cannot be watched");
  }

  // Shows the watchers what happens inside.
  void look() {
    auto& root = *top_->rootp;
    if (watcher_) {
      if (watch_fields::kValid.of(root.kaiten_top__DOT__watch_conv))
        show(root.kaiten_top__DOT__watch_conv, root.kaiten_top__DOT__conv_word);
      if (watch_fields::kTwo.of(root.kaiten_top__DOT__watch_conv))
        show(root.kaiten_top__DOT__watch_conv, root.kaiten_top__DOT__conv_second, 1);
      if (watch_fields::kValid.of(root.kaiten_top__DOT__watch_vector))
        show(root.kaiten_top__DOT__watch_vector, root.kaiten_top__DOT__vector_word);
      if (const std::uint32_t flags = root.kaiten_top__DOT__u_registers__DOT__u_counters__DOT__counted)
        watcher_->events(flags);
    }
    if (queue_watcher_) {
      std::array<std::uint32_t, 4> completed;
      for (std::size_t q = 0; q < completed.size(); q++)
        completed[q] = root.kaiten_top__DOT__u_control__DOT__u_scoreboard__DOT__count_q[q];
      queue_watcher_->queues(root.kaiten_top__DOT__u_control__DOT__u_scoreboard__DOT__head_q, completed);
      follow_sums();
    }
  }

  // What the first stage of the array writes to OB stays there until its last pass.
  void follow_sums() {
#define KAITEN_SUM(signal) top_->rootp->kaiten_top__DOT__u_conv__DOT__u_array__DOT__sum_##signal##_q
    if ((KAITEN_SUM(valid) & 1) == 0) return;
    const bool last = (KAITEN_SUM(last) & 1) != 0;
    const std::size_t pixel = KAITEN_SUM(pixel)[0];
    follow_sum(pixel, !last);
    if constexpr (requires { this->top_->rootp->kaiten_top__DOT__u_conv__DOT__u_array__DOT__sum_two_q; }) {
      if (last && (KAITEN_SUM(two) & 1) != 0) follow_sum(pixel + 1, false);
    }
#undef KAITEN_SUM
  }
  void follow_sum(std::size_t pixel, bool waits) {
    if (partial_.size() <= pixel) partial_.resize(pixel + 1);
    partial_sums_ += int(waits) - int(partial_[pixel]);
    partial_[pixel] = waits;
  }

  // One clock cycle: everything that looks at the ports does so before the rising edge.
  void edge() {
    if (running_) {
      read_monitor_->sample(cycle_);
      write_monitor_->sample(cycle_);
      lite_monitor_->sample(cycle_);
      if constexpr (kWatchable) look();
    }
    if constexpr (kTraced) follow_run();
    if constexpr (kTraced) context_->time(cycle_);  // assertions print it
    memory_.pre_edge();
    top_->clk_i = 1;
    evaluate(*top_);
    dump();
    memory_.post_edge();
    top_->clk_i = 0;
    evaluate(*top_);
    dump();
    cycle_++;
  }

  // Which cycle of the runs this is, for the trace: its events are seen one cycle later.
  void follow_run() {
    const bool counted = (top_->rootp->kaiten_top__DOT__u_registers__DOT__u_counters__DOT__counted & 1) != 0;
    if (counted) run_cycle_++;
    counted_ = counted;
  }

  void dump() {
    if constexpr (kTraced) {
      if (trace_ && !waves_closed_ && counted_ && run_cycle_ >= options_.wave_from &&
          run_cycle_ < options_.wave_to)
        writing_waves([this] { trace_->dump(2 * run_cycle_ + (top_->clk_i ? 0 : 1)); });
    }
  }

  // A writer that failed would fail again when it is destroyed: it is abandoned.
  template <class Write>
  void writing_waves(const Write& write) {
    try {
      write();
    } catch (const WaveError&) {
      waves_closed_ = true;
      [[maybe_unused]] const Trace* abandoned = trace_.release();
      throw InputError("cannot write the waves: the disk is full, or they are larger than a file may be");
    }
  }

  SimOptions options_;
  std::unique_ptr<VerilatedContext> context_;
  AxiMemory memory_;
  ProtocolLog log_;
  std::unique_ptr<Model> top_;
  std::unique_ptr<Trace> trace_;
  bool waves_closed_ = false;
  std::unique_ptr<AxiReadMonitor> read_monitor_;
  std::unique_ptr<AxiWriteMonitor> write_monitor_;
  std::unique_ptr<AxiLiteMonitor> lite_monitor_;
  ResultWatcher* watcher_ = nullptr;
  QueueWatcher* queue_watcher_ = nullptr;
  std::vector<bool> partial_;  // pixels of OB: their sums wait for another pass
  int partial_sums_ = 0;       // of them
  bool running_ = false;
  bool counted_ = false;  // a run goes on
  std::uint64_t run_cycle_ = 0;
  std::uint64_t cycle_ = 0, loop_cycles_ = 0;
  double loop_seconds_ = 0;
};

}  // namespace kaiten::sim

#endif  // KAITEN_SIM_SIM_MODEL_H
