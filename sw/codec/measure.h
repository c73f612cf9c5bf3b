// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How small and how fast a codec makes a map.
#ifndef KAITEN_CODEC_MEASURE_H
#define KAITEN_CODEC_MEASURE_H

#include <functional>

#include "codec/copy.h"

namespace kaiten::codec {

/// Sizes and times of one map, or of several together. Times are processor time of the calling thread, in seconds.
struct Measurement {
  std::size_t raw_bytes = 0;     ///< of the map
  std::size_t packed_bytes = 0;  ///< of memcpy_compressed, the table of windows included
  double compress_seconds = 0;   ///< of the fastest memcpy_compressed there
  double expand_seconds = 0;     ///< and back
  double memcpy_seconds = 0;     ///< of the same bytes

  /// Raw over packed bytes; 1 for nothing.
  double ratio() const { return packed_bytes == 0 ? 1 : double(raw_bytes) / double(packed_bytes); }
  double compress_gbps() const { return rate(compress_seconds); }  ///< 1e9 raw bytes a second
  double expand_gbps() const { return rate(expand_seconds); }      ///< 1e9 raw bytes a second
  double memcpy_gbps() const { return rate(memcpy_seconds); }      ///< 1e9 raw bytes a second
  /// Adds sizes and times: of several maps.
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
