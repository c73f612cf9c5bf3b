// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How small and how fast a codec makes a map.
#ifndef KAITEN_CODEC_MEASURE_H
#define KAITEN_CODEC_MEASURE_H

#include <functional>

#include "codec/copy.h"

namespace kaiten::codec {

struct Measurement {
  std::size_t raw_bytes = 0;
  std::size_t packed_bytes = 0;  ///< of memcpy_compressed, the table of windows included
  double compress_seconds = 0;
  double expand_seconds = 0;
  double memcpy_seconds = 0;  ///< of the same bytes

  double ratio() const { return packed_bytes == 0 ? 1 : double(raw_bytes) / double(packed_bytes); }
  double compress_gbps() const { return rate(compress_seconds); }  ///< 1e9 raw bytes a second
  double expand_gbps() const { return rate(expand_seconds); }
  double memcpy_gbps() const { return rate(memcpy_seconds); }
  Measurement& operator+=(const Measurement& other);

 private:
  double rate(double seconds) const { return seconds > 0 ? double(raw_bytes) / seconds / 1e9 : 0; }
};

/// Packs and expands the map, once and as often as `seconds` allow, and takes the fastest times. Throws
/// DeviceError if what comes out is not the map.
Measurement measure(const Codec& codec, std::span<const std::uint8_t> map,
                    std::size_t window = kDefaultWindow, double seconds = 0);

/// Processor time of the fastest call, in seconds, out of at least `seconds` of them.
double fastest(const std::function<void()>& call, double seconds);

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_MEASURE_H
