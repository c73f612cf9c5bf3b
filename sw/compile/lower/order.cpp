// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/order.h"

#include <algorithm>

namespace kaiten {

std::vector<LoweredOp> long_operands_last(const Lowering& lowering) {
  const std::vector<LoweredOp>& ops = lowering.ops;
  std::vector<std::vector<int>> writer(lowering.storages.size());  // of every part
  for (std::size_t s = 0; s < writer.size(); s++) writer[s].assign(lowering.storages[s].parts.size(), -1);
  for (std::size_t i = 0; i < ops.size(); i++) {
    if (ops[i].engine == Engine::kNone) continue;
    for (int part : lowering.parts_of(ops[i].output)) {
      const int storage = lowering.views[std::size_t(ops[i].output)].storage;
      writer[std::size_t(storage)][std::size_t(part)] = int(i);
    }
  }
  const auto makers_of = [&](const LoweredOp& op) {
    std::vector<int> makers;
    for (int view : op.inputs) {
      if (lowering.storage_of(view).bytes_of >= 0) view = lowering.storage_of(view).bytes_of;
      for (int part : lowering.parts_of(view)) {
        const int storage = lowering.views[std::size_t(view)].storage;
        const int maker = writer[std::size_t(storage)][std::size_t(part)];
        if (maker >= 0) makers.push_back(maker);
      }
    }
    return makers;
  };
  std::vector<bool> consumed(ops.size());
  for (const LoweredOp& op : ops) {
    for (int maker : makers_of(op)) consumed[std::size_t(maker)] = true;
  }
  std::vector<LoweredOp> order;
  std::vector<char> state(ops.size());  // 0 new, 1 its inputs are being placed, 2 placed
  std::vector<int> stack;
  const auto place = [&](int root) {
    stack.push_back(root);
    while (!stack.empty()) {
      const int i = stack.back();
      const LoweredOp& op = ops[std::size_t(i)];
      if (state[std::size_t(i)] == 0) {
        state[std::size_t(i)] = 1;
        std::vector<int> makers;
        for (int maker : makers_of(op)) {
          if (state[std::size_t(maker)] == 0) makers.push_back(maker);
        }
        std::stable_sort(makers.begin(), makers.end(), [&](int a, int b) {
          const auto cost = [&](int m) {
            return ops[std::size_t(m)].cycles(ops[std::size_t(m)].tiles(), ops[std::size_t(m)].out.h);
          };
          return cost(a) > cost(b);  // the last one pushed is placed first
        });
        stack.insert(stack.end(), makers.begin(), makers.end());
        continue;
      }
      stack.pop_back();
      if (state[std::size_t(i)] == 2) continue;
      state[std::size_t(i)] = 2;
      order.push_back(op);
    }
  };
  for (std::size_t i = 0; i < ops.size(); i++) {
    if (!consumed[i]) place(int(i));
  }
  for (std::size_t i = 0; i < ops.size(); i++) {
    if (state[i] == 0) place(int(i));  // views in the middle
  }
  return order;
}

}  // namespace kaiten
