// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/float_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace kaiten {
namespace {

// Comparisons of the search. A first candidate that rounds like the chain nearly everywhere needs none of
// them.
constexpr int kBudget = 1'000'000;
constexpr int kAddCandidates = 20'000;
constexpr int kMulCandidates = 17;  // neighbours of one factor: further ones differ more
// Of sums of three and more operands: ties that are compared, one by one.
constexpr int64_t kMostTies = 20'000'000;
// Pairs further from a tie than this share of their operands, in steps of the output, cannot differ: float32
// and the scaled integers have 24 bits.
constexpr double kNearTie = 1.0 / (1 << 20);

// Half to even, where |value| is below 2^22: the sum has no bits behind the point left.
float to_integer(float value) {
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23
  return (std::clamp(value, -1.0e6F, 1.0e6F) + kShift) - kShift;
}

int stored(float value, const OutputQuant& output) { return output.stored(int32_t(to_integer(value))); }

// What a stored value of each operand becomes; in a difference the second one is negative.
template <typename T>
using Values = std::array<std::array<T, 256>, kMaxAddends>;

// Stored values of the operands, plus 128.
using Tuple = std::array<uint8_t, kMaxAddends>;

template <typename Params>
constexpr bool kIsAdd = std::is_same_v<Params, AddParams>;

size_t operands_of(const AddParams& p) { return p.operands; }
size_t operands_of(const MulParams&) { return 2; }

template <typename T, typename Params, typename F>
Values<T> values_of(const Params& p, F value) {
  Values<T> values;
  for (size_t k = 0; k < operands_of(p); k++) {
    for (int q = -128; q <= 127; q++) values[k][size_t(q + 128)] = value(k, q - p.zp_in[k]);
  }
  if constexpr (kIsAdd<Params>) {
    for (T& y : values[1]) y = p.subtract ? -y : y;
  }
  return values;
}

// Operands together, in their order.
template <typename Params, typename T>
T combined(const Params& p, const Values<T>& values, const Tuple& t) {
  T all = values[0][t[0]];
  for (size_t k = 1; k < operands_of(p); k++) {
    const T next = values[k][t[k]];
    all = kIsAdd<Params> ? all + next : all * next;
  }
  return all;
}

// What the model means by one operator, and the integers of the vector engine: both keep what depends on one
// operand.
template <typename Params>
class FloatChain {
 public:
  explicit FloatChain(const Params& p) : p_(p) {
    if (p.qlinear) {
      prepare_qlinear();
    } else {
      x_ = values_of<float>(p, [&](size_t k, int d) { return float(d) * p.scale[k]; });
    }
  }
  int operator()(const Tuple& t) const {
    if (!p_.qlinear) return stored(combined(p_, x_, t) / p_.out_scale, p_.output);
    const float value = kIsAdd<Params> ? std::fma(x_[last_][t[last_]], ratio_, x_[1 - last_][t[1 - last_]])
                                       : combined(p_, x_, t) * ratio_ + zero_point_;
    return std::clamp(int(to_integer(value)) - offset_, p_.output.low, p_.output.high);
  }

 private:
  // onnxruntime's own values and zero points: those of uint8 models stand 128 higher.
  void prepare_qlinear() {
    offset_ = p_.model_offset;
    zero_point_ = float(p_.output.zero_point + offset_);
    if constexpr (kIsAdd<Params>) {
      last_ = p_.second_is_last ? 1 : 0;
      const size_t first = 1 - last_;
      const auto zero = [&](size_t k) { return float(p_.zp_in[k] + offset_); };
      ratio_ = p_.scale[last_] / p_.out_scale;
      const float other = p_.scale[first] / p_.out_scale;
      const float fixed = zero_point_ - std::fma(ratio_, zero(last_), other * zero(first));
      for (int q = -128; q <= 127; q++) {
        const auto i = size_t(q + 128);
        x_[last_][i] = float(q + offset_);
        x_[first][i] = std::fma(float(q + offset_), other, fixed);
      }
    } else {
      ratio_ = p_.scale[0] * p_.scale[1] / p_.out_scale;
      x_ = values_of<float>(p_, [](size_t, int d) { return float(d); });
    }
  }

  const Params& p_;
  Values<float> x_{};
  size_t last_ = 0;
  float ratio_ = 0;
  float zero_point_ = 0;
  int offset_ = 0;
};

template <typename Params>
class Integers {
 public:
  explicit Integers(const Params& p) : p_(p) {
    Multiplier out;
    if constexpr (kIsAdd<Params>) {
      out = p.out;
      x_ = values_of<int32_t>(
          p, [&](size_t k, int d) { return requantize_double(d * (1 << p.left_shift), p.in[k]); });
    } else {
      out = p.multiplier;
      x_ = values_of<int32_t>(p, [](size_t, int d) { return d; });
    }
    factor_ = std::ldexp(float(out.m), out.shift - 31);
  }
  int operator()(const Tuple& t) const { return stored(float(combined(p_, x_, t)) * factor_, p_.output); }

