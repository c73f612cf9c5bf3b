// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Energy and time of a plan. The parameters are those of energy.json (Occam, section V-B2: DRAM and link 6 pJ
/// a bit, 0.43 pJ an INT8 operation); a file of the same keys may replace them.
#ifndef KAITEN_PLAN_ENERGY_H
#define KAITEN_PLAN_ENERGY_H

#include <string>
#include <string_view>

#include "plan/network.h"
#include "plan/plan.h"

namespace kaiten::plan {

/// Positive, at most 1e12. Those of energy.json come from default_energy().
struct EnergyParameters {
  double dram_picojoules_per_byte = 0;          ///< of off-chip traffic
  double link_picojoules_per_byte = 0;          ///< between chips
  double compute_picojoules_per_operation = 0;  ///< of an INT8 operation
  double operations_per_mac = 0;                ///< multiplication and addition: 2
  double chip_macs_per_cycle = 0;               ///< of a chip in analytic mode
  double memory_bytes_per_cycle = 0;            ///< for the roofline
};

/// Those of energy.json.
EnergyParameters default_energy();
/// A JSON object with any of the members above as keys; the others are those of default_energy(). `file` is what errors
/// call the text. Throws InputError with file, line and column.
EnergyParameters read_energy(std::string_view text, const std::string& file);

/// Millijoules an image or batch.
struct Energy {
  double compute = 0;                                     ///< multiply-accumulates
  double dram = 0;                                        ///< off-chip memory
  double link = 0;                                        ///< between chips
  double total() const { return compute + dram + link; }  ///< of all three
};

/// Bytes that pass between chips when every span has one: each map once, though it is written and read.
std::int64_t link_bytes(const Network& network, const Method& method, int batch);

/// `chained`: the spans sit on chips of their own, so that what passes between them crosses a link; otherwise,
/// and for image and output, DRAM.
Energy energy_of(const Network& network, const Method& method, int batch, bool chained,
                 const EnergyParameters& p);

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_ENERGY_H
