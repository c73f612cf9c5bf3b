// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/report_output.h"
#include "cli/source.h"
#include "cli/tool.h"
#include "codec/statistics.h"
#include "offload/densities.h"
#include "plan/known_tables.h"
#include "report/swap_report.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

struct SwapOptions {
  std::string network, topology, policy = "best", batch;
  int growth = 1, bits = 32;
  bool all_reduce = false, independent = false, hold_raw = false;
  double density = -1;
  std::string densities;
  double efficiency = 0, reserved = -1, overhead = 0, sum = 0;  // beyond range: the machine's
};

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const auto& p : swap::policies()) names.push_back(p.first);
  return names;
}

void add_options(po::options_description& all, SwapOptions& o) {
  auto add = all.add_options();
  add("help,h", "print this text");
  add("network", po::value(&o.network)->value_name("NAME|FILE"),
      "vgg16, inception_v3, resnet50 or another layer table of the tool, a layer table or a model; also as "
      "first argument");
  add("topology", po::value(&o.topology)->value_name("NAME|FILE"),
      "titanxp, p100x2, p100x4 or a machine's file (docs/software/swap.md)");
  add("policy", po::value(&o.policy)->value_name("NAME")->default_value(o.policy),
      "none, vdnn-all, vdnn-conv, vdnn-dynamic, grappler, staggered or best");
  add("batch", po::value(&o.batch)->value_name("N|max"),
      "images of one device, or the largest batch that fits");
  add("growth", po::value(&o.growth)->value_name("C")->default_value(o.growth),
      "with --batch max: images from one try to the next");
  add("all-reduce", po::bool_switch(&o.all_reduce), "devices sum gradients in a ring, not the host's CPU");
  add("independent", po::bool_switch(&o.independent), "a job of its own on every device");
  add("hold-raw", po::bool_switch(&o.hold_raw), "networks with batch normalisation hold its inputs, too");
  add("densities", po::value(&o.densities)->value_name("FILE|known"),
      "compress maps by ZVC with these densities by layer; known: those of the cDMA paper's networks");
  add("density", po::value(&o.density)->value_name("D"), "compress maps, one density for all layers");
  add("element-bits", po::value(&o.bits)->value_name("8|16|32")->default_value(o.bits),
      "of maps and weights");
  add("efficiency", po::value(&o.efficiency)->value_name("E"),
      "of the device's roofline, instead of the machine's");
  add("reserved", po::value(&o.reserved)->value_name("BYTES"),
      "of a device's memory, instead of the machine's");
  add("map-overhead", po::value(&o.overhead)->value_name("F"),
      "device memory for a byte of maps, instead of the machine's");
  add("sum-gbps", po::value(&o.sum)->value_name("GB/S"),
      "of the CPU that sums gradients, instead of the machine's");
  add("trace", po::value<std::string>()->value_name("FILE"), "write the timeline for Perfetto");
  add("html", po::value<std::string>()->value_name("FILE"), "write a page with the timeline");
  add("json", po::value<std::string>()->value_name("FILE"), "write JSON");
  add("seed", po::value<std::uint64_t>()->value_name("N"), "as all commands have it; nothing here is random");
}

void check(const po::variables_map& values, const SwapOptions& o) {
  if (o.network.empty())
    throw InputError("swap needs --network: a name (" + joined(plan::known_table_names()) + ") or a file");
  if (o.topology.empty())
    throw InputError("swap needs --topology: a name (" + joined(swap::known_machine_names()) +
                     ") or a machine's file");
  const auto names = policy_names();
  if (std::find(names.begin(), names.end(), o.policy) == names.end())
    throw InputError(fmt::format("--policy: expected one of {}, found '{}'", joined(names), o.policy));
  if (o.batch.empty()) throw InputError("swap needs --batch: a number of images, or max");
  if (o.growth < 1 || o.growth > plan::kMaxBatch)
    throw InputError(fmt::format("--growth: expected 1 to {}, found {}", plan::kMaxBatch, o.growth));
  if (o.bits != 8 && o.bits != 16 && o.bits != 32)
    throw InputError(fmt::format("--element-bits: expected 8, 16 or 32, found {}", o.bits));
  for (const auto& [name, value] :
       {std::pair{"efficiency", o.efficiency}, {"map-overhead", o.overhead}, {"sum-gbps", o.sum}}) {
    if (values.count(name) != 0 && !(value > 0 && value <= 1e9))
      throw InputError(fmt::format("--{}: expected a positive number to 1e9, found {}", name, value));
  }
  if (values.count("reserved") != 0 && !(o.reserved >= 0 && o.reserved <= 1e18))
    throw InputError(fmt::format("--reserved: expected 0 to 1e18 bytes, found {}", o.reserved));
  require_efficiency(values, o.efficiency);
  require_density(values, o.density, o.densities);
}

