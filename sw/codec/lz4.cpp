// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <lz4.h>

#include <algorithm>

#include "codec/libraries.h"

namespace kaiten::codec {

namespace {

class Lz4 : public Codec {
 public:
  std::string_view name() const override { return "lz4"; }
  std::size_t max_packed_bytes(std::size_t raw_bytes) const override {
    if (raw_bytes > LZ4_MAX_INPUT_SIZE)
      throw InputError("lz4: a block has at most " + std::to_string(LZ4_MAX_INPUT_SIZE) + " bytes, found " +
                       std::to_string(raw_bytes));
    return std::size_t(LZ4_compressBound(int(raw_bytes)));
  }
  std::size_t pack(std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) const override {
    const int bytes = LZ4_compress_default(reinterpret_cast<const char*>(raw.data()),
                                           reinterpret_cast<char*>(packed.data()), int(raw.size()),
                                           int(std::min(packed.size(), max_packed_bytes(raw.size()))));
    if (bytes <= 0) throw DeviceError("lz4 cannot pack a block of " + std::to_string(raw.size()) + " bytes");
    return std::size_t(bytes);
  }
  void expand(std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw) const override {
    char none = 0;
    char* to = raw.empty() ? &none : reinterpret_cast<char*>(raw.data());
    if (packed.size() > LZ4_MAX_INPUT_SIZE ||
        LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()), to, int(packed.size()),
                            int(raw.size())) != int(raw.size()))
      throw CorruptStream("lz4: the block is not one of " + std::to_string(raw.size()) + " bytes");
  }
};

}  // namespace

std::unique_ptr<Codec> make_lz4() { return std::make_unique<Lz4>(); }

}  // namespace kaiten::codec
