// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "cli/demo.h"
#include "cli/files.h"
#include "cli/image.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/options.h"
#include "cli/report_output.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "plan/from_graph.h"
#include "plan/methods.h"
#include "plan/table.h"
#include "plan/to_graph.h"
#include "reference/reference.h"
#include "report/plan_html.h"
#include "report/plan_report.h"
#include "run/session.h"
#include "target_plan/sections_plan.h"
#include "target_plan/target_plan.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr int kSweepPoints = 64;

struct PlanOptions {
  std::string file;
  std::string capacity;
  std::string config;
  std::string closure = "rolling";
  std::string method = "all";
  int batch = 1;
  std::string penalty = "on";
  std::string sweep;
  bool page = false;
  std::string energy;
  bool commands = false;
  std::string compress = "off";
  std::string input;
  std::uint64_t seed = 1;
  ImageRule rule;
  double period = 0;
  int chips = 0;
  double clock_mhz = 0;        // 0: none
  double bytes_per_cycle = 0;  // 0: as fast as the bus
};

// Throws InputError for the first option that does not fit, alone or beside the others.
void check(const po::variables_map& values, const PlanOptions& o) {
  const auto one_of = [](const std::string& option, const std::string& value,
                         std::initializer_list<std::string_view> known) {
    if (std::find(known.begin(), known.end(), value) != known.end()) return;
    std::string list;
    for (std::string_view k : known) list += (list.empty() ? "" : ", ") + std::string(k);
    throw InputError(option + ": expected one of " + list + ", found '" + value + "'");
  };
  if (o.file.empty()) throw InputError("plan needs a model or a layer table (see kaiten plan --help)");
  if (o.capacity.empty() && o.sweep.empty() && o.config.empty()) {
    throw InputError("plan needs --capacity or --config (see kaiten plan --help)");
  }
  if (!o.config.empty()) {
    for (const char* paper : {"capacity", "sweep", "closure", "residual-penalty"}) {
      if (values.count(paper) != 0 && !values[paper].defaulted()) {
        throw InputError(std::string("--") + paper + " and --config exclude each other");
      }
    }
  }
  require_clock(values, o.clock_mhz);
  if (o.clock_mhz > 0 && o.config.empty())
    throw InputError("--clock needs --config: analytic mode counts no cycles");
  if (o.commands && o.config.empty()) throw InputError("--commands needs --config");
  if (values.count("bytes-per-cycle") != 0) {
    if (o.config.empty())
      throw InputError("--bytes-per-cycle needs --config: analytic mode counts no cycles");
    if (!(o.bytes_per_cycle >= kLeastBytesPerCycle && o.bytes_per_cycle <= kMostBytesPerCycle)) {
      throw InputError(fmt::format("--bytes-per-cycle: expected {} to {}, found {}", kLeastBytesPerCycle,
                                   kMostBytesPerCycle, o.bytes_per_cycle));
    }
  }
  if (compress_of(o.compress) == Compress::kOff) {
    for (const char* of_values : {"input", "seed", "mean", "scale"}) {
      if (values.count(of_values) != 0 && !values[of_values].defaulted())
        throw InputError(std::string("--") + of_values + " needs --compress on or auto");
    }
  } else if (o.config.empty()) {
    throw InputError("--compress needs --config");
  }
  one_of("--closure", o.closure, {"rolling", "paper"});
  one_of("--residual-penalty", o.penalty, {"on", "off"});
  one_of("--method", o.method,
         {"optimal", "per-layer", "greedy", "residual", "layer-fusion", "bound", "all"});
  if (o.batch < 1 || o.batch > plan::kMaxBatch) {
    throw InputError(fmt::format("--batch: expected 1 to {}, found {}", plan::kMaxBatch, o.batch));
  }
  if (values.count("period") != 0 && !(o.period > 0))
    throw InputError(fmt::format("--period: expected a positive number, found {}", o.period));
  if (values.count("chips") != 0 && o.chips < 1)
    throw InputError(fmt::format("--chips: expected at least 1, found {}", o.chips));
  if (o.period > 0 && o.chips > 0) throw InputError("--period and --chips exclude each other");
}

