// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten explore` tells: the accelerators of a space that no other one beats, as text, JSON and a page.
#ifndef KAITEN_REPORT_EXPLORE_REPORT_H
#define KAITEN_REPORT_EXPLORE_REPORT_H

#include <cstdint>
#include <string>
#include <vector>

#include "explore/area.h"
#include "explore/search.h"
#include "explore/space.h"

namespace kaiten {

struct ExploreReport {
  struct Network {
    std::string name;
    std::uint64_t macs = 0;  // of an image
    std::size_t group = 0;   // of networks that share weights and with them PB
  };

  std::vector<Network> networks;
  std::vector<explore::Candidate> candidates;
  std::vector<explore::Resources> areas;  // of each
  explore::Resources budget;              // 0: any
  explore::Family family;                 // of FPGAs
  double bytes_per_cycle = 0;             // of the memory, 0: as much as the bus
  double clock_mhz = 0;                   // 0: none
  explore::Found found;
  std::vector<explore::Residual> residuals;  // of the area model
};

std::string to_text(const ExploreReport& report, std::size_t width = 0);
std::string to_html(const ExploreReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_EXPLORE_REPORT_H
