// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/demo.h"
#include "cli/files.h"
#include "cli/image.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/report_output.h"
#include "cli/source.h"
#include "cli/tool.h"
#include "codec/statistics.h"
#include "offload/densities.h"
#include "report/offload_report.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

struct OffloadOptions {
  std::string file;
  std::string device = "titan-xp";
  double tflops = 0, memory = 0;  // 0: the device's
  double efficiency = 0;
  double link = 16, compress = 200, aware = 48;  // GB/s
  int batch = 0;                                 // 0: the network's own
  int bits = 0;
  std::string densities;
  double density = -1;
  std::string input;
  std::uint64_t seed = 1;
  ImageRule rule;
};

// cuDNN v5 needs fewer operations than counted in 3x3 convolutions (Winograd) and reaches less than the peak
// in others. With 1 vDNN loses on average over the paper's six networks what it measures on a Titan Xp
// (docs/software/offload.md).
constexpr double kEfficiency = 1.0;

bool parse(const Arguments& arguments, po::variables_map& values, OffloadOptions& o) {
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("table", po::value(&o.file)->value_name("FILE"),
      "layer table (JSON), SCALE-Sim topology (CSV) or model, also as first argument");
  add("device", po::value(&o.device)->value_name("NAME")->default_value(o.device), "titan-x or titan-xp");
  add("tflops", po::value(&o.tflops)->value_name("T"), "another peak rate than the device's");
  add("memory", po::value(&o.memory)->value_name("GB/S"), "another bandwidth of its memory");
  add("efficiency", po::value(&o.efficiency)->value_name("E")->default_value(kEfficiency),
      "of the peak rate that convolutions reach");
  add("link", po::value(&o.link)->value_name("GB/S")->default_value(o.link), "bandwidth of the link");
  add("compress-read", po::value(&o.compress)->value_name("GB/S")->default_value(o.compress),
      "raw bytes that the compressing DMA may read");
  add("aware-read", po::value(&o.aware)->value_name("GB/S")->default_value(o.aware),
      "the same of the bandwidth-aware policy");
  add("batch", po::value(&o.batch)->value_name("N"), "images; without it the paper's, of a model 1");
  add("element-bits", po::value(&o.bits)->value_name("8|16|32"), "of the maps; without it 32, of a model 8");
  add("densities", po::value(&o.densities)->value_name("FILE"), "JSON of densities by layer");
  add("density", po::value(&o.density)->value_name("D"), "one density for all layers");
  add("input", po::value(&o.input)->value_name("FILE"),
      "of a model: its inputs, or an image, to measure densities with; without it random ones");
  add_image_options(all);
  add("seed", po::value(&o.seed)->value_name("N")->default_value(o.seed), "of random inputs");
  add("html", po::value<std::string>()->value_name("FILE"), "write a page with the layers as bars");
  add("json", po::value<std::string>()->value_name("FILE"), "write JSON");
  constexpr const char* kUsage =
      "usage: kaiten offload TABLE|MODEL [OPTIONS]\n"
      "How long a training step takes with activations kept in the host's memory, with and without a "
      "compressing DMA.\n";
  if (!read_options(arguments, all, "table", kUsage, values)) return false;
  if (o.file.empty()) throw InputError("offload needs a layer table or a model (see kaiten offload --help)");
  const auto& known = offload::devices();
  if (std::none_of(known.begin(), known.end(), [&](const auto& d) { return d.name == o.device; }))
    throw InputError("--device: expected one of titan-x, titan-xp, found '" + o.device + "'");
  for (const auto& [name, value] : {std::pair{"tflops", o.tflops},
                                    {"memory", o.memory},
                                    {"efficiency", o.efficiency},
                                    {"link", o.link},
                                    {"compress-read", o.compress},
                                    {"aware-read", o.aware}}) {
    if (values.count(name) != 0 && !(value > 0 && value <= 1e9))
      throw InputError(fmt::format("--{}: expected a positive number to 1e9, found {}", name, value));
  }
  if (values.count("batch") != 0 && (o.batch < 1 || o.batch > plan::kMaxBatch))
    throw InputError(fmt::format("--batch: expected 1 to {}, found {}", plan::kMaxBatch, o.batch));
  if (values.count("element-bits") != 0 && o.bits != 8 && o.bits != 16 && o.bits != 32)
    throw InputError(fmt::format("--element-bits: expected 8, 16 or 32, found {}", o.bits));
  require_efficiency(values, o.efficiency);
  require_density(values, o.density, o.densities);
  o.rule = image_rule(values);
  return true;
}

