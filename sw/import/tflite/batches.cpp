// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND of TensorFlow Lite: cells a block apart become maps of a batch, and the reverse.
// Around a convolution they are what older converters make of a dilated one.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

// Rows and columns of a block, one row in tensors of three dimensions, and what is added around the map, or cut off it.
struct Blocks {
  int rows = 1;
  int columns = 1;
  Padding border;
};

// Of a tensor of 3 or 4 dimensions. Nothing after a refusal.
std::optional<Blocks> import_blocks(State& s, const Node& node, std::size_t rank, const char* border) {
  const std::vector<int> block = import_numbers(s, node.inputs()->Get(1), "block");
  const std::vector<int> around = import_numbers(s, node.inputs()->Get(2), border);
  if (block.empty() || around.empty()) return std::nullopt;
  if (block.size() != rank - 2 || around.size() != 2 * block.size()) {
    refuse(s, {"blocks of rows and columns", std::to_string(block.size()) + " dimensions", ""});
    return std::nullopt;
  }
  for (const int b : block) {
    if (b < 1 || b > kMaxWindow) fail_layer(s, "block of " + std::to_string(b));
  }
  for (const int n : around) {
    if (n < 0 || n > kMaxWindow) fail_layer(s, std::string(border) + " of " + std::to_string(n));
  }
  if (block.size() == 1) return Blocks{1, block[0], {0, 0, around[0], around[1]}};
  return Blocks{block[0], block[1], {around[0], around[1], around[2], around[3]}};
}

bool require_blocks(State& s, const Shape& in) {
  if (in.size() == 4) return true;
  refuse(s, {"blocks of maps, or around a convolution of lines", shape_text(in), ""});
  return false;
}

bool is_empty(const Padding& p) { return p == Padding{}; }

// The only operator that reads a tensor, which is no output of the model; null where there is none.
const Node* only_reader(const State& s, int tensor) {
  const Node* found = nullptr;
  for (const Node* node : *s.operators) {
    if (node->inputs() == nullptr) continue;
    for (const int in : *node->inputs()) {
      if (in != tensor) continue;
      if (found != nullptr) return nullptr;
      found = node;
    }
  }
  for (const int out : *s.subgraph->outputs()) {
    if (out == tensor) return nullptr;
  }
  return found;
}

// With stride 1 and no padding of its own.
template <typename Options>
bool is_plain(const Options* settings) {
  return settings != nullptr && settings->stride_h() == 1 && settings->stride_w() == 1 &&
         settings->padding() == tflite::PaddingKind::VALID;
}

bool is_plain_convolution(const State& s, const Node& node) {
  if (node.inputs() == nullptr || node.outputs() == nullptr || node.inputs()->size() < 2 ||
      node.outputs()->size() != 1)
    return false;
  const Code code = code_of(s, node);
  return (code == Code::CONV_2D && is_plain(node.options_as_Conv2DOptions())) ||
         (code == Code::DEPTHWISE_CONV_2D && is_plain(node.options_as_DepthwiseConv2DOptions()));
}

bool is_known(State& s, int index) {
  return index != kNoTensor && (folded_integers(s, index) != nullptr || has_data(s, index));
}

// A node of three inputs, the last two known.
bool has_blocks(State& s, const Node& node) {
  return node.inputs() != nullptr && node.inputs()->size() == 3 && node.outputs() != nullptr &&
         node.outputs()->size() == 1 && is_known(s, node.inputs()->Get(1)) &&
         is_known(s, node.inputs()->Get(2));
}

bool is_reshape(Code code) {
  return code == Code::EXPAND_DIMS || code == Code::RESHAPE || code == Code::SQUEEZE;
}

// The only reader of a tensor where it adds or takes off a dimension, as it stands around a convolution of lines.
const Node* only_reshape(const State& s, int tensor) {
  const Node* node = only_reader(s, tensor);
  if (node == nullptr || node->outputs() == nullptr || node->outputs()->size() != 1) return nullptr;
  return is_reshape(code_of(s, *node)) && node->inputs()->Get(0) == tensor ? node : nullptr;
}

// A node between the first of a dilated convolution and the last: only the last makes something, a line of its map.
void leave(State& s, const Node& node, Code code) {
  const int out = node.outputs()->Get(0);
  if (code != Code::BATCH_TO_SPACE_ND) {
    if (s.status_of(out) == Status::Untouched) s.status_of(out) = Status::Spread;
    return;
  }
  for (const auto& [spread, d] : s.dilations) {
    if (d.line != out) continue;
    Op op;
    op.name = s.layer.name;
    op.kind = OpKind::Reshape;
    op.inputs = {d.result};
    op.output = out;
    return append(s, std::move(op));
  }
}

// A line as a map of one row, and a map for the line that the convolution makes of it.
void take_lines(State& s, Dilation& d, int line) {
  const Shape from = s.tensor(d.map).shape;
  d.map = reshaped(s, d.map, {from[0], 1, from[1], from[2]});
  produce(s, line);
  const Shape to = s.tensor(line).shape;
  d.line = line;
  d.result = similar(s, line, to.size() == 3 ? Shape{to[0], 1, to[1], to[2]} : to);
}

}  // namespace

