// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/plan_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/axes.h"
#include "report/page.h"
#include "report/svg.h"
#include "report/table.h"

namespace kaiten {

namespace {

using html::escaped;
using svg::colour;
using svg::drawing;
using svg::kAxis;
using svg::kWidth;
using svg::legend_entry;
using svg::line;
using svg::text_at;

constexpr int kHeight = 320;
constexpr int kMargin = 60;

std::string bytes_text(std::int64_t n) { return grouped(static_cast<unsigned long long>(n)); }

std::string short_bytes(double n) {
  if (n >= 1 << 20) return fmt::format("{:.3g} MiB", n / (1 << 20));
  if (n >= 1 << 10) return fmt::format("{:.3g} KiB", n / (1 << 10));
  return fmt::format("{:.3g} B", n);
}

std::string legend(const PlanReport& r) {
  std::string out;
  for (std::size_t i = 0; i < r.methods.size(); i++) {
    out += legend_entry(kWidth - 150, 12 + 17 * double(i), colour(i), title_of(r.methods[i]));
  }
  return out;
}

// A bar for each map, as high as the map is large, in the colour of the span that makes it; arcs for edges
// that pass other layers.
std::string partition(const PlanReport& r) {
  const plan::Method& m = r.methods.front();
  const int n = r.network.layer_count();
  std::vector<int> span_of(std::size_t(n), -1);
  for (std::size_t s = 0; s < m.spans.size(); s++) {
    const plan::Span& span = m.spans[s];
    for (int layer = span.first; span.layers.empty() && layer <= span.last; layer++)
      span_of[std::size_t(layer)] = int(s);
    for (int layer : span.layers) span_of[std::size_t(layer)] = int(s);
  }
  double largest = 2;
  for (const plan::Map& map : r.network.maps) largest = std::max(largest, double(map.elements()));
  const double step = double(kWidth - 20) / (n + 1);
  const double base = 190;
  const auto height = [&](int map) {
    return 8 +
           130 * std::log2(double(r.network.maps[std::size_t(map)].elements()) + 1) / std::log2(largest + 1);
  };
  const auto middle = [&](int map) { return 10 + step * (map + 0.5); };
  std::string out;
  for (int map = 0; map <= n; map++) {
    const plan::Map& s = r.network.maps[std::size_t(map)];
    const std::string name = map == 0 ? "input" : r.network.layers[std::size_t(map) - 1].name;
    const int span = map == 0 ? -1 : span_of[std::size_t(map) - 1];
    out += svg::box(10 + step * map, base - height(map), std::max(0.6, step * 0.85), height(map),
                    span < 0 ? svg::kRule : colour(std::size_t(span)),
                    fmt::format("{} {}x{}x{}, {} bytes{}", name, s.height, s.width, s.channels,
                                bytes_text(s.elements()), span < 0 ? "" : fmt::format(", span {}", span)));
  }
  for (int layer = 0; layer < n; layer++) {
    const plan::Layer& l = r.network.layers[std::size_t(layer)];
    for (const auto* sources : {&l.inputs, &l.adds}) {
      for (int a : *sources) {
        if (a == layer) continue;
        const double rise = std::min(70.0, 14 + 2.2 * (middle(layer + 1) - middle(a)) / 4);
        out += svg::curve(fmt::format("M{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}", middle(a),
                                      base - height(a), (middle(a) + middle(layer + 1)) / 2,
                                      base - std::max(height(a), height(layer + 1)) - rise, middle(layer + 1),
                                      base - height(layer + 1)),
                          kAxis, 0.8);
      }
    }
  }
  for (std::size_t s = 0; s < m.spans.size(); s++) {
    const double from = 10 + step * (m.spans[s].first + 1), to = 10 + step * (m.spans[s].last + 2);
    if (to - from > 12) out += text_at((from + to) / 2, base + 16, std::to_string(s));
    const bool held = m.spans[s].boundary == plan::Boundary::kHeld;
    out += line(to, base - 150, to, base + 6, held ? colour(2) : colour(6), held ? 1 : 1.8);
  }
  return drawing(220, out, "The maps of the network in the colours of their spans") +
         "<p>Height: bytes of a map, logarithmic. Red, thick: cuts where the map goes through memory; green, "
         "thin: it is "
         "held on chip. Arcs: residual edges and branches.</p>\n";
}

std::string spans_table(const PlanReport& r) {
  const plan::Method& m = r.methods.front();
  html::Table table({"#span", "layers", "#weights", "#rows", "#traffic", "output", "rows kept"});
  for (std::size_t s = 0; s < m.spans.size(); s++) {
    const plan::Span& span = m.spans[s];
    std::string kept;
    for (const plan::KeptRows& k : span.kept) kept += (kept.empty() ? "" : " ") + std::to_string(k.rows);
    if (kept.size() > 60) kept = kept.substr(0, kept.rfind(' ', 56)) + " ...";
    if (span.columns) kept += " (columns)";
    table.add({std::to_string(s),
               r.network.layers[std::size_t(span.first)].name + " to " +
                   r.network.layers[std::size_t(span.last)].name,
               bytes_text(span.weights_bytes), bytes_text(span.rows_bytes), bytes_text(span.traffic_bytes),
               std::string(plan::name_of(span.boundary)), kept});
  }
  return table.text();
}

std::string methods_table(const PlanReport& r) {
  const bool timed = r.clock_mhz > 0;
  std::vector<std::string> head{"method", "#spans", "#traffic bytes", "#residual", "#MACs", "#cycles"};
  if (timed) head.push_back(fmt::format("#ms at {:g} MHz", r.clock_mhz));
  head.emplace_back("#energy mJ");
  html::Table table(head);
  for (std::size_t i = 0; i < r.methods.size(); i++) {
    const plan::Method& m = r.methods[i];
    std::vector<std::string> row{title_of(m),
                                 std::to_string(m.spans.size()),
                                 bytes_text(m.traffic_bytes),
                                 bytes_text(m.penalty_bytes),
                                 bytes_text(m.macs),
                                 m.cycles > 0 ? bytes_text(m.cycles) : "-"};
    if (timed) row.push_back(m.cycles > 0 ? fmt::format("{:.4g}", r.milliseconds(double(m.cycles))) : "-");
    row.push_back(fmt::format("{:.3f}", r.energies[i].total()));
    table.add(row);
  }
  return table.text();
}

std::string sweep(const PlanReport& r) {
  double least = 1e300, most = 1;
  for (const SweepPoint& p : r.sweep) {
    for (const auto& t : p.traffic_bytes) {
      if (!t) continue;
      least = std::min(least, double(*t));
      most = std::max(most, double(*t));
    }
  }
  const Scale x{double(r.sweep.front().capacity_bytes), double(r.sweep.back().capacity_bytes), kMargin + 20,
                kWidth - 170};
  const Scale y{std::max(1.0, least) / 1.1, most * 1.1, kHeight - 45, 25};
  std::string out = axes(x, y, "capacity", "traffic", short_bytes, short_bytes, 2) + legend(r);
  for (std::size_t i = 0; i < r.methods.size(); i++) {
    std::string path;
    bool down = false;
    for (const SweepPoint& p : r.sweep) {
      if (!p.traffic_bytes[i]) {
        down = false;
        continue;
      }
      path += fmt::format("{}{:.1f} {:.1f}", down ? "L" : "M", x(double(p.capacity_bytes)),
                          y(double(std::max<std::int64_t>(1, *p.traffic_bytes[i]))));
      down = true;
    }
    if (!path.empty()) out += svg::curve(path, colour(i), 2);
  }
  return drawing(kHeight, out, "Traffic of each method over the capacity on chip");
}

double useful_operations(const PlanReport& r) {
  return double(r.network.macs()) * r.batch * r.energy.operations_per_mac;
}

// Operations a cycle of a method: modelled where there is a model of the cycles, else what the roof allows.
double reached(const PlanReport& r, std::size_t method, double roof) {
  const std::int64_t cycles = r.methods[method].cycles;
  return cycles > 0 ? useful_operations(r) / double(cycles) : roof;
}

std::string roofline_table(const PlanReport& r) {
  html::Table table({"method", "#operations/byte", "#operations/cycle", "from"});
  for (std::size_t i = 0; i < r.methods.size(); i++) {
    const plan::Method& m = r.methods[i];
    const double intensity = useful_operations(r) / double(std::max<std::int64_t>(1, m.traffic_bytes));
    const double peak = r.energy.operations_per_mac *
                        (r.array_macs_per_cycle > 0 ? r.array_macs_per_cycle : r.energy.chip_macs_per_cycle);
    const double roof = std::min(peak, intensity * r.energy.memory_bytes_per_cycle);
    table.add({title_of(m), plain_number(intensity), plain_number(reached(r, i, roof)),
               m.cycles > 0 ? "cycle model" : "roof"});
  }
  return table.text();
}

std::string roofline(const PlanReport& r) {
  const double peak = r.energy.operations_per_mac *
                      (r.array_macs_per_cycle > 0 ? r.array_macs_per_cycle : r.energy.chip_macs_per_cycle);
  const double ridge = peak / r.energy.memory_bytes_per_cycle;
  std::vector<double> intensity;
  double low = ridge / 2, high = ridge * 2;
  for (const plan::Method& m : r.methods) {
    intensity.push_back(
        std::max(1e-3, useful_operations(r) / double(std::max<std::int64_t>(1, m.traffic_bytes))));
    low = std::min(low, intensity.back() / 1.5);
    high = std::max(high, intensity.back() * 1.5);
  }
  const Scale x{low, high, kMargin, kWidth - 170};
  double slowest = low * r.energy.memory_bytes_per_cycle;
  for (std::size_t i = 0; i < intensity.size(); i++) slowest = std::min(slowest, reached(r, i, slowest));
  const Scale y{slowest / 1.2, peak * 1.6, kHeight - 45, 25};
  std::string out = axes(x, y, "operations per byte of traffic", "operations per cycle") + legend(r);
  out += line(x(low), y(low * r.energy.memory_bytes_per_cycle), x(ridge), y(peak), svg::kInk, 1.5) +
         line(x(ridge), y(peak), x(high), y(peak), svg::kInk, 1.5);
  out += text_at(x(high), y(peak) - 6, fmt::format("{} operations/cycle", plain_number(peak)), "end") +
         text_at(x(ridge), y(peak) - 6,
                 fmt::format("{} bytes/cycle", plain_number(r.energy.memory_bytes_per_cycle)),
                 x(ridge) > x.from + 100 ? "end" : "start");
  // Methods with the same plan fall on one point: rings one around the other, the first innermost.
  std::map<std::pair<long, long>, int> rings;
  for (std::size_t i = 0; i < intensity.size(); i++) {
    const double speed = reached(r, i, std::min(peak, intensity[i] * r.energy.memory_bytes_per_cycle));
    const double px = x(intensity[i]), py = y(speed);
    const int before = rings[{std::lround(px / 6), std::lround(py / 6)}]++;
    out += svg::ring(px, py, 4 + 3.5 * before, colour(i),
                     fmt::format("{}: {} operations/byte, {} operations/cycle", title_of(r.methods[i]),
                                 plain_number(intensity[i]), plain_number(speed)));
  }
  return drawing(kHeight, out, "Operations per cycle over operations per byte");
}

std::string energy(const PlanReport& r) {
  double most = 1e-12;
  for (const plan::Energy& e : r.energies) most = std::max(most, e.total());
  const double row = 26, width = kWidth - 360;
  std::string out;
  for (std::size_t i = 0; i < r.methods.size(); i++) {
    const double top = 30 + row * double(i);
    out += text_at(190, top + 13, title_of(r.methods[i]), "end");
    double at = 200;
    const std::pair<double, const char*> parts[] = {
        {r.energies[i].compute, colour(0)}, {r.energies[i].dram, colour(1)}, {r.energies[i].link, colour(2)}};
    for (const auto& [value, fill] : parts) {
      const double w = width * value / most;
      out += svg::box(at, top, w, 18, fill);
      at += w;
    }
    out += text_at(at + 6, top + 13, fmt::format("{:.3f} mJ", r.energies[i].total()), "start");
  }
  const char* const names[] = {"compute", "DRAM", "links"};
  for (std::size_t i = 0; i < 3; i++) out += legend_entry(200 + 90 * double(i), 8, colour(i), names[i]);
  return drawing(40 + int(row) * int(r.methods.size()), out, "Energy of each method by what takes it");
}

}  // namespace

std::string to_html(const PlanReport& r) {
  const std::string where = r.mode == "paper" ? short_bytes(double(r.capacity_bytes)) : r.config;
  std::string out;
  out += fmt::format("<p>{} layers, {} MACs, batch {}; {} mode.</p>\n", r.network.layer_count(),
                     bytes_text(r.network.macs()), r.batch, r.mode == "paper" ? "analytic" : "target");
  out += "<h2>Partition: " + escaped(title_of(r.methods.front())) + "</h2>\n" + partition(r) + spans_table(r);
  out += "<h2>Methods</h2>\n" + methods_table(r);
  if (!r.sweep.empty()) out += "<h2>Traffic over capacity</h2>\n" + sweep(r);
  out += "<h2>Roofline</h2>\n" + roofline(r) + roofline_table(r) + "<h2>Energy</h2>\n" + energy(r);
  for (const std::string& note : r.notes) out += "<p>" + escaped(note) + "</p>\n";
  return html::page(r.network.name + " on " + where, out);
}

}  // namespace kaiten
