// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Command words: what decodes is printed, and encodes to the same bytes again.
#include <algorithm>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "program/command.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaiten;
  const std::span bytes(data, size);
  Decoder decoder;
  for (std::size_t at = 0; at + kCommandBytes <= size; at += kCommandBytes) {
    const auto word = bytes.subspan(at).first<kCommandBytes>();
    try {
      const auto command = decoder.next(word);
      if (!command) continue;
      if (to_text(*command).empty()) __builtin_trap();
      const auto again = encode(*command);
      if (!std::equal(word.begin(), word.end(), again.begin())) __builtin_trap();
      if (!command->extension) continue;
      const auto before = encode(*command->extension);
      if (!std::equal(before.begin(), before.end(), bytes.begin() + std::ptrdiff_t(at) - kCommandBytes))
        __builtin_trap();
    } catch (const InputError&) {
      decoder = {};
    }
  }
  return 0;
}
