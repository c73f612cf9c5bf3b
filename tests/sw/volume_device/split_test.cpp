// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The split between processors and accelerator: its pipeline by hand, its search against trying everything, its results
// against the reference at every position, for every split.
#include "volume_device/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "program/config.h"
#include "tests/support/slid.h"
#include "volume/int8_reference.h"
#include "volume/sliding.h"
#include "volume_device/device_plan.h"

namespace kaiten::volume {
namespace {

using fft::Method;
using fft::Size;

TEST(VolumeSplit, PipelineByHand) {
  const auto seconds = [](std::vector<BlockTimes> blocks) { return pipeline_seconds(blocks); };
  EXPECT_EQ(seconds({}), 0);
  EXPECT_EQ(seconds({{2, 3}}), 5);
  EXPECT_EQ(seconds({{2, 3}, {2, 3}, {2, 3}}), 11);  // 2 + 3 * 3
  EXPECT_EQ(seconds({{3, 2}, {3, 2}, {3, 2}}), 11);  // 3 * 3 + 2
  // One block waits in the queue, so the third, ready at 3, enters it at 11 and the fourth is begun then.
  EXPECT_EQ(seconds({{1, 10}, {1, 1}, {1, 1}, {20, 1}}), 32);
  for (const BlockTimes t : {BlockTimes{2, 3}, BlockTimes{3, 2}, BlockTimes{0, 4}, BlockTimes{4, 0}})
    for (int n = 0; n < 5; n++)
      EXPECT_EQ(pipeline_seconds(t, n), seconds(std::vector<BlockTimes>(std::size_t(n), t)));
}

struct Stored {
  Int8Network network;
  std::unique_ptr<Source> source;
};

Stored stored(const char* text, const Size& size) {
  const Network network = parse_network(text, "n");
  fft::Workers workers(1);
  auto source = seeded_source(network.inputs, size, 3);
  const auto weights = seeded_weights(network, 3);
  Int8Network q = quantized(network, weights, ranges_of(network, weights, *source, workers));
  return {std::move(q), std::move(source)};
}

Calibration rates() {
  Calibration c;
  c.numbers = Numbers::kInt8;
  c.methods[0] = {1e-9, 1e-9, 1e-9, 3e-9, 1e-9};
  c.methods[1] = {2e-9, 1e-9, 1e-9, 3e-9, 1e-9};
  c.pooled_voxel = 1e-9;
  return c;
}

constexpr const char* kNetwork = "INPUTS:1, LAYERS:4\nCONV 2,2,2 4\nPOOL 2,2,2\nCONV 2,1,2 5\nCONV 1,2,2 3\n";

TEST(VolumeSplit, EverySplitIsTheReferenceAtEveryPosition) {
  const Stored s = stored(kNetwork, {8, 8, 9});
  const Network& n = s.network.network;
  Int8Maps volume(1, s.source->size());
  std::vector<float> voxels(volume.values.size());
  s.source->read({0, 0, 0}, volume.size, voxels);
  std::transform(voxels.begin(), voxels.end(), volume.values.begin(),
                 [&](float v) { return s.network.maps.front().stored(v); });
  const Int8Maps wanted = reference_at_every_position(s.network, volume);
  ASSERT_GT(std::count_if(wanted.values.begin(), wanted.values.end(), [](int v) { return v > -128; }), 20);
  fft::Workers workers(1);
  for (std::size_t theta = 0; theta <= n.layers.size(); theta++) {
    fft::Memory memory;
    const bool fragments = theta % 2 == 0;
    const Plan plan{{1, 2, 1}, 1, std::vector<Choice>(4, {Method::Blocked, fragments})};
    const SplitEvaluator split(s.network, plan, theta, workers, memory, {.config = "nano"});
    const Int8Maps found = test::slid(n, split, *s.source, memory);
    EXPECT_EQ(found.values, wanted.values) << theta;
    EXPECT_EQ(split.device().programs(), theta < 2 ? 2U : theta < 4 ? 1U : 0U);
    EXPECT_EQ(split.cycles().size(), std::size_t(runs_of(n, plan, wanted.size)));
    EXPECT_EQ(split.device().work().cycles > 0, theta < 4);
  }
}

TEST(VolumeSplit, FindsWhatTryingEverythingFinds) {
  const Stored s = stored(kNetwork, {16, 16, 16});
  const Network& n = s.network.network;
  const Size result = fft::valid(s.source->size(), n.field_of_view());
  const Calibration c = rates();
  fft::Workers workers(1);
  const DeviceSearch device{"nano", s.source->size(), 6, {}};
  for (const double clock : {1.0, 100.0, 10000.0}) {
    const SplitSearch search{device, clock, std::uint64_t(1) << 30U, 0, 4};
    const auto found = split_plans(s.network, c, search, workers);
    ASSERT_EQ(found.size(), 5U);
    double best = 0;
    for (const Plan& tried : plans_tried(n, device))
      for (std::size_t theta = 0; theta <= 4; theta++) {
        const auto maps = maps_of(n, tried);
        double processor = 0;
        for (std::size_t i = 0; i < theta; i++) {
          double least = 1e9;
          for (const Method m : kInt8Methods)
            least = std::min(least, layer_seconds(c, n.layers[i], {m, tried.layers[i].fragments}, maps[i]));
          processor += least;
        }
        const double accelerator =
            double(predicted_cycles(s.network, tried, theta, 4, "nano", {})) / (clock * 1e6);
        const auto runs = double(runs_of(n, tried, result));
        best = std::max(best, double(result.elements()) /
                                  (processor + accelerator + (runs - 1) * std::max(processor, accelerator)));
      }
    EXPECT_NEAR(found.front().voxels_a_second, best, best * 1e-9);
    // A slow accelerator gets nothing to do, a fast one everything.
    if (clock == 1.0) EXPECT_EQ(found.front().theta, 4U);
    if (clock == 10000.0) EXPECT_EQ(found.front().theta, 0U);
  }
}

TEST(VolumeSplit, WhatFitsNeitherSideIsRefused) {
  const Stored s = stored(kNetwork, {16, 16, 16});
  fft::Workers workers(1);
  const SplitSearch search{{"nano", s.source->size(), 6, {}}, 100, 10, 4, 4};
  EXPECT_THROW(split_plans(s.network, rates(), search, workers), InputError);
}

}  // namespace
}  // namespace kaiten::volume
