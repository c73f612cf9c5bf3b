// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/float_average.h"
#include "graph/float_pairs.h"
#include "reference/dot_products.h"

namespace kaiten::reference {
namespace {

int8_t requantize_channel(const ConvParams& params, size_t channel, int32_t acc) {
  return params.output.stored(requantize(acc, params.channel(channel), params.output.rule));
}

size_t offset(const Nhwc& shape, int n, int y, int x) {
  return ((size_t(n) * size_t(shape.h) + size_t(y)) * size_t(shape.w) + size_t(x)) * size_t(shape.c);
}

// Calls body(n, y, x) for every output pixel.
template <typename Body>
void for_each_pixel(const Nhwc& out, Body body) {
  for (int n = 0; n < out.n; n++) {
    for (int y = 0; y < out.h; y++) {
      for (int x = 0; x < out.w; x++) body(n, y, x);
    }
  }
}

// Calls body(i, j, iy, ix) for every tap (i, j) of the window at output (y, x) that lies inside the map.
template <typename Body>
void for_each_tap(const Window& w, const Nhwc& in, int y, int x, Body body) {
  for (int i = 0; i < w.kernel_h; i++) {
    const int iy = y * w.stride_h - w.pad.top + i * w.dilation_h;
    if (iy < 0 || iy >= in.h) continue;
    for (int j = 0; j < w.kernel_w; j++) {
      const int ix = x * w.stride_w - w.pad.left + j * w.dilation_w;
      if (ix >= 0 && ix < in.w) body(i, j, iy, ix);
    }
  }
}

std::vector<int16_t> widen(Input values, int zero_point) {
  std::vector<int16_t> wide(values.size());
  for (size_t i = 0; i < values.size(); i++) wide[i] = int16_t(values[i] - zero_point);
  return wide;
}

// Lines of numbers, each padded with zeros to a multiple of kDotStep.
struct Lines {
  Lines(size_t count, size_t numbers) : length(padded_length(numbers)), values(count * length) {}
  int16_t* at(size_t line) { return values.data() + line * length; }

