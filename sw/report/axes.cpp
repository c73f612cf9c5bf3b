// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/axes.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "report/svg.h"
#include "report/table.h"

namespace kaiten {

namespace {

constexpr double kTolerance = 1e-9;
constexpr double kFewTicks = 3;

// Multiples of 1, 2 or 5 times a power of ten, three at least.
std::vector<double> even_ticks(const Scale& s) {
  double step = std::pow(10, std::floor(std::log10(s.high - s.low)));
  for (const double part : {0.5, 0.4, 0.5}) {
    if ((s.high - s.low) / step >= kFewTicks + 1) break;
    step *= part;
  }
  std::vector<double> ticks;
  for (double v = std::ceil(s.low / step) * step; v <= s.high; v += step) ticks.push_back(v);
  return ticks;
}

std::vector<double> ticks_of(const Scale& s, double base) {
  const double first = std::ceil(std::log(s.low) / std::log(base) - kTolerance);
  const double last = std::floor(std::log(s.high) / std::log(base) + kTolerance);
  std::vector<double> ticks;
  if (base == 10 && last - first < kFewTicks) {
    for (double e = first - 1; e <= last; e++) {
      for (double digit : {1.0, 2.0, 5.0}) {
        const double v = digit * std::pow(base, e);
        if (v >= s.low && v <= s.high) ticks.push_back(v);
      }
    }
    return double(ticks.size()) < kFewTicks ? even_ticks(s) : ticks;
  }
  const double step = std::max(1.0, std::ceil((last - first) / 8));
  for (double e = first; e <= last; e += step) ticks.push_back(std::pow(base, e));
  return ticks;
}

}  // namespace

std::string plain_number(double v) {
  return v >= 1000 ? grouped(std::uint64_t(std::llround(v))) : fmt::format("{:.4g}", v);
}

std::string axes(const Scale& x, const Scale& y, const std::string& x_title, const std::string& y_title,
                 std::string (*x_label)(double), std::string (*y_label)(double), double base) {
  using svg::kAxis;
  using svg::line;
  using svg::text_at;
  std::string out = line(x.from, y.from, x.to, y.from, kAxis) + line(x.from, y.from, x.from, y.to, kAxis);
  for (double v : ticks_of(x, base))
    out += line(x(v), y.from, x(v), y.from + 4, kAxis) + text_at(x(v), y.from + 17, x_label(v));
  for (double v : ticks_of(y, base))
    out += line(x.from, y(v), x.to, y(v), svg::kGrid) + text_at(x.from - 6, y(v) + 4, y_label(v), "end");
  return out + text_at((x.from + x.to) / 2, y.from + 34, x_title) +
         text_at(x.from, y.to - 8, y_title, "start");
}

}  // namespace kaiten
