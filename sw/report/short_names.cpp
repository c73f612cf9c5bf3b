// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/short_names.h"

#include <map>
#include <set>
#include <string_view>

#include "base/text.h"

namespace kaiten {

namespace {

std::string cut(const std::string& name, std::size_t columns, const std::string& before) {
  return before + ".." + std::string(last_columns(name, columns - before.size() - 2));
}

}  // namespace

std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t columns) {
  std::vector<std::string> shown;
  std::map<std::string, std::set<std::string>> meant;
  for (const std::string& name : names) {
    const std::string text = printable(name);
    shown.push_back(display_width(text) <= columns ? text : cut(text, columns, ""));
    meant[shown.back()].insert(text);
  }
  for (std::size_t i = 0; i < names.size(); i++) {
    if (meant[shown[i]].size() > 1) shown[i] = cut(printable(names[i]), columns, std::to_string(i) + " ");
  }
  return shown;
}

}  // namespace kaiten
