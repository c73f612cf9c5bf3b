// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layers of the vector engine: windows (depthwise, pooling, requantisation of single cells) and additions.
#include <utility>

#include "compile/lower/limits.h"
#include "compile/lower/lower_engines.h"
#include "graph/float_pairs.h"

namespace kaiten {

namespace {

// Tiles, and their limits.
void take_windows(const LowerContext& c, LoweredOp& l, WindowKind kind) {
  l.engine = Engine::kWindow;
  l.window = kind;
  l.vector = VectorTiles(l.lanes, l.kernel_rows, l.kernel_columns, c.config.cp);
  l.stream_large = c.config.large_windows;
  l.table_slots = c.config.table_slots();
  require(l.kernel_rows <= kMaxWindowKernel && l.kernel_columns <= kMaxWindowKernel,
          at_most("windows of rows and columns", kMaxWindowKernel),
          size_text(l.kernel_rows, l.kernel_columns));
  require(l.pad_left <= kMaxWindowPadLeft, at_most("left padding", kMaxWindowPadLeft),
          std::to_string(l.pad_left));
}

void finish_vector(const LowerContext& c, LoweredOp& l, WindowKind kind) {
  // The engine has one stride; where they differ, every row is a command of its own (spans.h).
  if (l.out.h == 1) l.stride = l.column_stride;
  if (l.out.w == 1) l.column_stride = l.stride;
  require((l.out.w - 1) * l.column_stride - l.pad_left < l.in.w &&
              (l.out.h - 1) * l.stride - l.pad_top < l.in.h && l.pad_left < l.kernel_columns &&
              l.pad_top < l.kernel_rows,
          "windows that touch the map", "padding of a whole window");
  take_windows(c, l, kind);
}

void require_exact(bool agree) {
  require(agree, "integer factors that round as the model's float32 arithmetic does for all operands",
          "scales that allow none");
}

// One word for every lane; gaps, which have no weights, become the zero point.
std::vector<RequantParams> by_lane(const LoweredOp& l, const std::vector<RequantParams>& words) {
  if (l.channel_of.empty()) return words;
  std::vector<RequantParams> lanes;
  for (int channel : l.channel_of) lanes.push_back(channel < 0 ? kIdentityWord : words[std::size_t(channel)]);
  return lanes;
}

}  // namespace

void lower_depthwise(const LowerContext& c, const Op& op, LoweredOp& l) {
  if (op.depth_multiplier != 1) {
    // Lanes cannot move channels: on the array, as a convolution with one nonzero input channel each.
    lower_conv(c, op, false, l);
    l.kernels.multiplier = op.depth_multiplier;
    return;
  }
  take_window(op.window, l, kMaxWindowStride);
  finish_vector(c, l, WindowKind::kDepthwise);
  const Window& w = op.window;
  l.depthwise = {c.graph.weights_of(op).data.data(),
                 c.graph.weights_of(op).nhwc().c,
                 w.kernel_h,
                 w.kernel_w,
                 l.channel_of,
                 w.dilation_h,
                 w.dilation_w,
                 c.graph.weights_of(op).zero_point()};
  require(l.vector.rows_of_tile() <= c.config.vwb_rows,
          at_most("rows of vector weights for three channel groups", c.config.vwb_rows),
          std::to_string(l.vector.rows_of_tile()));
  take_conv_params(c, op, l);
  l.params = by_lane(l, l.params);
}

void lower_average(const LowerContext& c, const Op& op, LoweredOp& l) {
  take_window(op.window, l, kMaxWindowStride);
  finish_vector(c, l, WindowKind::kAverage);
  const int cells = l.kernel_rows * l.kernel_columns;
  require(cells <= c.config.zsb_vector, at_most("cells of a window", c.config.zsb_vector),
          std::to_string(cells));
  const PoolParams p = pool_params(c.graph, op);
  // One word for every number of rows and columns of the window outside the map.
  for (int rows = 0; rows < l.kernel_rows; rows++) {
    for (int columns = 0; columns < l.kernel_columns; columns++) {
      const int inside = (l.kernel_rows - rows) * (l.kernel_columns - columns);
      if (p.output.rule == Rounding::Float) {
        const Multiplier factor = pool_factor(p, p.count_pad ? cells : inside);
        l.params.push_back({-inside * p.zp_in, factor.m, factor.shift});
      } else {
        l.params.push_back(p.offset == 0 ? average_word(inside) : average_word_uint8(inside));
      }
    }
  }
  const Padding& pad = op.window.pad;
  if (pad == Padding{}) l.params.resize(1);
  l.out_quant = p.output;
  if (p.offset != 0) l.out_quant.rule = Rounding::Single;
}

void lower_maximum(const LowerContext& c, const Op& op, LoweredOp& l) {
  take_window(op.window, l, kMaxWindowStride);
  finish_vector(c, l, WindowKind::kMaximum);
  l.pad_value = -128;
  l.params = {kIdentityWord};
  const PoolParams p = pool_params(c.graph, op);
  l.out_quant = p.output;
}

// The maximum of one cell, looked up.
void lower_table(const LowerContext& c, const Op& op, LoweredOp& l) {
  const ValueTable table = table_params(c.graph, op).table;
  lower_copy(c, &table, l);
}

// The maximum of one cell, requantised.
void lower_quantize(const LowerContext& c, const Op& op, LoweredOp& l) {
  l.kernel_rows = l.kernel_columns = 1;
  finish_vector(c, l, WindowKind::kMaximum);
  const QuantizeParams p = quantize_params(c.graph, op);
  require_sums(c, op, p, p.output.rule, p.multiplier.shift);
  l.params = {{-p.zp_in, p.multiplier.m, p.multiplier.shift}};
  l.out_quant = p.output;
}

void lower_copy(const LowerContext& c, const ValueTable* table, LoweredOp& l) {
  l.kernel_rows = l.kernel_columns = 1;
  finish_vector(c, l, WindowKind::kMaximum);
  if (table != nullptr) l.table = table_words(*table);
  l.params = {kIdentityWord};
}

// Windows of one cell, on the map or beside it.
void lower_pad(const LowerContext& c, const Padding& pad, int zero_point, LoweredOp& l) {
  l.pad_top = pad.top;
  l.pad_left = pad.left;
  l.pad_value = zero_point;
  take_windows(c, l, WindowKind::kMaximum);
  l.params = {kIdentityWord};
}

void lower_mean(const LowerContext& c, const Op& op, LoweredOp& l) {
  const auto [rows, columns] = mean_window(c.graph, op);
  l.kernel_rows = rows;
  l.kernel_columns = columns;
  finish_vector(c, l, WindowKind::kAverage);
  const MeanParams p = mean_params(c.graph, op);
  require_sums(c, op, p, p.output.rule, p.multiplier.shift);
  l.params = {{-p.count * p.zp_in, p.multiplier.m, p.multiplier.shift}};
  l.out_quant = p.output;
}

void lower_elements(const LowerContext& c, const Op& op, bool swapped, LoweredOp& l) {
  l.engine = Engine::kAdd;
  l.vector = VectorTiles(l.lanes, 1, 1, c.config.cp);
  l.table_slots = c.config.table_slots();
  const auto take = [&](const auto& p, Multiplier out) {
    if (swapped) std::swap(l.params[0], l.params[1]);
    l.params.push_back({0, out.m, out.shift});
    l.out_quant = p.output;
  };
  if (op.kind == OpKind::Mul) {
    const MulParams p = mul_params(c.graph, op);
    l.element = ElementKind::kProduct;
    for (int zero : p.zp_in) l.params.push_back({-zero, 0, 0});
    require_exact(p.differing_pairs == 0);
    require_sums(c, op, p, p.output.rule, p.multiplier.shift);
    return take(p, p.multiplier);
  }
  const AddParams p = add_params(c.graph, op);
  if (p.subtract) l.element = swapped ? ElementKind::kReverseSub : ElementKind::kSub;
  for (std::size_t i = 0; i < p.operands; i++) {
    const Multiplier& m = p.in[i];
    require(m.shift <= 0, "operand factors below 1", "2^" + std::to_string(m.shift));
    l.params.push_back({-p.zp_in[i], m.m, m.shift});
  }
  const bool sum_of_more = p.output.rule == Rounding::Float && p.operands > 2;
  require_exact(p.differing_pairs == 0 && (!sum_of_more || sums_agree(p)));
  require_sums(c, op, p, p.output.rule, p.out.shift);
  take(p, p.out);
}

}  // namespace kaiten
