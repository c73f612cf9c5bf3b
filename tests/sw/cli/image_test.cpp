// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/image.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/demo.h"
#include "cli/files.h"
#include "tests/support/source_file.h"

namespace kaiten::cli {
namespace {

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

Tensor tensor(int h, int w, int c, float scale, int zero) {
  Tensor t;
  t.name = "in";
  t.shape = {1, h, w, c};
  t.quantization.scale = {scale};
  t.quantization.zero_point = {zero};
  return t;
}

Int8Values converted(const Image& image, const Tensor& t, const Normalisation& normalisation) {
  return to_input(image, t, t.quantization, normalisation);
}

TEST(Image, ReadsNetpbm) {
  const auto file =
      bytes(std::string("P6\n# a comment\n2 1\n255\n") + std::string("\x00\x01\x02\xff\xfe\xfd", 6));
  ASSERT_TRUE(is_image(file));
  const Image i = decode_image(file, "x.ppm");
  EXPECT_EQ(i.width, 2);
  EXPECT_EQ(i.height, 1);
  EXPECT_EQ(i.channels, 3);
  const Int8Values plain = converted(i, tensor(1, 2, 3, 1, 5), {});
  EXPECT_EQ(plain, (Int8Values{-128, -127, -126, 127, 126, 125}));
  const Int8Values normalised = converted(i, tensor(1, 2, 3, 0.5F, 3), {127.0, 0.25});
  EXPECT_EQ(normalised[0], -61);  // (0 - 127) / 4 / 0.5 + 3 = -60.5, away from zero before the zero point
  EXPECT_THROW(converted(i, tensor(2, 2, 3, 1, 0), {}), InputError);
  EXPECT_THROW(converted(i, tensor(1, 2, 4, 1, 0), {}), InputError);
  EXPECT_EQ(converted(i, tensor(1, 2, 1, 1, 0), {}).size(), 2U);
}

// Planes, real values; without a normalisation those that the 256 stored values stand for.
TEST(Image, FeedsFloatInputs) {
  const Image i{1, 2, 3, {0, 1, 2, 255, 254, 253}};
  Tensor t;
  t.type = t.model_type = ElementType::Float32;
  t.shape = {1, 3, 1, 2};
  Quantization q;
  q.scale = {0.5F};
  q.zero_point = {-128};
  EXPECT_EQ(floats_of(to_input(i, t, q, {})), (std::vector<float>{0, 127.5F, 0.5F, 127, 1, 126.5F}));
  EXPECT_EQ(floats_of(to_input(i, t, {}, {})), (std::vector<float>{0, 255, 1, 254, 2, 253}));
  EXPECT_EQ(floats_of(to_input(i, t, q, {1.0, 2.0})), (std::vector<float>{-2, 508, 0, 506, 2, 504}));
  t.shape = {1, 1, 2, 3};  // one channel of 2x3, or rows of pixels with three: the image says which
  EXPECT_THROW(to_input(i, t, q, {}), InputError);
}

TEST(Image, ReadsPng) {
  const auto file = read_file(test::source_file("models/demo/digits.png"));
  ASSERT_TRUE(is_image(file));
  const Image i = decode_image(file, "digits.png");
  // The contact sheet shows the embedded images.
  ASSERT_GE(i.width, 320);
  ASSERT_GE(i.height, 320);
}

TEST(Image, RefusesDamage) {
  const auto png = read_file(test::source_file("models/demo/digits.png"));
  for (std::size_t n : {8U, 20U, 40U, 1000U, unsigned(png.size() / 2)}) {
    EXPECT_THROW(decode_image(std::span(png).first(n), "x.png"), InputError) << n;
  }
  for (const char* text : {"P6\n", "P6\n2", "P6\n2 2\n255\nabc", "P6\n0 2\n255\n", "P6\n2 2\n65535\n",
                           "P6\n99999999999 1\n255\n"}) {
    EXPECT_THROW(decode_image(bytes(text), "x.ppm"), InputError) << text;
  }
  EXPECT_FALSE(is_image(bytes("hello")));
  EXPECT_FALSE(is_image({}));
}

TEST(Demo, IsEmbedded) {
  const auto file = read_file(test::source_file("models/demo/demo.tflite"));
  EXPECT_TRUE(std::equal(file.begin(), file.end(), demo_model().begin(), demo_model().end()));
  EXPECT_EQ(demo_images().size(), 100 * kDemoImageBytes);
}

}  // namespace
}  // namespace kaiten::cli
