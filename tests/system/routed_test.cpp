// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// `micro` as nextpnr placed and routed it (scripts/route.py, scripts/routed.py), every cell replaced by its simulation model, beside
// the RTL it was made from: the demo network gives the same outputs and the same counters under the same random memory, and the
// outputs are those of the reference executor.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "Vmicro_routed.h"
#include "Vmicro_routed___024root.h"
#include "import/import.h"
#include "tests/support/source_file.h"
#include "tests/system/same_run.h"

namespace kaiten {
namespace {

TEST(Routed, RunsTheDemoNetwork) {
  std::mt19937_64 random(test::seed());
  const Graph graph = require_graph(import_file(test::source_file("models/demo/demo.tflite")));
  const Counters counters = test::expect_the_rtl_s_run<Vmicro_routed>("micro", graph, {}, random);
  std::printf("%s: %llu cycles\n", graph.name.c_str(), (unsigned long long)counters["cycles"]);
}

}  // namespace
}  // namespace kaiten
