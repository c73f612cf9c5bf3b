// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What runs where: every operator, the parameters it may have and the part of the accelerator that does it, from the
// limits that lowering checks. docs/compiler/operators.md is this page.
#ifndef KAITEN_COMPILE_LOWER_OPERATORS_H
#define KAITEN_COMPILE_LOWER_OPERATORS_H

#include <string>

#include "graph/graph.h"

namespace kaiten {

// False for kinds that importers and the reference executor know and the accelerator does not run.
bool runs_on_accelerator(OpKind kind);
// "conv, depthwise, ...": those that do.
std::string operators_text();
// Markdown.
std::string operators_page();

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_OPERATORS_H
