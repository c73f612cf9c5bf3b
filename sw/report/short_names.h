// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Names of layers where there is room for a few columns only.
#ifndef KAITEN_REPORT_SHORT_NAMES_H
#define KAITEN_REPORT_SHORT_NAMES_H

#include <cstddef>
#include <string>
#include <vector>

namespace kaiten {

// The names in at most `columns` columns (8 or more): ends are kept, as they say more than beginnings. Different names stay
// different: those that would be cut alike begin with their number in the list.
std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t columns);

}  // namespace kaiten

#endif  // KAITEN_REPORT_SHORT_NAMES_H
