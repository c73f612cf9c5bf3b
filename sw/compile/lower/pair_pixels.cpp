// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/pair_pixels.h"

#include <algorithm>
#include <vector>

#include "base/arithmetic.h"
#include "compile/lower/limits.h"

namespace kaiten {

namespace {

constexpr int kBanks = 9;
constexpr int kMostGroups = 4;  // of a pass: words of a window that each of two has
// A window of the last pass is the second of two when the sum of its passes before may just have been written.
constexpr int kLeastColumns = 3;

// Groups of the last pass, or 0 where two windows at once cannot be.
int groups_of_last_pass(const Lowering& lowering, const Config& config, const LoweredOp& op) {
  if (op.engine != Engine::kConv) return 0;
  if ((op.out.w - 1) * op.column_stride >= lowering.storage_of(op.inputs[0]).shape.w) return 0;
  return groups_of_pairs(op, config);
}

// Maps whose pixels are equally far apart: the operands of an addition are. Each is named by one of them.
class Classes {
 public:
  explicit Classes(const Lowering& lowering) {
    for (const StorageId s : lowering.storages.ids()) parent_.push_back(s);
    for (const LoweredOp& op : lowering.ops) {
      if (op.engine != Engine::kAdd || op.broadcast) continue;
      for (const ViewId v : op.inputs)
        parent_[of(lowering.views[v].storage)] = of(lowering.views[op.inputs[0]].storage);
    }
  }
  StorageId of(StorageId s) const {
    while (parent_[s] != s) s = parent_[s];
    return s;
  }

 private:
  IndexedVector<StorageId, StorageId> parent_;
};

// So many words of pixels that are `columns` apart must lie in different banks.
struct Wish {
  int columns = 1;
  int words = 0;
};
// Of a class, and the distance that fulfils them.
struct Wishes {
  std::vector<Wish> list;
  int pixel = 0;  // -1: there is none
};

bool fulfils(int pixel, const Wish& wish) {
  const int distance = wish.columns * pixel % kBanks;
  return distance >= wish.words && distance <= kBanks - wish.words;
}

// Of the words of two results. Where they meet, results are written one after the other: behind several passes that costs
// no time.
Wish written_by(const Lowering& lowering, const Config& config, const LoweredOp& op) {
  return {1, std::min(config.kp / config.cp, lowering.part_of(op.output).groups)};
}

// The least distance from `least` on that suits all readers and fulfils these wishes, -1 where there is none.
int distance(int least, const std::vector<Wish>& wishes) {
  for (int pixel = least; pixel < least + kBanks; pixel++) {
    if (pixel % 3 == 0) continue;
    if (std::all_of(wishes.begin(), wishes.end(), [&](const Wish& w) { return fulfils(pixel, w); }))
      return pixel;
  }
  return -1;
}

// Whether the fields of the commands that read this map hold positions in it.
bool fits_fields(const Lowering& lowering, StorageId storage, int pixel) {
  return std::all_of(lowering.ops.begin(), lowering.ops.end(), [&](const LoweredOp& op) {
    if (op.engine != Engine::kConv || lowering.views[op.inputs[0]].storage != storage) return true;
    return op.column_stride * pixel <= kMaxStep && op.pad_left * pixel <= kMaxPosition;
  });
}

}  // namespace

int groups_of_pairs(const LoweredOp& op, const Config& config) {
  if (op.array.mode != ConvMode::k1x1 || op.array.kernel_tiles() != 1) return 0;
  if (op.weight_zero != 0 || op.pad_left != 0 || op.out.w < (op.array.passes > 1 ? kLeastColumns : 2))
    return 0;
  const int groups = ceil_div(op.lanes, config.cp) - (op.array.passes - 1) * op.array.pass_groups();
  return groups <= kMostGroups ? groups : 0;
}

void pair_pixels(Lowering& lowering, const Config& config) {
  const Classes classes(lowering);
  IndexedVector<StorageId, Wishes> wishes;
  for (std::size_t i = 0; i < lowering.storages.size(); i++) wishes.push_back({});
  const auto wishes_of = [&](ViewId view) -> Wishes& {
    return wishes[classes.of(lowering.views[view].storage)];
  };
  for (LoweredOp& op : lowering.ops) {
    op.pair_groups = groups_of_last_pass(lowering, config, op);
    if (op.pair_groups == 0) continue;
    wishes_of(op.inputs[0]).list.push_back({op.column_stride, op.pair_groups});
    if (op.array.passes == 1) wishes_of(op.output).list.push_back(written_by(lowering, config, op));
  }
  for (const StorageId s : lowering.storages.ids()) {
    Wishes& w = wishes[classes.of(s)];
    if (w.list.empty()) continue;
    const int pixel = distance(lowering.storages[s].rows().pixel, w.list);
    const bool equal = w.pixel == 0 || w.pixel == pixel;
    w.pixel = equal && pixel > 0 && fits_fields(lowering, s, pixel) ? pixel : -1;
  }
  for (const StorageId s : lowering.storages.ids()) {
    const Wishes& w = wishes[classes.of(s)];
    if (w.pixel > 0) lowering.storages[s].pixel = w.pixel;
  }
  for (LoweredOp& op : lowering.ops) {
    if (op.pair_groups == 0) continue;
    if (wishes_of(op.inputs[0]).pixel <= 0) op.pair_groups = 0;
    op.pair_splits = !fulfils(lowering.storage_of(op.output).rows().pixel, written_by(lowering, config, op));
  }
}

}  // namespace kaiten
