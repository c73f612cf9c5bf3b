// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/common/text.h"

#include <cstddef>
#include <sstream>

#include "base/error.h"

namespace kaiten::importing {

void fail(const std::string& what) { throw InputError("bad model file: " + what); }

std::string clean_name(std::string_view text) {
  constexpr std::size_t kMaxNameBytes = 120;
  std::string name;
  for (const char c : text.substr(0, kMaxNameBytes)) name += c >= ' ' && c <= '~' && c != '\'' ? c : '?';
  return name;
}

std::string number(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace kaiten::importing
