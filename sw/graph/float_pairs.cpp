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
// Pairs further from a tie than this share of their operands, in steps of the output, cannot differ: float32
// and the scaled integers have 24 bits.
constexpr double kNearTie = 1.0 / (1 << 20);

// Half to even, where |value| is below 2^22: the sum has no bits behind the point left.
float to_integer(float value) {
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23
  return (std::clamp(value, -1.0e6F, 1.0e6F) + kShift) - kShift;
}

int finish(float value, int zero_point, int lo, int hi) {
  return std::clamp(int(to_integer(value)) + zero_point, lo, hi);
}

// What a stored value of either operand becomes; a difference is a sum with the second one negative.
template <typename T>
using Operands = std::array<std::array<T, 256>, 2>;

// The float chain of one operator, and the integers of the vector engine: both keep what depends on one
// operand.
template <typename Params>
class FloatChain {
 public:
  explicit FloatChain(const Params& p) : p_(p) {
    for (size_t k = 0; k < 2; k++) {
      for (int q = -128; q <= 127; q++) x_[k][size_t(q + 128)] = float(q - p.zp_in[k]) * p.scale[k];
    }
    if constexpr (std::is_same_v<Params, AddParams>) {
      for (float& y : x_[1]) y = p.subtract ? -y : y;
    }
  }
  int operator()(int a, int b) const {
    const float x = x_[0][size_t(a + 128)];
    const float y = x_[1][size_t(b + 128)];
    const float both = std::is_same_v<Params, AddParams> ? x + y : x * y;
    return finish(both / p_.out_scale, p_.zp_out, p_.lo, p_.hi);
  }

 private:
  const Params& p_;
  Operands<float> x_;
};

template <typename Params>
class Integers {
 public:
  explicit Integers(const Params& p) : p_(p) {
    Multiplier out;
    if constexpr (std::is_same_v<Params, AddParams>) {
      out = p.out;
      for (size_t k = 0; k < 2; k++) {
        for (int q = -128; q <= 127; q++)
          x_[k][size_t(q + 128)] = requantize_double((q - p.zp_in[k]) * (1 << p.left_shift), p.in[k]);
      }
      for (int32_t& y : x_[1]) y = p.subtract ? -y : y;
    } else {
      out = p.multiplier;
      for (size_t k = 0; k < 2; k++) {
        for (int q = -128; q <= 127; q++) x_[k][size_t(q + 128)] = q - p.zp_in[k];
      }
    }
    factor_ = std::ldexp(float(out.m), out.shift - 31);
  }
  int operator()(int a, int b) const {
    const int32_t x = x_[0][size_t(a + 128)];
    const int32_t y = x_[1][size_t(b + 128)];
    const int32_t both = std::is_same_v<Params, AddParams> ? x + y : x * y;
    return finish(float(both) * factor_, p_.zp_out, p_.lo, p_.hi);
  }

 private:
  const Params& p_;
  Operands<int32_t> x_;
  float factor_ = 0;
};