  size_t length;
  std::vector<int16_t> values;
};

Lines widen_lines(Input values, int zero_point, size_t numbers) {
  Lines lines(values.size() / numbers, numbers);
  for (size_t i = 0; i < values.size(); i++) {
    lines.at(i / numbers)[i % numbers] = int16_t(values[i] - zero_point);
  }
  return lines;
}

// bias + sum, which fits int32 even where the sum alone does not.
int32_t accumulator(int32_t bias, int32_t sum) { return int32_t(uint32_t(bias) + uint32_t(sum)); }

// Pixels (or rows of a fully connected layer) worked on at a time: their windows fit a near cache.
size_t lines_at_once(size_t length) { return std::clamp<size_t>((1 << 16) / length / 4 * 4, 4, 64); }

}  // namespace

int8_t requantize_sum(const ConvParams& params, size_t channel, int32_t sum) {
  return requantize_channel(params, channel, accumulator(params.bias[channel], sum));
}

void conv2d_sums(const Convolution& c, Input input, Input weights, const SumsOfPixels& take) {
  // The windows of some pixels as lines of (a - zp_in), zero outside the map; then a dot product with every
  // kernel.
  const std::vector<int16_t> values = widen(input, c.params.zp_in);
  const auto depth = size_t(c.in.c / c.groups);
  const size_t taps = size_t(c.window.kernel_h) * size_t(c.window.kernel_w) * depth;
  const Lines kernels = widen_lines(weights, c.params.zp_weights, taps);
  const auto channels = size_t(c.out.c);
  const size_t group_channels = channels / size_t(c.groups);
  const size_t pixels = size_t(c.out.n) * size_t(c.out.h) * size_t(c.out.w);
  const size_t step = lines_at_once(kernels.length);
  std::vector<int32_t> sums(step * channels);
  for (size_t first = 0; first < pixels; first += step) {
    const size_t count = std::min(step, pixels - first);
    for (size_t g = 0; g < size_t(c.groups); g++) {
      Lines lines(count, taps);
      for (size_t p = 0; p < count; p++) {
        const auto x = int((first + p) % size_t(c.out.w));
        const auto y = int((first + p) / size_t(c.out.w) % size_t(c.out.h));
        const auto n = int((first + p) / size_t(c.out.w) / size_t(c.out.h));
        for_each_tap(c.window, c.in, y, x, [&](int i, int j, int iy, int ix) {
          const int16_t* cell = values.data() + offset(c.in, n, iy, ix) + g * depth;
          std::copy_n(cell, depth, lines.at(p) + (size_t(i) * size_t(c.window.kernel_w) + size_t(j)) * depth);
        });
      }
      const size_t kernel = g * group_channels;
      dot_products(kernels.length, lines.at(0), count, kernels.values.data() + kernel * kernels.length,
                   group_channels, sums.data() + kernel, channels);
    }
    take(first, std::span(sums).first(count * channels));
  }
}

void conv2d(const Convolution& c, Input input, Input weights, Output output) {
  const auto channels = size_t(c.out.c);
  conv2d_sums(c, input, weights, [&](size_t first, std::span<const int32_t> sums) {
    int8_t* result = output.data() + first * channels;
    for (size_t i = 0; i < sums.size(); i++) result[i] = requantize_sum(c.params, i % channels, sums[i]);
  });
}

void depthwise(const Convolution& c, Input input, Input weights, Output output) {
  const ConvParams& params = c.params;
  const Nhwc in = c.in, out = c.out;
  const auto channels = size_t(out.c);
  const auto multiplier = size_t(out.c / in.c);
  std::vector<int32_t> acc(channels);
  const int zp_in = params.zp_in;
  const int zp_weights = params.zp_weights;
  for_each_pixel(out, [&](int n, int y, int x) {
    acc = params.bias;
    for_each_tap(c.window, in, y, x, [&](int i, int j, int iy, int ix) {
      const int8_t* cell = input.data() + offset(in, n, iy, ix);
      const int8_t* w = weights.data() + (size_t(i) * size_t(c.window.kernel_w) + size_t(j)) * channels;
      if (multiplier == 1) {
        for (size_t o = 0; o < channels; o++) acc[o] += (cell[o] - zp_in) * (w[o] - zp_weights);
      } else {
        for (size_t o = 0; o < channels; o++) acc[o] += (cell[o / multiplier] - zp_in) * (w[o] - zp_weights);
      }
    });
    int8_t* result = output.data() + offset(out, n, y, x);
    for (size_t o = 0; o < channels; o++) result[o] = requantize_channel(params, o, acc[o]);
  });
}

void fully_connected(const ConvParams& params, int rows, Input input, Input weights, Output output) {
  const size_t depth = input.size() / size_t(rows);
  const size_t channels = params.bias.size();
  Lines lines = widen_lines(input, params.zp_in, depth);
  // Some kernels at a time: all of them, widened, may be large.
  constexpr size_t kKernelsAtOnce = 64;
  std::vector<int32_t> sums(size_t(rows) * kKernelsAtOnce);
  for (size_t first = 0; first < channels; first += kKernelsAtOnce) {
    const size_t count = std::min(kKernelsAtOnce, channels - first);
    Lines kernels = widen_lines(weights.subspan(first * depth, count * depth), params.zp_weights, depth);
    dot_products(lines.length, lines.at(0), size_t(rows), kernels.at(0), count, sums.data(), count);
    for (size_t i = 0; i < size_t(rows) * count; i++) {
      const size_t o = first + i % count;
      output[i / count * channels + o] = requantize_sum(params, o, sums[i]);
    }
  }
}

void add(const AddParams& params, std::span<const Input> operands, Output output) {
  if (params.output.rule == Rounding::Float) return float_add(params, operands, output);
  const auto scaled = [&](int8_t value, size_t operand) {
    const int32_t shifted = (value - params.zp_in[operand]) * (1 << params.left_shift);
    return requantize_double(shifted, params.in[operand]);
  };
  for (size_t i = 0; i < output.size(); i++) {
    int32_t sum = scaled(operands[0][i], 0);
    for (size_t k = 1; k < operands.size(); k++) {
      const int32_t next = scaled(operands[k][i], k);
      sum += params.subtract ? -next : next;
    }
    output[i] = params.output.stored(requantize_double(sum, params.out));
  }
}

void shuffle_channels(std::span<const int> from, Input input, Output output) {
  for (size_t i = 0; i < output.size(); i++) {
    const size_t o = i % from.size();
    output[i] = input[i - o + size_t(from[o])];
  }
}

std::vector<int64_t> arg_max(std::span<const float> values, size_t depth, size_t inner, bool last_of_equals) {
  std::vector<int64_t> positions;
  for (size_t line = 0; line < values.size() / depth; line++) {
    const float* first = values.data() + line / inner * inner * depth + line % inner;
    size_t best = 0;
    for (size_t k = 1; k < depth; k++) {
      const float value = first[k * inner];
      if (value > first[best * inner] || (last_of_equals && value == first[best * inner])) best = k;
    }
    positions.push_back(int64_t(best));
  }
  return positions;
}

namespace {

// Real values are added in onnxruntime's order.
void float_average_of_map(const PoolParams& params, Nhwc map, Input input, Output output) {
  const auto channels = size_t(map.c);
  std::vector<float> cells(size_t(map.h) * size_t(map.w));
  for (size_t n = 0; n < size_t(map.n); n++) {
    for (size_t c = 0; c < channels; c++) {
      for (size_t i = 0; i < cells.size(); i++) {
        cells[i] = float(input[(n * cells.size() + i) * channels + c] - params.zp_in) * params.in_scale;
      }
      output[n * channels + c] =
          params.output.stored(float_mean(params, sum_in_lanes(cells), int(cells.size())));
    }
  }
}

void float_average_pool(const PoolParams& params, const Window& window, Nhwc in, Input input, Nhwc out,
                        Output output) {
  const auto channels = size_t(in.c);
  if (params.additions == Additions::InLanes) return float_average_of_map(params, in, input, output);
  const bool by_columns = params.additions == Additions::ByColumns;
  const size_t partial_sums = by_columns ? size_t(window.kernel_w) : 1;
  std::vector<float> sums(partial_sums * channels);
  for_each_pixel(out, [&](int n, int y, int x) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    int cells = 0;
    for_each_tap(window, in, y, x, [&](int, int j, int iy, int ix) {
      const int8_t* cell = input.data() + offset(in, n, iy, ix);
      float* sum = &sums[by_columns ? size_t(j) * channels : 0];
      for (size_t c = 0; c < channels; c++) sum[c] += float(cell[c] - params.zp_in) * params.in_scale;
      cells++;
    });
    const int count = params.count_pad ? window.kernel_h * window.kernel_w : cells;
    int8_t* result = output.data() + offset(out, n, y, x);
    for (size_t c = 0; c < channels; c++) {
      float sum = 0;
      for (size_t part = 0; part < partial_sums; part++) sum += sums[part * channels + c];
      result[c] = params.output.stored(float_mean(params, sum, count));
    }
  });
}

}  // namespace

