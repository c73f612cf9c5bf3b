// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/cluster.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/fingerprint.h"
#include "base/output.h"
#include "cli/cluster_output.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/report_output.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "cluster/mpi.h"
#include "import/import.h"
#include "report/cluster_report.h"
#include "report/spill_report.h"
#include "run/session.h"
#include "swap/machine.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr int kMostImages = 100'000;
constexpr int kImagesOfChip = 8;  // without --images

struct ClusterOptions {
  std::string model, topology, config = "base", mode = "auto", boundaries = "rows", optimise = "bytes",
                               rounding = "litert";
  std::string input, output;
  std::string spill_limit, policy = "best", spill_compress = "off";
  int chips = 0, images = 0, stages = 0, threads = 0, batch = 8, ranks = 0;
  unsigned latency = 100;
  std::uint64_t seed = 1;
  double clock = 0;
  bool no_check = false, resume = false;
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
  add("input", po::value(&o.input)->value_name("FILE"),
      "the images, raw as of kaiten run, one behind the other; without it random ones");
  add("output", po::value(&o.output)->value_name("FILE"),
      "write the outputs of all images, raw; a run that ends early leaves FILE.part with those that are "
      "done");
  add("resume", po::bool_switch(&o.resume), "go on with the run that ended early and began --output");
  add("mode", po::value(&o.mode)->value_name("NAME")->default_value(o.mode),
      "stap: stages on chips; data: the whole network on each; auto: the faster one by the model");
  add("boundaries", po::value(&o.boundaries)->value_name("NAME")->default_value(o.boundaries),
      "rows: the next chip takes rows as they are made, where it can; maps: whole maps");
  add("stages", po::value(&o.stages)->value_name("N"), "so many of --mode stap; without it as many as suit");
  add("optimise", po::value(&o.optimise)->value_name("WHAT")->default_value(o.optimise),
      "stages by bytes of weights that an image loads again, or by time: the period");
  add("spill-limit", po::value(&o.spill_limit)->value_name("BYTES"),
      "of maps in a chip's memory: each chip takes a batch forward and in reverse, as training does, and "
      "maps spill to the host");
  add("batch", po::value(&o.batch)->value_name("N")->default_value(o.batch),
      "with --spill-limit: images of a chip");
  add("policy", po::value(&o.policy)->value_name("NAME")->default_value(o.policy),
      "with --spill-limit: which maps spill and when they come back, as of kaiten swap");
  add("spill-compress", po::value(&o.spill_compress)->value_name("on|off")->default_value(o.spill_compress),
      "with --spill-limit: maps on links by zero-value compression");
  add("rounding", po::value(&o.rounding)->value_name("STYLE")->default_value(o.rounding), "litert or tflm");
  add("latency", po::value(&o.latency)->value_name("CYCLES")->default_value(o.latency),
      "of the chips' memories");
  add("seed", po::value(&o.seed)->value_name("N")->default_value(o.seed), "of the random images");
  add("threads", po::value(&o.threads)->value_name("N"),
      "that simulate; without it one for each core, under mpirun one");
  add("ranks", po::value(&o.ranks)->value_name("N"),
      "processes that simulate, by mpirun; one that dies ends the run with its name and exit code 3");
  add("no-check", po::bool_switch(&o.no_check), "do not compare with the reference");
  add("json", po::value<std::string>()->value_name("FILE"), "write JSON");
  add_clock_option(all, o.clock);
  return all;
}

