// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/picks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "import/onnx/host.h"
#include "import/onnx/layers.h"
#include "import/onnx/moves.h"
#include "import/onnx/operands.h"
#include "import/onnx/shapes.h"
#include "import/onnx/shuffle.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

namespace {

Pick dense(const Shape& in) { return {0, strides_of(in), in}; }

// A dimension with other strides: `begin` cells on, so many, so far apart.
void take(Pick& pick, std::size_t d, std::int64_t begin, std::int64_t size, std::int64_t step) {
  pick.begin += int(begin * pick.strides[d].step);
  pick.strides[d] = {int(size), int(pick.strides[d].step * step)};
  pick.shape[d] = int(size);
}

Pick transposed(const State& s, const Node& node, const Shape& in) {
  const std::vector<Stride> from = strides_of(in);
  Pick pick;
  for (const int d : permutation(s, node, int(in.size()))) {
    pick.strides.push_back(from[std::size_t(d)]);
    pick.shape.push_back(in[std::size_t(d)]);
  }
  return pick;
}

int block_size(const State& s, const Node& node, const Shape& in) {
  const std::int64_t block = integer(node, "blocksize", 0);
  if (in.size() != 4 || block < 1 || block > kMaxWindow)
    fail_layer(s, "blocks of " + std::to_string(block) + " of " + shape_text(in));
  return int(block);
}

Pick depth_to_space(const State& s, const Node& node, const Shape& in) {
  const int b = block_size(s, node, in);
  const int depth = in[1] / b / b, h = in[2], w = in[3];
  if (depth * b * b != in[1])
    fail_layer(s, std::to_string(in[1]) + " channels for blocks of " + std::to_string(b));
  const std::string mode = text(node, "mode", "DCR");
  if (mode != "DCR" && mode != "CRD") fail_layer(s, "mode is " + clean_name(mode));
  const bool depth_last = mode == "DCR";  // of the channels: block row, block column, depth
  const int across = (depth_last ? depth : 1) * h * w;
  return {0,
          {{in[0], in[1] * h * w},
           {depth, (depth_last ? 1 : b * b) * h * w},
           {h, w},
           {b, b * across},
           {w, 1},
           {b, across}},
          {in[0], depth, h * b, w * b}};
}

Pick space_to_depth(const State& s, const Node& node, const Shape& in) {
  const int b = block_size(s, node, in);
  const int h = in[2], w = in[3];
  if (h % b != 0 || w % b != 0)
    fail_layer(s, "a map that does not consist of blocks of " + std::to_string(b));
  return {0,
          {{in[0], in[1] * h * w}, {b, w}, {b, 1}, {in[1], h * w}, {h / b, b * w}, {w / b, b}},
          {in[0], in[1] * b * b, h / b, w / b}};
}

Pick tiled(const State& s, const Node& node, const Shape& in) {
  const std::vector<std::int64_t> times = numbers(s, input(s, node, 1), "repeats");
  if (times.size() != in.size()) fail_layer(s, "repeats do not fit " + shape_text(in));
  const std::vector<Stride> from = strides_of(in);
  Pick pick;
  for (std::size_t d = 0; d < in.size(); d++) {
    if (times[d] < 1 || times[d] * in[d] > kMaxTensorElements)
      fail_layer(s, "repeats " + std::to_string(times[d]) + " times");
    pick.strides.push_back({int(times[d]), 0});
    pick.strides.push_back(from[d]);
    pick.shape.push_back(int(times[d]) * in[d]);
  }
  return pick;
}

Pick expanded(const State& s, const Node& node, const Shape& in) {
  Shape wanted;
  for (const std::int64_t dim : numbers(s, input(s, node, 1), "shape")) {
    if (dim < 1 || dim > kMaxTensorElements)
      fail_layer(s, "expands to a dimension of " + std::to_string(dim));
    wanted.push_back(int(dim));
  }
  Pick pick;
  pick.shape = broadcast(s, in, wanted);
  const std::vector<Stride> from = strides_of(in);
  for (std::size_t d = 0; d < pick.shape.size(); d++) {
    const std::size_t missing = pick.shape.size() - in.size();
    const bool repeated = d < missing || in[d - missing] == 1;
    pick.strides.push_back({pick.shape[d], repeated ? 0 : from[d - missing].step});
  }
  return pick;
}

std::vector<int> indices_of(const State& s, const Node& node, const Shape& in) {
  const auto d = std::size_t(axis_of(s, node, 0, int(in.size())));
  const Constant& c = constant(s, input(s, node, 1), "indices");
  if ((c.type != kInt64 && c.type != kInt32) || c.size() == 0) fail_layer(s, "its indices are no integers");
  std::vector<int> indices;
  for (std::size_t i = 0; i < c.size(); i++) {
    const std::int64_t index = c.integer(i) < 0 ? c.integer(i) + in[d] : c.integer(i);
    if (index < 0 || index >= in[d]) fail_layer(s, "index " + std::to_string(c.integer(i)) + " out of range");
    indices.push_back(int(index));
  }
  return indices;
}

std::int64_t step_of(const std::vector<int>& indices) {
  return indices.size() > 1 ? indices[1] - indices[0] : 1;
}

bool at_equal_distances(const std::vector<int>& indices) {
  for (std::size_t i = 0; i < indices.size(); i++) {
    if (indices[i] != indices[0] + std::int64_t(i) * step_of(indices)) return false;
  }
  return true;
}

// As operators state it.
std::vector<int> dims_of(const Pick& pick) {
  std::vector<int> dims = {pick.begin};
  for (const Stride& d : pick.strides) {
    dims.push_back(d.size);
    dims.push_back(d.step);
  }
  return dims;
}

// A Gather that no steps describe: of a list of positions.
bool is_gather_of_list(const State& s, const Node& node, const Shape& in) {
  return node.op_type() == "Gather" && constant(s, input(s, node, 1), "indices").shape.size() == 1 &&
         !at_equal_distances(indices_of(s, node, in));
}

// What Gather, Slice and the others give of a quantised tensor.
int picked(State& s, const Node& node, int part, int tensor, const Shape& in, const Scales& scales) {
  if (is_gather_of_list(s, node, in))
    return gathered(s, tensor, in, axis_of(s, node, 0, int(in.size())), indices_of(s, node, in), scales);
  const Pick pick = pick_of(s, node, in, part);
  return rearranged(s, tensor, in, pick.begin, pick.strides, pick.shape, scales);
}

Pick gathered_pick(const State& s, const Node& node, const Shape& in) {
  const auto d = std::size_t(axis_of(s, node, 0, int(in.size())));
  const Constant& c = constant(s, input(s, node, 1), "indices");
  const std::vector<int> indices = indices_of(s, node, in);
  if (!at_equal_distances(indices))
    throw Unsupported{"gathering at equal distances", "indices at several distances"};
  Pick pick = dense(in);
  take(pick, d, indices[0], std::int64_t(indices.size()), step_of(indices));
  pick.shape.erase(pick.shape.begin() + std::ptrdiff_t(d));
  pick.shape.insert(pick.shape.begin() + std::ptrdiff_t(d), c.shape.begin(), c.shape.end());
  return pick;
}

// Where a Slice along a dimension begins, and how many cells it takes.
std::pair<std::int64_t, std::int64_t> range_of(std::int64_t start, std::int64_t end, std::int64_t step,
                                               std::int64_t dim) {
  const auto place = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::clamp(at < 0 ? at + dim : at, low, high);
  };
  const std::int64_t begin = step > 0 ? place(start, 0, dim) : place(start, 0, dim - 1);
  // Before the first cell where steps go down: ends like -2^63 stay below.
  const std::int64_t last = step > 0 ? place(end, 0, dim) : (end < -dim ? -1 : place(end, -1, dim - 1));
  const std::int64_t room = step > 0 ? last - begin : begin - last;
  const std::int64_t size = std::abs(step);
  return {begin, room <= 0 ? 0 : (room + size - 1) / size};
}

