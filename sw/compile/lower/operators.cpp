// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/operators.h"

#include <array>
#include <vector>

#include "compile/lower/limits.h"
#include "program/config.h"

namespace kaiten {

namespace {

struct Row {
  OpKind kind;
  std::string parameters;
  std::string where;  // empty: nowhere
};

// Of the host alone.
std::vector<Row> host_rows(const std::string& pair) {
  return {
      {OpKind::Softmax, "over the last dimension", "host"},
      {OpKind::ArgMax, "at the end, over any dimension", "host"},
      {OpKind::ToInt8, "float32 inputs", "host"},
      {OpKind::ToFloat, "float32 outputs", "host"},
      {OpKind::HostFloat,
       "ONNX: float32 arithmetic between DequantizeLinear and QuantizeLinear that no other row fits", "host"},
      {OpKind::Resize, "nearest and bilinear", "host"},
      {OpKind::Mean, "over other axes", "host"},
      {OpKind::ReduceMax, "over any axes", "host"},
      {OpKind::ReduceMin, "over any axes", "host"},
      {OpKind::ReduceSum, "over any axes", "host"},
      {OpKind::SquaredDifference, pair, "host"},
      {OpKind::BatchMatMul, "matrices of any number of dimensions", "host"},
      {OpKind::L2Norm, "over the last dimension", "host"},
      {OpKind::Gather, "positions of a dimension, known at import", "host"},
      {OpKind::Minimum, pair, "host"},
      {OpKind::Maximum, pair, "host"},
      {OpKind::PRelu,
       "slopes that are computed; batches, more than four dimensions (else table, mul and add)", "host"},
      {OpKind::Rearrange, "transpose, depth_to_space, space_to_depth, tile; up to rank 6", "host"},
      {OpKind::Constant, "what does not depend on the input", "host"},
  };
}

std::vector<Row> rows() {
  const std::string array_window = "kernels up to " + size_text(kMaxArrayKernel, kMaxArrayKernel) +
                                   " (dilated: their extent), strides up to " +
                                   std::to_string(kMaxArrayStride) +
                                   " (columns: " + std::to_string(kMaxStreamedStride) + " beyond " +
                                   size_text(kMaxKernelTiles, kMaxKernelTiles) + "), left padding up to " +
                                   std::to_string(kMaxArrayPadLeft);
  const std::string vector_window = "windows up to " + size_text(kMaxWindowKernel, kMaxWindowKernel) +
                                    " that touch the map, strides up to " + std::to_string(kMaxWindowStride) +
                                    ", left padding up to " + std::to_string(kMaxWindowPadLeft);
  const std::string kernel_map = size_text(kMaxMapKernel, kMaxMapKernel);
  // Windows of one cell (balance_engines.h).
  const std::string either = "vector, or array where it is the quicker for it";
  const std::string afterwards = "; after an operator on the host: host";
  const std::string pair = "two maps of one shape; a map and one pixel or constant values";
  std::vector<Row> rows = {
      {OpKind::Conv2D, array_window + "; groups", "array"},
      {OpKind::DepthwiseConv2D, "multiplier 1: " + vector_window + " (dilated: their extent)", "vector"},
      {OpKind::DepthwiseConv2D, "other multipliers: as conv", "array"},
      {OpKind::FullyConnected,
       "over the last dimension; over maps up to " + kernel_map +
           "; over larger maps that are dense in memory, up to " + std::to_string(kMaxFlatBytes) + " inputs",
       "array"},
      {OpKind::Add, pair, "vector"},
      {OpKind::Add, "sums of three and four maps of one shape (ONNX: sums of float sums)", "vector"},
      {OpKind::Sub, pair, "vector"},
      {OpKind::Mul, pair, "vector"},
      {OpKind::Mul, "a map and a constant for each channel", either},
      {OpKind::AveragePool, vector_window, "vector"},
      {OpKind::AveragePool, "ONNX: whose sums may lie half-way between two results", "host"},
      {OpKind::MaxPool, vector_window, "vector"},
      {OpKind::MaxPool, "dilated; dilated averages, too", "host"},
      {OpKind::Mean, "over rows, columns or both, up to " + size_text(kMaxWindowKernel, kMaxWindowKernel),
       "vector"},
      {OpKind::Quantize, "other scale or zero point", either + afterwards},
      {OpKind::Quantize, "between uint8 and int8 of one scale", "nothing to do"},
      {OpKind::Table,
       "leaky_relu, hard_swish, sigmoid, tanh, hard_sigmoid, clamp, exp, log, sqrt, rsqrt, abs, neg, "
       "gelu; ONNX: whatever is computed from each value alone",
       either + afterwards},
      {OpKind::Table,
       "sums, differences and products of functions of one map's values, and of numbers: one table, whatever "
       "lies between",
       either},
      {OpKind::Table,
       "that is all that is needed of what windows make, with a table behind the array also of convolutions "
       "and fully connected layers: they look it up",
       "nothing to do"},
      {OpKind::Concat, "of channels, parts that one operator of the device makes for it", "nothing to do"},
      {OpKind::Concat, "of channels, other parts (copied, through a table where scales differ)", "vector"},
      {OpKind::Concat, "of rows or columns", "host"},
      {OpKind::Slice, "channels, from the first of a word on", "nothing to do"},
      {OpKind::Slice, "channels, from any other on", "array"},
      {OpKind::Slice, "rows and columns", "vector"},
      {OpKind::Pad, "rows and columns, before one convolution that has room for it", "nothing to do"},
      {OpKind::Pad, "rows and columns, up to " + std::to_string(kMaxWindowPadLeft) + " at the left",
       "vector"},
      {OpKind::Pad, "channels too, up to " + std::to_string(kMaxArrayPadLeft) + " at the left", "array"},
      {OpKind::Reshape, "before fully connected layers; of maps that are dense in memory", "nothing to do"},
      {OpKind::Shuffle, "of what one convolution makes for it", "nothing to do"},
      {OpKind::Shuffle, "of any other map", "array"},
  };
  const std::vector<Row> others = host_rows(pair);
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

}  // namespace

bool runs_on_accelerator(OpKind kind) {
  for (const Row& r : rows()) {
    if (r.kind == kind) return !r.where.empty();
  }
  return false;
}

std::string operators_text() {
  std::string text;
  OpKind last = OpKind::ToInt8;
  for (const Row& r : rows()) {
    if (r.where.empty() || r.kind == last) continue;
    text += (text.empty() ? "" : ", ") + std::string(name_of(r.kind));
    last = r.kind;
  }
  return text;
}

std::string operators_page() {
  std::string page =
      "# Operators\n\n"
      "Generated by `kaiten info --operators` from the limits that the compiler checks; a test compares the "
      "two. An\n"
      "operator beyond a limit is refused by name, with the limit and the value. `kaiten inspect MODEL` "
      "tells where every\n"
      "layer of a model runs.\n\n"
      "| operator | parameters | runs on |\n|---|---|---|\n";
  for (const Row& r : rows()) {
    page += "| `" + std::string(name_of(r.kind)) + "` | " + (r.where.empty() ? "refused" : r.parameters) +
            " | " + (r.where.empty() ? "reference executor only" : r.where) + " |\n";
  }
  page += "\nAll: batch 1; maps of up to " + std::to_string(kMaxMapSide) + " rows and " +
          std::to_string(kMaxMapColumns) +
          " columns, in stripes where they are too wide;\ninput channels in up to " +
          std::to_string(kMaxPasses) + " passes, output channels in up to " + std::to_string(kMaxTiles) +
          " tiles.\n\n"
          "| configuration | channels of a map | columns of a convolution's output in a stripe | weights of "
          "KP output channels |\n"
          "|---|---|---|---|\n";
  for (const Config& c : presets()) {
    page += "| `" + c.name + "` | " + std::to_string(kMaxGroups * c.cp) + " | " +
            std::to_string(c.ob_pixels) + " | " + std::to_string(c.wb_rows * 9 * c.cp / 1024) + " KiB |\n";
  }
  page +=
      "\nA part of a map is dense in memory when it is one pixel or one column, or has a multiple of CP "
      "channels in one\n"
      "segment: KP channels where the array wrote it, 3 CP where the vector engine did.\n\n"
      "Not on the device: resizing and concatenations of rows or columns between layers, putting the cells "
      "of "
      "a transposed\n"
      "convolution side by side (its products are on the array). Results of\n"
      "one command lie side by side in a row, in SB, VB and memory; these would have to leave columns free "
      "for others, or rows\n"
      "to several commands that each begin elsewhere in the map.\n";
  return page;
}

}  // namespace kaiten