 private:
  const Params& p_;
  Values<int32_t> x_;
  float factor_ = 0;
};

struct NearTie {
  Tuple operands;
  int result;  // of the float chain
};

// The candidates after the first: small steps away from it, the same in every run.
class Steps {
 public:
  void next() { state_ = state_ * 6364136223846793005U + 1442695040888963407U; }
  // -width..width, from bits of their own.
  int pick(int bit, int width) const { return int((state_ >> bit) % unsigned(2 * width + 1)) - width; }
  int below(int bit, int n) const { return int((state_ >> bit) % unsigned(n)); }

 private:
  uint64_t state_ = 1;
};

float stepped(float value, int steps) {
  for (; steps > 0; steps--) value = std::nextafter(value, HUGE_VALF);
  for (; steps < 0; steps++) value = std::nextafter(value, 0.0F);
  return value;
}

// What operands are in steps of the output, before zero point and clamp.
template <typename Params>
Values<double> exact_values(const Params& p) {
  return values_of<double>(p, [&](size_t k, int d) {
    const double x = double(d) * double(p.scale[k]);
    return kIsAdd<Params> || k == 0 ? x / double(p.out_scale) : x;
  });
}

// Whether the clamp lets through what a tie between this integer and the next becomes.
template <typename Params>
bool visible(const Params& p, double below) {
  return below + p.output.zero_point >= p.output.low && below + 1 + p.output.zero_point <= p.output.high;
}

template <typename Visit>
void for_each_pair(Visit visit) {
  for (int a = 0; a < 256; a++) {
    for (int b = 0; b < 256; b++) visit(Tuple{uint8_t(a), uint8_t(b)});
  }
}

template <typename Params>
int count_differing(const Params& params) {
  const FloatChain chain(params);
  const Integers integers(params);
  int differing = 0;
  for_each_pair([&](const Tuple& t) { differing += chain(t) != integers(t) ? 1 : 0; });
  return differing;
}

// What operands and zero points of onnxruntime's QLinear operators are together at most, in steps of the output.
template <typename Params>
double largest_term(const Params& p) {
  if (!p.qlinear) return 0;
  if constexpr (kIsAdd<Params>) return 256 * (1 + double(p.scale[0] + p.scale[1]) / double(p.out_scale));
  return 256;
}

// Pairs next to a tie that the clamp leaves visible.
template <typename Params>
std::vector<NearTie> near_ties(const Params& params) {
  const FloatChain chain(params);
  const Values<double> values = exact_values(params);
  const double least = largest_term(params);
  std::vector<NearTie> pairs;
  for_each_pair([&](const Tuple& t) {
    const double y = combined(params, values, t);
    const double size = kIsAdd<Params> ? std::abs(values[0][t[0]]) + std::abs(values[1][t[1]]) : std::abs(y);
    const double below = std::floor(y);
    if (std::abs(y - below - 0.5) <= kNearTie * (size + least) && visible(params, below))
      pairs.push_back({t, chain(t)});
  });
  return pairs;
}

// Takes the candidate that agrees on most pairs, the first one that agrees on all.
template <typename Params, typename Candidate>
void search(Params& params, int candidates, Candidate candidate) {
  const std::vector<NearTie> ties = near_ties(params);
  Params best;
  int fewest = int(ties.size()) + 1;
  Steps steps;
  int budget = kBudget;
  for (int i = 0; fewest > 0 && i < candidates && budget > 0; i++, steps.next()) {
    const Params tried = candidate(i, steps);
    const Integers integers(tried);
    int differing = 0;
    for (const NearTie& t : ties) {
      budget--;
      if (integers(t.operands) == t.result) continue;
      if (++differing >= fewest) break;
    }
    if (differing >= fewest) continue;
    fewest = differing;
    best = tried;
  }
  params = best;
  params.differing_pairs = count_differing(params);
}

// Sums of three and more operands: too many to try them all. Those next to a tie are found by the fraction of
// their two halves' sums: for each sum of the operands from the third on, the sums of the first two that
// complete it to a half lie side by side when these are sorted by their fractions.
class SumTies {
 public:
  explicit SumTies(const AddParams& p) : p_(p), values_(exact_values(p)) {
    for_each_pair([&](const Tuple& t) {
      const double value = values_[0][t[0]] + values_[1][t[1]];
      first_.push_back({value - std::floor(value), value, {t[0], t[1]}});
      if (p.operands == 3 && t[1] != 0) return;
      const double rest = values_[2][t[0]] + (p.operands == 4 ? values_[3][t[1]] : 0.0);
      rest_.push_back({rest - std::floor(rest), rest, {t[0], t[1]}});
    });
    std::sort(first_.begin(), first_.end(),
              [](const Half& a, const Half& b) { return a.fraction < b.fraction; });
  }

  // How many there are, beside the clamp too.
  int64_t count(double margin) const {
    int64_t n = 0;
    each_range(margin, [&](const Half&, auto begin, auto end) { n += end - begin; });
    return n;
  }
  // Visible ones.
  template <typename Visit>
  void each(double margin, Visit visit) const {
    each_range(margin, [&](const Half& rest, auto begin, auto end) {
      for (auto half = begin; half != end; ++half) {
        if (visible(p_, std::floor(half->value + rest.value)))
          visit(Tuple{half->operands[0], half->operands[1], rest.operands[0], rest.operands[1]});
      }
    });
  }

