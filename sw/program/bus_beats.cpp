// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/bus_beats.h"

#include <algorithm>
#include <variant>

#include "base/arithmetic.h"
#include "program/memory_layout.h"

namespace kaiten {

namespace {

// Of `bytes` bytes from `address` on.
std::int64_t beats(std::int64_t address, std::int64_t bytes, int width) {
  return ceil_div(address % width + bytes, width);
}

// Bursts do not cross pages.
constexpr std::int64_t kPage = 4096;

std::int64_t bursts(std::int64_t address, std::int64_t bytes, int width) {
  std::int64_t all = 0;
  for (std::int64_t left = bytes; left > 0;) {
    const std::int64_t part = std::min(left, kPage - address % kPage);
    all += ceil_div(beats(address, part, width), kBurstBeats);
    address += part;
    left -= part;
  }
  return all;
}

using OfRequest = std::int64_t (*)(std::int64_t address, std::int64_t bytes, int width);

// A request for every segment of every row.
template <class Rows>
std::int64_t of_rows(OfRequest of, const Rows& c, std::int64_t bytes, std::int64_t last_bytes, int width) {
  std::int64_t all = 0;
  for (int row = 0; row < int(c.rows); row++) {
    for (int segment = 0; segment < int(c.segments); segment++) {
      const std::int64_t address =
          std::int64_t(c.offset) + row * std::int64_t(c.row_pitch) + segment * std::int64_t(c.segment_pitch);
      all += of(address, segment + 1 < int(c.segments) ? bytes : last_bytes, width);
    }
  }
  return all;
}

// Of a LOAD's requests, without compression.
std::int64_t of_load(OfRequest of, const CommandBody& body, int width) {
  if (const auto* l = std::get_if<LoadRowsCommand>(&body)) {
    // A row of an image that is presented as its windows is one request.
    const bool windows = l->step_bytes != 0;
    const std::int64_t last =
        windows ? std::int64_t(l->row_bytes) : std::int64_t(l->columns) * l->last_pixel_bytes;
    return of_rows(of, *l, std::int64_t(l->columns) * l->pixel_bytes, last, width);
  }
  if (const auto* l = std::get_if<LoadWeightsCommand>(&body))
    return of(l->offset, l->zvc_beats > 0 ? std::int64_t(l->zvc_beats) * width : std::int64_t(l->bytes),
              width);
  if (const auto* l = std::get_if<LoadParamsCommand>(&body))
    return of(l->offset, std::int64_t(l->count) * kRequantBytes, width);
  return 0;
}

}  // namespace

BusBeats bus_beats(const CommandBody& body, const Config& config) {
  const int width = config.axi_bytes;
  if (const auto* s = std::get_if<StoreCommand>(&body)) {
    return {0, of_rows(beats, *s, std::int64_t(s->columns) * s->pixel_bytes,
                       std::int64_t(s->columns) * s->last_pixel_bytes, width)};
  }
  return {of_load(beats, body, width), 0};
}

std::int64_t read_bursts(const CommandBody& body, const Config& config) {
  return of_load(bursts, body, config.axi_bytes);
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
