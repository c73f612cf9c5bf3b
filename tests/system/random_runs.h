// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Random networks compiled with random options, one after the other on one device behind a memory with random timing, every
// tensor compared.
#ifndef KAITEN_TESTS_SYSTEM_RANDOM_RUNS_H
#define KAITEN_TESTS_SYSTEM_RANDOM_RUNS_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include "tests/system/random_network.h"
#include "tests/system/session.h"

namespace kaiten::test {

struct NetworkSize {
  int side, channels, layers;
};

struct RandomRuns {
  int networks = 0;
  std::uint64_t cycles = 0;
};

// Ends when `enough` of what has run, or at the first difference; networks that the compiler refuses do not count.
template <class Enough>
RandomRuns run_random_networks(sim::SimDevice& device, const Config& config, const NetworkSize& size,
                               std::mt19937_64& random, Enough enough) {
  constexpr int kRefusedInARow = 200;
  RandomRuns done;
  for (int refused = 0; !enough(done) && !testing::Test::HasFailure();) {
    const std::uint64_t seed = random();
    const GraphBuilder g = random_network(seed, size.side, size.channels, size.layers);
    CompileOptions options;
    options.keep_on_chip = random() % 3 != 0;
    options.block_pixels = random() % 3 == 0 ? int(1 + random() % 40) : 0;
    options.rounding = random() % 2 ? RoundingStyle::Tflm : RoundingStyle::LiteRt;
    options.compress = random() % 3 == 0 ? Compress::kOn : Compress::kOff;
    if (!refusals(g.graph, config, options).empty()) {
      if (++refused < kRefusedInARow) continue;
      ADD_FAILURE() << "the compiler refuses all random networks";
      break;
    }
    refused = 0;
    draw_timing(device, random);
    SCOPED_TRACE("network of seed " + std::to_string(seed) + ", " + std::to_string(g.graph.ops.size()) +
                 " layers" + (options.keep_on_chip ? ", on chip" : ", in memory") +
                 (options.compress == Compress::kOn ? ", compressed" : "") +
                 (options.rounding == RoundingStyle::Tflm ? ", tflm" : ", litert") + ", blocks of " +
                 std::to_string(options.block_pixels) + ", memory " + timing_text(device.memory().options()));
    try {
      done.cycles += run_on(device, g.graph, config, options, draw_inputs(g.graph, random)).cycles();
      done.networks++;
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
  std::printf("%d networks, %llu cycles at %.0f kHz\n", done.networks,
              static_cast<unsigned long long>(done.cycles),
              double(device.loop_cycles()) / std::max(device.loop_seconds(), 1e-9) / 1e3);
  return done;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SYSTEM_RANDOM_RUNS_H
