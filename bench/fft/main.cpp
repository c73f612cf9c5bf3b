// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Times pruned transforms against padded ones, and convolutional layers of every method against each other
// and oneDNN. One JSON object a line for bench/fft.py. What is compared takes turns, and the shortest time of
// each counts: on a shared machine the rest is other people's.
//
//   kaiten-bench-fft transforms
//   kaiten-bench-fft layers THREADS [CHANNELS,... [KERNEL,...]]
//   kaiten-bench-fft onednn THREADS CHANNELS,OUTPUTS,DEPTH,HEIGHT,WIDTH,KERNEL ...   one image of each layer, by oneDNN alone
#include <fftw3.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "fft/convolution.h"
#include "fft/transform.h"
#include "onednn.h"

namespace kaiten::bench {
namespace {

using namespace fft;

// Of one thread the processor's time, which others' work disturbs less than the clock's; of several the
// clock's.
double now(int threads) {
  timespec t{};
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

double seconds_of(int threads, const std::function<void()>& work) {
  const double start = now(threads);
  work();
  return now(threads) - start;
}

// The shortest of several runs of each, in turns, for about `budget` seconds in all.
std::vector<double> compete(const std::vector<std::function<void()>>& works, double budget) {
  std::vector<double> best(works.size(), 1e30);
  const double start = now(1);
  for (int round = 0; round < 1000 && now(1) - start < budget; round++) {
    for (std::size_t i = 0; i < works.size(); i++) best[i] = std::min(best[i], seconds_of(1, works[i]));
  }
  return best;
}

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> v(count);
  for (float& x : v) x = std::uniform_real_distribution<float>(-1, 1)(random);
  return v;
}

// Kernels of k in transforms of n, in microseconds a kernel. Padded: FFTW's own transform of the whole size,
// planned with the same effort, and the kernel copied into zeros before. Some repetitions at a time, on
// different arrays as layers do.
void time_transform(int dimensions, int n, int k) {
  const Size size = {dimensions == 3 ? n : 1, n, n}, extent = {dimensions == 3 ? k : 1, k, k};
  constexpr Effort kEffort = Effort::Measure;
  const Transform<float> pruned(size, extent, kEffort), whole(size, size, kEffort);
  Memory memory;
  Array<float> scratch(memory, std::max(pruned.scratch(), whole.scratch()));
  Array<std::complex<float>> spectrum(memory, pruned.bins());
  const std::vector<float> kernel = random_values(extent.elements(), 1);
  Array<float> padded(memory, size.elements());
  Array<std::complex<float>> transformed(memory,
                                         size.elements() / std::uint64_t(n) * std::uint64_t(n / 2 + 1));
  const int lengths[3] = {n, n, n};
  fftwf_plan plan = fftwf_plan_dft_r2c(dimensions, lengths, padded.data(),
                                       reinterpret_cast<fftwf_complex*>(transformed.data()), FFTW_MEASURE);
  const auto pad = [&] {
    std::fill(padded.begin(), padded.end(), 0.0F);
    for (int z = 0; z < extent.depth; z++) {
      for (int y = 0; y < k; y++)
        std::copy_n(kernel.data() + (z * k + y) * k, k,
                    padded.data() + (std::size_t(z) * std::size_t(n) + std::size_t(y)) * std::size_t(n));
    }
  };
  const int repetitions = int(std::max(1.0, 2e6 / double(size.elements())));
  const auto times =
      compete({[&] {
                 for (int r = 0; r < repetitions; r++)
                   pruned.forward(kernel.data(), dense(extent), spectrum.data(), scratch.data());
               },
               [&] {
                 for (int r = 0; r < repetitions; r++) {
                   pad();
                   fftwf_execute(plan);
                 }
               },
               [&] {
                 for (int r = 0; r < repetitions; r++) {
                   pad();
                   whole.forward(padded.data(), dense(size), spectrum.data(), scratch.data());
                 }
               }},
              0.6);
  fftwf_destroy_plan(plan);
  std::printf(
      "{\"dimensions\": %d, \"n\": %d, \"k\": %d, \"pruned_us\": %.3f, \"padded_us\": %.3f, "
      "\"own_padded_us\": %.3f}\n",
      dimensions, n, k, 1e6 * times[0] / repetitions, 1e6 * times[1] / repetitions,
      1e6 * times[2] / repetitions);
  std::fflush(stdout);
}

double largest_difference(const Array<float>& a, const std::vector<float>& b) {
  double difference = 0, most = 0;
  for (std::size_t i = 0; i < b.size(); i++) {
    difference = std::max(difference, double(std::abs(a[i] - b[i])));
    most = std::max(most, double(std::abs(b[i])));
  }
  return difference / most;
}

void time_layer(int threads, int channels, int k) {
  const int n = 64;
  const LayerShape shape{1, channels, channels, {n, n, n}, {k, k, k}};
  Workers workers(threads);
  Memory memory;
  const std::vector<float> images = random_values(std::size_t(channels) * shape.image.elements(), 1);
  const std::vector<float> kernels =
      random_values(std::size_t(channels * channels) * shape.kernel.elements(), 2);
  const Method methods[] = {Method::Blocked, Method::DataParallel, Method::TaskParallel, Method::Patches};
  std::vector<std::unique_ptr<Convolution<float>>> layers;
  std::vector<std::function<void()>> works;
  std::vector<Array<float>> results(4);
  std::vector<double> times(4, 0.0);
  // Copying the images in is no part of a layer.
  for (std::size_t m = 0; m < 4; m++) {
    layers.push_back(
        std::make_unique<Convolution<float>>(shape, methods[m], workers, memory, Effort::Measure));
  }
  const std::unique_ptr<OneDnn> onednn = make_onednn(shape, images, kernels);
  std::vector<double> best(5, 1e30);
  double spent = 0;
  // The first round meets new pages; what takes long runs in that one only.
  constexpr double kLong = 5;
  const auto again = [&](std::size_t m, int round) { return round == 0 || best[m] < kLong; };
  for (int round = 0; round < 20 && (round < 2 || spent < 4); round++) {
    for (std::size_t m = 0; m < 4; m++) {
      if (!again(m, round)) continue;
      results[m] = {};
      Array<float> in = layers[m]->make_images();
      std::copy(images.begin(), images.end(), in.begin());
      const double s = seconds_of(threads, [&] { results[m] = layers[m]->run(std::move(in), {kernels}); });
      best[m] = std::min(best[m], s);
      spent += s;
    }
    if (onednn && again(4, round)) {
      const double s = seconds_of(threads, [&] { onednn->run(); });
      best[4] = std::min(best[4], s);
      spent += s;
    }
  }
  double difference = 0;
  const std::vector<float> expected =
      onednn ? onednn->result() : std::vector<float>(results[0].begin(), results[0].end());
  for (const Array<float>& r : results) difference = std::max(difference, largest_difference(r, expected));
  std::printf("{\"threads\": %d, \"channels\": %d, \"k\": %d, \"ms\": {", threads, channels, k);
  for (std::size_t m = 0; m < 4; m++)
    std::printf("%s\"%s\": %.2f", m > 0 ? ", " : "", std::string(name_of(methods[m])).c_str(), 1e3 * best[m]);
  if (onednn) std::printf(", \"onednn\": %.2f", 1e3 * best[4]);
  std::printf("}, \"transform\": \"%s\", \"largest_difference\": %.1e, \"onednn\": \"%s\"}\n",
              layers[3]->transform_size().text().c_str(), difference,
              onednn ? (onednn_version() + " " + onednn->implementation()).c_str() : "");
  std::fflush(stdout);
}

// The shorter of two runs: the first meets new pages.
int time_onednn(int threads, const std::vector<int>& of) {
  const LayerShape shape{1, of[0], of[1], {of[2], of[3], of[4]}, {of[5], of[5], of[5]}};
  const std::vector<float> images = random_values(std::size_t(of[0]) * shape.image.elements(), 1);
  const std::vector<float> kernels = random_values(std::size_t(of[0] * of[1]) * shape.kernel.elements(), 2);
  const std::unique_ptr<OneDnn> onednn = make_onednn(shape, images, kernels);
  if (!onednn) {
    std::fprintf(stderr, "kaiten-bench-fft: built without oneDNN (Debian: libdnnl-dev)\n");
    return 2;
  }
  const auto run = [&] { onednn->run(); };
  const double first = seconds_of(threads, run);
  const double second = first < 20 ? seconds_of(threads, run) : first;
  std::printf("{\"ms\": %.3f, \"onednn\": \"%s\"}\n", 1e3 * std::min(first, second),
              (onednn_version() + " " + onednn->implementation()).c_str());
  std::fflush(stdout);
  return 0;
}

std::vector<int> numbers(const char* text) {
  std::vector<int> values;
  std::stringstream in(text);
  for (std::string item; std::getline(in, item, ',');) values.push_back(std::stoi(item));
  return values;
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "transforms") {
    for (int dimensions : {2, 3})
      for (int n : {32, 48, 64, 96, 128})
        for (int k : {3, 5, 7, 9}) time_transform(dimensions, n, k);
    return 0;
  }
  if ((what == "layers" || what == "onednn") && argc > 2) {
    // OpenMP, which oneDNN uses, reads this when the program starts.
    const char* set = std::getenv("OMP_NUM_THREADS");
    if (set == nullptr || std::string(set) != argv[2]) {
      setenv("OMP_NUM_THREADS", argv[2], 1);
      execv("/proc/self/exe", argv);
    }
    if (what == "onednn") {
      for (int i = 3; i < argc; i++) {
        const std::vector<int> of = numbers(argv[i]);
        if (const int code = of.size() == 6 ? time_onednn(std::stoi(argv[2]), of) : 2) return code;
      }
      return 0;
    }
    for (int channels : numbers(argc > 3 ? argv[3] : "8,16,32,64"))
      for (int k : numbers(argc > 4 ? argv[4] : "3,5,7,9")) time_layer(std::stoi(argv[2]), channels, k);
    return 0;
  }
  std::fprintf(
      stderr,
      "usage: kaiten-bench-fft transforms | layers THREADS [CHANNELS,... [KERNEL,...]] | onednn THREADS "
      "CHANNELS,OUTPUTS,DEPTH,HEIGHT,WIDTH,KERNEL ...\n");
  return 2;
}

}  // namespace
}  // namespace kaiten::bench

int main(int argc, char** argv) { return kaiten::bench::run(argc, argv); }
