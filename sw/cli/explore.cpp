// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/report_output.h"
#include "cli/source.h"
#include "cli/tool.h"
#include "explore/cost.h"
#include "explore/search.h"
#include "generate/networks.h"
#include "generate/subnets.h"
#include "import/import.h"
#include "plan/to_graph.h"
#include "report/explore_report.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr std::size_t kMostCandidates = 1'000'000;
constexpr int kMostThreads = 1024;
constexpr const char* kUsage =
    "usage: kaiten explore NETWORK [NETWORK ...] [OPTIONS]\n"
    "Accelerators that could be built, all combinations of the sizes below: which of them no other one beats "
    "in "
    "cycles and area.\n";

// Values of an axis that the RTL can take at all.
struct Axis {
  const char* option;
  std::vector<int> explore::Axes::*values;
  int least, most;
  const char* text;
};
constexpr Axis kAxes[] = {
    {"kp", &explore::Axes::kp, 4, 576, "KP, output channels of the array"},
    {"cp", &explore::Axes::cp, 4, 64, "CP, input channels of the array, powers of two from 4 on"},
    {"bus", &explore::Axes::bus_bits, 128, 512, "bits of the bus: 128, 256, 512"},
    {"wb", &explore::Axes::wb_kib, 1, 1 << 16, "KiB of WB, which PB and DB share"},
    {"pb", &explore::Axes::pb_percent, 0, 90,
     "percent of WB for PB at most: weights that stay from run to run"},
    {"sb", &explore::Axes::sb_kib, 1, 1 << 16, "KiB of SB"},
    {"vb", &explore::Axes::vb_kib, 1, 1 << 16, "KiB of VB"},
    {"ob", &explore::Axes::ob_pixels, 2, 1 << 16, "pixels of OB"},
    {"zsb", &explore::Axes::zsb_channels, 64, 1 << 16, "channels of each ZSB"},
    {"large-windows", &explore::Axes::large_windows, 0, 1,
     "1: the vector engine streams windows up to 9 x 9; 0: up to 3 x 3"},
    {"conv-table", &explore::Axes::conv_table, 0, 1,
     "1: tables of functions of one value behind the array, wide ones behind the vector engine; 0: neither"}};

struct ExploreOptions {
  std::string networks, family;
  explore::Resources budget;
  double bandwidth = 0, clock = 0;
  int image = 224;
  int threads = int(std::max(1U, std::thread::hardware_concurrency()));
  bool whole = false;
  explore::Axes axes;
};

std::string list_of(const std::vector<int>& values) { return fmt::format("{}", fmt::join(values, ",")); }

po::options_description described(ExploreOptions& o) {
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("networks", po::value(&o.networks)->value_name("NAME,..."),
      "model files, layer tables, 'demo', or what kaiten-generate makes, such as mobilenet_v1 or "
      "ofa-resnet50/RA; also as first arguments");
  add("family", po::value(&o.family)->value_name("FAMILY")->default_value("xc7"),
      "of FPGAs: xc7, xcup (UltraScale+), cyclonev, ecp5; LUTs, DSPs and RAM blocks are its own");
  add("lut", po::value(&o.budget.lut)->value_name("N"), "LUTs at most");
  add("dsp", po::value(&o.budget.dsp)->value_name("N"), "DSPs at most");
  add("ram", po::value(&o.budget.ram)->value_name("N"), "RAM blocks at most");
  add("uram", po::value(&o.budget.uram)->value_name("N"), "UltraRAMs at most; xcup has them");
  add("bandwidth", po::value(&o.bandwidth)->value_name("BYTES"),
      "that the memory moves in a cycle at most; without it as many as the bus");
  add_clock_option(all, o.clock);
  for (const Axis& a : kAxes)
    add(a.option, po::value<std::string>()->value_name("N,...")->default_value(list_of(o.axes.*a.values)),
        a.text);
  add("image", po::value(&o.image)->value_name("PIXELS")->default_value(o.image),
      "rows and columns of the image of generated networks");
  add("threads", po::value(&o.threads)->value_name("N")->default_value(o.threads), "threads");
  add("ranks", po::bool_switch(),
      "under mpirun, share the accelerators with the other processes (so they do without this option)");
  add("whole", po::bool_switch(&o.whole), "compile those, too, whose least cycles are beaten already");
  add("html", po::value<std::string>()->value_name("FILE"), "write a page with plots");
  add("json", po::value<std::string>()->value_name("FILE"), "write JSON");
  return all;
}

