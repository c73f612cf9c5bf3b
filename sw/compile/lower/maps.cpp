// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/maps.h"

#include "compile/lower/limits.h"

namespace kaiten {

namespace {

// Of a map that is dense in memory; pixels may be longer than the fields of tiles and groups can tell.
std::string map_text(const Nhwc& s) { return size_text(s.h, s.w) + "x" + std::to_string(s.c); }

}  // namespace

Nhwc Maps::shape(ViewId v) const {
  const Nhwc& s = lowering_.storage_of(v).shape;
  return {s.n, s.h, s.w, view(v).channels.channels()};
}

ViewId Maps::add_view(View view) { return lowering_.views.push_back(std::move(view)); }

ViewId Maps::add(int tensor, const Nhwc& shape, const ChannelMap& channels) {
  Storage s;
  s.groups = channels.end(config_.cp);
  s.shape = {shape.n, shape.h, shape.w, channels.lanes(config_.cp)};
  s.parts = {{tensor, 0, s.groups}};
  return add_view({lowering_.storages.push_back(std::move(s)), channels});
}

ViewId Maps::add_input(int tensor, const Nhwc& shape, int origin) {
  const ViewId v = add(tensor, shape, ChannelMap(shape.c));
  storage(v).is_input = true;
  storage(v).origin = origin;
  return v;
}

ViewId Maps::add_host(int tensor, const Nhwc& shape) {
  const ViewId v = add(tensor, shape, ChannelMap(shape.c));
  storage(v).on_host = true;
  return v;
}

ViewId Maps::add_refused(int tensor, const Nhwc& shape) {
  const ViewId v = add(tensor, shape, ChannelMap(shape.c));
  storage(v).refused = true;
  return v;
}

ViewId Maps::slice(ViewId v, int begin, int end) {
  const auto channels = view(v).channels.slice(begin, end, config_.cp);
  return channels ? add_view({view(v).storage, *channels}) : ViewId();
}

ViewId Maps::reshaped(ViewId v, const Nhwc& to, int tile_channels) {
  const Nhwc from = shape(v);
  const Storage& s = storage(v);
  if (s.is_input && s.shape == from) {
    const int origin = s.origin;
    return add_input(s.parts[0].tensor, to, origin);
  }
  if (!s.refused) {
    const bool pixel = from.h == 1 && from.w == 1;
    const bool words = from.c % config_.cp == 0 && (from.c <= tile_channels || from.w == 1);
    require(view(v).channels.dense() && int(lowering_.find_parts(v).size()) == 1 &&
                view(v).channels.end(config_.cp) - view(v).channels.begin() == s.parts[0].groups &&
                (pixel || words),
            "reshapes of maps of one part, of a multiple of " + std::to_string(config_.cp) +
                " channels up to " + std::to_string(tile_channels) + ", or one pixel or column",
            "a map of " + map_text(from) + " read as " + map_text(to));
  }
  const int tensor = s.parts[0].tensor;
  if (s.bytes_of.exists()) v = s.bytes_of;
  const ViewId alias = add(tensor, to, ChannelMap(to.c));
  storage(alias).bytes_of = v;
  storage(alias).refused = storage(v).refused;
  pin(v);
  return alias;
}

bool Maps::may_grow(ViewId v) {
  const Storage& s = storage(v);
  return !s.loaded() && !s.on_host && !pinned_.contains(view(v).storage);
}

bool Maps::may_join(ViewId v) {
  return may_grow(v) && view(v).channels.begin() == 0 &&
         view(v).channels.end(config_.cp) == storage(v).groups;
}

void Maps::pin(ViewId v) { pinned_.insert(view(v).storage); }

void Maps::join(ViewId into, ViewId v) {
  const StorageId to = view(into).storage;
  const StorageId from = view(v).storage;
  Storage& target = lowering_.storages[to];
  Storage& source = lowering_.storages[from];
  for (Part p : source.parts) {
    p.group += target.groups;
    target.parts.push_back(p);
  }
  for (View& w : lowering_.views) {
    if (w.storage != from) continue;
    w.storage = to;
    w.channels.move(target.groups);
  }
  target.groups += source.groups;
  target.shape.c = target.groups * config_.cp;
  target.refused = target.refused || source.refused;
  source.parts.clear();
}

}  // namespace kaiten
