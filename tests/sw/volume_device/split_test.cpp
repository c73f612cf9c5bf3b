// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The split between processors and accelerator: its pipeline by hand, its search against trying everything, its results
// against the reference at every position, for every split.
#include "volume_device/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "program/config.h"
#include "tests/support/slid.h"
#include "tests/support/stored_volume.h"
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
  const test::StoredVolume s = test::stored_volume(kNetwork, {8, 8, 9});
  const Network& n = s.network.network;
  const Int8Maps wanted = reference_at_every_position(s.network, test::stored_voxels(s));
  ASSERT_GT(std::count_if(wanted.values.begin(), wanted.values.end(), [](int v) { return v > -128; }), 20);
  fft::Workers workers(1);
  for (std::size_t theta = 0; theta <= n.layers.size(); theta++) {
    fft::Memory memory;
    const bool fragments = theta % 2 == 0;
    const int groups = fragments && theta == 2 ? 4 : 1;  // two of the eight fragments at a time
    const Plan plan{{1, 2, 1}, 1, std::vector<Choice>(4, {Method::Blocked, fragments})};
    const SplitEvaluator split(s.network, plan, theta, groups, {}, workers, memory, {.config = "nano"});
    const Int8Maps found = test::slid(n, split, *s.source, memory);
    EXPECT_EQ(found.values, wanted.values) << theta;
    EXPECT_EQ(split.device().programs(), theta < 2 ? 2U : theta < 4 ? 1U : 0U);
    EXPECT_EQ(split.cycles().size(), std::size_t(runs_of(n, plan, wanted.size)));
    EXPECT_EQ(split.device().work().cycles > 0, theta < 4);
  }
}

TEST(VolumeSplit, SomePoolingPlainSomeAsFragments) {
  const test::StoredVolume s = test::stored_volume(
      "INPUTS:1, LAYERS:5\nCONV 2,2,2 4\nPOOL 2,2,2\nCONV 1,2,2 4\nPOOL 1,2,2\nCONV 1,1,1 3\n", {7, 9, 9});
  const Network& n = s.network.network;
  const Int8Maps wanted = reference_at_every_position(s.network, test::stored_voxels(s));
  fft::Workers workers(1);
  for (const bool first : {false, true})
    for (const std::size_t theta : {0, 2, 4}) {
      fft::Memory memory;
      Plan plan{{1, 1, 1}, 1, std::vector<Choice>(5, {Method::Blocked, first})};
      plan.layers[3].fragments = !first;
      const SplitEvaluator split(s.network, plan, theta, 1, {}, workers, memory, {.config = "nano"});
      EXPECT_EQ(test::slid(n, split, *s.source, memory).values, wanted.values) << first << theta;
    }
}

TEST(VolumeSplit, ChoosesThePoolingOfEveryLayer) {
  const Int8Network network =
      test::stored_volume("INPUTS:1, LAYERS:4\nCONV 1,1,1 2\nPOOL 2,2,2\nCONV 1,1,1 2\nPOOL 2,2,2\n",
                          {8, 8, 8})
          .network;
  std::set<std::pair<bool, bool>> tried;
  for (const Plan& plan : plans_tried(network.network, {{"nano", 4, 0, 0, 0, {}}, {8, 8, 8}, 8}))
    tried.emplace(plan.layers[1].fragments, plan.layers[3].fragments);
  EXPECT_EQ(tried.size(), 4U);
}

TEST(VolumeSplit, FindsWhatTryingEverythingFinds) {
  const test::StoredVolume s = test::stored_volume(kNetwork, {16, 16, 16});
  const Network& n = s.network.network;
  const Size result = fft::valid(s.source->size(), n.field_of_view());
  const Calibration c = rates();
  fft::Workers workers(1);
  DeviceSearch device{{"nano", 4, 40000, 0, 1e6, {}}, s.source->size(), 6};
  for (const double clock : {1.0, 100.0, 10000.0}) {
    device.stages.clock_mhz = clock;
    StagePlanner planner(s.network, device.stages);
    const SplitSearch search{device, std::uint64_t(1) << 30U, 0, 4};
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
        const StagesPlanned rest = planner.plan(tried, theta);
        const double accelerator = double(rest.cycles) / (clock * 1e6) + double(rest.link_bytes) / 1e6;
        const auto runs = double(runs_of(n, tried, result));
        best = std::max(best, double(result.elements()) /
                                  (processor + accelerator + (runs - 1) * std::max(processor, accelerator)));
      }
    EXPECT_NEAR(found.front().voxels_a_second, best, best * 1e-9);
    // A slow accelerator gets nothing to do.
    if (clock == 1.0) EXPECT_EQ(found.front().theta, 4U);
  }
  device.stages.link = 0;  // a fast one everything, where maps come for nothing
  device.stages.clock_mhz = 10000;
  EXPECT_EQ(split_plans(s.network, c, {device, std::uint64_t(1) << 30U, 0, 4}, workers).front().theta, 0U);
}

// Larger blocks than the accelerator's bricks, as large as the memory allows; in it both sides work.
TEST(VolumeSplit, FitsTheMemoryOfBothSides) {
  const test::StoredVolume s = test::stored_volume(kNetwork, {16, 16, 16});
  const Network& n = s.network.network;
  fft::Workers workers(1);
  const Int8Maps wanted = reference_at_every_position(s.network, test::stored_voxels(s));
  std::vector<int> sides;
  for (const std::uint64_t limit : {20000U, 100000U}) {
    const SplitSearch search{{{"nano", 3, 12000, 100000, 0, {}}, s.source->size(), 100}, limit, 2, 2};
    const SplitPlanned p = split_plans(s.network, rates(), search, workers).at(0);
    EXPECT_LE(p.bytes, limit);
    EXPECT_LE(p.device.memory_bytes, 12000U);
    sides.push_back(block_result(n, p.plan).width);
    fft::Memory memory(p.bytes);
    const SplitEvaluator split(s.network, p.plan, 2, p.groups, p.device.stages, workers, memory,
                               {.config = "nano", .check = false, .memory = 12000});
    EXPECT_EQ(test::slid(n, split, *s.source, memory), wanted);
    EXPECT_LE(memory.peak(), p.bytes);
    for (const std::uint64_t cycles : split.cycles())
      EXPECT_NEAR(double(cycles), double(p.device.cycles), 0.2 * double(p.device.cycles));
  }
  EXPECT_LT(sides[0], sides[1]);
  EXPECT_GT(sides[1], 2 * 3);
}

TEST(VolumeSplit, GroupsOfAnotherPlanAreRefused) {
  const test::StoredVolume s = test::stored_volume(kNetwork, {8, 8, 9});
  fft::Workers workers(1);
  fft::Memory memory;
  const Plan plan{{1, 2, 1}, 1, std::vector<Choice>(4, {Method::Blocked, true})};
  for (const int groups : {0, 3})  // of eight fragments
    EXPECT_THROW(SplitEvaluator(s.network, plan, 2, groups, {}, workers, memory, {.config = "nano"}),
                 InputError);
}

TEST(VolumeSplit, WhatFitsNeitherSideIsRefused) {
  const test::StoredVolume s = test::stored_volume(kNetwork, {16, 16, 16});
  fft::Workers workers(1);
  const SplitSearch search{{{"nano", 4, 0, 100, 0, {}}, s.source->size(), 6}, 10, 4, 4};
  EXPECT_THROW(split_plans(s.network, rates(), search, workers), InputError);
}

}  // namespace
}  // namespace kaiten::volume
