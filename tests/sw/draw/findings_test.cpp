// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Masks, points and boxes out of outputs that are written by hand, and where they stand in the image.

#include "draw/findings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "draw/boxes.h"
#include "draw/draw.h"

namespace kaiten::draw {
namespace {

constexpr Nhwc kInput{1, 128, 128, 3};

RealOutput zeros(std::vector<int> shape, bool is_integer = false) {
  std::size_t n = 1;
  for (const int d : shape) n *= std::size_t(d);
  return {"out", std::move(shape), is_integer, std::vector<float>(n)};
}

TEST(Kinds, FollowFromTheShapes) {
  EXPECT_EQ(kind_of({zeros({1, 513, 513}, true)}, kInput), Kind::Mask);
  EXPECT_EQ(kind_of({zeros({1, 128, 128, 21})}, kInput), Kind::Mask);
  EXPECT_EQ(kind_of({zeros({1, 256, 256, 3})}, kInput), Kind::Picture);
  EXPECT_EQ(kind_of({zeros({1, 1}), zeros({1, 63})}, kInput), Kind::Points);
  EXPECT_EQ(kind_of({zeros({1, 1, 17, 3})}, kInput), Kind::Points);
  EXPECT_EQ(
      kind_of({zeros({1, 512, 16}), zeros({1, 384, 1}), zeros({1, 512, 1}), zeros({1, 384, 16})}, kInput),
      Kind::Boxes);
  EXPECT_EQ(kind_of({zeros({1, 2016, 1}), zeros({1, 2016, 18})}, {1, 192, 192, 3}), Kind::Boxes);
  EXPECT_THROW(kind_of({zeros({1, 1000})}, kInput), InputError);        // classes of the whole image
  EXPECT_THROW(kind_of({zeros({1, 12, 12, 30})}, kInput), InputError);  // YOLO or heat maps
  EXPECT_THROW(kind_of({zeros({1, 100, 1}), zeros({1, 100, 16})}, kInput), InputError);  // no pair of grids
}

TEST(Masks, TakeTheLargestChannel) {
  RealOutput o = zeros({1, 2, 2, 3});
  o.values = {1, 0, 0, 0, 5, 2, -3, -2, -1, 4, 4, 4};
  const Findings found = find({o}, kInput, {.kind = Kind::Mask});
  EXPECT_EQ(found.mask->classes, (std::vector<int>{0, 1, 2, 0}));
  EXPECT_EQ(summary(found), "classes 0 1 2");
}

TEST(Points, AreThePeaksOfHeatMaps) {
  RealOutput o = zeros({1, 4, 8, 2});
  o.values[(1 * 8 + 6) * 2] = 0.9F;      // first map: row 1, column 6
  o.values[(3 * 8 + 0) * 2 + 1] = 0.2F;  // second: row 3, column 0, too weak
  const Findings found = find({o}, kInput, {.kind = Kind::Points});
  ASSERT_EQ(found.points.size(), 1U);
  EXPECT_DOUBLE_EQ(found.points[0].x, 6.5 / 8);
  EXPECT_DOUBLE_EQ(found.points[0].y, 1.5 / 4);
}

TEST(Points, OfLandmarksAreThoseInPixels) {
  RealOutput metres = zeros({1, 6}), pixels = zeros({1, 6});
  metres.values = {0.1F, 0.2F, 0.3F, 0.1F, 0.2F, 0.3F};
  pixels.values = {32, 64, 9, 128, 0, -3};
  const Findings found = find({metres, pixels}, kInput, {});
  ASSERT_EQ(found.points.size(), 2U);
  EXPECT_DOUBLE_EQ(found.points[0].x, 0.25);
  EXPECT_DOUBLE_EQ(found.points[0].y, 0.5);
  EXPECT_DOUBLE_EQ(found.points[1].x, 1);
}

// Anchor 5 of BlazeFace's finer grid is the second of cell 2; anchor 512 + 13 the second of cell 2 of the coarser one.
TEST(Boxes, OfBlazeFaceStandAroundTheirAnchors) {
  std::vector<RealOutput> outputs = {zeros({1, 384, 16}), zeros({1, 384, 1}), zeros({1, 512, 1}),
                                     zeros({1, 512, 16})};
  std::fill(outputs[1].values.begin(), outputs[1].values.end(), -9.0F);
  std::fill(outputs[2].values.begin(), outputs[2].values.end(), -9.0F);
  outputs[2].values[5] = 2;
  float* fine = &outputs[3].values[5 * 16];
  fine[0] = 12.8F, fine[1] = -6.4F, fine[2] = 25.6F, fine[3] = 12.8F, fine[4] = 64;
  outputs[1].values[13] = 1;
  outputs[0].values[13 * 16 + 2] = 12.8F, outputs[0].values[13 * 16 + 3] = 12.8F;
  const Findings found = find(outputs, kInput, {});
  ASSERT_EQ(found.boxes.size(), 2U);
  EXPECT_NEAR(found.boxes[0].score, 1 / (1 + std::exp(-2.0)), 1e-9);
  EXPECT_NEAR(found.boxes[0].left, 2.5 / 16 + 0.1 - 0.1, 1e-6);
  EXPECT_NEAR(found.boxes[0].right, 2.5 / 16 + 0.1 + 0.1, 1e-6);
  EXPECT_NEAR(found.boxes[0].top, 0.5 / 16 - 0.05 - 0.05, 1e-6);
  ASSERT_EQ(found.boxes[0].points.size(), 6U);
  EXPECT_NEAR(found.boxes[0].points[0].x, 2.5 / 16 + 0.5, 1e-6);
  EXPECT_NEAR((found.boxes[1].left + found.boxes[1].right) / 2, 2.5 / 8, 1e-6);
}

TEST(Boxes, OfYoloStandInTheirCells) {
  RealOutput o = zeros({1, 2, 4, 14});  // two boxes of two classes
  for (std::size_t i = 4; i < o.values.size(); i += 7) o.values[i] = -9;
  float* v = &o.values[(1 * 4 + 2) * 14 + 7];  // row 1, column 2, second box
  v[2] = float(std::log(2.0)), v[4] = 3, v[6] = 4;
  const Findings found = find({o}, kInput, {Kind::Boxes, 0.5, {{0.1, 0.1}, {0.2, 0.3}}});
  ASSERT_EQ(found.boxes.size(), 1U);
  EXPECT_NEAR(found.boxes[0].left, 2.5 / 4 - 0.2, 1e-6);
  EXPECT_NEAR(found.boxes[0].bottom, 1.5 / 2 + 0.15, 1e-6);
  EXPECT_EQ(found.boxes[0].category, 1);
  EXPECT_NEAR(found.boxes[0].score, 1 / (1 + std::exp(-3.0)) / (1 + std::exp(-4.0)), 1e-6);
  EXPECT_THROW(find({o}, kInput, {Kind::Boxes, 0.5, {}}), InputError);
  EXPECT_THROW(find({o}, kInput, {Kind::Boxes, 0.5, {{1, 1}, {1, 1}, {1, 1}}}), InputError);
}

TEST(Boxes, ThatOverlapABetterOneAreLeftOut) {
  const FoundBox good{0, 0, 1, 1, 0.9, 0, {}}, near{0, 0, 1, 0.9, 0.8, 0, {}},
      other{0, 0, 1, 0.9, 0.7, 1, {}}, far{0.8, 0, 1.8, 1, 0.6, 0, {}}, weak{5, 5, 6, 6, 0.1, 0, {}};
  const std::vector<FoundBox> best = best_boxes({far, weak, near, good, other}, 0.5);
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[0].score, 0.9);
  EXPECT_EQ(best[1].category, 1);
  EXPECT_EQ(best[2].score, 0.6);
}

// The middle 100 x 100 of a 200 x 100 image are the network's input.
TEST(Drawn, FindingsStandWhereTheInputWas) {
  const Image image{100, 200, 1, std::vector<std::uint8_t>(20000, 40)};
  const ImagePlacement place = placement(200, 100, 50, 50, Fit::Crop);
  Findings found;
  found.kind = Kind::Boxes;
  found.boxes = {{0.1, 0.1, 0.5, 0.5, 0.9, 0, {{0.75, 0.25, 1}}}};
  found.mask = Mask{1, 2, {0, 3}};
  found = in_pixels(found, image, place, {1, 50, 50, 3});
  EXPECT_DOUBLE_EQ(found.boxes[0].left, 60);
  EXPECT_DOUBLE_EQ(found.boxes[0].bottom, 50);
  EXPECT_DOUBLE_EQ(found.boxes[0].points[0].x, 125);
  const auto class_at = [&](int x) { return found.mask->classes[std::size_t(x)]; };
  EXPECT_EQ((std::array{class_at(49), class_at(99), class_at(100), class_at(149), class_at(150)}),
            (std::array{0, 0, 3, 3, 0}));
  found.mask.reset();
  const Image out = drawn(image, found);
  const auto pixel = [&](int x, int y) {
    const std::uint8_t* p = &out.data[std::size_t(y * 200 + x) * 3];
    return Colour{p[0], p[1], p[2]};
  };
  EXPECT_EQ(pixel(60, 30), colour_of(0));   // the left edge
  EXPECT_EQ(pixel(125, 25), colour_of(0));  // the point
  EXPECT_EQ(pixel(80, 30), (Colour{40, 40, 40}));
  EXPECT_EQ(pixel(59, 30), (Colour{40, 40, 40}));
}

TEST(Drawn, WhatLiesOutsideIsCutOff) {
  const Image image{10, 10, 3, std::vector<std::uint8_t>(300, 7)};
  Findings found;
  found.boxes = {{-1e30, -5, 1e30, 1e9, 1, 0, {{std::nan(""), 3, 1}, {-4e9, 4e9, 1}}}};
  EXPECT_EQ(drawn(image, found).data.size(), 300U);
}

TEST(Drawn, ColoursOfClassesDiffer) {
  for (int a = 0; a < 20; a++) {
    for (int b = 0; b < a; b++) EXPECT_NE(colour_of(a), colour_of(b));
  }
}

}  // namespace
}  // namespace kaiten::draw
