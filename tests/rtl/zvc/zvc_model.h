// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ZVC for the tests of the hardware blocks, written from docs/formats/zvc.md alone: bits and bytes pushed one by one.
// The tests compare it with sw/codec too, so that three independent texts agree.
#ifndef KAITEN_TESTS_RTL_ZVC_ZVC_MODEL_H
#define KAITEN_TESTS_RTL_ZVC_ZVC_MODEL_H

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/rtl/load_store/load_store_test.h"

namespace kaiten::test {

constexpr int kLanes = PARAM_Lanes, kElemBytes = PARAM_ElemW / 8, kBeatBytes = kLanes * kElemBytes;

using Bytes = std::vector<std::uint8_t>;

struct ZvcSegment {
  std::vector<std::uint32_t> elements;
  std::uint32_t zero = 0;

  std::size_t raw_beats() const { return (elements.size() + kLanes - 1) / kLanes; }
};

inline void push_element(Bytes& bytes, std::uint32_t element) {
  for (int b = 0; b < kElemBytes; b++) bytes.push_back(static_cast<std::uint8_t>(element >> 8 * b));
}

// Packed, before padding.
inline Bytes model_pack(const ZvcSegment& s) {
  Bytes out;
  for (std::size_t first = 0; first < s.elements.size(); first += kLanes) {
    Bytes kept;
    std::uint8_t mask = 0;
    for (std::size_t i = first; i < s.elements.size() && i < first + kLanes; i++) {
      if (s.elements[i] != s.zero) {
        mask |= static_cast<std::uint8_t>(1 << (i - first) % 8);
        push_element(kept, s.elements[i]);
      }
      if ((i - first) % 8 == 7 || i + 1 == s.elements.size() || i + 1 == first + kLanes) {
        out.push_back(mask);
        mask = 0;
      }
    }
    out.insert(out.end(), kept.begin(), kept.end());
  }
  return out;
}

inline void model_fill(Bytes& packed, std::uint32_t zero) {
  while (packed.size() % kBeatBytes != 0)
    packed.push_back(static_cast<std::uint8_t>(zero >> packed.size() % kElemBytes * 8));
}

// The elements, or nothing when `units` is not what model_pack and model_fill make of so many elements.
inline std::optional<std::vector<std::uint32_t>> model_expand(const Bytes& units, std::size_t elements,
                                                              std::uint32_t zero) {
  ZvcSegment s{{}, zero};
  std::size_t at = 0;
  while (s.elements.size() < elements) {
    const std::size_t count = std::min<std::size_t>(kLanes, elements - s.elements.size());
    const std::size_t mask = at;
    at += (count + 7) / 8;
    for (std::size_t i = 0; i < count; i++) {
      if (at > units.size()) return std::nullopt;
      std::uint32_t element = zero;
      if (units[mask + i / 8] >> i % 8 & 1) {
        if (at + kElemBytes > units.size()) return std::nullopt;
        element = 0;
        for (int b = 0; b < kElemBytes; b++) element |= std::uint32_t{units[at++]} << 8 * b;
      }
      s.elements.push_back(element);
    }
  }
  // Whatever is left to find wrong: the format is canonical.
  Bytes again = model_pack(s);
  model_fill(again, zero);
  if (again != units) return std::nullopt;
  return s.elements;
}

inline ZvcSegment random_segment(Rng& rng, std::size_t elements, int density) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kElemBytes * 8) - 1;
  ZvcSegment s;
  s.zero = static_cast<std::uint32_t>(rng() & kMask);
  for (std::size_t i = 0; i < elements; i++) {
    auto element = s.zero;
    if (percent(rng, density)) {
      // Values that differ from the zero value in one bit show comparisons that leave a bit out.
      element = static_cast<std::uint32_t>(
          percent(rng, 30) ? s.zero ^ std::uint64_t{1} << pick(rng, 0, kElemBytes * 8 - 1) : rng() & kMask);
    }
    s.elements.push_back(element);
  }
  return s;
}

// All-zero rows beside dense ones, and everything between.
inline ZvcSegment random_segment(Rng& rng) {
  static constexpr int kDensities[] = {0, 0, 3, 30, 50, 70, 90, 100, 100};
  const auto elements = percent(rng, 30) ? pick(rng, 1, 2 * kLanes) : pick(rng, 1, 12 * kLanes);
  return random_segment(rng, static_cast<std::size_t>(elements), kDensities[pick(rng, 0, 8)]);
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_RTL_ZVC_ZVC_MODEL_H
