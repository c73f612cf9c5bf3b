// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// JSON whose values remember where they stand, so that a table with a mistake can be told its line and
// column. RFC 8259; objects keep the order of their members, names occur once.
#ifndef KAITEN_BASE_JSON_TEXT_H
#define KAITEN_BASE_JSON_TEXT_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaiten {

struct Position {
  int line = 1;
  int column = 1;  // in bytes
};

struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  struct Member;

  Kind kind = Kind::kNull;
  Position at;
  bool truth = false;
  double number = 0;
  std::string text;              // of a string, or of a number as written
  std::vector<JsonValue> items;  // of an array
  std::vector<Member> members;   // of an object

  const JsonValue* find(std::string_view name) const;
};

struct JsonValue::Member {
  std::string name;
  Position at;
  JsonValue value;
};

// Throws InputError "FILE:LINE:COLUMN: expected ..., found ...".
JsonValue parse_json(std::string_view text, const std::string& file);

// The same for what a reader finds wrong later.
[[noreturn]] void fail_at(const std::string& file, Position at, const std::string& message);

}  // namespace kaiten

#endif  // KAITEN_BASE_JSON_TEXT_H
