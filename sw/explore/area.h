// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What an accelerator takes of an FPGA, from what some were mapped to: fpga/area.json, Xilinx 7 series by yosys
// (scripts/area.py). Units: LUTs of six inputs, DSP48E1, RAMB36E1 (a RAMB18E1 is half of one).
//  - LUTs and DSPs of a block are a sum of terms that grow with what the block has more of (a result that leaves in a cycle, a
//    column of the array, a multiplier, a bit of the bus), with factors of 0 or more by least squares of relative errors over what was mapped; the accelerator is the
//    sum of its blocks.
//  - RAM blocks follow from depth and width of each memory; nothing is fitted.
// leave_one_out() says what the model is worth: each mapped accelerator beside what a model fitted to the others says of it.
#ifndef KAITEN_EXPLORE_AREA_H
#define KAITEN_EXPLORE_AREA_H

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "program/config.h"

namespace kaiten::explore {

struct Resources {
  double lut = 0;
  double dsp = 0;
  double ram = 0;
};

// An accelerator that was mapped.
struct Mapped {
  Config config;  // its name is that of the entry
  std::map<std::string, Resources> blocks;
  Resources whole;
};

// The accelerators of fpga/area.json.
std::vector<Mapped> mapped_accelerators();

class AreaModel {
 public:
  // Fitted to these, at least one.
  explicit AreaModel(const std::vector<Mapped>& mapped);
  Resources area(const Config& config) const;

 private:
  // Of a block: factors of its terms.
  struct Fit {
    std::vector<double> lut, dsp;
  };
  std::map<std::string, Fit> blocks_;
};

// Block RAMs of a memory of one write and one read port: the cheapest aspect ratio; none up to 64 words, which are LUTs.
double ram_blocks(int depth, int width);

// What was mapped, what the model of all others says, and the relative errors of it.
struct Residual {
  std::string name;
  Resources mapped;
  Resources predicted;

  static double error(double predicted, double mapped) { return predicted / mapped - 1; }
};
std::vector<Residual> leave_one_out(const std::vector<Mapped>& mapped);

// The largest magnitudes of the errors.
Resources worst_error(const std::vector<Residual>& residuals);

}  // namespace kaiten::explore

#endif  // KAITEN_EXPLORE_AREA_H
