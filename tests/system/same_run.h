// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A network on a verilated model made from the RTL by another way, beside the RTL itself.
#ifndef KAITEN_TESTS_SYSTEM_SAME_RUN_H
#define KAITEN_TESTS_SYSTEM_SAME_RUN_H

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "device/driver.h"
#include "reference/reference.h"
#include "sim/sim_model.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"

namespace kaiten::test {

struct Outcome {
  std::vector<Int8Values> outputs;
  Counters counters;
};

inline Outcome run_on(sim::SimDevice& device, const std::string& config, const Graph& graph,
                      const CompileOptions& options, std::span<const Int8Values> inputs) {
  Driver driver(device, graph, compile(graph, preset(config), options), {});
  Outcome run{driver.run(inputs), {}};
  run.counters = driver.read_counters();
  return run;
}

template <class Top>
void evaluate(Top& top) {
  top.eval();
}

// `Top` computes the outputs of the reference executor, with the outputs and all counters of the RTL of that configuration under the
// same random memory and inputs. Returns the counters.
template <class Top>
Counters expect_the_rtl_s_run(const std::string& config, const Graph& graph, const CompileOptions& options,
                              std::mt19937_64& random) {
  const auto inputs = draw_inputs(graph, random);
  const auto original = make_device(config, seed());
  sim::SimModel<Top, sim::NoTrace, evaluate<Top>> other(
      {original->memory().options(), false, "", 0, UINT64_MAX});
  EXPECT_EQ(read_config(other).name, config);
  std::mt19937_64 timing(random()), same = timing;
  draw_timing(*original, timing);
  draw_timing(other, same);
  const Outcome expected = run_on(*original, config, graph, options, inputs);
  const Outcome run = run_on(other, config, graph, options, inputs);
  const auto reference = run_reference(graph, inputs);
  for (std::size_t o = 0; o < graph.outputs.size(); o++) {
    EXPECT_EQ(run.outputs[o], reference[std::size_t(graph.outputs[o])]) << "output " << o;
  }
  EXPECT_EQ(run.outputs, expected.outputs);
  EXPECT_EQ(run.counters.values, expected.counters.values);
  return run.counters;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SYSTEM_SAME_RUN_H
