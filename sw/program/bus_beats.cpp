// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/bus_beats.h"

#include <variant>

#include "base/arithmetic.h"
#include "program/memory_layout.h"

namespace kaiten {

namespace {

// Of `bytes` bytes from `address` on.
std::int64_t beats(std::int64_t address, std::int64_t bytes, int width) {
  return ceil_div(address % width + bytes, width);
}

// A request for every segment of every row.
template <class Rows>
std::int64_t beats_of_rows(const Rows& c, std::int64_t bytes, std::int64_t last_bytes, int width) {
  std::int64_t all = 0;
  for (int row = 0; row < int(c.rows); row++) {
    for (int segment = 0; segment < int(c.segments); segment++) {
      const std::int64_t address =
          std::int64_t(c.offset) + row * std::int64_t(c.row_pitch) + segment * std::int64_t(c.segment_pitch);
      all += beats(address, segment + 1 < int(c.segments) ? bytes : last_bytes, width);
    }
  }
  return all;
}

}  // namespace

BusBeats bus_beats(const CommandBody& body, const Config& config) {
  const int width = config.axi_bytes;
  if (const auto* l = std::get_if<LoadRowsCommand>(&body)) {
    // A row of an image that is presented as its windows is one request.
    const bool windows = l->step_bytes != 0;
    const std::int64_t last =
        windows ? std::int64_t(l->row_bytes) : std::int64_t(l->columns) * l->last_pixel_bytes;
    return {beats_of_rows(*l, std::int64_t(l->columns) * l->pixel_bytes, last, width), 0};
  }
  if (const auto* l = std::get_if<LoadWeightsCommand>(&body)) {
    return {l->zvc_beats > 0 ? std::int64_t(l->zvc_beats) : beats(l->offset, l->bytes, width), 0};
  }
  if (const auto* l = std::get_if<LoadParamsCommand>(&body)) {
    return {beats(l->offset, std::int64_t(l->count) * kRequantBytes, width), 0};
  }
  if (const auto* s = std::get_if<StoreCommand>(&body)) {
    return {0, beats_of_rows(*s, std::int64_t(s->columns) * s->pixel_bytes,
                             std::int64_t(s->columns) * s->last_pixel_bytes, width)};
  }
  return {};
}

BusBeats bus_beats(const CommandBody& body, const CommandMeta& meta, const Config& config) {
  const int width = config.axi_bytes;
  if (const auto* l = std::get_if<LoadRowsCommand>(&body); l != nullptr && l->zvc != 0)
    return {meta.packed->beats + beats(l->surface, std::int64_t(l->rows) * l->segments, width), 0};
  if (const auto* s = std::get_if<StoreCommand>(&body); s != nullptr && s->zvc != 0) {
    // The surfaces of rows that follow each other are one request.
    std::int64_t all = meta.packed->beats;
    const bool whole = s->surface_pitch == s->segments;
    for (int row = 0; row < (whole ? 1 : int(s->rows)); row++) {
      all += beats(s->surface + row * s->surface_pitch,
                   std::int64_t(s->segments) * (whole ? std::int64_t(s->rows) : 1), width);
    }
    return {0, all};
  }
  return bus_beats(body, config);
}

BusBeats bus_beats(const Program& program) {
  BusBeats all;
  all.read = beats(0, std::int64_t(program.command_blocks() * kCommandBytes), program.config.axi_bytes);
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const BusBeats b = bus_beats(program.commands[i].body, program.meta[i], program.config);
    all.read += b.read;
    all.written += b.written;
  }
  return all;
}

}  // namespace kaiten
