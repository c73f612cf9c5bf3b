// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/table.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace kaiten {

namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kShortest = 8;

std::string shortened(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  return ".." + std::string(last_columns(text, width - 2));
}

}  // namespace

std::string Table::text(std::size_t width) const {
  std::vector<std::size_t> shown(columns_.size());
  std::vector<std::size_t> widths(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); c++) {
    shown[c] = c;
    widths[c] = display_width(columns_[c].title);
    for (const auto& row : rows_) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  const auto total = [&] {
    std::size_t n = shown.empty() ? 0 : kGap * (shown.size() - 1);
    for (std::size_t c : shown) n += widths[c];
    return n;
  };
  const auto shorten = [&] {
    for (std::size_t c : shown) {
      if (!columns_[c].shorten || total() <= width) continue;
      const std::size_t excess = total() - width;
      widths[c] = std::max(std::min(widths[c], kShortest), widths[c] > excess ? widths[c] - excess : 0);
    }
  };
  while (width > 0 && total() > width) {
    // Names first, as far as half of them stays.
    std::size_t spare = 0;
    for (std::size_t c : shown)
      spare += columns_[c].shorten
                   ? widths[c] - std::max(widths[c] - widths[c] / 2, std::min(widths[c], kShortest))
                   : 0;
    if (total() - spare <= width) break;
    auto least = shown.end();
    for (auto it = shown.begin(); it != shown.end(); ++it) {
      if (columns_[*it].keep == 0) continue;
      if (least == shown.end() || columns_[*it].keep < columns_[*least].keep) least = it;
    }
    if (least == shown.end() && shown.size() == 1) break;
    shown.erase(least == shown.end() ? std::prev(shown.end()) : least);
  }
  if (width > 0) shorten();
  if (width > kShortest && total() > width) widths[shown.front()] = width;  // it is alone
  std::string out;
  const auto line = [&](auto&& cell) {
    std::string text;
    for (std::size_t i = 0; i < shown.size(); i++) {
      const std::size_t c = shown[i];
      const std::string value = shortened(cell(c), widths[c]);
      const std::string fill(widths[c] - display_width(value), ' ');
      text += (i == 0 ? "" : std::string(kGap, ' ')) + (columns_[c].number ? fill + value : value + fill);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
  return out;
}

std::string grouped(unsigned long long n) {
  std::string text = std::to_string(n);
  for (int at = int(text.size()) - 3; at > 0; at -= 3) text.insert(std::size_t(at), ",");
  return text;
}

}  // namespace kaiten
