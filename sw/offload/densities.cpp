// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/densities.h"

#include "base/json_text.h"

namespace kaiten::offload {

namespace {

constexpr const char* kKnown =
#include "densities_json.inc"
    ;

Densities densities_of(const JsonValue& value, const std::string& file) {
  if (value.kind != JsonValue::Kind::kObject) fail_at(file, value.at, "expected an object with 'layers'");
  Densities out;
  const JsonValue* layers = value.find("layers");
  if (layers == nullptr || layers->kind != JsonValue::Kind::kObject)
    fail_at(file, value.at, "expected 'layers', an object of densities by layer");
  for (const JsonValue::Member& m : value.members) {
    if (m.name != "layers" && m.name != "batch")
      fail_at(file, m.at, "expected 'layers' or 'batch', found '" + m.name + "'");
  }
  for (const JsonValue::Member& m : layers->members) {
    if (m.value.kind != JsonValue::Kind::kNumber || !(m.value.number >= 0 && m.value.number <= 1))
      fail_at(file, m.value.at, "expected a density from 0 to 1 for '" + m.name + "'");
    out.layers[m.name] = m.value.number;
  }
  if (const JsonValue* batch = value.find("batch")) {
    if (batch->kind != JsonValue::Kind::kNumber ||
        !(batch->number >= 1 && batch->number <= plan::kMaxBatch) ||
        batch->number != double(int(batch->number)))
      fail_at(file, batch->at, "expected a batch from 1 to " + std::to_string(plan::kMaxBatch));
    out.batch = int(batch->number);
  }
  return out;
}

}  // namespace

std::optional<Densities> known_densities(const std::string& network) {
  const std::string file = "densities.json";
  const JsonValue root = parse_json(kKnown, file);
  const JsonValue* found = root.find("networks")->find(network);
  if (found == nullptr) return std::nullopt;
  return densities_of(*found, file);
}

Densities read_densities(std::string_view text, const std::string& file) {
  return densities_of(parse_json(text, file), file);
}

}  // namespace kaiten::offload
