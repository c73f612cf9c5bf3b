// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <zstd.h>

#include "codec/libraries.h"

namespace kaiten::codec {

namespace {

constexpr int kLevel = 3;

// Contexts are costly to make for a block of a few KiB: each thread keeps one.
struct Contexts {
  ZSTD_CCtx* pack = ZSTD_createCCtx();
  ZSTD_DCtx* expand = ZSTD_createDCtx();
  Contexts() = default;
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;
  ~Contexts() {
    ZSTD_freeCCtx(pack);
    ZSTD_freeDCtx(expand);
  }
};

Contexts& contexts() {
  thread_local Contexts mine;
  return mine;
}

class Zstd : public Codec {
 public:
  std::string_view name() const override { return "zstd"; }
  std::size_t max_packed_bytes(std::size_t raw_bytes) const override { return ZSTD_compressBound(raw_bytes); }
  std::size_t pack(std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) const override {
    const std::size_t bytes =
        ZSTD_compressCCtx(contexts().pack, packed.data(), packed.size(), raw.data(), raw.size(), kLevel);
    if (ZSTD_isError(bytes)) throw DeviceError(std::string("zstd: ") + ZSTD_getErrorName(bytes));
    return bytes;
  }
  void expand(std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw) const override {
    const std::size_t bytes =
        ZSTD_decompressDCtx(contexts().expand, raw.data(), raw.size(), packed.data(), packed.size());
    if (ZSTD_isError(bytes) || bytes != raw.size())
      throw CorruptStream("zstd: the block is not one of " + std::to_string(raw.size()) + " bytes");
  }
};

}  // namespace

std::unique_ptr<Codec> make_zstd() { return std::make_unique<Zstd>(); }

}  // namespace kaiten::codec
