// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Transposed convolutions of TensorFlow Lite as convolutions of the input itself. With stride s, the output rows y with
// (y + pad) mod s = r see the kernel rows r, r + s, ... alone: a phase. All s * s phases are output channels of one
// convolution with kernels of ceil(K / s) rows; then their cells are put side by side, and what the padding takes off is cut.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "import/common/windows.h"
#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

// Rows, or columns.
struct Side {
  int in = 0;      // cells of the input
  int kernel = 0;  // taps
  int stride = 1;
  int out = 0;  // cells of the output
  int pad = 0;  // cells before the output's first one that the taps reach

  int taps() const { return (kernel + stride - 1) / stride; }  // of a phase
  int first() const { return pad / stride; }                   // cell of the phases
  int cells() const { return (out - 1 + pad) / stride - first() + 1; }
  int before() const { return taps() - 1 - first(); }
  int after() const { return std::max(cells() + first() - in, 0); }
  int made() const { return in + before() + after() - taps() + 1; }  // cells of the phases
  int cut() const { return pad % stride; }                           // off the beginning
  bool whole() const { return cut() == 0 && made() * stride == out; }
};

Side side_of(int in, int kernel, int stride, int out, bool same) {
  // As of the convolution that this one reverses.
  const int reversed = same ? (out + stride - 1) / stride : (out + stride - kernel) / stride;
  const int total = same ? std::max((reversed - 1) * stride + kernel - out, 0) : 0;
  return {in, kernel, stride, out, total / 2};
}

struct Sides {
  Side rows, columns;
};

// The kernel of the phases: phase by phase the output channels, each as often as there are phases.
int phase_weights(State& s, int index, const Sides& m) {
  const Tensor& kernel = s.tensor(index);
  const auto& [rows, columns] = m;
  const int out = kernel.shape[0], in = kernel.shape[3], phases = rows.stride * columns.stride;
  Tensor made = kernel;
  made.shape = {phases * out, rows.taps(), columns.taps(), in};
  charge_constant(s, check_shape(s, index, made.shape));
  made.data.assign(made.elements(), std::uint8_t(kernel.zero_point()));
  Quantization& q = made.quantization;
  q.scale.clear();
  q.zero_point.clear();
  std::size_t at = 0;
  for (int phase = 0; phase < phases; phase++) {
    if (phase == 0 || kernel.quantization.per_channel()) {
      q.scale.insert(q.scale.end(), kernel.quantization.scale.begin(), kernel.quantization.scale.end());
      q.zero_point.insert(q.zero_point.end(), kernel.quantization.zero_point.begin(),
                          kernel.quantization.zero_point.end());
    }
    const int r = phase / columns.stride, c = phase % columns.stride;
    for (int o = 0; o < out; o++) {
      for (int tap = 0; tap < rows.taps() * columns.taps(); tap++) {
        const int y = r + (rows.taps() - 1 - tap / columns.taps()) * rows.stride;
        const int x = c + (columns.taps() - 1 - tap % columns.taps()) * columns.stride;
        if (y < rows.kernel && x < columns.kernel) {
          const auto from =
              ((std::size_t(o) * std::size_t(rows.kernel) + std::size_t(y)) * std::size_t(columns.kernel) +
               std::size_t(x)) *
              std::size_t(in);
          std::copy_n(kernel.data.begin() + std::ptrdiff_t(from), in, made.data.begin() + std::ptrdiff_t(at));
        }
        at += std::size_t(in);
      }
    }
  }
  q.axis = 0;
  s.graph.tensors.push_back(std::move(made));
  return int(s.graph.tensors.size()) - 1;
}

int phase_bias(State& s, int index, int phases) {
  Tensor made = s.tensor(index);
  const std::vector<std::uint8_t> once = made.data;
  charge_constant(s, std::int64_t(once.size()) * phases);
  for (int i = 1; i < phases; i++) made.data.insert(made.data.end(), once.begin(), once.end());
  made.shape = {made.shape[0] * phases};
  s.graph.tensors.push_back(std::move(made));
  return int(s.graph.tensors.size()) - 1;
}

