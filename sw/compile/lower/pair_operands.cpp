// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/pair_operands.h"

#include <optional>

#include "base/arithmetic.h"

namespace kaiten {

namespace {

constexpr int kBanks = 9;
constexpr int kGroups = 3;  // words of an operand, in neighbouring banks

bool adds_two(const LoweredOp& op) { return op.engine == Engine::kAdd && op.inputs.size() == 2; }

// Whether words `banks` apart and the two after each of them are all in different banks.
bool apart(int banks) {
  const int distance = positive_mod(banks, kBanks);
  return distance >= kGroups && distance <= kBanks - kGroups;
}

}  // namespace

void pair_operands(Lowering& lowering) {
  IndexedVector<StorageId, std::optional<int>> offsets;
  for (std::size_t i = 0; i < lowering.storages.size(); i++) offsets.push_back(std::nullopt);
  // The row of a broadcast is its map's row 0, wherever the other operand's is.
  for (const LoweredOp& op : lowering.ops) {
    if (adds_two(op) && op.broadcast) offsets[lowering.views[op.inputs[1]].storage] = 0;
  }
  for (LoweredOp& op : lowering.ops) {
    if (!adds_two(op) || op.broadcast) continue;
    const View& a = lowering.views[op.inputs[0]];
    const View& b = lowering.views[op.inputs[1]];
    const int step = b.channels.begin() - a.channels.begin();
    const auto fits = [&](int first, int second) { return apart(step + 3 * (second - first)); };
    if (a.storage == b.storage) {
      op.pair = fits(0, 0);
      continue;
    }
    std::optional<int>& first = offsets[a.storage];
    std::optional<int>& second = offsets[b.storage];
    for (int x = 0; x < 3 && !op.pair; x++) {
      for (int y = 0; y < 3 && !op.pair; y++) {
        if (first.value_or(x) != x || second.value_or(y) != y || !fits(x, y)) continue;
        first = x;
        second = y;
        op.pair = true;
      }
    }
  }
  for (const StorageId id : lowering.storages.ids())
    lowering.storages[id].mod3_offset = offsets[id].value_or(0);
}

}  // namespace kaiten
