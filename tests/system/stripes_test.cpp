// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layers whose rows are longer than SB, VB, OB or a command: column stripes on the RTL, every tensor and all
// counters.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/seed.h"
#include "tests/system/random_network.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

bool in_stripes(const Program& program) {
  return std::any_of(program.meta.begin(), program.meta.end(),
                     [](const CommandMeta& m) { return m.first_column > 0; });
}

void run(sim::SimDevice& device, const Config& config, const Graph& graph, int images,
         std::mt19937_64& random) {
  CompileOptions options;
  options.images = images;
  test::Session session(device, graph, config, options);
  EXPECT_TRUE(in_stripes(session.program()));
  std::vector<Int8Values> inputs;
  for (; images > 0; images--) {
    for (Int8Values& one : test::draw_inputs(graph, random)) inputs.push_back(std::move(one));
  }
  session.run(inputs);
}

TEST(Stripes, WideMaps) {
  const Config& config = preset("nano");
  std::mt19937_64 random(test::seed());
  const auto device = test::make_device("nano", test::seed());
  {
    test::GraphBuilder g(test::seed());
    g.output(g.conv(g.input(3, 1024, 8), 6, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu));
    run(*device, config, g.graph, 1, random);
  }
  {
    // Images as windows of their rows, pools, a map as wide as no command.
    test::GraphBuilder g(test::seed() + 1);
    const int a = g.conv(g.input(9, 2100, 3), 5, 5, 5, 2, {2, 2, 2, 2}, Activation::None);
    g.output(g.pool(OpKind::MaxPool, a, 3, 3, 2, {1, 1, 1, 1}, Activation::None));
    run(*device, config, g.graph, 2, random);
  }
  {
    // Rows longer than VB, of layers on the vector engine and their additions.
    test::GraphBuilder g(test::seed() + 2);
    const int in = g.input(6, 300, 40);
    const int a = g.depthwise(in, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
    g.output(g.element(OpKind::Add, in, a, Activation::None));
    run(*device, config, g.graph, 1, random);
  }
}

TEST(Stripes, RandomNetworks) {
  const Config& config = preset("nano");
  std::mt19937_64 random(test::seed() * 331);
  const auto device = test::make_device("nano", random());
  int ran = 0;
  for (int attempt = 0; ran < 25 && attempt < 200 && !HasFailure(); attempt++) {
    test::GraphBuilder g(random());
    int t = g.input(g.uniform(2, 10), g.uniform(100, 300), g.uniform(1, 20));
    for (int n = g.uniform(1, 4); n > 0; n--) t = test::add_random_layer(g, t);
    g.output(t);
    CompileOptions options;
    options.images = g.uniform(1, 2);
    options.reserve = {g.uniform(0, 900), g.uniform(0, 400)};
    if (!refusals(g.graph, config, options).empty()) continue;
    test::draw_timing(*device, random);
    test::Session session(*device, g.graph, config, options);
    if (!in_stripes(session.program())) continue;
    std::vector<Int8Values> inputs;
    for (int i = 0; i < options.images; i++) {
      for (Int8Values& one : test::draw_inputs(g.graph, random)) inputs.push_back(std::move(one));
    }
    session.run(inputs);
    ran++;
  }
  EXPECT_EQ(ran, 25);
}

}  // namespace
}  // namespace kaiten
