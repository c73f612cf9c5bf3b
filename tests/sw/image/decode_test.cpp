// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Image files against the pixels that Pillow saw in them (image_vectors.json, by drawn_images.py), and damaged files.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "image/formats.h"
#include "image/image.h"
#include "image/resize.h"
#include "tests/support/seed.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes(const std::string& text) { return {text.begin(), text.end()}; }

Bytes unhex(const std::string& text) {
  Bytes out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(std::uint8_t(std::stoul(text.substr(i, 2), nullptr, 16)));
  return out;
}

const nlohmann::json& vectors() {
  static const nlohmann::json all = [] {
    std::ifstream stream(test::source_file("tests/sw/image/image_vectors.json"));
    return nlohmann::json::parse(stream).at("images");
  }();
  return all;
}

// The values, once for each channel where the file is a palette of greys and Pillow made one channel of it.
Bytes in_channels(const Bytes& expected, const Image& image) {
  if (expected.size() == image.data.size()) return expected;
  Bytes three;
  for (const std::uint8_t v : expected) three.insert(three.end(), 3, v);
  return three;
}

TEST(Decode, GivesPillowsPixels) {
  ASSERT_GT(vectors().size(), 30U);
  for (const auto& v : vectors()) {
    const std::string name = v.at("name");
    const Image image = decode_image(unhex(v.at("file")), name).image;
    EXPECT_EQ(image.height, v.at("height")) << name;
    EXPECT_EQ(image.width, v.at("width")) << name;
    EXPECT_EQ(image.data, in_channels(unhex(v.at("pixels")), image)) << name;
  }
}

TEST(Resize, GivesPillowsPixels) {
  for (const auto& v : vectors()) {
    const std::string name = v.at("name");
    const Image image = decode_image(unhex(v.at("file")), name).image;
    const int width = v.at("to").at(0), height = v.at("to").at(1);
    for (const auto& [fit, key] :
         {std::pair{Fit::Crop, "crop"}, {Fit::Stretch, "stretch"}, {Fit::Pad, "pad"}}) {
      const Image out =
          fitted(image, width, height, placement(image.width, image.height, width, height, fit));
      EXPECT_EQ(out.data, in_channels(unhex(v.at(key)), out)) << name << " " << key;
    }
  }
}

TEST(Decode, SaysWhatItChanged) {
  const auto notes = [](const std::string& wanted) {
    for (const auto& v : vectors()) {
      if (v.at("name") == wanted) return decode_image(unhex(v.at("file")), wanted).notes;
    }
    return std::vector<std::string>{"no such file"};
  };
  EXPECT_EQ(notes("RGB.png"), std::vector<std::string>{});
  EXPECT_EQ(notes("RGBA.png"), std::vector<std::string>{"alpha left out"});
  EXPECT_EQ(notes("palette_alpha.png"), (std::vector<std::string>{"palette looked up", "alpha left out"}));
  EXPECT_EQ(notes("rgb16.png"), std::vector<std::string>{"upper 8 of 16 bits"});
  EXPECT_EQ(notes("exif6.jpg"), std::vector<std::string>{"turned by EXIF orientation 6"});
}

std::string why(const Bytes& file) {
  try {
    decode_image(file, "x");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Decode, RefusesTruncatedFiles) {
  for (const auto& v : vectors()) {
    const Bytes file = unhex(v.at("file"));
    for (std::size_t size = 0; size < file.size() - 2; size += 1 + size / 16) {
      const std::string said = why({file.begin(), file.begin() + std::ptrdiff_t(size)});
      EXPECT_TRUE(said.starts_with("bad image 'x': ")) << v.at("name") << " " << size << ": " << said;
      EXPECT_EQ(said.find('\n'), std::string::npos);
    }
  }
}

// Whatever the bytes are: an image of the size it says, or InputError.
TEST(Decode, SurvivesDamage) {
  std::mt19937_64 random(test::seed());
  int sound = 0, refused = 0;
  for (int round = 0; round < 40; round++) {
    for (const auto& v : vectors()) {
      Bytes file = unhex(v.at("file"));
      for (int i = 0; i < 1 + int(random() % 4); i++) file[random() % file.size()] = std::uint8_t(random());
      try {
        const Image image = decode_image(file, "x").image;
        EXPECT_EQ(image.data.size(),
                  std::size_t(image.height) * std::size_t(image.width) * std::size_t(image.channels));
        sound++;
      } catch (const InputError&) {
        refused++;
      }
    }
  }
  EXPECT_GT(sound, 0);
  EXPECT_GT(refused, 0);
}

TEST(Decode, RefusesHugeSidesBeforeTakingMemory) {
  const std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x7f\xff\0\0\x7f\xff\x8\x2\0\0\0\xba\xfb\xca\x95",
                        33);
  EXPECT_TRUE(why(bytes(png)).starts_with("bad image 'x': ")) << why(bytes(png));
  EXPECT_EQ(why(bytes("P6 30000 30000 255 ")), "bad image 'x': limit: 67108864 pixels, found: 30000x30000");
  EXPECT_EQ(why(bytes("P6 40000 1 255 ")), "bad image 'x': limit: sides of 32768 pixels, found: 40000x1");
  EXPECT_THROW(make_image(std::uint64_t(1) << 33, std::uint64_t(1) << 33, 3), BadImage);
}

TEST(Decode, RefusesWhatIsNone) {
  for (const char* text : {"P6\n", "P6\n2", "P6\n2 2\n255\nabc", "P6\n0 2\n255\n", "P6\n2 2\n65535\n",
                           "P6\n99999999999 1\n255\n"})
    EXPECT_NE(why(bytes(text)), "") << text;
  EXPECT_FALSE(is_image(bytes("hello")));
  EXPECT_FALSE(is_image({}));
  EXPECT_STREQ(foreign_image(bytes("GIF89a")), "GIF");
  EXPECT_STREQ(foreign_image(bytes(std::string("\0\0\0\x18"
                                               "ftypheic",
                                               12))),
               "HEIF");
  EXPECT_EQ(foreign_image(bytes("P6 1 1 255")), nullptr);
}

TEST(Encode, WritesWhatItReads) {
  for (const int channels : {1, 3}) {
    Image image{5, 7, channels, {}};
    for (int i = 0; i < 35 * channels; i++) image.data.push_back(std::uint8_t(i * 37));
    EXPECT_EQ(decode_image(encode_png(image), "x").image, image);
  }
}

}  // namespace
}  // namespace kaiten
