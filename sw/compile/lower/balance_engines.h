// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which engine computes what both can.
#ifndef KAITEN_COMPILE_LOWER_BALANCE_ENGINES_H
#define KAITEN_COMPILE_LOWER_BALANCE_ENGINES_H

#include <cstdint>

#include "compile/lower/lower_engines.h"
#include "compile/lower/lowered.h"

namespace kaiten {

// kAll is for tests: whatever can.
enum class EngineMoves : std::uint8_t { kQuicker, kAll };

// Products with a pixel of constants become depthwise layers of one cell, which need half the cycles. Windows of one cell
// (these, copies, tables, requantisations) become convolutions where the array is quicker and the vector engine has more to
// do in the whole network even so. What an operator makes stays where it is.
void balance_engines(const LowerContext& c, Lowering& lowering, EngineMoves moves = EngineMoves::kQuicker);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_BALANCE_ENGINES_H
