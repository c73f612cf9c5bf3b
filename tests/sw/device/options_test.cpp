// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What commands need of the register `options`, each option by itself.
#include "device/options.h"

#include <gtest/gtest.h>

#include <string>

#include "device/csr.h"

namespace kaiten {
namespace {

// What such a command lacks of a device that has all but what this one of its fields needs.
std::string lacks(const CommandBody& plain, const CommandBody& with) {
  const std::uint32_t needed = options_of({.body = with});
  const std::uint32_t more = needed & ~options_of({.body = plain});
  return lacking(needed, ~more);
}

TEST(Options, OfConv) {
  const ConvCommand plain;
  EXPECT_EQ(lacks(plain, ConvCommand{.weight_zero = -3}), "a sum row");
  EXPECT_EQ(lacks(plain, ConvCommand{.pair_groups = 2}), "two pixels at once");
  EXPECT_EQ(lacks(plain, plain), "");
  Command extended{.body = plain};
  const std::uint32_t there = options_of({.body = plain});
  extended.extension = ExtendConvCommand{};
  EXPECT_EQ(lacking(options_of(extended), there), "");
  extended.extension = ExtendConvCommand{.resident_passes = 1};
  EXPECT_EQ(lacking(options_of(extended), there), "resident weights");
  extended.extension = ExtendConvCommand{.last_groups = 1};
  EXPECT_EQ(lacking(options_of(extended), there), "resident weights");
  extended.extension = ExtendConvCommand{.look_up = 1};
  EXPECT_EQ(lacking(options_of(extended), there), "tables behind the array");
}

TEST(Options, OfVector) {
  EXPECT_EQ(lacks(AddCommand{}, AddCommand{.pair = 1}), "pairs of operands");
  EXPECT_EQ(lacks(AddCommand{}, AddCommand{.look_up = 1}), "tables");
  EXPECT_EQ(lacks(WindowCommand{}, WindowCommand{.look_up = 1}), "tables");
}

TEST(Options, NamesWhatThereIs) {
  WindowCommand average;
  average.kind = int(WindowKind::kAverage);
  const std::uint32_t needed = options_of({.body = average});
  const std::uint32_t others = ~csr::kOptionsWindowKinds.mask();
  EXPECT_EQ(lacking(needed, others | csr::kOptionsWindowKinds.put(3)),
            "kind average, the device has depthwise, maximum");
  EXPECT_EQ(lacking(needed, others), "kind average, the device has none");
}

}  // namespace
}  // namespace kaiten
