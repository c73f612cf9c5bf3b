// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/balance_engines.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/unsupported.h"
#include "compile/lower/pair_pixels.h"

namespace kaiten {

namespace {

// Cycles that a move must save: what a command of the array costs beside its own, measured on small networks
// (docs/compiler/overview.md).
constexpr std::int64_t kLeastSaving = 512;

// Each value of a map by itself, on the lanes of its channel.
bool is_of_single_values(const LoweredOp& op) {
  const bool cell = op.kernel_rows == 1 && op.kernel_columns == 1 && op.stride == 1 &&
                    op.column_stride == 1 && op.pad_top == 0 && op.pad_left == 0 && op.in.h == op.out.h &&
                    op.in.w == op.out.w;
  return cell && op.channel_of.empty() && op.in.c == op.out.c && op.lanes == op.out.c;
}

// The factor of every channel, as the model has it, of a product with a pixel of constants.
const Tensor* factors_of(const LowerContext& c, const LoweredOp& op) {
  if (op.engine != Engine::kAdd || op.element != ElementKind::kProduct || !op.broadcast || op.look_up() ||
      !is_of_single_values(op))
    return nullptr;
  for (const int t : c.graph.ops[std::size_t(op.op)].inputs) {
    const Tensor& tensor = c.graph.tensors[std::size_t(t)];
    if (tensor.is_constant() && tensor.elements() == std::size_t(op.out.c)) return &tensor;
  }
  return nullptr;
}

// The product as a depthwise layer of one cell, which reads one operand, not two in turn.
LoweredOp depthwise(const LowerContext& c, LoweredOp op, const Tensor& factors) {
  const std::size_t channels = std::size_t(op.out.c);
  const RequantParams product = op.params[2];
  const int in_zero = -op.params[0].bias;
  op.engine = Engine::kWindow;
  op.window = WindowKind::kDepthwise;
  op.element = ElementKind::kSum;
  op.broadcast = false;
  op.inputs.resize(1);
  op.pad_value = in_zero;
  op.weight_zero = factors.zero_point();
  op.vector = VectorTiles(op.lanes, 1, 1, c.config.cp);
  op.depthwise = {factors.data.data(), op.out.c, 1, 1, {}, 1, 1, op.weight_zero};
  op.params.assign(channels, product);
  for (std::size_t i = 0; i < channels; i++)
    op.params[i].bias = -in_zero * (std::int8_t(factors.data[i]) - op.weight_zero);
  return op;
}

// The window of one cell as a convolution; none where the array has no room for it.
std::optional<LoweredOp> convolution(const LowerContext& c, LoweredOp op) {
  const std::size_t channels = std::size_t(op.out.c);
  if (op.window == WindowKind::kDepthwise) {
    op.kernels.data = op.depthwise.data;
    op.kernels.multiplier = 1;
    op.kernels.zero_point = op.weight_zero;
  } else if (op.window == WindowKind::kMaximum && op.params.size() == 1) {
    op.pad_value = 0;
    op.params.assign(channels, RequantParams(op.params[0]));
    op.kernels.moved_from.resize(channels);
    std::iota(op.kernels.moved_from.begin(), op.kernels.moved_from.end(), 0);
  } else {
    return std::nullopt;
  }
  op.window = WindowKind::kDepthwise;
  op.depthwise = {};
  op.vector = {};
  try {
    take_tiles(c, op);
    require_options(c.config, op);
  } catch (const Unsupported&) {
    return std::nullopt;
  }
  const bool fits = op.out.w <= c.config.ob_pixels && has_room_for_table(c.config, op);
  return fits ? std::optional(std::move(op)) : std::nullopt;
}

// Storages whose bytes are read as another shape: what writes them has tiles of a certain size.
std::set<StorageId> kept_storages(const Lowering& lowering) {
  std::set<StorageId> kept;
  for (const StorageId s : lowering.storages.ids()) {
    const ViewId v = lowering.storages[s].bytes_of;
    if (v.exists()) kept.insert(lowering.views[v].storage);
  }
  return kept;
}

std::int64_t cycles_of(const LoweredOp& op) { return op.cycles(op.tiles(), op.out.h); }

// Of the array, with what the bus needs for the weights; two pixels at once where they are to be (pair_pixels.h).
std::int64_t array_cycles(const LowerContext& c, LoweredOp op) {
  if (c.config.two_pixels) op.pair_groups = groups_of_pairs(op, c.config);
  return cycles_of(op) + weight_bytes(op.array, {0, op.array.tiles}) / c.config.axi_bytes;
}

struct Move {
  std::size_t at = 0;  // of the lowered operators
  LoweredOp op;
  std::int64_t vector_cycles = 0, array_cycles = 0;
};

class Balance {
 public:
  Balance(const LowerContext& c, Lowering& lowering, EngineMoves wanted)
      : c_(c), lowering_(lowering), all_(wanted == EngineMoves::kAll), kept_(kept_storages(lowering)) {}

  void run() {
    for (std::size_t i = 0; i < lowering_.ops.size(); i++) look_at(i);
    // Those first that the array is the better for.
    std::stable_sort(moves_.begin(), moves_.end(), [](const Move& a, const Move& b) {
      return a.vector_cycles * b.array_cycles > b.vector_cycles * a.array_cycles;
    });
    for (Move& m : moves_) {
      if (!all_ && array_ + m.array_cycles > vector_ - m.vector_cycles) continue;
      array_ += m.array_cycles;
      vector_ -= m.vector_cycles;
      lowering_.ops[m.at] = std::move(m.op);
    }
  }

 private:
  bool is_quicker(std::int64_t cycles, std::int64_t than) const {
    return all_ || cycles + kLeastSaving <= than;
  }

  void look_at(std::size_t at) {
    LoweredOp& op = lowering_.ops[at];
    if (const Tensor* factors = factors_of(c_, op)) {
      LoweredOp made = depthwise(c_, op, *factors);
      if (is_quicker(cycles_of(made), cycles_of(op))) {
        lowering_.storages[lowering_.views[op.inputs[1]].storage].constant.clear();  // nothing reads it
        op = std::move(made);
      }
    }
    const std::int64_t cycles = cycles_of(op);
    (op.engine == Engine::kConv ? array_ : vector_) += cycles;
    if (op.engine != Engine::kWindow || !is_of_single_values(op) ||
        kept_.contains(lowering_.views[op.output].storage))
      return;
    std::optional<LoweredOp> made = convolution(c_, op);
    if (!made) return;
    const std::int64_t there = array_cycles(c_, *made);
    if (is_quicker(there, cycles)) moves_.push_back({at, std::move(*made), cycles, there});
  }

  const LowerContext& c_;
  Lowering& lowering_;
  bool all_;
  std::set<StorageId> kept_;
  std::int64_t vector_ = 0, array_ = 0;  // cycles of the network
  std::vector<Move> moves_;
};

}  // namespace

void balance_engines(const LowerContext& c, Lowering& lowering, EngineMoves moves) {
  Balance(c, lowering, moves).run();
}

}  // namespace kaiten