bool parse(const Arguments& arguments, po::variables_map& values, PlanOptions& o) {
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("table", po::value(&o.file)->value_name("FILE"),
      "model, layer table (JSON) or SCALE-Sim topology (CSV), also as first argument");
  add("capacity", po::value(&o.capacity)->value_name("BYTES"), "analytic mode: bytes on chip, such as 3MiB");
  add("config", po::value(&o.config)->value_name("NAME"), "target mode: the configuration to plan for");
  add("closure", po::value(&o.closure)->value_name("rolling|paper")->default_value(o.closure),
      "analytic mode: which rows a span keeps");
  add("method", po::value(&o.method)->value_name("NAME")->default_value(o.method),
      "optimal, per-layer, greedy, residual, layer-fusion, bound or all");
  add("batch", po::value(&o.batch)->value_name("N")->default_value(o.batch),
      "images that share a span's weights");
  add("residual-penalty", po::value(&o.penalty)->value_name("on|off")->default_value(o.penalty),
      "analytic mode: count what crosses a cut beside its map");
  add("sweep", po::value(&o.sweep)->value_name("FROM:TO"),
      "analytic mode: traffic at 64 capacities, such as 256KiB:16MiB");
  add("commands", po::bool_switch(&o.commands),
      "target mode: show the modelled cycles and bytes of each command too");
  add("compress", po::value(&o.compress)->value_name("auto|on|off")->default_value(o.compress),
      "target mode: compress maps and weights of a model as kaiten run does with the same input");
  add("input", po::value(&o.input)->value_name("FILE"),
      "with --compress: input tensors or an image, as of kaiten run; without it random values");
  add("seed", po::value(&o.seed)->value_name("N")->default_value(o.seed), "of random input");
  add_image_options(all);
  add("bytes-per-cycle", po::value(&o.bytes_per_cycle)->value_name("N"),
      "target mode: bandwidth of the memory, 0.01 to 1e6; without it the bus width");
  add("period", po::value(&o.period)->value_name("CYCLES"),
      "replicate spans on chips of their own until an image takes so long");
  add("chips", po::value(&o.chips)->value_name("N"), "replicate the slowest spans on so many chips");
  add_clock_option(all, o.clock_mhz);
  add("energy", po::value(&o.energy)->value_name("FILE"),
      "other energy parameters, JSON with the keys of sw/plan/energy.json");
  add("html", po::value<std::string>()->value_name("FILE"),
      "write a page with the partition and the comparison");
  add("json", po::value<std::string>()->value_name("FILE"), "write the plan as JSON");
  constexpr const char* kUsage =
      "usage: kaiten plan MODEL|TABLE --capacity BYTES|--config NAME [OPTIONS]\n"
      "Which layers share the chip so that the least traffic leaves it, and what other methods need.\n";
  if (!read_options(arguments, all, "table", kUsage, values)) return false;
  check(values, o);
  o.page = values.count("html") != 0;
  o.rule = image_rule(values);
  return true;
}

// The first method is the one whose spans are shown.
struct Wanted {
  plan::MethodKind kind;
  plan::Closure closure;
};

std::vector<Wanted> wanted(const PlanOptions& o) {
  const plan::Closure closure = o.closure == "paper" ? plan::Closure::kPaper : plan::Closure::kRolling;
  if (o.method != "all") return {{*plan::method_of(o.method), closure}};
  const plan::Closure other =
      closure == plan::Closure::kPaper ? plan::Closure::kRolling : plan::Closure::kPaper;
  std::vector<Wanted> all{{plan::MethodKind::kOptimal, closure}, {plan::MethodKind::kOptimal, other}};
  for (plan::MethodKind k : plan::kMethodKinds) {
    if (k != plan::MethodKind::kOptimal) all.push_back({k, closure});
  }
  return all;
}

