// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the compiler knows of an accelerator: the capacities that rtl/configs.json gives to a preset and that a
/// built one states in its registers. Units: bytes, rows (WB, VWB: 9 * cp bytes each), addresses of one
/// bank (SB, VB), pixels (OB), words of one channel (ZSB).
#ifndef KAITEN_PROGRAM_CONFIG_H
#define KAITEN_PROGRAM_CONFIG_H

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace kaiten {

inline constexpr int kMostBatch = 4096;  ///< images of a run

/// What can be left out of an accelerator. Which of it a program needs, its commands say.
struct ConfigOptions {
  bool sum_row = true;    ///< weights of the array may have a zero point
  bool add_pair = false;  ///< the vector engine adds two operands in a cycle
  bool two_pixels =
      false;  ///< the array works on two pixels at once where one fills at most four words of a window
  bool large_windows = false;  ///< the vector engine streams windows up to 9 x 9
  bool resident = false;       ///< passes of a kernel tile may lie in PB, the others in DB
  bool conv_table =
      false;  ///< results of the array may go through a table of 256 bytes; all tables are read at once
  bool float_rule = true;  ///< results may be requantised by rule `float`, which ONNX models need
  bool average = true;     ///< windows of kind average, rule `average`
  bool table = true;       ///< results of the vector engine may go through a table of 256 bytes
  bool operator==(const ConfigOptions&) const = default;  ///< field by field
};

/// A configuration of the accelerator. A plain value.
struct Config : ConfigOptions {
  std::string name;    ///< as in rtl/configs.json
  int kp = 0;          ///< output channels of a tile: rows of the array
  int cp = 0;          ///< bytes of a word: columns of the array
  int stage_rows = 1;  ///< rows of the array that work in the same cycle
  int axi_bytes = 0;   ///< width of the memory bus, bytes
  int wb_rows = 0;     ///< weight buffer, rows
  int vwb_rows = 0;    ///< vector weight buffer, rows
  int sb_depth = 0;    ///< streaming buffer, addresses of each of its nine banks
  int vb_depth = 0;    ///< vector buffer, addresses of each of its nine banks
  int ob_pixels = 0;   ///< output buffer, pixels of partial sums
  int zsb_array = 0;   ///< requantisation parameters of the array, channels
  int zsb_vector = 0;  ///< of the vector engine, channels
  int zvc_beats = 0;   ///< of the longest row segment that STORE compresses, 0: no codec

  int array_multipliers() const { return kp * cp * 9; }  ///< multiply-accumulates a cycle
  int vector_multipliers() const { return 27 * cp; }     ///< multiply-accumulates a cycle
  /// Steps of the array, each a cycle after the one before; also the cycles of the shortest pass.
  int stages() const { return kp / stage_rows; }
  /// Products that a row of the array adds one after another, a cycle each: chain_of() of rtl/array/kt_array_pkg.sv.
  int chain() const { return two_pixels ? std::min(cp, 8) : 9; }
  /// Cycles from a window's products in the first stage to its sums in the last one.
  int array_depth() const { return stages() + chain(); }
  /// Cycles of a result that goes through the vector engine's table, at least: three groups of CP channels.
  int table_slots() const { return conv_table ? 1 : 3; }
  /// Words that LOAD writes in a cycle.
  int load_words() const { return std::min(9, axi_bytes / cp); }
  bool operator==(const Config&) const = default;  ///< field by field
  /// Equal but for name and options.
  bool same_sizes(Config other) const;
};

/// A parameter of rtl/configs.json and where a Config holds it: a number, in units of the parameter's, or an option.
struct ConfigParameter {
  std::string_view name;                  ///< "Kp", "SumRow", ...
  int Config::*number = nullptr;          ///< null for options
  bool ConfigOptions::*option = nullptr;  ///< null for numbers
  int unit = 1;                           ///< of the number, in the parameter's own: AxiW is in bits

  int of(const Config& c) const {
    return number != nullptr ? c.*number * unit : int(c.*option);
  }                                      ///< its value
  void set(Config& c, int value) const;  ///< the reverse
};
/// All of them, in the file's order.
std::span<const ConfigParameter> config_parameters();

/// The presets in the order of rtl/configs.json.
std::span<const Config> presets();
/// The preset of this name. Throws InputError naming the presets there are.
const Config& preset(std::string_view name);

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_CONFIG_H
