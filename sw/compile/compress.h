// Which maps and weights cross the memory bus compressed (docs/zvc.md), and how many bytes that moves: of
// maps expected, of weights exactly.
#ifndef KAITEN_COMPILE_COMPRESS_H
#define KAITEN_COMPILE_COMPRESS_H

#include <cstdint>
#include <span>
#include <vector>

#include "compile/config.h"
#include "compile/layout.h"
#include "graph/graph.h"

namespace kaiten {

// kOn: every map that can be, and weights that become smaller; kAuto: what is worthwhile, of maps by
// expectation.
enum class Compress : std::uint8_t { kOff, kOn, kAuto };

// What is known of a tensor of the graph.
struct ZeroStatistics {
  int zero_point = 0;
  double density = -1;  // share of its values that differ from the zero point; below 0: unknown
};

struct Compression {
  Compress mode = Compress::kOff;
  std::vector<ZeroStatistics> tensors;
};

// `densities` of all tensors of the graph, or none.
Compression compression_of(const Graph& graph, Compress mode, const std::vector<double>& densities);

// auto takes what moves at most this share of the bytes.
constexpr double kWorthwhile = 0.97;
// Bytes of a size surface that one command writes or reads.
constexpr int kMaxSurfaceBytes = 1024;

// Whether LOAD and STORE can move the map compressed, `rows` rows a STORE.
bool can_compress(const Config& config, const MemoryLayout& map, int rows);
// Bytes on the bus for one of the map, its size surface included.
double expected_share(const Config& config, const MemoryLayout& map, double density);

// The weights of a LOAD, packed and filled up to whole beats; empty where that is not worthwhile: on, where
// it takes no fewer beats than raw.
std::vector<std::uint8_t> packed_weights(const Config& config, Compress mode, int zero,
                                         std::span<const std::uint8_t> raw);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_COMPRESS_H
