// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Where networks with operators on the host are cut: sections in order, each with what it needs, no more of them than
// needed, and one program as compile() makes it where nothing on the host lies between.
#include "compile/sections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "compile/lower/lower.h"
#include "reference/reference.h"
#include "tests/support/accelerator_model.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

using test::GraphBuilder;

enum class Step { Conv, Pool, Resize, Transpose, Minimum, Maximum, ReduceMax, PRelu };
constexpr int kSteps = 8;

bool on_device(Step step) { return step == Step::Conv || step == Step::Pool; }

// Rows and columns of the map in the other order.
int transpose(GraphBuilder& b, int in) {
  const Nhwc s = b.graph.tensors[std::size_t(in)].nhwc();
  const int out = b.slice(in, {0, 0, 0, 0}, {1, s.w, s.h, s.c});
  b.graph.ops.back().kind = OpKind::Rearrange;
  b.graph.ops.back().dims = {0, s.w, s.c, s.h, s.w * s.c, s.c, 1};
  return out;
}

// A map of 6x6 with 4 channels again, whatever the step; `other` has the same scale as `in`, for two operands.
int take(GraphBuilder& b, Step step, int in, int other) {
  const auto pair = [&](OpKind kind, int second) {
    const int out = b.slice(in, {}, b.graph.tensors[std::size_t(in)].shape);
    b.graph.ops.back().kind = kind;
    b.graph.ops.back().inputs.push_back(second);
    return out;
  };
  switch (step) {
    case Step::Conv:
      return b.conv(in, 4, 3, 3, 1, {1, 1, 1, 1}, b.activation());
    case Step::Pool:
      return b.pool(OpKind::MaxPool, in, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
    case Step::Resize:
      return b.resize(in, 6, 6, true);
    case Step::Transpose:
      return transpose(b, in);
    case Step::Minimum:
      return pair(OpKind::Minimum, other);
    case Step::Maximum:
      return pair(OpKind::Maximum, other);
    case Step::ReduceMax: {
      b.slice(in, {}, {1, 6, 6, 1});
      b.graph.ops.back().kind = OpKind::ReduceMax;
      b.graph.ops.back().dims = {3};
      const int one = b.graph.ops.back().output;
      return b.conv(one, 4, 1, 1, 1, {}, Activation::None);
    }
    case Step::PRelu:
      return pair(OpKind::PRelu, b.constant({4}));
  }
  return in;
}

// The section's program on the model of the accelerator leaves what the host reads of it.
void expect_program(const Section& s, const std::vector<Int8Values>& values) {
  test::AcceleratorModel accelerator(preset("nano"), test::seed());
  const auto clear = [&](Base base, std::int64_t bytes) {
    accelerator.memory(int(base)).assign(std::size_t(bytes), 0x55);
  };
  accelerator.set_wb_split(s.program.wb_split);
  accelerator.memory(int(Base::kConstants)) = s.program.constants;
  clear(Base::kActivations, s.program.activation_bytes);
  clear(Base::kInputs, s.program.input_bytes);
  clear(Base::kOutputs, s.program.output_bytes);
  for (const MemoryTensor& t : s.program.inputs) {
    const Int8Values& v = values[std::size_t(t.tensor)];
    std::copy(v.begin(), v.end(), accelerator.memory(t.layout.base).begin() + t.layout.offset);
  }
  accelerator.run(s.program.command_bytes());
  for (const MemoryOutput& t : s.program.outputs)
    EXPECT_EQ(t.gather(accelerator.memory(int(Base::kOutputs))), values[std::size_t(t.tensor)]) << t.tensor;
}

// Every operator once; each section reads what the network or earlier sections give, and gives what later ones and the
// network's user read: the sections, run so, compute what the network does.
void expect_sound(const Graph& graph, const std::vector<Section>& sections, GraphBuilder& b) {
  const std::vector<Int8Values> inputs = b.random_inputs();
  const std::vector<Int8Values> expected = run_reference(graph, inputs);
  std::map<int, Int8Values> there;
  for (std::size_t i = 0; i < inputs.size(); i++) there[graph.inputs[i]] = inputs[i];
  std::set<int> seen;
  for (const Section& s : sections) {
    ASSERT_EQ(s.ops.size(), s.graph->ops.size());
    for (std::size_t i = 0; i < s.ops.size(); i++) {
      EXPECT_TRUE(seen.insert(s.ops[i]).second);
      EXPECT_EQ(s.graph->ops[i].name, graph.ops[std::size_t(s.ops[i])].name);
    }
    EXPECT_TRUE(std::is_sorted(s.ops.begin(), s.ops.end()));
    std::vector<Int8Values> given;
    for (const int t : s.graph->inputs) {
      ASSERT_TRUE(there.contains(t)) << "tensor " << t;
      given.push_back(there[t]);
    }
    const std::vector<Int8Values> made = run_reference(*s.graph, given);
    for (const int t : s.graph->outputs) there[t] = made[std::size_t(t)];
    const bool works = std::any_of(s.graph->ops.begin(), s.graph->ops.end(),
                                   [&](const Op& op) { return !needs_host(*s.graph, op); });
    EXPECT_EQ(!s.program.commands.empty(), works);
    if (sections.size() > 1) EXPECT_TRUE(works) << "a program without commands";
    if (works) expect_program(s, made);
  }
  EXPECT_EQ(seen.size(), graph.ops.size());
  for (const int t : graph.outputs) {
    ASSERT_TRUE(there.contains(t));
    EXPECT_EQ(there[t], expected[std::size_t(t)]);
  }
}

TEST(Sections, ChainsAreCutWhereTheDeviceTakesOverAgain) {
  for (std::uint64_t round = 0; round < 100; round++) {
    GraphBuilder b(test::seed() + round);
    int t = b.input(6, 6, 4);
    std::size_t cuts = 0;
    bool device_before = false, host_since = false;
    for (int n = b.uniform(1, 9); n > 0; n--) {
      const auto step = Step(b.uniform(0, kSteps - 1));
      t = take(b, step, t, t);
      if (on_device(step) || step == Step::ReduceMax) {  // that ends on the device
        host_since = host_since || step == Step::ReduceMax;
        cuts += device_before && host_since ? 1 : 0;
        device_before = true;
        host_since = false;
      } else {
        host_since = true;
      }
    }
    b.output(t);
    const CompiledSections compiled = try_compile_sections(b.graph, preset("nano"));
    ASSERT_TRUE(compiled.refusals.empty()) << compiled.refusals.front();
    EXPECT_EQ(compiled.sections.size(), cuts + 1) << "round " << round;
    expect_sound(b.graph, compiled.sections, b);
  }
}

TEST(Sections, NetworksWithBranches) {
  for (std::uint64_t round = 0; round < 100; round++) {
    GraphBuilder b(test::seed() + 1000 + round);
    std::vector<int> maps = {b.input(6, 6, 4)};
    if (b.uniform(0, 1) == 1) maps.push_back(b.input(6, 6, 4));
    const auto any = [&] { return maps[std::size_t(b.uniform(0, int(maps.size()) - 1))]; };
    for (int n = b.uniform(3, 12); n > 0; n--) {
      const int from = any();
      switch (b.uniform(0, 5)) {
        case 0:
          maps.push_back(b.add(from, any(), b.activation()));
          break;
        case 1:
          maps.push_back(b.table(from));
          break;
        case 2: {
          const int flat = b.reshape(from, {1, 144});
          maps.push_back(b.reshape(flat, {1, 6, 6, 4}));
          break;
        }
        default:
          maps.push_back(take(b, Step(b.uniform(0, kSteps - 1)), from, from));
      }
    }
    b.output(maps.back());
    for (int n = b.uniform(0, 2); n > 0; n--) {
      const int t = any();
      const bool input = std::count(b.graph.inputs.begin(), b.graph.inputs.end(), t) != 0;
      const bool twice = std::count(b.graph.outputs.begin(), b.graph.outputs.end(), t) != 0;
      if (!input && !twice) b.output(t);
    }
    const CompiledSections compiled = try_compile_sections(b.graph, preset("nano"));
    ASSERT_TRUE(compiled.refusals.empty()) << compiled.refusals.front();
    expect_sound(b.graph, compiled.sections, b);
  }
}

// What follows a tail that stays on the host belongs to the same program.
TEST(Sections, OneWhereFunctionsLieBetweenOperatorsOnTheHost) {
  GraphBuilder b(test::seed());
  int t = take(b, Step::Conv, b.input(6, 6, 4), 0);
  for (int n = 0; n < 3; n++) t = b.table(take(b, Step::Resize, t, t));
  b.output(take(b, Step::Transpose, t, t));
  const CompiledSections compiled = try_compile_sections(b.graph, preset("nano"));
  ASSERT_TRUE(compiled.refusals.empty()) << compiled.refusals.front();
  ASSERT_EQ(compiled.sections.size(), 1U);
  expect_sound(b.graph, compiled.sections, b);
}

TEST(Sections, OneWhereNothingOnTheHostLiesBetween) {
  for (std::uint64_t round = 0; round < 50; round++) {
    GraphBuilder b(test::seed() + 2000 + round);
    int t = b.input(6, 6, 4);
    if (b.uniform(0, 1) == 1) t = transpose(b, t);  // before the device
    for (int n = b.uniform(1, 5); n > 0; n--) t = take(b, Step(b.uniform(0, 1)), t, t);
    if (b.uniform(0, 1) == 1) t = b.resize(t, 9, 5, true);  // after it
    b.output(t);
    b.graph.notes = {"of the importer"};
    const Program whole = compile(b.graph, preset("nano"));
    const std::vector<Section> sections = compile_sections(b.graph, preset("nano"));
    ASSERT_EQ(sections.size(), 1U);
    const Program& program = sections[0].program;
    EXPECT_EQ(program.command_bytes(), whole.command_bytes());
    EXPECT_EQ(program.constants, whole.constants);
    EXPECT_EQ(program.activation_bytes, whole.activation_bytes);
    EXPECT_EQ(program.input_bytes, whole.input_bytes);
    EXPECT_EQ(program.output_bytes, whole.output_bytes);
    EXPECT_EQ(program.notes, whole.notes);
    EXPECT_EQ(program.inputs.size(), whole.inputs.size());
    EXPECT_EQ(program.outputs.size(), whole.outputs.size());
    expect_sound(b.graph, sections, b);
  }
}

}  // namespace
}  // namespace kaiten
