// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Families of FPGAs that scripts/synth.py maps to, by its names, and the memory blocks that yosys makes there of a memory with
// one write and one read port.
#ifndef KAITEN_EXPLORE_FAMILIES_H
#define KAITEN_EXPLORE_FAMILIES_H

#include <cstdint>
#include <span>
#include <string_view>

namespace kaiten::explore {

struct Resources {
  double lut = 0;
  double dsp = 0;
  double ram = 0;
  double uram = 0;  // 0 where the family has none
};

// What it has, and what is counted as one of each.
struct Family {
  enum class Kind : std::uint8_t { kXc7, kXcup, kCycloneV, kEcp5 };

  Kind kind = Kind::kXc7;
  std::string_view name;   // "xc7"
  std::string_view title;  // "Xilinx 7 series"
  std::string_view lut;    // "LUTs of 6 inputs"
  std::string_view dsp;
  std::string_view ram;

  bool has_uram() const { return kind == Kind::kXcup; }
};

std::span<const Family> families();
// Throws InputError with the names there are.
const Family& family(std::string_view name);

// Blocks of a memory: the cheapest aspect ratio; none where it becomes LUTs. In xcup a memory goes into UltraRAMs where one of
// them takes the place of four RAM blocks or more, unless it may not.
Resources memory_blocks(const Family& family, int depth, int width, bool ultra_rams = true);

}  // namespace kaiten::explore

#endif  // KAITEN_EXPLORE_FAMILIES_H
