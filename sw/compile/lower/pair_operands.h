// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Additions whose two operands are read in one slot. Their words must lie in different banks; a map's rows can be
// turned by three banks against another's, so the maps that are added up are turned against each other.
#ifndef KAITEN_COMPILE_LOWER_PAIR_OPERANDS_H
#define KAITEN_COMPILE_LOWER_PAIR_OPERANDS_H

#include "compile/lower/lowered.h"

namespace kaiten {

// Chooses `mod3_offset` of the storages and `pair` of the additions. Views and storages are final.
void pair_operands(Lowering& lowering);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_PAIR_OPERANDS_H
