// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/compress_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codec/statistics.h"
#include "report/json_report.h"
#include "report/page.h"
#include "report/short_names.h"
#include "report/svg.h"
#include "report/table.h"

namespace kaiten {

namespace {

std::string ratio_text(double ratio) { return ratio > 0 ? fmt::format("{:.3f}", ratio) : "-"; }

// "1.45", or of several layouts "1.45 1.43 1.43".
std::string ratios_text(const CompressReport& r, const CompressItem& item, std::size_t codec) {
  std::string out;
  for (std::size_t l = 0; l < r.layouts.size(); l++)
    out += (l == 0 ? "" : " ") + fmt::format("{:.2f}", item.by[r.index(codec, l)].ratio());
  return out;
}

std::string totals_text(const CompressReport& r, const CompressGroup& g, std::size_t width) {
  Table table({{"codec", false, 0, false},
               {"layout", false, 0, false},
               {"raw bytes", true, 2, false},
               {"packed bytes", true, 3, false},
               {"ratio", true, 0, false},
               {"of the ZVC limit", true, 4, false},
               {"of the entropy's", true, 1, false},
               {"compress GB/s", true, 6, false},
               {"expand GB/s", true, 5, false}});
  const CompressItem total = g.total();
  const double entropy = r.entropy_ratio(total);
  for (std::size_t c = 0; c < r.codecs.size(); c++) {
    for (std::size_t l = 0; l < r.layouts.size(); l++) {
      const codec::Measurement& m = total.by[r.index(c, l)];
      table.add({r.codecs[c], std::string(name_of(r.layouts[l])), grouped(m.raw_bytes),
                 grouped(m.packed_bytes), ratio_text(m.ratio()),
                 fmt::format("{:.1f} %", 100 * m.ratio() / r.zvc_limit(total)),
                 entropy > 0 ? fmt::format("{:.1f} %", 100 * m.ratio() / entropy) : "-",
                 fmt::format("{:.3g}", m.compress_gbps()), fmt::format("{:.3g}", m.expand_gbps())});
    }
  }
  return fmt::format("{}: density {:.3f}, ZVC limit {:.3f}, entropy bound {}\n", g.name, total.density(),
                     r.zvc_limit(total), ratio_text(entropy)) +
         table.text(width) +
         (total.by.empty() ? "" : fmt::format("memcpy: {:.3g} GB/s\n", total.by.front().memcpy_gbps()));
}

std::string items_text(const CompressReport& r, const CompressGroup& g, std::size_t width) {
  std::vector<Column> columns{{"layer", false, 0, true},   {"operator", false, 1, false},
                              {"shape", false, 2, false},  {"bytes", true, 3, false},
                              {"density", true, 0, false}, {"ZVC limit", true, 4, false},
                              {"entropy", true, 5, false}};
  for (std::size_t c = 0; c < r.codecs.size(); c++)
    columns.push_back({r.codecs[c], true, c == 0 ? 0 : int(9 - c), false});
  Table table(columns);
  for (const CompressItem& item : g.items) {
    std::vector<std::string> row{
        item.name,
        item.op,
        item.shape,
        grouped(item.bytes),
        fmt::format("{:.3f}", item.density()),
        fmt::format("{:.2f}", r.zvc_limit(item)),
        r.entropy_ratio(item) > 0 ? fmt::format("{:.2f}", r.entropy_ratio(item)) : "-"};
    for (std::size_t c = 0; c < r.codecs.size(); c++) row.push_back(ratios_text(r, item, c));
    table.add(std::move(row));
  }
  return table.text(width);
}

std::string layouts_text(const CompressReport& r) {
  std::string out;
  for (codec::MapLayout l : r.layouts) out += (out.empty() ? "" : " ") + std::string(name_of(l));
  return out;
}

std::string legend(const CompressReport& r, double left, double y) {
  std::string out;
  for (std::size_t c = 0; c < r.codecs.size(); c++)
    out += svg::legend_entry(left + 80 * double(c), y, svg::colour(c), r.codecs[c]);
  return out +
         svg::line(left + 80 * double(r.codecs.size()) + 4, y - 1, left + 80 * double(r.codecs.size()) + 4,
                   y + 11, svg::kInk, 1.5) +
         svg::text_at(left + 80 * double(r.codecs.size()) + 12, y + 9, "limit of ZVC", "start");
}

// Bars of the ratios of each item, one a codec, with the item's ZVC limit as a line across; in the first
// layout.
std::string bars(const CompressReport& r, const CompressGroup& g) {
  constexpr std::size_t kNameColumns = 34;
  constexpr double kScreen = 500;
  const double left = 250, width = svg::kWidth - left - 60, bar = 9;
  const double row = bar * double(r.codecs.size()) + 9;
  double most = 1;
  for (const CompressItem& item : g.items) {
    most = std::max(most, r.zvc_limit(item));
    for (std::size_t c = 0; c < r.codecs.size(); c++) most = std::max(most, item.by[r.index(c, 0)].ratio());
  }
  most = std::min(most, 16.0);  // a constant map would make all others unreadable
  const auto x = [&](double ratio) { return left + width * std::min(ratio, most) / most; };
  std::string out;
  out += legend(r, left, 4);
  std::vector<std::string> names;
  for (const CompressItem& item : g.items) names.push_back(item.name);
  names = short_names(names, kNameColumns);
  double top = 24, told = 24;
  for (std::size_t at = 0; at < g.items.size(); at++) {
    const CompressItem& item = g.items[at];
    // The legend comes again before it is a screen away.
    if (top - told > kScreen) {
      out += legend(r, left, top + 4);
      told = top += 24;
    }
    out += svg::text_at(left - 8, top + row / 2, names[at], "end");
    for (std::size_t c = 0; c < r.codecs.size(); c++) {
      const double ratio = item.by[r.index(c, 0)].ratio();
      out += svg::box(left, top + bar * double(c), x(ratio) - left, bar - 1, svg::colour(c),
                      fmt::format("{}, {}: {:.3f}", item.name, r.codecs[c], ratio));
    }
    const double limit = x(r.zvc_limit(item));
    out += svg::line(limit, top - 2, limit, top + row - 8, svg::kInk, 1.5) +
           svg::text_at(svg::kWidth - 6, top + row / 2, fmt::format("{:.2f}", item.by[0].ratio()), "end");
    top += row;
  }
  out += svg::line(x(1), 18, x(1), top, svg::kRule) + svg::text_at(x(1), top + 13, "ratio 1");
  return svg::drawing(int(top) + 20, out, "Ratio of each codec for each tensor of the " + g.name);
}

std::string totals_html(const CompressReport& r, const CompressGroup& g) {
  const CompressItem total = g.total();
  std::vector<std::string> headings{"codec"};
  for (codec::MapLayout l : r.layouts) headings.push_back("#" + std::string(name_of(l)));
  headings.insert(headings.end(), {"#compress GB/s", "#expand GB/s"});
  html::Table table(headings);
  for (std::size_t c = 0; c < r.codecs.size(); c++) {
    std::vector<std::string> cells{r.codecs[c]};
    for (std::size_t l = 0; l < r.layouts.size(); l++)
      cells.push_back(fmt::format("{:.3f}", total.by[r.index(c, l)].ratio()));
    const codec::Measurement& m = total.by[r.index(c, 0)];
    cells.push_back(fmt::format("{:.3g}", m.compress_gbps()));
    cells.push_back(fmt::format("{:.3g}", m.expand_gbps()));
    table.add(cells);
  }
  return table.text();
}

}  // namespace

CompressItem CompressGroup::total() const {
  CompressItem sum;
  sum.name = "total";
  for (const CompressItem& item : items) {
    sum.bytes += item.bytes;
    sum.elements += item.elements;
    sum.coded += item.coded;
    sum.entropy_bits += item.entropy_bits;
    sum.by.resize(item.by.size());
    for (std::size_t i = 0; i < item.by.size(); i++) sum.by[i] += item.by[i];
  }
  return sum;
}

double CompressReport::zvc_limit(const CompressItem& item) const {
  return codec::zvc_limit(element_bits, item.density());
}

double CompressReport::entropy_ratio(const CompressItem& item) const {
  return item.entropy_bits > 0 ? double(element_bits) * item.elements / item.entropy_bits : 0;
}

std::string to_text(const CompressReport& r, std::size_t width) {
  std::string out;
  for (const CompressGroup& g : r.groups) {
    if (g.items.size() > 1) {
      out += g.name + (r.layouts.size() > 1 ? ": ratios in " + layouts_text(r) : std::string()) + "\n" +
             items_text(r, g, width) + "\n";
    }
    out += totals_text(r, g, width) + "\n";
  }
  if (!r.origin.empty()) out += "input: " + r.origin + "\n";
  out += fmt::format("{}: {} bits an element, windows of {} bytes\n", r.title, r.element_bits,
                     grouped(r.window));
  for (const std::string& note : r.notes) out += note + "\n";
  return out;
}

nlohmann::ordered_json json_of(const CompressReport& r) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const auto add = [&](const CompressGroup& g, const CompressItem& item, bool total) {
    for (std::size_t c = 0; c < r.codecs.size(); c++) {
      for (std::size_t l = 0; l < r.layouts.size(); l++) {
        const codec::Measurement& m = item.by[r.index(c, l)];
        nlohmann::ordered_json entry;
        entry["codec"] = r.codecs[c];
        entry["layout"] = name_of(r.layouts[l]);
        if (g.name != "file") {
          entry["of"] = g.name;
          entry["layer"] = total ? nlohmann::ordered_json() : nlohmann::ordered_json(item.name);
        }
        entry["raw_bytes"] = m.raw_bytes;
        entry["packed_bytes"] = m.packed_bytes;
        entry["ratio"] = m.ratio();
        entry["density"] = item.density();
        entry["zvc_limit"] = r.zvc_limit(item);
        if (const double entropy = r.entropy_ratio(item); entropy > 0) {
          entry["entropy_ratio"] = entropy;
        } else {
          entry["entropy_ratio"] = nullptr;  // a constant map
        }
        entry["compress_gbps"] = m.compress_gbps();
        entry["expand_gbps"] = m.expand_gbps();
        entry["memcpy_gbps"] = m.memcpy_gbps();
        list.push_back(std::move(entry));
      }
    }
  };
  for (const CompressGroup& g : r.groups) add(g, g.total(), true);
  for (const CompressGroup& g : r.groups) {
    if (g.name == "file") continue;
    for (const CompressItem& item : g.items) add(g, item, false);
  }
  return list;
}

std::string to_html(const CompressReport& r) {
  std::string out =
      fmt::format("<p>{} bits an element, windows of {} bytes{}.</p>\n", r.element_bits, grouped(r.window),
                  r.origin.empty() ? "" : ", input: " + html::escaped(r.origin));
  for (const CompressGroup& g : r.groups) {
    const CompressItem total = g.total();
    out += fmt::format("<h2>{}</h2>\n<p>Density {:.3f}, ZVC limit {:.3f}, entropy bound {}.</p>\n", g.name,
                       total.density(), r.zvc_limit(total), ratio_text(r.entropy_ratio(total))) +
           totals_html(r, g) + bars(r, g) +
           fmt::format("<p>Ratios in {}; the figure on the right: {}.</p>\n", name_of(r.layouts.front()),
                       r.codecs.front());
  }
  for (const std::string& note : r.notes) out += "<p>" + html::escaped(note) + "</p>\n";
  return html::page("Compression of " + r.title, out);
}

}  // namespace kaiten
