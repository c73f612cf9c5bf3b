// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Where the fields of kt_pkg::watch_t lie, as a Verilated model shows the struct: in one word, its last field lowest.
// tests/scripts/watch_test.py compares them with the RTL.
#ifndef KAITEN_SIM_WATCH_FIELDS_H
#define KAITEN_SIM_WATCH_FIELDS_H

#include <cstdint>

namespace kaiten::sim::watch_fields {

struct Field {
  int low;
  int bits;

  constexpr std::uint64_t of(std::uint64_t watch) const {
    return watch >> low & ((std::uint64_t{1} << bits) - 1);
  }
};

inline constexpr Field kTwo{55, 1};
inline constexpr Field kValid{54, 1};
inline constexpr Field kIndex{30, 24};
inline constexpr Field kColumns{20, 10};
inline constexpr Field kRows{10, 10};
inline constexpr Field kTiles{0, 10};

}  // namespace kaiten::sim::watch_fields

#endif  // KAITEN_SIM_WATCH_FIELDS_H
