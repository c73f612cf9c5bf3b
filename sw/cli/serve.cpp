// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/arithmetic.h"
#include "base/error.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/report_output.h"
#include "cli/serve_subnets.h"
#include "cli/tool.h"
#include "plan/energy.h"
#include "program/config.h"
#include "report/serve_report.h"
#include "report/table.h"
#include "serve/model.h"
#include "serve/server.h"
#include "serve/stream.h"
#include "supernet/families.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

using serve::Caching;

constexpr std::size_t kMostQueries = 100'000'000;
constexpr std::size_t kSample = 4000;        // queries in the plots
constexpr std::size_t kStep = 4096;          // queries between looks at the clock
constexpr std::size_t kTraceQueries = 5000;  // queries in the trace
constexpr int kSmallestImage = 64, kLargestImage = 512;

const std::vector<std::pair<std::string, Caching>> kSchedulers = {
    {"sushi", Caching::kNearest}, {"saved", Caching::kSaved},     {"none", Caching::kNone},
    {"static", Caching::kStatic}, {"unaware", Caching::kUnaware}, {"per-query", Caching::kPerQuery},
    {"oracle", Caching::kPlanned}};
const std::vector<std::pair<std::string, serve::Arrivals>> kArrivals = {
    {"uniform", serve::Arrivals::kUniform},
    {"poisson", serve::Arrivals::kPoisson},
    {"bursty", serve::Arrivals::kBursty},
    {"diurnal", serve::Arrivals::kDiurnal}};

struct ServeOptions {
  std::string supernet = "ofa-resnet50";
  std::string table;
  std::string config = "base";
  std::string pb;
  double bus = 0;  // 0: the configuration's
  double clock = 100;
  int columns = 40;
  std::string costs = "analytic";
  std::optional<std::size_t> spot_check;
  std::string queries, generate;
  double rate = 0, hold = 1;
  std::string accuracy, latency;
  std::string policy = "accuracy", scheduler = "sushi", infeasible = "nearest", first = "random";
  int q = 8, window = 0;
  std::uint64_t seed = 1;
  bool rtl = false;
  int image = 224;
};

po::options_description described(ServeOptions& o) {
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("supernet", po::value(&o.supernet)->value_name("NAME")->default_value(o.supernet),
      "ofa-resnet50, ofa-mobilenetv3 or compofa");
  add("table", po::value(&o.table)->value_name("FILE"),
      "latencies of SubNets with SubGraphs (JSON or CSV) instead of the model's");
  add("config", po::value(&o.config)->value_name("NAME")->default_value(o.config),
      "configuration that the model takes times of");
  add("pb", po::value(&o.pb)->value_name("BYTES|none"),
      "persistent part of the weight buffer; without it two thirds");
  add("bus", po::value(&o.bus)->value_name("BYTES"),
      "of the memory bus a cycle; without it the configuration's");
  add("clock", po::value(&o.clock)->value_name("MHZ")->default_value(o.clock), "of the accelerator");
  add("columns", po::value(&o.columns)->value_name("N")->default_value(o.columns), "SubGraphs in the table");
  add("costs", po::value(&o.costs)->value_name("NAME")->default_value(o.costs),
      "what fills the table: analytic, or compiler, its cycle model of every SubNet with every SubGraph");
  add("spot-check", po::value<std::size_t>()->value_name("N"),
      "run N entries of the compiler's table on the simulated accelerator too; without it a tenth of them, "
      "at least 50; 0: none");
  add("queries", po::value(&o.queries)->value_name("FILE"),
      "CSV with arrival_ms, accuracy, latency_ms, or the Azure Functions trace of 2021");
  add("generate", po::value(&o.generate)->value_name("KIND:N"),
      "N queries: uniform (a single stream), poisson, bursty or diurnal");
  add("rate", po::value(&o.rate)->value_name("R"),
      "queries a second; without it half of what the accelerator serves without PB, diurnal: N a day");
  add("hold", po::value(&o.hold)->value_name("N")->default_value(o.hold),
      "queries in the mean until constraints are drawn anew");
  add("accuracy", po::value(&o.accuracy)->value_name("LOW:HIGH"),
      "percent to draw from; without it all that SubNets have");
  add("latency", po::value(&o.latency)->value_name("LOW:HIGH"),
      "milliseconds to draw from; without it all in the table");
  add("policy", po::value(&o.policy)->value_name("NAME")->default_value(o.policy),
      "hard constraint: accuracy or latency");
  add("scheduler", po::value(&o.scheduler)->value_name("NAME")->default_value(o.scheduler),
      "sushi, saved, none, static, unaware, per-query, oracle; all compares them");
  add("q", po::value(&o.q)->value_name("N")->default_value(o.q), "queries between choices of a SubGraph");
  add("window", po::value(&o.window)->value_name("N")->default_value(o.window),
      "SubNets that a choice looks at; 0: as many");
  add("first", po::value(&o.first)->value_name("SUBGRAPH")->default_value(o.first),
      "in PB at the start, by name, or random");
  add("infeasible", po::value(&o.infeasible)->value_name("NAME")->default_value(o.infeasible),
      "queries out of reach: nearest serves them as well as can be, drop does not");
  add("rtl", po::bool_switch(&o.rtl),
      "run every query on the simulated accelerator: its times, every result compared; one scheduler, "
      "ofa-resnet50 or ofa-mobilenetv3 with synthetic weights");
  add("image", po::value(&o.image)->value_name("PIXELS")->default_value(o.image),
      "rows and columns of the image of --rtl and --costs compiler");
  add("seed", po::value(&o.seed)->value_name("N")->default_value(o.seed), "of everything random");
  add("write-table", po::value<std::string>()->value_name("FILE"), "write the table as JSON");
  add("trace", po::value<std::string>()->value_name("FILE"),
      "write the first queries as a timeline for Perfetto");
  add("html", po::value<std::string>()->value_name("FILE"), "write a page with plots");
  add("json", po::value<std::string>()->value_name("FILE"), "write JSON");
  return all;
}

