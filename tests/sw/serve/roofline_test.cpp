// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The roofline of a family of two SubNets whose figures can be done by hand, and what must hold of those that are shipped.
#include "serve/roofline.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "supernet/families.h"

namespace kaiten::serve {
namespace {

// A 3x3 layer of 100 pixels and a 1x1 layer of one, of which the second SubNet has half of the kernels.
supernet::Family made() {
  supernet::Family f;
  f.name = "made";
  f.net = {"made", 4, {{"a", 3, 100, false, false, {10, 10}}, {"b", 1, 1, false, false, {50, 10}}}};
  f.subnets = {{"large", "", 2, {{10, 10}, {50, 10}}}, {"small", "", 1, {{10, 10}, {25, 10}}}};
  return f;
}

TEST(Roofline, ByHand) {
  const Roof roof{100, 10, 400};
  EXPECT_EQ(roof.ridge(), 20);
  const std::vector<RoofPoint> points = roofline(made(), roof);
  ASSERT_EQ(points.size(), 2U);
  const RoofPoint& large = points[0];
  EXPECT_EQ(large.name, "large");
  EXPECT_EQ(large.macs, 90'000 + 500);
  const std::int64_t other = 4 * 4 * 3 + 1000;
  EXPECT_EQ(large.without.bytes, 900 + 500 + other);
  // PB has the 250 bytes of layer b that both share (its pixels are fewest), then a kernel of 90 bytes of layer a.
  EXPECT_EQ(large.with.bytes, large.without.bytes - 250 - 90);
  EXPECT_EQ(points[1].with.bytes, 900 + 250 + other - 250 - 90);
  // Layer a: 900 cycles of computing, 90 of reading; b: 5 of computing, 50 or 25 of reading.
  EXPECT_DOUBLE_EQ(large.without.cycles, 900 + 50 + double(other) / 10);
  EXPECT_DOUBLE_EQ(large.with.cycles, 900 + 25 + double(other) / 10);
  EXPECT_DOUBLE_EQ(large.without.intensity, 2.0 * 90'500 / double(large.without.bytes));
  EXPECT_DOUBLE_EQ(large.without.attained, 200);  // beyond the ridge
  const RoofPoint slow = roofline(made(), {100, 0.1, 400})[0];
  EXPECT_DOUBLE_EQ(slow.without.attained, slow.without.intensity * 0.1);
}

TEST(Roofline, OfLayersOfOneKernel) {
  const RoofPoint p = roofline(made(), {100, 10, 400}, 3)[0];
  EXPECT_EQ(p.macs, 90'000);
  EXPECT_EQ(p.without.bytes, 900);  // no image, no result
  EXPECT_EQ(p.with.bytes, 900 - 4 * 90);
  EXPECT_THROW(roofline(made(), {100, 10, 400}, 5), InputError);
}

TEST(Roofline, PbMovesSubNetsToTheRight) {
  for (const std::string_view name : supernet::family_names()) {
    const supernet::Family family = supernet::family(name);
    const Roof roof{6480, 192, 1769472};
    const std::vector<RoofPoint> points = roofline(family, roof);
    ASSERT_EQ(points.size(), family.subnets.size());
    for (std::size_t i = 0; i < points.size(); i++) {
      const RoofPoint& p = points[i];
      EXPECT_EQ(p.macs, supernet::macs(family.net, family.subnets[i].encoding));
      EXPECT_GT(p.with.intensity, p.without.intensity);
      EXPECT_LE(p.with.cycles, p.without.cycles);
      EXPECT_LE(p.without.bytes - p.with.bytes, roof.pb_bytes);
      EXPECT_GE(p.with.cycles * roof.macs_per_cycle, double(p.macs));
    }
  }
}

}  // namespace
}  // namespace kaiten::serve
