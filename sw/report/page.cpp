// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/page.h"

#include <string_view>

#include "base/text.h"

namespace kaiten::html {

namespace {

constexpr std::string_view kPage =
#include "page_html.inc"
    ;

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string page(const std::string& title, const std::string& body, const std::string& footer) {
  const std::string shown = escaped(title);
  std::string out;
  std::string_view rest = kPage;
  for (std::size_t at; (at = rest.find("{{")) != std::string_view::npos;) {
    const std::size_t end = rest.find("}}", at);
    const std::string_view name = rest.substr(at + 2, end - at - 2);
    out += rest.substr(0, at);
    out += name == "title" ? shown : name == "body" ? body : footer;
    rest = rest.substr(end + 2);
  }
  return out += rest;
}

Table::Table(const std::vector<std::string>& headings) {
  std::vector<std::string> shown;
  for (const std::string& heading : headings) {
    numbers_.push_back(heading.starts_with('#'));
    shown.push_back(numbers_.back() ? heading.substr(1) : heading);
  }
  rows_ = row(shown, "th");
}

void Table::add(const std::vector<std::string>& cells) { rows_ += row(cells, "td"); }

std::string Table::text() const { return "<div class=\"scroll\"><table>\n" + rows_ + "</table></div>\n"; }

std::string Table::row(const std::vector<std::string>& cells, const char* tag) const {
  std::string out = "<tr>";
  for (std::size_t i = 0; i < cells.size(); i++) {
    std::string text;
    for (const char c : escaped(cells[i])) {  // long names may go on below
      text += c;
      if (c == '/' && !numbers_[i]) text += "<wbr>";
    }
    out += std::string("<") + tag + (numbers_[i] ? " class=\"n\">" : ">") + text + "</" + tag + ">";
  }
  return out + "</tr>\n";
}

}  // namespace kaiten::html
