// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/json_text.h"

#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/error.h"

namespace kaiten {

namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxMembers = 1024;  // of an object; looking for duplicates is quadratic

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  JsonValue run() {
    JsonValue v = value(0);
    skip();
    if (at_ < text_.size()) fail("the end of the file");
    return v;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) {
    std::string found = "the end of the file";
    if (at_ < text_.size()) {
      const unsigned char c = static_cast<unsigned char>(text_[at_]);
      found = std::isprint(c) != 0 ? std::string("'") + char(c) + "'" : "byte " + std::to_string(int(c));
    }
    fail_at(file_, here_, "expected " + expected + ", found " + found);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool more() const { return at_ < text_.size(); }
  void next() {
    if (text_[at_++] == '\n') {
      here_.line++;
      here_.column = 1;
    } else {
      here_.column++;
    }
  }
  void skip() {
    while (more() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) next();
  }
  void take(char c, const std::string& expected) {
    skip();
    if (!more() || peek() != c) fail(expected);
    next();
  }

  JsonValue value(int depth) {
    skip();
    if (depth > kMaxDepth) fail("at most " + std::to_string(kMaxDepth) + " nested values");
    JsonValue v;
    v.at = here_;
    if (!more()) fail("a value");
    const char c = peek();
    if (c == '{') {
      object(v, depth);
    } else if (c == '[') {
      array(v, depth);
    } else if (c == '"') {
      v.kind = JsonValue::Kind::kString;
      v.text = string();
    } else if (c == '-' || std::isdigit(static_cast<unsigned char>(c)) != 0) {
      number(v);
    } else if (word("true")) {
      v.kind = JsonValue::Kind::kBool;
      v.truth = true;
    } else if (word("false")) {
      v.kind = JsonValue::Kind::kBool;
    } else if (!word("null")) {
      fail("a value");
    }
    return v;
  }

  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    for (std::size_t i = 0; i < w.size(); i++) next();
    return true;
  }

  void object(JsonValue& v, int depth) {
    v.kind = JsonValue::Kind::kObject;
    next();
    skip();
    if (peek() == '}') return next();
    for (;;) {
      skip();
      if (!more() || peek() != '"') fail("a name in quotes");
      JsonValue::Member m;
      m.at = here_;
      m.name = string();
      if (v.members.size() == kMaxMembers) fail("at most " + std::to_string(kMaxMembers) + " names");
      if (v.find(m.name) != nullptr)
        fail_at(file_, m.at, "expected each name once, found '" + m.name + "' again");
      take(':', "':'");
      m.value = value(depth + 1);
      v.members.push_back(std::move(m));
      skip();
      if (peek() == ',') {
        next();
        continue;
      }
      return take('}', "',' or '}'");
    }
  }

  void array(JsonValue& v, int depth) {
    v.kind = JsonValue::Kind::kArray;
    next();
    skip();
    if (peek() == ']') return next();
    for (;;) {
      v.items.push_back(value(depth + 1));
      skip();
      if (peek() == ',') {
        next();
        continue;
      }
      return take(']', "',' or ']'");
    }
  }

  void digits() {
    if (!more() || std::isdigit(static_cast<unsigned char>(peek())) == 0) fail("a digit");
    while (more() && std::isdigit(static_cast<unsigned char>(peek())) != 0) next();
  }

  void number(JsonValue& v) {
    v.kind = JsonValue::Kind::kNumber;
    const std::size_t begin = at_;
    if (peek() == '-') next();
    if (peek() == '0') {
      next();
    } else {
      digits();
    }
    if (peek() == '.') {
      next();
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      next();
      if (peek() == '+' || peek() == '-') next();
      digits();
    }
    v.text = std::string(text_.substr(begin, at_ - begin));
    v.number = std::strtod(v.text.c_str(), nullptr);
  }

  unsigned hex4() {
    unsigned code = 0;
    for (int i = 0; i < 4; i++) {
      if (!more() || std::isxdigit(static_cast<unsigned char>(peek())) == 0) fail("four hexadecimal digits");
      const char c = peek();
      code = code * 16 + unsigned(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
      next();
    }
    return code;
  }

  static void append_utf8(std::string& out, unsigned c) {
    if (c < 0x80) {
      out += char(c);
    } else if (c < 0x800) {
      out += char(0xC0 | (c >> 6));
      out += char(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      out += char(0xE0 | (c >> 12));
      out += char(0x80 | ((c >> 6) & 0x3F));
      out += char(0x80 | (c & 0x3F));
    } else {
      out += char(0xF0 | (c >> 18));
      out += char(0x80 | ((c >> 12) & 0x3F));
      out += char(0x80 | ((c >> 6) & 0x3F));
      out += char(0x80 | (c & 0x3F));
    }
  }

  std::string string() {
    std::string s;
    next();
    while (more() && peek() != '"') {
      if (static_cast<unsigned char>(peek()) < 0x20) fail("'\"' before the end of the line");
      if (peek() != '\\') {
        s += peek();
        next();
        continue;
      }
      next();
      const char c = peek();
      if (c == 'u') {
        next();
        unsigned code = hex4();
        if (code >= 0xD800 && code < 0xDC00) {
          if (!word("\\u")) fail("the second half of a surrogate pair");
          const unsigned low = hex4();
          if (low < 0xDC00 || low > 0xDFFF) fail("the second half of a surrogate pair");
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else if (code >= 0xDC00 && code < 0xE000) {
          fail("the first half of a surrogate pair");
        }
        append_utf8(s, code);
        continue;
      }
      constexpr std::string_view kFrom = "\"\\/bfnrt";
      constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
      const std::size_t i = more() ? kFrom.find(c) : std::string_view::npos;
      if (i == std::string_view::npos) fail("an escape of JSON");
      s += kTo[i];
      next();
    }
    if (!more()) fail("'\"'");
    next();
    return s;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  Position here_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const Member& m : members) {
    if (m.name == name) return &m.value;
  }
  return nullptr;
}

JsonValue parse_json(std::string_view text, const std::string& file) { return Parser(text, file).run(); }

void fail_at(const std::string& file, Position at, const std::string& message) {
  throw InputError(file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + message);
}

}  // namespace kaiten
