// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Layer tables: the JSON of Kaiten's own (docs/compiler/planning.md, "Layer tables") and the topology CSV of SCALE-Sim
/// (https://scale-sim-project.github.io/: name, input height and width, filter height and width, channels,
/// filters, strides; a chain of convolutions whose input sizes already contain the padding).
#ifndef KAITEN_PLAN_TABLE_H
#define KAITEN_PLAN_TABLE_H

#include <string>
#include <string_view>

#include "plan/network.h"

namespace kaiten::plan {

/// A layer table in JSON. `file` is what errors call the text. Throws InputError "FILE:LINE:COLUMN: expected
/// ..., found ...".
Network read_table(std::string_view text, const std::string& file);
/// A topology CSV, with the same errors.
Network read_topology(std::string_view text, const std::string& file);

/// What a text looks like by its first character: '{' is a table.
bool looks_like_table(std::string_view text);
/// A first line that starts with "Layer name", as SCALE-Sim's topologies do.
bool looks_like_topology(std::string_view text);

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_TABLE_H
