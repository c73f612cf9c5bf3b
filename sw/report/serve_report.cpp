// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/serve_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/json_report.h"
#include "report/page.h"
#include "report/svg.h"
#include "report/table.h"

namespace kaiten {

namespace {

using serve::Served;
using serve::Summary;

bool by_accuracy(const ServeReport& r) { return r.options.policy == serve::Policy::kAccuracy; }
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string hit_text(const Summary& s) { return s.hit_ratio ? percent(*s.hit_ratio) : "-"; }

const std::vector<std::string> kHeadings = {"scheduler",  "mean ms",  "p50 ms",    "p90 ms",   "p99 ms",
                                            "accuracy %", "violated", "in time",   "hits",     "bytes kept",
                                            "loads",      "GB read",  "energy mJ", "over none"};

std::vector<std::string> row_of(const ServeReport& r, const ServeReport::Scheduler& entry) {
  const Summary& s = entry.summary;
  const auto none =
      std::find_if(r.schedulers.begin(), r.schedulers.end(), [](const auto& e) { return e.name == "none"; });
  const std::string over =
      none == r.schedulers.end()
          ? "-"
          : fmt::format("{:+.2f} %", 100 * (s.latency_ms.mean / none->summary.latency_ms.mean - 1));
  return {entry.name,
          fmt::format("{:.4g}", s.latency_ms.mean),
          fmt::format("{:.4g}", s.latency_ms.p50),
          fmt::format("{:.4g}", s.latency_ms.p90),
          fmt::format("{:.4g}", s.latency_ms.p99),
          fmt::format("{:.3f}", s.accuracy_mean),
          grouped(s.violated),
          percent(s.slo_attainment),
          hit_text(s),
          percent(s.byte_hit_ratio),
          grouped(s.loads),
          fmt::format("{:.4g}", (s.weight_bytes + s.other_bytes) / 1e9),
          fmt::format("{:.4g}", s.energy_millijoules),
          over};
}

std::vector<std::string> lines_of(const ServeReport& r) {
  const Summary& s = r.schedulers.front().summary;
  const serve::Table& t = *r.table;
  std::vector<std::string> out;
  out.push_back(fmt::format("{}: {} SubNets, {} SubGraphs; times: {}", t.supernet, t.subnets.size(),
                            t.subgraphs.size(), t.origin));
  out.push_back("accuracies: " + t.accuracies);
  out.push_back(fmt::format("queries: {}; hard constraint: {}; {} every {} queries", r.stream,
                            by_accuracy(r) ? "accuracy" : "latency", "a SubGraph is chosen", r.options.q));
  out.push_back(fmt::format(
      "{} of {} served{}{}, {} violated{}; a decision takes {:.0f} ns (p99 {:.0f})", grouped(s.served),
      grouped(s.queries), r.complete ? "" : " before the interruption",
      s.failed == 0 ? "" : ", " + grouped(s.failed) + " failed", grouped(s.violated),
      s.violated == 0 ? ""
                      : fmt::format(", by {:.3g} {} in the mean, {:.3g} at most", s.violation_mean,
                                    by_accuracy(r) ? "points" : "ms", s.violation_max),
      s.decision_ns.mean, s.decision_ns.p99));
  if (!s.failure.empty()) out.push_back("first failure: " + s.failure);
  if (r.spot_check) {
    const ServeReport::SpotCheck& c = *r.spot_check;
    out.push_back(
        fmt::format("the table on the RTL: {} entries, cycles {:+.2f} % at worst, {:.2f} % in the mean; "
                    "results and bytes {}",
                    grouped(c.entries), 100 * c.worst, 100 * c.mean, c.exact ? "exact" : "differ"));
  }
  if (r.rtl) {
    out.push_back(
        fmt::format("on the RTL: {} cycles; {}; weights read {}", grouped(r.rtl->cycles),
                    r.rtl->exact ? "all results equal the reference executor's"
                                 : "results differ from the reference executor's",
                    r.rtl->bytes_equal_predicted ? "as announced" : "differ from what was announced"));
  }
  out.push_back(fmt::format("energy: {:.3g} pJ a byte of off-chip memory, nothing else", r.picojoules));
  return out;
}

nlohmann::ordered_json json_of(const ServeReport::Scheduler& entry) {
  const Summary& s = entry.summary;
  nlohmann::ordered_json j;
  j["scheduler"] = entry.name;
  j["queries"] = s.queries;
  j["served"] = s.served;
  j["failed"] = s.failed;
  j["violated"] = s.violated;
  j["violated_by"] = {{"mean", s.violation_mean}, {"max", s.violation_max}};
  j["latency_ms"] = {{"mean", s.latency_ms.mean},
                     {"p50", s.latency_ms.p50},
                     {"p90", s.latency_ms.p90},
                     {"p99", s.latency_ms.p99},
                     {"max", s.latency_ms.max}};
  j["service_ms_mean"] = s.service_ms_mean;
  j["end_ms"] = s.end_ms;
  j["accuracy_mean"] = s.accuracy_mean;
  j["slo_attainment"] = s.slo_attainment;
  j["hit_ratio"] = s.hit_ratio ? nlohmann::ordered_json(*s.hit_ratio) : nlohmann::ordered_json();
  j["byte_hit_ratio"] = s.byte_hit_ratio;
  j["loads"] = s.loads;
  j["bytes"] = {{"weights", s.weight_bytes}, {"loads", s.load_bytes}, {"other", s.other_bytes}};
  j["energy_millijoules"] = s.energy_millijoules;
  j["decision_ns"] = {{"mean", s.decision_ns.mean}, {"p99", s.decision_ns.p99}, {"max", s.decision_ns.max}};
  j["exact"] = nullptr;  // nothing ran on the RTL
  j["bytes_equal_predicted"] = nullptr;
  return j;
}

struct Axis {
  double low = 0, high = 1;

