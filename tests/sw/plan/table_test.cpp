// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layer tables: what is read, and what is wrong with those that cannot be.
#include "plan/table.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "plan/energy.h"
#include "plan/from_graph.h"
#include "plan/stap.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"

namespace kaiten::plan {
namespace {

const char* const kToy = R"({"name": "toy", "input": {"height": 224, "width": 224, "channels": 3},
 "layers": [{"name": "conv1", "op": "conv", "kernel": [7, 7], "stride": [2, 2], "pad": [3, 3, 3, 3], "channels": 64, "groups": 1},
            {"name": "pool1", "op": "pool", "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1, 1, 1]},
            {"name": "a", "op": "conv", "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1, 1, 1], "channels": 64, "groups": 1},
            {"name": "b", "op": "conv", "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1, 1, 1], "channels": 64, "groups": 1, "add": "pool1"}]})";

std::string error_of(const std::string& text, bool csv = false) {
  try {
    csv ? read_topology(text, "t") : read_table(text, "t");
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    return e.what();
  }
  return "";
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kToy;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Table, ReadsTheExample) {
  const Network n = read_table(kToy, "toy.json");
  ASSERT_EQ(n.layer_count(), 4);
  EXPECT_EQ(n.name, "toy");
  EXPECT_EQ(n.maps[1], (Map{112, 112, 64}));
  EXPECT_EQ(n.maps[4], (Map{56, 56, 64}));
  EXPECT_EQ(n.weight_elements(0), 7 * 7 * 3 * 64);
  EXPECT_EQ(n.weight_elements(1), 0);
  EXPECT_EQ(n.macs(2), 56 * 56 * 9 * 64 * 64);
  EXPECT_EQ(n.layers[3].adds, (std::vector<int>{2}));
  EXPECT_TRUE(n.outputs.empty());
}

TEST(Table, TellsWhereAndWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {with("\"channels\": 64,", "\"channels\": 0,"),
       "t:2:114: expected a number of output channels from 1 to 1048576, found 0"},
      {with("\"channels\": 64,", "\"channels\": -3,"), "found -3"},
      {with("\"channels\": 64,", "\"channels\": 1.5,"), "found 1.5"},
      {with("\"channels\": 64,", "\"channels\": 1e30,"), "found 1e30"},
      {with("\"channels\": 64,", "\"channels\": \"64\","), "found '64'"},
      {with("[7, 7]", "[7]"), "t:2:55: expected kernel [height, width], found a list of 1"},
      {with("[7, 7]", "7"), "expected kernel [height, width], found 7"},
      {with("[7, 7]", "[0, 7]"), "found 0"},
      {with("[7, 7]", "[900, 7]"),
       "t:2:13: layer 'conv1' (conv): limit: kernels inside the padded map, found: rows of 900 over 230"},
      {with("[2, 2]", "[2, 0]"), "t:2:77: expected a value of stride [down, right] from 1"},
      {with("\"conv\"", "\"convolution\""),
       "expected conv, depthwise, pool, global_pool, fc, add, mul or concat, found 'convolution'"},
      {with("\"kernel\": [3, 3], ", ""), "t:3:13: expected 'kernel' in this object, found none"},
      {with("\"a\"", "\"pool1\""), "t:4:22: expected a name of its own for each layer, found 'pool1' again"},
      {with("\"a\"", "\"input\""), "found 'input' again"},
      {with("\"add\": \"pool1\"", "\"add\": \"pool2\""),
       "t:5:134: expected the name of an earlier layer, found 'pool2', which no layer has"},
      {with("\"add\": \"pool1\"", "\"add\": \"b\""), "the layer itself: a cycle"},
      {with("\"op\": \"pool\"", "\"from\": \"b\", \"op\": \"pool\""),
       "t:3:39: expected the name of an earlier layer, found 'b', which depends on this one: a cycle"},
      {with("\"op\": \"conv\"", "\"pads\": 1, \"op\": \"conv\""),
       "expected one of name, op, kernel, stride, pad, dilation, channels, groups, from, add, found 'pads'"},
      {with("\"groups\": 1", "\"groups\": 2"),
       "limit: channels that groups divide, found: 2 groups of 3 and 64 channels"},
      {with("\"height\": 224", "\"height\": 0"), "t:1:37: expected a height from 1 to 1048576, found 0"},
      {with("{\"name\": \"toy\", ", "{\"name\": \"toy\", \"name\": \"toy\", "),
       "t:1:17: expected each name once"},
      {with("224, \"width\": 224, \"channels\": 3", "1000000, \"width\": 1000000, \"channels\": 1000000"),
       "expected at most 68719476736 elements"},
      {std::string(kToy) + "x", "expected the end of the file, found 'x'"},
      {"", "t:1:1: expected a value, found the end of the file"},
      {"{\"name\": ", "t:1:10: expected a value, found the end of the file"},
      {"{\"name\": \"a\nb\"}", "t:1:12: expected '\"' before the end of the line, found byte 10"},
      {"[]", "t:1:1: expected an object with name, input and layers, found a list of 0"},
      {"{\"name\": \"x\", \"input\": {\"height\": 1, \"width\": 1, \"channels\": 1}, \"layers\": []}",
       "expected at least one layer, found none"},
      {std::string(100000, '['), "expected at most 64 nested values"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_NE(error_of(text).find(expected), std::string::npos) << expected << "\n  " << error_of(text);
  }
  const std::string later = with("\"op\": \"pool\"", "\"from\": \"z\", \"op\": \"pool\"");
  std::string z = later;
  z.insert(z.rfind("]}"), R"(, {"name": "z", "op": "global_pool", "from": "input"})");
  EXPECT_NE(error_of(z).find("which stands later: layers stand in execution order"), std::string::npos)
      << error_of(z);
}

TEST(Table, ResidualEdgesHaveAProjection) {
  const auto block = [](int kernel, int stride, int from) {
    const std::string sides = std::to_string(from);
    return "{\"name\": \"x\", \"input\": {\"height\": " + sides + ", \"width\": " + sides +
           ", \"channels\": 4}, \"layers\": [{\"name\": \"c\", \"op\": \"conv\", \"kernel\": [" +
           std::to_string(kernel) + ", " + std::to_string(kernel) + "], \"stride\": [" +
           std::to_string(stride) + ", " + std::to_string(stride) +
           "], \"channels\": 8, \"add\": \"input\"}]}";
  };
  EXPECT_EQ(read_table(block(1, 2, 57), "t").maps[1].height, 29);
  EXPECT_EQ(read_table(block(5, 1, 8), "t").maps[1].height,
            4);  // every second row, which the layer does not step over
  EXPECT_NE(error_of(block(3, 1, 10))
                .find("layer 'c': limit: residual edges that a 1x1 projection fits to the output, "
                      "found: 10 rows for 8, of which stride 1 makes 10"),
            std::string::npos)
      << error_of(block(3, 1, 10));
  EXPECT_NE(error_of(block(3, 2, 57)).find("57 rows for 28, of which stride 2 makes 29"), std::string::npos);
}

TEST(Table, JoinsNameAllTheirInputs) {
  const auto join = [](const std::string& layers) {
    return "{\"name\": \"x\", \"input\": {\"height\": 8, \"width\": 8, \"channels\": 4}, \"layers\": [" +
           layers + "]}";
  };
  const std::string c = R"({"name": "c", "op": "conv", "kernel": [1, 1], "channels": 4})";
  const Network n = read_table(join(c + R"(, {"name": "j", "op": "concat", "from": ["input", "c"]})"), "t");
  EXPECT_EQ(n.maps[2].channels, 8);
  EXPECT_EQ(n.layers[1].inputs, (std::vector<int>{0, 1}));
  EXPECT_NE(error_of(join(c + R"(, {"name": "j", "op": "add"})"))
                .find("'from' with the names of all inputs of a stand-alone add, found none"),
            std::string::npos);
  EXPECT_NE(error_of(join(c + R"(, {"name": "j", "op": "mul", "from": ["c"]})")).find("found a list of 1"),
            std::string::npos);
  const std::string s = R"({"name": "s", "op": "conv", "kernel": [2, 2], "stride": [2, 2], "channels": 4})";
  EXPECT_NE(error_of(join(s + R"(, {"name": "j", "op": "add", "from": ["input", "s"]})"))
                .find("operands of equal shapes"),
            std::string::npos);
  // No layer reads a branch: it is an output too.
  EXPECT_EQ(
      read_table(
          join(c + R"(, {"name": "d", "op": "conv", "kernel": [1, 1], "channels": 2, "from": "input"})"), "t")
          .outputs,
      (std::vector<int>{1}));
}

TEST(Table, DamagedTablesNeverCrash) {
  std::mt19937_64 rng(kaiten::test::seed());
  int refused = 0;
  for (int t = 0; t < 4000; t++) {
    std::string text = kToy;
    for (int flips = 1 + int(rng() % 3); flips > 0; flips--) {
      const std::size_t at = rng() % text.size();
      switch (rng() % 3) {
        case 0:
          text[at] = char(rng());
          break;
        case 1:
          text.erase(at, 1 + rng() % 8);
          break;
        default:
          text.insert(at, 1, "0123456789-.,:\"[]{}e"[rng() % 20]);
      }
    }
    refused += !error_of(text).empty();
  }
  EXPECT_GT(refused, 2000);
}

TEST(Topology, ReadsChainsBranchesAndPools) {
  const std::string text =
      "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"
      "Conv1, 230, 230, 7, 7, 3, 64, 2,\n"
      "Conv2_dw, 58, 58, 3, 3, 64, 1, 1,\n"
      "Conv2_pw, 56, 56, 1, 1, 64, 128, 1,\n"
      "Branch, 56, 56, 1, 1, 64, 256, 2, 1:2,\n"
      "\n"
      "FC, 1, 1, 1, 1, 200704, 10, 1,\n";
  const Network n = read_topology(text, "dir/net.csv");
  EXPECT_EQ(n.name, "net");
  ASSERT_EQ(n.layer_count(), 6);
  EXPECT_EQ(n.maps[1], (Map{112, 112, 64}));
  EXPECT_EQ(n.layers[1].op, Op::kPool);  // 112 to 56: pooling, which such files leave out
  EXPECT_EQ(n.layers[2].op, Op::kDepthwise);
  EXPECT_EQ(n.layers[2].pad_top, 1);
  EXPECT_EQ(n.layers[4].inputs, (std::vector<int>{3}));
  EXPECT_EQ(n.layers[5].op, Op::kFc);
  EXPECT_EQ(n.outputs, (std::vector<int>{4}));
  EXPECT_NE(error_of("Conv1, 2, 3\n", true).find("t:1:1: expected the header of a SCALE-Sim topology"),
            std::string::npos);
  const std::string header = text.substr(0, text.find('\n') + 1);
  EXPECT_EQ(error_of(header + "a, 8, 8, 3, 3, 3, 4\n", true), "t:2:19: expected 8 columns, found 7");
  EXPECT_EQ(error_of(header + "a, 8, x, 3, 3, 3, 4, 1\n", true),
            "t:2:7: expected a number from 1 to 1048576, found 'x'");
  EXPECT_EQ(error_of(header + "a, 8, 8, 3, 3, 3, 4, 0\n", true),
            "t:2:22: expected a number from 1 to 1048576, found '0'");
  EXPECT_NE(error_of(header + "a, 8, 8, 3, 3, 3, 4, 1\nb, 6, 6, 3, 3, 7, 4, 1\n", true)
                .find("t:3:1: expected the channels of an earlier layer, found 7"),
            std::string::npos);
  EXPECT_NE(error_of(header, true).find("expected at least one layer"), std::string::npos);
}

TEST(FromGraph, KeepsLayersAndEdges) {
  kaiten::test::GraphBuilder g(3);
  const int in = g.input(8, 8, 4);
  const int a = g.conv(in, 8, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  const int b = g.conv(a, 8, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  const int c = g.add(b, a, Activation::Relu);
  const int d = g.mean(c);
  const int e = g.fully_connected(g.reshape(d, {1, 8}), 5, Activation::None);
  g.output(g.softmax(e));
  const Network n = network_of(g.graph);
  ASSERT_EQ(n.layer_count(), 5);  // neither reshape nor softmax
  EXPECT_EQ(n.layers[2].op, Op::kAdd);
  EXPECT_EQ(n.layers[4].op, Op::kFc);
  EXPECT_EQ(n.layers[4].number, 5);
  EXPECT_EQ(n.weight_elements(4), 40);
  EXPECT_TRUE(n.outputs.empty());
  const Network edges = with_residual_edges(n);
  ASSERT_EQ(edges.layer_count(), 4);
  EXPECT_EQ(edges.layers[1].adds, (std::vector<int>{1}));
  EXPECT_EQ(edges.layers[2].inputs, (std::vector<int>{2}));
  const Network layers = with_addition_layers(edges);
  ASSERT_EQ(layers.layer_count(), 5);
  EXPECT_EQ(layers.layers[2].op, Op::kAdd);
  EXPECT_EQ(layers.layers[2].inputs, (std::vector<int>{1, 2}));
  EXPECT_EQ(layers.maps, n.maps);
  EXPECT_EQ(without_classifier(edges).layer_count(), 3);
}

TEST(Stap, ThePapersExample) {
  const Pipeline p = replicate_for_period({15, 35, 40, 10}, 20);
  EXPECT_EQ(p.replicas, (std::vector<int>{1, 2, 2, 1}));
  EXPECT_EQ(p.period, 20);
  EXPECT_EQ(p.latency, 100);
  EXPECT_EQ(p.chips, 6);
  const Pipeline q = replicate_for_chips({15, 35, 40, 10}, 6);
  EXPECT_EQ(q.replicas, p.replicas);
  EXPECT_EQ(replicate_for_chips({15, 35, 40, 10}, 4).period, 40);
  EXPECT_THROW(replicate_for_chips({15, 35, 40, 10}, 3), InputError);
  EXPECT_THROW(replicate_for_period({1}, 0), InputError);
  EXPECT_THROW(replicate_for_period({1}, 1e-9), InputError);
}

TEST(Energy, OfBytesAndOperations) {
  const EnergyParameters p = default_energy();
  EXPECT_EQ(p.dram_picojoules_per_byte, 48);
  Network n;
  n.maps = {{1, 1, 1000}, {1, 1, 800}, {1, 1, 500}};
  n.layers.resize(2);
  Method m;
  m.spans.resize(2);
  m.spans[0].traffic_bytes = 1800;
  m.spans[1].first = m.spans[1].last = 1;
  m.spans[1].traffic_bytes = 1300;
  m.penalty_bytes = 200;
  m.traffic_bytes = 3300;
  m.macs = 1000000;
  EXPECT_EQ(link_bytes(n, m, 1), 900);  // map 1, and half of what is written and read
  const Energy e = energy_of(n, m, 1, true, p);
  EXPECT_DOUBLE_EQ(e.compute, 2e6 * 0.43e-9);
  EXPECT_DOUBLE_EQ(e.dram, 1500 * 48e-9);
  EXPECT_DOUBLE_EQ(e.link, 900 * 48e-9);
  EXPECT_DOUBLE_EQ(energy_of(n, m, 1, false, p).dram, 3300 * 48e-9);
  EXPECT_EQ(energy_of(n, m, 1, false, p).link, 0);
  EXPECT_EQ(read_energy("{\"link_picojoules_per_byte\": 7}", "e").link_picojoules_per_byte, 7);
  EXPECT_THROW(read_energy("{\"link_picojoules_per_byte\": -7}", "e"), InputError);
  EXPECT_THROW(read_energy("{\"link\": 7}", "e"), InputError);
}

}  // namespace
}  // namespace kaiten::plan
