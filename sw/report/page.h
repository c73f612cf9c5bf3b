// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The one shell of all pages: page.html beside this file, which scripts/coverage.py fills, too. A page is one file that
// fetches nothing, light or dark as the reader's system is, readable at the width of a phone (tables and drawings scroll by
// themselves) and printable.
#ifndef KAITEN_REPORT_PAGE_H
#define KAITEN_REPORT_PAGE_H

#include <string>
#include <vector>

namespace kaiten::html {

// "&lt;" for "<" and so on; control characters become '?'.
std::string escaped(const std::string& text);

// The whole page; the title, which is the heading too, is text, body and footer are HTML.
std::string page(const std::string& title, const std::string& body, const std::string& footer = "");

// A table that scrolls where it is wider than the page. All cells are text; those of columns whose heading begins with '#',
// which is not shown, are numbers, aligned to the right.
class Table {
 public:
  explicit Table(const std::vector<std::string>& headings);
  void add(const std::vector<std::string>& cells);
  std::string text() const;

 private:
  std::string row(const std::vector<std::string>& cells, const char* tag) const;

  std::vector<bool> numbers_;
  std::string rows_;
};

}  // namespace kaiten::html

#endif  // KAITEN_REPORT_PAGE_H
