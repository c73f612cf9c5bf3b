// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "serve/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace kaiten::serve {

namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

}  // namespace

bool CsvReader::next(std::vector<std::string_view>& fields) {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    line_++;
    if (line.empty()) continue;
    fields.clear();
    for (std::size_t comma = 0; comma != std::string_view::npos;
         line.remove_prefix(std::min(comma + 1, line.size()))) {
      comma = line.find(',');
      fields.push_back(trimmed(line.substr(0, comma)));
      if (comma == std::string_view::npos) break;
    }
    return true;
  }
  return false;
}

double CsvReader::number(const std::vector<std::string_view>& fields, std::size_t column,
                         std::string_view name) const {
  if (column >= fields.size())
    fail("expected a number for '" + std::string(name) + "', found the end of the line");
  const std::string_view text = fields[column];
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    fail("expected a number for '" + std::string(name) + "', found '" + std::string(text) + "'");
  return value;
}

void CsvReader::fail(const std::string& what) const {
  throw InputError(file_ + ":" + std::to_string(line_) + ": " + what);
}

}  // namespace kaiten::serve
