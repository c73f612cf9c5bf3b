// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "report/axes.h"
#include "report/model_page.h"
#include "report/short_names.h"
#include "report/svg.h"
#include "report/table.h"

namespace kaiten {

namespace {

using svg::kWidth;

constexpr std::size_t kNameColumns = 30;
constexpr double kNames = 215;  // room for them

struct Cause {
  const char* name;
  std::size_t colour;
};
// What takes a layer's time: its multipliers' work, then the causes of LayerReport::losses.
constexpr Cause kWork{"computing", 2};
constexpr std::array<Cause, 7> kCauses{{{"padding", 4},
                                        {"weights", 1},
                                        {"rows", 0},
                                        {"output", 5},
                                        {"commands", 3},
                                        {"vector", 6},
                                        {"latency", 7}}};

std::vector<std::string> names_of(const RunReport& r) {
  std::vector<std::string> names;
  for (const LayerReport& l : r.layers) names.push_back(l.name);
  return short_names(names, kNameColumns);
}

double share_of(const LayerReport& l, const std::string& cause) {
  for (const auto& [name, share] : l.losses) {
    if (name == cause) return share;
  }
  return 0;
}

std::string share_text(double part, double whole) { return fmt::format("{:.1f} %", 100 * part / whole); }

// A bar of buffers of a span: how full it is.
std::string fill_bar(double x, double y, double width, double part, std::size_t colour,
                     const std::string& hint) {
  return svg::box(x, y, width, 8, svg::kGrid) +
         svg::box(x, y, width * std::clamp(part, 0.0, 1.0), 8, svg::colour(colour), hint);
}

std::string legend(const std::vector<std::pair<std::string, std::size_t>>& entries, double y) {
  std::string out;
  double x = 10;
  for (const auto& [text, colour] : entries) {
    out += svg::legend_entry(x, y, svg::colour(colour), text);
    x += 30 + 7.4 * double(text.size());
  }
  return out;
}

}  // namespace

// Each operator's output as a bar in the order they run, as high as the map is large (logarithmic) and coloured by span;
// arcs for edges that skip operators; below each span what it takes of the buffers.
std::string network_drawing(const Graph& graph, const Config& config, const Analysis& a) {
  const std::size_t n = graph.ops.size();
  const double base = 160, step = double(kWidth - 80) / double(n), left = 70;
  std::vector<int> span_of(n, -1), producer(graph.tensors.size(), -1);
  for (std::size_t s = 0; s < a.spans.size(); s++) {
    for (int op : a.spans[s].ops) span_of[std::size_t(op)] = int(s);
  }
  double largest = 2;
  for (const Op& op : graph.ops) largest = std::max(largest, double(graph.output_of(op).bytes()));
  const auto height = [&](const Op& op) {
    return 6 + 110 * std::log2(double(graph.output_of(op).bytes()) + 1) / std::log2(largest + 1);
  };
  std::string out;
  for (std::size_t i = 0; i < n; i++) {
    const Op& op = graph.ops[i];
    producer[std::size_t(op.output)] = int(i);
    const std::string where = span_of[i] < 0 ? "" : fmt::format(", span {}", span_of[i]);
    out += svg::box(
        left + step * double(i), base - height(op), std::max(0.6, step * 0.85), height(op),
        span_of[i] < 0 ? svg::kRule : svg::colour(std::size_t(span_of[i])),
        fmt::format("{}: {} {}, {} bytes{}", op.name, name_of(op.kind), shape_text(graph.output_of(op).shape),
                    grouped(graph.output_of(op).bytes()), where));
    for (int input : op.inputs) {
      const int from = producer[std::size_t(input)];
      if (from < 0 || from + 1 >= int(i)) continue;
      const double x0 = left + step * (from + 0.4), x1 = left + step * (double(i) + 0.4);
      const double top = base - std::max(height(op), height(graph.ops[std::size_t(from)]));
      out += svg::curve(fmt::format("M{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}", x0,
                                    base - height(graph.ops[std::size_t(from)]), (x0 + x1) / 2,
                                    top - std::min(60.0, 12 + (x1 - x0) / 4), x1, base - height(op)),
                        svg::kAxis, 0.8);
    }
  }
  const double row = 9.0 * config.cp;
  const std::array<const char*, 3> buffers{"WB, VWB", "SB", "VB"};
  for (std::size_t b = 0; b < buffers.size(); b++)
    out += svg::text_at(left - 8, base + 21 + 14 * double(b), buffers[b], "end");
  for (std::size_t s = 0; s < a.spans.size(); s++) {
    const SpanInfo& span = a.spans[s];
    const auto [first, last] = std::minmax_element(span.ops.begin(), span.ops.end());
    const double x0 = left + step * *first, x1 = left + step * (*last + 0.85);
    std::array<double, 3> used{double(span.weights_bytes), 0, 0};
    for (const SpanInfo::Kept& k : span.kept) used[k.in_vb ? 2 : 1] += double(k.bytes);
    const std::array<double, 3> capacity{row * (config.wb_rows + config.vwb_rows), row * config.sb_depth,
                                         row * config.vb_depth};
    for (std::size_t b = 0; b < buffers.size(); b++) {
      out += fill_bar(
          x0, base + 14 + 14 * double(b), std::max(1.5, x1 - x0), used[b] / capacity[b], s,
          fmt::format("span {}: {} bytes, {} of {}", s, grouped(static_cast<unsigned long long>(used[b])),
                      share_text(used[b], capacity[b]), buffers[b]));
    }
    if (x1 - x0 > 12) out += svg::text_at((x0 + x1) / 2, base + 70, std::to_string(s));
    if (span.boundary == SpanInfo::Boundary::kSpilled)
      out += svg::line(x1 + step * 0.07, 30, x1 + step * 0.07, base + 54, svg::colour(6), 1.8);
  }
  out += svg::text_at(left - 8, base + 70, "span", "end");
  return svg::drawing(int(base) + 78, out, "The network's maps in the colours of their spans, with buffers");
}

std::string cycles_drawing(const RunReport& r) {
  constexpr double kRow = 17;
  const double width = kWidth - kNames - 150;
  const std::vector<std::string> names = names_of(r);
  std::uint64_t most = 1;
  for (const LayerReport& l : r.layers) most = std::max(most, l.cycles);
  std::vector<std::pair<std::string, std::size_t>> entries{{kWork.name, kWork.colour}};
  for (const Cause& c : kCauses) entries.emplace_back(c.name, c.colour);
  std::string out = legend(entries, 4);
  double y = 24;
  for (std::size_t i = 0; i < r.layers.size(); i++) {
    const LayerReport& l = r.layers[i];
    if (l.on_host || l.nothing_to_do) continue;
    std::string hint =
        fmt::format("{}: {} cycles, computing {:.1f} %", l.name, grouped(l.cycles), 100 * l.utilization);
    for (const auto& [name, share] : l.losses) hint += fmt::format(", {} {:.1f} %", name, 100 * share);
    out += svg::text_at(kNames, y + 11, names[i], "end");
    double at = kNames + 8;
    const double whole = width * double(l.cycles) / double(most);
    const auto part = [&](double share, std::size_t colour) {
      if (share * whole < 0.05) return;
      out += svg::box(at, y, share * whole, 13, svg::colour(colour), hint);
      at += share * whole;
    };
    double rest = 1 - l.utilization;
    part(l.utilization, kWork.colour);
    for (const Cause& c : kCauses) {
      part(share_of(l, c.name), c.colour);
      rest -= share_of(l, c.name);
    }
    // Without multiply-accumulates there is no utilisation: the engine's work.
    if (l.macs == 0) part(rest, kWork.colour);
    out += svg::text_at(
        at + 6, y + 11,
        fmt::format("{} ({})", grouped(l.cycles), share_text(double(l.cycles), double(r.cycles))), "start");
    y += kRow;
  }
  return svg::drawing(int(y) + 6, out, "Cycles of each layer by what takes them");
}

std::string roofline_drawing(const RunReport& r) {
  const double bus = r.config.axi_bytes;
  struct Point {
    const LayerReport* layer;
    double intensity, speed;
  };
  std::vector<Point> points;
  double low = double(r.config.vector_multipliers()) / bus / 4,
         high = double(r.config.array_multipliers()) / bus * 4;
  double slowest = double(r.config.vector_multipliers()) / 8;
  for (const LayerReport& l : r.layers) {
    if (l.macs == 0 || l.utilization <= 0) continue;
    const double multipliers = l.on_array ? r.config.array_multipliers() : r.config.vector_multipliers();
    const double bytes = std::max(1.0, double(l.bytes_read + l.bytes_written));
    points.push_back({&l, double(l.macs) / bytes, l.utilization * multipliers});
    low = std::min(low, points.back().intensity / 1.5);
    high = std::max(high, points.back().intensity * 1.5);
    slowest = std::min(slowest, points.back().speed / 1.5);
  }
  const double peak = r.config.array_multipliers();
  const double vector = r.config.vector_multipliers();
  const Scale x{low, high, 70, kWidth - 20};
  const Scale y{std::min(slowest, vector / 2), peak * 2, 300, 30};
  const auto roof = [&](double top, double above, const char* name) {
    const double from = std::max(low, y.low / bus);
    return svg::line(x(from), y(from * bus), x(top / bus), y(top), svg::kInk, 1.5) +
           svg::line(x(top / bus), y(top), x(high), y(top), svg::kInk, 1.5) +
           svg::text_at(x(high), y(top) - above,
                        fmt::format("{}: {} MACs/cycle", name, grouped(std::uint64_t(top))), "end");
  };
  std::string out = axes(x, y, "MACs per byte off chip", "MACs per cycle") + roof(peak, 18, "array") +
                    roof(vector, -22, "vector engine") +
                    svg::text_at(x(peak / bus), y(peak) - 5, fmt::format("bus: {} bytes/cycle", bus));
  for (const Point& p : points) {
    const double radius =
        3 + 9 * std::sqrt(double(p.layer->cycles) / double(std::max<std::uint64_t>(1, r.cycles)));
    out += svg::ring(x(p.intensity), y(p.speed), radius, svg::colour(p.layer->on_array ? 0 : 1),
                     fmt::format("{}: {:.3g} MACs/byte, {:.4g} MACs/cycle, {} cycles", p.layer->name,
                                 p.intensity, p.speed, grouped(p.layer->cycles)));
  }
  out += svg::legend_entry(200, 8, svg::colour(0), "array") +
         svg::legend_entry(270, 8, svg::colour(1), "vector engine");
  return svg::drawing(345, out, "MACs per cycle of each layer over its MACs per byte, below the roofs");
}

std::string timeline_drawing(const RunReport& r) {
  constexpr std::array<const char*, 4> kNamesOfQueues{"LOAD", "CONV", "VECTOR", "STORE"};
  constexpr std::size_t kColumns = 420;
  const double left = 70, width = kWidth - left - 10, row = 34;
  std::uint64_t end = 1;
  for (const QueueSlice& s : r.timeline) end = std::max(end, s.to);
  // Of each queue and column: cycles by layer.
  std::array<std::vector<std::map<int, double>>, 4> columns;
  for (auto& queue : columns) queue.resize(kColumns);
  const double per = double(end) / kColumns;
  for (const QueueSlice& s : r.timeline) {
    for (std::size_t c = std::size_t(double(s.from) / per); c < kColumns && double(c) * per < double(s.to);
         c++) {
      const double covered =
          std::min(double(s.to), double(c + 1) * per) - std::max(double(s.from), double(c) * per);
      columns[std::size_t(s.queue)][c][s.op] += covered;
    }
  }
  std::string out;
  for (std::size_t q = 0; q < columns.size(); q++) {
    const double y = 10 + row * double(q);
    out +=
        svg::text_at(left - 8, y + 17, kNamesOfQueues[q], "end") + svg::box(left, y, width, 24, svg::kGrid);
    for (std::size_t c = 0; c < kColumns;) {
      const auto layer_of = [&](std::size_t at) {
        const auto& here = columns[q][at];
        const auto most = std::max_element(here.begin(), here.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        return most == here.end() || most->second < 0.02 * per ? -1 : most->first;
      };
      const int op = layer_of(c);
      std::size_t to = c + 1;
      double busy = op < 0 ? 0 : columns[q][c].at(op);
      for (; to < kColumns && layer_of(to) == op; to++) busy += op < 0 ? 0 : columns[q][to].at(op);
      const double share = std::min(1.0, busy / (double(to - c) * per));
      if (op >= 0) {
        out += svg::box(
            left + width * double(c) / kColumns, y + 24 * (1 - share), width * double(to - c) / kColumns,
            24 * share, svg::colour(std::size_t(op)),
            to - c < 2
                ? ""
                : fmt::format("{}: {:.0f} % of cycles {} to {}", r.layers[std::size_t(op)].name, 100 * share,
                              std::uint64_t(double(c) * per), std::uint64_t(double(to) * per)));
      }
      c = to;
    }
  }
  const double y = 10 + row * 4;
  for (int i = 0; i <= 4; i++) {
    const double x = left + width * i / 4;
    out += svg::line(x, y - 8, x, y - 3, svg::kAxis) +
           svg::text_at(x, y + 10, grouped(end * std::uint64_t(i) / 4) + (i == 4 ? " cycles" : ""),
                        i == 0   ? "start"
                        : i == 4 ? "end"
                                 : "middle");
  }
  return svg::drawing(int(y) + 18, out,
                      "The four queues over time in the colours of the layers they work for");
}

std::string bytes_drawing(const RunReport& r, const Analysis& a) {
  using Parts = std::array<double, 5>;
  const std::array<const char*, 5> kinds{"weights", "parameters", "commands", "maps read", "maps written"};
  const Parts moved{double(r.bytes.weights), double(r.bytes.parameters), double(r.bytes.commands),
                    double(r.bytes.activations), double(r.bytes.written)};
  const Parts bound{double(a.bound.weights), double(a.bound.parameters), double(a.bound.commands),
                    double(a.bound.input), double(a.bound.output)};
  const auto sum = [](const Parts& p) { return p[0] + p[1] + p[2] + p[3] + p[4]; };
  const double most = std::max({1.0, sum(moved), sum(bound)}), width = kWidth - 300;
  std::string out;
  std::vector<std::pair<std::string, std::size_t>> entries;
  for (std::size_t k = 0; k < kinds.size(); k++) entries.emplace_back(kinds[k], k);
  out += legend(entries, 4);
  double y = 26;
  for (const auto& [name, parts] : {std::pair("counted", moved), std::pair("bound", bound)}) {
    out += svg::text_at(70, y + 15, name, "end");
    double at = 78;
    for (std::size_t k = 0; k < parts.size(); k++) {
      const double w = width * parts[k] / most;
      if (w <= 0) continue;
      out += svg::box(at, y, w, 20, svg::colour(k),
                      fmt::format("{}: {} bytes", kinds[k], grouped(std::uint64_t(parts[k]))));
      at += w;
    }
    out += svg::text_at(at + 6, y + 15, grouped(std::uint64_t(sum(parts))) + " bytes", "start");
    y += 28;
  }
  return svg::drawing(int(y) + 4, out, "Bytes that moved, and the least that have to");
}

}  // namespace kaiten
