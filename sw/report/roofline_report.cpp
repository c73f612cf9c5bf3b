// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/roofline_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/axes.h"
#include "report/json_report.h"
#include "report/page.h"
#include "report/svg.h"
#include "report/table.h"

namespace kaiten {

namespace {

using serve::RoofPoint;
using serve::RoofSide;

const std::vector<std::string> kHeadings = {"SubNet",    "MMACs",  "MB",     "ops a byte",
                                            "GOP/s",     "ms",     "MB, PB", "ops a byte, PB",
                                            "GOP/s, PB", "ms, PB", "latency"};

double gops(const RooflineReport& r, double per_cycle) { return per_cycle * r.clock_mhz / 1e3; }
double milliseconds(const RooflineReport& r, double cycles) { return cycles / r.clock_mhz / 1e3; }
double change(const RoofPoint& p) { return p.with.cycles / p.without.cycles - 1; }

std::vector<std::string> row_of(const RooflineReport& r, const RoofPoint& p) {
  std::vector<std::string> row = {p.name, fmt::format("{:.0f}", double(p.macs) / 1e6)};
  for (const RoofSide* side : {&p.without, &p.with}) {
    row.push_back(fmt::format("{:.2f}", double(side->bytes) / 1e6));
    row.push_back(fmt::format("{:.1f}", side->intensity));
    row.push_back(fmt::format("{:.1f}", gops(r, side->attained)));
    row.push_back(fmt::format("{:.3f}", milliseconds(r, side->cycles)));
  }
  row.push_back(fmt::format("{:+.1f} %", 100 * change(p)));
  return row;
}

std::string line_of(const RooflineReport& r) {
  return fmt::format(
      "{}{}: at most {:g} GOP/s and {:g} GB/s at {:g} MHz, so computing bounds from {:.1f} operations a byte "
      "on; PB of "
      "{} bytes; no cycle is lost but to these two",
      r.supernet, r.kernel == 0 ? "" : fmt::format(", layers of {} x {}", r.kernel, r.kernel),
      gops(r, 2 * r.roof.macs_per_cycle), r.roof.bytes_per_cycle * r.clock_mhz / 1e3, r.clock_mhz,
      r.roof.ridge(), grouped(std::uint64_t(r.roof.pb_bytes)));
}

nlohmann::ordered_json json_of(const RoofSide& s) {
  return {{"bytes", s.bytes},
          {"intensity", s.intensity},
          {"operations_per_cycle", s.attained},
          {"cycles", s.cycles}};
}

std::string drawing(const RooflineReport& r) {
  constexpr double kLeft = 100, kRight = svg::kWidth - 20, kTop = 40, kBottom = 340;
  double low = r.roof.ridge(), high = low;
  for (const RoofPoint& p : r.points) {
    low = std::min(low, p.without.intensity);
    high = std::max(high, p.with.intensity);
  }
  const double peak = gops(r, 2 * r.roof.macs_per_cycle), slope = gops(r, r.roof.bytes_per_cycle);
  const Scale x{low / 1.5, high * 1.5, kLeft, kRight}, y{slope * low / 2, peak * 1.5, kBottom, kTop};
  std::string out = axes(x, y, "operations a byte", "GOP/s");
  out += svg::line(x(x.low), y(slope * x.low), x(r.roof.ridge()), y(peak), svg::kInk, 1.5) +
         svg::line(x(r.roof.ridge()), y(peak), x(x.high), y(peak), svg::kInk, 1.5);
  for (const RoofPoint& p : r.points) {
    const std::pair<const RoofSide*, const char*> sides[] = {{&p.without, "without PB"},
                                                             {&p.with, "with PB"}};
    for (std::size_t i = 0; i < std::size(sides); i++)
      out += svg::ring(
          x(sides[i].first->intensity), y(gops(r, sides[i].first->attained)), 5, svg::colour(i),
          fmt::format("{} {}: {:.1f} GOP/s", p.name, sides[i].second, gops(r, sides[i].first->attained)));
  }
  out += svg::legend_entry(kLeft + 20, kTop, svg::colour(0), "without PB") +
         svg::legend_entry(kLeft + 20, kTop + 16, svg::colour(1), "with PB");
  return svg::drawing(int(kBottom) + 44, out, "Operations a second over operations a byte");
}

}  // namespace

std::string to_text(const RooflineReport& r, std::size_t width) {
  std::vector<Column> columns;
  columns.reserve(kHeadings.size());
  for (const std::string& h : kHeadings) columns.push_back({h, !columns.empty(), 0, false});
  Table table(columns);
  for (const RoofPoint& p : r.points) table.add(row_of(r, p));
  return table.text(width) + "\n" + line_of(r) + "\n";
}

nlohmann::ordered_json json_of(const RooflineReport& r) {
  nlohmann::ordered_json j;
  j["supernet"] = r.supernet;
  j["kernel"] = r.kernel;
  j["macs_per_cycle"] = r.roof.macs_per_cycle;
  j["bytes_per_cycle"] = r.roof.bytes_per_cycle;
  j["pb_bytes"] = r.roof.pb_bytes;
  j["ridge"] = r.roof.ridge();
  j["subnets"] = nlohmann::ordered_json::array();
  for (const RoofPoint& p : r.points) {
    j["subnets"].push_back({{"name", p.name},
                            {"macs", p.macs},
                            {"without_pb", json_of(p.without)},
                            {"with_pb", json_of(p.with)},
                            {"latency_change", change(p)}});
  }
  return j;
}

std::string to_html(const RooflineReport& r) {
  std::vector<std::string> headings = kHeadings;
  for (std::size_t i = 1; i < headings.size(); i++) headings[i].insert(0, 1, '#');
  html::Table table(headings);
  for (const RoofPoint& p : r.points) table.add(row_of(r, p));
  return html::page(r.supernet + " under the roof",
                    "<p>" + html::escaped(line_of(r)) + "</p>\n" + drawing(r) + table.text());
}

}  // namespace kaiten