void average_pool(const PoolParams& params, const Window& window, Nhwc in, Input input, Nhwc out,
                  Output output) {
  if (params.output.rule == Rounding::Float)
    return float_average_pool(params, window, in, input, out, output);
  const auto channels = size_t(in.c);
  std::vector<int32_t> sum(channels);
  for_each_pixel(out, [&](int n, int y, int x) {
    std::fill(sum.begin(), sum.end(), 0);
    int32_t cells = 0;
    for_each_tap(window, in, y, x, [&](int, int, int iy, int ix) {
      const int8_t* cell = input.data() + offset(in, n, iy, ix);
      for (size_t c = 0; c < channels; c++) sum[c] += cell[c];
      cells++;
    });
    int8_t* result = output.data() + offset(out, n, y, x);
    const int32_t offset = params.offset * cells;
    for (size_t c = 0; c < channels; c++) result[c] = params.output.stored(average(sum[c] + offset, cells));
  });
}

void max_pool(const PoolParams& params, const Window& window, Nhwc in, Input input, Nhwc out, Output output) {
  const auto channels = size_t(in.c);
  for_each_pixel(out, [&](int n, int y, int x) {
    int8_t* result = output.data() + offset(out, n, y, x);
    std::fill_n(result, channels, int8_t(-128));
    for_each_tap(window, in, y, x, [&](int, int, int iy, int ix) {
      const int8_t* cell = input.data() + offset(in, n, iy, ix);
      for (size_t c = 0; c < channels; c++) result[c] = std::max(result[c], cell[c]);
    });
    for (size_t c = 0; c < channels; c++) result[c] = params.output.stored(result[c]);
  });
}

void multiply(const MulParams& params, Input a, Input b, Output output) {
  if (params.output.rule == Rounding::Float) return float_multiply(params, a, b, output);
  for (size_t i = 0; i < output.size(); i++) {
    const int32_t product = (a[i] - params.zp_in[0]) * (b[i] - params.zp_in[1]);
    output[i] = params.output.stored(requantize_double(product, params.multiplier));
  }
}

void quantize(const QuantizeParams& params, Input input, Output output) {
  for (size_t i = 0; i < output.size(); i++) {
    output[i] = params.output.stored(requantize_double(input[i] - params.zp_in, params.multiplier));
  }
}

