// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Comma-separated values of numbers and names: no quotes, lines end in LF or CRLF, empty lines are left out.
#ifndef KAITEN_SERVE_CSV_H
#define KAITEN_SERVE_CSV_H

#include <string>
#include <string_view>
#include <vector>

namespace kaiten::serve {

class CsvReader {
 public:
  // Both must outlive the reader; `file` is what errors call the text.
  CsvReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  // The fields of the next line; valid until the text goes. False: there is none.
  bool next(std::vector<std::string_view>& fields);
  // A finite number of the last line, its column from 0 on. Throws InputError.
  double number(const std::vector<std::string_view>& fields, std::size_t column, std::string_view name) const;
  // Throws InputError "FILE:LINE: WHAT".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string_view rest_;
  const std::string& file_;
  int line_ = 0;
};

}  // namespace kaiten::serve

#endif  // KAITEN_SERVE_CSV_H
