// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Sums of integers by FFT against plain loops: equal wherever the error bound holds, refused where it does
// not.
#include "fft/exact.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/support/seed.h"

namespace kaiten::fft {
namespace {

using Values = std::vector<std::int16_t>;

int draw(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

std::vector<std::vector<std::int64_t>> direct(const Correlation& c, const Values& image,
                                              const Values& kernels) {
  const Size out = valid(c.image, c.kernel);
  std::vector<std::vector<std::int64_t>> sums;
  for (int o = 0; o < c.outputs; o++) {
    std::vector<std::int64_t>& plane = sums.emplace_back();
    for (int z = 0; z < out.depth; z++) {
      for (int y = 0; y < out.height; y++) {
        for (int x = 0; x < out.width; x++) {
          std::int64_t sum = 0;
          const std::int16_t* w = kernels.data() + std::size_t(o * c.channels) * c.kernel.elements();
          for (int i = 0; i < c.channels; i++) {
            const std::int16_t* a = image.data() + std::size_t(i) * c.image.elements();
            for (int dz = 0; dz < c.kernel.depth; dz++)
              for (int dy = 0; dy < c.kernel.height; dy++)
                for (int dx = 0; dx < c.kernel.width; dx++)
                  sum +=
                      std::int64_t(*w++) * a[((z + dz) * c.image.height + y + dy) * c.image.width + x + dx];
          }
          plane.push_back(sum);
        }
      }
    }
  }
  return sums;
}

template <typename T>
ExactResult compare(const Correlation& c, const Values& image, const Values& kernels, int threads = 1) {
  Workers workers(threads);
  Memory memory;
  const auto expected = direct(c, image, kernels);
  std::vector<int> taken(std::size_t(c.outputs), 0);
  const ExactResult r = correlate_exactly<T>(
      c, image, kernels, workers, memory, [&](int o, std::span<const std::int64_t> sums) {
        taken[std::size_t(o)]++;
        EXPECT_TRUE(std::equal(sums.begin(), sums.end(), expected[std::size_t(o)].begin(),
                               expected[std::size_t(o)].end()));
      });
  EXPECT_EQ(memory.used(), 0U);
  for (int count : taken) EXPECT_EQ(count, int(r.exact));
  if (r.exact) EXPECT_LE(r.distance, r.bound);
  return r;
}

Values random_values(std::uint64_t count, int low, int high, std::mt19937_64& random) {
  Values v(count);
  for (std::int16_t& x : v) x = std::int16_t(draw(random, low, high));
  return v;
}

Values image_for(const Correlation& c, int low, int high, std::mt19937_64& random) {
  return random_values(std::uint64_t(c.channels) * c.image.elements(), low, high, random);
}
Values kernels_for(const Correlation& c, int low, int high, std::mt19937_64& random) {
  return random_values(std::uint64_t(c.channels * c.outputs) * c.kernel.elements(), low, high, random);
}

TEST(FftExact, RandomShapes) {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 80; i++) {
    Correlation c{draw(random, 1, 9), draw(random, 1, 5), {}, {}};
    c.image = {i % 2 == 0 ? 1 : draw(random, 1, 9), draw(random, 1, 20), draw(random, 1, 20)};
    c.kernel = {draw(random, 1, std::min(5, c.image.depth)), draw(random, 1, std::min(9, c.image.height)),
                draw(random, 1, std::min(9, c.image.width))};
    if (i % 7 == 0) c.kernel = c.image;
    SCOPED_TRACE(c.image.text() + " by " + c.kernel.text());
    const Values image = image_for(c, -255, 255, random);
    const Values kernels = kernels_for(c, -255, 255, random);
    EXPECT_TRUE(compare<double>(c, image, kernels, 1 + i % 3).exact);
  }
}

// Values of the largest magnitude, alternating so that some sums are as large as can be and others cancel.
Values extreme(std::uint64_t count, std::mt19937_64& random, int kind, int magnitude) {
  Values v(count);
  for (std::size_t i = 0; i < v.size(); i++) {
    const bool up = kind == 0 ? true : kind == 1 ? i % 2 == 0 : draw(random, 0, 1) == 1;
    v[i] = std::int16_t(up ? magnitude : -magnitude);
  }
  return v;
}

// At the edge: the largest layers whose bound is just below 1/2 come out exact, the next larger ones are
// refused. float reaches its edge with small layers, float64 only with 16-bit values and many channels.
template <typename T>
void edge(Correlation c, int image_magnitude, int kernel_magnitude) {
  std::mt19937_64 random(test::seed());
  for (int kind = 0; kind < 3; kind++) {
    int refused = 0;
    double last = 0;
    for (; refused == 0; c.channels++) {
      const Values image =
          extreme(std::uint64_t(c.channels) * c.image.elements(), random, kind, image_magnitude);
      const Values kernels =
          extreme(std::uint64_t(c.channels) * c.kernel.elements(), random, kind, kernel_magnitude);
      const double bound = error_bound<T>(c, norms_of(c, image, kernels));
      refused = bound >= 0.5;
      if (bound < 0.45) continue;  // the edge only
      const ExactResult r = compare<T>(c, image, kernels);
      EXPECT_EQ(r.exact, bound < 0.5);
      EXPECT_EQ(r.bound, bound);
      if (r.exact) last = bound;
    }
    EXPECT_GT(last, 0.45);
    c.channels = 1;
  }
}

TEST(FftExact, AtTheEdgeOfTheBoundInFloat) { edge<float>({1, 1, {1, 8, 8}, {1, 3, 3}}, 15, 7); }

TEST(FftExact, AtTheEdgeOfTheBoundInDouble) { edge<double>({1, 1, {1, 24, 24}, {1, 5, 5}}, 32767, 32767); }

TEST(FftExact, NetworksAreFarFromTheBound) {
  // The largest convolution of VGG-19 with values of the largest magnitude.
  const Correlation c{512, 1, {1, 30, 30}, {1, 3, 3}};
  const Norms norms{255 * std::sqrt(512.0 * 900), 255 * std::sqrt(512.0 * 9), 512.0 * 255 * 30 * 255 * 9};
  EXPECT_LT(error_bound<double>(c, norms), 1e-3);
}

TEST(FftExact, TooLittleMemoryIsRefusedWithTheBytes) {
  const Correlation c{64, 1, {1, 100, 100}, {1, 3, 3}};
  std::mt19937_64 random(test::seed());
  Workers workers;
  Memory memory(1 << 20);
  try {
    correlate_exactly<double>(c, image_for(c, -9, 9, random), kernels_for(c, -9, 9, random), workers, memory,
                              [](int, std::span<const std::int64_t>) {});
    FAIL() << "ran";
  } catch (const OutOfMemory& error) {
    EXPECT_GT(error.needed(), std::uint64_t(64 * 100 * 51 * 16));
    EXPECT_NE(std::string(error.what()).find(std::to_string(error.needed()) + " bytes"), std::string::npos);
  }
}

}  // namespace
}  // namespace kaiten::fft