Pick sliced(const State& s, const Node& node, const Shape& in) {
  const std::vector<std::int64_t> starts = numbers_of(s, node, 1, "starts");
  const std::vector<std::int64_t> ends = numbers_of(s, node, 2, "ends");
  std::vector<std::int64_t> axes = numbers_of(s, node, 3, "axes");
  std::vector<std::int64_t> steps = numbers_of(s, node, 4, "steps");
  for (std::size_t i = axes.size(); i < starts.size(); i++) axes.push_back(std::int64_t(i));
  steps.resize(std::max(steps.size(), starts.size()), 1);
  if (starts.size() != ends.size() || axes.size() != starts.size() || starts.size() > in.size())
    fail_layer(s,
               "has " + std::to_string(starts.size()) + " starts, " + std::to_string(ends.size()) + " ends");
  Pick pick = dense(in);
  for (std::size_t i = 0; i < axes.size(); i++) {
    const auto d = std::size_t(checked_axis(s, axes[i], int(in.size())));
    if (steps[i] == 0 || std::abs(steps[i]) > kMaxTensorElements)
      fail_layer(s, "a step of " + std::to_string(steps[i]));
    const auto [begin, size] = range_of(starts[i], ends[i], steps[i], in[d]);
    if (size < 1) fail_layer(s, "makes an empty slice of " + shape_text(in));
    take(pick, d, begin, size, steps[i]);
  }
  return pick;
}

}  // namespace

