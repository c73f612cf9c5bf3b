// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/explore_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "report/axes.h"
#include "report/json_report.h"
#include "report/page.h"
#include "report/svg.h"
#include "report/table.h"

namespace kaiten {

namespace {

using explore::Point;
using explore::Residual;
using explore::Resources;

std::string count(double n) { return grouped(static_cast<unsigned long long>(n)); }
// RAM blocks come in halves.
std::string amount(double n) { return n == std::floor(n) ? count(n) : fmt::format("{:g}", n); }
std::string percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

double milliseconds(const ExploreReport& r, const Point& p) {
  return double(p.outcome.total()) / (r.clock_mhz * 1e3);
}

double kib(std::int64_t bytes) { return double(bytes) / 1024; }

// Options of the RTL, in columns of their own where candidates differ in them.
struct OptionColumn {
  const char* heading;
  bool ConfigOptions::*option;
};
constexpr OptionColumn kOptionColumns[] = {{"large windows", &ConfigOptions::large_windows},
                                           {"conv table", &ConfigOptions::conv_table}};

bool differs(const ExploreReport& r, bool ConfigOptions::*option) {
  return std::any_of(r.candidates.begin(), r.candidates.end(), [&](const explore::Candidate& c) {
    return c.config.*option != r.candidates.front().config.*option;
  });
}

// The Pareto set, as text.
struct Front {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};

std::vector<std::string> headings(const ExploreReport& r, std::span<const OptionColumn> options) {
  std::vector<std::string> all = {"KP x CP", "bus bits", "WB KiB", "PB KiB",
                                  "SB KiB",  "VB KiB",   "OB px",  "ZSB"};
  for (const OptionColumn& o : options) all.emplace_back(o.heading);
  all.insert(all.end(), {"LUT", "DSP", "RAM"});
  if (r.family.has_uram()) all.emplace_back("URAM");
  all.emplace_back("cycles");
  if (r.clock_mhz > 0) all.emplace_back("ms");
  return all;
}

std::vector<std::string> row_of(const ExploreReport& r, std::span<const OptionColumn> options,
                                const Point& p) {
  const explore::Candidate& candidate = r.candidates[p.candidate];
  const Config& c = candidate.config;
  const Resources& area = r.areas[p.candidate];
  const std::int64_t row = 9LL * c.cp;
  std::vector<std::string> cells = {fmt::format("{} x {}", c.kp, c.cp),
                                    std::to_string(8 * c.axi_bytes),
                                    fmt::format("{:.4g}", kib(row * c.wb_rows)),
                                    fmt::format("{:.4g}", kib(row * candidate.pb_rows)),
                                    fmt::format("{:.4g}", kib(row * c.sb_depth)),
                                    fmt::format("{:.4g}", kib(row * c.vb_depth)),
                                    count(c.ob_pixels),
                                    count(c.zsb_array)};
  for (const OptionColumn& o : options) cells.emplace_back(c.*o.option ? "yes" : "no");
  cells.insert(cells.end(), {count(area.lut), count(area.dsp), fmt::format("{:g}", area.ram)});
  if (r.family.has_uram()) cells.push_back(count(area.uram));
  cells.push_back(count(double(p.outcome.total())));
  if (r.clock_mhz > 0) cells.push_back(fmt::format("{:.4g}", milliseconds(r, p)));
  return cells;
}

Front front_of(const ExploreReport& r) {
  std::vector<OptionColumn> options;
  std::ranges::copy_if(kOptionColumns, std::back_inserter(options),
                       [&](const OptionColumn& o) { return differs(r, o.option); });
  Front front{headings(r, options), {}};
  for (const Point& p : r.found.front) front.rows.push_back(row_of(r, options, p));
  return front;
}

std::string budget_text(const ExploreReport& r) {
  std::string text;
  const std::pair<double, const char*> all[] = {{r.budget.lut, "LUTs"},
                                                {r.budget.dsp, "DSPs"},
                                                {r.budget.ram, "RAM blocks"},
                                                {r.budget.uram, "UltraRAMs"}};
  for (const auto& [most, name] : all) {
    if (most > 0) text += (text.empty() ? "" : ", ") + fmt::format("{} {}", count(most), name);
  }
  return text.empty() ? "none" : text;
}

std::string named(const ExploreReport& r) {
  return fmt::format("{} ({}, {}, {})", r.family.title, r.family.lut, r.family.dsp, r.family.ram);
}

std::string area_text(const ExploreReport& r) {
  if (r.residuals.empty())
    return fmt::format("area: {}, yosys, fitted to a single mapped accelerator: its error is not known",
                       named(r));
  const Resources worst = explore::worst_error(r.residuals);
  std::string text = fmt::format(
      "area: {}, yosys; error of the model for {} mapped accelerator{}, left out of its fit: LUTs {:.1f} % "
      "at "
      "most, DSPs {:.1f} %, RAM blocks {:.1f} %",
      named(r), r.residuals.size(), r.residuals.size() == 1 ? "" : "s", 100 * worst.lut, 100 * worst.dsp,
      100 * worst.ram);
  if (r.family.has_uram()) text += fmt::format(", UltraRAMs {:.1f} %", 100 * worst.uram);
  return text;
}

// Whose weights PB holds together, where some candidate has a PB.
std::string groups_text(const ExploreReport& r) {
  if (std::none_of(r.candidates.begin(), r.candidates.end(), [](const auto& c) { return c.pb_rows > 0; }))
    return "";
  std::map<std::size_t, std::string> groups;
  for (const ExploreReport::Network& n : r.networks) {
    std::string& names = groups[n.group];
    names += (names.empty() ? "" : " and ") + n.name;
  }
  std::string text;
  for (const auto& [number, names] : groups) text += (text.empty() ? "" : "; ") + names;
  return "PB holds weights of: " + text + " (loading them is not counted)";
}

std::vector<std::string> lines_of(const ExploreReport& r) {
  std::vector<std::string> lines;
  std::string names;
  for (const ExploreReport::Network& n : r.networks) names += (names.empty() ? "" : ", ") + n.name;
  lines.push_back(fmt::format("{}: cycles of one image of each, by the cycle model; memory: {}", names,
                              r.bytes_per_cycle > 0
                                  ? fmt::format("{:g} bytes a cycle at most", r.bytes_per_cycle)
                                  : "as fast as the bus"));
  lines.push_back(
      fmt::format("{} accelerators{}: {} over the budget ({}), {} refused, {} beaten by their least cycles, "
                  "{} compiled; {} "
                  "in the Pareto set",
                  grouped(r.found.candidates), r.found.complete ? "" : ", interrupted",
                  grouped(r.found.over_budget), budget_text(r), grouped(r.found.refused),
                  grouped(r.found.pruned), grouped(r.found.looked_at), grouped(r.found.front.size())));
  if (!r.found.reason.empty()) lines.push_back("first refusal: " + r.found.reason);
  if (const std::string groups = groups_text(r); !groups.empty()) lines.push_back(groups);
  lines.push_back(area_text(r));
  return lines;
}

nlohmann::ordered_json json_of(const Resources& r) {
  return {{"lut", r.lut}, {"dsp", r.dsp}, {"ram", r.ram}, {"uram", r.uram}};
}

// As an entry of rtl/configs.json.
nlohmann::ordered_json parameters_of(const Config& c) {
  nlohmann::ordered_json parameters;
  for (const ConfigParameter& p : config_parameters()) parameters[p.name] = p.of(c);
  return parameters;
}

// Cycles over one resource, colours by the bus.
std::string drawing(const ExploreReport& r, const char* name, double Resources::*resource) {
  constexpr double kLeft = 100, kRight = svg::kWidth - 20, kTop = 40, kBottom = 320, kMargin = 1.15;
  Scale x{1e300, 0, kLeft, kRight}, y{1e300, 0, kBottom, kTop};
  for (const Point& p : r.found.front) {
    const double used = r.areas[p.candidate].*resource, cycles = double(p.outcome.total());
    x.low = std::min(x.low, used);
    x.high = std::max(x.high, used);
    y.low = std::min(y.low, cycles);
    y.high = std::max(y.high, cycles);
  }
  x.low = std::max(0.5, x.low / kMargin);
  x.high *= kMargin;
  y.low = std::max(0.5, y.low / kMargin);
  y.high *= kMargin;
  std::string out = axes(x, y, name, "cycles");
  std::vector<int> buses;
  for (const Point& p : r.found.front) buses.push_back(r.candidates[p.candidate].config.axi_bytes);
  std::sort(buses.begin(), buses.end());
  buses.erase(std::unique(buses.begin(), buses.end()), buses.end());
  for (const Point& p : r.found.front) {
    const Config& c = r.candidates[p.candidate].config;
    const auto bus = std::size_t(std::find(buses.begin(), buses.end(), c.axi_bytes) - buses.begin());
    out += svg::ring(x(r.areas[p.candidate].*resource), y(double(p.outcome.total())), 4, svg::colour(bus),
                     fmt::format("{} x {}, {} bits: {} cycles", c.kp, c.cp, 8 * c.axi_bytes,
                                 count(double(p.outcome.total()))));
  }
  for (std::size_t b = 0; b < buses.size(); b++)
    out += svg::legend_entry(kRight - 120, kTop + 16 * double(b), svg::colour(b),
                             fmt::format("bus of {} bits", 8 * buses[b]));
  return svg::drawing(int(kBottom) + 44, out, fmt::format("Cycles over {} of the Pareto set", name));
}

}  // namespace

std::string to_text(const ExploreReport& r, std::size_t width) {
  const std::vector<int> keep = {0, 0, 7, 3, 6, 5, 2, 1};  // of others 0
  std::vector<Column> columns;
  const Front front = front_of(r);
  for (const std::string& h : front.headings)
    columns.push_back({h, !columns.empty(), columns.size() < keep.size() ? keep[columns.size()] : 0, false});
  Table table(columns);
  for (const auto& row : front.rows) table.add(row);
  std::string out = r.found.front.empty() ? "" : table.text(width) + "\n";
  for (const std::string& line : lines_of(r)) out += line + "\n";
  return out;
}

nlohmann::ordered_json json_of(const ExploreReport& r) {
  nlohmann::ordered_json j;
  j["networks"] = nlohmann::ordered_json::array();
  for (const ExploreReport::Network& n : r.networks)
    j["networks"].push_back({{"name", n.name}, {"macs", n.macs}, {"pb_group", n.group}});
  j["family"] = r.family.name;
  j["budget"] = json_of(r.budget);
  j["memory_bytes_per_cycle"] = r.bytes_per_cycle;
  j["complete"] = r.found.complete;
  j["candidates"] = r.found.candidates;
  j["over_budget"] = r.found.over_budget;
  j["refused"] = r.found.refused;
  j["pruned"] = r.found.pruned;
  j["compiled"] = r.found.looked_at;
  j["first_refusal"] = r.found.reason;
  j["front"] = nlohmann::ordered_json::array();
  for (const Point& p : r.found.front) {
    const explore::Candidate& c = r.candidates[p.candidate];
    nlohmann::ordered_json entry;
    entry["parameters"] = parameters_of(c.config);
    entry["pb_rows"] = c.pb_rows;
    entry["area"] = json_of(r.areas[p.candidate]);
    entry["cycles"] = p.outcome.total();
    if (r.clock_mhz > 0) entry["milliseconds"] = milliseconds(r, p);
    entry["network_cycles"] = p.outcome.cycles;
    j["front"].push_back(std::move(entry));
  }
  nlohmann::ordered_json area;
  area["family"] = fmt::format("{}, yosys", named(r));
  area["worst_error"] = json_of(explore::worst_error(r.residuals));
  area["leave_one_out"] = nlohmann::ordered_json::array();
  for (const Residual& e : r.residuals)
    area["leave_one_out"].push_back(
        {{"name", e.name}, {"mapped", json_of(e.mapped)}, {"predicted", json_of(e.predicted)}});
  j["area_model"] = std::move(area);
  return j;
}

std::string to_html(const ExploreReport& r) {
  std::string out;
  for (const std::string& line : lines_of(r)) out += "<p>" + html::escaped(line) + "</p>\n";
  if (!r.found.front.empty()) {
    out += "<h2>Cycles and area</h2>\n" + drawing(r, "LUTs", &Resources::lut) +
           drawing(r, "DSPs", &Resources::dsp) + drawing(r, "RAM blocks", &Resources::ram) +
           (r.family.has_uram() ? drawing(r, "UltraRAMs", &Resources::uram) : "");
    Front front = front_of(r);
    for (std::size_t i = 1; i < front.headings.size(); i++) front.headings[i].insert(0, 1, '#');
    html::Table table(front.headings);
    for (const auto& row : front.rows) table.add(row);
    out +=
        "<h2>Pareto set</h2>\n" + table.text() +
        "<p>No other accelerator takes at most as many cycles and resources, and less of one of them.</p>\n";
  }
  std::vector<std::pair<const char*, double Resources::*>> resources = {
      {"#LUT", &Resources::lut}, {"#DSP", &Resources::dsp}, {"#RAM", &Resources::ram}};
  if (r.family.has_uram()) resources.emplace_back("#URAM", &Resources::uram);
  std::vector<std::string> names = {"mapped"};
  for (const auto& [name, resource] : resources) names.insert(names.end(), {name, "#model", "#error"});
  html::Table errors(names);
  for (const Residual& e : r.residuals) {
    std::vector<std::string> row = {e.name};
    for (const auto& [name, resource] : resources) {
      const double mapped = e.mapped.*resource, predicted = e.predicted.*resource;
      row.insert(row.end(), {amount(mapped), amount(predicted), percent(Residual::error(predicted, mapped))});
    }
    errors.add(row);
  }
  out += "<h2>How good the area model is</h2>\n" + errors.text() +
         "<p>Each accelerator as mapped, beside the model fitted to all others.</p>\n";
  return html::page("Accelerators that no other one beats", out);
}

}  // namespace kaiten
