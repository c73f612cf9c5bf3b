// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layers of the array: convolutions in passes and kernel tiles, fully connected layers as convolutions.
#include <algorithm>
#include <optional>

#include "compile/lower/limits.h"
#include "compile/lower/lower_engines.h"
#include "program/memory_layout.h"

namespace kaiten {

void require_shape(const LowerContext& c, const Nhwc& s) {
  require(s.n == 1, "batch of 1", std::to_string(s.n));
  require(s.h <= kMaxMapSide, at_most("rows of a map", kMaxMapSide), std::to_string(s.h));
  require(s.w <= kMaxMapColumns, at_most("columns of a map", kMaxMapColumns), std::to_string(s.w));
  require(ceil_div(s.c, c.config.cp) <= kMaxGroups, at_most("channels", kMaxGroups * c.config.cp),
          std::to_string(s.c));
}

void require_options(const Config& config, const LoweredOp& l) {
  const bool array = l.engine == Engine::kConv;
  require(!array || config.sum_row || l.weight_zero == 0,
          "weights with zero point 0 on an array without a sum row",
          "zero point " + std::to_string(l.weight_zero));
  require(config.float_rule || l.out_quant.rule != Rounding::Float,
          "rules of integers on an accelerator without rule float", "rule float (an ONNX model)");
  const bool average = l.engine == Engine::kWindow && l.window == WindowKind::kAverage;
  require(config.average || !average, "windows without averages on an accelerator without them",
          "an average");
  require(!l.look_up() || (array ? config.conv_table : config.table),
          "results as they are on an accelerator without tables", "a table");
}

bool has_room_for_table(const Config& config, const LoweredOp& l) {
  return l.param_words(1) <= (l.engine == Engine::kConv ? config.zsb_array : config.zsb_vector) / 2;
}

void take_window(const Window& w, LoweredOp& l, int max_stride) {
  l.stride = l.out.h == 1 ? 1 : w.stride_h;
  l.column_stride = l.out.w == 1 ? 1 : w.stride_w;
  const int longest = std::max(l.stride, l.column_stride);
  require(longest <= max_stride, at_most("stride", max_stride), std::to_string(longest));
  l.kernel_rows = w.extent_h();
  l.kernel_columns = w.extent_w();
  l.pad_top = w.pad.top;
  l.pad_left = w.pad.left;
}

void require_sums(const LowerContext& c, const Op& op, const OpParams& params, Rounding rule,
                  int largest_shift) {
  if (rule == Rounding::Average || (rule == Rounding::Double && largest_shift <= 0)) return;
  const AccumulatorRange range = accumulator_range(c.graph, op, params);
  // Those of Double are shifted already.
  const int left = rule == Rounding::Double ? 0 : std::max(largest_shift, 0);
  const std::int64_t most = (std::int64_t(1) << 31) - (rule == Rounding::Float ? 129 : 1);
  const std::int64_t sum = std::max(range.max, -range.min);
  require(sum <= most >> left,
          "sums times " + std::to_string(std::int64_t(1) << std::max(largest_shift, 0)) + " up to " +
              std::to_string(most),
          std::to_string(sum));
}

void take_conv_params(const LowerContext& c, const Op& op, LoweredOp& l) {
  const ConvParams p = conv_params(c.graph, op, c.style);
  require_sums(c, op, p, p.output.rule, *std::max_element(p.shift.begin(), p.shift.end()));
  const std::vector<std::int32_t> bias = folded_bias(c.graph, op, p);
  for (std::size_t i = 0; i < bias.size(); i++) l.params.push_back({bias[i], p.multiplier[i], p.shift[i]});
  l.pad_value = p.zp_in;
  l.weight_zero = p.zp_weights;
  l.out_quant = p.output;
}

namespace {

// Of the modes that can do it, the one with the fewest passes; ties are broken by the least weights in
// memory.
ArrayTiles choose_tiles(const LowerContext& c, const LoweredOp& l) {
  // Words from one column to the next, if there is one.
  const int pixel = l.in.w > 1 ? RowLayout(ceil_div(l.lanes, c.config.cp), l.in.w).pixel : 0;
  require(l.column_stride * pixel <= kMaxStep, at_most("words from one window to the next", kMaxStep),
          std::to_string(l.column_stride * pixel));
  std::optional<ArrayTiles> best;
  const auto passes = [](const ArrayTiles& t) { return t.kernel_tiles() * t.passes; };
  const auto bytes = [](const ArrayTiles& t) {
    return t.kernel_tiles() * t.kernel_tile_height() * t.kernel_tile_width();
  };
  for (const ConvMode mode : {ConvMode::k3x3, ConvMode::k1x1, ConvMode::k3x1}) {
    const ArrayTiles t(mode, {l.kernel_rows, l.kernel_columns, l.lanes, l.out.c}, c.config.kp, c.config.cp);
    if (mode == ConvMode::k3x3) {
      if (l.column_stride > kMaxStreamedStride) continue;
    } else {
      if (t.kernel_tile_rows > kMaxKernelTiles || t.kernel_tile_columns > kMaxKernelTiles) continue;
      if (l.pad_left * pixel > kMaxPosition) continue;
    }
    if (best && (passes(t) > passes(*best) || (passes(t) == passes(*best) && bytes(t) >= bytes(*best))))
      continue;
    best = t;
  }
  require(best.has_value(),
          "column strides above " + std::to_string(kMaxStreamedStride) + " with kernels up to " +
              size_text(kMaxKernelTiles, kMaxKernelTiles) + " and left padding up to " +
              std::to_string(kMaxPosition) + " words",
          "kernel " + size_text(l.kernel_rows, l.kernel_columns) + ", padding of " +
              std::to_string(l.pad_left * pixel) + " words");
  return *best;
}

// Cycles of the array and of LOAD for an image: the longer of the two.
std::int64_t image_cycles(const LowerContext& c, const LoweredOp& l) {
  const ArrayTiles t = choose_tiles(c, l);
  const MemoryLayout m = dense_layout(l.in.h, l.in.w, l.in.c, c.config.cp);
  const int pixel = RowLayout(ceil_div(l.in.c, c.config.cp), l.in.w).pixel;
  const int together = l.windows ? 1 : pixels_together(m, pixel, c.config.cp, c.config.load_words());
  const std::int64_t array = std::int64_t(l.out.h) * l.out.w * t.tiles * t.kernel_tiles() * t.passes;
  const std::int64_t load = std::int64_t(l.in.h) * ceil_div(l.in.w, together) *
                            ceil_div(l.in.c, c.config.load_words() * c.config.cp);
  return std::max(array, load);
}

// With few channels most of a pass would have nothing to multiply: row-flattened, the columns of the kernel
// are more channels and its rows one column. Taken where it costs fewer cycles.
void flatten_rows(const LowerContext& c, const Op& op, LoweredOp& l) {
  const int channels = l.in.c;
  LoweredOp f = l;
  f.lanes = l.kernel_columns * channels;
  f.windows =
      ImageWindows{l.in.w, channels, l.out.w, f.lanes, l.column_stride * channels, l.pad_left * channels, 0};
  f.in = {1, l.in.h, l.out.w, f.lanes};
  f.kernel_columns = f.column_stride = 1;
  f.pad_left = 0;
  const bool touches = l.pad_left < l.kernel_columns && (l.out.w - 1) * l.column_stride - l.pad_left < l.in.w;
  if (op.groups != 1 || op.window.dilation_w != 1 || l.kernel_columns == 1 ||
      l.column_stride > l.kernel_columns || !touches || f.lanes > 9 * c.config.cp ||
      l.in.w * channels > kMaxFlatBytes) {
    return;
  }
  if (image_cycles(c, f) < image_cycles(c, l)) l = std::move(f);
}

}  // namespace

void take_tiles(const LowerContext& c, LoweredOp& l) {
  l.engine = Engine::kConv;
  l.kernels.out_channels = l.out.c;
  l.kernels.in_channels = l.in.c;
  l.kernels.channel_of = l.channel_of;
  l.array = choose_tiles(c, l);
  l.stages = c.config.stages();
  require(l.array.passes <= kMaxPasses,
          at_most("input channels", kMaxPasses * c.config.cp * l.array.pass_groups()),
          std::to_string(l.lanes));
  require(l.array.tiles <= kMaxTiles, at_most("output channels", kMaxTiles * c.config.kp),
          std::to_string(l.out.c));
  require(l.array.rows_of_tile() <= c.config.wb_rows,
          "weights of " + std::to_string(c.config.kp) + " output channels in " +
              std::to_string(c.config.wb_rows) + " rows of the weight buffer",
          std::to_string(l.array.rows_of_tile()) + " rows");
}

namespace {

void finish_array(const LowerContext& c, const Op& op, LoweredOp& l) {
  take_tiles(c, l);
  const Window& w = op.window;
  const bool window = op.kind != OpKind::FullyConnected;
  l.kernels.data = c.graph.weights_of(op).data.data();
  l.kernels.rows = window ? w.kernel_h : l.kernel_rows;
  l.kernels.columns = window && !l.windows ? w.kernel_w : l.kernel_columns;
  l.kernels.dilation_rows = w.dilation_h;
  l.kernels.dilation_columns = w.dilation_w;
  l.kernels.groups = op.kind == OpKind::Conv2D ? op.groups : 1;
  take_conv_params(c, op, l);
  l.kernels.zero_point = l.weight_zero;
}

}  // namespace

void lower_conv(const LowerContext& c, const Op& op, bool image, LoweredOp& l) {
  const Window& w = op.window;
  // Dilated kernels are larger ones with zeros between the taps.
  require(w.extent_h() <= kMaxArrayKernel && w.extent_w() <= kMaxArrayKernel,
          "kernels up to " + size_text(kMaxArrayKernel, kMaxArrayKernel),
          size_text(w.extent_h(), w.extent_w()));
  take_window(w, l, kMaxArrayStride);
  require(l.pad_left <= kMaxArrayPadLeft, at_most("left padding", kMaxArrayPadLeft),
          std::to_string(l.pad_left));
  if (image) flatten_rows(c, op, l);
  finish_array(c, op, l);
  if (l.windows) l.windows->fill = l.pad_value;
}

void lower_fully_connected(const LowerContext& c, const Op& op, LoweredOp& l) {
  if (l.in.h != l.out.h || l.in.w != l.out.w) {
    l.kernel_rows = l.in.h;
    l.kernel_columns = l.in.w;
  }
  finish_array(c, op, l);
}

void lower_move(const LowerContext& c, const std::vector<int>& from, LoweredOp& l) {
  l.kernels.moved_from = from;
  take_tiles(c, l);
  l.out_quant.zero_point = c.graph.tensors[std::size_t(l.tensor)].zero_point();
  for (int channel : from) {
    RequantParams word = kIdentityWord;
    word.bias = channel < 0 ? l.pad_value - l.out_quant.zero_point : -l.out_quant.zero_point;
    l.params.push_back(word);
  }
}

}  // namespace kaiten
