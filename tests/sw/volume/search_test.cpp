// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The search against trying every plan.
#include "volume/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/seed.h"
#include "volume/sliding.h"
#include "volume/weights.h"

namespace kaiten::volume {
namespace {

using fft::Size;

Calibration random_rates(std::uint64_t seed) {
  std::uint64_t n = 0;
  const auto rate = [&] { return 1e-9 * (1.01 + double(seeded_voxel(seed, n++))); };
  Calibration c;
  for (Rates& r : c.methods) r = {rate(), rate(), rate(), rate(), rate()};
  c.pooled_voxel = rate();
  c.joined_voxel = rate();
  return c;
}

// Seconds of one run of a layer.
double layer_time(const Network& network, const Calibration& calibration, const Plan& plan, std::size_t i) {
  return layer_seconds(calibration, network.layers[i], plan.layers[i], maps_of(network, plan)[i]);
}

// Of a whole result, in blocks that have everything computed.
double seconds_of_blocks(const Network& network, const Calibration& c, const Plan& plan, const Size& whole) {
  const double blocks = double(blocks_of(whole, block_result(network, plan)).elements());
  const int together = blocks_together(network, plan);
  const double rounds = std::ceil(blocks / together) * together;  // the last batch may not be full
  double run = 0;
  for (std::size_t i = 0; i < 3; i++) run += layer_time(network, c, plan, i);
  return rounds * run * double(plain_windows(network, plan).elements()) / plan.batch;
}

// Of columns of blocks with kept halos, of the network below: block after block until all results are there.
double seconds_of_columns(const Network& network, const Calibration& c, const Plan& plan, const Size& whole) {
  const bool fragments = plan.layers[1].fragments;
  const Size block = block_result(network, plan);
  const int lag = 5;  // the field of view, 7, less 1 and less the first kernel's halo
  const int before[3] = {0, fragments ? 1 : 0, lag - (fragments ? 0 : 1)};  // of what each layer makes
  double column = 0;
  for (int end = block.depth;; end += block.depth) {
    for (std::size_t i = 0; i < 3; i++) {
      const bool made = i == 0 || end > before[i - 1];
      if (i > 0 && made && (i == 2 || fragments))
        column += c.joined_voxel * double(maps_of(network, plan)[i].elements());
      if (end > before[i]) column += layer_time(network, c, plan, i);
    }
    if (end - lag >= whole.depth) break;
  }
  const double columns =
      std::ceil(double(whole.height) / block.height) * std::ceil(double(whole.width) / block.width);
  return columns * column * double(plain_windows(network, plan).elements()) / plan.batch;
}

struct Best {
  double any = 0, computed = 0, kept = 0;  // voxels a second
};

// Of the same space as search(): all plans, one after the other.
Best exhaustive(const Network& network, const Calibration& calibration, const SearchLimits& limits,
                fft::Workers& workers) {
  const Size whole = fft::valid(limits.volume, network.field_of_view());
  Best best;
  const auto look = [&](const Plan& plan) {
    const int runs = int(plain_windows(network, plan).elements());
    const int together = blocks_together(network, plan);
    const double blocks =
        plan.halos_kept ? 1 : double(blocks_of(whole, block_result(network, plan)).elements());
    if ((runs % plan.batch != 0 && plan.batch % runs != 0) ||
        (plan.batch > runs && (together & (together - 1)) != 0) || together > blocks ||
        plan_bytes(network, plan, Numbers::kFloat32, workers) > limits.memory)
      return;
    const double seconds = plan.halos_kept ? seconds_of_columns(network, calibration, plan, whole)
                                           : seconds_of_blocks(network, calibration, plan, whole);
    EXPECT_NEAR(seconds, plan_seconds(network, calibration, plan, whole), 1e-9 * seconds);
    double& kind = plan.halos_kept ? best.kept : best.computed;
    kind = std::max(kind, double(whole.elements()) / seconds);
  };
  for (int pooling = 0; pooling < 2; pooling++)
    for (int side = 1; side <= (whole.depth + 1) / 2; side++)
      for (int batch = 1; batch <= limits.most_batch; batch++)
        for (const auto first : kMethods)
          for (const auto second : kMethods) {
            Plan plan{{side, side, side}, batch, {{first, true}, {first, pooling == 0}, {second, true}}};
            look(plan);
            if (side != 1 && side != 2 && side != 3 && side != 5)
              continue;  // 5 fragments in 1, 2, 3, 5 parts
            plan.halos_kept = true;
            for (int depth = 1; depth <= (whole.depth + 1) / 2; depth++) {
              plan.fragment.depth = depth;
              look(plan);
            }
          }
  best.any = std::max(best.computed, best.kept);
  return best;
}

TEST(VolumeSearch, FindsWhatTryingEverythingFinds) {
  const Network network = parse_network("INPUTS:1, LAYERS:3\nCONV 2,2,2 4\nPOOL 2,2,2\nCONV 3,3,3 3\n", "n");
  fft::Workers workers(1);
  int bounded = 0, kept = 0, looked = 0;
  for (int i = 0; i < 6; i++) {
    const Calibration c = random_rates(test::seed() + std::uint64_t(i));
    double unbounded = 0;
    for (const std::uint64_t memory :
         {std::uint64_t(1) << 30U, std::uint64_t(200000), std::uint64_t(60000), std::uint64_t(20000)}) {
      const Best best = exhaustive(network, c, {memory, {16, 16, 16}, 4}, workers);
      for (const auto& [halos, wanted] : {std::pair{HaloSearch::kAny, best.any},
                                          {HaloSearch::kComputed, best.computed},
                                          {HaloSearch::kKept, best.kept}}) {
        const Found found = search(network, c, {memory, {16, 16, 16}, 4, halos}, 1, workers, [] {});
        if (wanted == 0) {
          EXPECT_TRUE(found.best.empty());
          continue;
        }
        looked++;
        ASSERT_EQ(found.best.size(), 1U);
        const Planned& p = found.best[0];
        EXPECT_NEAR(p.voxels_a_second, wanted, wanted * 1e-9);
        EXPECT_LE(p.bytes, memory);
        EXPECT_EQ(p.bytes, plan_bytes(network, p.plan, Numbers::kFloat32, workers));
        if (halos == HaloSearch::kAny && p.plan.halos_kept) kept++;
      }
      if (unbounded == 0) unbounded = best.any;
      if (best.any < unbounded) bounded++;
    }
  }
  EXPECT_GT(bounded, 0);
  EXPECT_GT(looked, 50);
  EXPECT_GT(kept, 0);
}

TEST(VolumeSearch, WhatIsFoundTakesTheMemoryItSays) {
  const Network network = parse_network("INPUTS:1, LAYERS:3\nCONV 2,2,2 4\nPOOL 2,2,2\nCONV 3,3,3 3\n", "n");
  const auto weights = seeded_weights(network, 1);
  const auto source = seeded_source(1, {30, 28, 26}, 2);
  fft::Workers workers(2);
  for (const auto halos : {HaloSearch::kComputed, HaloSearch::kKept}) {
    const Found found =
        search(network, random_rates(4), {400000, source->size(), 4, halos}, 3, workers, [] {});
    ASSERT_EQ(found.best.size(), 3U);
    for (const Planned& p : found.best) {
      fft::Memory memory;
      const Evaluator evaluator(network, p.plan, weights, workers, memory, fft::Effort::Estimate);
      slide(network, evaluator, *source, memory, {0, [](const BlockResult&) {}, [](const Progress&) {}});
      EXPECT_NEAR(double(memory.peak()), double(p.bytes), 2.0 * fft::kAlignment) << text_of(network, p.plan);
    }
  }
}

TEST(VolumeSearch, TriesDepthsAndSidesOfColumns) {
  EXPECT_EQ(kept_depths(20),
            (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20}));
  EXPECT_EQ(kept_sides(7, 7), (std::vector<int>{1, 2, 3, 4, 7}));
  EXPECT_EQ(kept_sides(7, 5), (std::vector<int>{1, 2, 3, 4, 5, 7}));
}

TEST(VolumeSearch, SaysWhatIsNeededWhereNothingFits) {
  const Network network = parse_network("INPUTS:1, LAYERS:1\nCONV 3,3,3 4\n", "n");
  fft::Workers workers(1);
  const Found found = search(network, random_rates(1), {100, {9, 9, 9}, 1}, 1, workers, [] {});
  EXPECT_TRUE(found.best.empty());
  EXPECT_GT(found.least_bytes, 100U);
}

TEST(VolumeSearch, PoolingIsAsTheNetworkWants) {
  const Network network = parse_network(
      R"({"layers": [{"conv": [2, 2, 2], "maps": 2}, {"pool": [2, 2, 2], "pooling": "plain"}]})", "n");
  fft::Workers workers(1);
  const Found found =
      search(network, random_rates(2), {1U << 30U, {9, 9, 9}, 8, HaloSearch::kComputed}, 5, workers, [] {});
  ASSERT_EQ(found.best.size(), 4U);  // batches of 1, 2, 4 and 8 offsets
  for (const Planned& p : found.best) EXPECT_FALSE(p.plan.layers[1].fragments);
  for (std::size_t i = 1; i < 4; i++)
    EXPECT_GE(found.best[i - 1].voxels_a_second, found.best[i].voxels_a_second);
}

TEST(VolumeSearch, PoolsInAllWays) {
  const Network network = parse_network(
      R"({"inputs": 1, "layers": [{"pool": [2, 2, 2]}, {"conv": [1, 1, 1], "maps": 2},
          {"pool": [1, 2, 2], "pooling": "plain"}, {"conv": [1, 1, 1], "maps": 2}, {"pool": [2, 1, 1]}]})",
      "n");
  std::set<std::vector<bool>> found;
  for (const std::vector<Choice>& choices : poolings(network)) {
    ASSERT_EQ(choices.size(), 5U);
    found.insert({choices[0].fragments, choices[2].fragments, choices[4].fragments});
  }
  EXPECT_EQ(found,
            (std::set<std::vector<bool>>{
                {true, false, true}, {true, false, false}, {false, false, true}, {false, false, false}}));
  EXPECT_EQ(poolings(network).size(), 4U);
}

TEST(VolumeModel, CalibrationsAreKeptAsText) {
  const Calibration c = random_rates(3);
  const Calibration again = parse_calibration(text_of(c), "c");
  EXPECT_EQ(text_of(again), text_of(c));
  EXPECT_NEAR(again.methods[3].product, c.methods[3].product, 1e-14);
  EXPECT_NEAR(again.joined_voxel, c.joined_voxel, 1e-14);
  const Calibration older = parse_calibration(
      R"({"threads": 1, "pooled_voxel": 3, "methods": {"blocked": [1, 1, 1, 1, 1], "data-parallel": [1, 1, 1, 1, 1],
          "task-parallel": [1, 1, 1, 1, 1], "patches": [1, 1, 1, 1, 1]}})",
      "c");
  EXPECT_EQ(older.joined_voxel, 6);
  EXPECT_THROW(parse_calibration("{}", "c"), InputError);
  EXPECT_THROW(parse_calibration(R"({"threads": 1, "pooled_voxel": 1, "methods": {}})", "c"), InputError);
}

}  // namespace
}  // namespace kaiten::volume
