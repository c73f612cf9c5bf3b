// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The search against trying every plan.
#include "volume/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/support/seed.h"
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
  return c;
}

// Of the same space as search(): all plans, one after the other.
double exhaustive(const Network& network, const Calibration& calibration, const SearchLimits& limits,
                  fft::Workers& workers) {
  const Size whole = fft::valid(limits.volume, network.field_of_view());
  double best = 0;
  for (int pooling = 0; pooling < 2; pooling++)
    for (int side = 1; side <= (whole.depth + 1) / 2; side++)
      for (int batch = 1; batch <= limits.most_batch; batch++)
        for (const auto first : kMethods)
          for (const auto second : kMethods) {
            const Plan plan{
                {side, side, side}, batch, {{first, true}, {first, pooling == 0}, {second, true}}};
            const int runs = int(plain_windows(network, plan).elements());
            const double blocks = double(blocks_of(whole, block_result(network, plan)).elements());
            const int together = blocks_together(network, plan);
            if ((runs % batch != 0 && batch % runs != 0) ||
                (batch > runs && (together & (together - 1)) != 0) || together > blocks ||
                plan_bytes(network, plan, Numbers::kFloat32, workers) > limits.memory)
              continue;
            const double rounds = std::ceil(blocks / together) * together;  // the last batch may not be full
            best = std::max(best,
                            double(whole.elements()) / (rounds * plan_seconds(network, calibration, plan)));
          }
  return best;
}

TEST(VolumeSearch, FindsWhatTryingEverythingFinds) {
  const Network network = parse_network("INPUTS:1, LAYERS:3\nCONV 2,2,2 4\nPOOL 2,2,2\nCONV 3,3,3 3\n", "n");
  fft::Workers workers(1);
  int bounded = 0;
  for (int i = 0; i < 6; i++) {
    const Calibration c = random_rates(test::seed() + std::uint64_t(i));
    double unbounded = 0;
    for (const std::uint64_t memory :
         {std::uint64_t(1) << 30U, std::uint64_t(200000), std::uint64_t(60000)}) {
      const SearchLimits limits{memory, {16, 16, 16}, 4};
      const Found found = search(network, c, limits, 1, workers, [] {});
      const double best = exhaustive(network, c, limits, workers);
      if (best == 0) {
        EXPECT_TRUE(found.best.empty());
        continue;
      }
      ASSERT_EQ(found.best.size(), 1U);
      EXPECT_NEAR(found.best[0].voxels_a_second, best, best * 1e-9);
      EXPECT_LE(found.best[0].bytes, memory);
      EXPECT_EQ(found.best[0].bytes, plan_bytes(network, found.best[0].plan, Numbers::kFloat32, workers));
      if (unbounded == 0) unbounded = best;
      if (best < unbounded) bounded++;
    }
  }
  EXPECT_GT(bounded, 0);
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
  const Found found = search(network, random_rates(2), {1U << 30U, {9, 9, 9}, 8}, 5, workers, [] {});
  ASSERT_EQ(found.best.size(), 4U);  // batches of 1, 2, 4 and 8 offsets
  for (const Planned& p : found.best) EXPECT_FALSE(p.plan.layers[1].fragments);
  for (std::size_t i = 1; i < 4; i++)
    EXPECT_GE(found.best[i - 1].voxels_a_second, found.best[i].voxels_a_second);
}

TEST(VolumeModel, CalibrationsAreKeptAsText) {
  const Calibration c = random_rates(3);
  const Calibration again = parse_calibration(text_of(c), "c");
  EXPECT_EQ(text_of(again), text_of(c));
  EXPECT_NEAR(again.methods[3].product, c.methods[3].product, 1e-14);
  EXPECT_THROW(parse_calibration("{}", "c"), InputError);
  EXPECT_THROW(parse_calibration(R"({"threads": 1, "pooled_voxel": 1, "methods": {}})", "c"), InputError);
}

}  // namespace
}  // namespace kaiten::volume
