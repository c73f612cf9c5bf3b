// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/pair_pixels.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "compile/lower/limits.h"

namespace kaiten {

namespace {

constexpr int kBanks = 9;
constexpr int kMostGroups = 4;  // of a pixel: words of a window that each of two has

// Groups of an input pixel, or 0 where two pixels at once cannot be.
int groups_of_pixel(const Lowering& lowering, const Config& config, const LoweredOp& op) {
  const bool one_window =
      op.array.mode == ConvMode::k1x1 && op.array.kernel_tiles() == 1 && op.array.passes == 1;
  if (op.engine != Engine::kConv || !one_window || op.column_stride != 1 || op.pad_left != 0) return 0;
  if (op.weight_zero != 0 || op.out.w == 1 || op.out.w > lowering.storage_of(op.inputs[0]).shape.w) return 0;
  const int groups = ceil_div(op.lanes, config.cp);
  return groups <= kMostGroups ? groups : 0;
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

// Of a class: how many words of two pixels meet, at most.
struct Wish {
  int words = 0;
  int pixel = 0;  // where they do not
};

// The least distance, of those that suit all readers, at which so many words of two pixels lie in different banks.
int apart(int pixel, int words) {
  const auto fits = [&](int p) { return p % 3 != 0 && p % kBanks >= words && p % kBanks <= kBanks - words; };
  while (!fits(pixel)) pixel++;
  return pixel;
}

// Whether the fields of the commands that read this map hold positions in it.
bool fits_fields(const Lowering& lowering, StorageId storage, int pixel) {
  return std::all_of(lowering.ops.begin(), lowering.ops.end(), [&](const LoweredOp& op) {
    if (op.engine != Engine::kConv || lowering.views[op.inputs[0]].storage != storage) return true;
    return std::max(op.column_stride, 2) * pixel <= kMaxStep && op.pad_left * pixel <= kMaxPosition;
  });
}

}  // namespace

void pair_pixels(Lowering& lowering, const Config& config) {
  const Classes classes(lowering);
  IndexedVector<StorageId, Wish> wishes;
  for (std::size_t i = 0; i < lowering.storages.size(); i++) wishes.push_back({});
  const auto wish_of = [&](ViewId view) -> Wish& { return wishes[classes.of(lowering.views[view].storage)]; };
  for (LoweredOp& op : lowering.ops) {
    op.pair_groups = groups_of_pixel(lowering, config, op);
    if (op.pair_groups == 0) continue;
    const int written = std::min(config.kp / config.cp, lowering.part_of(op.output).groups);
    wish_of(op.inputs[0]).words = std::max(wish_of(op.inputs[0]).words, op.pair_groups);
    wish_of(op.output).words = std::max(wish_of(op.output).words, written);
  }
  for (const StorageId s : lowering.storages.ids()) {
    Wish& wish = wishes[classes.of(s)];
    if (wish.words == 0) continue;
    const int pixel = apart(lowering.storages[s].rows().pixel, wish.words);
    const bool equal = wish.pixel == 0 || wish.pixel == pixel;
    wish.pixel = equal && fits_fields(lowering, s, pixel) ? pixel : -1;
  }
  for (const StorageId s : lowering.storages.ids()) {
    const Wish& wish = wishes[classes.of(s)];
    if (wish.pixel > 0) lowering.storages[s].pixel = wish.pixel;
  }
  for (LoweredOp& op : lowering.ops) {
    if (op.pair_groups > 0 && (wish_of(op.inputs[0]).pixel <= 0 || wish_of(op.output).pixel <= 0))
      op.pair_groups = 0;
  }
}

}  // namespace kaiten
