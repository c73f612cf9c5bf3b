// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The generated Verilog-2005 file of the design (scripts/dropin.py) beside the SystemVerilog it was made from: the demo
// network, on chip, through memory and through memory compressed: the same outputs and the same counters, under the same
// random memory.
#include <gtest/gtest.h>

#include <random>

#include "Vkaiten_dropin.h"
#include "Vkaiten_dropin___024root.h"
#include "import/import.h"
#include "tests/support/source_file.h"
#include "tests/system/same_run.h"

namespace kaiten {
namespace {

TEST(Dropin, RunsTheDemoNetwork) {
  const Graph graph = require_graph(import_file(test::source_file("models/demo/demo.tflite")));
  std::mt19937_64 random(test::seed());
  CompileOptions compressed;
  compressed.keep_on_chip = false;
  compressed.compress = Compress::kOn;
  CompileOptions in_memory = compressed;
  in_memory.compress = Compress::kOff;
  for (const CompileOptions& options : {CompileOptions{}, in_memory, compressed}) {
    const Counters counters = test::expect_the_rtl_s_run<Vkaiten_dropin>("nano", graph, options, random);
    EXPECT_EQ(counters["zvc_written_packed"] > 0, options.compress == Compress::kOn);
  }
}

}  // namespace
}  // namespace kaiten
