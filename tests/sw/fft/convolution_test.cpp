// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layers of every method against the definition in double precision, what they are known to do to simple
// images, their memory against the paper's formulas, and what is refused.
#include "fft/convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "fft/transform.h"
#include "tests/support/seed.h"

namespace kaiten::fft {
namespace {

constexpr Method kMethods[] = {Method::Naive, Method::Blocked, Method::DataParallel, Method::TaskParallel,
                               Method::Patches};

int draw(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

std::vector<double> values(std::uint64_t count, std::mt19937_64& random) {
  std::vector<double> v(count);
  // Values that float holds exactly.
  for (double& x : v) x = double(float(std::uniform_real_distribution<double>(-1, 1)(random)));
  return v;
}

std::uint64_t images(const LayerShape& l) { return std::uint64_t(l.batch * l.channels) * l.image.elements(); }
std::uint64_t kernels(const LayerShape& l) {
  return std::uint64_t(l.outputs * l.channels) * l.kernel.elements();
}

std::vector<double> definition(const LayerShape& l, const std::vector<double>& image,
                               const std::vector<double>& kernel) {
  const Size out = l.result();
  std::vector<double> result;
  for (int s = 0; s < l.batch; s++) {
    for (int o = 0; o < l.outputs; o++) {
      for (int z = 0; z < out.depth; z++) {
        for (int y = 0; y < out.height; y++) {
          for (int x = 0; x < out.width; x++) {
            double sum = 0;
            const double* w = kernel.data() + std::size_t(o * l.channels) * l.kernel.elements();
            for (int c = 0; c < l.channels; c++) {
              const double* a = image.data() + std::size_t(s * l.channels + c) * l.image.elements();
              for (int dz = 0; dz < l.kernel.depth; dz++)
                for (int dy = 0; dy < l.kernel.height; dy++)
                  for (int dx = 0; dx < l.kernel.width; dx++)
                    sum += *w++ * a[((z + dz) * l.image.height + y + dy) * l.image.width + x + dx];
            }
            result.push_back(sum);
          }
        }
      }
    }
  }
  return result;
}

struct Own {
  explicit Own(int threads = 1) : workers(threads) {}
  Workers workers;
  Memory memory;
};

template <typename T>
std::vector<double> run(Own& own, const LayerShape& l, Method method, const std::vector<double>& image,
                        const std::vector<double>& kernel, const std::vector<double>& bias = {},
                        bool relu = false) {
  const Convolution<T> layer(l, method, own.workers, own.memory);
  Array<T> in = layer.make_images();
  std::copy(image.begin(), image.end(), in.begin());
  const std::vector<T> w(kernel.begin(), kernel.end()), b(bias.begin(), bias.end());
  own.memory.reset_peak();
  const Array<T> out = layer.run(std::move(in), {w, b, relu});
  EXPECT_EQ(own.memory.peak(), layer.bytes_needed());
  return {out.begin(), out.end()};
}

// Largest difference in units of the largest value.
double relative(const std::vector<double>& found, const std::vector<double>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double most = 1e-300, difference = 0;
  for (std::size_t i = 0; i < found.size(); i++) {
    most = std::max(most, std::abs(expected[i]));
    // A NaN is a difference too.
    if (!(std::abs(found[i] - expected[i]) <= difference)) difference = std::abs(found[i] - expected[i]);
  }
  return difference / most;
}

void check(const LayerShape& l, int threads, std::mt19937_64& random) {
  const std::vector<double> image = values(images(l), random), kernel = values(kernels(l), random);
  const std::vector<double> expected = definition(l, image, kernel);
  Own own(threads);
  for (Method method : kMethods) {
    SCOPED_TRACE(std::string(name_of(method)) + " " + std::to_string(l.batch) + "x" +
                 std::to_string(l.channels) + " to " + std::to_string(l.outputs) + ", " + l.image.text() +
                 " by " + l.kernel.text());
    EXPECT_LT(relative(run<float>(own, l, method, image, kernel), expected), 1e-5);
    EXPECT_LT(relative(run<double>(own, l, method, image, kernel), expected), 1e-13);
  }
  EXPECT_EQ(own.memory.used(), 0U);
}

TEST(FftConvolution, RandomShapes) {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 60; i++) {
    LayerShape l{draw(random, 1, 3), draw(random, 1, 6), draw(random, 1, 9), {}, {}};
    l.image = {i % 2 == 0 ? 1 : draw(random, 1, 14), draw(random, 1, 24), draw(random, 1, 40)};
    l.kernel = {draw(random, 1, std::min(5, l.image.depth)), draw(random, 1, std::min(7, l.image.height)),
                draw(random, 1, std::min(9, l.image.width))};
    check(l, 1 + i % 3, random);
  }
}

TEST(FftConvolution, OddSizesAndLargeKernels) {
  std::mt19937_64 random(test::seed());
  for (const Size& image : {Size{1, 17, 31}, {7, 11, 13}, {1, 1, 19}, {1, 1, 1}, {19, 1, 1}, {1, 29, 1}}) {
    check({1, 2, 3, image, image}, 2, random);
    check({2, 2, 1, image, {1, 1, 1}}, 1, random);
    check({1, 3, 2, image, {(image.depth + 1) / 2, (image.height + 1) / 2, (image.width + 1) / 2}}, 2,
          random);
  }
}

TEST(FftConvolution, ManyChannels) {
  std::mt19937_64 random(test::seed());
  check({1, 70, 37, {1, 12, 20}, {1, 3, 3}}, 2, random);
  check({1, 33, 18, {9, 10, 11}, {2, 3, 4}}, 2, random);
}

TEST(FftConvolution, ManyPatches) {
  std::mt19937_64 random(test::seed());
  const LayerShape l{2, 8, 5, {1, 150, 131}, {1, 3, 5}};
  Own own;
  const Convolution<float> layer(l, Method::Patches, own.workers, own.memory);
  EXPECT_LT(layer.transform_size().height, 100);
  check(l, 2, random);
  check({1, 4, 4, {40, 45, 50}, {3, 3, 3}}, 2, random);
}

TEST(FftConvolution, IdentityShiftLinearity) {
  std::mt19937_64 random(test::seed());
  const Size size = {6, 9, 15};
  const LayerShape l{1, 1, 1, size, {3, 2, 4}};
  const std::vector<double> image = values(size.elements(), random);
  Own own;
  for (Method method : kMethods) {
    SCOPED_TRACE(name_of(method));
    // One tap of 1: the image; elsewhere in the kernel: the image from there on.
    EXPECT_LT(relative(run<double>(own, {1, 1, 1, size, {1, 1, 1}}, method, image, {1.0}), image), 1e-14);
    for (int tap : {0, 5, 23}) {
      std::vector<double> kernel(24, 0.0), shifted;
      kernel[std::size_t(tap)] = 1;
      const Size out = l.result();
      const int dz = tap / 8, dy = tap / 4 % 2, dx = tap % 4;
      for (int z = 0; z < out.depth; z++)
        for (int y = 0; y < out.height; y++)
          for (int x = 0; x < out.width; x++)
            shifted.push_back(image[std::size_t(((z + dz) * size.height + y + dy) * size.width + x + dx)]);
      EXPECT_LT(relative(run<double>(own, l, method, image, kernel), shifted), 1e-14);
    }
    // a f + b g.
    const std::vector<double> other = values(size.elements(), random), kernel = values(24, random);
    std::vector<double> mixed, expected;
    for (std::size_t i = 0; i < image.size(); i++) mixed.push_back(3 * image[i] - 0.5 * other[i]);
    const auto f = run<double>(own, l, method, image, kernel), g = run<double>(own, l, method, other, kernel);
    for (std::size_t i = 0; i < f.size(); i++) expected.push_back(3 * f[i] - 0.5 * g[i]);
    EXPECT_LT(relative(run<double>(own, l, method, mixed, kernel), expected), 1e-13);
  }
}

TEST(FftConvolution, BiasAndTransferFunction) {
  std::mt19937_64 random(test::seed());
  const LayerShape l{2, 3, 5, {1, 10, 12}, {1, 3, 3}};
  const std::vector<double> image = values(images(l), random), kernel = values(kernels(l), random),
                            bias = values(5, random);
  std::vector<double> expected = definition(l, image, kernel);
  const std::size_t n = l.result().elements();
  for (std::size_t i = 0; i < expected.size(); i++)
    expected[i] = std::max(0.0, expected[i] + bias[i / n % 5]);
  Own own(2);
  for (Method method : kMethods)
    EXPECT_LT(relative(run<double>(own, l, method, image, kernel, bias, true), expected), 1e-13)
        << name_of(method);
}

// Table II of the paper, in bytes: S, f, f', n, n', n~ and T as there, with a spectrum's padding in n~. What
// is beyond the formulas is each thread's scratch memory and rounding to cache lines.
TEST(FftConvolution, MemoryFollowsThePaper) {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 30; i++) {
    const LayerShape l{draw(random, 1, 4),
                       draw(random, 1, 12),
                       draw(random, 1, 12),
                       {i % 2 == 0 ? 1 : draw(random, 8, 24), draw(random, 12, 40), draw(random, 12, 40)},
                       {1, draw(random, 1, 5), draw(random, 1, 5)}};
    const int threads = 1 + i % 3;
    Own own(threads);
    const std::uint64_t s = std::uint64_t(l.batch), f = std::uint64_t(l.channels),
                        f2 = std::uint64_t(l.outputs);
    const std::uint64_t n = 4 * l.image.elements(), n2 = 4 * l.result().elements();
    const std::uint64_t spectrum = 8 * spectrum_bins<float>(good_size(l.image));
    const Transform<float> transform(good_size(l.image), l.image);
    const std::uint64_t lines = (transform.scratch() * 4 + 64) * std::uint64_t(threads),
                        rounding = 64 * (4 + std::uint64_t(threads));
    const auto near = [&](Method method, std::uint64_t formula, std::uint64_t scratch) {
      const std::uint64_t needed = Convolution<float>(l, method, own.workers, own.memory).bytes_needed();
      EXPECT_GE(needed, formula);
      EXPECT_LE(needed, formula + scratch + rounding);
      run<float>(own, l, method, std::vector<double>(images(l)),
                 std::vector<double>(kernels(l)));  // measures
    };
    near(Method::Naive, s * f * n + s * f2 * n2, 0);
    near(Method::Blocked, s * f * n + s * f2 * n2, 0);
    // The table has S f + 1 spectra in the second stage; the S sums that the algorithm allocates are missing
    // there.
    near(Method::DataParallel, std::max(s * f * (n + spectrum), s * f2 * n2 + (s * f + s + 1) * spectrum),
         lines);
    near(Method::TaskParallel,
         std::max({s * f * (n + spectrum), (s * (f + f2) + std::uint64_t(threads)) * spectrum,
                   s * f2 * (n2 + spectrum)}),
         lines);
  }
}

TEST(FftConvolution, WhatDoesNotFitIsRefusedWithTheBytes) {
  Workers workers;
  Memory memory(10'000'000);
  for (Method method : kMethods) {
    SCOPED_TRACE(name_of(method));
    const LayerShape l{1, 16, 16, {64, 64, 64}, {3, 3, 3}};
    try {
      const Convolution<float> layer(l, method, workers, memory);
      FAIL() << "accepted";
    } catch (const OutOfMemory& error) {
      EXPECT_GE(error.needed(), std::uint64_t(4 * 16 * (64 * 64 * 64 + 62 * 62 * 62)));
      const std::string what = error.what();
      EXPECT_NE(what.find("needs " + std::to_string(error.needed()) + " bytes, there are 10000000 bytes"),
                std::string::npos)
          << what;
      EXPECT_NE(what.find(name_of(method)), std::string::npos) << what;
    }
    // Sizes beyond 64 bits.
    const int huge = 2'000'000'000;
    EXPECT_THROW(
        Convolution<float>({huge, huge, huge, {huge, huge, huge}, {1, 1, 1}}, method, workers, memory),
        OutOfMemory);
    EXPECT_THROW(Convolution<float>({1, 1, 1, {1, 4, 4}, {1, 5, 4}}, method, workers, memory),
                 std::invalid_argument);
  }
  EXPECT_EQ(memory.used(), 0U);
}

// Layers run by several threads at once, each with its own workers, share plans and memory.
TEST(FftConvolution, LayersRunAtTheSameTime) {
  std::mt19937_64 random(test::seed());
  const LayerShape l{1, 5, 6, {5, 20, 24}, {3, 3, 3}};
  const std::vector<double> image = values(images(l), random), kernel = values(kernels(l), random);
  const std::vector<double> expected = definition(l, image, kernel);
  Memory memory;
  std::vector<double> errors(10);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < errors.size(); t++) {
    threads.emplace_back([&, t] {
      Workers workers(1 + int(t % 2));
      const std::vector<float> w(kernel.begin(), kernel.end());
      const Convolution<float> layer(l, kMethods[t % 5], workers, memory);
      for (int i = 0; i < 5; i++) {
        Array<float> in = layer.make_images();
        std::copy(image.begin(), image.end(), in.begin());
        const Array<float> out = layer.run(std::move(in), {w});
        errors[t] = std::max(errors[t], relative({out.begin(), out.end()}, expected));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (double error : errors) EXPECT_LT(error, 1e-5);
  EXPECT_EQ(memory.used(), 0U);
}

TEST(FftMemory, CountsAndKeepsWithinTheLimit) {
  Memory memory(20 << 20);
  const auto mebibytes = [&](std::uint64_t n) { return Array<char>(memory, n << 20); };
  {
    const Array<char> a = mebibytes(4);
    EXPECT_EQ(memory.used(), 4U << 20);
  }
  EXPECT_EQ(memory.used(), 0U);
  EXPECT_EQ(memory.kept(), 4U << 20);
  {
    const Array<char> again = mebibytes(4);
    EXPECT_EQ(memory.kept(), 0U);
    const Array<char> other = mebibytes(10);
    EXPECT_EQ(memory.peak(), 14U << 20);
  }
  EXPECT_EQ(memory.kept(), 14U << 20);
  { const Array<char> third = mebibytes(3); }  // in whole large pages, from what is kept
  EXPECT_EQ(memory.kept(), 14U << 20);
  {
    const Array<char> all = mebibytes(20);  // what is kept makes room
    EXPECT_EQ(memory.kept(), 0U);
  }
  EXPECT_EQ(memory.kept(), 20U << 20);
  EXPECT_THROW(mebibytes(21), OutOfMemory);
  {
    const Array<char> small(memory, 1000);
    EXPECT_EQ(memory.used(), 1024U);
  }
}

TEST(FftWorkers, EveryTaskOnceAndErrorsComeBack) {
  Workers workers(4);
  for (int tasks : {0, 1, 3, 1000}) {
    std::vector<std::atomic<int>> done(std::size_t(tasks) + 1);
    workers.each(tasks, [&](std::int64_t i, int worker) {
      EXPECT_LT(worker, 4);
      done[std::size_t(i)]++;
    });
    for (int i = 0; i < tasks; i++) EXPECT_EQ(done[std::size_t(i)], 1);
  }
  EXPECT_THROW(workers.each(100,
                            [](std::int64_t i, int) {
                              if (i == 57) throw std::runtime_error("x");
                            }),
               std::runtime_error);
  int runs = 0;
  workers.each(1, [&](std::int64_t, int) { runs++; });
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace kaiten::fft