std::vector<int> axis_of(const Axis& axis, const std::string& text) {
  std::set<int> values;
  std::istringstream in(text + ",");
  for (std::string word; std::getline(in, word, ',');) {
    int n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size() || n < axis.least || n > axis.most)
      throw InputError(
          fmt::format("--{}: expected whole numbers from {} to {} with commas between, found '{}'",
                      axis.option, axis.least, axis.most, text));
    values.insert(n);
  }
  return {values.begin(), values.end()};
}

void check(const po::variables_map& values, ExploreOptions& o) {
  if (o.networks.empty()) throw InputError("explore needs a network (see kaiten explore --help)");
  for (const auto& [option, value] : {std::pair{"lut", o.budget.lut},
                                      {"dsp", o.budget.dsp},
                                      {"ram", o.budget.ram},
                                      {"uram", o.budget.uram},
                                      {"bandwidth", o.bandwidth}}) {
    if (values.count(option) != 0 && !(value > 0 && value <= 1e9))
      throw InputError(
          fmt::format("--{}: expected a number above 0 and up to 1e9, found {:g}", option, value));
  }
  if (values.count("uram") != 0 && !explore::family(o.family).has_uram())
    throw InputError(fmt::format("--uram: limit: --family xcup, found {}", o.family));
  require_clock(values, o.clock);
  if (o.threads < 1 || o.threads > kMostThreads)
    throw InputError(fmt::format("--threads: expected 1 to {}, found {}", kMostThreads, o.threads));
  if (o.image < generate::kSmallestSize || o.image > generate::kLargestSize)
    throw InputError(fmt::format("--image: expected {} to {}, found {}", generate::kSmallestSize,
                                 generate::kLargestSize, o.image));
  for (const Axis& a : kAxes) o.axes.*a.values = axis_of(a, values[a.option].as<std::string>());
  if (o.axes.combinations() > kMostCandidates)
    throw InputError(
        fmt::format("limit: {} combinations, found: {}", kMostCandidates, o.axes.combinations()));
}

// A file, or a network that can be generated.
Graph network_of(const std::string& name, int image) {
  const auto known = generate::network_names();
  const bool generated =
      generate::is_subnet(name) || std::find(known.begin(), known.end(), name) != known.end();
  if (generated && !std::filesystem::exists(name))
    return require_graph(import_tflite(generate::make_network(name, image, 1), name));
  Source source = read_source(name, plan::Inputs::kAny);
  return source.graph ? std::move(*source.graph) : plan::graph_of(plan::with_addition_layers(source.network));
}

std::vector<Graph> networks_of(const ExploreOptions& o) {
  std::vector<Graph> graphs;
  std::istringstream names(o.networks + (o.networks.ends_with(',') ? "," : ""));
  for (std::string name; std::getline(names, name, ',');) {
    if (name.empty())
      throw InputError("--networks: expected names with commas between, found '" + o.networks + "'");
    graphs.push_back(network_of(name, o.image));
  }
  return graphs;
}

// As a line for other ranks, and back; "-": interrupted.
std::string line_of(const std::optional<explore::Outcome>& outcome) {
  if (!outcome) return "-";
  std::string refusal = outcome->refusal;
  std::replace(refusal.begin(), refusal.end(), '\n', ' ');
  return fmt::format("{}|{}", fmt::join(outcome->cycles, ","), refusal);
}

std::optional<explore::Outcome> outcome_of(const std::string& line) {
  if (line == "-") return std::nullopt;
  const std::size_t bar = line.find('|');
  explore::Outcome outcome{{}, line.substr(bar + 1)};
  std::istringstream numbers(line.substr(0, bar));
  for (std::string n; std::getline(numbers, n, ',');) outcome.cycles.push_back(std::stoll(n));
  return outcome;
}

// Every rank takes its share of the items and is told what the others found.
explore::Share with_ranks(cluster::Exchange& ranks, explore::Share local) {
  return [&ranks, local = std::move(local)](std::span<const std::size_t> items, const explore::Work& work) {
    const std::vector<std::string> told =
        shared_by(ranks, items.size(), [&](const std::vector<std::size_t>& places) {
          std::vector<std::string> lines;
          for (const auto& outcome : local(picked(items, places), work)) lines.push_back(line_of(outcome));
          return lines;
        });
    std::vector<std::optional<explore::Outcome>> answers(told.size());
    std::transform(told.begin(), told.end(), answers.begin(), outcome_of);
    return answers;
  };
}

