// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One interface for all lossless codecs of blocks of bytes: ZVC, RLE as in the cDMA paper, zlib, lz4, zstd. A
/// codec packs one block on its own; the length of the block is known to both sides. Codecs are immutable: one
/// may be used by any number of threads.
#ifndef KAITEN_CODEC_CODEC_H
#define KAITEN_CODEC_CODEC_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/error.h"

namespace kaiten::codec {

/// What a block holds; zlib, lz4 and zstd do not care.
struct Elements {
  int bytes = 1;           ///< 1, 2 or 4, little-endian
  std::uint32_t zero = 0;  ///< the element that ZVC and RLE leave out: its lowest 8 * bytes bits

  bool operator==(const Elements&) const = default;  ///< field by field
};

/// Packs and expands single blocks. Immutable: any number of threads may use one.
class Codec {
 public:
  virtual ~Codec() = default;

  virtual std::string_view name() const = 0;  ///< as make_codec() takes it
  /// What `packed` must hold to pack so many bytes: never less than the bytes that pack() returns.
  virtual std::size_t max_packed_bytes(std::size_t raw_bytes) const = 0;
  /// Packs a block and returns its packed bytes. packed.size() >= max_packed_bytes(raw.size()).
  virtual std::size_t pack(std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) const = 0;
  /// Fills `raw` from exactly the bytes that pack() made. Throws CorruptStream where they are not such.
  virtual void expand(std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw) const = 0;
};

/// "zvc", "rle", "zlib", "lz4", "zstd", in this order.
std::span<const std::string_view> codec_names();
/// Empty when this build has the codec, else what to install.
std::string codec_missing(std::string_view name);
/// Also "zvc_scalar", ZVC one element at a time. Throws InputError for other names, codecs that this build
/// lacks, and elements that are none.
std::unique_ptr<Codec> make_codec(std::string_view name, const Elements& elements);
/// ZVC with groups of `group` elements instead of 32 words or 64 shorter elements; `fast` false: one element at a
/// time. Throws InputError for groups and elements that are none.
std::unique_ptr<Codec> make_zvc(const Elements& elements, int group, bool fast = true);

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_CODEC_H
