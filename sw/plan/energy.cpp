#include "plan/energy.h"

#include <algorithm>

#include "plan/json_text.h"

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

Energy energy_of(const Network& network, const Method& method, int batch, bool chained,
                 const EnergyParameters& p) {
  Energy e;
  e.compute = double(method.macs) * p.operations_per_mac * p.compute_picojoules_per_operation *
              kMillijoulesPerPicojoule;
  std::int64_t ends = network.maps.front().elements() + network.maps.back().elements();
  for (int map : network.outputs) ends += network.maps[std::size_t(map)].elements();
  ends = std::min(ends * batch, method.traffic_bytes);
  const std::int64_t between = chained ? method.traffic_bytes - ends : 0;
  e.dram = double(method.traffic_bytes - between) * p.dram_picojoules_per_byte * kMillijoulesPerPicojoule;
  e.link = double(between) * p.link_picojoules_per_byte * kMillijoulesPerPicojoule;
  return e;
}

}  // namespace kaiten::plan
