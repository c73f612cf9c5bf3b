// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Text from outside (names in models, names of files) on its way to a terminal.
#ifndef KAITEN_BASE_TEXT_H
#define KAITEN_BASE_TEXT_H

#include <cstddef>
#include <string>
#include <string_view>

namespace kaiten {

// The text as valid UTF-8 that moves no cursor and turns no direction: every control character, line break, bidirectional
// control and byte that is no UTF-8 becomes '?'. All other characters stay.
std::string printable(std::string_view text);
// The same, line by line.
std::string printable_lines(std::string_view text);

// About so long: "8 s", "3 min", "2 h 10 min".
std::string duration_text(double seconds);

// Of printable text: columns of a terminal that it takes.
std::size_t display_width(std::string_view text);
// The longest beginning, or end, that takes at most so many columns.
std::string_view first_columns(std::string_view text, std::size_t columns);
std::string_view last_columns(std::string_view text, std::size_t columns);

}  // namespace kaiten

#endif  // KAITEN_BASE_TEXT_H
