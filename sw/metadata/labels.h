// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Names of classes as model files hold them.
#ifndef KAITEN_METADATA_LABELS_H
#define KAITEN_METADATA_LABELS_H

#include <string>
#include <string_view>
#include <vector>

namespace kaiten::metadata {

// A line each. Carriage returns are left out; the last line break need not be there.
std::vector<std::string> lines_of(std::string_view text);

// "['cat', 'dog']", {0: 'cat', 1: 'dog'}, the same as JSON, or names with line breaks or else commas between them. Throws
// InputError for lists that do not end or have something else between their names, and numbers out of order.
std::vector<std::string> names_of(std::string_view text);

}  // namespace kaiten::metadata

#endif  // KAITEN_METADATA_LABELS_H
