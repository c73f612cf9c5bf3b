// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/compression.h"

#include <algorithm>
#include <cmath>

#include "base/arithmetic.h"
#include "codec/zvc_simd.h"

namespace kaiten {

namespace {

// Of unknown values: half of them are the zero point.
constexpr double kUnknownDensity = 0.5;

// The channels of a pixel's lanes, -1 where a lane has none.
std::vector<int> channels_of_lanes(const Lowering& lowering, const LoweredOp& op, int lanes) {
  const ChannelMap& map = lowering.views[op.output].channels;
  std::vector<int> channels(std::size_t(lanes), -1);
  for (const ChannelSpan& s : map.spans(lowering.cp, op.first_channel)) {
    for (int i = 0; i < s.channels; i++) channels[std::size_t(s.lane + i)] = s.channel + i;
  }
  return channels;
}

// Packed bytes of `raw` ones, so many of which differ from the zero value.
std::int64_t packed_bytes(const Config& config, std::int64_t raw, std::int64_t nonzeros) {
  const codec::ZvcFormat format = codec::accelerator_format(config.axi_bytes, 0);
  return std::int64_t(codec::zvc_max_packed_bytes(format, std::size_t(raw))) - raw + nonzeros;
}

// Units of a segment, 0: raw.
std::uint8_t units_of(const Config& config, std::int64_t raw, std::int64_t nonzeros) {
  const auto units = [&](std::int64_t bytes) { return ceil_div(bytes, config.axi_bytes); };
  const std::int64_t packed = units(packed_bytes(config, raw, nonzeros));
  return packed < units(raw) && packed <= std::int64_t(codec::kMaxZvcUnits) ? std::uint8_t(packed) : 0;
}

std::shared_ptr<const SegmentSizes> known_sizes(const Config& config, const Compression& compression,
                                                const Lowering& lowering, const LoweredOp& op,
                                                const MemoryLayout& map, int images) {
  const std::size_t tensors = compression.zero_points.size();
  const std::size_t pixels = std::size_t(map.height) * std::size_t(map.width);
  if (compression.values.size() != tensors * std::size_t(images)) return {};
  const auto zero = std::int8_t(compression.zero_points[std::size_t(op.tensor)]);
  const int lanes = (map.segments - 1) * map.pixel_bytes + map.last_pixel_bytes;
  const std::vector<int> channels = channels_of_lanes(lowering, op, lanes);
  SegmentSizes sizes;
  // Where there are no weights, gaps have what the input's gaps make of them.
  const bool gaps = std::count(channels.begin(), channels.end(), -1) > 0;
  sizes.exact = !gaps || op.engine == Engine::kConv || op.depthwise.data != nullptr;
  for (int image = 0; image < images; image++) {
    const std::vector<std::int8_t>& values =
        compression.values[std::size_t(image) * tensors + std::size_t(op.tensor)];
    const std::size_t depth = values.size() / pixels;
    if (values.empty() || depth * pixels != values.size()) return {};
    std::vector<int> nonzeros(std::size_t(map.segments));
    for (std::size_t pixel = 0; pixel < pixels; pixel++) {
      const std::int8_t* at = &values[pixel * depth];
      for (int lane = 0; lane < lanes; lane++) {
        const int channel = channels[std::size_t(lane)];
        if (channel >= 0) nonzeros[std::size_t(lane / map.pixel_bytes)] += at[channel] != zero;
      }
      if ((pixel + 1) % std::size_t(map.width) != 0) continue;
      for (int s = 0; s < map.segments; s++)
        sizes.units.push_back(units_of(config, map.segment_bytes(s), nonzeros[std::size_t(s)]));
      std::fill(nonzeros.begin(), nonzeros.end(), 0);
    }
  }
  return std::make_shared<const SegmentSizes>(std::move(sizes));
}

}  // namespace

Compression compression_of(const Graph& graph, Compress mode, KnownValues values) {
  Compression c{mode, {}, values};
  for (const Tensor& t : graph.tensors) c.zero_points.push_back(t.zero_point());
  return c;
}

bool can_compress(const Config& config, const MemoryLayout& map, int rows) {
  const int bytes = map.width * std::max(map.pixel_bytes, map.last_pixel_bytes);
  const int beats = ceil_div(bytes, config.axi_bytes);
  const auto aligned = [&](std::int64_t n) { return n % config.axi_bytes == 0; };
  return beats >= 2 && beats <= config.zvc_beats && rows * map.segments <= kMaxSurfaceBytes &&
         map.segments <= kMaxLoadSegments && aligned(map.offset) && aligned(map.row_pitch) &&
         aligned(map.segment_pitch);
}

std::optional<Packing> packing_of(const Config& config, const Compression& compression,
                                  const Lowering& lowering, const LoweredOp& op, const StoredMap& stored) {
  const MemoryLayout& map = stored.memory;
  const int images = stored.images;
  if (compression.mode == Compress::kOff || op.tensor == kNoTensor || !can_compress(config, map, stored.rows))
    return {};
  Packing packing;
  packing.zero = compression.zero_points[std::size_t(op.tensor)];
  packing.sizes = known_sizes(config, compression, lowering, op, map, images);
  if (compression.mode == Compress::kOn) return packing;
  if (!packing.sizes) return {};
  MemoryLayout packed = map;
  packed.packing = packing;
  std::int64_t bytes = 0, raw = 0;
  for (int image = 0; image < images; image++) {
    bytes += moved(config, packed.of_image(image), {0, map.height, 0, map.segments}).bytes;
    for (int s = 0; s < map.segments; s++) raw += map.height * map.segment_bytes(s);
  }
  if (double(bytes) > kWorthwhile * double(raw)) return {};
  return packing;
}

Moved moved(const Config& config, const MemoryLayout& map, const SegmentRange& range) {
  Moved all;
  const SegmentSizes* sizes = map.packing->sizes.get();
  for (int row = range.row_begin; row < range.row_end; row++) {
    for (int s = range.segment_begin; s < range.segment_end; s++) {
      const std::int64_t raw = map.segment_bytes(s);
      const int at = (map.packing->image * map.height + row) * map.segments + s;
      const std::int64_t units = sizes != nullptr
                                     ? sizes->units[std::size_t(at)]
                                     : units_of(config, raw, std::llround(double(raw) * kUnknownDensity));
      all.bytes += 1 + (units > 0 ? units * config.axi_bytes : raw);
      all.beats += units > 0 ? units : ceil_div(raw, config.axi_bytes);
    }
  }
  return all;
}

std::vector<std::uint8_t> packed_weights(const Config& config, Compress mode, int zero,
                                         std::span<const std::uint8_t> raw) {
  const codec::ZvcFormat format = codec::accelerator_format(config.axi_bytes, zero);
  const std::size_t width = std::size_t(config.axi_bytes);
  std::vector<std::uint8_t> packed(codec::zvc_max_packed_bytes(format, raw.size()) + codec::kZvcSlack);
  const std::size_t bytes = codec::zvc_pack_fast(format, raw, packed);
  const std::size_t beats = ceil_div(bytes, width);
  const std::size_t raw_beats = ceil_div(raw.size(), width);
  if (beats >= raw_beats || (mode == Compress::kAuto && double(beats) > kWorthwhile * double(raw_beats)))
    return {};
  packed.resize(beats * width);
  std::fill(packed.begin() + std::ptrdiff_t(bytes), packed.end(), std::uint8_t(zero));
  return packed;
}

}  // namespace kaiten
