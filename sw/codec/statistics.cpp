// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "codec/statistics.h"

#include <algorithm>
#include <cmath>

namespace kaiten::codec {

namespace {

std::uint32_t element(std::span<const std::uint8_t> map, std::size_t i, std::size_t size) {
  std::uint32_t v = 0;
  for (std::size_t b = 0; b < size; b++) v |= std::uint32_t(map[i * size + b]) << (8 * b);
  return v;
}

}  // namespace

double density_of(std::span<const std::uint8_t> map, const Elements& elements) {
  const std::size_t size = std::size_t(elements.bytes), count = map.size() / size;
  std::size_t others = 0;
  for (std::size_t i = 0; i < count; i++) others += element(map, i, size) != elements.zero;
  return count == 0 ? 0 : double(others) / double(count);
}

double entropy_of(std::span<const std::uint8_t> map, const Elements& elements) {
  const std::size_t size = std::size_t(elements.bytes), count = map.size() / size;
  std::vector<std::size_t> frequencies;
  if (size <= 2) {
    frequencies.resize(std::size_t(1) << (8 * size));
    for (std::size_t i = 0; i < count; i++) frequencies[element(map, i, size)]++;
  } else {
    std::vector<std::uint32_t> values(count);
    for (std::size_t i = 0; i < count; i++) values[i] = element(map, i, size);
    std::sort(values.begin(), values.end());
    for (std::size_t i = 0; i < count; i++) {
      if (i == 0 || values[i] != values[i - 1]) frequencies.push_back(0);
      frequencies.back()++;
    }
  }
  double bits = 0;
  for (const std::size_t f : frequencies) {
    if (f != 0) bits -= double(f) / double(count) * std::log2(double(f) / double(count));
  }
  return bits;
}

double zvc_limit(int element_bits, double density) { return element_bits / (element_bits * density + 1); }

}  // namespace kaiten::codec