// The cells of the phases side by side: values of the map of phases by position.
std::vector<int> side_by_side(const Sides& m, int channels) {
  const auto& [rows, columns] = m;
  const int line = columns.stride * channels;
  const int pixel = rows.stride * line;
  return {0,
          rows.made(),
          columns.made() * pixel,
          rows.stride,
          line,
          columns.made(),
          pixel,
          columns.stride,
          channels,
          channels,
          1};
}

// `conv`, complete but for its output, then what makes the output of the file of it: `op`.
bool complete(State& s, Op& op, Op conv, const Sides& m) {
  const auto& [rows, columns] = m;
  const int channels = s.graph.output_of(op).shape[3];
  const int phases = rows.stride * columns.stride;
  if (phases == 1 && rows.whole() && columns.whole()) {
    op = std::move(conv);
    return check_arithmetic(s, op);
  }
  const bool whole = rows.whole() && columns.whole();
  if (!step_before(s, op, std::move(conv), {1, rows.made(), columns.made(), phases * channels})) return false;
  op.kind = OpKind::Rearrange;
  op.dims = side_by_side(m, channels);
  if (whole) return true;
  Op rearrange = op;
  const Shape uncut = {1, rows.made() * rows.stride, columns.made() * columns.stride, channels};
  if (!step_before(s, op, std::move(rearrange), uncut)) return false;
  op.kind = OpKind::Slice;
  op.dims = {0, rows.cut(), columns.cut(), 0};
  op.on_host = true;
  return true;
}

}  // namespace

bool import_transpose_conv(State& s, const Node& node, Op& op) {
  Op conv = op;
  if (!use_input(s, node, conv, 2)) return false;
  const auto& settings = options<tflite::TransposeConvOptions>(s, node);
  if (!require_map(s, conv)) return false;
  const Shape kernel = weights_shape(s, node, 4, "four");
  const Shape in = s.graph.input_of(conv).shape;
  if (kernel[3] != in[3])
    fail_layer(s, "weights of shape " + shape_text(kernel) + " do not fit " + std::to_string(in[3]) +
                      " input channels");
  const Shape out = import_numbers(s, node.inputs()->Get(0), "output shape");
  if (out.empty()) return false;
  const bool same = settings.padding() == tflite::PaddingKind::SAME;
  conv.window = {kernel[1], kernel[2], settings.stride_h(), settings.stride_w(), 1, 1, {}};
  for (const int side : sides_of(conv.window)) {
    if (side < 1) fail_layer(s, "kernel or stride below 1");
    if (const auto limit = window_limit(side)) {
      refuse(s, *limit);
      return false;
    }
  }
  if (out.size() != 4 || out[0] != 1 || out[3] != kernel[0] || out[1] < 1 || out[2] < 1)
    fail_layer(s, "output shape " + shape_text(out) + " does not fit weights of shape " + shape_text(kernel));
  expect_output(s, op, out);
  const Sides m = {side_of(in[1], kernel[1], settings.stride_h(), out[1], same),
                   side_of(in[2], kernel[2], settings.stride_w(), out[2], same)};
  conv.output = op.output;
  const bool activation = import_activation(s, conv, settings.activation());
  if (!import_weights_and_bias(s, node, conv, kernel, 0, 3) || !activation) return false;
  const int phases = m.rows.stride * m.columns.stride;
  conv.weights = phase_weights(s, conv.weights, m);
  if (conv.bias != kNoTensor) conv.bias = phase_bias(s, conv.bias, phases);
  conv.window = {m.rows.taps(), m.columns.taps(), 1, 1, 1, 1, {}};
  conv.window.pad = {m.rows.before(), m.rows.after(), m.columns.before(), m.columns.after()};
  return complete(s, op, std::move(conv), m);
}

}  // namespace kaiten::importing::from_tflite
