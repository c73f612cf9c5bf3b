// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Pruned transforms against the definition of the Fourier transform, and what goes with them: cheap lengths,
// plans shared by threads.
#include "fft/transform.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "fft/memory.h"
#include "tests/support/seed.h"

namespace kaiten::fft {
namespace {

int draw(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

template <typename T>
std::vector<T> values(std::uint64_t count, std::mt19937_64& random) {
  std::vector<T> v(count);
  for (T& x : v) x = T(std::uniform_real_distribution<double>(-1, 1)(random));
  return v;
}

// One coefficient by the definition.
template <typename T>
std::complex<double> coefficient(const std::vector<T>& image, const Size& extent, const Size& size, int fz,
                                 int fy, int fx) {
  std::complex<double> sum = 0;
  std::size_t at = 0;
  for (int z = 0; z < extent.depth; z++) {
    for (int y = 0; y < extent.height; y++) {
      for (int x = 0; x < extent.width; x++) {
        const double turns =
            double(fz) * z / size.depth + double(fy) * y / size.height + double(fx) * x / size.width;
        sum += double(image[at++]) * std::polar(1.0, -2 * std::numbers::pi * turns);
      }
    }
  }
  return sum;
}

template <typename T>
void check(const Size& size, const Size& extent, std::mt19937_64& random) {
  SCOPED_TRACE(extent.text() + " in " + size.text());
  const std::vector<T> image = values<T>(extent.elements(), random);
  const Transform<T> transform(size, extent);
  Memory memory;
  Array<std::complex<T>> spectrum(memory, transform.bins());
  Array<T> scratch(memory, transform.scratch());
  ASSERT_EQ(transform.bins(), spectrum_bins<T>(size));
  transform.forward(image.data(), dense(extent), spectrum.data(), scratch.data());
  const double tolerance = (sizeof(T) == 4 ? 1e-5 : 1e-13) * std::sqrt(double(extent.elements()));
  // Of a 2-D transform every row is a plane.
  const std::uint64_t pitch = transform.bins() / std::uint64_t(size.depth > 1 ? size.depth : size.height);
  const int half = size.width / 2 + 1;
  for (int i = 0; i < 40; i++) {
    const int fz = draw(random, 0, size.depth - 1), fy = draw(random, 0, size.height - 1),
              fx = draw(random, 0, half - 1);
    const std::uint64_t at = size.depth > 1 ? std::uint64_t(fz) * pitch + std::uint64_t(fy * half + fx)
                                            : std::uint64_t(fy) * pitch + std::uint64_t(fx);
    const std::complex<double> expected = coefficient(image, extent, size, fz, fy, fx);
    ASSERT_NEAR(std::abs(std::complex<double>(spectrum[at]) - expected), 0, tolerance)
        << fz << " " << fy << " " << fx;
  }
  std::vector<T> back(image.size());
  transform.inverse(spectrum.data(), back.data(), dense(extent), scratch.data());
  for (std::size_t i = 0; i < image.size(); i++) ASSERT_NEAR(back[i], image[i], tolerance);
}

TEST(FftSize, GoodLengths) {
  for (int n : {1, 2, 11, 13, 26, 64, 121 / 11 * 8, 1024 * 13}) EXPECT_TRUE(is_good_length(n)) << n;
  for (int n : {0, 17, 121, 143, 169, 2 * 17, 11 * 13 * 4}) EXPECT_FALSE(is_good_length(n)) << n;
  for (int n = 1; n < 3000; n++) {
    const int m = good_length(n);
    ASSERT_GE(m, n);
    ASSERT_LE(m, 2 * n);
    ASSERT_TRUE(is_good_length(m));
    for (int other = n; other <= 2 * n; other++) {
      if (is_good_length(other)) ASSERT_LE(length_cost(m), length_cost(other)) << n << " " << other;
    }
  }
}

TEST(FftTransform, AgreesWithTheDefinition) {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 150; i++) {
    const bool flat = i % 3 == 0;
    const Size least = {flat ? 1 : draw(random, 1, 30), draw(random, 1, 40), draw(random, 1, 40)};
    const Size size = good_size(least);
    const Size extent = {draw(random, 1, size.depth), draw(random, 1, size.height),
                         draw(random, 1, size.width)};
    check<float>(size, extent, random);
    check<double>(size, extent, random);
  }
}

TEST(FftTransform, WholeAndSingleElements) {
  std::mt19937_64 random(test::seed());
  for (const Size& size :
       {Size{1, 1, 1}, {1, 1, 30}, {1, 30, 1}, {30, 1, 1}, {2, 1, 7}, {64, 64, 64}, {1, 128, 128}}) {
    check<double>(size, size, random);
    check<float>(size, {1, 1, 1}, random);
    check<double>(size, {1, 1, size.width}, random);
    check<double>(size, {size.depth, 1, 1}, random);
  }
}

TEST(FftTransform, ImagesInsideLargerOnes) {
  std::mt19937_64 random(test::seed());
  const Size extent = {3, 5, 7}, whole = {6, 11, 20}, size = {8, 12, 24};
  const std::vector<double> volume = values<double>(whole.elements(), random);
  std::vector<double> image;
  for (int z = 0; z < 3; z++)
    for (int y = 0; y < 5; y++)
      for (int x = 0; x < 7; x++)
        image.push_back(volume[std::size_t((z * whole.height + y) * whole.width + x)]);
  const Transform<double> transform(size, extent);
  Memory memory;
  Array<std::complex<double>> a(memory, transform.bins()), b(memory, transform.bins());
  Array<double> scratch(memory, transform.scratch());
  transform.forward(image.data(), dense(extent), a.data(), scratch.data());
  transform.forward(volume.data(), dense(whole), b.data(), scratch.data());
  for (std::size_t i = 0; i < a.size(); i++) ASSERT_EQ(a[i], b[i]);
  std::vector<double> back(whole.elements(), 5.0);
  transform.inverse(a.data(), back.data(), dense(whole), scratch.data());
  EXPECT_NEAR(back[std::size_t(whole.width + 1)], volume[std::size_t(whole.width + 1)], 1e-12);
  EXPECT_EQ(back[7], 5.0);  // beyond the extent nothing is written
}

TEST(FftTransform, ImpossibleSizesAreRefused) {
  EXPECT_THROW(Transform<float>({1, 8, 8}, {1, 9, 8}), std::invalid_argument);
  EXPECT_THROW(Transform<float>({1, 8, 8}, {1, 0, 8}), std::invalid_argument);
  EXPECT_THROW(Transform<float>({4096, 4096, 4096}, {1, 1, 1}), std::invalid_argument);
}

// Threads that ask for the same plans and others, and use them at once, get what one thread gets.
TEST(FftTransform, ThreadsShareThePlans) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&wrong, t] {
      std::mt19937_64 random(test::seed() + std::uint64_t(t / 2));
      for (int i = 0; i < 20; i++) {
        const Size size = good_size({draw(random, 1, 12), draw(random, 1, 20), draw(random, 1, 20)});
        const std::vector<float> image = values<float>(size.elements(), random);
        const Transform<float> transform(size, size);
        Memory memory;
        Array<std::complex<float>> spectrum(memory, transform.bins());
        Array<float> scratch(memory, transform.scratch());
        std::vector<float> back(image.size());
        transform.forward(image.data(), dense(size), spectrum.data(), scratch.data());
        transform.inverse(spectrum.data(), back.data(), dense(size), scratch.data());
        for (std::size_t x = 0; x < image.size(); x++) wrong += std::abs(back[x] - image[x]) > 1e-4F;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace kaiten::fft
