// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// In which order the operators run.
#ifndef KAITEN_COMPILE_LOWER_ORDER_H
#define KAITEN_COMPILE_LOWER_ORDER_H

#include <vector>

#include "compile/lower/lowered.h"

namespace kaiten {

// The same operators in another order: of several operands, those made in less time come first, so that what
// reads them (an addition, say) can work row by row beside the one that takes longest. Costs room for the
// operands that wait.
std::vector<LoweredOp> long_operands_last(const Lowering& lowering);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_ORDER_H