// The densities of the maps that the reference executor computes, by the numbers of the operators.
std::vector<double> measured(const Graph& graph, const plan::Network& network, const OffloadOptions& o,
                             std::string& origin) {
  const ModelInputs inputs = make_inputs(graph, {o.file == kDemoName, o.input, o.seed, o.rule});
  origin = "densities of int8 maps measured on " + inputs.origin;
  const std::vector<Int8Values> values =
      run_reference(graph, inputs.values, RoundingStyle::LiteRt, [] { check_interrupt(); });
  std::vector<double> out;
  for (const plan::Layer& layer : network.layers) {
    const Op& op = graph.ops[std::size_t(layer.number)];
    const Tensor& tensor = graph.output_of(op);
    const Int8Values& map = values[std::size_t(op.output)];
    out.push_back(codec::density_of({reinterpret_cast<const std::uint8_t*>(map.data()), map.size()},
                                    {1, std::uint8_t(tensor.zero_point())}));
  }
  return out;
}

std::vector<double> by_name(const plan::Network& network, const offload::Densities& known,
                            const std::string& source) {
  std::vector<double> out;
  for (const plan::Layer& layer : network.layers) {
    const auto found = known.layers.find(layer.name);
    if (found == known.layers.end())
      throw InputError(fmt::format("{}: no density for layer '{}'", source, layer.name));
    out.push_back(found->second);
  }
  for (const auto& [name, density] : known.layers) {
    if (std::none_of(network.layers.begin(), network.layers.end(),
                     [&, wanted = name](const auto& l) { return l.name == wanted; }))
      throw InputError(fmt::format("{}: network '{}' has no layer '{}'", source, network.name, name));
  }
  return out;
}

}  // namespace

int offload_command(const Arguments& arguments) {
  OffloadOptions o;
  po::variables_map values;
  if (!parse(arguments, values, o)) return kDone;
  const Outputs outputs("offload", values, {"html", "json"}, {"table", "input", "densities"});
  const auto [network, graph, metadata] = read_source(o.file);
  o.rule.complete(metadata);
  if (!graph && !o.input.empty())
    throw InputError("--input is for models, '" + o.file + "' is a layer table");

  OffloadReport report;
  report.network = network.name;
  offload::Options& options = report.options;
  for (const offload::Device& d : offload::devices()) {
    if (d.name == o.device) options.device = d;
  }
  if (o.tflops > 0) options.device.operations_per_second = 1e12 * o.tflops;
  if (o.memory > 0) options.device.bytes_per_second = 1e9 * o.memory;
  options.efficiency = o.efficiency;
  options.link_bytes_per_second = 1e9 * o.link;
  options.compress_bytes_per_second = 1e9 * o.compress;
  options.aware_bytes_per_second = 1e9 * o.aware;
  options.element_bits = o.bits > 0 ? o.bits : graph ? 8 : 32;
  options.batch = 1;

  std::vector<double> density;
  const std::optional<offload::Densities> known = offload::known_densities(network.name);
  if (known && !graph) options.batch = known->batch;
  if (o.density >= 0) {
    density.assign(network.layers.size(), o.density);
    report.densities = fmt::format("density {} everywhere", o.density);
  } else if (!o.densities.empty()) {
    const std::vector<std::uint8_t> bytes = read_file(o.densities, FileKind::kText);
    const offload::Densities given =
        offload::read_densities({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, o.densities);
    options.batch = given.batch;
    density = by_name(network, given, o.densities);
    report.densities = "densities of " + o.densities;
  } else if (graph) {
    density = measured(*graph, network, o, report.densities);
  } else if (known) {
    density = by_name(network, *known, "densities.json");
    report.densities = "densities by the cDMA paper's text";
  } else {
    throw InputError(
        fmt::format("no densities are known for '{}': give --densities FILE or --density D", network.name));
  }
  if (o.batch > 0) options.batch = o.batch;
  report.result = offload::simulate(network, density, options);

  write_report(report, outputs);
  return kDone;
}

}  // namespace kaiten::cli
