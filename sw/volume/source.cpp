// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "fft/memory.h"
#include "volume/weights.h"

namespace kaiten::volume {

using fft::Size;

namespace {

struct NamedVoxel {
  const char* name;
  const char* numpy;
  int bytes;
};
// In the order of Voxel.
constexpr std::array<NamedVoxel, 5> kVoxels = {
    {{"u8", "|u1", 1}, {"i8", "|i1", 1}, {"u16", "<u2", 2}, {"i16", "<i2", 2}, {"f32", "<f4", 4}}};

template <typename T>
void widen(const std::vector<char>& from, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); i++) {
    T value;
    std::memcpy(&value, from.data() + i * sizeof(T), sizeof(T));
    to[i] = float(value);
  }
}

void to_float(Voxel type, const std::vector<char>& from, std::span<float> to) {
  switch (type) {
    case Voxel::kUint8:
      return widen<std::uint8_t>(from, to);
    case Voxel::kInt8:
      return widen<std::int8_t>(from, to);
    case Voxel::kUint16:
      return widen<std::uint16_t>(from, to);
    case Voxel::kInt16:
      return widen<std::int16_t>(from, to);
    case Voxel::kFloat32:
      return widen<float>(from, to);
  }
}

// What the sources share: rows of the part that lie in the volume, the rest zeros.
class Rows : public Source {
 public:
  Rows(int maps, const Size& size) : maps_(maps), size_(size) {}
  int maps() const override { return maps_; }
  Size size() const override { return size_; }

  void read(const Size& begin, const Size& extent, std::span<float> out) override {
    std::fill(out.begin(), out.end(), 0.0F);
    const int columns = std::min(extent.width, size_.width - begin.width);
    if (columns <= 0) return;
    for (int m = 0; m < maps_; m++) {
      for (int z = 0; z < std::min(extent.depth, size_.depth - begin.depth); z++) {
        for (int y = 0; y < std::min(extent.height, size_.height - begin.height); y++) {
          const std::size_t at =
              ((std::size_t(m) * std::size_t(extent.depth) + std::size_t(z)) * std::size_t(extent.height) +
               std::size_t(y)) *
              std::size_t(extent.width);
          row(m, begin.depth + z, begin.height + y, begin.width, out.subspan(at, std::size_t(columns)));
        }
      }
    }
  }

 protected:
  virtual void row(int map, int z, int y, int x, std::span<float> out) = 0;

  int maps_;
  Size size_;
};

class Seeded : public Rows {
 public:
  Seeded(int maps, const Size& size, std::uint64_t seed) : Rows(maps, size), seed_(seed) {}

 private:
  void row(int map, int z, int y, int x, std::span<float> out) override {
    const std::uint64_t at =
        ((std::uint64_t(map) * std::uint64_t(size_.depth) + std::uint64_t(z)) * std::uint64_t(size_.height) +
         std::uint64_t(y)) *
            std::uint64_t(size_.width) +
        std::uint64_t(x);
    for (std::size_t i = 0; i < out.size(); i++) out[i] = seeded_voxel(seed_, at + i);
  }

  std::uint64_t seed_;
};

// Slices of a file that begin at given offsets.
class File : public Rows {
 public:
  File(const std::string& name, int maps, const Size& size, Voxel type, std::vector<std::uint64_t> slices)
      : Rows(maps, size),
        name_(name),
        type_(type),
        slices_(std::move(slices)),
        file_(name, std::ios::binary) {
    if (!file_) throw InputError("cannot read '" + name + "'");
  }

 private:
  void row(int map, int z, int y, int x, std::span<float> out) override {
    const auto bytes = std::uint64_t(bytes_of(type_));
    const std::uint64_t slice = slices_[std::size_t(map) * std::size_t(size_.depth) + std::size_t(z)];
    buffer_.resize(out.size() * bytes);
    file_.seekg(
        std::streamoff(slice + (std::uint64_t(y) * std::uint64_t(size_.width) + std::uint64_t(x)) * bytes));
    if (!file_.read(buffer_.data(), std::streamsize(buffer_.size())))
      throw InputError(fmt::format("'{}' ends within row {} of slice {}", name_, y, z));
    to_float(type_, buffer_, out);
    for (std::size_t i = 0; i < out.size(); i++) {
      if (!std::isfinite(out[i]))
        throw InputError(fmt::format("'{}': voxel {},{},{} of map {} is {}, voxels are finite", name_, z, y,
                                     std::size_t(x) + i, map, out[i]));
    }
  }

  std::string name_;
  Voxel type_;
  std::vector<std::uint64_t> slices_;  // offsets [map][depth]
  std::ifstream file_;
  std::vector<char> buffer_;
};

std::uint64_t length_of(const std::string& file) {
  std::error_code error;
  const std::uint64_t length = std::filesystem::file_size(file, error);
  if (error) throw InputError("cannot read '" + file + "': " + error.message());
  return length;
}

