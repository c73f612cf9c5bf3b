// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Logarithmic axes of drawings (svg.h).
#ifndef KAITEN_REPORT_AXES_H
#define KAITEN_REPORT_AXES_H

#include <algorithm>
#include <cmath>
#include <string>

namespace kaiten {

// A logarithmic scale from values (low < high, positive) onto pixels.
struct Scale {
  double low, high, from, to;
  double operator()(double v) const {
    return from +
           (to - from) * (std::log(v) - std::log(low)) / std::max(1e-9, std::log(high) - std::log(low));
  }
};

// "0.25", "1,000": four digits, grouped where there are more than three before the point.
std::string plain_number(double v);

// Both axes with their titles and grid: ticks at powers of `base`, of ten with 2 and 5 between where those are few, at
// even distances where even so there are less than three.
std::string axes(const Scale& x, const Scale& y, const std::string& x_title, const std::string& y_title,
                 std::string (*x_label)(double) = plain_number, std::string (*y_label)(double) = plain_number,
                 double base = 10);

}  // namespace kaiten

#endif  // KAITEN_REPORT_AXES_H
