// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Elements of 8, 16 or 32 bits in bytes, little-endian as the processor is.
#ifndef KAITEN_CODEC_ELEMENT_H
#define KAITEN_CODEC_ELEMENT_H

#include <cstdint>
#include <cstring>

namespace kaiten::codec {

template <typename T>
T load(const std::uint8_t* from) {
  T v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <typename T>
void store(T v, std::uint8_t* to) {
  std::memcpy(to, &v, sizeof v);
}

// Calls function(T{}) with the unsigned type of elements of 1, 2 or 4 bytes.
template <typename Function>
auto with_element_type(int bytes, const Function& function) {
  switch (bytes) {
    case 1:
      return function(std::uint8_t{});
    case 2:
      return function(std::uint16_t{});
    default:
      return function(std::uint32_t{});
  }
}

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_ELEMENT_H
