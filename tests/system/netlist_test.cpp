// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The whole configuration `micro` as yosys maps it to three FPGA families (scripts/netlist.py), every cell replaced by its
// simulation model, beside the RTL it was made from: whole networks give the same outputs and the same counters under the same
// random memory, and the outputs are those of the reference executor.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "Vmicro_cyclonev.h"
#include "Vmicro_cyclonev___024root.h"
#include "Vmicro_ecp5.h"
#include "Vmicro_ecp5___024root.h"
#include "Vmicro_xc7.h"
#include "Vmicro_xc7___024root.h"
#include "import/import.h"
#include "tests/support/shared.h"
#include "tests/support/source_file.h"
#include "tests/system/same_run.h"

namespace kaiten {
namespace {

template <class Top>
void compare(const Graph& graph) {
  std::mt19937_64 random(test::seed());
  const Counters counters = test::expect_the_rtl_s_run<Top>("micro", graph, {}, random);
  std::printf("%s: %llu cycles\n", graph.name.c_str(), (unsigned long long)counters["cycles"]);
}

template <class Top>
class Netlist : public testing::Test {};

using Families = testing::Types<Vmicro_xc7, Vmicro_cyclonev, Vmicro_ecp5>;
TYPED_TEST_SUITE(Netlist, Families);

TYPED_TEST(Netlist, RunsMnist) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: TinyMaix MNIST does not run";
  compare<TypeParam>(require_graph(import_file(*shared / "models/tflite/tinymaix/mnist_valid_q.tflite")));
}

TYPED_TEST(Netlist, RunsTheDemoNetwork) {
  compare<TypeParam>(require_graph(import_file(test::source_file("models/demo/demo.tflite"))));
}

}  // namespace
}  // namespace kaiten
