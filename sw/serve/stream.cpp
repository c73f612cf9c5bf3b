// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "serve/stream.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>

#include "serve/csv.h"

namespace kaiten::serve {

namespace {

// The distributions of the standard library differ between implementations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // Above 0, below 1.
  double unit() { return (double(engine_() >> 12) + 0.5) * 0x1p-52; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  // Of mean 1.
  double exponential() { return -std::log(unit()); }
  double normal() { return std::sqrt(2 * exponential()) * std::cos(2 * std::numbers::pi * unit()); }
  // Of mean `shape`, shape below 1: Marsaglia and Tsang (2000), one step above and scaled down.
  double gamma(double shape) {
    const double d = shape + 1 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log(unit()) < x * x / 2 + d - d * v + d * std::log(v))
        return d * v * std::pow(unit(), 1 / shape);
    }
  }

 private:
  std::mt19937_64 engine_;
};

constexpr double kMsPerSecond = 1e3;
constexpr double kDay = 24 * 3600 * kMsPerSecond;
constexpr double kSwing = 0.8;
constexpr double kShape = 0.25;

std::vector<double> draw_arrivals(const StreamOptions& o, Random& random) {
  std::vector<double> out;
  const double gap = kMsPerSecond / o.rate;
  double now = 0;
  while (out.size() < o.queries) {
    if (o.arrivals == Arrivals::kBursty) {
      now += gap * random.gamma(kShape) / kShape;
    } else if (o.arrivals == Arrivals::kDiurnal) {  // thinned from the highest rate
      now += gap / (1 + kSwing) * random.exponential();
      const double share = (1 - kSwing * std::cos(2 * std::numbers::pi * now / kDay)) / (1 + kSwing);
      if (random.unit() > share) continue;
    } else {
      now += gap * random.exponential();
    }
    out.push_back(now);
  }
  return out;
}

std::vector<Constraints> draw_constraints(const StreamOptions& o, std::size_t queries, Random& random) {
  std::vector<Constraints> out;
  Constraints now;
  for (std::size_t i = 0; i < queries; i++) {
    if (i == 0 || random.unit() * o.hold < 1)
      now = {random.between(o.low.accuracy, o.high.accuracy),
             random.between(o.low.latency_ms, o.high.latency_ms)};
    out.push_back(now);
  }
  return out;
}

constexpr double kMostTime = 1e12;  // milliseconds: some 30 years

// Columns of a heading that may stand in any order.
std::optional<std::size_t> column_of(const std::vector<std::string_view>& heading, std::string_view name) {
  const auto found = std::find(heading.begin(), heading.end(), name);
  return found == heading.end() ? std::nullopt : std::optional(std::size_t(found - heading.begin()));
}

double ranged(const CsvReader& csv, const std::vector<std::string_view>& fields, std::size_t column,
              const char* name, double most) {
  const double value = csv.number(fields, column, name);
  if (value < 0 || value > most) {
    csv.fail(std::string(name) + ": limit: 0 to " + std::to_string(std::int64_t(most)) + ", found '" +
             std::string(fields[column]) + "'");
  }
  return value;
}

Stream azure(CsvReader& csv, const std::string& file, const StreamOptions& drawn) {
  Stream s;
  s.origin = "Azure Functions trace " + file + ", constraints drawn";
  std::vector<std::string_view> fields;
  while (csv.next(fields)) {
    if (fields.size() != 4) csv.fail("limit: 4 fields, found " + std::to_string(fields.size()));
    const double end = ranged(csv, fields, 2, "end_timestamp", kMostTime / kMsPerSecond);
    const double duration = ranged(csv, fields, 3, "duration", kMostTime / kMsPerSecond);
    s.arrival_ms.push_back((end - duration) * kMsPerSecond);
  }
  if (s.arrival_ms.empty()) csv.fail("no queries");
  std::sort(s.arrival_ms.begin(), s.arrival_ms.end());  // lines are sorted by their end
  const double start = s.arrival_ms.front();
  for (double& t : s.arrival_ms) t -= start;
  Random random(drawn.seed);
  s.constraints = draw_constraints(drawn, s.arrival_ms.size(), random);
  return s;
}

}  // namespace

void range_of(const Table& table, Constraints& low, Constraints& high) {
  const auto [a, b] =
      std::minmax_element(table.subnets.begin(), table.subnets.end(),
                          [](const auto& x, const auto& y) { return x.accuracy < y.accuracy; });
  const auto [c, d] = std::minmax_element(table.latency_ms.begin(), table.latency_ms.end());
  low = {a->accuracy, *c};
  high = {b->accuracy, *d};
}

Stream draw_stream(const StreamOptions& o) {
  constexpr const char* kNames[] = {"single stream", "Poisson", "bursty", "diurnal"};
  Random random(o.seed);
  Stream s;
  s.origin =
      std::to_string(o.queries) + " queries, " + kNames[int(o.arrivals)] + ", seed " + std::to_string(o.seed);
  s.closed = o.arrivals == Arrivals::kUniform;
  if (!s.closed) s.arrival_ms = draw_arrivals(o, random);
  s.constraints = draw_constraints(o, o.queries, random);
  return s;
}

Stream stream_of_csv(std::string_view text, const std::string& file, const StreamOptions& drawn) {
  CsvReader csv(text, file);
  std::vector<std::string_view> heading;
  if (!csv.next(heading)) csv.fail("no queries");
  if (heading == std::vector<std::string_view>{"app", "func", "end_timestamp", "duration"})
    return azure(csv, file, drawn);
  for (std::size_t i = 0; i < heading.size(); i++) {
    if (heading[i] != "arrival_ms" && heading[i] != "accuracy" && heading[i] != "latency_ms")
      csv.fail("unknown column '" + std::string(heading[i]) + "' (known: arrival_ms, accuracy, latency_ms)");
    if (column_of(heading, heading[i]) != i)
      csv.fail("column '" + std::string(heading[i]) + "' occurs twice");
  }
  const auto arrival = column_of(heading, "arrival_ms"), accuracy = column_of(heading, "accuracy"),
             latency = column_of(heading, "latency_ms");
  Stream s;
  s.origin = file;
  s.closed = !arrival;
  std::vector<std::string_view> fields;
  while (csv.next(fields)) {
    if (fields.size() != heading.size())
      csv.fail("limit: " + std::to_string(heading.size()) + " fields, found " +
               std::to_string(fields.size()));
    Constraints c{0, std::numeric_limits<double>::infinity()};
    if (accuracy) c.accuracy = ranged(csv, fields, *accuracy, "accuracy", 100);
    if (latency) c.latency_ms = ranged(csv, fields, *latency, "latency_ms", kMostTime);
    if (arrival) {
      const double at = ranged(csv, fields, *arrival, "arrival_ms", kMostTime);
      if (!s.arrival_ms.empty() && at < s.arrival_ms.back())
        csv.fail("arrival_ms: limit: not before the line above, found '" + std::string(fields[*arrival]) +
                 "'");
      s.arrival_ms.push_back(at);
    }
    s.constraints.push_back(c);
  }
  if (s.constraints.empty()) csv.fail("no queries");
  return s;
}

}  // namespace kaiten::serve
