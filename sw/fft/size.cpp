// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/size.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "fft/memory.h"

namespace kaiten::fft {
namespace {

struct Factor {
  int prime;
  double cost;  // operations for each element; radix 2: 1
};
constexpr std::array<Factor, 6> kFactors = {{{2, 1.0}, {3, 1.8}, {5, 2.9}, {7, 4.1}, {11, 6.5}, {13, 7.5}}};
constexpr double kOperation = 0.15;  // relative to a pass over the data

// Passes over the data, measured (bench/fft). FFTW does some lengths in one; others in two or more, whose
// vector instructions want factors of two.
double passes(int n) {
  if (n <= 16 || n == 20 || n == 32 || n == 64 || n == 128) return 1.0;
  if (n == 25) return 2.0;
  return n % 8 == 0 ? 2.5 : n % 4 == 0 ? 3.0 : n % 2 == 0 ? 3.5 : 4.5;
}

// What every element of a longer transform costs elsewhere (other axes, products), in passes.
constexpr double kElsewhere = 6.0;

// Divides the good factors out of n; their summed cost in `cost`, the number of 11 and 13 in `large`.
int remainder(int n, double& cost, int& large) {
  cost = 0;
  large = 0;
  for (const Factor& f : kFactors) {
    for (; n % f.prime == 0; n /= f.prime) {
      cost += f.cost;
      large += f.prime >= 11;
    }
  }
  return n;
}

double computed_cost(int n) {
  double cost = 0;
  int large = 0;
  remainder(n, cost, large);
  return n == 1 ? 0.0 : passes(n) + kOperation * cost;
}

}  // namespace

std::uint64_t Size::elements() const {
  return product({std::uint64_t(depth), std::uint64_t(height), std::uint64_t(width)});
}

bool Size::inside(const Size& other) const {
  return depth <= other.depth && height <= other.height && width <= other.width;
}

std::string Size::text() const {
  return (depth > 1 ? std::to_string(depth) + "x" : "") + std::to_string(height) + "x" +
         std::to_string(width);
}

Size valid(const Size& image, const Size& kernel) {
  return {image.depth - kernel.depth + 1, image.height - kernel.height + 1, image.width - kernel.width + 1};
}

bool is_good_length(int n) {
  double cost = 0;
  int large = 0;
  return n >= 1 && remainder(n, cost, large) == 1 && large <= 1;
}

double element_cost(int n) {
  // Searches ask for the same lengths some million times.
  static const auto kKnown = [] {
    std::array<double, 1024> known{};
    for (int i = 1; i < int(known.size()); i++) known[std::size_t(i)] = computed_cost(i);
    return known;
  }();
  return n > 0 && std::size_t(n) < kKnown.size() ? kKnown[std::size_t(n)] : computed_cost(n);
}

double length_cost(int n) { return double(n) * (kElsewhere + element_cost(n)); }

int good_length(int n) {
  int best = 0;
  // A power of two is at most twice as long, and everything beyond it costs more.
  for (int m = std::max(n, 1);; m++) {
    if (!is_good_length(m)) continue;
    if (best == 0 || length_cost(m) < length_cost(best)) best = m;
    if ((m & (m - 1)) == 0 || double(m) * kElsewhere > length_cost(best)) return best;
  }
}

Size good_size(const Size& least) {
  return {good_length(least.depth), good_length(least.height), good_length(least.width)};
}

}  // namespace kaiten::fft