 private:
  struct Half {
    double fraction;  // of the value, which is in steps of the output
    double value;
    std::array<uint8_t, 2> operands;
  };

  template <typename Take>
  void each_range(double margin, Take take) const {
    const auto at = [&](double fraction) {
      return std::lower_bound(first_.begin(), first_.end(), fraction,
                              [](const Half& h, double f) { return h.fraction < f; });
    };
    for (const Half& rest : rest_) {
      // Fractions within the margin of the one that completes a half; they go round at 1.
      double middle = 0.5 - rest.fraction;
      if (middle < 0) middle += 1;
      take(rest, at(middle - margin), at(middle + margin));
      if (middle - margin < 0) take(rest, at(middle - margin + 1), first_.end());
      if (middle + margin > 1) take(rest, first_.begin(), at(middle + margin - 1));
    }
  }

  const AddParams& p_;
  Values<double> values_;
  std::vector<Half> first_, rest_;
};

// How far apart, in steps of the output, the float chain, the integers and the exact sum can be at most: each
// rounding of the chain is 2^-24 of what the operands are together, each operand's two are a unit of the
// integers, whose factors may stand a little beside the exact ones.
double sum_margin(const AddParams& p) {
  constexpr double kUlp = 1.0 / (1 << 24);
  const double unit = std::ldexp(double(p.out.m), p.out.shift - 31);
  double size = 0;
  double integers = 0;
  for (size_t k = 0; k < p.operands; k++) {
    const double exact = double(p.scale[k]) / double(p.out_scale);
    const double made = std::ldexp(double(p.in[k].m), p.in[k].shift - 31 + p.left_shift) * unit;
    size += 255 * std::max(exact, made);
    integers += unit + 255 * std::abs(made - exact);
  }
  return std::min(0.5, double(p.operands + 4) * kUlp * size + integers);
}

// Runs one of the two over all elements.
template <typename Function>
void run(const Function& function, std::span<const std::span<const int8_t>> operands, std::span<int8_t> out) {
  for (size_t i = 0; i < out.size(); i++) {
    Tuple t{};
    for (size_t k = 0; k < operands.size(); k++) t[k] = uint8_t(operands[k][i] + 128);
    out[i] = int8_t(function(t));
  }
}

}  // namespace

void float_add(const AddParams& p, std::span<const std::span<const int8_t>> operands, std::span<int8_t> out) {
  run(FloatChain(p), operands, out);
}
void float_multiply(const MulParams& p, std::span<const int8_t> a, std::span<const int8_t> b,
                    std::span<int8_t> out) {
  run(FloatChain(p), std::array{a, b}, out);
}
void integer_add(const AddParams& p, std::span<const std::span<const int8_t>> operands,
                 std::span<int8_t> out) {
  run(Integers(p), operands, out);
}
void integer_multiply(const MulParams& p, std::span<const int8_t> a, std::span<const int8_t> b,
                      std::span<int8_t> out) {
  run(Integers(p), std::array{a, b}, out);
}

void fit_integers(AddParams& params) {
  const size_t n = params.operands;
  const double twice_max = 2.0 * double(*std::max_element(params.scale, params.scale + n));
  const auto candidate = [&](int i, const Steps& steps) {
    AddParams p = params;
    // Operands scaled down leave the sum fewer bits than float32 has: another rounding to choose from.
    const double down = i == 0 ? 1.0 : std::ldexp(1.0, -steps.below(20, 5));
    for (size_t k = 0; k < n; k++) {
      p.in[k] = quantize_multiplier(double(p.scale[k]) / twice_max * down);
      if (i == 0) continue;
      const int64_t step = int64_t(steps.pick(int(30 + 8 * k), 6)) << (3 + steps.below(25, 5));
      p.in[k].m = int32_t(std::clamp<int64_t>(p.in[k].m + step, 0, INT32_MAX));
    }
    const double out = twice_max / (double(1 << params.left_shift) * down * double(p.out_scale));
    p.out = quantize_multiplier(double(stepped(float(out), i == 0 ? 0 : steps.pick(46, 2))));
    return p;
  };
  if (n == 2) {
    search(params, kAddCandidates, candidate);
  } else {
    params = candidate(0, Steps());
  }
}

bool sums_agree(const AddParams& params) {
  const SumTies ties(params);
  const double margin = sum_margin(params);
  if (ties.count(margin) > kMostTies) return false;
  const FloatChain chain(params);
  const Integers integers(params);
  bool agree = true;
  ties.each(margin, [&](const Tuple& t) { agree = agree && chain(t) == integers(t); });
  return agree;
}

void fit_integers(MulParams& params) {
  const double factor = double(params.scale[0]) * double(params.scale[1]) / double(params.out_scale);
  search(params, kMulCandidates, [&](int i, const Steps&) {
    MulParams p = params;
    const int steps = i % 2 == 0 ? i / 2 : -(i + 1) / 2;
    p.multiplier = quantize_multiplier(double(stepped(float(factor), steps)));
    return p;
  });
}

}  // namespace kaiten
