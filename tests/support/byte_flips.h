// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Damaged copies of model files.
#ifndef KAITEN_TESTS_SUPPORT_BYTE_FLIPS_H
#define KAITEN_TESTS_SUPPORT_BYTE_FLIPS_H

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace kaiten::test {

// The file with `count` bytes at random places changed to other values (a place may be drawn twice).
inline std::vector<std::uint8_t> flip_bytes(std::vector<std::uint8_t> file, std::size_t count,
                                            std::mt19937_64& random) {
  for (std::size_t i = 0; i < count; i++) file[random() % file.size()] ^= std::uint8_t(1 + random() % 255);
  return file;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_BYTE_FLIPS_H
