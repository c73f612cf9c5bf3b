// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The whole configuration `micro` as yosys maps it to three FPGA families (scripts/netlist.py), every cell replaced by its
// simulation model, beside the RTL it was made from: whole networks give the same outputs and the same counters under the same
// random memory, and the outputs are those of the reference executor.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "Vmicro_cyclonev.h"
#include "Vmicro_cyclonev___024root.h"
#include "Vmicro_ecp5.h"
#include "Vmicro_ecp5___024root.h"
#include "Vmicro_xc7.h"
#include "Vmicro_xc7___024root.h"
#include "compile/compiler.h"
#include "device/driver.h"
#include "import/import.h"
#include "reference/reference.h"
#include "sim/sim_model.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/support/source_file.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

constexpr const char* kConfig = "micro";

struct Outcome {
  std::vector<Int8Values> outputs;
  Counters counters;
};

Outcome run_on(sim::SimDevice& device, const Graph& graph, std::span<const Int8Values> inputs) {
  Driver driver(device, graph, compile(graph, preset(kConfig)), {});
  Outcome run{driver.run(inputs), {}};
  run.counters = driver.read_counters();
  return run;
}

template <class Top>
void evaluate(Top& top) {
  top.eval();
}

template <class Top>
void compare(const Graph& graph) {
  std::mt19937_64 random(test::seed());
  const auto inputs = test::draw_inputs(graph, random);
  const auto original = test::make_device(kConfig, test::seed());
  sim::SimModel<Top, sim::NoTrace, evaluate<Top>> mapped(
      {original->memory().options(), false, "", 0, UINT64_MAX});
  EXPECT_EQ(read_config(mapped).name, kConfig);
  std::mt19937_64 timing(random()), same = timing;
  test::draw_timing(*original, timing);
  test::draw_timing(mapped, same);
  const Outcome expected = run_on(*original, graph, inputs);
  const Outcome run = run_on(mapped, graph, inputs);
  const auto reference = run_reference(graph, inputs);
  for (std::size_t o = 0; o < graph.outputs.size(); o++) {
    EXPECT_EQ(run.outputs[o], reference[std::size_t(graph.outputs[o])]) << "output " << o;
  }
  EXPECT_EQ(run.counters.values, expected.counters.values);
  std::printf("%s: %llu cycles\n", graph.name.c_str(), (unsigned long long)run.counters["cycles"]);
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
