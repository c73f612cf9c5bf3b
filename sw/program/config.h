// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the compiler knows of an accelerator: the capacities that rtl/configs.json gives to a preset and that a
/// built one tells in its registers. Units: bytes, rows (WB, VWB: 9 * cp bytes each), addresses of one
/// bank (SB, VB), pixels (OB), words of one channel (ZSB).
#ifndef KAITEN_PROGRAM_CONFIG_H
#define KAITEN_PROGRAM_CONFIG_H

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace kaiten {

struct Config {
  std::string name;
  int kp = 0;  ///< output channels of a tile: rows of the array
  int cp = 0;  ///< bytes of a word: columns of the array
  int axi_bytes = 0;
  int wb_rows = 0;
  int vwb_rows = 0;
  int sb_depth = 0;
  int vb_depth = 0;
  int ob_pixels = 0;
  int zsb_array = 0;
  int zsb_vector = 0;
  bool sum_row = true;  ///< weights of the array may have a zero point
  int zvc_beats = 0;    ///< of the longest row segment that STORE compresses, 0: no codec

  int array_multipliers() const { return kp * cp * 9; }
  int vector_multipliers() const { return 27 * cp; }
  /// Words that LOAD writes in a cycle.
  int load_words() const { return std::min(9, axi_bytes / cp); }
  bool operator==(const Config&) const = default;
};

/// The presets in the order of rtl/configs.json.
std::span<const Config> presets();
/// Throws InputError naming the presets there are.
const Config& preset(std::string_view name);

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_CONFIG_H