std::unique_ptr<Source> dense_file(const std::string& file, int maps, const Size& size, Voxel type,
                                   std::uint64_t header) {
  const std::uint64_t slice =
      fft::product({std::uint64_t(size.height), std::uint64_t(size.width), std::uint64_t(bytes_of(type))});
  const std::uint64_t slices = std::uint64_t(maps) * std::uint64_t(size.depth);
  const std::uint64_t needed = fft::sum({header, fft::product({slices, slice})}), length = length_of(file);
  if (length != needed)
    throw InputError(fmt::format("'{}' has {} bytes, {} map{} of {} in {} take {}", file, length, maps,
                                 maps == 1 ? "" : "s", size.text(), kVoxels[std::size_t(type)].name, needed));
  std::vector<std::uint64_t> at(slices);
  for (std::uint64_t i = 0; i < slices; i++) at[i] = header + i * slice;
  return std::make_unique<File>(file, maps, size, type, std::move(at));
}

// What follows 'key': in the dictionary of a NumPy header, up to a comma outside brackets.
std::string numpy_value(const std::string& header, const std::string& key) {
  std::size_t at = header.find("'" + key + "'");
  if (at == std::string::npos || (at = header.find(':', at)) == std::string::npos) return "";
  at = header.find_first_not_of(' ', at + 1);
  if (at == std::string::npos) return "";
  const char close = header[at] == '(' ? ')' : header[at] == '\'' ? '\'' : ',';
  const std::size_t end = header.find(close, at + 1);
  const std::size_t begin = close == ',' ? at : at + 1;
  return header.substr(begin, end == std::string::npos ? end : end - begin);
}

std::vector<int> numpy_shape(const std::string& text) {
  std::vector<int> shape;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    int n = 0;
    const auto [next, error] = std::from_chars(at, end, n);
    if (error != std::errc{} || n < 1) return {};
    shape.push_back(n);
    at = next;
    while (at < end && (*at == ',' || *at == ' ')) at++;
  }
  return shape;
}

}  // namespace

std::optional<Voxel> voxel_of(const std::string& name) {
  for (std::size_t i = 0; i < kVoxels.size(); i++) {
    if (name == kVoxels[i].name) return Voxel(i);
  }
  return std::nullopt;
}

int bytes_of(Voxel type) { return kVoxels[std::size_t(type)].bytes; }

std::unique_ptr<Source> seeded_source(int maps, const Size& size, std::uint64_t seed) {
  return std::make_unique<Seeded>(maps, size, seed);
}

std::unique_ptr<Source> raw_source(const std::string& file, int maps, const Size& size, Voxel type) {
  return dense_file(file, maps, size, type, 0);
}

std::unique_ptr<Source> numpy_source(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 12> magic{};
  if (!in) throw InputError("cannot read '" + file + "'");
  if (!in.read(magic.data(), 10) || std::memcmp(magic.data(), "\x93NUMPY", 6) != 0)
    throw InputError("'" + file + "' is no NumPy file");
  // Format 1 has two bytes for the header's length, 2 and 3 have four.
  const int length_bytes = magic[6] == 1 ? 2 : 4;
  if (length_bytes == 4) in.read(magic.data() + 10, 2);
  std::uint32_t length = 0;
  std::memcpy(&length, magic.data() + 8, std::size_t(length_bytes));
  std::string header(std::min<std::uint32_t>(length, 1U << 16), ' ');
  if (!in.read(header.data(), std::streamsize(header.size())))
    throw InputError("'" + file + "' ends within its header");
  const std::string type = numpy_value(header, "descr"), order = numpy_value(header, "fortran_order");
  const auto voxel =
      std::find_if(kVoxels.begin(), kVoxels.end(), [&](const NamedVoxel& v) { return type == v.numpy; });
  if (voxel == kVoxels.end())
    throw InputError("'" + file + "': type '" + type + "' is none of |u1, |i1, <u2, <i2, <f4");
  if (order != "False") throw InputError("'" + file + "' is in Fortran order, C order is needed");
  std::vector<int> shape = numpy_shape(numpy_value(header, "shape"));
  if (shape.size() == 3) shape.insert(shape.begin(), 1);
  if (shape.size() != 4)
    throw InputError("'" + file + "': expected three dimensions, or four with maps first, found (" +
                     numpy_value(header, "shape") + ")");
  return dense_file(file, shape[0], {shape[1], shape[2], shape[3]}, Voxel(voxel - kVoxels.begin()),
                    8 + std::uint64_t(length_bytes) + header.size());
}

std::string numpy_header(int maps, const Size& size, Voxel type) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}, {}, {}), }}",
                  type == Voxel::kInt8 ? "|i1" : "<f4", maps, size.depth, size.height, size.width);
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + char(text.size() & 255U) + char(text.size() >> 8U) + text;
}

namespace {

// Tags of a page that matter here (TIFF 6.0); numbers as the file has them.
struct TiffPage {
  std::uint32_t width = 0, height = 0, bits = 1, compression = 1, samples = 1, format = 1;
  std::vector<std::uint32_t> strips;
};

class TiffFile {
 public:
  explicit TiffFile(const std::string& name)
      : name_(name), file_(name, std::ios::binary), length_(length_of(name)) {}

