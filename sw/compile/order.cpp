#include "compile/order.h"

#include <algorithm>

namespace kaiten {

std::vector<LoweredOp> long_operands_last(const Lowering& lowering) {
  const std::vector<LoweredOp>& ops = lowering.ops;
  std::vector<int> producer(lowering.storages.size(), -1);
  std::vector<bool> consumed(ops.size());
  for (std::size_t i = 0; i < ops.size(); i++) {
    for (int s : ops[i].inputs) {
      if (producer[std::size_t(s)] >= 0) consumed[std::size_t(producer[std::size_t(s)])] = true;
    }
    // A reshape writes the storage it reads: the first operator with that output made it.
    int& p = producer[std::size_t(ops[i].output)];
    if (p < 0) p = int(i);
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
        for (int s : op.inputs) {
          const int p = producer[std::size_t(s)];
          if (p >= 0 && p != i && state[std::size_t(p)] == 0) makers.push_back(p);
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
    if (state[i] == 0) place(int(i));  // reshapes in the middle
  }
  return order;
}

}  // namespace kaiten
