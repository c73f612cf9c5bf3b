// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/spill_codec.h"

#include "codec/copy.h"

namespace kaiten::cluster {

namespace {

std::unique_ptr<codec::Codec> codec_of(int zero) {
  return codec::make_codec("zvc", {1, std::uint32_t(std::uint8_t(zero))});
}

std::span<const std::uint8_t> bytes_of(const Int8Values& v) {
  return {reinterpret_cast<const std::uint8_t*>(v.data()), v.size()};
}
std::span<std::uint8_t> bytes_of(Int8Values& v) {
  return {reinterpret_cast<std::uint8_t*>(v.data()), v.size()};
}

}  // namespace

Int8Values pack_map(const Int8Values& map, int zero) {
  const auto codec = codec_of(zero);
  Int8Values packed(codec::copy_bound(*codec, map.size()));
  packed.resize(
      codec::memcpy_compressed(bytes_of(packed), bytes_of(map), codec::Direction::kCompress, *codec));
  return packed;
}

Int8Values expand_map(const Int8Values& packed, std::size_t bytes, int zero) {
  const auto codec = codec_of(zero);
  Int8Values map(bytes);
  codec::memcpy_compressed(bytes_of(map), bytes_of(packed), codec::Direction::kExpand, *codec);
  return map;
}

}  // namespace kaiten::cluster
