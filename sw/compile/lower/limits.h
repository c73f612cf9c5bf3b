// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Limits of command fields and engines, and how an operator that breaks one is refused.
#ifndef KAITEN_COMPILE_LOWER_LIMITS_H
#define KAITEN_COMPILE_LOWER_LIMITS_H

#include <string>

#include "base/unsupported.h"
#include "graph/graph.h"

namespace kaiten {

constexpr int kMaxMapSide = 1023;
constexpr int kMaxColumns = 1023;  // of a command; wider maps run in stripes
constexpr int kMaxMapColumns = 16383;
constexpr int kMaxArrayKernel = 48;  // sixteen kernel tiles
constexpr int kMaxMapKernel = 24;    // fully connected layers over a map
constexpr int kMaxArrayStride = 15;
constexpr int kMaxKernelTiles = 16;    // in a direction; of 3x3 taps: 8
constexpr int kMaxStreamedStride = 2;  // of columns, where the line buffer keeps windows (mode 3x3)
constexpr int kMaxStep = 2303;         // words
constexpr int kMaxPosition = 1151;     // words left of a first column
constexpr int kMaxArrayPadLeft = 31;
constexpr int kMaxWindowKernel = 255;
constexpr int kMaxWindowStride = 15;
constexpr int kMaxWindowPadLeft = 15;
constexpr int kMaxTiles = 1023;
constexpr int kMaxPasses = 1023;
constexpr int kMaxGroups = 1023;
constexpr int kMaxFlatBytes = 16383;

inline void require(bool holds, const std::string& limit, const std::string& value) {
  if (!holds) throw Unsupported{limit, value};
}

inline std::string size_text(int a, int b) { return std::to_string(a) + "x" + std::to_string(b); }
inline std::string at_most(const std::string& what, int limit) {
  return what + " at most " + std::to_string(limit);
}

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_LIMITS_H
