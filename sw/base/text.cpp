// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <clocale>
#include <cmath>
#include <cwchar>
#include <iterator>

namespace kaiten {

namespace {

namespace utf = boost::locale::utf;

// What a terminal obeys instead of showing it: C0, DEL and C1; line and paragraph separators; bidirectional marks,
// embeddings, overrides and isolates; the byte order mark.
constexpr struct {
  utf::code_point first, last;
} kControls[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200e, 0x200f},
                 {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}};

bool is_printable(utf::code_point c) {
  return utf::is_valid_codepoint(c) &&
         std::none_of(std::begin(kControls), std::end(kControls),
                      [c](const auto& range) { return c >= range.first && c <= range.last; });
}

// Calls visit(character, its bytes) for each character; what is no UTF-8 comes byte by byte, as utf::illegal.
template <class Visit>
void each_character(std::string_view text, Visit&& visit) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const char* next = at;
    const utf::code_point c = utf::utf_traits<char>::decode(next, end);
    if (!utf::is_valid_codepoint(c)) next = at + 1;
    if (!visit(utf::is_valid_codepoint(c) ? c : utf::illegal, std::string_view(at, std::size_t(next - at))))
      return;
    at = next;
  }
}

std::string cleaned(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  each_character(text, [&](utf::code_point c, std::string_view bytes) {
    out += is_printable(c) || (lines && c == '\n') ? bytes : "?";
    return true;
  });
  return out;
}

// Columns of a character, by the C library's table for UTF-8.
std::size_t columns_of(utf::code_point c) {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
  if (c < 0x80 || utf8 == locale_t{}) return 1;
  const locale_t before = uselocale(utf8);
  const int width = wcwidth(wchar_t(c));
  uselocale(before);
  return width < 0 ? 1 : std::size_t(width);
}

}  // namespace

std::string printable(std::string_view text) { return cleaned(text, false); }

std::string printable_lines(std::string_view text) { return cleaned(text, true); }

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  each_character(text, [&](utf::code_point c, std::string_view) {
    columns += columns_of(c);
    return true;
  });
  return columns;
}

std::string_view first_columns(std::string_view text, std::size_t columns) {
  std::size_t taken = 0, bytes = 0;
  each_character(text, [&](utf::code_point c, std::string_view character) {
    taken += columns_of(c);
    if (taken > columns) return false;
    bytes += character.size();
    return true;
  });
  return text.substr(0, bytes);
}

std::string_view last_columns(std::string_view text, std::size_t columns) {
  std::size_t width = display_width(text), bytes = 0;
  each_character(text, [&](utf::code_point c, std::string_view character) {
    if (width <= columns) return false;
    width -= columns_of(c);
    bytes += character.size();
    return true;
  });
  return text.substr(bytes);
}

std::string duration_text(double seconds) {
  constexpr long kMinute = 60, kHour = 3600;
  const long whole = std::max(1L, std::lround(std::min(seconds, 1e9)));
  if (whole < 2 * kMinute) return std::to_string(whole) + " s";
  if (whole < 2 * kHour) return std::to_string((whole + kMinute / 2) / kMinute) + " min";
  return std::to_string(whole / kHour) + " h " + std::to_string(whole % kHour / kMinute) + " min";
}

}  // namespace kaiten
