// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// zvc_simd.h in builds without Highway.
#include "codec/zvc_simd.h"

namespace kaiten::codec {

std::size_t zvc_pack_fast(const ZvcFormat& format, std::span<const std::uint8_t> raw,
                          std::span<std::uint8_t> packed) {
  return zvc_pack(format, raw, packed);
}

std::size_t zvc_expand_fast(const ZvcFormat& format, std::span<const std::uint8_t> packed,
                            std::span<std::uint8_t> raw) {
  return zvc_expand(format, packed, raw);
}

const char* zvc_target() { return "scalar"; }

bool zvc_choose_target(int i) { return i <= 0; }

}  // namespace kaiten::codec
