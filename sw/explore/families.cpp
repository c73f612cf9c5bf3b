// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "explore/families.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/arithmetic.h"
#include "base/error.h"

namespace kaiten::explore {

namespace {

constexpr Family kFamilies[] = {{Family::Kind::kXc7, "xc7", "Xilinx 7 series", "LUTs of 6 inputs", "DSP48E1",
                                 "RAM blocks of 36 Kb (RAMB36E1)"},
                                {Family::Kind::kXcup, "xcup", "Xilinx UltraScale+", "LUTs of 6 inputs",
                                 "DSP48E2", "RAM blocks of 36 Kb (RAMB36E2)"},
                                {Family::Kind::kCycloneV, "cyclonev", "Intel Cyclone V", "LUTs of 6 inputs",
                                 "variable-precision DSP blocks", "RAM blocks of 10 Kb (M10K)"},
                                {Family::Kind::kEcp5, "ecp5", "Lattice ECP5", "LUTs of 4 inputs",
                                 "MULT18X18D", "RAM blocks of 18 Kb (DP16KD)"}};

// How many words of how many bits a block holds, and what it counts for.
struct Shape {
  int words;
  int bits;
  double blocks;
};
constexpr Shape kXilinx[] = {{512, 72, 1},   {1024, 36, 1},  {2048, 18, 1},  {4096, 9, 1},    {8192, 4, 1},
                             {16384, 2, 1},  {32768, 1, 1},  {512, 36, 0.5}, {1024, 18, 0.5}, {2048, 9, 0.5},
                             {4096, 4, 0.5}, {8192, 2, 0.5}, {16384, 1, 0.5}};
constexpr Shape kUltraRam[] = {{4096, 72, 1}, {8192, 36, 1}, {16384, 18, 1}, {32768, 9, 1}};
constexpr Shape kM10k[] = {{256, 40, 1}, {512, 20, 1}, {1024, 10, 1},
                           {2048, 5, 1}, {4096, 2, 1}, {8192, 1, 1}};
constexpr Shape kDp16kd[] = {{512, 36, 1}, {1024, 18, 1}, {2048, 9, 1},
                             {4096, 4, 1}, {8192, 2, 1},  {16384, 1, 1}};

std::span<const Shape> shapes_of(Family::Kind kind) {
  if (kind == Family::Kind::kCycloneV) return kM10k;
  if (kind == Family::Kind::kEcp5) return kDp16kd;
  return kXilinx;
}

// Words up to which a memory is made of LUTs.
int largest_lut_memory(Family::Kind kind) {
  constexpr int kSmallRams = 32, kLargeRams = 64;
  return kind == Family::Kind::kCycloneV || kind == Family::Kind::kEcp5 ? kSmallRams : kLargeRams;
}

double least(std::span<const Shape> shapes, int depth, int width) {
  double blocks = std::numeric_limits<double>::max();
  for (const Shape& s : shapes)
    blocks = std::min(blocks, s.blocks * ceil_div(depth, s.words) * ceil_div(width, s.bits));
  return blocks;
}

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family& family(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Family& f : kFamilies) {
    if (f.name == name) return f;
    names.push_back(f.name);
  }
  throw InputError(fmt::format("family: expected one of {}, found '{}'", fmt::join(names, ", "), name));
}

Resources memory_blocks(const Family& family, int depth, int width, bool ultra_rams) {
  constexpr double kRamsOfUltraRam = 4;  // yosys's costs of the two
  Resources used;
  if (depth <= largest_lut_memory(family.kind)) return used;
  used.ram = least(shapes_of(family.kind), depth, width);
  if (!family.has_uram() || !ultra_rams) return used;
  const double ultra = least(kUltraRam, depth, width);
  if (ultra * kRamsOfUltraRam <= used.ram) used = {0, 0, 0, ultra};
  return used;
}

}  // namespace kaiten::explore