// Whether rows cross boundaries.
bool rows_of(const std::string& name) {
  if (name == "rows") return true;
  if (name == "maps") return false;
  throw InputError("--boundaries: expected rows or maps, found '" + name + "'");
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

swap::Policy policy_of(const std::string& name) {
  std::string names;
  for (const auto& [known, policy] : swap::policies()) {
    if (known == name) return policy;
    names += (names.empty() ? "" : ", ") + known;
  }
  throw InputError(fmt::format("--policy: expected one of {}, found '{}'", names, name));
}

void check_spilling(const ClusterOptions& o, const po::variables_map& values) {
  const auto given = [&](const char* option) {
    return values.count(option) != 0 && !values[option].defaulted();
  };
  if (o.spill_limit.empty()) {
    for (const char* option : {"batch", "policy", "spill-compress"}) {
      if (given(option)) throw InputError(fmt::format("--{} is for --spill-limit", option));
    }
    return;
  }
  for (const char* option : {"mode", "boundaries", "images", "stages", "optimise", "output"}) {
    if (given(option)) throw InputError(fmt::format("--{} is not for --spill-limit", option));
  }
  require(o.batch >= 1 && o.batch <= kMostBatch, "--batch", 1, kMostBatch, o.batch);
  bytes_of(o.spill_limit, "--spill-limit");
  policy_of(o.policy);
  if (o.spill_compress != "on" && o.spill_compress != "off")
    throw InputError("--spill-compress: expected on or off, found '" + o.spill_compress + "'");
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
  require(!given("ranks") || (o.ranks >= 1 && o.ranks <= cluster::kMostChips), "--ranks", 1,
          cluster::kMostChips, o.ranks);
  if (given("ranks") && cluster::launched_rank())
    throw InputError("--ranks: mpirun has started this process");
  if (given("stages") && o.mode != "stap") throw InputError("--stages is for --mode stap");
  if (values.count("optimise") != 0 && !values["optimise"].defaulted() && o.mode != "stap")
    throw InputError("--optimise is for --mode stap");
  if (o.rounding != "litert" && o.rounding != "tflm")
    throw InputError("--rounding: expected litert or tflm, found '" + o.rounding + "'");
  require_clock(values, o.clock);
  if (o.resume && o.output.empty()) throw InputError("--resume needs --output");
  if (o.output == kStandardOutput) throw InputError("--output: it grows in parts, '-' cannot be");
  check_spilling(o, values);
}

cluster::Topology make_topology(const ClusterOptions& o) {
  if (o.topology.empty()) return cluster::one_switch(o.chips, o.config);
  const std::vector<std::uint8_t> bytes = read_file(o.topology, FileKind::kText);
  return cluster::topology_of(
      swap::read_machine({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, o.topology), o.chips,
      o.config);
}

std::vector<Int8Values> images_of(const ClusterOptions& o, const Graph& graph, int images) {
  for (int t : graph.inputs) {
    const Tensor& tensor = graph.tensors[std::size_t(t)];
    if (tensor.type != ElementType::Int8)
      throw InputError("input '" + tensor.name + "': limit: int8 values, found " +
                       std::string(name_of(tensor.type)));
  }
  return make_inputs(graph, {false, o.input, o.seed, {}, images}).values;
}

// What makes the outputs of one run those of another.
std::string key_of(const ClusterOptions& o, std::span<const std::uint8_t> model,
                   std::span<const Int8Values> images) {
  Fingerprint print;
  print.add(model);
  print.add(o.rounding);
  for (const Int8Values& values : images)
    print.add({reinterpret_cast<const char*>(values.data()), values.size()});
  return print.text();
}

RoundingStyle rounding_of(const ClusterOptions& o) {
  return o.rounding == "tflm" ? RoundingStyle::Tflm : RoundingStyle::LiteRt;
}

// `unit`: what is counted.
cluster::RunOptions running_of(const ClusterOptions& o, ProgressLine& progress, const std::string& unit) {
  cluster::RunOptions running;
  running.exchange = other_ranks();
  running.memory = {o.latency, o.seed};
  running.rounding = rounding_of(o);
  running.threads = o.threads > 0 ? o.threads : threads_of_rank();
  running.check = !o.no_check;
  running.progress = [&progress, unit](std::size_t done, std::size_t all) {
    check_interrupt();
    progress.show(fmt::format("{} of {} {}", done, all, unit), double(done) / double(all));
  };
  return running;
}

template <class Report>
int tell(const Report& report, const Outputs& outputs, const cluster::RunOptions& running) {
  if (running.exchange != nullptr) running.exchange->finish();
  if (!first_rank()) return kDone;
  if (outputs.wanted("json")) outputs.write_json("json", json_of(report));
  outputs.print(to_text(report, output_width()));
  return report.result.exact ? kDone : kDiffers;
}

// Rank 0's count of images that an earlier run left, for all ranks.
std::size_t kept_images(const std::optional<ClusterOutput>& output, cluster::Exchange* ranks) {
  const std::uint64_t own = output ? output->first() : 0;
  if (ranks == nullptr) return own;
  const auto told = ranks->gather(cluster::encode_values(std::span(&own, 1)));
  return cluster::decode_values<std::uint64_t>(told.front(), 0).front();
}

// Runs the images that `output` lacks. Whatever ends the run, it keeps what is there.
cluster::ClusterResult run_images(const Graph& graph, const ClusterReport& report,
                                  std::span<const Int8Values> images, cluster::RunOptions running,
                                  std::optional<ClusterOutput>& output) {
  running.kept.resize(kept_images(output, running.exchange) * graph.outputs.size());
  if (!output) return cluster::run_cluster(graph, report.pipeline, report.topology, images, running);
  running.kept = output->kept();
  running.received = [&output](std::size_t image, const std::vector<Int8Values>& values) {
    output->add(image, values);
  };
  try {
    cluster::ClusterResult result =
        cluster::run_cluster(graph, report.pipeline, report.topology, images, running);
    output->commit();
    return result;
  } catch (...) {
    output->note();
    throw;
  }
}

int run_pipeline(const ClusterOptions& o, const Outputs& outputs) {
  ClusterReport report;
  report.checked = !o.no_check;
  report.clock_mhz = o.clock;
  report.topology = make_topology(o);
  const std::vector<std::uint8_t> model = model_bytes(o.model);
  const Graph graph = require_graph(import_model(o.model, model));
  report.model = graph.name;
  const int chips = int(report.topology.chips.size());
  const std::vector<Int8Values> images = images_of(o, graph, o.images > 0 ? o.images : kImagesOfChip * chips);

  ProgressLine progress;
  progress.show("planning stages");
  cluster::PipelineOptions planning;
  planning.mode = mode_of(o.mode);
  planning.rows = rows_of(o.boundaries);
  planning.stages = o.stages;
  // The faster mode is the faster way of cutting, too.
  planning.optimise = planning.mode == cluster::Mode::kAuto ? Optimise::kTime : optimise_of(o.optimise);
  planning.rounding = rounding_of(o);
  planning.cancellation_check = check_interrupt;
  report.pipeline = cluster::plan_pipeline(graph, report.topology, planning);
  std::optional<ClusterOutput> output;
  if (first_rank() && !o.output.empty())
    output.emplace(graph, o.output, key_of(o, model, images), images.size() / graph.inputs.size(), o.resume);
  const cluster::RunOptions running = running_of(o, progress, "images");
  report.result = run_images(graph, report, images, running, output);
  progress.clear();
  return tell(report, outputs, running);
}

int run_spilling(const ClusterOptions& o, const Outputs& outputs) {
  SpillReport report;
  report.checked = !o.no_check;
  report.policy = o.policy;
  report.topology = make_topology(o);
  if (o.clock > 0) report.topology.clock_mhz = o.clock;
  const Graph graph = require_graph(import_model(o.model));
  report.model = graph.name;
  const int chips = int(report.topology.chips.size());
  const std::vector<Int8Values> images = images_of(o, graph, chips * o.batch);

  ProgressLine progress;
  progress.show("planning what spills");
  cluster::SpillOptions planning;
  planning.limit = std::uint64_t(bytes_of(o.spill_limit, "--spill-limit"));
  planning.batch = o.batch;
  planning.policy = policy_of(o.policy);
  planning.compress = o.spill_compress == "on";
  planning.rounding = rounding_of(o);
  planning.cancellation_check = check_interrupt;
  report.plan =
      cluster::plan_spilling(graph, report.topology, std::span(images).first(graph.inputs.size()), planning);
  const cluster::RunOptions running = running_of(o, progress, "runs of segments");
  report.result = cluster::run_spilling(graph, report.plan, report.topology, images, running);
  progress.clear();
  return tell(report, outputs, running);
}

// The command line of one rank.
Arguments without_ranks(const Arguments& arguments) {
  Arguments words{"cluster"};
  for (std::size_t i = 0; i < arguments.size(); i++) {
    if (arguments[i] == "--ranks")
      i++;
    else if (!arguments[i].starts_with("--ranks="))
      words.push_back(arguments[i]);
  }
  return words;
}

int run_cluster_command(const Arguments& arguments) {
  ClusterOptions o;
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten cluster MODEL --chips N [OPTIONS]\n"
      "A network on several simulated accelerators behind links: as a pipeline of stages, images side by "
      "side, or batches whose maps spill to the host.\n";
  if (!read_options(arguments, described(o), "model", kUsage, values)) return kDone;
  check(o, values);
  if (o.ranks > 0) return launch_ranks(o.ranks, without_ranks(arguments));
  const Outputs outputs("cluster", values, {"json", "output"}, {"model", "topology", "input"});
  return o.spill_limit.empty() ? run_pipeline(o, outputs) : run_spilling(o, outputs);
}

}  // namespace

int cluster_command(const Arguments& arguments) {
  return on_ranks([&] { return run_cluster_command(arguments); });
}

}  // namespace kaiten::cli
