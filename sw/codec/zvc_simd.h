// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The fast form of zvc.h: the same bytes and the same refusals, whole groups at a time in vectors (Google
// Highway chooses the widest the processor has when the program runs). Formats whose groups are not whole
// blocks of 16 bytes and 8 elements, and builds without Highway, take the loops of zvc.cpp.
#ifndef KAITEN_CODEC_ZVC_SIMD_H
#define KAITEN_CODEC_ZVC_SIMD_H

#include "codec/zvc.h"

namespace kaiten::codec {

// Bytes after the packed segment that zvc_pack_fast may overwrite.
constexpr std::size_t kZvcSlack = 64;

// As zvc_pack; `packed` holds zvc_max_packed_bytes + kZvcSlack.
std::size_t zvc_pack_fast(const ZvcFormat& format, std::span<const std::uint8_t> raw,
                          std::span<std::uint8_t> packed);

// As zvc_expand.
std::size_t zvc_expand_fast(const ZvcFormat& format, std::span<const std::uint8_t> packed,
                            std::span<std::uint8_t> raw);

// The vectors in use: Highway's name of the target ("AVX3_DL", "AVX2", "NEON", ...), or "scalar".
const char* zvc_target();

// Tests: the i-th of the targets that this processor has, the best first; false when there are no more. -1:
// back to the processor's own.
bool zvc_choose_target(int i);

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_ZVC_SIMD_H
