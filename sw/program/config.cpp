// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/config.h"

#include <array>

#include "base/error.h"

namespace kaiten {

namespace {

const Config kPresets[] = {
#include "config_table.inc"
};

}  // namespace

bool Config::same_sizes(Config other) const {
  static_cast<ConfigOptions&>(other) = *this;
  other.name = name;
  return *this == other;
}

std::span<const Config> presets() { return kPresets; }

const Config& preset(std::string_view name) {
  std::string known;
  for (const Config& c : kPresets) {
    if (c.name == name) return c;
    known += (known.empty() ? "" : ", ") + c.name;
  }
  throw InputError("no configuration named '" + std::string(name) + "' (there are " + known + ")");
}

}  // namespace kaiten
