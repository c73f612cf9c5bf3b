// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Accelerators that could be built: every combination of the values of some axes that the RTL's parameter checks allow
// (gen_check_* of rtl/array/kt_conv.sv, kt_dpe_array.sv, rtl/vector/kt_vector.sv, rtl/store/kt_store_pack.sv,
// rtl/control/kt_cmd_fetch.sv). Everything else is as in `base`. Units: KiB for buffers, bits for the bus.
#ifndef KAITEN_EXPLORE_SPACE_H
#define KAITEN_EXPLORE_SPACE_H

#include <string>
#include <vector>

#include "program/config.h"

namespace kaiten::explore {

// Values that are combined; none empty.
struct Axes {
  std::vector<int> kp = {8, 16, 32, 64};
  std::vector<int> cp = {4, 8, 16};
  std::vector<int> bus_bits = {128, 256, 512};
  std::vector<int> wb_kib = {288, 1152, 2592};  // PB and DB together
  std::vector<int> sb_kib = {144, 576};
  std::vector<int> vb_kib = {144, 576};
  std::vector<int> ob_pixels = {512};
  std::vector<int> zsb_channels = {8192};  // of the array, and of the vector engine
  std::vector<int> pb_percent = {0};       // of WB, that PB takes
  std::vector<int> large_windows = {1};    // 0 or 1: the vector engine streams windows up to 9 x 9
  std::vector<int> conv_table = {1};       // 0 or 1: two tables behind the array

  std::size_t combinations() const;
};

// One of the combinations.
struct Candidate {
  Config config;    // its name says what it is
  int pb_rows = 0;  // of WB
};

// Why the RTL refuses these parameters, one line; empty where it does not.
std::string refusal_of(const Config& config);

// The combinations that the RTL takes, in the order of the axes, the last one fastest. KP rows are in steps of four, or of two
// where four would leave a single one; the array takes two pixels where KP is at most 4 CP. Combinations that round to the
// same accelerator are one candidate.
std::vector<Candidate> candidates(const Axes& axes);

}  // namespace kaiten::explore

#endif  // KAITEN_EXPLORE_SPACE_H
