// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of LOAD and STORE share: memory whose bytes follow from their address, command bodies as the engines
// get them, and access to ports of any width as bytes.
#ifndef KAITEN_TESTS_RTL_LOAD_STORE_LOAD_STORE_TEST_H
#define KAITEN_TESTS_RTL_LOAD_STORE_LOAD_STORE_TEST_H

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>

#include "program/command_fields.h"
#include "tests/rtl/common/kt_pkg.h"

namespace kaiten::test {

using Rng = std::mt19937_64;

// Uniform in low..high.
inline std::int64_t pick(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(high - low + 1));
}
inline bool percent(Rng& rng, int p) { return pick(rng, 0, 99) < p; }

// Indices as commands carry them, 24 bits: any, so that all bits are seen, and which command got one.
class CommandIndices {
 public:
  std::uint32_t draw(Rng& rng, std::int64_t command) {
    const auto index = static_cast<std::uint32_t>(pick(rng, 0, 0xffffff));
    commands_[index] = static_cast<int>(command);
    return index;
  }
  int command(std::uint32_t index) const { return commands_.at(index); }

 private:
  std::map<std::uint32_t, int> commands_;
};

// Contents of a memory of any size.
inline std::uint8_t memory_byte(std::uint64_t address, std::uint64_t salt) {
  std::uint64_t h = (address ^ salt) * 0x9E3779B97F4A7C15u;
  h ^= h >> 29;
  return static_cast<std::uint8_t>((h * 0xBF58476D1CE4E5B9u) >> 56);
}

// Bits of a command behind its header.
using Body = std::array<std::uint32_t, kBodyWords>;

template <class Command>
Body body_of(const Command& command) {
  Body body{};
  Command::fields(command, [&](const char*, std::int64_t value, int first, int bits, FieldKind kind) {
    auto v = static_cast<std::uint64_t>(value);
    if (kind == FieldKind::kWord) v = (v / 9) << 4 | v % 9;
    for (int b = 0; b < bits; b++) {
      const int at = first - kHeaderBits + b;
      body[at / 32] |= static_cast<std::uint32_t>(v >> b & 1) << (at % 32);
    }
  });
  return body;
}

// Ports are little endian in memory, whatever type Verilator gives them.
template <class Port>
void get_bytes(const Port& port, void* bytes, std::size_t n) {
  std::memcpy(bytes, &port, n);
}
template <class Port>
void set_bytes(Port& port, const void* bytes, std::size_t n) {
  std::memcpy(&port, bytes, n);
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_RTL_LOAD_STORE_LOAD_STORE_TEST_H
