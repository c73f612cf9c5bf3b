// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Files of volumes, written here byte by byte. `kaiten volume` reads those of NumPy itself in tests/cli.
#include "volume/source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/error.h"

namespace kaiten::volume {
namespace {

using fft::Size;

class VolumeSource : public testing::Test {
 protected:
  VolumeSource() { name_ = testing::TempDir() + "kaiten_volume_" + std::to_string(getpid()); }
  ~VolumeSource() override { std::filesystem::remove(name_); }
  const std::string& file(const std::string& bytes) {
    std::ofstream(name_, std::ios::binary) << bytes;
    return name_;
  }
  static std::string counting(int n) {
    std::string s(std::size_t(n), 0);
    std::iota(s.begin(), s.end(), char(0));
    return s;
  }
  std::string name_;
};

TEST_F(VolumeSource, PartsOfRawFilesWithZerosBeyondTheEnd) {
  const auto source = raw_source(file(counting(2 * 2 * 3 * 4)), 2, {2, 3, 4}, Voxel::kUint8);
  std::vector<float> part(2 * 1 * 2 * 3, -1);
  source->read({1, 2, 2}, {1, 2, 3}, part);
  EXPECT_EQ(part, (std::vector<float>{22, 23, 0, 0, 0, 0, 46, 47, 0, 0, 0, 0}));
  EXPECT_THROW(raw_source(name_, 2, {2, 3, 5}, Voxel::kUint8), InputError);
  std::filesystem::resize_file(name_, 40);  // truncated after it was opened
  EXPECT_THROW(source->read({1, 2, 2}, {1, 2, 3}, part), InputError);
}

TEST_F(VolumeSource, NumbersThatAreNotFiniteAreRefused) {
  std::string bytes(8 * 4, 0);
  const float nan = NAN;
  std::memcpy(bytes.data() + 5 * 4, &nan, 4);
  const auto source = raw_source(file(bytes), 1, {2, 2, 2}, Voxel::kFloat32);
  std::vector<float> part(8);
  try {
    source->read({0, 0, 0}, {2, 2, 2}, part);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("voxel 1,0,1 of map 0"), std::string::npos) << e.what();
  }
}

TEST_F(VolumeSource, NumpyHeaders) {
  std::string bytes = numpy_header(1, {1, 2, 3});
  EXPECT_EQ(bytes.size() % 64, 0U);
  const float values[] = {1, 2, 3, 4, 5, 6};
  bytes.append(reinterpret_cast<const char*>(values), sizeof values);
  const auto source = numpy_source(file(bytes));
  EXPECT_EQ(source->size(), (Size{1, 2, 3}));
  std::vector<float> all(6);
  source->read({0, 0, 0}, {1, 2, 3}, all);
  EXPECT_EQ(all, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_THROW(numpy_source(file(bytes.substr(0, bytes.size() - 1))), InputError);
  EXPECT_THROW(numpy_source(file(bytes.substr(0, 40))), InputError);
  EXPECT_THROW(numpy_source(file("no numbers here")), InputError);
  std::string fortran = bytes;
  fortran.replace(fortran.find("False"), 5, "True ");
  EXPECT_THROW(numpy_source(file(fortran)), InputError);
  std::string big = bytes;
  big.replace(big.find("<f4"), 3, ">f4");
  EXPECT_THROW(numpy_source(file(big)), InputError);
}

// Two pages of 2 x 3, 16 bits, in two strips a page.
std::string tiff() {
  std::string f("II\x2a\0\0\0\0\0", 8);
  const auto put = [&](std::uint32_t v, int n) {
    f.append(reinterpret_cast<const char*>(&v), std::size_t(n));
  };
  const auto set = [&](std::size_t at, std::uint32_t v) { std::memcpy(f.data() + at, &v, 4); };
  std::size_t link = 4;
  for (std::uint32_t page = 0; page < 2; page++) {
    const auto data = std::uint32_t(f.size());
    for (std::uint32_t i = 0; i < 6; i++) put(1000 * page + i, 2);
    const auto strips = std::uint32_t(f.size());
    put(data, 4);
    put(data + 6, 4);
    set(link, std::uint32_t(f.size()));
    const std::uint32_t tags[][4] = {{256, 3, 1, 3}, {257, 3, 1, 2},      {258, 3, 1, 16},
                                     {259, 3, 1, 1}, {273, 4, 2, strips}, {277, 3, 1, 1}};
    put(6, 2);
    for (const auto& t : tags) {
      put(t[0], 2);
      put(t[1], 2);
      put(t[2], 4);
      put(t[3], 4);
    }
    link = f.size();
    put(0, 4);
  }
  return f;
}

TEST_F(VolumeSource, TiffStacks) {
  const std::string bytes = tiff();
  const auto source = tiff_source(file(bytes));
  EXPECT_EQ(source->size(), (Size{2, 2, 3}));
  std::vector<float> all(12);
  source->read({0, 0, 0}, {2, 2, 3}, all);
  EXPECT_EQ(all, (std::vector<float>{0, 1, 2, 3, 4, 5, 1000, 1001, 1002, 1003, 1004, 1005}));
  for (std::size_t n = 0; n < bytes.size(); n++)
    EXPECT_THROW(tiff_source(file(bytes.substr(0, n))), InputError) << n;
}

}  // namespace
}  // namespace kaiten::volume
