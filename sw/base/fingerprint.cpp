// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/fingerprint.h"

namespace kaiten {

std::string Fingerprint::text() const {
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[value_ >> shift & 15U];
  return digits;
}

}  // namespace kaiten
