// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "swap/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/json_text.h"
#include "program/config.h"

namespace kaiten::swap {

namespace {

constexpr const char* kKnown =
#include "machines_json.inc"
    ;
constexpr double kGiga = 1e9;
constexpr double kMost = 1e18;            // of every figure
constexpr std::size_t kMostDevices = 64;  // and switches

// An object of a machine's file whose members are all known.
class Reader {
 public:
  Reader(const JsonValue& value, const std::string& file, const char* what,
         std::initializer_list<const char*> names)
      : value_(value), file_(file), what_(what) {
    if (value.kind != JsonValue::Kind::kObject)
      fail_at(file, value.at, std::string("expected ") + what + ", an object");
    for (const JsonValue::Member& m : value.members) {
      if (std::none_of(names.begin(), names.end(), [&](const char* n) { return m.name == n; })) {
        std::string list;
        for (const char* n : names) list += (list.empty() ? "" : ", ") + std::string(n);
        fail_at(file, m.at, fmt::format("expected a member of {} ({}), found '{}'", what, list, m.name));
      }
    }
  }
  const JsonValue& need(const char* name) const {
    const JsonValue* v = value_.find(name);
    if (v == nullptr) fail_at(file_, value_.at, fmt::format("expected '{}' in {}", name, what_));
    return *v;
  }
  const JsonValue* find(const char* name) const { return value_.find(name); }
  std::string text(const char* name) const {
    const JsonValue& v = need(name);
    if (v.kind != JsonValue::Kind::kString || v.text.empty())
      fail_at(file_, v.at, fmt::format("expected '{}', a name", name));
    return v.text;
  }
  double positive(const char* name) const { return number(need(name), name, false); }
  double positive(const char* name, double otherwise, bool zero = false) const {
    const JsonValue* v = find(name);
    return v == nullptr ? otherwise : number(*v, name, zero);
  }
  const std::vector<JsonValue>& list(const char* name) const {
    const JsonValue& v = need(name);
    if (v.kind != JsonValue::Kind::kArray || v.items.empty() || v.items.size() > kMostDevices)
      fail_at(file_, v.at, fmt::format("expected '{}', a list of 1 to {}", name, kMostDevices));
    return v.items;
  }

 private:
  double number(const JsonValue& v, const char* name, bool zero) const {
    if (v.kind != JsonValue::Kind::kNumber || !(zero ? v.number >= 0 : v.number > 0) || v.number > kMost)
      fail_at(file_, v.at,
              fmt::format("expected '{}', a {} number to 1e18", name, zero ? "non-negative" : "positive"));
    return v.number;
  }

