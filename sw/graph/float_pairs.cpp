#include "graph/float_pairs.h"

#include <algorithm>
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

int clamped(float value, int zero_point, int lo, int hi) {
  const auto rounded = int(std::clamp(std::nearbyint(value), -1.0e6F, 1.0e6F));
  return std::clamp(rounded + zero_point, lo, hi);
}

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

template <typename Params>
int chain(const Params& params, int a, int b) {
  if constexpr (std::is_same_v<Params, AddParams>) {
    return float_add(params, a, b);
  } else {
    return float_multiply(params, a, b);
  }
}

template <typename Params>
int integers(const Params& params, int a, int b) {
  if constexpr (std::is_same_v<Params, AddParams>) {
    return integer_add(params, a, b);
  } else {
    return integer_multiply(params, a, b);
  }
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
  int differing = 0;
  for (int a = -128; a <= 127; a++) {
    for (int b = -128; b <= 127; b++) differing += chain(params, a, b) != integers(params, a, b) ? 1 : 0;
  }
  return differing;
}

// Pairs next to a tie that the clamp leaves visible.
template <typename Params>
std::vector<Pair> near_ties(const Params& params) {
  std::vector<Pair> pairs;
  for (int a = -128; a <= 127; a++) {
    for (int b = -128; b <= 127; b++) {
      const Exact y = exact(params, a, b);
      const double below = std::floor(y.value);
      if (std::abs(y.value - below - 0.5) > kNearTie * y.size) continue;
      const double low = below + params.zp_out;
      if (low >= params.lo && low + 1 <= params.hi) pairs.push_back({a, b, chain(params, a, b)});
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
    int differing = 0;
    for (const Pair& p : pairs) {
      budget--;
      if (integers(tried, p.a, p.b) == p.result) continue;
      if (++differing >= fewest) break;
    }
    if (differing >= fewest) continue;
    fewest = differing;
    best = tried;
  }
  params = best;
  params.differing_pairs = count_differing(params);
}

}  // namespace

int float_add(const AddParams& p, int a, int b) {
  const float x = float(a - p.zp_in[0]) * p.scale[0];
  const float y = float(b - p.zp_in[1]) * p.scale[1];
  const float sum = p.subtract ? x - y : x + y;
  return clamped(sum / p.out_scale, p.zp_out, p.lo, p.hi);
}

int float_multiply(const MulParams& p, int a, int b) {
  const float x = float(a - p.zp_in[0]) * p.scale[0];
  const float y = float(b - p.zp_in[1]) * p.scale[1];
  const float product = x * y;
  return clamped(product / p.out_scale, p.zp_out, p.lo, p.hi);
}

int integer_add(const AddParams& p, int a, int b) {
  const int32_t x = requantize_double((a - p.zp_in[0]) * (1 << p.left_shift), p.in[0]);
  const int32_t y = requantize_double((b - p.zp_in[1]) * (1 << p.left_shift), p.in[1]);
  const int64_t sum = requantize(p.subtract ? x - y : x + y, p.out, p.rounding);
  return int(std::clamp<int64_t>(sum + p.zp_out, p.lo, p.hi));
}

int integer_multiply(const MulParams& p, int a, int b) {
  const int64_t product = requantize((a - p.zp_in[0]) * (b - p.zp_in[1]), p.multiplier, p.rounding);
  return int(std::clamp<int64_t>(product + p.zp_out, p.lo, p.hi));
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