bool is_pick(const std::string& op_type) {
  for (const char* name :
       {"Transpose", "DepthToSpace", "SpaceToDepth", "Tile", "Expand", "Gather", "Slice", "Split"}) {
    if (op_type == name) return true;
  }
  return false;
}

bool has_steps(const State& s, const Node& node) {
  const std::vector<std::int64_t> steps = numbers_of(s, node, 4, "steps");
  return std::any_of(steps.begin(), steps.end(), [](std::int64_t step) { return step != 1; });
}

Pick pick_of(State& s, const Node& node, const Shape& in, int part) {
  const std::string& kind = node.op_type();
  if (kind == "Transpose") return transposed(s, node, in);
  if (kind == "DepthToSpace") return depth_to_space(s, node, in);
  if (kind == "SpaceToDepth") return space_to_depth(s, node, in);
  if (kind == "Tile") return tiled(s, node, in);
  if (kind == "Expand") return expanded(s, node, in);
  if (kind == "Gather") return gathered_pick(s, node, in);
  if (kind == "Slice") return sliced(s, node, in);
  const Box box = moved_box(s, node, in, part);
  Pick pick = dense(in);
  for (std::size_t d = 0; d < in.size(); d++) take(pick, d, box.begin[d], box.size[d], 1);
  return pick;
}

Shape shape_of_pick(State& s, const Node& node, const Operands& x, int part) {
  const Shape& in = s.at(x[0]).shape;
  if (!is_gather_of_list(s, node, in)) return pick_of(s, node, in, part).shape;
  Shape out = in;
  out[std::size_t(axis_of(s, node, 0, int(in.size())))] = int(indices_of(s, node, in).size());
  return out;
}

int fuse_pick(State& s, const Expression& e, Op op, const Scales& out) {
  const int x = e.operands[0];
  if (!is_dequantised_activation(s, x)) return kNoTensor;
  const int moved = picked(s, e.node, e.part, plain(s, activation_of(s, x)), s.at(x).shape, s.at(x).scales);
  return requantise(s, moved, e.shape, std::move(op), out);
}

namespace {

// Positions at equal distances from `begin` on: as many as there are.
std::vector<int> run_from(const std::vector<int>& indices, std::size_t begin) {
  std::vector<int> run = {indices[begin]};
  while (begin + run.size() < indices.size()) {
    run.push_back(indices[begin + run.size()]);
    if (at_equal_distances(run)) continue;
    run.pop_back();
    break;
  }
  return run;
}

// A list of positions: its runs, one behind the other.
int host_gather(State& s, const Expression& e) {
  const Shape in = s.at(e.operands[0]).shape;
  const std::vector<int> indices = indices_of(s, e.node, in);
  Op whole;
  whole.kind = OpKind::HostFloat;
  whole.host_kind = HostKind::Concat;
  whole.axis = axis_of(s, e.node, 0, int(in.size()));
  for (std::size_t begin = 0; begin < indices.size();) {
    const std::vector<int> run = run_from(indices, begin);
    Pick pick = dense(in);
    take(pick, std::size_t(whole.axis), run[0], std::int64_t(run.size()), step_of(run));
    Op op;
    op.kind = OpKind::HostFloat;
    op.host_kind = HostKind::Rearrange;
    op.dims = dims_of(pick);
    op.inputs = {as_float(s, e.operands[0])};
    begin += run.size();
    whole.inputs.push_back(emit_float(s, std::move(op), e.name + "/" + std::to_string(begin), pick.shape));
  }
  return emit_float(s, std::move(whole), e.name, e.shape);
}

}  // namespace

int host_pick(State& s, const Expression& e) {
  if (is_gather_of_list(s, e.node, s.at(e.operands[0]).shape)) return host_gather(s, e);
  const Pick pick = pick_of(s, e.node, s.at(e.operands[0]).shape, e.part);
  Op op;
  op.dims = dims_of(pick);
  return emit_host(s, e, HostKind::Rearrange, std::move(op), 1);
}

Value stored_pick(State& s, const Node& node, int part) {
  const int source = input(s, node, 0);
  settle(s, source);
  const Scales scales = scales_of_tensor(s, source);
  const Shape shape = shape_of_pick(s, node, {source}, part);
  const int moved = picked(s, node, part, plain(s, s.at(source).tensor), s.at(source).shape, scales);
  return quantised_value(moved, shape, scales.type);
}

}  // namespace kaiten::importing::from_onnx
