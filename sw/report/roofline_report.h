// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten roofline` tells: SubNets under the roof of a machine, with and without PB, as text, JSON and a page.
#ifndef KAITEN_REPORT_ROOFLINE_REPORT_H
#define KAITEN_REPORT_ROOFLINE_REPORT_H

#include <string>
#include <vector>

#include "serve/roofline.h"

namespace kaiten {

struct RooflineReport {
  std::string supernet;
  int kernel = 0;  // 0: all layers
  double clock_mhz = 0;
  serve::Roof roof;
  std::vector<serve::RoofPoint> points;
};

std::string to_text(const RooflineReport& report, std::size_t width = 0);
std::string to_html(const RooflineReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_ROOFLINE_REPORT_H