// The value beside a name. Throws InputError listing the names.
template <class T>
T named(const std::vector<std::pair<std::string, T>>& known, const std::string& option,
        const std::string& name) {
  std::string names;
  for (const auto& [n, value] : known) {
    if (n == name) return value;
    if (!names.empty()) names += ", ";
    names += n;
  }
  throw InputError(fmt::format("{}: expected one of {}, found '{}'", option, names, name));
}

void require_range(const std::string& option, double value, double low, double high) {
  if (!(value >= low && value <= high))
    throw InputError(
        fmt::format("{}: expected a number from {:g} to {:g}, found {:g}", option, low, high, value));
}

// "LOW:HIGH".
void read_range(const std::string& option, const std::string& text, double most, double& low, double& high) {
  if (text.empty()) return;
  const std::size_t colon = text.find(':');
  try {
    std::size_t end = 0;
    if (colon == std::string::npos) throw std::invalid_argument(text);
    low = std::stod(text.substr(0, colon), &end);
    if (end != colon) throw std::invalid_argument(text);
    high = std::stod(text.substr(colon + 1), &end);
    if (end != text.size() - colon - 1) throw std::invalid_argument(text);
  } catch (const std::exception&) {
    throw InputError(option + ": expected LOW:HIGH, found '" + text + "'");
  }
  if (!(low >= 0 && low <= high && high <= most))
    throw InputError(fmt::format("{}: expected 0 <= LOW <= HIGH <= {:g}, found '{}'", option, most, text));
}

// Entries of the table to run on the RTL.
std::size_t spot_checks(const ServeOptions& o, const serve::Table& table) {
  if (o.costs != "compiler") return 0;
  constexpr std::size_t kLeast = 50, kPart = 10;
  const std::size_t all = table.subnets.size() * table.subgraphs.size();
  return std::min(all, o.spot_check.value_or(std::max(kLeast, ceil_div(all, kPart))));
}

