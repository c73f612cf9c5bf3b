// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The generated Verilog-2005 file of the design (scripts/dropin.py) beside the SystemVerilog it was made from: the demo
// network, on chip, through memory and through memory compressed: the same outputs and the same counters, under the same
// random memory.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "Vkaiten_dropin.h"
#include "Vkaiten_dropin___024root.h"
#include "compile/compiler.h"
#include "device/driver.h"
#include "import/import.h"
#include "reference/reference.h"
#include "sim/sim_model.h"
#include "tests/support/seed.h"
#include "tests/support/source_file.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

constexpr const char* kConfig = "nano";

void evaluate(Vkaiten_dropin& top) { top.eval(); }

struct Outcome {
  std::vector<Int8Values> outputs;
  Counters counters;
};

Outcome run_on(sim::SimDevice& device, const Graph& graph, const CompileOptions& options,
               std::span<const Int8Values> inputs) {
  Driver driver(device, graph, compile(graph, preset(kConfig), options), {});
  Outcome run{driver.run(inputs), {}};
  run.counters = driver.read_counters();
  return run;
}

TEST(Dropin, RunsTheDemoNetwork) {
  const Graph graph = require_graph(import_file(test::source_file("models/demo/demo.tflite")));
  std::mt19937_64 random(test::seed());
  CompileOptions compressed;
  compressed.keep_on_chip = false;
  compressed.compress = Compress::kOn;
  CompileOptions in_memory = compressed;
  in_memory.compress = Compress::kOff;
  for (const CompileOptions& options : {CompileOptions{}, in_memory, compressed}) {
    const auto inputs = test::draw_inputs(graph, random);
    const auto original = test::make_device(kConfig, test::seed());
    sim::SimModel<Vkaiten_dropin, sim::NoTrace, evaluate> dropin(
        {original->memory().options(), false, "", 0, UINT64_MAX});
    EXPECT_EQ(read_config(dropin).name, kConfig);
    std::mt19937_64 timing(random()), same = timing;
    test::draw_timing(*original, timing);
    test::draw_timing(dropin, same);
    const Outcome expected = run_on(*original, graph, options, inputs);
    const Outcome run = run_on(dropin, graph, options, inputs);
    const auto reference = run_reference(graph, inputs);
    for (std::size_t o = 0; o < graph.outputs.size(); o++) {
      EXPECT_EQ(run.outputs[o], reference[std::size_t(graph.outputs[o])]) << "output " << o;
    }
    EXPECT_EQ(run.outputs, expected.outputs);
    EXPECT_EQ(run.counters.values, expected.counters.values);
    EXPECT_EQ(run.counters["zvc_written_packed"] > 0, options.compress == Compress::kOn);
  }
}

}  // namespace
}  // namespace kaiten
