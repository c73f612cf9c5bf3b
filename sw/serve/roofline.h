// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Roofline of the SubNets of a family, with and without PB (SUSHI paper, section 5.2, figures 10 and 11): how many operations a
// SubNet does for each byte that leaves or enters the chip, and what a machine of so many multipliers and so much bandwidth then
// attains at most. Rules: every multiplier works in every cycle; weights are read once, activations stay on chip but for image
// and result; PB holds what all SubNets share, layers with the fewest output pixels first, in whole kernels. A multiplication
// and its addition are two operations.
#ifndef KAITEN_SERVE_ROOFLINE_H
#define KAITEN_SERVE_ROOFLINE_H

#include <cstdint>
#include <string>
#include <vector>

#include "supernet/families.h"

namespace kaiten::serve {

// A machine.
struct Roof {
  double macs_per_cycle = 0;
  double bytes_per_cycle = 0;
  std::int64_t pb_bytes = 0;

  // Operations a byte from which on computing bounds.
  double ridge() const { return 2 * macs_per_cycle / bytes_per_cycle; }
};

// Of a SubNet, with or without PB.
struct RoofSide {
  std::int64_t bytes = 0;  // off chip
  double intensity = 0;    // operations a byte
  double attained = 0;     // operations a cycle, at most
  double cycles = 0;       // layer by layer, the larger of computing and reading; then image and result
};

struct RoofPoint {
  std::string name;
  std::int64_t macs = 0;
  RoofSide without, with;
};

// In the order of the family. `kernel`: only layers of so many rows and columns that are not depthwise, without image and
// result; 0: the whole SubNet. Throws InputError for a kernel that no layer has.
std::vector<RoofPoint> roofline(const supernet::Family& family, const Roof& roof, int kernel = 0);

}  // namespace kaiten::serve

#endif  // KAITEN_SERVE_ROOFLINE_H
