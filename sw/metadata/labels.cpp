// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "metadata/labels.h"

#include <fmt/format.h>

#include "base/error.h"

namespace kaiten::metadata {

namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kSpaces);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpaces) + 1 - from);
}

std::vector<std::string> parts_of(std::string_view text, char between) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    parts.emplace_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

// A list or dictionary of quoted names.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<std::string> names() {
    const char close = text_.front() == '{' ? '}' : ']';
    at_ = 1;
    std::vector<std::string> names;
    while (!accept(close)) {
      if (!names.empty()) expect(',');
      if (accept(close)) break;  // a comma behind the last one
      if (close == '}') {
        require_key(names.size());
        expect(':');
      }
      names.push_back(quoted());
    }
    skip();
    if (at_ != text_.size()) fail("text behind the list");
    return names;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{} at character {}", what, at_ + 1));
  }
  void skip() { at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size()); }
  bool accept(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("no '{}'", c));
  }
  std::string quoted() {
    skip();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) fail("no quoted name");
    const char quote = text_[at_++];
    std::string name;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) at_++;
      name.push_back(text_[at_++]);
    }
    expect(quote);
    return name;
  }
  void require_key(std::size_t number) {
    skip();
    std::string key;
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
      key = quoted();
    } else {
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') key.push_back(text_[at_++]);
    }
    if (key != std::to_string(number)) fail(fmt::format("no class {}", number));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      lines.push_back(line);
      line.clear();
    } else if (c != '\r') {
      line.push_back(c);
    }
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::vector<std::string> names_of(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return {};
  if (text.front() == '[' || text.front() == '{') return Reader(text).names();
  return text.find('\n') != std::string_view::npos ? lines_of(text) : parts_of(text, ',');
}

}  // namespace kaiten::metadata
