// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The storages and views of a lowering while it is made: every tensor begins with a map of its own;
// concatenation joins maps, slices and reshapes see them differently.
#ifndef KAITEN_COMPILE_LOWER_MAPS_H
#define KAITEN_COMPILE_LOWER_MAPS_H

#include <set>

#include "compile/lower/lowered.h"
#include "program/config.h"

namespace kaiten {

class Maps {
 public:
  Maps(const Config& config, Lowering& lowering) : config_(config), lowering_(lowering) {}

  const View& view(ViewId v) const { return lowering_.views[v]; }
  Storage& storage(ViewId v) { return lowering_.storages[view(v).storage]; }
  // Rows and columns of the map, and the channels of the view.
  Nhwc shape(ViewId v) const;

  // A map of its own, of one part.
  ViewId add(int tensor, const Nhwc& shape, const ChannelMap& channels);
  // Known before the run, made after it, not made at all.
  ViewId add_input(int tensor, const Nhwc& shape, int origin);
  ViewId add_host(int tensor, const Nhwc& shape);
  ViewId add_refused(int tensor, const Nhwc& shape);

  // Channels [begin, end) of a view, none where they do not begin with a word.
  ViewId slice(ViewId v, int begin, int end);
  // The bytes of a view as another shape. Throws Unsupported where they do not lie in memory in that order;
  // `tile_channels`: of the operator that makes them.
  ViewId reshaped(ViewId v, const Nhwc& to, int tile_channels);

  // Whether operators of the device write the view's map and nothing keeps it as it is.
  bool may_grow(ViewId v);
  // The same, of a view that is a whole map.
  bool may_join(ViewId v);
  // Operands of one command read the same words of equal pixels: such maps stay on their own.
  void pin(ViewId v);
  // The map of `v` becomes the end of the map of `into`; all views follow.
  void join(ViewId into, ViewId v);
  ViewId add_view(View view);

 private:
  const Config& config_;
  Lowering& lowering_;
  std::set<StorageId> pinned_;
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_MAPS_H
