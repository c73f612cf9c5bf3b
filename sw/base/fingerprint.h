// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Tells the work of one run from that of another: FNV-1a over what it depends on, 64 bits. No protection against a forger.
#ifndef KAITEN_BASE_FINGERPRINT_H
#define KAITEN_BASE_FINGERPRINT_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kaiten {

class Fingerprint {
 public:
  void add(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t b : bytes) value_ = (value_ ^ b) * 0x100000001b3U;
  }
  // With an end, so that ("ab", "c") differs from ("a", "bc").
  void add(std::string_view text) {
    add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    constexpr std::uint8_t kEnd = 0;
    add({&kEnd, 1});
  }
  // 16 hexadecimal digits.
  std::string text() const;

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace kaiten

#endif  // KAITEN_BASE_FINGERPRINT_H