void sweep(const PlanOptions& o, const plan::Dataflow& dataflow, plan::PaperOptions options,
           PlanReport& report) {
  const std::string range = !o.sweep.empty()
                                ? o.sweep
                                : fmt::format("{}:{}", std::max<std::int64_t>(1, options.capacity_bytes / 8),
                                              std::min(plan::kMaxCapacity, options.capacity_bytes * 8));
  const std::size_t colon = range.find(':');
  if (colon == std::string::npos) throw InputError("--sweep: expected FROM:TO, found '" + range + "'");
  const std::int64_t from = bytes_of(range.substr(0, colon), "--sweep");
  const std::int64_t to = bytes_of(range.substr(colon + 1), "--sweep");
  if (to < from) throw InputError("--sweep: expected FROM no larger than TO, found '" + o.sweep + "'");
  bool any = false;
  std::string reason;
  for (int i = 0; i < kSweepPoints; i++) {
    check_interrupt();
    SweepPoint p;
    p.capacity_bytes =
        std::llround(double(from) * std::pow(double(to) / double(from), double(i) / (kSweepPoints - 1)));
    if (!report.sweep.empty() && report.sweep.back().capacity_bytes == p.capacity_bytes) continue;
    options.capacity_bytes = p.capacity_bytes;
    for (const Wanted& w : wanted(o)) {
      options.closure = w.closure;
      try {
        p.traffic_bytes.emplace_back(plan::run_method(w.kind, dataflow, options).traffic_bytes);
        any = true;
      } catch (const InputError& e) {
        p.traffic_bytes.emplace_back(std::nullopt);
        reason = e.what();
      }
    }
    report.sweep.push_back(std::move(p));
  }
  if (!any) throw InputError("--sweep: no capacity is enough: " + reason);
}

void replicate(const PlanOptions& o, PlanReport& report) {
  std::vector<double> times;
  for (const plan::Span& s : report.methods.front().spans) {
    // Target mode: the busiest engine, by the compiler's model; else what the chip's multipliers take at
    // least.
    double time = double(std::max({s.cycles.array, s.cycles.vector, s.cycles.load, s.cycles.store}));
    if (o.config.empty()) {
      for (int m = s.first; m <= s.last; m++)
        time += double(report.network.macs(m)) * report.batch / report.energy.chip_macs_per_cycle;
    }
    times.push_back(time);
  }
  report.pipeline =
      o.period > 0 ? plan::replicate_for_period(times, o.period) : plan::replicate_for_chips(times, o.chips);
}

void plan_analytic(const PlanOptions& o, PlanReport& report) {
  const plan::Network whole = plan::with_residual_edges(report.network);
  report.network = plan::without_classifier(whole);
  if (const int left_out = whole.layer_count() - report.network.layer_count()) {
    report.notes.push_back(
        fmt::format("{} {} of the classifier left out", left_out, left_out == 1 ? "layer" : "layers"));
  }
  report.mode = "paper";
  plan::PaperOptions options;
  options.batch = o.batch;
  options.residual_penalty = o.penalty == "on";
  const std::string capacity = o.capacity.empty() ? o.sweep.substr(o.sweep.find(':') + 1) : o.capacity;
  options.capacity_bytes = report.capacity_bytes =
      bytes_of(capacity, o.capacity.empty() ? "--sweep" : "--capacity");
  const auto start = std::chrono::steady_clock::now();
  const plan::Dataflow dataflow(report.network);
  ProgressLine progress;
  const std::vector<Wanted> all = wanted(o);
  for (const Wanted& w : all) {
    options.closure = w.closure;
    progress.show(fmt::format("planning, method {}", plan::name_of(w.kind)),
                  double(report.methods.size()) / double(all.size()));
    report.methods.push_back(plan::run_method(w.kind, dataflow, options));
    check_interrupt();
  }
  report.planning_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  // The page shows a sweep in any case.
  if (!o.sweep.empty() || o.page) sweep(o, dataflow, options, report);
  for (const plan::Method& m : report.methods) {
    const bool chained = m.name != "per-layer" && m.name != "bound";
    report.energies.push_back(plan::energy_of(report.network, m, o.batch, chained, report.energy));
  }
}

std::string sections_note(const std::vector<plan::SectionWork>& sections) {
  std::int64_t written = 0, read = 0;
  std::size_t operators = 0;
  for (const plan::SectionWork& s : sections) {
    written += s.host_written_bytes;
    read += s.host_read_bytes;
    operators += s.host_operators.size();
  }
  return fmt::format("{} {}, {} {} on the host, which writes {} bytes and reads {}", sections.size(),
                     sections.size() == 1 ? "program" : "programs", operators,
                     operators == 1 ? "operator" : "operators", written, read);
}

