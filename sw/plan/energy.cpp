// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/energy.h"

#include <algorithm>

#include "base/json_text.h"

namespace kaiten::plan {

namespace {

constexpr const char* kDefaults =
#include "energy_json.inc"
    ;
constexpr double kMillijoulesPerPicojoule = 1e-9;

}  // namespace

EnergyParameters default_energy() { return read_energy(kDefaults, "energy.json"); }

EnergyParameters read_energy(std::string_view text, const std::string& file) {
  EnergyParameters p;
  if (text.data() != kDefaults) p = default_energy();
  const std::pair<const char*, double*> keys[] = {
      {"dram_picojoules_per_byte", &p.dram_picojoules_per_byte},
      {"link_picojoules_per_byte", &p.link_picojoules_per_byte},
      {"compute_picojoules_per_operation", &p.compute_picojoules_per_operation},
      {"operations_per_mac", &p.operations_per_mac},
      {"chip_macs_per_cycle", &p.chip_macs_per_cycle},
      {"memory_bytes_per_cycle", &p.memory_bytes_per_cycle}};
  const JsonValue root = parse_json(text, file);
  if (root.kind != JsonValue::Kind::kObject)
    fail_at(file, root.at, "expected an object of energy parameters");
  for (const auto& m : root.members) {
    const auto* key =
        std::find_if(std::begin(keys), std::end(keys), [&](const auto& k) { return m.name == k.first; });
    if (key == std::end(keys)) {
      std::string list;
      for (const auto& k : keys) list += (list.empty() ? "" : ", ") + std::string(k.first);
      fail_at(file, m.at, "expected one of " + list + ", found '" + m.name + "'");
    }
    if (m.value.kind != JsonValue::Kind::kNumber || !(m.value.number > 0) || m.value.number > 1e12) {
      fail_at(file, m.value.at, "expected a positive number for " + m.name);
    }
    *key->second = m.value.number;
  }
  return p;
}

std::int64_t link_bytes(const Network& network, const Method& method, int batch) {
  // What a span reads comes over a link, but for the first one's; what residual edges cost is sent once, too.
  std::int64_t bytes = method.penalty_bytes / 2;
  if (method.bytes.total() > 0) {  // target mode: traffic holds more than maps, and held ones nothing
    for (std::size_t k = 0; k + 1 < method.spans.size(); k++) {
      bytes += network.maps[std::size_t(method.spans[k].last) + 1].elements() * batch;
    }
    return bytes;
  }
  for (std::size_t k = 1; k < method.spans.size(); k++) {
    const Span& s = method.spans[k];
    std::int64_t written = network.maps[std::size_t(s.last) + 1].elements();
    for (int map : network.outputs) {
      if (map > s.first && map <= s.last) written += network.maps[std::size_t(map)].elements();
    }
    bytes += s.traffic_bytes - written * batch;
  }
  return bytes;
}

Energy energy_of(const Network& network, const Method& method, int batch, bool chained,
                 const EnergyParameters& p) {
  Energy e;
  e.compute = double(method.macs) * p.operations_per_mac * p.compute_picojoules_per_operation *
              kMillijoulesPerPicojoule;
  std::int64_t dram = method.traffic_bytes;
  if (chained && !method.spans.empty()) {
    const Span& first = method.spans.front();
    if (method.spans.size() > 1) {
      dram = first.traffic_bytes - network.maps[std::size_t(first.last) + 1].elements() * batch;
      std::int64_t written = network.maps.back().elements();  // the network's outputs
      for (int map : network.outputs) {
        if (map > first.last + 1) written += network.maps[std::size_t(map)].elements();
      }
      dram += written * batch;
    }
    e.link =
        double(link_bytes(network, method, batch)) * p.link_picojoules_per_byte * kMillijoulesPerPicojoule;
  }
  e.dram = double(dram) * p.dram_picojoules_per_byte * kMillijoulesPerPicojoule;
  return e;
}

}  // namespace kaiten::plan
