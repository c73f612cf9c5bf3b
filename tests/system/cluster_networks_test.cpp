// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Large networks on several chips: exact, as fast as the model says, and each image loads again the weights that the plan
// says, no others.

#include <gtest/gtest.h>

#include <ostream>
#include <random>

#include "cluster/cluster.h"
#include "generate/networks.h"
#include "import/import.h"

namespace kaiten::cluster {
namespace {

struct Case {
  const char* network;
  int size;  // pixels of the image
  const char* config;
  int chips;
  Mode mode;
  Optimise optimise;
  int images;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.network << '_' << c.config << '_' << c.chips << (c.mode == Mode::kData ? "_data" : "_stap")
       << (c.optimise == Optimise::kTime ? "_time" : "");
}

#ifdef KAITEN_LONG
const Case kCases[] = {{"resnet18", 224, "small", 4, Mode::kStap, Optimise::kBytes, 12},
                       {"resnet18", 224, "small", 4, Mode::kStap, Optimise::kTime, 20},
                       {"resnet18", 224, "small", 4, Mode::kData, Optimise::kBytes, 20},
                       {"resnet50", 224, "base", 8, Mode::kStap, Optimise::kBytes, 12},
                       {"vgg19", 224, "base", 8, Mode::kStap, Optimise::kBytes, 6}};
#else
const Case kCases[] = {{"resnet18", 64, "small", 4, Mode::kStap, Optimise::kBytes, 6}};
#endif

class Networks : public testing::TestWithParam<Case> {};

TEST_P(Networks, RunAsPlanned) {
  const Case& c = GetParam();
  const Graph graph = require_graph(import_tflite(generate::make_network(c.network, c.size, 1), c.network));
  const Topology topology = one_switch(c.chips, c.config);
  const Pipeline pipeline = plan_pipeline(graph, topology, {.mode = c.mode, .optimise = c.optimise});
  std::mt19937_64 random(1);
  std::vector<Int8Values> inputs(std::size_t(c.images),
                                 Int8Values(graph.tensors[std::size_t(graph.inputs.front())].bytes()));
  for (Int8Values& values : inputs) {
    for (auto& v : values) v = std::int8_t(random());
  }
  RunOptions options;
  options.threads = 2;
  const ClusterResult result = run_cluster(graph, pipeline, topology, inputs, options);
  EXPECT_TRUE(result.exact) << result.difference;
  std::printf(
      "%zu stages, period %.0f (model %.0f), latency %.0f (model %.0f), %.0f bytes of weights again\n",
      pipeline.stages.size(), result.period, pipeline.period, result.latency, pipeline.latency,
      pipeline.reloaded);
  ASSERT_GT(result.period, 0);
  EXPECT_NEAR(result.period / pipeline.period, 1, 0.01);
  EXPECT_NEAR(result.latency / pipeline.latency, 1, 0.01);
  double reloaded = 0;  // of an image through all stages
  for (const ChipResult& chip : result.chips) {
    if (chip.replica > 0) continue;
    ASSERT_GT(chip.counts.images, 1);
    reloaded += double(chip.counts.weights) / (chip.counts.images - 1);
  }
  EXPECT_EQ(reloaded, pipeline.reloaded);
}

INSTANTIATE_TEST_SUITE_P(OnChips, Networks, testing::ValuesIn(kCases),
                         [](const auto& info) { return testing::PrintToString(info.param); });

}  // namespace
}  // namespace kaiten::cluster
