// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "evaluate/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <memory>
#include <regex>

#include "base/error.h"

namespace kaiten {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct ZipCloser {
  void operator()(zip_t* zip) const { zip_discard(zip); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

[[noreturn]] void fail(const std::string& name, const std::string& why) {
  throw InputError("bad array '" + name + "': " + why);
}

std::vector<std::uint8_t> read_entry(zip_t* zip, zip_uint64_t index, std::uint64_t bytes,
                                     const std::string& name) {
  const std::unique_ptr<zip_file_t, ZipCloser> file(zip_fopen_index(zip, index, 0));
  if (!file) fail(name, zip_strerror(zip));
  std::vector<std::uint8_t> data(bytes);
  std::size_t at = 0;
  while (at < data.size()) {
    const zip_int64_t n = zip_fread(file.get(), data.data() + at, data.size() - at);
    if (n <= 0) fail(name, n == 0 ? "it ends early" : zip_file_strerror(file.get()));
    at += std::size_t(n);
  }
  std::uint8_t none = 0;
  if (zip_fread(file.get(), &none, 1) != 0) fail(name, zip_file_strerror(file.get()));  // checks the sum, too
  return data;
}

}  // namespace

std::size_t Array::elements() const {
  std::size_t n = 1;
  for (const std::size_t side : shape) n *= side;
  return n;
}

std::int64_t Array::integer(std::size_t i) const {
  const std::size_t width = element_bytes();
  std::uint64_t value = 0;
  for (std::size_t b = width; b-- > 0;) value = value << 8 | data[i * width + b];
  const bool negative = type[0] == 'i' && (value >> (8 * width - 1) & 1) != 0;
  if (negative && width < 8) value |= ~std::uint64_t(0) << (8 * width);
  return std::int64_t(value);
}

Array read_npy(std::span<const std::uint8_t> file, const std::string& name) {
  if (file.size() < 12 || !std::equal(kMagic.begin(), kMagic.end(), file.begin(),
                                      [](char a, std::uint8_t b) { return std::uint8_t(a) == b; }))
    fail(name, "it does not begin as .npy files do");
  const std::size_t wide = file[6] == 1 ? 2 : 4, begin = 8 + wide;
  std::size_t length = 0;
  for (std::size_t i = wide; i-- > 0;) length = length << 8 | file[8 + i];
  if (file[6] < 1 || file[6] > 3 || length > 65536 || begin + length > file.size())
    fail(name, "its header is damaged");
  const std::string header(file.begin() + std::ptrdiff_t(begin),
                           file.begin() + std::ptrdiff_t(begin + length));
  static const std::regex type("'descr':\\s*'([<|=])([biuf][1248])'"), order("'fortran_order':\\s*False"),
      sides("'shape':\\s*\\(([0-9, ]*)\\)");
  std::smatch found;
  Array array;
  if (!std::regex_search(header, found, type)) fail(name, "limit: little-endian numbers, found: " + header);
  array.type = found[2];
  if (!std::regex_search(header, order)) fail(name, "limit: C order, found: Fortran's");
  if (!std::regex_search(header, found, sides)) fail(name, "it has no shape");
  const std::string shape = found[1];
  std::uint64_t bytes = array.element_bytes();
  static const std::regex number("[0-9]+");
  for (std::sregex_iterator n(shape.begin(), shape.end(), number), end; n != end; ++n) {
    const std::string digits = n->str();
    const std::uint64_t side = digits.size() > 10 ? kMaxArrayBytes + 1 : std::stoull(digits);
    if (side > kMaxArrayBytes || bytes * side > kMaxArrayBytes)
      fail(name, fmt::format("limit: {} bytes, found: shape ({})", kMaxArrayBytes, shape));
    bytes *= side;
    array.shape.push_back(side);
  }
  if (file.size() - begin - length != bytes) {
    fail(name,
         fmt::format("its shape ({}) needs {} bytes, it has {}", shape, bytes, file.size() - begin - length));
  }
  array.data.assign(file.begin() + std::ptrdiff_t(begin + length), file.end());
  return array;
}

std::map<std::string, Array> read_npz(const std::filesystem::path& path) {
  int error = 0;
  const std::unique_ptr<zip_t, ZipCloser> zip(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &error));
  if (!zip) {
    zip_error_t said;
    zip_error_init_with_code(&said, error);
    const std::string why = zip_error_strerror(&said);
    zip_error_fini(&said);
    throw InputError("cannot read '" + path.string() + "': " + why);
  }
  std::map<std::string, Array> arrays;
  std::uint64_t bytes = 0;
  for (zip_int64_t i = 0; i < zip_get_num_entries(zip.get(), 0); i++) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(zip.get(), zip_uint64_t(i), 0, &stat) != 0)
      fail(path.string(), zip_strerror(zip.get()));
    std::string name = stat.name;
    if (!name.ends_with(".npy")) continue;
    name.resize(name.size() - 4);
    const std::string shown = path.string() + ": " + name;
    bytes += std::min(stat.size, kMaxArrayBytes + 1);
    if (bytes > kMaxArrayBytes) fail(shown, fmt::format("limit: {} bytes in all", kMaxArrayBytes));
    const std::vector<std::uint8_t> file = read_entry(zip.get(), zip_uint64_t(i), stat.size, shown);
    arrays.emplace(name, read_npy(file, shown));
  }
  return arrays;
}

}  // namespace kaiten