void check(const ServeOptions& o, const po::variables_map& values) {
  if (o.queries.empty() == o.generate.empty())
    throw InputError("serve needs one of --queries and --generate (see kaiten serve --help)");
  require_range("--clock", o.clock, 1e-3, 1e6);
  require_range("--columns", o.columns, 1, 10000);
  require_range("--hold", o.hold, 1, 1e9);
  require_range("--q", o.q, 1, 1e6);
  require_range("--window", o.window, 0, 1e6);
  require_range("--image", o.image, kSmallestImage, kLargestImage);
  const bool compiled = named<bool>({{"analytic", false}, {"compiler", true}}, "--costs", o.costs);
  if (!o.rtl && !compiled && values.count("image") != 0 && !values["image"].defaulted())
    throw InputError("--image is for --rtl and --costs compiler");
  if (!compiled && o.spot_check) throw InputError("--spot-check is for --costs compiler");
  if (o.rtl && !o.table.empty()) throw InputError("--rtl: limit: SuperNets of kaiten, found: " + o.table);
  if (o.rtl || compiled) require_models(o.supernet);
  if (o.rtl && o.scheduler == "all") throw InputError("--rtl: limit: one scheduler, found: all");
  if (values.count("bus") != 0) require_range("--bus", o.bus, 1e-3, 1e6);
  if (values.count("rate") != 0) require_range("--rate", o.rate, 1e-6, 1e9);
  for (const char* option : {"supernet", "config", "pb", "bus", "clock", "columns", "costs"}) {
    if (!o.table.empty() && values.count(option) != 0 && !values[option].defaulted())
      throw InputError(fmt::format("--{} is for the model's table, --table brings its own", option));
  }
}

std::string text_of(const std::string& file) {
  const std::vector<std::uint8_t> bytes = read_file(file, FileKind::kText);
  return {bytes.begin(), bytes.end()};
}

std::int64_t wb_bytes(const Config& config) { return std::int64_t(config.wb_rows) * 9 * config.cp; }

serve::Accelerator accelerator(const ServeOptions& o) {
  const Config& config = preset(o.config);
  serve::Accelerator a{config.name, config.kp,
                       config.cp,   o.bus > 0 ? o.bus : double(config.axi_bytes),
                       o.clock,     2 * wb_bytes(config) / 3};
  if (o.pb == "none") {
    a.pb_bytes = 0;
  } else if (!o.pb.empty()) {
    a.pb_bytes = bytes_of(o.pb, "--pb");
  }
  return a;
}

serve::Table read_table(const std::string& file) {
  const std::string text = text_of(file);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && text[first] == '{';
  return json ? serve::table_of_json(text, file) : serve::table_of_csv(text, file);
}

std::vector<serve::Candidate> make_candidates(const ServeOptions& o, const serve::Accelerator& a) {
  return serve::candidates(supernet::family(o.supernet), a, std::size_t(o.columns), o.seed);
}

// Nothing unless SubNets are to be compiled.
std::unique_ptr<ServedSubNets> make_subnets(const ServeOptions& o) {
  if (!o.rtl && o.costs == "analytic") return nullptr;
  const serve::Accelerator a = accelerator(o);
  const Config& config = preset(o.config);
  if (a.bus_bytes > config.axi_bytes)
    throw InputError(
        fmt::format("--bus: limit with --rtl and --costs compiler: {}, the bus of {}, found {:g}",
                    config.axi_bytes, a.name, a.bus_bytes));
  if (const std::int64_t wb = wb_bytes(config); a.pb_bytes > wb)
    throw InputError(fmt::format("--pb: limit with --rtl and --costs compiler: {}, WB of {}, found {}", wb,
                                 a.name, a.pb_bytes));
  return std::make_unique<ServedSubNets>(
      ServedSubNets::Options{.supernet = o.supernet, .image = o.image, .seed = o.seed}, make_candidates(o, a),
      a);
}

serve::Table make_table(const ServeOptions& o, ServedSubNets* subnets) {
  if (!o.table.empty()) return read_table(o.table);
  if (o.costs == "compiler") return subnets->table();
  const serve::Accelerator a = accelerator(o);
  const supernet::Family family = supernet::family(o.supernet);
  const serve::Costs costs = [&](const supernet::Encoding& subnet, const supernet::Encoding& subgraph) {
    check_interrupt();
    return serve::analytic_cost(a, family.net, subnet, subgraph);
  };
  const std::string origin =
      fmt::format("analytic model of {} at {:g} MHz, {:g} bytes a cycle, PB of {} bytes", a.name, a.megahertz,
                  a.bus_bytes, grouped(std::uint64_t(a.pb_bytes)));
  return serve::fill(family, make_candidates(o, a), a, costs, origin, threads_of_rank());
}

