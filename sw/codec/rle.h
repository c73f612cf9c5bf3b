// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Run-length encoding, the simplest of the cDMA paper's three (section V-A): runs of the zero value are
// counted, runs of other elements are copied. A run starts with one byte: bit 7 set for a run of zero values,
// the lowest 7 bits its length less 1; a run of others is followed by its elements.
#ifndef KAITEN_CODEC_RLE_H
#define KAITEN_CODEC_RLE_H

#include "codec/codec.h"

namespace kaiten::codec {

constexpr std::size_t kMaxRleRun = 128;

// `raw` is a whole number of elements, of which at most every second one begins a run of others.
std::size_t rle_max_packed_bytes(const Elements& elements, std::size_t raw_bytes);
std::size_t rle_pack(const Elements& elements, std::span<const std::uint8_t> raw,
                     std::span<std::uint8_t> packed);
// Throws CorruptStream where runs do not fill `raw` exactly with exactly these bytes, a copied element is the
// zero value, or a run follows one of its kind that was not full.
void rle_expand(const Elements& elements, std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw);

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_RLE_H
