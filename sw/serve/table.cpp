// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "serve/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"

namespace kaiten::serve {

namespace {

[[noreturn]] void fail(const std::string& source, const std::string& what) {
  throw InputError(source + ": " + what);
}

void require_range(const std::string& source, const std::string& what, double value, double most) {
  if (!(value >= 0 && value <= most))
    fail(source, fmt::format("{}: limit: 0 to {}, found {}", what, most, value));
}

template <class Line>
void require_lines(const std::string& source, const std::string& kind, const std::vector<Line>& lines,
                   std::size_t code) {
  if (lines.empty() || lines.size() > kMostRows)
    fail(source, fmt::format("{}s: limit: 1 to {}, found {}", kind, kMostRows, lines.size()));
  std::set<std::string_view> names;
  for (const Line& line : lines) {
    if (line.name.empty()) fail(source, fmt::format("a {} without a name", kind));
    if (!names.insert(line.name).second) fail(source, fmt::format("{} '{}' occurs twice", kind, line.name));
    if (line.code.size() != code) {
      fail(source, fmt::format("code of {} '{}': limit: {} numbers as the first SubNet has, found {}", kind,
                               line.name, code, line.code.size()));
    }
    for (const int n : line.code)
      require_range(source, fmt::format("code of {} '{}'", kind, line.name), n, kMostExtent);
  }
}

void require_size(const std::string& source, const std::string& what, std::size_t found,
                  std::size_t expected) {
  if (found != expected) fail(source, fmt::format("{}: limit: {} entries, found {}", what, expected, found));
}

}  // namespace

std::optional<std::size_t> Table::nothing() const {
  for (std::size_t j = 0; j < subgraphs.size(); j++) {
    if (subgraphs[j].name == kNothing) return j;
  }
  return std::nullopt;
}

bool Table::coded() const { return !subnets.empty() && !subnets.front().code.empty(); }

void check(const Table& t, const std::string& source) {
  constexpr double kMostBytes = 1e15;
  const std::size_t code = t.subnets.empty() ? 0 : t.subnets.front().code.size();
  require_lines(source, "SubNet", t.subnets, code);
  require_lines(source, "SubGraph", t.subgraphs, code);
  for (const TableSubNet& s : t.subnets)
    require_range(source, "accuracy of SubNet '" + s.name + "'", s.accuracy, 100);
  for (const TableSubGraph& g : t.subgraphs) {
    require_range(source, "load_ms of SubGraph '" + g.name + "'", g.load_ms, kMostMilliseconds);
    require_range(source, "bytes of SubGraph '" + g.name + "'", g.bytes, kMostBytes);
  }
  const std::size_t entries = t.subnets.size() * t.subgraphs.size();
  require_size(source, "latency_ms", t.latency_ms.size(), entries);
  if (!t.weight_bytes.empty()) require_size(source, "weight_bytes", t.weight_bytes.size(), entries);
  if (!t.other_bytes.empty()) require_size(source, "other_bytes", t.other_bytes.size(), t.subnets.size());
  for (std::size_t i = 0; i < entries; i++) {
    const std::string where =
        fmt::format("of SubNet '{}' with SubGraph '{}'", t.subnets[i / t.subgraphs.size()].name,
                    t.subgraphs[i % t.subgraphs.size()].name);
    require_range(source, "latency " + where, t.latency_ms[i], kMostMilliseconds);
    if (!(t.latency_ms[i] > 0)) fail(source, "latency " + where + ": limit: above 0, found 0");
    if (!t.weight_bytes.empty())
      require_range(source, "weight_bytes " + where, t.weight_bytes[i], kMostBytes);
  }
  for (const double bytes : t.other_bytes) require_range(source, "other_bytes", bytes, kMostBytes);
}

}  // namespace kaiten::serve
