// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Tables for people: columns of text, aligned, two spaces apart. On a narrow terminal the columns that matter
// least go first, then names lose their beginnings, and where that is not enough the last columns go, too; piped output is
// always complete.
#ifndef KAITEN_REPORT_TABLE_H
#define KAITEN_REPORT_TABLE_H

#include <string>
#include <vector>

namespace kaiten {

struct Column {
  std::string title;
  bool number = false;   // to the right
  int keep = 0;          // the column with the smallest value goes first; 0: last of all
  bool shorten = false;  // names: the end says more than the beginning
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One cell a column; missing ones are empty.
  void add(std::vector<std::string> row) {
    row.resize(columns_.size());
    rows_.push_back(std::move(row));
  }
  // width 0: as wide as needed. Every line ends with a newline, none with a space.
  std::string text(std::size_t width = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// "12,345,678".
std::string grouped(unsigned long long n);

}  // namespace kaiten

#endif  // KAITEN_REPORT_TABLE_H