serve::Stream make_stream(const ServeOptions& o, const serve::Table& table) {
  serve::StreamOptions drawn;
  drawn.hold = o.hold;
  drawn.seed = o.seed;
  serve::range_of(table, drawn.low, drawn.high);
  read_range("--accuracy", o.accuracy, 100, drawn.low.accuracy, drawn.high.accuracy);
  read_range("--latency", o.latency, serve::kMostMilliseconds, drawn.low.latency_ms, drawn.high.latency_ms);
  if (!o.queries.empty()) return serve::stream_of_csv(text_of(o.queries), o.queries, drawn);
  const std::size_t colon = std::min(o.generate.find(':'), o.generate.size());
  drawn.arrivals = named(kArrivals, "--generate", o.generate.substr(0, colon));
  const std::string count = o.generate.substr(std::min(colon + 1, o.generate.size()));
  if (count.empty() || count.size() > 9 || count.find_first_not_of("0123456789") != std::string::npos ||
      std::stoul(count) < 1 || std::stoul(count) > kMostQueries)
    throw InputError(
        fmt::format("--generate: expected KIND:N with N from 1 to {}, found '{}'", kMostQueries, o.generate));
  drawn.queries = std::stoul(count);
  constexpr double kSecondsADay = 86400;
  double mean = 0;
  for (std::size_t i = 0; i < table.subnets.size(); i++)
    mean += table.latency(i, table.nothing().value_or(0)) / double(table.subnets.size());
  drawn.rate = o.rate > 0                                    ? o.rate
               : drawn.arrivals == serve::Arrivals::kDiurnal ? double(drawn.queries) / kSecondsADay
                                                             : 0.5e3 / mean;
  return serve::draw_stream(drawn);
}

serve::SchedulerOptions scheduler_options(const ServeOptions& o, const serve::Table& table) {
  serve::SchedulerOptions s;
  s.policy = named<serve::Policy>(
      {{"accuracy", serve::Policy::kAccuracy}, {"latency", serve::Policy::kLatency}}, "--policy", o.policy);
  s.infeasible =
      named<serve::Infeasible>({{"nearest", serve::Infeasible::kNearest}, {"drop", serve::Infeasible::kDrop}},
                               "--infeasible", o.infeasible);
  s.q = o.q;
  s.window = o.window;
  s.seed = o.seed;
  if (o.first == "random") return s;
  for (std::size_t j = 0; j < table.subgraphs.size(); j++) {
    if (table.subgraphs[j].name == o.first) s.first = j;
  }
  if (!s.first) throw InputError("--first: the table has no SubGraph '" + o.first + "'");
  return s;
}

// Those that --scheduler names; of all, those that the table suffices for.
std::vector<std::pair<std::string, Caching>> wanted_schedulers(const std::string& name,
                                                               const serve::Table& table) {
  if (name != "all") {
    std::vector<std::pair<std::string, Caching>> known = kSchedulers;
    known.emplace_back("all", Caching::kNearest);
    return {{name, named(known, "--scheduler", name)}};
  }
  std::vector<std::pair<std::string, Caching>> out;
  for (const auto& [n, caching] : kSchedulers) {
    if (!table.coded() && (caching == Caching::kNearest || caching == Caching::kPerQuery)) continue;
    if (!table.nothing() && (caching == Caching::kNone || caching == Caching::kUnaware)) continue;
    out.emplace_back(n, caching);
  }
  return out;
}

// What one scheduler's queries leave behind; Ctrl-C ends the stream.
class Listener {
 public:
  // Looks at progress and interruption every `step` queries.
  Listener(ServeReport& report, std::vector<serve::Served>& first, std::size_t queries, std::string name,
           std::size_t step)
      : report_(report),
        first_(first),
        queries_(queries),
        every_(std::max<std::size_t>(1, queries / kSample)),
        step_(step),
        name_(std::move(name)) {}

