// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// NumPy's files of arrays: .npz, a zip archive of .npy files (numpy.lib.format, versions 1 to 3; zip through libzip).
#ifndef KAITEN_EVALUATE_NPZ_H
#define KAITEN_EVALUATE_NPZ_H

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kaiten {

constexpr std::uint64_t kMaxArrayBytes = std::uint64_t(1) << 32;

// In C order, little-endian.
struct Array {
  std::string type;                // NumPy's, without the byte order: "u1", "i8", "f4"
  std::vector<std::size_t> shape;  // empty: one value
  std::vector<std::uint8_t> data;

  std::size_t element_bytes() const { return std::size_t(type[1] - '0'); }
  std::size_t elements() const;
  // Element i of a type of integers ("i", "u", "b"). No bounds check.
  std::int64_t integer(std::size_t i) const;
  bool is_integer() const { return type[0] == 'i' || type[0] == 'u' || type[0] == 'b'; }
};

// `name` is for errors. Throws InputError for what is no sound array of numbers.
Array read_npy(std::span<const std::uint8_t> file, const std::string& name);
// By name, without ".npy". Throws InputError, and where the arrays together exceed kMaxArrayBytes.
std::map<std::string, Array> read_npz(const std::filesystem::path& path);

}  // namespace kaiten

#endif  // KAITEN_EVALUATE_NPZ_H
