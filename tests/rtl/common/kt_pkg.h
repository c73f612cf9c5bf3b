// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Structs of kt_pkg as ports of a verilated model: packed, the last field in the lowest bits.
#ifndef KAITEN_TESTS_RTL_COMMON_KT_PKG_H
#define KAITEN_TESTS_RTL_COMMON_KT_PKG_H

#include <cstddef>
#include <cstdint>

#include "program/command_fields.h"

namespace kaiten::test {

// Words of a command's body: its bits behind the header.
inline constexpr std::size_t kBodyWords = (kCommandBytes * 8 - kHeaderBits) / 32;

// command_t: index, operation, body
template <class Port, class Body>
void set_command(Port& port, std::uint32_t index, int op, const Body& body) {
  static_assert((kCommandBytes * 8 - kHeaderBits) % 32 == 0);
  for (std::size_t i = 0; i < kBodyWords; i++) port[i] = body[i];
  port[kBodyWords] = static_cast<std::uint32_t>(op) | (index & 0xffffff) << 4;
}
template <class Port>
int op_of(const Port& command) {
  return static_cast<int>(command[kBodyWords] & 15);
}
template <class Port>
std::uint32_t index_of(const Port& command) {
  return command[kBodyWords] >> 4 & 0xffffff;
}

// engine_error_t
struct EngineError {
  bool bus = false, illegal = false, corrupt = false;
  std::uint32_t index = 0;  // of the command
  std::uint32_t row = 0;    // the corrupt one

  EngineError() = default;
  explicit EngineError(std::uint64_t port)
      : bus(port >> 36 & 1),
        illegal(port >> 35 & 1),
        corrupt(port >> 34 & 1),
        index(port >> 10 & 0xffffff),
        row(port & 0x3ff) {}
  std::uint64_t port() const {
    return std::uint64_t{bus} << 36 | std::uint64_t{illegal} << 35 | std::uint64_t{corrupt} << 34 |
           std::uint64_t{index} << 10 | row;
  }
};

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_RTL_COMMON_KT_PKG_H