struct Pair {
  int a;
  int b;
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

// The exact result before zero point and clamp, and the size of what it was rounded from.
struct Exact {
  double value;
  double size;
};
Exact exact(const AddParams& p, int a, int b) {
  const double x = double(a - p.zp_in[0]) * double(p.scale[0]) / double(p.out_scale);
  const double y = double(b - p.zp_in[1]) * double(p.scale[1]) / double(p.out_scale);
  return {p.subtract ? x - y : x + y, std::abs(x) + std::abs(y)};
}
Exact exact(const MulParams& p, int a, int b) {
  const double y = double(a - p.zp_in[0]) * double(b - p.zp_in[1]) * double(p.scale[0]) * double(p.scale[1]) /
                   double(p.out_scale);
  return {y, std::abs(y)};
}

template <typename Params>
int count_differing(const Params& params) {
  const FloatChain chain(params);
  const Integers integers(params);
  int differing = 0;
  for (int a = -128; a <= 127; a++) {
    for (int b = -128; b <= 127; b++) differing += chain(a, b) != integers(a, b) ? 1 : 0;
  }
  return differing;
}

// Pairs next to a tie that the clamp leaves visible.
template <typename Params>
std::vector<Pair> near_ties(const Params& params) {
  const FloatChain chain(params);
  std::vector<Pair> pairs;
  for (int a = -128; a <= 127; a++) {
    for (int b = -128; b <= 127; b++) {
      const Exact y = exact(params, a, b);
      constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: to the nearest integer
      const double nearest = (y.value + kShift) - kShift;
      if (0.5 - std::abs(y.value - nearest) > kNearTie * y.size) continue;
      const double below = nearest > y.value ? nearest - 1 : nearest;
      const double low = below + params.zp_out;
      if (low >= params.lo && low + 1 <= params.hi) pairs.push_back({a, b, chain(a, b)});
    }
  }
  return pairs;
}

// Takes the candidate that agrees on most pairs, the first one that agrees on all.
template <typename Params, typename Candidate>
void search(Params& params, int candidates, Candidate candidate) {
  const std::vector<Pair> pairs = near_ties(params);
  Params best;
  int fewest = int(pairs.size()) + 1;
  Steps steps;
  int budget = kBudget;
  for (int i = 0; fewest > 0 && i < candidates && budget > 0; i++, steps.next()) {
    const Params tried = candidate(i, steps);
    const Integers integers(tried);
    int differing = 0;
    for (const Pair& p : pairs) {
      budget--;
      if (integers(p.a, p.b) == p.result) continue;
      if (++differing >= fewest) break;
    }
    if (differing >= fewest) continue;
    fewest = differing;
    best = tried;
  }
  params = best;
  params.differing_pairs = count_differing(params);
}

// Runs one of the two over all elements.
template <typename Pair>
void run(const Pair& pair, std::span<const int8_t> a, std::span<const int8_t> b, std::span<int8_t> out) {
  for (size_t i = 0; i < out.size(); i++) out[i] = int8_t(pair(a[i], b[i]));
}

}  // namespace

void float_add(const AddParams& p, std::span<const int8_t> a, std::span<const int8_t> b,
               std::span<int8_t> out) {
  run(FloatChain(p), a, b, out);
}
void float_multiply(const MulParams& p, std::span<const int8_t> a, std::span<const int8_t> b,
                    std::span<int8_t> out) {
  run(FloatChain(p), a, b, out);
}
void integer_add(const AddParams& p, std::span<const int8_t> a, std::span<const int8_t> b,
                 std::span<int8_t> out) {
  run(Integers(p), a, b, out);
}
void integer_multiply(const MulParams& p, std::span<const int8_t> a, std::span<const int8_t> b,
                      std::span<int8_t> out) {
  run(Integers(p), a, b, out);
}

void fit_integers(AddParams& params) {
  const double twice_max = 2.0 * double(std::max(params.scale[0], params.scale[1]));
  search(params, kAddCandidates, [&](int i, const Steps& steps) {
    AddParams p = params;
    // Operands scaled down leave the sum fewer bits than float32 has: another rounding to choose from.
    const double down = i == 0 ? 1.0 : std::ldexp(1.0, -steps.below(20, 5));
    for (int k = 0; k < 2; k++) {
      p.in[k] = quantize_multiplier(double(p.scale[k]) / twice_max * down);
      if (i == 0) continue;
      const int64_t step = int64_t(steps.pick(30 + 8 * k, 6)) << (3 + steps.below(25, 5));
      p.in[k].m = int32_t(std::clamp<int64_t>(p.in[k].m + step, 0, INT32_MAX));
    }
    const double out = twice_max / (double(1 << p.left_shift) * down * double(p.out_scale));
    p.out = quantize_multiplier(double(stepped(float(out), i == 0 ? 0 : steps.pick(46, 2))));
    return p;
  });
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
