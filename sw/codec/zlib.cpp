// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <zlib.h>

#include "codec/libraries.h"

namespace kaiten::codec {

namespace {

constexpr int kLevel = 6;

class Zlib : public Codec {
 public:
  std::string_view name() const override { return "zlib"; }
  std::size_t max_packed_bytes(std::size_t raw_bytes) const override { return compressBound(raw_bytes); }
  std::size_t pack(std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) const override {
    uLongf bytes = packed.size();
    if (compress2(packed.data(), &bytes, raw.data(), raw.size(), kLevel) != Z_OK)
      throw DeviceError("zlib cannot pack a block of " + std::to_string(raw.size()) + " bytes");
    return bytes;
  }
  void expand(std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw) const override {
    uLongf bytes = raw.size();
    uLong used = packed.size();
    std::uint8_t none = 0;  // zlib takes no null pointer, also not for nothing
    const int status = uncompress2(raw.empty() ? &none : raw.data(), &bytes, packed.data(), &used);
    if (status != Z_OK || bytes != raw.size() || used != packed.size())
      throw CorruptStream("zlib: the block is not one of " + std::to_string(raw.size()) + " bytes");
  }
};

}  // namespace

std::unique_ptr<Codec> make_zlib() { return std::make_unique<Zlib>(); }

}  // namespace kaiten::codec
