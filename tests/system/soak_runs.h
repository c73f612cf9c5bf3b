// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a soak does with a device that is never exchanged: random networks behind a memory with random timing, every tensor
// compared; in between the same program again, bus errors of reads and writes, and soft resets in the middle of a run, after
// each of which the next run is exact. No beat is lost: after every whole run the port has seen as many as the device counted.
#ifndef KAITEN_TESTS_SYSTEM_SOAK_RUNS_H
#define KAITEN_TESTS_SYSTEM_SOAK_RUNS_H

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "base/error.h"
#include "tests/system/random_network.h"
#include "tests/system/random_runs.h"
#include "tests/system/session.h"

namespace kaiten::test {

// What a soak has done.
struct SoakCounts {
  std::uint64_t networks = 0, runs = 0, errors = 0, resets = 0;
  std::uint64_t beats_read = 0, beats_written = 0, cycles = 0;

  // Calls visit(name, member) for all of them.
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("networks", &SoakCounts::networks);
    visit("runs", &SoakCounts::runs);
    visit("errors", &SoakCounts::errors);
    visit("resets", &SoakCounts::resets);
    visit("beats_read", &SoakCounts::beats_read);
    visit("beats_written", &SoakCounts::beats_written);
    visit("cycles", &SoakCounts::cycles);
  }
  SoakCounts& operator+=(const SoakCounts& other) {
    fields([&](const char*, std::uint64_t SoakCounts::*member) { this->*member += other.*member; });
    return *this;
  }
  std::uint64_t beats() const { return beats_read + beats_written; }
};

class Soak {
 public:
  // `sizes`: those of networks of even and of odd seeds.
  Soak(std::string_view config, std::uint64_t seed, const sim::SimOptions& options,
       const std::array<NetworkSize, 2>& sizes)
      : config_(preset(config)), sizes_(sizes), device_(make_device(config, seed, options)) {}

  // A network and what happens to it, decided by the seed; what went wrong is a GoogleTest failure.
  SoakCounts episode(std::uint64_t seed) {
    counts_ = {};
    random_.seed(seed);
    SCOPED_TRACE("episode of seed " + std::to_string(seed) + " on " + config_.name);
    CompileOptions options;
    const GraphBuilder g = network(sizes_[seed % 2], options);
    draw_timing(*device_, random_);
    inputs_ = draw_inputs(g.graph, random_);
    try {
      Session session(*device_, g.graph, config_, options);
      if (session.program().commands.empty()) return counts_;
      first_ = session.run(inputs_);
      counts_.networks++;
      count(first_.counters);
      for (std::uint64_t events = 1 + below(5); events > 0 && !testing::Test::HasFailure(); events--)
        happen(session);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    return counts_;
  }

  sim::SimDevice& device() { return *device_; }

 private:
  struct GaveUp {};

  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  GraphBuilder network(const NetworkSize& size, CompileOptions& options) {
    for (;;) {
      GraphBuilder g = random_network(random_(), size.side, size.channels, size.layers);
      options.keep_on_chip = below(3) != 0;
      options.block_pixels = below(3) == 0 ? int(1 + below(40)) : 0;
      options.rounding = below(2) ? RoundingStyle::Tflm : RoundingStyle::LiteRt;
      options.compress = below(3) == 0 ? Compress::kOn : Compress::kOff;
      if (refusals(g.graph, config_, options).empty()) return g;
    }
  }

  // After a whole run: beats of the port, which count from the last call on.
  void count(const Counters& counters) {
    const sim::AxiMemoryCounters& port = device_->memory().counters();
    EXPECT_EQ(counters["beats_read"], port.read_beats) << "beats read, counted by the device and at its port";
    EXPECT_EQ(counters["beats_written"], port.write_beats)
        << "beats written, counted by the device and at its port";
    counts_.runs++;
    counts_.cycles += counters["cycles"];
    add_beats();
  }
  void add_beats() {
    counts_.beats_read += device_->memory().counters().read_beats;
    counts_.beats_written += device_->memory().counters().write_beats;
    device_->memory().clear_counters();
  }

  // One thing that happens, and a whole run after it.
  void happen(Session& session) {
    switch (below(5)) {
      case 0:
        device_->memory().fail_read_beat(below(first_.counters["beats_read"]), sim::kRespSlverr);
        fails(session);
        break;
      case 1:
        if (first_.counters["beats_written"] == 0) break;
        device_->memory().fail_write_burst(0, sim::kRespDecerr);
        fails(session);
        break;
      case 2:
        reset(session);
        break;
      case 3:
        draw_timing(*device_, random_);
        break;
      default:
        break;  // the same again
    }
    device_->memory().clear_counters();
    const Session::Result again = session.run(inputs_);
    EXPECT_TRUE(again.outputs == first_.outputs) << "outputs are not those of the first run";
    count(again.counters);
  }

  void fails(Session& session) {
    try {
      session.driver().run(inputs_);
      ADD_FAILURE() << "a bus error was not told";
    } catch (const DeviceError& e) {
      EXPECT_EQ(std::string_view(e.what()).rfind("the hardware stopped: bus error", 0), 0U) << e.what();
    }
    device_->memory().clear_failures();
    counts_.errors++;
    add_beats();
  }

  // Gives up after a random time; the driver resets the device.
  void reset(Session& session) {
    Driver& driver = session.driver();
    driver.write_inputs(inputs_);
    driver.set_progress([](std::uint64_t) { throw GaveUp(); });
    driver.start();
    try {
      driver.advance(1 + below(first_.cycles()));
    } catch (const GaveUp&) {
      counts_.resets++;
    }
    driver.set_progress(nullptr);
    add_beats();
  }

  const Config& config_;
  std::array<NetworkSize, 2> sizes_;
  std::unique_ptr<sim::SimDevice> device_;
  std::mt19937_64 random_;
  std::vector<Int8Values> inputs_;
  Session::Result first_;
  SoakCounts counts_;
};

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SYSTEM_SOAK_RUNS_H
