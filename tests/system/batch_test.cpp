// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Batches on the RTL: a span's weights are loaded once for several images, every tensor of every image is
// compared, and each image's outputs are those of a run of its own.

#include <gtest/gtest.h>

#include <algorithm>

#include "import/import.h"
#include "run/session.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/support/source_file.h"
#include "tests/system/random_network.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

std::vector<Int8Values> draw_batch(const Graph& graph, int images, std::mt19937_64& random) {
  std::vector<Int8Values> inputs;
  for (; images > 0; images--) {
    for (Int8Values& one : test::draw_inputs(graph, random)) inputs.push_back(std::move(one));
  }
  return inputs;
}

class Batch : public testing::TestWithParam<std::string> {};

// Any capacities, cuts and sizes of commands.
TEST_P(Batch, RandomNetworks) {
  const Config& config = preset(GetParam());
  std::mt19937_64 random(test::seed() * 5077 + std::uint64_t(config.kp));
  const auto device = test::make_device(config.name, random());
  const int networks = config.name == "nano" ? 40 : 12;
  int ran = 0;
  for (int attempt = 0; ran < networks && attempt < 4 * networks && !HasFailure(); attempt++) {
    const std::uint64_t seed = random();
    const test::GraphBuilder g = test::random_network(seed, 14, 30, 9);
    CompileOptions options;
    options.keep_on_chip = random() % 5 != 0;
    options.block_pixels = random() % 3 == 0 ? int(1 + random() % 40) : 0;
    options.reserve = {int(random() % unsigned(config.sb_depth)), int(random() % unsigned(config.vb_depth))};
    for (int op = 0; random() % 2 == 0 && op + 1 < int(g.graph.ops.size()); op++) options.cuts.push_back(op);
    options.images = int(1 + random() % 3);
    if (!refusals(g.graph, config, options).empty()) continue;
    test::draw_timing(*device, random);
    SCOPED_TRACE("network of seed " + std::to_string(seed) + ", " + std::to_string(options.images) +
                 " images, memory " + test::timing_text(device->memory().options()));
    const auto inputs = draw_batch(g.graph, options.images, random);
    try {
      const auto batch = test::run_on(*device, g.graph, config, options, inputs);
      const std::size_t each = g.graph.inputs.size();
      const int images = std::exchange(options.images, 1);
      std::vector<Int8Values> alone;
      for (std::size_t i = 0; i < std::size_t(images); i++) {
        const auto one =
            test::run_on(*device, g.graph, config, options, std::span(inputs).subspan(i * each, each));
        alone.insert(alone.end(), one.outputs.begin(), one.outputs.end());
      }
      EXPECT_EQ(batch.outputs, alone);
      ran++;
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_EQ(ran, networks);
}

struct Counted {
  std::uint64_t weights, parameters, activations;
};

Counted run_batch(const std::string& file, const SessionOptions& options, std::mt19937_64& random,
                  int runs = 1) {
  Session session(require_graph(import_file(file)), options);
  Counted counted{};
  for (; runs > 0; runs--) {
    const RunResult result = session.run(draw_batch(session.graph(), options.batch, random));
    EXPECT_TRUE(result.report.exact.value_or(false)) << result.report.difference;
    counted = {result.report.bytes.weights, result.report.bytes.parameters,
               result.report.bytes.activations + result.report.bytes.written};
  }
  return counted;
}

// Weights and parameters once, images and outputs as often as there are images.
TEST_P(Batch, WeightsOnce) {
  std::vector<std::string> files{test::source_file("models/demo/demo.tflite")};
  if (const auto shared = test::shared_dir()) {
    files.push_back(*shared / "models/tflite/mlperf-tiny/pretrainedResnet_quant.tflite");
  }
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    std::mt19937_64 random(test::seed());
    const Counted one = run_batch(file, {.config = GetParam()}, random);
    for (const int images : {2, 3}) {
      const Counted b = run_batch(file, {.config = GetParam(), .batch = images}, random);
      EXPECT_EQ(b.weights, one.weights);
      EXPECT_EQ(b.parameters, one.parameters);
      EXPECT_EQ(b.activations, std::uint64_t(images) * one.activations);
    }
    // Later runs find what fits on chip.
    const Counted kept = run_batch(file, {.config = GetParam(), .keep_weights = true, .batch = 2}, random, 2);
    if (GetParam() == "base") {
      EXPECT_EQ(kept.weights, 0U);
    } else {
      EXPECT_LT(kept.weights, one.weights);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, Batch, testing::Values("nano", "base"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kaiten
