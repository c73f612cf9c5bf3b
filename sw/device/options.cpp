// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "device/options.h"

#include <bit>
#include <string_view>
#include <type_traits>
#include <variant>

#include "device/csr.h"
#include "graph/rounding.h"

namespace kaiten {

namespace {

std::uint32_t bit(csr::Field field, std::int64_t value) { return field.put(std::uint32_t{1} << value); }
std::uint32_t feature(csr::FeatureBit value, bool used) {
  return used ? bit(csr::kOptionsFeatures, std::int64_t(value)) : 0;
}

// "mode 3x3, the device has 1x1, 3x1": of a command's field, whose values have a bit each.
template <class Value>
std::string lacking_value(const char* name, csr::Field field, std::uint32_t missing, std::uint32_t there) {
  const std::uint32_t bits = field.get(missing);
  if (bits == 0) return "";
  std::string values;
  for (std::uint32_t left = field.get(there); left != 0; left &= left - 1)
    values += (values.empty() ? "" : ", ") + std::string(name_of(Value(std::countr_zero(left))));
  return std::string(name) + " " + std::string(name_of(Value(std::countr_zero(bits)))) + ", the device has " +
         (values.empty() ? "none" : values);
}

}  // namespace

std::uint32_t options_of(const Command& command) {
  const auto of_body = [](const auto& c) {
    using Body = std::decay_t<decltype(c)>;
    std::uint32_t bits = 0;
    if constexpr (std::is_same_v<Body, ConvCommand>) {
      bits |= bit(csr::kOptionsConvModes, c.mode) | feature(csr::FeatureBit::kSumRow, c.weight_zero != 0) |
              feature(csr::FeatureBit::kTwoPixels, c.pair_groups != 0);
    }
    if constexpr (std::is_same_v<Body, WindowCommand>) bits |= bit(csr::kOptionsWindowKinds, c.kind);
    if constexpr (std::is_same_v<Body, AddCommand>)
      bits |= bit(csr::kOptionsElementKinds, c.kind) | feature(csr::FeatureBit::kPair, c.pair != 0);
    if constexpr (requires { c.look_up; }) bits |= csr::kOptionsTables.put(c.look_up != 0);
    if constexpr (requires { c.rule; }) bits |= bit(csr::kOptionsRules, c.rule);
    return bits;
  };
  std::uint32_t bits = std::visit(of_body, command.body);
  if (const auto& e = command.extension) {
    bits |= feature(csr::FeatureBit::kResident, e->resident_passes != 0 || e->last_groups != 0) |
            csr::kOptionsConvTables.put(e->look_up != 0);
  }
  return bits;
}

std::string lacking(std::uint32_t needed, std::uint32_t there) {
  const std::uint32_t missing = needed & ~there;
  if (missing == 0) return "";
  if (const std::uint32_t features = csr::kOptionsFeatures.get(missing); features != 0)
    return csr::kFeatureBitTexts[std::countr_zero(features)];
  if (csr::kOptionsTables.get(missing) != 0) return "tables";
  if (csr::kOptionsConvTables.get(missing) != 0) return "tables behind the array";
  for (const std::string& text :
       {lacking_value<ConvMode>("mode", csr::kOptionsConvModes, missing, there),
        lacking_value<WindowKind>("kind", csr::kOptionsWindowKinds, missing, there),
        lacking_value<ElementKind>("kind", csr::kOptionsElementKinds, missing, there),
        lacking_value<Rounding>("rule", csr::kOptionsRules, missing, there)}) {
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace kaiten