  const JsonValue& value_;
  const std::string& file_;
  const char* what_;
};

Calibration calibration_of(const Reader& r, const Calibration& otherwise) {
  return {r.positive("efficiency", otherwise.efficiency),
          r.positive("reserved_bytes", otherwise.reserved_bytes, true)};
}

// What the file leaves to the accelerator's configuration: its MACs and the width of its memory bus.
void read_speed(const Reader& r, double clock_mhz, Device& d) {
  if (r.find("config") != nullptr) {
    d.config = r.text("config");
    const Config& c = preset(d.config);
    d.operations_per_second = 2e6 * clock_mhz * c.array_multipliers();
    d.memory_bytes_per_second = 1e6 * clock_mhz * c.axi_bytes;
  }
  if (d.config.empty() || r.find("tflops") != nullptr) d.operations_per_second = 1e12 * r.positive("tflops");
  if (d.config.empty() || r.find("memory_gbps") != nullptr)
    d.memory_bytes_per_second = kGiga * r.positive("memory_gbps");
}

Device device_of(const JsonValue& value, const std::string& file, const std::vector<Switch>& switches,
                 double clock_mhz) {
  const Reader r(value, file, "a device",
                 {"name", "switch", "link_gbps", "memory_bytes", "config", "tflops", "memory_gbps",
                  "efficiency", "reserved_bytes", "networks"});
  Device d;
  d.name = r.text("name");
  const std::string on = r.text("switch");
  const auto found =
      std::find_if(switches.begin(), switches.end(), [&](const Switch& s) { return s.name == on; });
  if (found == switches.end())
    fail_at(file, r.need("switch").at, fmt::format("expected the name of a switch, found '{}'", on));
  d.of_switch = int(found - switches.begin());
  d.link_bytes_per_second = kGiga * r.positive("link_gbps");
  d.memory_bytes = r.positive("memory_bytes");
  read_speed(r, clock_mhz, d);
  d.calibration = calibration_of(r, {});
  if (const JsonValue* networks = r.find("networks")) {
    if (networks->kind != JsonValue::Kind::kObject)
      fail_at(file, networks->at, "expected 'networks', an object of calibrations by network");
    for (const JsonValue::Member& m : networks->members) {
      d.networks[m.name] = calibration_of(
          Reader(m.value, file, "a calibration", {"efficiency", "reserved_bytes"}), d.calibration);
    }
  }
  return d;
}

Machine machine_of(const JsonValue& value, const std::string& file, const std::string& name) {
  const Reader r(value, file, "a machine",
                 {"name", "host", "switches", "devices", "latency_cycles", "clock_mhz", "map_overhead"});
  Machine m;
  m.name = r.find("name") == nullptr ? name : r.text("name");
  const Reader host(r.need("host"), file, "the host", {"memory_gbps", "pinned_bytes", "sum_gbps"});
  m.host.memory_bytes_per_second = kGiga * host.positive("memory_gbps");
  m.host.pinned_bytes = host.positive("pinned_bytes");
  m.host.sum_bytes_per_second = kGiga * host.positive("sum_gbps", m.host.sum_bytes_per_second / kGiga);
  for (const JsonValue& s : r.list("switches")) {
    const Reader one(s, file, "a switch", {"name", "uplink_gbps"});
    m.switches.push_back({one.text("name"), kGiga * one.positive("uplink_gbps")});
    for (std::size_t i = 0; i + 1 < m.switches.size(); i++) {
      if (m.switches[i].name == m.switches.back().name)
        fail_at(
            file, s.at,
            fmt::format("expected another name than '{}', which a switch has already", m.switches[i].name));
    }
  }
  m.latency_cycles = r.positive("latency_cycles", 0, true);
  m.clock_mhz = r.positive("clock_mhz", 1);
  for (const JsonValue& d : r.list("devices")) {
    m.devices.push_back(device_of(d, file, m.switches, m.clock_mhz));
    for (std::size_t i = 0; i + 1 < m.devices.size(); i++) {
      if (m.devices[i].name == m.devices.back().name)
        fail_at(
            file, d.at,
            fmt::format("expected another name than '{}', which a device has already", m.devices[i].name));
    }
  }
  m.transfer_seconds = m.latency_cycles / (1e6 * m.clock_mhz);
  m.map_overhead = r.positive("map_overhead", 1);
  return m;
}

}  // namespace

const Calibration& Device::of_network(const std::string& network) const {
  const auto found = networks.find(network);
  return found == networks.end() ? calibration : found->second;
}

Machine read_machine(std::string_view text, const std::string& file) {
  return machine_of(parse_json(text, file), file, file);
}

std::optional<Machine> known_machine(const std::string& name) {
  const std::string file = "machines.json";
  const JsonValue root = parse_json(kKnown, file);
  const JsonValue* found = root.find(name);
  if (found == nullptr) return std::nullopt;
  return machine_of(*found, file, name);
}

std::vector<std::string> known_machine_names() {
  std::vector<std::string> names;
  for (const JsonValue::Member& m : parse_json(kKnown, "machines.json").members) names.push_back(m.name);
  return names;
}

}  // namespace kaiten::swap
