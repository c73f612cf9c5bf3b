// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/int8_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/arithmetic.h"
#include "base/error.h"
#include "volume/evaluate.h"

namespace kaiten::volume {
namespace {

using fft::Size;

constexpr int kLeast = -128, kMost = 127;
constexpr int kScaleBits = 8;  // significant ones of a scale

// The next larger number of few significant bits.
float coarse(float scale) {
  int exponent = 0;
  const double fraction = std::frexp(double(scale), &exponent);
  return float(std::ldexp(std::ceil(std::ldexp(fraction, kScaleBits)), exponent - kScaleBits));
}

// 0 has a stored value of its own.
Int8Scale scale_of(const Range& r) {
  const float least = std::min(r.least, 0.0F), most = std::max(r.most, 0.0F);
  if (least == most) return {1, 0};
  const float scale = coarse((most - least) / float(kMost - kLeast));
  return {scale, std::clamp(kLeast - int(std::lround(least / scale)), kLeast, kMost)};
}

// The largest sum that any input gives, of either sign.
std::int64_t largest_sum(std::span<const std::int8_t> kernel, int zero_point) {
  std::int64_t sum = 0;
  const int least = kLeast - zero_point, most = kMost - zero_point;
  for (const std::int8_t w : kernel) sum += std::max(std::abs(w * least), std::abs(w * most));
  return sum;
}

Int8Layer quantized_layer(const LayerWeights& w, const Int8Scale& in, const Int8Scale& out, std::size_t at) {
  Int8Layer q;
  const std::size_t outputs = w.bias.size(), taps = w.kernels.size() / outputs;
  q.kernels.resize(w.kernels.size());
  q.output = {out.zero_point, out.zero_point, kMost, Rounding::Double};
  for (std::size_t o = 0; o < outputs; o++) {
    const auto kernel = std::span(w.kernels).subspan(o * taps, taps);
    float largest = 0;
    for (const float v : kernel) largest = std::max(largest, std::abs(v));
    const float scale = largest == 0 ? 1 : largest / float(kMost);
    const auto stored = std::span(q.kernels).subspan(o * taps, taps);
    for (std::size_t t = 0; t < taps; t++)
      stored[t] = std::int8_t(std::clamp<long>(std::lround(kernel[t] / scale), -kMost, kMost));
    const double unit = double(in.scale) * double(scale);
    const double bias = std::round(double(w.bias[o]) / unit);
    const Multiplier multiplier = quantize_multiplier(unit / double(out.scale));
    const double sum = std::abs(bias) + double(largest_sum(stored, in.zero_point));
    const double limit = double(std::numeric_limits<std::int32_t>::max() >> std::max(multiplier.shift, 0));
    if (!(sum <= limit))
      throw InputError(fmt::format("layer {}, output {}: sums up to {:.0f}, in int8 at most {:.0f}", at + 1,
                                   o + 1, sum, limit));
    q.scales.push_back(scale);
    q.bias.push_back(std::int32_t(bias));
    q.multipliers.push_back(multiplier);
  }
  return q;
}

Range range_of(std::span<const float> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

}  // namespace

std::int8_t Int8Scale::stored(float real) const {
  const float q = std::round(real / scale) + float(zero_point);
  return std::int8_t(std::clamp(q, float(kLeast), float(kMost)));
}

Int8Network quantized(const Network& network, std::span<const LayerWeights> weights,
                      std::span<const Range> ranges) {
  Int8Network q{network, {scale_of(ranges[0])}, {}};
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    if (!network.layers[i].convolution) {
      q.maps.push_back(q.maps.back());
      q.layers.emplace_back();
      continue;
    }
    q.maps.push_back(scale_of({0, ranges[i + 1].most}));
    q.layers.push_back(quantized_layer(weights[i], q.maps[i], q.maps[i + 1], i));
  }
  return q;
}

std::vector<Range> ranges_of(const Network& network, std::span<const LayerWeights> weights, Source& source,
                             fft::Workers& workers) {
  const Size whole = source.size(), result = fft::valid(whole, network.field_of_view());
  const Size pooled = network.pooled();
  const auto positions = [](int there, int step) { return ceil_div(std::min(there, kPositions), step); };
  const Plan plan{{positions(result.depth, pooled.depth), positions(result.height, pooled.height),
                   positions(result.width, pooled.width)},
                  1,
                  std::vector<Choice>(network.layers.size(), {fft::Method::Patches, true})};
  const std::vector<Maps> of = maps_of(network, plan);
  const Size part = of.front().size;
  fft::Memory memory;
  fft::Array<float> maps(memory, of.front().elements());
  const auto middle = [](int n, int some) { return std::max(0, (n - some) / 2); };
  source.read(
      {middle(whole.depth, part.depth), middle(whole.height, part.height), middle(whole.width, part.width)},
      part, {maps.data(), maps.size()});
  std::vector<Range> ranges{range_of({maps.data(), maps.size()})};
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    const Network one{of[i].channels, {network.layers[i]}};
    const Evaluator evaluator(one, {of[i + 1].size, of[i].batch, {plan.layers[i]}}, weights.subspan(i, 1),
                              workers, memory, fft::Effort::Estimate);
    maps = evaluator.run(std::move(maps));
    ranges.push_back(range_of({maps.data(), maps.size()}));
  }
  return ranges;
}

Int8Network some_layers(const Int8Network& n, std::size_t begin, std::size_t end) {
  const auto cut = [&](const auto& all, std::size_t more) {
    return std::vector(all.begin() + std::ptrdiff_t(begin), all.begin() + std::ptrdiff_t(end + more));
  };
  int inputs = n.network.inputs;
  for (std::size_t i = 0; i < begin; i++) {
    if (n.network.layers[i].convolution) inputs = n.network.layers[i].maps;
  }
  return {{inputs, cut(n.network.layers, 0)}, cut(n.maps, 1), cut(n.layers, 0)};
}

Int8Network some_outputs(const Int8Network& network, int first, int count) {
  Int8Network some = network;
  std::size_t last = some.layers.size() - 1;
  while (!some.network.layers[last].convolution) last--;
  Int8Layer& l = some.layers[last];
  const auto cut = [&](auto& all, std::size_t each) {
    all = std::vector(all.begin() + std::ptrdiff_t(std::size_t(first) * each),
                      all.begin() + std::ptrdiff_t(std::size_t(first + count) * each));
  };
  cut(l.kernels, l.kernels.size() / l.bias.size());
  cut(l.scales, 1);
  cut(l.bias, 1);
  cut(l.multipliers, 1);
  some.network.layers[last].maps = count;
  return some;
}

}  // namespace kaiten::volume