  double at(double value, double from, double to) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

// Dots of what was asked for and what was served, and the line where both are equal.
std::string scatter(const ServeReport& r, bool accuracy) {
  const auto asked = [&](const Served& s) { return accuracy ? s.asked.accuracy : s.asked.latency_ms; };
  const auto got = [&](const Served& s) {
    return accuracy ? r.table->subnets[*s.subnet].accuracy : s.response_ms();
  };
  std::vector<const Served*> dots;
  for (const Served& s : r.sample) {
    if (s.subnet && std::isfinite(asked(s))) dots.push_back(&s);
  }
  const char* const unit = accuracy ? "accuracy, %" : "latency, ms";
  if (dots.empty()) return fmt::format("<p>No query constrains its {}.</p>\n", unit);
  Axis axis{1e300, -1e300};
  for (const Served* s : dots) {
    axis.low = std::min({axis.low, asked(*s), got(*s)});
    axis.high = std::max({axis.high, asked(*s), got(*s)});
  }
  if (axis.high - axis.low < 1e-9) axis.high = axis.low + 1;
  constexpr double kLeft = 70, kRight = svg::kWidth - 20, kTop = 20, kBottom = 360;
  std::string out;
  constexpr int kTicks = 5;
  for (int i = 0; i <= kTicks; i++) {
    const double value = axis.low + (axis.high - axis.low) * i / kTicks;
    const double x = axis.at(value, kLeft, kRight), y = axis.at(value, kBottom, kTop);
    out += svg::line(x, kTop, x, kBottom, svg::kGrid) + svg::line(kLeft, y, kRight, y, svg::kGrid);
    out += svg::text_at(x, kBottom + 18, fmt::format("{:.4g}", value));
    out += svg::text_at(kLeft - 8, y + 4, fmt::format("{:.4g}", value), "end");
  }
  out += svg::line(kLeft, kBottom, kRight, kTop, svg::kAxis, 1.5);
  for (const Served* s : dots) {
    const std::string hint =
        fmt::format("{}: asked {:.4g}, got {:.4g}", r.table->subnets[*s->subnet].name, asked(*s), got(*s));
    out += svg::circle(axis.at(asked(*s), kLeft, kRight), axis.at(got(*s), kBottom, kTop), 2.5,
                       svg::colour(s->violated ? 1 : 0), hint);
  }
  out += svg::text_at((kLeft + kRight) / 2, kBottom + 38, std::string("asked for: ") + unit);
  out += svg::text_at(kLeft, kTop - 6, std::string("served: ") + unit, "start");
  return svg::drawing(int(kBottom) + 48, out, std::string("Served against asked for: ") + unit);
}

}  // namespace

std::string to_text(const ServeReport& r, std::size_t width) {
  std::vector<Column> columns;
  const std::vector<int> keep = {0, 0, 8, 7, 0, 0, 6, 5, 4, 3, 1, 2, 9, 10};
  for (std::size_t i = 0; i < kHeadings.size(); i++) columns.push_back({kHeadings[i], i > 0, keep[i], false});
  Table table(columns);
  for (const ServeReport::Scheduler& s : r.schedulers) table.add(row_of(r, s));
  std::string out = table.text(width) + "\n";
  for (const std::string& line : lines_of(r)) out += line + "\n";
  return out;
}

nlohmann::ordered_json json_of(const ServeReport& r) {
  nlohmann::ordered_json j = json_of(r.schedulers.front());
  if (r.rtl) {
    j["exact"] = r.rtl->exact;
    j["bytes_equal_predicted"] = r.rtl->bytes_equal_predicted;
    j["rtl_cycles"] = r.rtl->cycles;
  }
  if (r.spot_check) {
    j["spot_check"] = {{"entries", r.spot_check->entries},
                       {"worst", r.spot_check->worst},
                       {"mean", r.spot_check->mean},
                       {"exact", r.spot_check->exact}};
  }
  j["complete"] = r.complete;
  j["supernet"] = r.table->supernet;
  j["times"] = r.table->origin;
  j["accuracies"] = r.table->accuracies;
  j["stream"] = r.stream;
  j["columns"] = r.table->subgraphs.size();
  j["subnets"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < r.table->subnets.size(); i++) {
    j["subnets"].push_back({{"name", r.table->subnets[i].name},
                            {"accuracy", r.table->subnets[i].accuracy},
                            {"queries", r.served_by[i]}});
  }
  j["schedulers"] = nlohmann::ordered_json::array();
  for (const ServeReport::Scheduler& s : r.schedulers) j["schedulers"].push_back(json_of(s));
  return j;
}

std::string to_html(const ServeReport& r) {
  std::vector<std::string> headings = kHeadings;
  for (std::size_t i = 1; i < headings.size(); i++) headings[i].insert(0, 1, '#');
  html::Table schedulers(headings);
  for (const ServeReport::Scheduler& s : r.schedulers) schedulers.add(row_of(r, s));
  html::Table subnets({"SubNet", "#accuracy %", "#queries"});
  for (std::size_t i = 0; i < r.table->subnets.size(); i++)
    subnets.add({r.table->subnets[i].name, fmt::format("{:.3f}", r.table->subnets[i].accuracy),
                 grouped(r.served_by[i])});
  std::string out;
  for (const std::string& line : lines_of(r)) out += "<p>" + html::escaped(line) + "</p>\n";
  out += "<h2>Schedulers</h2>\n" + schedulers.text();
  out += "<h2>Latency</h2>\n" + scatter(r, false) +
         "<p>A dot a query, at most a few thousand of them; below the line it was done within the latency it "
         "asked for.</p>\n";
  out += "<h2>Accuracy</h2>\n" + scatter(r, true) +
         "<p>Above the line the SubNet is at least as accurate as asked for.</p>\n";
  out += "<h2>SubNets</h2>\n" + subnets.text();
  return html::page(r.table->supernet + ": queries served by " + r.schedulers.front().name, out);
}

std::string serve_trace(const serve::Table& table, const std::vector<Served>& queries) {
  using Json = nlohmann::ordered_json;
  constexpr double kMicroseconds = 1e3;  // in a millisecond
  Json events = Json::array();
  const std::pair<int, const char*> tracks[] = {{1, "waiting"}, {2, "queries"}, {3, "PB"}};
  for (const auto& [id, name] : tracks)
    events.push_back(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", id}, {"args", {{"name", name}}}});
  const auto slice = [&](int track, const std::string& name, double from, double to, const Json& arguments) {
    events.push_back({{"ph", "X"},
                      {"name", name},
                      {"pid", 1},
                      {"tid", track},
                      {"ts", from * kMicroseconds},
                      {"dur", (to - from) * kMicroseconds},
                      {"args", arguments}});
  };
  double since = 0;
  for (std::size_t i = 0; i < queries.size(); i++) {
    const Served& s = queries[i];
    const std::string name = "query " + std::to_string(i + 1);
    if (s.start_ms > s.arrival_ms)  // waiting queries overlap: an asynchronous slice each
      for (const auto& [phase, at] : {std::pair{"b", s.arrival_ms}, {"e", s.start_ms}})
        events.push_back({{"ph", phase},
                          {"cat", "waiting"},
                          {"id", i + 1},
                          {"name", name},
                          {"pid", 1},
                          {"tid", 1},
                          {"ts", at * kMicroseconds}});
    if (s.subnet) {
      const double bytes = s.weight_bytes;
      slice(2, table.subnets[*s.subnet].name, s.start_ms, s.end_ms,
            {{"query", i + 1},
             {"violated", s.violated},
             {"failed", s.failed},
             {"weight_bytes", bytes},
             {"response_ms", s.response_ms()}});
      events.push_back({{"ph", "C"},
                        {"name", "weights, bytes a ms"},
                        {"pid", 1},
                        {"ts", s.start_ms * kMicroseconds},
                        {"args", {{"bytes", bytes / (s.end_ms - s.start_ms)}}}});
    }
    if (s.next == s.subgraph && i + 1 < queries.size()) continue;
    slice(3, table.subgraphs[s.subgraph].name, since, s.end_ms,
          {{"bytes", table.subgraphs[s.subgraph].bytes}});
    if (s.next != s.subgraph)
      slice(3, "load " + table.subgraphs[s.next].name, s.end_ms, s.end_ms + s.load_ms, Json::object());
    since = s.end_ms + s.load_ms;
  }
  const Json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return trace.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace kaiten
