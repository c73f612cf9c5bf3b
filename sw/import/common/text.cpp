// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/common/text.h"

#include <algorithm>
#include <cstddef>
#include <sstream>

#include "base/error.h"
#include "base/text.h"

namespace kaiten::importing {

void fail(const std::string& what) { throw InputError("bad model file: " + what); }

std::string clean_name(std::string_view text) {
  constexpr std::size_t kMaxColumns = 120;
  std::string name = printable(text.substr(0, 4 * kMaxColumns));
  name = first_columns(name, kMaxColumns);
  std::replace(name.begin(), name.end(), '\'', '?');
  return name;
}

std::string number(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace kaiten::importing
