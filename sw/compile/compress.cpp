#include "compile/compress.h"

#include <algorithm>
#include <cmath>

#include "codec/zvc_simd.h"

namespace kaiten {

Compression compression_of(const Graph& graph, Compress mode, const std::vector<double>& densities) {
  Compression c;
  c.mode = mode;
  for (std::size_t t = 0; t < graph.tensors.size(); t++) {
    c.tensors.push_back({graph.tensors[t].zero_point(), t < densities.size() ? densities[t] : -1});
  }
  return c;
}

bool can_compress(const Config& config, const MemoryLayout& map, int rows) {
  const int bytes = map.width * std::max(map.pixel_bytes, map.last_pixel_bytes);
  const int beats = ceil_div(bytes, config.axi_bytes);
  const auto aligned = [&](std::int64_t n) { return n % config.axi_bytes == 0; };
  return beats >= 2 && beats <= config.zvc_beats && rows * map.segments <= kMaxSurfaceBytes &&
         aligned(map.offset) && aligned(map.row_pitch) && aligned(map.segment_pitch);
}

double expected_share(const Config& config, const MemoryLayout& map, double density) {
  // A packed segment ends anywhere in its last unit: half a unit more on average.
  const auto moved = [&](int pixel_bytes) {
    const double raw = double(map.width) * pixel_bytes;
    const double packed = raw / 8 + raw * density;
    const double units =
        density == 0 ? std::ceil(packed / config.axi_bytes) : packed / config.axi_bytes + 0.5;
    return std::min(raw, units * config.axi_bytes) + 1;
  };
  const double raw = double(map.width) * ((map.segments - 1) * map.pixel_bytes + map.last_pixel_bytes);
  return ((map.segments - 1) * moved(map.pixel_bytes) + moved(map.last_pixel_bytes)) / raw;
}

std::vector<std::uint8_t> packed_weights(const Config& config, Compress mode, int zero,
                                         std::span<const std::uint8_t> raw) {
  const codec::ZvcFormat format = codec::machine_format(config.axi_bytes, zero);
  const std::size_t width = std::size_t(config.axi_bytes);
  std::vector<std::uint8_t> packed(codec::zvc_max_packed_bytes(format, raw.size()) + codec::kZvcSlack);
  const std::size_t bytes = codec::zvc_pack_fast(format, raw, packed);
  const std::size_t beats = (bytes + width - 1) / width;
  const std::size_t raw_beats = (raw.size() + width - 1) / width;
  if (beats >= raw_beats || (mode == Compress::kAuto && double(beats) > kWorthwhile * double(raw_beats)))
    return {};
  packed.resize(beats * width);
  std::fill(packed.begin() + std::ptrdiff_t(bytes), packed.end(), std::uint8_t(zero));
  return packed;
}

}  // namespace kaiten
