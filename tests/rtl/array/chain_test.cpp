// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// chain_of of the RTL, which rows are built by, beside Config::chain, which the cycle model and the proofs from port to port add by:
// for every size there may be.
#include <gtest/gtest.h>

#include "Vchain.h"
#include "program/config.h"
#include "verilated.h"

namespace kaiten::test {
namespace {

TEST(Chain, IsTheSameInSoftware) {
  VerilatedContext context;
  Vchain top(&context);
  for (int cp : {2, 4, 8, 16}) {
    for (bool two : {false, true}) {
      top.cp_i = CData(cp);
      top.two_pixels_i = two;
      top.eval();
      Config config;
      config.cp = cp;
      config.two_pixels = two;
      EXPECT_EQ(int(top.chain_o), config.chain()) << "CP " << cp << ", two pixels " << two;
    }
  }
}

}  // namespace
}  // namespace kaiten::test