void plan_target(const PlanOptions& o, Source source, PlanReport& report) {
  const Config& config = preset(o.config);
  report.mode = "hardware";
  report.config = config.name;
  report.show_commands = o.commands;
  report.array_macs_per_cycle = config.array_multipliers();
  const std::int64_t row = 9LL * config.cp;
  report.capacity_bytes = row * (config.wb_rows + config.vwb_rows + config.sb_depth + config.vb_depth);
  const bool table = !source.graph;
  if (table) {
    report.network = plan::with_addition_layers(source.network);
    for (int m = 0; m < report.network.layer_count(); m++) report.network.layers[std::size_t(m)].number = m;
    source.graph = plan::graph_of(report.network);
    report.notes.emplace_back(
        "additions, implied projections and the classifier of the table are layers here");
  }
  CompileOptions options;
  options.images = o.batch;
  ProgressLine progress;
  std::string doing = "planning";
  double share = -1;  // of the methods that are done
  options.cancellation_check = [&] {
    check_interrupt();
    progress.show(doing, share);
  };
  options.compress = compress_of(o.compress);
  report.compress = o.compress;
  std::vector<Int8Values> values;
  if (options.compress != Compress::kOff) {
    if (table) throw InputError("--compress needs a model, '" + o.file + "' has no values");
    ImageRule rule = o.rule;
    rule.complete(source.metadata);
    const ModelInputs inputs =
        make_inputs(*source.graph, {o.file == kDemoName, o.input, o.seed, rule, o.batch});
    values = run_reference_batch(*source.graph, o.batch, inputs.values, options.rounding, check_interrupt);
    options.known_values = values;
    report.notes.push_back("bytes of compressed maps are those of the input: " + inputs.origin);
  }
  const auto start = std::chrono::steady_clock::now();
  const auto run_all = [&](auto& planner) {
    for (plan::MethodKind k : plan::kMethodKinds) {
      if (o.method == "all" ? k == plan::MethodKind::kLayerFusion : plan::name_of(k) != o.method) continue;
      doing = fmt::format("planning, method {}", plan::name_of(k));
      report.methods.push_back(planner.run(k));
      if (o.method == "all")
        share = double(report.methods.size()) / double(std::size(plan::kMethodKinds) - 1);
      report.energies.push_back(
          plan::energy_of(report.network, report.methods.back(), o.batch, false, report.energy));
    }
  };
  if (table) {
    TargetPlanner planner(*source.graph, report.network, table, config, options, o.bytes_per_cycle);
    run_all(planner);
  } else {
    SectionsPlanner planner(*source.graph, config, options, o.bytes_per_cycle);
    report.network = planner.network();
    if (report.network.layers.empty()) {
      if (o.page || o.period > 0 || o.chips > 0)
        throw InputError("model '" + source.graph->name + "': limit: layers on the device, found: none");
      report.notes.emplace_back("the host runs all layers: nothing to plan");
      return;
    }
    run_all(planner);
    if (!report.methods.empty()) report.sections = planner.sections(0);
    report.notes.push_back(sections_note(report.sections));
  }
  report.planning_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (options.compress != Compress::kOff && !report.methods.empty()) {
    const plan::Method& m = report.methods.front();
    report.notes.push_back(fmt::format("{}: {} bytes cross the bus as {}, {}", m.name, m.zvc_raw_bytes,
                                       m.zvc_packed_bytes, m.exactly_predicted ? "exactly" : "expected"));
  }
  report.notes.emplace_back(
      "optimal over the cuts of the order the layers stand in, where every map that crosses one is held or "
      "spilled");
}

}  // namespace

int plan_command(const Arguments& arguments) {
  PlanOptions o;
  po::variables_map values;
  if (!parse(arguments, values, o)) return kDone;
  const Outputs outputs("plan", values, {"html", "json"}, {"table", "input", "energy"});
  PlanReport report;
  Source source = read_source(o.file, o.config.empty() ? plan::Inputs::kOne : plan::Inputs::kAny);
  report.network = source.network;
  report.batch = o.batch;
  report.clock_mhz = o.clock_mhz;
  report.energy = plan::default_energy();
  if (!o.energy.empty()) {
    const std::vector<std::uint8_t> bytes = read_file(o.energy, FileKind::kText);
    report.energy = plan::read_energy({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, o.energy);
  }
  if (o.config.empty()) {
    plan_analytic(o, report);
  } else {
    plan_target(o, std::move(source), report);
  }
  if (o.period > 0 || o.chips > 0) replicate(o, report);
  write_report(report, outputs);
  return kDone;
}

}  // namespace kaiten::cli
