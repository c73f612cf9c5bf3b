// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/cluster.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/error.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/report_output.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "import/import.h"
#include "report/cluster_report.h"
#include "run/session.h"
#include "swap/machine.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr int kMostImages = 100'000;
constexpr int kImagesOfChip = 8;  // without --images

struct ClusterOptions {
  std::string model, topology, config = "base", mode = "auto", optimise = "bytes", rounding = "litert";
  int chips = 0, images = 0, stages = 0, threads = 0;
  unsigned latency = 100;
  std::uint64_t seed = 1;
  double clock = 0;
  bool no_check = false;
};

po::options_description described(ClusterOptions& o) {
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("model", po::value(&o.model)->value_name("FILE"), "a TFLite or ONNX file, or demo");
  add("chips", po::value(&o.chips)->value_name("N"), "accelerators; without it all of the topology");
  add("topology", po::value(&o.topology)->value_name("FILE"),
      "chips, switches and host as JSON; without it one switch");
  add("config", po::value(&o.config)->value_name("NAME")->default_value(o.config),
      "configuration of chips for which the topology names none");
  add("images", po::value(&o.images)->value_name("N"), "without it eight for each chip");
  add("mode", po::value(&o.mode)->value_name("NAME")->default_value(o.mode),
      "stap: stages on chips; data: the whole network on each; auto: the faster one by the model");
  add("stages", po::value(&o.stages)->value_name("N"), "so many of --mode stap; without it as many as suit");
  add("optimise", po::value(&o.optimise)->value_name("WHAT")->default_value(o.optimise),
      "stages by bytes of weights that an image loads again, or by time: the period");
  add("rounding", po::value(&o.rounding)->value_name("STYLE")->default_value(o.rounding), "litert or tflm");
  add("latency", po::value(&o.latency)->value_name("CYCLES")->default_value(o.latency),
      "of the chips' memories");
  add("seed", po::value(&o.seed)->value_name("N")->default_value(o.seed), "of the random images");
  add("threads", po::value(&o.threads)->value_name("N"),
      "that simulate; without it one for each core, under mpirun one");
  add("no-check", po::bool_switch(&o.no_check), "do not compare with the reference");
  add("json", po::value<std::string>()->value_name("FILE"), "write JSON");
  add_clock_option(all, o.clock);
  return all;
}

cluster::Mode mode_of(const std::string& name) {
  if (name == "stap") return cluster::Mode::kStap;
  if (name == "data") return cluster::Mode::kData;
  if (name == "auto") return cluster::Mode::kAuto;
  throw InputError("--mode: expected stap, data or auto, found '" + name + "'");
}

void require(bool sound, const std::string& option, int low, int high, std::int64_t found) {
  if (!sound) throw InputError(fmt::format("{}: expected {} to {}, found {}", option, low, high, found));
}

void check(const ClusterOptions& o, const po::variables_map& values) {
  if (o.model.empty()) throw InputError("cluster needs a model (see kaiten cluster --help)");
  if (o.topology.empty() && values.count("chips") == 0)
    throw InputError("cluster needs --chips or --topology (see kaiten cluster --help)");
  const auto given = [&](const char* option) { return values.count(option) != 0; };
  require(!given("chips") || (o.chips >= 1 && o.chips <= cluster::kMostChips), "--chips", 1,
          cluster::kMostChips, o.chips);
  require(!given("images") || (o.images >= 1 && o.images <= kMostImages), "--images", 1, kMostImages,
          o.images);
  require(!given("stages") || (o.stages >= 2 && o.stages <= cluster::kMostChips), "--stages", 2,
          cluster::kMostChips, o.stages);
  require(!given("threads") || (o.threads >= 1 && o.threads <= 256), "--threads", 1, 256, o.threads);
  require(o.latency >= 1 && o.latency <= kMostLatency, "--latency", 1, int(kMostLatency), o.latency);
  if (given("stages") && o.mode != "stap") throw InputError("--stages is for --mode stap");
  if (values.count("optimise") != 0 && !values["optimise"].defaulted() && o.mode != "stap")
    throw InputError("--optimise is for --mode stap");
  if (o.rounding != "litert" && o.rounding != "tflm")
    throw InputError("--rounding: expected litert or tflm, found '" + o.rounding + "'");
  require_clock(values, o.clock);
}

