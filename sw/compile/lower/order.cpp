// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/order.h"

#include <algorithm>

namespace kaiten {

namespace {

// Which operators must run before which, by position.
class Producers {
 public:
  explicit Producers(const Lowering& lowering) : lowering_(lowering), of_part_(lowering.storages.size()) {
    for (const StorageId s : lowering.storages.ids())
      of_part_[s].assign(lowering.storages[s].parts.size(), kNone);
    for (std::size_t i = 0; i < lowering.ops.size(); i++) {
      const LoweredOp& op = lowering.ops[i];
      if (op.engine == Engine::kNone) continue;
      for (int part : lowering.parts_of(op.output)) of_part_[storage(op.output)][std::size_t(part)] = i;
    }
  }

  std::vector<std::size_t> of(const LoweredOp& op) const {
    std::vector<std::size_t> producers;
    for (ViewId view : op.inputs) {
      const ViewId bytes = lowering_.storage_of(view).bytes_of;
      if (bytes.exists()) view = bytes;
      for (int part : lowering_.parts_of(view)) {
        const std::size_t producer = of_part_[storage(view)][std::size_t(part)];
        if (producer != kNone) producers.push_back(producer);
      }
    }
    return producers;
  }

 private:
  static constexpr std::size_t kNone = std::size_t(-1);

  StorageId storage(ViewId view) const { return lowering_.views[view].storage; }

  const Lowering& lowering_;
  IndexedVector<StorageId, std::vector<std::size_t>> of_part_;
};

std::int64_t cost(const LoweredOp& op) { return op.cycles(op.tiles(), op.out.h); }

}  // namespace

std::vector<LoweredOp> long_operands_last(const Lowering& lowering) {
  const std::vector<LoweredOp>& ops = lowering.ops;
  const Producers producers(lowering);
  std::vector<bool> consumed(ops.size());
  for (const LoweredOp& op : ops) {
    for (std::size_t producer : producers.of(op)) consumed[producer] = true;
  }
  enum class State : std::uint8_t { kNew, kInputsArePlaced, kPlaced };
  std::vector<LoweredOp> order;
  std::vector<State> state(ops.size());
  std::vector<std::size_t> stack;
  const auto place = [&](std::size_t root) {
    stack.push_back(root);
    while (!stack.empty()) {
      const std::size_t i = stack.back();
      if (state[i] == State::kNew) {
        state[i] = State::kInputsArePlaced;
        std::vector<std::size_t> first;
        for (std::size_t producer : producers.of(ops[i])) {
          if (state[producer] == State::kNew) first.push_back(producer);
        }
        // The last one pushed is placed first.
        std::stable_sort(first.begin(), first.end(),
                         [&](std::size_t a, std::size_t b) { return cost(ops[a]) > cost(ops[b]); });
        stack.insert(stack.end(), first.begin(), first.end());
        continue;
      }
      stack.pop_back();
      if (state[i] == State::kPlaced) continue;
      state[i] = State::kPlaced;
      order.push_back(ops[i]);
    }
  };
  for (std::size_t i = 0; i < ops.size(); i++) {
    if (!consumed[i]) place(i);
  }
  for (std::size_t i = 0; i < ops.size(); i++) {
    if (state[i] == State::kNew) place(i);  // views in the middle
  }
  return order;
}

}  // namespace kaiten
