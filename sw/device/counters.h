// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a device counted in a run.
#ifndef KAITEN_DEVICE_COUNTERS_H
#define KAITEN_DEVICE_COUNTERS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "device/csr.h"

namespace kaiten {

/// The counters of the last run, named as in docs/formats/registers.md. A plain value.
class Counters {
 public:
  static constexpr std::size_t kCount = std::size(csr::kCounters);  ///< of counters
  std::array<std::uint64_t, kCount> values{};                       ///< in the order of csr::kCounters

  /// The counter of a name. Throws std::out_of_range for a name that does not exist.
  std::uint64_t operator[](std::string_view name) const;
};

}  // namespace kaiten

#endif  // KAITEN_DEVICE_COUNTERS_H