void resize_nearest(const Op& op, Nhwc in, Input input, Nhwc out, Output output) {
  const auto nearest = [&](int at, int from, int to) {
    const bool corners = op.align_corners && to > 1;
    const float scale = corners ? float(from - 1) / float(to - 1) : float(from) / float(to);
    const float position = (float(at) + (op.half_pixel ? 0.5F : 0.0F)) * scale;
    const int index = int(op.align_corners ? std::round(position) : std::floor(position));
    return std::clamp(index, 0, from - 1);
  };
  for_each_pixel(out, [&](int n, int y, int x) {
    const size_t from = offset(in, n, nearest(y, in.h, out.h), nearest(x, in.w, out.w));
    std::copy_n(input.data() + from, size_t(in.c), output.data() + offset(out, n, y, x));
  });
}

namespace {

// One dimension of TensorFlow Lite's integer interpolation: positions in 1/1024.
struct Between {
  int lower = 0;
  int upper = 0;
  int fraction = 0;  // of the position above lower
};

Between between(const Op& op, int at, int from, int to) {
  constexpr int kOne = 1 << 10;
  int64_t step = (int64_t(kOne) * from + to / 2) / to;
  if (op.align_corners && to > 1) step = (int64_t(kOne) * (from - 1) + (to - 1) / 2) / (to - 1);
  int64_t position = at * step;
  if (op.half_pixel) position += step / 2 - kOne / 2;
  Between b;
  b.lower = int(std::max<int64_t>(position / kOne, 0));
  // Before the first pixel, where half-pixel positions are negative, there is no other one.
  b.upper = int(std::min<int64_t>((position + kOne - 1) / kOne, from - 1));
  b.fraction = int(position - int64_t(kOne) * b.lower);
  return b;
}

// The same in float32, which LiteRT takes for uint8.
struct BetweenFloats {
  int lower = 0;
  int upper = 0;
  float fraction = 0;
};

BetweenFloats between_floats(const Op& op, int at, int from, int to) {
  const bool corners = op.align_corners && to > 1;
  const float scale = corners ? float(from - 1) / float(to - 1) : float(from) / float(to);
  const float position = op.half_pixel ? (float(at) + 0.5F) * scale - 0.5F : float(at) * scale;
  BetweenFloats b;
  b.lower = std::max(int(std::floor(position)), 0);
  b.upper = std::min(int(std::ceil(position)), from - 1);
  b.fraction = position - float(b.lower);
  return b;
}

}  // namespace

void resize_bilinear_uint8(const Op& op, Nhwc in, Input input, Nhwc out, Output output) {
  for_each_pixel(out, [&](int n, int y, int x) {
    const BetweenFloats row = between_floats(op, y, in.h, out.h);
    const BetweenFloats column = between_floats(op, x, in.w, out.w);
    for (size_t c = 0; c < size_t(in.c); c++) {
      const auto at = [&](int iy, int ix) { return float(input[offset(in, n, iy, ix) + c] + 128); };
      const float value = at(row.lower, column.lower) * (1 - row.fraction) * (1 - column.fraction) +
                          at(row.upper, column.lower) * row.fraction * (1 - column.fraction) +
                          at(row.lower, column.upper) * (1 - row.fraction) * column.fraction +
                          at(row.upper, column.upper) * row.fraction * column.fraction;
      output[offset(out, n, y, x) + c] = int8_t(std::clamp(int(std::floor(value + 0.5F)), 0, 255) - 128);
    }
  });
}

void resize_bilinear(const Op& op, Nhwc in, Input input, Nhwc out, Output output) {
  constexpr int kOne = 1 << 10;
  for_each_pixel(out, [&](int n, int y, int x) {
    const Between row = between(op, y, in.h, out.h);
    const Between column = between(op, x, in.w, out.w);
    for (size_t c = 0; c < size_t(in.c); c++) {
      const auto at = [&](int iy, int ix) { return int64_t(input[offset(in, n, iy, ix) + c]); };
      const int64_t sum = at(row.lower, column.lower) * (kOne - row.fraction) * (kOne - column.fraction) +
                          at(row.upper, column.lower) * row.fraction * (kOne - column.fraction) +
                          at(row.lower, column.upper) * (kOne - row.fraction) * column.fraction +
                          at(row.upper, column.upper) * row.fraction * column.fraction;
      const int64_t half = sum > 0 ? int64_t(1) << 19 : -(int64_t(1) << 19);
      output[offset(out, n, y, x) + c] = OutputQuant{}.stored(int32_t((sum + half) / (int64_t(1) << 20)));
    }
  });
}

void look_up(const ValueTable& table, Input input, Output output) {
  for (size_t i = 0; i < output.size(); i++) output[i] = table[size_t(input[i] + 128)];
}

}  // namespace kaiten::reference
