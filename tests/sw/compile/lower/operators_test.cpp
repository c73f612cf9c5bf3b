// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/operators.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/source_file.h"

namespace kaiten {
namespace {

TEST(Operators, PageIsWhatTheCompilerChecks) {
  std::ifstream file(test::source_file("docs/compiler/operators.md"));
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), operators_page()) << "kaiten info --operators > docs/compiler/operators.md";
}

// Every kind has its row.
TEST(Operators, NamesEveryKind) {
  for (int k = 0; k <= int(OpKind::HostFloat); k++) {
    const std::string row = "| `" + std::string(name_of(OpKind(k))) + "` |";
    EXPECT_NE(operators_page().find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace kaiten