cluster::Topology make_topology(const ClusterOptions& o) {
  if (o.topology.empty()) return cluster::one_switch(o.chips, o.config);
  const std::vector<std::uint8_t> bytes = read_file(o.topology, FileKind::kText);
  return cluster::topology_of(
      swap::read_machine({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, o.topology), o.chips,
      o.config);
}

std::vector<Int8Values> random_images(const Graph& graph, int images, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Int8Values> inputs;
  for (int i = 0; i < images; i++) {
    for (int t : graph.inputs) {
      if (graph.tensors[std::size_t(t)].type != ElementType::Int8)
        throw InputError("input '" + graph.tensors[std::size_t(t)].name + "': limit: int8 values, found " +
                         std::string(name_of(graph.tensors[std::size_t(t)].type)));
      Int8Values& values = inputs.emplace_back(graph.tensors[std::size_t(t)].bytes());
      for (auto& v : values) v = std::int8_t(random());
    }
  }
  return inputs;
}

int run_cluster_command(const Arguments& arguments) {
  ClusterOptions o;
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten cluster MODEL --chips N [OPTIONS]\n"
      "A network on several simulated accelerators behind links: as a pipeline of stages, or images side by "
      "side.\n";
  if (!read_options(arguments, described(o), "model", kUsage, values)) return kDone;
  check(o, values);
  const Outputs outputs("cluster", values, {"json"}, {"model", "topology"});
  ClusterReport report;
  report.checked = !o.no_check;
  report.clock_mhz = o.clock;
  report.topology = make_topology(o);
  const Graph graph = require_graph(import_model(o.model));
  report.model = graph.name;
  const int chips = int(report.topology.chips.size());
  const std::vector<Int8Values> images =
      random_images(graph, o.images > 0 ? o.images : kImagesOfChip * chips, o.seed);

  ProgressLine progress;
  progress.show("planning stages");
  cluster::PipelineOptions planning;
  planning.mode = mode_of(o.mode);
  planning.stages = o.stages;
  // The faster mode is the faster way of cutting, too.
  planning.optimise = planning.mode == cluster::Mode::kAuto ? Optimise::kTime : optimise_of(o.optimise);
  planning.rounding = o.rounding == "tflm" ? RoundingStyle::Tflm : RoundingStyle::LiteRt;
  planning.cancellation_check = check_interrupt;
  report.pipeline = cluster::plan_pipeline(graph, report.topology, planning);

  cluster::RunOptions running;
  running.exchange = other_ranks();
  running.memory = {o.latency, o.seed};
  running.rounding = planning.rounding;
  const int own = running.exchange != nullptr ? 1 : int(std::max(1U, std::thread::hardware_concurrency()));
  running.threads = o.threads > 0 ? o.threads : own;
  running.check = !o.no_check;
  running.progress = [&](std::size_t received, std::size_t all) {
    check_interrupt();
    progress.show(fmt::format("{} of {} images", received, all), double(received) / double(all));
  };
  report.result = cluster::run_cluster(graph, report.pipeline, report.topology, images, running);
  progress.clear();
  if (running.exchange != nullptr) running.exchange->finish();
  if (!first_rank()) return kDone;
  if (outputs.wanted("json")) outputs.write_json("json", json_of(report));
  outputs.print(to_text(report, output_width()));
  return report.result.exact ? kDone : kDiffers;
}

}  // namespace

int cluster_command(const Arguments& arguments) {
  return on_ranks([&] { return run_cluster_command(arguments); });
}

}  // namespace kaiten::cli
