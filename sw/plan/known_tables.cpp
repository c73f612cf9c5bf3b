// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/known_tables.h"

#include <string_view>
#include <utility>

#include "plan/table.h"

namespace kaiten::plan {

namespace {

constexpr std::pair<std::string_view, std::string_view> kTables[] = {
#include "known_tables.inc"
};

}  // namespace

std::optional<Network> known_table(const std::string& name) {
  for (const auto& [own, text] : kTables) {
    if (own == name) return read_table(text, name + ".json");
  }
  return std::nullopt;
}

std::vector<std::string> known_table_names() {
  std::vector<std::string> names;
  for (const auto& table : kTables) names.emplace_back(table.first);
  return names;
}

}  // namespace kaiten::plan
