// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten compare` and the library's session find: with one weight of the model changed in the device
// only, the first difference is the one between two runs of the reference, layer by layer.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "compile/compiler.h"
#include "device/driver.h"
#include "import/import.h"
#include "observe/watcher.h"
#include "run/session.h"
#include "tests/support/seed.h"
#include "tests/support/source_file.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

Graph demo() { return require_graph(import_file(test::source_file("models/demo/demo.tflite"))); }

class Watching : public sim::ResultWatcher {
 public:
  explicit Watching(Watcher& watcher) : watcher_(watcher) {}
  void result(const sim::ResultWord& r) override {
    watcher_.result({r.command, int(r.tiles), int(r.rows), int(r.columns)}, r.data);
  }

 private:
  Watcher& watcher_;
};

// Where two tensors differ first, how often and by how much.
TensorComparison difference(const Graph& graph, int op, const Int8Values& found, const Int8Values& expected) {
  const int tensor = graph.ops[std::size_t(op)].output;
  const Nhwc s = graph.tensors[std::size_t(tensor)].nhwc();
  TensorComparison c{.tensor = tensor, .op = op, .seen = expected.size()};
  for (std::size_t i = 0; i < expected.size(); i++) {
    if (found[i] == expected[i]) continue;
    const int n = int(i);
    if (c.different++ == 0)
      c.first = {tensor, op, n / (s.w * s.c), n / s.c % s.w, n % s.c, double(expected[i]), double(found[i])};
    c.largest = std::max(c.largest, std::abs(double(found[i]) - double(expected[i])));
  }
  return c;
}

TEST(Compare, FindsTheFirstDifferenceOfEveryTensor) {
  std::mt19937_64 random(test::seed());
  const Graph graph = demo();
  const auto device = test::make_device("nano", 1);
  int found = 0;
  for (int i = 0; i < 12; i++) {
    // One weight of one layer becomes another one.
    Graph damaged = graph;
    std::vector<int> layers;
    for (std::size_t o = 0; o < graph.ops.size(); o++) {
      if (graph.ops[o].weights != kNoTensor) layers.push_back(int(o));
    }
    const int layer = layers[random() % layers.size()];
    auto& weights = damaged.tensors[std::size_t(graph.ops[std::size_t(layer)].weights)].data;
    std::uint8_t& weight = weights[random() % weights.size()];
    const std::uint8_t other = std::uint8_t(weight ^ 0x40);
    weight = other == 0x80 ? 0x7f : other;
    SCOPED_TRACE("weight of layer " + std::to_string(layer));

    const std::vector<Int8Values> inputs = test::draw_inputs(graph, random);
    const std::vector<Int8Values> expected = run_reference(graph, inputs);
    const std::vector<Int8Values> wrong = run_reference(damaged, inputs);
    const Program program = compile(damaged, preset("nano"));
    Driver driver(*device, damaged, program, RoundingStyle::LiteRt);
    Watcher watcher(graph, program, expected);
    Watching watching(watcher);
    device->watch(&watching);
    driver.run(inputs);
    device->watch(nullptr);

    std::optional<TensorComparison> first;
    for (const TensorComparison& c : watcher.comparisons()) {
      const TensorComparison want =
          difference(graph, c.op, wrong[std::size_t(c.tensor)], expected[std::size_t(c.tensor)]);
      EXPECT_EQ(c.seen, want.seen);
      EXPECT_EQ(c.different, want.different);
      EXPECT_EQ(c.largest, want.largest);
      EXPECT_EQ(c.different > 0 ? to_text(c.first, graph) : "",
                want.different > 0 ? to_text(want.first, graph) : "");
      if (want.different > 0 && !first) first = want;
    }
    if (first) {
      found++;
      EXPECT_GE(first->op, layer);
      EXPECT_EQ(watcher.verdict().find(to_text(first->first, graph)), 0U) << watcher.verdict();
    } else {
      EXPECT_EQ(watcher.verdict(), "");
    }
  }
  EXPECT_GT(found, 6);
}

TEST(Session, RunsChecksAndRepeats) {
  std::mt19937_64 random(test::seed());
  Session session(demo(), {.config = "nano"});
  const std::vector<Int8Values> inputs = test::draw_inputs(session.graph(), random);
  const RunResult first = session.run(inputs, {.labels = {"zero", "one"}});
  EXPECT_EQ(first.report.exact, true);
  EXPECT_EQ(first.report.outputs.at(0).top5.size(), 5U);
  EXPECT_TRUE(first.trace.empty());
  const RunResult second = session.run(inputs, {.check = false, .trace = true});
  EXPECT_EQ(second.outputs, first.outputs);
  EXPECT_EQ(second.report.cycles, first.report.cycles);
  EXPECT_FALSE(second.report.exact.has_value());
  EXPECT_FALSE(second.trace.empty());
  Session moved = std::move(session);
  // Somewhere a bit matters; some bytes are only padding.
  std::string difference;
  for (std::size_t byte = 0; byte < moved.program().constants.size() && difference.empty(); byte += 997) {
    moved.flip_constant_bit(byte, 6);
    const RunResult third = moved.run(inputs);
    moved.flip_constant_bit(byte, 6);
    difference = third.report.difference;
    EXPECT_EQ(third.report.exact, difference.empty());
  }
  EXPECT_NE(difference.find("layer '"), std::string::npos) << difference;
  EXPECT_EQ(moved.run(inputs).report.exact, true);
}

TEST(Session, NamesWhatIsWrong) {
  EXPECT_THROW(Session(demo(), {.config = "none"}), InputError);
  Session session(demo(), {.config = "nano"});
  EXPECT_THROW(session.run({}), InputError);
  EXPECT_THROW(session.flip_constant_bit(session.program().constants.size(), 0), InputError);
  EXPECT_THROW(session.flip_constant_bit(0, 8), InputError);
  session.set_progress([](const std::string&) { throw InputError("enough"); });
  EXPECT_THROW(session.run(std::vector<Int8Values>(1)), InputError);
}

}  // namespace
}  // namespace kaiten
