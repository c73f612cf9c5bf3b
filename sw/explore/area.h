// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What an accelerator takes of an FPGA, from what some were mapped to by yosys: fpga/area.json (scripts/area.py). Units are those
// of the family (families.h).
//  - LUTs and DSPs of a block of xc7 are a sum of terms that grow with what the block has more of (a result that leaves in a
//    cycle, a column of the array, a multiplier, a bit of the bus), with factors of 0 or more by least squares of relative errors
//    over what was mapped; the accelerator is the sum of its blocks.
//  - Those of another family, to which fewer accelerators were mapped, are a factor of xc7's, block by block, by least squares of
//    relative errors over what was mapped to both.
//  - RAM blocks follow from depth and width of each memory; nothing is fitted.
// Accelerators that lack options which all candidates have (micro) tell about other families only, not about terms.
// leave_one_out() says what the model is worth: each mapped accelerator beside what a model fitted to the others says of it.
#ifndef KAITEN_EXPLORE_AREA_H
#define KAITEN_EXPLORE_AREA_H

#include <map>
#include <string>
#include <vector>

#include "explore/families.h"
#include "program/config.h"

namespace kaiten::explore {

// An accelerator that was mapped.
struct Mapped {
  std::string family;
  Config config;  // its name is that of the entry
  std::map<std::string, Resources> blocks;
  Resources whole;
};

// The accelerators of fpga/area.json, once for each family.
std::vector<Mapped> mapped_accelerators();

class AreaModel {
 public:
  // Fitted to these. Throws InputError where none of them was mapped to the family, or to xc7.
  AreaModel(const std::vector<Mapped>& mapped, const Family& family);
  // `most_uram`: memories for which there are not as many UltraRAMs are RAM blocks, those first that take the fewest for each
  // UltraRAM. 0: any number.
  Resources area(const Config& config, double most_uram = 0) const;

 private:
  // Of a block: factors of its terms, and of their sums.
  struct Fit {
    std::vector<double> lut, dsp;
    double lut_factor = 1, dsp_factor = 1;
  };
  const Family& family_;
  std::map<std::string, Fit> blocks_;
};

// What was mapped, what the model of all others says, and the relative errors of it.
struct Residual {
  std::string name;
  Resources mapped;
  Resources predicted;

  static double error(double predicted, double mapped) {
    return predicted == mapped ? 0 : predicted / mapped - 1;  // there may be none of either
  }
};
// Of what was mapped to the family; of those with all options; none where that is a single accelerator.
std::vector<Residual> leave_one_out(const std::vector<Mapped>& mapped, const Family& family);

// The largest magnitudes of the errors.
Resources worst_error(const std::vector<Residual>& residuals);

}  // namespace kaiten::explore

#endif  // KAITEN_EXPLORE_AREA_H
