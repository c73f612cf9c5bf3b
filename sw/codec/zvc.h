// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Zero-value compression of one row segment (Rhu et al., "Compressing DMA Engine", section V): a mask says
/// which elements differ from the zero value, and those follow unchanged. docs/formats/zvc.md gives the format to the
/// byte. These functions are the format's definition: plain loops, one element at a time. zvc_simd.h has fast
/// ones that give the same bytes.
///
/// A segment is n elements of 8, 16 or 32 bits, little-endian. It is cut into groups; the last may be shorter.
/// The packed segment is the concatenation of its groups, without padding between them:
///   mask      ceil(m / 8) bytes for m elements; bit i (byte i / 8, bit i % 8) set: element i is not the zero
///   value;
///             bits at and above m are 0
///   elements  those whose bit is set, in order
/// In memory it is padded with the zero value to whole units; a segment that would not become fewer units,
/// or more than 255, stands there raw.
#ifndef KAITEN_CODEC_ZVC_H
#define KAITEN_CODEC_ZVC_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/error.h"

namespace kaiten::codec {

constexpr int kMaxZvcGroup = 4096;         ///< elements under one mask
constexpr std::size_t kMaxZvcUnits = 255;  ///< a byte of the size surface; 0 stands for raw

/// Of elements, masks and units; both sides must know it.
struct ZvcFormat {
  int element_bytes = 1;  ///< 1, 2 or 4
  int group = 64;         ///< elements under one mask, 1 to kMaxZvcGroup; in the accelerator a bus beat
  int unit_bytes = 64;    ///< what packed segments are padded to, a multiple of element_bytes; a bus beat
  /// The element left out, its lowest 8 * element_bytes bits: the tensor's zero point.
  std::uint32_t zero = 0;

  bool operator==(const ZvcFormat&) const = default;  ///< field by field
};

/// The accelerator's format: bytes, groups and units of one bus beat.
ZvcFormat accelerator_format(int bus_bytes, int zero_point);

/// Throws InputError naming the field that is out of its range.
void require_valid(const ZvcFormat& format);

// Below, `raw` is a whole number of elements and `format` is valid.

/// Bytes of the packed segment before padding to whole units.
std::size_t zvc_packed_bytes(const ZvcFormat& format, std::span<const std::uint8_t> raw);
/// The same at most, of any segment of so many bytes.
std::size_t zvc_max_packed_bytes(const ZvcFormat& format, std::size_t raw_bytes);

/// Writes the packed segment and returns its bytes. `packed` holds at least zvc_packed_bytes(format, raw).
std::size_t zvc_pack(const ZvcFormat& format, std::span<const std::uint8_t> raw,
                     std::span<std::uint8_t> packed);

/// The inverse: fills `raw` and returns the bytes of `packed` that were used. Throws CorruptStream where the
/// stream ends early, a mask has a bit beyond its group, or a coded element is the zero value.
std::size_t zvc_expand(const ZvcFormat& format, std::span<const std::uint8_t> packed,
                       std::span<std::uint8_t> raw);

/// What the accelerator's STORE leaves in memory: packed and padded, or raw. Returns the units, 0 for raw.
/// `memory` is at least as long as `raw`; bytes after the segment are not touched.
std::uint8_t zvc_store(const ZvcFormat& format, std::span<const std::uint8_t> raw,
                       std::span<std::uint8_t> memory);

/// What LOAD makes of it. Throws CorruptStream where the units do not fit a packed segment of raw.size()
/// bytes, the packed segment ends in another unit, or what fills the last unit is not the zero value.
void zvc_load(const ZvcFormat& format, std::span<const std::uint8_t> memory, std::uint8_t units,
              std::span<std::uint8_t> raw);

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_ZVC_H
