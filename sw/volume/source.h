// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Where a volume comes from, a part at a time: a raw or NumPy file, a TIFF stack, or seeded random numbers.
#ifndef KAITEN_VOLUME_SOURCE_H
#define KAITEN_VOLUME_SOURCE_H

#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fft/size.h"

namespace kaiten::volume {

enum class Voxel { kUint8, kInt8, kUint16, kInt16, kFloat32 };
std::optional<Voxel> voxel_of(const std::string& name);  // "u8", "i8", "u16", "i16", "f32"
int bytes_of(Voxel type);

// Maps [map][voxel]. Not thread-safe.
class Source {
 public:
  virtual ~Source() = default;
  virtual int maps() const = 0;
  virtual fft::Size size() const = 0;
  // The part from `begin` on to `out` [map][voxel], zeros beyond the end. Throws InputError for a file that has become
  // shorter, and for numbers that are not finite.
  virtual void read(const fft::Size& begin, const fft::Size& extent, std::span<float> out) = 0;
};

std::unique_ptr<Source> seeded_source(int maps, const fft::Size& size, std::uint64_t seed);
// Little-endian, [map][depth][height][width]. Throws InputError where the file has another length.
std::unique_ptr<Source> raw_source(const std::string& file, int maps, const fft::Size& size, Voxel type);
// A NumPy file of three dimensions, or four with maps first, of one of the types above, in C order. Throws InputError.
std::unique_ptr<Source> numpy_source(const std::string& file);
// Grey, uncompressed, one slice a page, all alike. Throws InputError.
std::unique_ptr<Source> tiff_source(const std::string& file);

// The header of a NumPy file [maps][depth][height][width] of float32 or int8.
std::string numpy_header(int maps, const fft::Size& size, Voxel type = Voxel::kFloat32);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_SOURCE_H
