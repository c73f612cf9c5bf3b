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

constexpr ConfigParameter kParameters[] = {{"Kp", &Config::kp},
                                           {"Cp", &Config::cp},
                                           {"StageRows", &Config::stage_rows},
                                           {"AxiW", &Config::axi_bytes, nullptr, 8},
                                           {"WbRows", &Config::wb_rows},
                                           {"VwbRows", &Config::vwb_rows},
                                           {"SbDepth", &Config::sb_depth},
                                           {"VbDepth", &Config::vb_depth},
                                           {"ObPixels", &Config::ob_pixels},
                                           {"ZsbArray", &Config::zsb_array},
                                           {"ZsbVector", &Config::zsb_vector},
                                           {"SumRow", nullptr, &ConfigOptions::sum_row},
                                           {"AddPair", nullptr, &ConfigOptions::add_pair},
                                           {"TwoPixels", nullptr, &ConfigOptions::two_pixels},
                                           {"LargeWindows", nullptr, &ConfigOptions::large_windows},
                                           {"Resident", nullptr, &ConfigOptions::resident},
                                           {"ConvTable", nullptr, &ConfigOptions::conv_table},
                                           {"Float", nullptr, &ConfigOptions::float_rule},
                                           {"Average", nullptr, &ConfigOptions::average},
                                           {"Table", nullptr, &ConfigOptions::table},
                                           {"Zvc", &Config::zvc_beats}};

}  // namespace

std::span<const ConfigParameter> config_parameters() { return kParameters; }

void ConfigParameter::set(Config& c, int value) const {
  if (number != nullptr)
    c.*number = value / unit;
  else
    c.*option = value != 0;
}

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
