// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ZVC: any bytes as a packed segment give a segment that packs to the same bytes again, or CorruptStream; any bytes as a raw
// segment come back whole. The fast functions agree with the plain ones.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/zvc.h"
#include "codec/zvc_simd.h"

namespace {

using namespace kaiten::codec;
using Bytes = std::vector<std::uint8_t>;

template <class Expand>
std::optional<std::size_t> expand(Expand&& call) {
  try {
    return call();
  } catch (const CorruptStream&) {
    return {};
  }
}

void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  ZvcFormat format;
  format.element_bytes = 1 << (data[0] % 3);
  format.group = 1 + data[1] % 96;
  format.unit_bytes = format.element_bytes * (1 + data[2] % 32);
  format.zero = data[3];
  const std::size_t elements = data[4];
  const std::span<const std::uint8_t> rest(data + 5, size - 5);

  Bytes plain(elements * std::size_t(format.element_bytes)), fast = plain;
  const auto used = expand([&] { return zvc_expand(format, rest, plain); });
  const auto used_fast = expand([&] { return zvc_expand_fast(format, rest, fast); });
  require(used == used_fast);
  if (used) {
    require(plain == fast);
    Bytes packed(zvc_packed_bytes(format, plain));
    require(zvc_pack(format, plain, packed) == *used &&
            std::equal(packed.begin(), packed.end(), rest.begin()));
  }

  const std::span<const std::uint8_t> raw =
      rest.first(rest.size() - rest.size() % std::size_t(format.element_bytes));
  Bytes memory(raw.size()), back(raw.size());
  const std::uint8_t units = zvc_store(format, raw, memory);
  zvc_load(format, memory, units, back);
  require(std::equal(raw.begin(), raw.end(), back.begin()));
  return 0;
}
