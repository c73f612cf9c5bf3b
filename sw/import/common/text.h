// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What messages about a model file are made of.
#ifndef KAITEN_IMPORT_COMMON_TEXT_H
#define KAITEN_IMPORT_COMMON_TEXT_H

#include <string>
#include <string_view>

namespace kaiten::importing {

// A damaged or inconsistent file: InputError "bad model file: ...".
[[noreturn]] void fail(const std::string& what);

// A name of the file, made fit for one-line messages and tables: no control characters, no quotes, bounded
// length.
std::string clean_name(std::string_view text);

// A real number as short as streams print it: "0.0039215".
std::string number(double value);

}  // namespace kaiten::importing

#endif  // KAITEN_IMPORT_COMMON_TEXT_H
