// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layer tables, JSON and SCALE-Sim CSV: a network or InputError.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "plan/table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {kaiten::plan::read_table, kaiten::plan::read_topology}) {
    try {
      read(text, "table");
    } catch (const kaiten::InputError&) {
    }
  }
  return 0;
}