  bool operator()(const serve::Served& s) {
    const bool main = report_.schedulers.empty();
    if (main && s.subnet && !s.failed) report_.served_by[*s.subnet]++;
    if (main && seen_ % every_ == 0) report_.sample.push_back(s);
    if (main && seen_ < kTraceQueries) first_.push_back(s);
    if (++seen_ % step_ != 0) return true;
    try {
      check_interrupt();
    } catch (const Interrupted& e) {
      signal_ = e.signal;
      report_.complete = false;
      return false;
    }
    const double share = double(seen_) / double(queries_);
    progress_.show(fmt::format("{}: {} of {} queries ({:.0f} %)", name_, seen_, queries_, 100 * share),
                   share);
    return true;
  }
  // That ended the stream, 0: none did.
  int signal() const { return signal_; }

 private:
  ServeReport& report_;
  std::vector<serve::Served>& first_;
  std::size_t queries_, every_, step_, seen_ = 0;
  std::string name_;
  ProgressLine progress_;
  int signal_ = 0;
};

int run_serve(const Arguments& arguments) {
  ServeOptions o;
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten serve --generate KIND:N | --queries FILE [OPTIONS]\n"
      "Queries of accuracy and latency served by SubNets of one SuperNet; some of the shared weights stay on "
      "chip.\n";
  if (!read_options(arguments, described(o), "", kUsage, values)) return kDone;
  if (values.count("spot-check") != 0) o.spot_check = values["spot-check"].as<std::size_t>();
  check(o, values);
  const Outputs outputs("serve", values, {"html", "json", "trace", "write-table"}, {"table", "queries"});
  const std::unique_ptr<ServedSubNets> subnets = make_subnets(o);
  cluster::Exchange* const ranks = other_ranks();
  const serve::Table table = make_table(o, subnets.get());
  if (ranks != nullptr) ranks->finish();
  if (!first_rank()) return kDone;  // the queries are one stream
  if (outputs.wanted("write-table")) outputs.write("write-table", serve::table_json(table));
  const serve::Stream stream = make_stream(o, table);

  ServeReport report;
  report.table = &table;
  report.options = scheduler_options(o, table);
  report.stream = stream.origin;
  report.picojoules = plan::default_energy().dram_picojoules_per_byte;
  report.served_by.assign(table.subnets.size(), 0);
  std::vector<serve::Served> first;
  int signal = 0;
  if (const std::size_t entries = spot_checks(o, table); entries > 0)
    report.spot_check = subnets->spot_check(entries);
  for (const auto& [name, caching] : wanted_schedulers(o.scheduler, table)) {
    serve::SchedulerOptions options = report.options;
    options.caching = caching;
    Listener listener(report, first, stream.size(), name, o.rtl ? 1 : kStep);
    const serve::Summary summary =
        serve::serve_stream(table, options, stream, report.picojoules, std::ref(listener),
                            o.rtl ? subnets->executor() : serve::Executor{});
    report.schedulers.push_back({name, summary});
    if (o.rtl) report.rtl = subnets->report();
    signal = listener.signal();
    if (!report.complete) break;
  }
  if (outputs.wanted("trace")) outputs.write("trace", serve_trace(table, first));
  write_report(report, outputs);
  const bool exact = (!report.rtl || report.rtl->exact) && (!report.spot_check || report.spot_check->exact);
  const bool failed = std::any_of(report.schedulers.begin(), report.schedulers.end(),
                                  [](const auto& s) { return !s.summary.failure.empty(); });
  if (report.complete && failed) return kFailed;
  if (report.complete) return exact ? kDone : kDiffers;
  print_error("kaiten", fmt::format("interrupted after {} of {} queries",
                                    report.schedulers.back().summary.queries, stream.size()));
  return kOfSignal + signal;
}

}  // namespace

int serve_command(const Arguments& arguments) {
  return on_ranks([&] { return run_serve(arguments); });
}

}  // namespace kaiten::cli
