// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The layer tables of models/tables, which are part of the program.
#ifndef KAITEN_PLAN_KNOWN_TABLES_H
#define KAITEN_PLAN_KNOWN_TABLES_H

#include <optional>
#include <string>
#include <vector>

#include "plan/network.h"

namespace kaiten::plan {

// By the file's name without its ending: "vgg16". Nothing for another name.
std::optional<Network> known_table(const std::string& name);
std::vector<std::string> known_table_names();

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_KNOWN_TABLES_H