  std::vector<TiffPage> pages() {
    std::array<char, 4> magic{};
    at(0);
    file_.read(magic.data(), 4);
    if (!file_ || std::memcmp(magic.data(), "II\x2a\0", 4) != 0)
      throw InputError("'" + name_ + "' is no little-endian TIFF file of 32-bit offsets");
    std::vector<TiffPage> pages;
    for (std::uint64_t next = number(4, 4); next != 0;) {
      if (pages.size() == 100000) throw InputError("'" + name_ + "' has more than 100000 pages");
      const std::uint64_t count = number(next, 2);
      pages.emplace_back();
      for (std::uint64_t i = 0; i < count; i++) entry(next + 2 + 12 * i, pages.back());
      next = number(next + 2 + 12 * count, 4);
    }
    return pages;
  }

 private:
  void at(std::uint64_t offset) {
    file_.clear();
    file_.seekg(std::streamoff(offset));
  }
  std::uint32_t number(std::uint64_t offset, int bytes) {
    std::uint32_t value = 0;
    at(offset);
    if (!file_.read(reinterpret_cast<char*>(&value), bytes))
      throw InputError(fmt::format("'{}' ends within byte {}, where a TIFF directory is", name_, offset));
    return value;
  }
  void entry(std::uint64_t where, TiffPage& page) {
    const std::uint32_t tag = number(where, 2), type = number(where + 2, 2), count = number(where + 4, 4);
    const int bytes = type == 3 ? 2 : 4;
    const std::uint32_t value = number(where + 8, bytes);
    switch (tag) {
      case 256:
        page.width = value;
        break;
      case 257:
        page.height = value;
        break;
      case 258:
        page.bits = value;
        break;
      case 259:
        page.compression = value;
        break;
      case 277:
        page.samples = value;
        break;
      case 339:
        page.format = value;
        break;
      case 273: {
        if (std::uint64_t(count) * std::uint64_t(bytes) > length_)
          throw InputError(fmt::format("'{}' has no room for {} strips", name_, count));
        const std::uint64_t list = count * std::uint32_t(bytes) <= 4 ? where + 8 : value;
        for (std::uint32_t i = 0; i < count; i++)
          page.strips.push_back(number(list + std::uint64_t(i) * std::uint64_t(bytes), bytes));
        break;
      }
      default:
        break;
    }
  }

  std::string name_;
  std::ifstream file_;
  std::uint64_t length_;
};

}  // namespace

std::unique_ptr<Source> tiff_source(const std::string& file) {
  const std::vector<TiffPage> pages = TiffFile(file).pages();
  if (pages.empty()) throw InputError("'" + file + "' has no pages");
  const TiffPage& first = pages.front();
  std::optional<Voxel> type;
  if (first.bits == 8) type = first.format == 2 ? Voxel::kInt8 : Voxel::kUint8;
  if (first.bits == 16) type = first.format == 2 ? Voxel::kInt16 : Voxel::kUint16;
  if (first.bits == 32 && first.format == 3) type = Voxel::kFloat32;
  if (!type)
    throw InputError(fmt::format("'{}': {} bits of format {}; 8 or 16 bits or float32 are read", file,
                                 first.bits, first.format));
  constexpr std::uint32_t kMostSide = 1U << 20U;
  if (first.width < 1 || first.height < 1 || first.width > kMostSide || first.height > kMostSide)
    throw InputError(fmt::format("'{}': slices of {}x{}, sides from 1 to {} are read", file, first.height,
                                 first.width, kMostSide));
  const std::uint64_t slice = std::uint64_t(first.width) * first.height * std::uint64_t(bytes_of(*type));
  const std::uint64_t length = length_of(file);
  std::vector<std::uint64_t> slices;
  for (std::size_t p = 0; p < pages.size(); p++) {
    const TiffPage& page = pages[p];
    const auto fail = [&](const char* why) {
      throw InputError(fmt::format("'{}', page {}: {}", file, p, why));
    };
    if (page.width != first.width || page.height != first.height || page.bits != first.bits ||
        page.format != first.format)
      fail("another size or type than the first page's");
    if (page.compression != 1 || page.samples != 1)
      fail("compressed or in colour; grey, uncompressed pages are read");
    if (page.strips.empty()) fail("no strips");
    for (std::size_t i = 1; i < page.strips.size(); i++) {
      if (page.strips[i] <= page.strips[i - 1]) fail("strips out of order");
    }
    // Strips that follow each other without gaps: the last one must begin within the slice.
    if (page.strips.back() - page.strips.front() >= slice) fail("strips with gaps between them");
    if (page.strips.front() + slice > length) fail("the file ends within it");
    slices.push_back(page.strips.front());
  }
  return std::make_unique<File>(file, 1, Size{int(pages.size()), int(first.height), int(first.width)}, *type,
                                std::move(slices));
}

}  // namespace kaiten::volume
