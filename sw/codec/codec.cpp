// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "codec/codec.h"

#include <array>

#include "codec/libraries.h"
#include "codec/rle.h"
#include "codec/zvc.h"
#include "codec/zvc_simd.h"

namespace kaiten::codec {

namespace {

constexpr std::array<std::string_view, 5> kNames{"zvc", "rle", "zlib", "lz4", "zstd"};

class ZvcCodec : public Codec {
 public:
  ZvcCodec(const ZvcFormat& format, bool fast) : format_(format), fast_(fast) {}

  std::string_view name() const override { return fast_ ? "zvc" : "zvc_scalar"; }
  std::size_t max_packed_bytes(std::size_t raw_bytes) const override {
    return zvc_max_packed_bytes(format_, raw_bytes) + kZvcSlack;
  }
  std::size_t pack(std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) const override {
    return fast_ ? zvc_pack_fast(format_, raw, packed) : zvc_pack(format_, raw, packed);
  }
  void expand(std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw) const override {
    const std::size_t used = fast_ ? zvc_expand_fast(format_, packed, raw) : zvc_expand(format_, packed, raw);
    if (used != packed.size()) {
      throw CorruptStream("the segment ends after " + std::to_string(used) + " of " +
                          std::to_string(packed.size()) + " bytes");
    }
  }

 private:
  ZvcFormat format_;
  bool fast_;
};

class RleCodec : public Codec {
 public:
  explicit RleCodec(const Elements& elements) : elements_(elements) {}

  std::string_view name() const override { return "rle"; }
  std::size_t max_packed_bytes(std::size_t raw_bytes) const override {
    return rle_max_packed_bytes(elements_, raw_bytes);
  }
  std::size_t pack(std::span<const std::uint8_t> raw, std::span<std::uint8_t> packed) const override {
    return rle_pack(elements_, raw, packed);
  }
  void expand(std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw) const override {
    rle_expand(elements_, packed, raw);
  }

 private:
  Elements elements_;
};

}  // namespace

std::span<const std::string_view> codec_names() { return kNames; }

std::string codec_missing(std::string_view name) {
#ifndef KAITEN_HAVE_LZ4
  if (name == "lz4") return "this build has no lz4: install liblz4-dev (make setup) and configure again";
#endif
#ifndef KAITEN_HAVE_ZSTD
  if (name == "zstd") return "this build has no zstd: install libzstd-dev (make setup) and configure again";
#endif
  (void)name;
  return "";
}

std::unique_ptr<Codec> make_zvc(const Elements& elements, int group, bool fast) {
  const ZvcFormat format{elements.bytes, group, elements.bytes, elements.zero};
  require_valid(format);
  return std::make_unique<ZvcCodec>(format, fast);
}

std::unique_ptr<Codec> make_codec(std::string_view name, const Elements& elements) {
  require_valid(ZvcFormat{elements.bytes, 64, elements.bytes, elements.zero});
  if (const std::string missing = codec_missing(name); !missing.empty()) throw InputError(missing);
  if (name == "zvc" || name == "zvc_scalar")
    return make_zvc(elements, elements.bytes == 4 ? 32 : 64, name == "zvc");
  if (name == "rle") return std::make_unique<RleCodec>(elements);
  if (name == "zlib") return make_zlib();
#ifdef KAITEN_HAVE_LZ4
  if (name == "lz4") return make_lz4();
#endif
#ifdef KAITEN_HAVE_ZSTD
  if (name == "zstd") return make_zstd();
#endif
  std::string list;
  for (std::string_view k : kNames) list += (list.empty() ? "" : ", ") + std::string(k);
  throw InputError("codec: expected one of " + list + ", found '" + std::string(name) + "'");
}

}  // namespace kaiten::codec
