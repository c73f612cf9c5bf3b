// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layers in sublayers on the RTL: bricks that overlap, sub-batches and parts of the maps against the reference at every
// position, which knows none of them; plans against the accelerator's memory, and against the cycles that are counted.
#include "volume_device/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "program/config.h"
#include "tests/support/slid.h"
#include "tests/support/stored_volume.h"
#include "volume_device/device_evaluate.h"

namespace kaiten::volume {
namespace {

using fft::Method;
using fft::Size;

constexpr const char* kNetwork =
    "INPUTS:2, LAYERS:5\nCONV 2,2,2 6\nPOOL 2,2,2\nCONV 2,1,2 5\nCONV 1,2,2 3\nPOOL 1,2,1\n";

Plan plan_of(const Size& fragment, bool fragments, int batch = 1) {
  return {fragment, batch, std::vector<Choice>(5, {Method::Blocked, fragments})};
}

TEST(VolumeStages, SublayersAreTheReferenceAtEveryPosition) {
  const test::StoredVolume s = test::stored_volume(kNetwork, {9, 10, 10});
  const Network& n = s.network.network;
  const Int8Maps wanted = reference_at_every_position(s.network, test::stored_voxels(s));
  ASSERT_GT(std::count_if(wanted.values.begin(), wanted.values.end(), [](int v) { return v > -128; }), 20);
  const std::vector<std::vector<Stage>> cases = {
      // Bricks of the first layers that do not divide the maps, in all axes; parts of six maps with a rest.
      {{0, 2, {2, 3, 4}, 1, 4}, {2, 5, {2, 1, 2}, 8, 3}},
      // Sub-batches; convolutions by themselves, the last one with pooling and one map a program.
      {{0, 2, {3, 4, 3}, 1, 6}, {2, 3, {1, 4, 2}, 4, 5}, {3, 5, {2, 1, 1}, 2, 1}},
      // Pooling by itself.
      {{0, 1, {7, 5, 9}, 1, 5}, {1, 2, {3, 2, 3}, 1, 6}, {2, 4, {2, 3, 2}, 2, 3}, {4, 5, {2, 1, 1}, 4, 3}}};
  for (const auto& stages : cases) {
    fft::Memory memory;
    const Plan plan = plan_of({2, 1, 2}, true);
    const DeviceEvaluator device(s.network, plan, stages, memory, {.config = "nano", .check = false});
    EXPECT_EQ(test::slid(n, device, *s.source, memory), wanted);
  }
  // Plain pooling, two runs together.
  fft::Memory memory;
  const std::vector<Stage> stages = {
      {0, 2, {2, 2, 3}, 2, 5}, {2, 3, {1, 2, 2}, 1, 5}, {3, 5, {2, 1, 1}, 2, 2}};
  const DeviceEvaluator device(s.network, plan_of({2, 1, 2}, false, 2), stages, memory,
                               {.config = "nano", .check = false});
  EXPECT_EQ(test::slid(n, device, *s.source, memory), wanted);
}

TEST(VolumeStages, ProgramsFitTheMemory) {
  const test::StoredVolume s = test::stored_volume(kNetwork, {12, 14, 14});
  const Network& n = s.network.network;
  const Int8Maps wanted = reference_at_every_position(s.network, test::stored_voxels(s));
  const Plan plan = plan_of({4, 2, 4}, true);
  const std::vector<Maps> maps = maps_of(n, plan);
  std::vector<StagesPlanned> found;
  for (const std::uint64_t limit : {0U, 30000U, 10000U, 4200U}) {
    StagePlanner planner(s.network, {"nano", 8, limit, 100, 0, {}});
    const StagesPlanned p = found.emplace_back(planner.plan(plan, 0));
    EXPECT_EQ(planner.cost(plan, p.stages).cycles, p.cycles);
    if (limit > 0) EXPECT_LE(p.memory_bytes, limit);
    fft::Memory memory;
    const DeviceEvaluator device(s.network, plan, p.stages, memory,
                                 {.config = "nano", .check = false, .memory = limit});
    EXPECT_EQ(test::slid(n, device, *s.source, memory), wanted);
    // Exact but for batches, whose time is extrapolated from two images.
    const auto runs = std::uint64_t(block_count(n, plan, s.source->size()));
    EXPECT_NEAR(double(device.work().predicted_cycles), double(runs * p.cycles),
                0.2 * double(runs * p.cycles));
    EXPECT_NEAR(double(device.work().cycles), double(runs * p.cycles), 0.2 * double(runs * p.cycles));
    EXPECT_NEAR(double(device.memory_bytes()), double(p.memory_bytes), 0.1 * double(p.memory_bytes));
    EXPECT_EQ(device.work().macs, runs * volume_macs(n, plan, 0, 5));
  }
  const auto some_maps = [&](const StagesPlanned& p) {
    return std::any_of(p.stages.begin(), p.stages.end(),
                       [&](const Stage& t) { return t.maps < maps[t.end].channels; });
  };
  EXPECT_FALSE(some_maps(found.front()));
  EXPECT_TRUE(some_maps(found.back()));
  EXPECT_GT(found.back().cycles, found.front().cycles);
  EXPECT_GT(found.back().link_bytes, found.front().link_bytes);
}

TEST(VolumeStages, TooLittleMemoryIsSaidInOneLine) {
  const test::StoredVolume s = test::stored_volume(kNetwork, {9, 10, 10});
  StagePlanner planner(s.network, {"nano", 8, 1000, 100, 0, {}});
  try {
    planner.plan(plan_of({2, 1, 2}, true), 0);
    FAIL();
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_EQ(text.find("--device-memory: layers 1 to 2 take "), 0U) << text;
    EXPECT_NE(text.find("limit 1000"), std::string::npos) << text;
  }
  fft::Memory memory;
  EXPECT_THROW(DeviceEvaluator(s.network, plan_of({2, 1, 2}, true), {}, memory,
                               {.config = "nano", .check = false, .memory = 1000}),
               InputError);
}

TEST(VolumeStages, StagesOfAnotherPlanAreRefused) {
  const test::StoredVolume s = test::stored_volume(kNetwork, {17, 18, 18});
  const Plan plan = plan_of({4, 2, 4}, true);
  const std::vector<Stage> whole = whole_stages(s.network.network, plan);
  ASSERT_EQ(whole.size(), 2U);
  const auto refused = [&](std::size_t at, const Stage& other) {
    std::vector<Stage> stages = whole;
    stages[at] = other;
    fft::Memory memory;
    EXPECT_THROW(DeviceEvaluator(s.network, plan, stages, memory, {.config = "nano"}), InputError);
  };
  Stage first = whole[0], last = whole[1];
  first.brick.depth++;
  refused(0, first);
  first = whole[0];
  first.maps = 0;
  refused(0, first);
  last.images = 3;  // of eight
  refused(1, last);
  last = whole[1];
  last.begin = 3;
  refused(1, last);
  last.begin = 2, last.maps = 2;  // two convolutions before it
  refused(1, last);
}

// By hand: a layer of four maps, words of four channels, so that maps have no gaps.
TEST(VolumeStages, TimeOfTheLink) {
  const test::StoredVolume s = test::stored_volume("INPUTS:4, LAYERS:1\nCONV 2,2,2 4\n", {5, 5, 5});
  const Plan plan{{4, 4, 4}, 1, {{}}};
  const std::vector<Stage> slabs = {{0, 1, {1, 4, 4}, 1, 4}};
  const StagesPlanned without = StagePlanner(s.network, {"nano", 4, 0, 50, 0, {}}).cost(plan, slabs);
  EXPECT_DOUBLE_EQ(without.seconds, double(without.cycles) / 50e6);
  // Four runs read two slices of 5x5 and write one of 4x4, four maps each; then there are the weights.
  const std::uint64_t maps = 4 * 4 * (2 * 25 + 16);
  EXPECT_GE(without.link_bytes, maps + 4 * 4 * 8);
  EXPECT_LE(without.link_bytes, maps + 2048);
  const StagesPlanned with = StagePlanner(s.network, {"nano", 4, 0, 50, 1e6, {}}).cost(plan, slabs);
  EXPECT_EQ(with.link_bytes, without.link_bytes);
  EXPECT_DOUBLE_EQ(with.seconds, without.seconds + double(with.link_bytes) / 1e6);
}

}  // namespace
}  // namespace kaiten::volume