plan::Network network_of(const std::string& name) {
  if (auto known = plan::known_table(name)) return *known;
  return read_source(name).network;
}

swap::Machine machine_of(const SwapOptions& o) {
  std::optional<swap::Machine> machine = swap::known_machine(o.topology);
  if (!machine) {
    const std::vector<std::uint8_t> bytes = read_file(o.topology, FileKind::kText);
    machine = swap::read_machine({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, o.topology);
  }
  if (o.sum > 0) machine->host.sum_bytes_per_second = 1e9 * o.sum;
  if (o.overhead > 0) machine->map_overhead = o.overhead;
  for (swap::Device& d : machine->devices) {
    if (o.efficiency > 0) d.calibration.efficiency = o.efficiency;
    if (o.reserved >= 0) d.calibration.reserved_bytes = o.reserved;
    for (auto& network : d.networks) {
      if (o.efficiency > 0) network.second.efficiency = o.efficiency;
      if (o.reserved >= 0) network.second.reserved_bytes = o.reserved;
    }
  }
  return *machine;
}

// Of ZVC, by layer; empty without compression.
std::vector<double> ratios_of(const plan::Network& network, const SwapOptions& o) {
  std::vector<double> out;
  if (o.density < 0 && o.densities.empty()) return out;
  offload::Densities densities;
  if (o.densities == "known") {
    const auto known = offload::known_densities(network.name);
    if (!known)
      throw InputError(
          fmt::format("no densities are known for '{}': give --densities FILE or --density D", network.name));
    densities = *known;
  } else if (!o.densities.empty()) {
    const std::vector<std::uint8_t> bytes = read_file(o.densities, FileKind::kText);
    densities =
        offload::read_densities({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, o.densities);
  }
  for (const plan::Layer& layer : network.layers) {
    double density = o.density;
    if (density < 0) {
      const auto found = densities.layers.find(layer.name);
      if (found == densities.layers.end())
        throw InputError(fmt::format("{}: no density for layer '{}'", o.densities, layer.name));
      density = found->second;
    }
    out.push_back(codec::zvc_limit(o.bits, density));
  }
  return out;
}

}  // namespace

int swap_command(const Arguments& arguments) {
  SwapOptions o;
  po::options_description all("options");
  add_options(all, o);
  constexpr const char* kUsage =
      "usage: kaiten swap NETWORK --topology MACHINE --batch N|max [OPTIONS]\n"
      "A training step on devices that share links, with activations swapped to the host's memory.\n";
  po::variables_map values;
  if (!read_options(arguments, all, "network", kUsage, values)) return kDone;
  check(values, o);
  const Outputs outputs("swap", values, {"html", "json", "trace"}, {"network", "topology", "densities"});
  const plan::Network network = network_of(o.network);
  const swap::Machine machine = machine_of(o);
  const std::vector<double> ratios = ratios_of(network, o);
  const auto setup = [&](int batch) {
    check_interrupt();
    swap::Scenario s{machine, {}, o.all_reduce ? swap::Sum::kAllReduce : swap::Sum::kHost, o.independent};
    for (const swap::Device& d : machine.devices)
      s.training.push_back(swap::training_of(
          network, d,
          {batch, o.bits, machine.map_overhead, swap::is_normalised(network.name), o.hold_raw, ratios}));
    return s;
  };
  const swap::Policy policy =
      std::find_if(swap::policies().begin(), swap::policies().end(), [&](const auto& p) {
        return p.first == o.policy;
      })->second;

  int batch = 0;
  if (o.batch == "max") {
    batch = swap::largest_batch(setup, policy, o.growth, plan::kMaxBatch);
    if (batch == 0)
      throw InputError(fmt::format("batch {} does not fit: {}", o.growth,
                                   swap::choose(setup(o.growth), policy, false).result.failure));
  } else {
    const char* end = o.batch.data() + o.batch.size();
    const auto [rest, error] = std::from_chars(o.batch.data(), end, batch);
    if (error != std::errc() || rest != end || batch < 1 || batch > plan::kMaxBatch)
      throw InputError(fmt::format("--batch: expected 1 to {} or max, found '{}'", plan::kMaxBatch, o.batch));
  }
  SwapReport report{o.policy, setup(batch), {}};
  report.choice = swap::choose(report.setup, policy);
  if (!report.choice.result.fits())
    throw InputError(fmt::format("batch {} does not fit with policy {}: {}", batch, o.policy,
                                 report.choice.result.failure));
  report.choice.result = swap::simulate(report.setup, report.choice.plan, true);
  outputs.write("trace", outputs.wanted("trace") ? trace_of(report) : std::string());
  write_report(report, outputs);
  return kDone;
}

}  // namespace kaiten::cli
