// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The offload model on a network small enough to be worked out by hand, on branches, and its general laws on
// the tables of the paper's networks.
#include "offload/offload.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "offload/densities.h"
#include "plan/table.h"
#include "tests/support/source_file.h"

namespace kaiten::offload {
namespace {

plan::Network table(const std::string& layers) {
  return plan::read_table(
      R"({"name": "toy", "input": {"height": 10, "width": 10, "channels": 1}, "layers": [)" + layers + "]}",
      "toy.json");
}

constexpr const char* kChain = R"(
  {"name": "a", "op": "conv", "kernel": [1, 1], "stride": [1, 1], "pad": [0, 0, 0, 0], "channels": 4},
  {"name": "b", "op": "conv", "kernel": [1, 1], "stride": [1, 1], "pad": [0, 0, 0, 0], "channels": 4},
  {"name": "p", "op": "pool", "kernel": [2, 2], "stride": [2, 2], "pad": [0, 0, 0, 0]},
  {"name": "f", "op": "fc", "channels": 2})";

// One operation a second, memory without end (but for what the test asks), one byte a second over the link.
Options unit_options() {
  Options o;
  o.device = {"unit", 1, 1e30};
  o.link_bytes_per_second = 1;
  o.compress_bytes_per_second = 1e9;
  o.aware_bytes_per_second = 1e9;
  o.element_bits = 8;
  return o;
}

TEST(Offload, ByHand) {
  // Maps: image 100, a 400, b 400, p 100, f 2. Operations: a 800, b 3200, p 0, f 400. b sends a's map, p b's,
  // f p's.
  const plan::Network n = table(kChain);
  const Result r = simulate(n, {0.5, 0.25, 0.75, 1}, unit_options());
  ASSERT_EQ(r.policies.size(), 4U);
  const Policy &vdnn = r.policies[0], &cdma = r.policies[1], &oracle = r.policies[3];
  EXPECT_DOUBLE_EQ(oracle.seconds, 800 + 3200 + 400 + 800 + 6400 + 800);
  EXPECT_DOUBLE_EQ(oracle.stall_seconds, 0);
  EXPECT_DOUBLE_EQ(vdnn.link_bytes, 900);
  // Forward: b hides its 400, p has nothing to hide 400 behind, f hides 100. Back: p's map waits for nothing,
  // f brings b's 400 while it takes 800, p nothing while 400 of a come.
  EXPECT_DOUBLE_EQ(vdnn.stall_seconds, 400 + 100 + 400);
  EXPECT_EQ(vdnn.stalls, (std::vector<double>{0, 0, 800, 100}));
  EXPECT_DOUBLE_EQ(vdnn.seconds, oracle.seconds + vdnn.stall_seconds);
  // 8 / (8 d + 1): 1.6, 8 / 3, 8 / 7.
  EXPECT_DOUBLE_EQ(cdma.link_bytes, 400 / 1.6 + 400 * 3 / 8.0 + 100 * 7 / 8.0);
  EXPECT_DOUBLE_EQ(cdma.stall_seconds, 150 + 87.5 + 250);
  EXPECT_DOUBLE_EQ(r.density(), (200 + 100 + 75) / 900.0);
  EXPECT_DOUBLE_EQ(r.ratio(), 900 / cdma.link_bytes);
  EXPECT_DOUBLE_EQ(r.best_ratio(), 8 / 3.0);
}

TEST(Offload, ReadingLimitsTheCompressingDma) {
  Options o = unit_options();
  o.aware_bytes_per_second = 2;  // at most twice as fast as the link
  const Result r = simulate(table(kChain), {0.5, 0.25, 0.75, 1}, o);
  EXPECT_DOUBLE_EQ(r.policies[2].link_bytes, r.policies[1].link_bytes);
  EXPECT_DOUBLE_EQ(r.policies[2].stall_seconds, 200 + 87.5 + 250);
}

TEST(Offload, MemoryBoundLayers) {
  Options o = unit_options();
  o.device.bytes_per_second = 1;
  o.batch = 2;
  const Result r = simulate(table(kChain), {1, 1, 1, 1}, o);
  EXPECT_DOUBLE_EQ(r.steps[0].forward_seconds,
                   1600 + 1600);  // operations; then the ReLU reads and writes 800
  EXPECT_DOUBLE_EQ(r.steps[0].backward_seconds, 1600 + 2400);
  EXPECT_DOUBLE_EQ(r.steps[2].forward_seconds, 800 + 200);
  EXPECT_DOUBLE_EQ(r.steps[2].backward_seconds, 2000);
  EXPECT_DOUBLE_EQ(r.steps[3].forward_seconds,
                   800 > 200 + 200 + 4 ? 800 : 404);  // no ReLU behind the last layer
}

TEST(Offload, BranchesSendAMapOnce) {
  const plan::Network n = table(R"(
    {"name": "a", "op": "conv", "kernel": [1, 1], "stride": [1, 1], "pad": [0, 0, 0, 0], "channels": 4},
    {"name": "l", "op": "conv", "kernel": [1, 1], "stride": [1, 1], "pad": [0, 0, 0, 0], "channels": 2, "from": "a"},
    {"name": "r", "op": "conv", "kernel": [1, 1], "stride": [1, 1], "pad": [0, 0, 0, 0], "channels": 3, "from": "a"},
    {"name": "c", "op": "concat", "from": ["l", "r"]},
    {"name": "f", "op": "fc", "channels": 2})");
  const Result r = simulate(n, {1, 1, 1, 1, 1}, unit_options());
  std::vector<double> raw;
  for (const Step& s : r.steps) raw.push_back(s.raw_bytes);
  // a with its last reader, the concatenation as a whole with f, neither part.
  EXPECT_EQ(raw, (std::vector<double>{0, 0, 400, 0, 500}));
  EXPECT_THROW(simulate(n, {1}, unit_options()), InputError);
}

TEST(Offload, LawsOnThePapersNetworks) {
  for (const char* name : {"alexnet", "overfeat", "nin", "vgg16", "squeezenet", "googlenet"}) {
    std::ifstream file(test::source_file(std::string("models/tables/") + name + ".json"));
    std::stringstream text;
    text << file.rdbuf();
    const plan::Network n = plan::read_table(text.str(), name);
    const auto known = known_densities(n.name);
    ASSERT_TRUE(known) << n.name;
    ASSERT_EQ(known->layers.size(), n.layers.size());
    std::vector<double> density;
    for (const plan::Layer& l : n.layers) density.push_back(known->layers.at(l.name));
    Options o;
    o.device = devices().back();
    o.batch = known->batch;
    double last = 1e300;
    for (const double link : {4e9, 12.8e9, 40e9}) {
      o.link_bytes_per_second = link;
      const Result r = simulate(n, density, o);
      const auto& p = r.policies;
      // From no compression to an ideal link.
      EXPECT_GT(p[0].seconds, p[2].seconds);
      EXPECT_GE(p[2].seconds, p[1].seconds);
      EXPECT_GE(p[1].seconds, p[3].seconds);
      EXPECT_LE(p[0].seconds / p[1].seconds, r.best_ratio());
      EXPECT_LT(p[0].seconds, last);
      last = p[0].seconds;
      for (const Policy& policy : p) EXPECT_NEAR(policy.seconds - policy.stall_seconds, p[3].seconds, 1e-9);
    }
    // Nothing to gain in dense maps.
    const Result dense = simulate(n, std::vector<double>(n.layers.size(), 1), o);
    EXPECT_DOUBLE_EQ(dense.policies[0].link_bytes, dense.policies[1].link_bytes);
    EXPECT_DOUBLE_EQ(dense.ratio(), 1);
  }
}

TEST(Densities, OfTheTextOfThePaper) {
  const auto alexnet = known_densities("AlexNet");
  ASSERT_TRUE(alexnet);
  EXPECT_EQ(alexnet->batch, 256);
  EXPECT_NEAR(alexnet->layers.at("conv1"), 0.5, 0.02);
  EXPECT_GT(alexnet->layers.at("pool1"), alexnet->layers.at("conv1"));
  EXPECT_LT(alexnet->layers.at("fc6"), alexnet->layers.at("conv5"));
  EXPECT_FALSE(known_densities("ResNet-50"));
}

TEST(Densities, Files) {
  const Densities d = read_densities(R"({"batch": 8, "layers": {"a": 0.5, "b": 1}})", "d.json");
  EXPECT_EQ(d.batch, 8);
  EXPECT_EQ(d.layers.at("b"), 1);
  for (const char* bad :
       {"[]", "{}", R"({"layers": 3})", R"({"layers": {"a": 1.5}})", R"({"layers": {"a": "x"}})",
        R"({"layers": {}, "batch": 0})", R"({"layers": {}, "batch": 1.5})", R"({"layers": {}, "images": 1})"})
    EXPECT_THROW(read_densities(bad, "d.json"), InputError) << bad;
}

}  // namespace
}  // namespace kaiten::offload