bool dilates(State& s, const Node& node, Code code) {
  if ((is_reshape(code) || code == Code::BATCH_TO_SPACE_ND) && node.inputs()->Get(0) != kNoTensor &&
      s.status_of(node.inputs()->Get(0)) == Status::Spread) {
    leave(s, node, code);
    return true;
  }
  if (code != Code::SPACE_TO_BATCH_ND || !has_blocks(s, node)) return false;
  const int map = node.inputs()->Get(0);
  int spread = node.outputs()->Get(0);
  const std::size_t rank = map == kNoTensor ? 0 : s.tensor(map).shape.size();
  if (map == kNoTensor || s.status_of(map) != Status::Ready || (rank != 3 && rank != 4) ||
      s.status_of(spread) != Status::Untouched)
    return false;
  const Node* const more = rank == 3 ? only_reshape(s, spread) : nullptr;
  if (more != nullptr) spread = more->outputs()->Get(0);
  const Node* conv = only_reader(s, spread);
  if (conv == nullptr || !is_plain_convolution(s, *conv) || conv->inputs()->Get(0) != spread) return false;
  int made = conv->outputs()->Get(0);
  const Node* const less = rank == 3 ? only_reshape(s, made) : nullptr;
  if (rank == 3 && (more == nullptr || less == nullptr)) return false;
  if (less != nullptr) made = less->outputs()->Get(0);
  const Node* back = only_reader(s, made);
  if (back == nullptr || code_of(s, *back) != Code::BATCH_TO_SPACE_ND || !has_blocks(s, *back)) return false;
  const auto to = import_blocks(s, node, rank, "padding");
  const auto from = import_blocks(s, *back, rank, "crop");
  if (!to || !from || to->rows != from->rows || to->columns != from->columns) return false;
  const Padding pad = {to->border.top - from->border.top, to->border.bottom - from->border.bottom,
                       to->border.left - from->border.left, to->border.right - from->border.right};
  if (pad.top < 0 || pad.bottom < 0 || pad.left < 0 || pad.right < 0) return false;
  s.status_of(node.outputs()->Get(0)) = Status::Spread;
  Dilation d{map, to->rows, to->columns, pad, back->outputs()->Get(0)};
  if (rank == 3) take_lines(s, d, d.result);
  s.dilations[spread] = d;
  return true;
}

bool import_space_to_batch(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape in = s.graph.input_of(op).shape;
  if (!require_blocks(s, in)) return false;
  const auto b = import_blocks(s, node, in.size(), "padding");
  if (!b || !expect_same_quantization(s, op)) return false;
  const Padding& p = b->border;
  const int rows = in[1] + p.top + p.bottom, columns = in[2] + p.left + p.right;
  if (rows % b->rows != 0 || columns % b->columns != 0)
    fail_layer(s, "its map does not consist of blocks of " + std::to_string(b->rows) + "x" +
                      std::to_string(b->columns));
  const int down = rows / b->rows, across = columns / b->columns, line = columns * in[3];
  expect_output(s, op, {in[0] * b->rows * b->columns, down, across, in[3]});
  if (!is_empty(p)) {
    Op pad = op;
    pad.kind = OpKind::Pad;
    pad.dims = {0, 0, p.top, p.bottom, p.left, p.right, 0, 0};
    pad.on_host = true;
    if (!step_before(s, op, std::move(pad), {in[0], rows, columns, in[3]})) return false;
  }
  op.dims = {0,    b->rows,        line,   b->columns,         in[3], in[0], rows * line,
             down, b->rows * line, across, b->columns * in[3], in[3], 1};
  return true;
}

bool import_batch_to_space(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape in = s.graph.input_of(op).shape;
  if (!require_blocks(s, in)) return false;
  const auto b = import_blocks(s, node, in.size(), "crop");
  if (!b || !expect_same_quantization(s, op)) return false;
  const int block = b->rows * b->columns;
  if (in[0] % block != 0)
    fail_layer(s, "a batch of " + std::to_string(in[0]) + " for blocks of " + std::to_string(block));
  const int images = in[0] / block, line = in[2] * in[3], map = in[1] * line;
  const Shape whole = {images, in[1] * b->rows, in[2] * b->columns, in[3]};
  const Padding& c = b->border;
  const Shape cut = {images, whole[1] - c.top - c.bottom, whole[2] - c.left - c.right, in[3]};
  expect_output(s, op, cut);
  op.dims = {0,     images, map,        in[1],        line,  b->rows, b->columns * images * map,
             in[2], in[3],  b->columns, images * map, in[3], 1};
  if (is_empty(c)) return true;
  Op rearrange = op;
  if (!step_before(s, op, std::move(rearrange), whole)) return false;
  op.kind = OpKind::Slice;
  op.dims = {0, c.top, c.left, 0};
  op.on_host = true;
  return true;
}

}  // namespace kaiten::importing::from_tflite