// Cycles of all networks on a candidate.
class Evaluator {
 public:
  Evaluator(const std::vector<Graph>& graphs, const explore::Groups& groups,
            const std::vector<explore::Candidate>& candidates, double bandwidth)
      : graphs_(graphs), groups_(groups), candidates_(candidates), options_{bandwidth, check_interrupt} {}

  explore::Outcome least(std::size_t i) const {
    check_interrupt();
    std::vector<explore::Cost> costs;
    costs.reserve(graphs_.size());
    for (const Graph& g : graphs_) costs.push_back(explore::least(g, candidates_[i], options_));
    return all_of(costs);
  }

  explore::Outcome modelled(std::size_t i) const {
    check_interrupt();
    return all_of(explore::modelled_all(graphs_, groups_, candidates_[i], options_));
  }

 private:
  explore::Outcome all_of(const std::vector<explore::Cost>& costs) const {
    explore::Outcome outcome;
    for (std::size_t i = 0; i < costs.size(); i++) {
      if (!costs[i].refusal.empty()) return {{}, graphs_[i].name + ": " + costs[i].refusal};
      outcome.cycles.push_back(costs[i].cycles);
    }
    return outcome;
  }

  const std::vector<Graph>& graphs_;
  const explore::Groups& groups_;
  const std::vector<explore::Candidate>& candidates_;
  explore::CostOptions options_;
};

ExploreReport made_report(const ExploreOptions& o, const std::vector<Graph>& graphs,
                          const explore::Groups& groups) {
  ExploreReport report;
  for (const Graph& g : graphs) report.networks.push_back({g.name, macs(g)});
  for (std::size_t n = 0; n < groups.size(); n++) {
    for (const std::size_t i : groups[n]) report.networks[i].group = n;
  }
  report.family = explore::family(o.family);
  report.budget = o.budget;
  report.bytes_per_cycle = o.bandwidth;
  report.clock_mhz = o.clock;
  report.candidates = explore::candidates(o.axes);
  const std::vector<explore::Mapped> mapped = explore::mapped_accelerators();
  const explore::AreaModel model(mapped, report.family);
  for (const explore::Candidate& c : report.candidates)
    report.areas.push_back(model.area(c.config, o.budget.uram));
  report.residuals = explore::leave_one_out(mapped, report.family);
  return report;
}

int run_explore(const Arguments& arguments) {
  ExploreOptions o;
  po::variables_map values;
  // All words before the first option are networks.
  Arguments rest = arguments;
  while (rest.size() >= 2 && !rest[0].starts_with('-') && !rest[1].starts_with('-')) {
    rest[0] += "," + rest[1];
    rest.erase(rest.begin() + 1);
  }
  if (!read_options(rest, described(o), "networks", kUsage, values)) return kDone;
  check(values, o);
  const Outputs outputs("explore", values, {"html", "json"}, {}, {"networks"});
  const std::vector<Graph> graphs = networks_of(o);
  const explore::Groups groups = explore::sharing(graphs);
  ExploreReport report = made_report(o, graphs, groups);
  if (report.candidates.empty()) throw InputError("the RTL takes none of these combinations of sizes");

  const Evaluator evaluator(graphs, groups, report.candidates, o.bandwidth);
  int signal = SIGINT;
  explore::Share share = explore::on_threads(o.threads, [&](const std::exception_ptr& e) {
    try {
      std::rethrow_exception(e);
    } catch (const Interrupted& i) {
      signal = i.signal;
      return true;
    } catch (...) {
      return false;
    }
  });
  cluster::Exchange* const ranks = other_ranks();
  if (ranks != nullptr) share = with_ranks(*ranks, std::move(share));
  ProgressLine progress;
  report.found = explore::search(
      {report.areas, report.budget, [&](std::size_t i) { return evaluator.least(i); },
       [&](std::size_t i) { return evaluator.modelled(i); }, !o.whole},
      share, [&](const char* step, std::size_t done, std::size_t all) {
        if (first_rank())
          progress.show(fmt::format("{}: {} of {}", step, done, all), double(done) / double(all));
      });
  progress.clear();
  if (ranks != nullptr) ranks->finish();
  if (!first_rank()) return report.found.complete ? kDone : kOfSignal + signal;
  write_report(report, outputs);
  if (report.found.complete) return kDone;
  print_error("kaiten", fmt::format("interrupted after {} accelerators", report.found.looked_at));
  return kOfSignal + signal;
}

}  // namespace

int explore_command(const Arguments& arguments) {
  return on_ranks([&] { return run_explore(arguments); });
}

}  // namespace kaiten::cli
