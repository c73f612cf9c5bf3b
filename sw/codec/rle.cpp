// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "codec/rle.h"

#include <algorithm>
#include <cstring>

#include "codec/element.h"

namespace kaiten::codec {

namespace {

constexpr std::uint8_t kZeros = 0x80;

// Elements from `i` on that are (or are not) the zero value.
template <typename T>
std::size_t run_length(std::span<const std::uint8_t> raw, std::size_t i, T zero, bool zeros) {
  const std::size_t last = std::min(raw.size() / sizeof(T), i + kMaxRleRun);
  std::size_t end = i;
  while (end < last && (load<T>(&raw[end * sizeof(T)]) == zero) == zeros) end++;
  return end - i;
}

template <typename T>
std::size_t pack(std::span<const std::uint8_t> raw, T zero, std::span<std::uint8_t> packed) {
  const std::size_t count = raw.size() / sizeof(T);
  std::size_t out = 0;
  for (std::size_t i = 0; i < count;) {
    const bool zeros = load<T>(&raw[i * sizeof(T)]) == zero;
    const std::size_t run = run_length(raw, i, zero, zeros);
    packed[out++] = std::uint8_t((zeros ? kZeros : 0) | (run - 1));
    if (!zeros) {
      std::memcpy(&packed[out], &raw[i * sizeof(T)], run * sizeof(T));
      out += run * sizeof(T);
    }
    i += run;
  }
  return out;
}

template <typename T>
void expand(std::span<const std::uint8_t> packed, T zero, std::span<std::uint8_t> raw) {
  const std::size_t count = raw.size() / sizeof(T);
  const auto fail = [](std::size_t at, const char* what) {
    throw CorruptStream("RLE, byte " + std::to_string(at) + ": " + what);
  };
  std::size_t in = 0;
  int open = -1;  // the kind of the last run if it was not full: the next must be of the other
  for (std::size_t i = 0; i < count;) {
    if (in >= packed.size()) fail(in, "the stream ends before the block");
    const std::uint8_t token = packed[in++];
    const bool zeros = (token & kZeros) != 0;
    const std::size_t run = (token & (kZeros - 1)) + std::size_t(1);
    if (run > count - i) fail(in - 1, "the run leaves the block");
    if (open == int(zeros)) fail(in - 1, "the run continues without need");
    open = run == kMaxRleRun ? -1 : int(zeros);
    if (zeros) {
      for (std::size_t e = i; e < i + run; e++) std::memcpy(&raw[e * sizeof(T)], &zero, sizeof(T));
    } else {
      if (run * sizeof(T) > packed.size() - in) fail(in, "the stream ends in a run");
      std::memcpy(&raw[i * sizeof(T)], &packed[in], run * sizeof(T));
      if (run_length(raw.first((i + run) * sizeof(T)), i, zero, false) != run)
        fail(in, "a copied element is the zero value");
      in += run * sizeof(T);
    }
    i += run;
  }
  if (in != packed.size()) fail(in, "the stream continues after the block");
}

}  // namespace

std::size_t rle_max_packed_bytes(const Elements& elements, std::size_t raw_bytes) {
  // Single zero values take a byte as runs; of bytes, runs of one other element between them take two.
  const std::size_t count = raw_bytes / std::size_t(elements.bytes);
  return raw_bytes + count / 2 + count / kMaxRleRun + 2;
}

std::size_t rle_pack(const Elements& elements, std::span<const std::uint8_t> raw,
                     std::span<std::uint8_t> packed) {
  return with_element_type(elements.bytes,
                           [&]<typename T>(T) { return pack(raw, T(elements.zero), packed); });
}

void rle_expand(const Elements& elements, std::span<const std::uint8_t> packed, std::span<std::uint8_t> raw) {
  with_element_type(elements.bytes, [&]<typename T>(T) { expand(packed, T(elements.zero), raw); });
}

}  // namespace kaiten::codec
