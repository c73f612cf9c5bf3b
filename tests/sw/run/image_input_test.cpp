// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/image_input.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace kaiten {
namespace {

Tensor tensor(int h, int w, int c, float scale, int zero) {
  Tensor t;
  t.name = "in";
  t.shape = {1, h, w, c};
  t.quantization.scale = {scale};
  t.quantization.zero_point = {zero};
  return t;
}

Int8Values converted(const Image& image, const Tensor& t, const Normalisation& normalisation) {
  return to_input(image, t, t.quantization, {normalisation, Fit::Crop});
}

TEST(ImageInput, FeedsInt8Inputs) {
  const Image i{1, 2, 3, {0, 1, 2, 255, 254, 253}};
  const Int8Values plain = converted(i, tensor(1, 2, 3, 1, 5), {});
  EXPECT_EQ(plain, (Int8Values{-128, -127, -126, 127, 126, 125}));
  const Int8Values normalised = converted(i, tensor(1, 2, 3, 0.5F, 3), {{127.0}, {0.25}});
  EXPECT_EQ(normalised[0], -61);  // (0 - 127) / 4 / 0.5 + 3 = -60.5, away from zero before the zero point
  const Int8Values channels = converted(i, tensor(1, 2, 3, 1, 0), {{1, 2, 3}, {1, 10, 0.5}});
  EXPECT_EQ(channels, (Int8Values{-1, -10, -1, 127, 127, 125}));  // (2 - 3) / 2 away from zero
  EXPECT_THROW(converted(i, tensor(1, 2, 4, 1, 0), {}), InputError);
  EXPECT_EQ(converted(i, tensor(2, 2, 3, 1, 0), {}).size(), 12U);  // cut and resized
  EXPECT_EQ(converted(i, tensor(1, 2, 1, 1, 0), {}), (Int8Values{-127, 126}));
  EXPECT_THROW(converted(i, tensor(1, 2, 1, 1, 0), {{1, 2, 3}, {}}), InputError);
}

// Planes, real values; without a normalisation those that the 256 stored values stand for.
TEST(ImageInput, FeedsFloatInputs) {
  const Image i{1, 2, 3, {0, 1, 2, 255, 254, 253}};
  Tensor t;
  t.type = t.model_type = ElementType::Float32;
  t.shape = {1, 3, 1, 2};
  Quantization q;
  q.scale = {0.5F};
  q.zero_point = {-128};
  EXPECT_EQ(floats_of(to_input(i, t, q, {})), (std::vector<float>{0, 127.5F, 0.5F, 127, 1, 126.5F}));
  EXPECT_EQ(floats_of(to_input(i, t, {}, {})), (std::vector<float>{0, 255, 1, 254, 2, 253}));
  EXPECT_EQ(floats_of(to_input(i, t, q, {{{1.0}, {2.0}}, Fit::Crop})),
            (std::vector<float>{-2, 508, 0, 506, 2, 504}));
}

}  // namespace
}  // namespace kaiten
