// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/span_kinds.h"

namespace kaiten {

namespace {

class Kinds {
 public:
  Kinds(const Lowering& lowering, const UsesOfStorages& uses, KindNumbers& known)
      : lowering_(lowering), uses_(uses), last_(lowering.storages.size()), known_(known) {}

  int of(const LoweredOp& op) {
    key_ = {int(buffer_of(op.engine)), op.out.h, op.stride, op.pad_top, op.kernel_rows, int(op.broadcast),
            int(op.inputs.size())};
    int operand = 0;
    for (const ViewId v : op.inputs) add(v, operand++);
    add(op.output, operand);
    at_++;
    return known_.try_emplace(key_, int(known_.size())).first->second;
  }

 private:
  struct Met {
    int at = -1;
    int operand = 0;
  };

  void add(ViewId view, int operand) {
    const StorageId s = lowering_.views[view].storage;
    Met& met = last_[s];
    const std::vector<int>& parts = lowering_.parts_of(view);
    key_.insert(key_.end(), {lowering_.storages[s].shape.h, uses_[s].slot_size, int(uses_[s].parts.size()),
                             met.at < 0 ? -1 : at_ - met.at, met.operand, int(parts.size())});
    key_.insert(key_.end(), parts.begin(), parts.end());
    met = {at_, operand};
  }

  const Lowering& lowering_;
  const UsesOfStorages& uses_;
  IndexedVector<StorageId, Met> last_;  // where each was met last
  int at_ = 0;                          // operators on the device so far
  std::vector<int> key_;
  KindNumbers& known_;
};

}  // namespace

std::vector<int> find_kinds(const Lowering& lowering, const UsesOfStorages& uses, KindNumbers& known) {
  Kinds kinds(lowering, uses, known);
  std::vector<int> all(lowering.ops.size(), -1);
  for (std::size_t at = 0; at < all.size(); at++) {
    if (on_device(lowering.ops[at].engine)) all[at] = kinds.of(lowering.ops[at]);
  }
  return all;
}

void StoragesOfSpan::meet(ViewId view) {
  const StorageId s = lowering_.views[view].storage;
  if (place_[s] >= 0) return;
  place_[s] = int(all_.size());
  all_.push_back(s);
}

void StoragesOfSpan::of(const std::vector<Task>& tasks) {
  for (const StorageId s : all_) place_[s] = -1;
  all_.clear();
  for (const Task& t : tasks) {
    const LoweredOp& op = lowering_.ops[t.position];
    for (const ViewId v : op.inputs) meet(v);
    meet(op.output);
  }
}

}  // namespace kaiten
