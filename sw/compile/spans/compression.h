// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which maps and weights cross the memory bus compressed (docs/formats/zvc.md), and how many bytes that moves: of
// weights exactly, of maps exactly for the values they are known to have.
#ifndef KAITEN_COMPILE_SPANS_COMPRESSION_H
#define KAITEN_COMPILE_SPANS_COMPRESSION_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compile/lower/lowered.h"
#include "graph/graph.h"
#include "program/compress_mode.h"
#include "program/config.h"
#include "program/program.h"

namespace kaiten {

struct Compression {
  Compress mode = Compress::kOff;
  std::vector<int> zero_points;  // of every tensor of the graph
  KnownValues values;
};

Compression compression_of(const Graph& graph, Compress mode, KnownValues values);

// auto takes what moves at most this share of the bytes.
constexpr double kWorthwhile = 0.97;
// Bytes of a size surface that one command writes or reads.
constexpr int kMaxSurfaceBytes = 1024;
// Segments of a row that a LOAD can have; maps of more are loaded by several, and not compressed.
constexpr int kMaxLoadSegments = 255;

// Whether LOAD and STORE can move the map compressed, `rows` rows a STORE.
bool can_compress(const Config& config, const MemoryLayout& map, int rows);
// A map in memory as an operator makes it.
struct StoredMap {
  const MemoryLayout& memory;
  int rows = 1;    // of a STORE
  int images = 1;  // of the batch
};
// How the map that an operator makes is packed; nothing where it stays raw. Its surface has no place yet.
std::optional<Packing> packing_of(const Config& config, const Compression& compression,
                                  const Lowering& lowering, const LoweredOp& op, const StoredMap& stored);

// Segments [segment_begin, segment_end) of rows [row_begin, row_end) of a map.
struct SegmentRange {
  int row_begin = 0;
  int row_end = 0;
  int segment_begin = 0;
  int segment_end = 0;
};
// What crosses the bus for them, of a packed map.
Moved moved(const Config& config, const MemoryLayout& map, const SegmentRange& range);

// The weights of a LOAD, packed and padded to whole beats; empty where that is not worthwhile: on, where
// it takes no fewer beats than raw.
std::vector<std::uint8_t> packed_weights(const Config& config, Compress mode, int zero,
                                         std::span<const std::uint8_t> raw);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_COMPRESSION_H
