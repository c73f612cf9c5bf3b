// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Compiled networks on the model of the accelerator, compared with the reference in every element of every tensor.
#include "compile/compiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "base/error.h"
#include "compile/compile_lowering.h"
#include "compile/lower/balance_engines.h"
#include "import/import.h"
#include "observe/row_poison.h"
#include "observe/watcher.h"
#include "tests/support/accelerator_model.h"
#include "tests/support/graph_builder.h"
#include "tests/support/prune.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

using test::GraphBuilder;

void run_program(const Graph& graph, const Program& program, std::span<const Int8Values> inputs,
                 RoundingStyle rounding, test::AcceleratorModel& accelerator) {
  // The spans account for every byte, and for every operator of the device.
  std::int64_t moved = 0;
  for (const CommandMeta& m : program.meta) moved += m.read_bytes + m.written_bytes;
  for (const SpanInfo& s : program.spans) moved -= s.weights_bytes + s.activation_bytes;
  EXPECT_EQ(moved, 0);
  ASSERT_EQ(program.spans.empty(), program.commands.empty());  // views of inputs need none
  const std::vector<Int8Values> expected = run_reference_batch(graph, program.images, inputs, rounding);
  const auto of_image = [&](int image, int tensor) -> const Int8Values& {
    return expected[std::size_t(image) * graph.tensors.size() + std::size_t(tensor)];
  };
  accelerator.set_wb_split(program.wb_split);
  accelerator.memory(int(Base::kConstants)) = program.constants;
  accelerator.memory(int(Base::kActivations)).assign(std::size_t(program.activation_bytes), 0x55);
  accelerator.memory(int(Base::kInputs)).assign(std::size_t(program.input_bytes), 0x55);
  accelerator.memory(int(Base::kOutputs)).assign(std::size_t(program.output_bytes), 0x55);
  for (int image = 0; image < program.images; image++) {
    for (const MemoryTensor& t : program.inputs) {
      const Int8Values& values = of_image(image, t.tensor);  // of the graph, or of the host in front
      const MemoryLayout m = t.layout.of_image(image);
      std::copy(values.begin(), values.end(), accelerator.memory(m.base).begin() + m.offset);
    }
  }
  Watcher watcher(graph, program, expected);
  accelerator.set_watch(
      [&](std::uint32_t command, int tiles, int rows, int columns, std::span<const std::int8_t> channels) {
        watcher.result({command, tiles, rows, columns}, channels);
      });
  const std::vector<std::uint8_t> bytes = program.command_bytes();
  RowPoison poison(program, [&](Buffer buffer, int begin, int end) {
    accelerator.spoil(buffer == Buffer::kVb, begin, end);
  });
  accelerator.set_completed(
      [&](std::span<const std::uint32_t, kQueues> counts) { poison.completed(counts); });
  accelerator.run(bytes);
  accelerator.set_completed({});
  EXPECT_EQ(watcher.verdict(), "");
  for (int image = 0; image < program.images; image++) {
    for (const MemoryOutput& t : program.outputs) {
      EXPECT_EQ(t.gather(accelerator.memory(int(Base::kOutputs)), image), of_image(image, t.tensor));
    }
  }
}

void run_on_model(const Graph& graph, std::span<const Int8Values> inputs, const Config& config,
                  const CompileOptions& options, std::uint64_t seed) {
  test::AcceleratorModel accelerator(config, seed);
  run_program(graph, compile(graph, config, options), inputs, options.rounding, accelerator);
}

// The same with all on the array that can be there, however long that takes: how many operators that is.
int run_balanced_on_model(const Graph& graph, std::span<const Int8Values> inputs, const Config& config,
                          const CompileOptions& options, std::uint64_t seed) {
  Lowering lowering = lower_or_throw(graph, config, options);
  const auto on_vector = [&] {
    return std::count_if(lowering.ops.begin(), lowering.ops.end(), [](const LoweredOp& op) {
      return op.engine == Engine::kWindow || op.engine == Engine::kAdd;
    });
  };
  const auto before = on_vector();
  balance_engines({graph, config, options.rounding}, lowering, EngineMoves::kAll);
  const auto after = on_vector();
  test::AcceleratorModel accelerator(config, seed);
  run_program(graph, compile_lowering(graph, config, std::move(lowering), options), inputs, options.rounding,
              accelerator);
  return int(before - after);
}

// Plans that cannot be the best get no commands: the program is that of all plans with commands.
void expect_the_best_of_all(const Graph& graph, const Config& config, const CompileOptions& options) {
  const Program program = compile(graph, config, options);
  const Program all =
      compile_lowering(graph, config, lower_or_throw(graph, config, options), options, PlansTried::kAll);
  EXPECT_EQ(program.command_bytes(), all.command_bytes());
  EXPECT_EQ(program.modelled_cycles, all.modelled_cycles);
  EXPECT_EQ(program.constants, all.constants);
}

std::int64_t weight_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (const CommandMeta& m : program.meta) {
    if (m.kind == CommandMeta::Bytes::kWeights) bytes += m.read_bytes;
  }
  return bytes;
}

// All but commands.
std::int64_t payload_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (const CommandMeta& m : program.meta) bytes += m.read_bytes + m.written_bytes;
  return bytes;
}

// An accelerator whose memories are so small that most things must be split.
Config tiny() {
  Config c = preset("unit");
  c.name = "tiny";
  c.wb_rows = 160;
  c.vwb_rows = 12;
  c.sb_depth = 96;
  c.vb_depth = 64;
  c.ob_pixels = 32;
  c.zsb_array = 32;
  c.zsb_vector = 48;
  return c;
}

Config one_of_three(std::uint64_t i) {
  return i % 3 == 0 ? tiny() : i % 3 == 1 ? preset("nano") : preset("unit");
}

int random_layer(GraphBuilder& g, int in) {
  const Nhwc s = g.graph.tensors[std::size_t(in)].nhwc();
  for (;;) {
    const int kind = g.uniform(0, 7);
    int kh = g.uniform(1, 3);
    int kw = g.uniform(0, 2) ? kh : g.uniform(1, 3);
    if (kind > 1 || g.uniform(0, 3) == 0) {
      kh = g.uniform(1, 8);
      kw = g.uniform(1, 8);
    }
    const int stride = kind <= 1 && g.uniform(0, 2) ? g.uniform(1, 2) : g.uniform(1, kind <= 1 ? 5 : 3);
    Padding pad = g.padding(s.h, s.w, kh, kw, stride);
    if (window_outputs(s.h, pad.top, pad.bottom, kh, stride) < 1 ||
        window_outputs(s.w, pad.left, pad.right, kw, stride) < 1)
      continue;
    const bool touches =
        (window_outputs(s.h, pad.top, pad.bottom, kh, stride) - 1) * stride - pad.top < s.h &&
        (window_outputs(s.w, pad.left, pad.right, kw, stride) - 1) * stride - pad.left < s.w;
    if (kind > 1 && !touches) continue;
    switch (kind) {
      case 0:
      case 1:
        return g.conv(in, g.uniform(1, 40), kh, kw, stride, pad, g.activation());
      case 2:
        return g.depthwise(in, kh, kw, stride, pad, g.activation());
      case 3:
      case 4: {
        // Windows wholly outside the map have no average.
        pad.top = std::min(pad.top, s.h - 1);
        pad.left = std::min(pad.left, s.w - 1);
        const int oh = window_outputs(s.h, pad.top, pad.bottom, kh, stride);
        const int ow = window_outputs(s.w, pad.left, pad.right, kw, stride);
        if (oh < 1 || ow < 1 || (oh - 1) * stride - pad.top >= s.h || (ow - 1) * stride - pad.left >= s.w)
          continue;
        return g.pool(kind == 3 ? OpKind::AveragePool : OpKind::MaxPool, in, kh, kw, stride, pad,
                      g.activation());
      }
      case 5:
        return g.element_with_constant(in, g.activation());
      case 6:
        return g.table(in);
      default:
        return g.element(g.uniform(0, 1) ? OpKind::Sub : OpKind::Mul, in, in, g.activation());
    }
  }
}

TEST(Compiler, SingleLayers) {
  for (std::uint64_t i = 0; i < 300; i++) {
    SCOPED_TRACE("layer " + std::to_string(i));
    GraphBuilder g(test::seed() * 1000 + i);
    g.uint8 = i % 4 == 0;
    const int in = g.input(g.uniform(1, 12), g.uniform(1, 12), g.uniform(1, 30));
    int out = 0;
    switch (i % 10) {
      case 8:
        out = g.fully_connected(in, g.uniform(1, 20), g.activation());
        break;
      case 9:
        out = i % 3 == 0 ? g.mean(in) : g.mean(in, int(i % 3));
        break;
      default:
        out = random_layer(g, in);
    }
    g.output(out);
    run_on_model(g.graph, g.random_inputs(), i % 2 ? preset("nano") : preset("unit"), {}, i);
    if (testing::Test::HasFailure()) break;
  }
}

// Squeeze and excite: a map times one pixel that was made from it.
TEST(Compiler, BroadcastsAPixel) {
  for (std::uint64_t i = 0; i < 30; i++) {
    GraphBuilder g(test::seed() * 500 + i);
    const int in = g.input(g.uniform(1, 9), g.uniform(1, 9), g.uniform(1, 40));
    const int map = g.conv(in, g.uniform(1, 40), 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
    const Nhwc s = g.graph.tensors[std::size_t(map)].nhwc();
    const int pixel = g.conv(g.reshape(g.mean(map), {1, 1, 1, s.c}), s.c, 1, 1, 1, {}, Activation::None);
    static constexpr OpKind kKinds[] = {OpKind::Mul, OpKind::Sub, OpKind::Add};
    const bool first = g.uniform(0, 1) == 1;
    g.output(g.element(kKinds[i % 3], first ? pixel : map, first ? map : pixel, g.activation()));
    CompileOptions options;
    options.keep_on_chip = i % 4 != 0;
    run_on_model(g.graph, g.random_inputs(), i % 2 ? preset("nano") : tiny(), options, i);
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Compiler, SumsOfSeveralMaps) {
  int run = 0;
  for (std::uint64_t i = 0; i < 120; i++) {
    SCOPED_TRACE("sums " + std::to_string(i));
    GraphBuilder g(test::seed() * 600 + i);
    if (i % 20 == 0) g.graph.framework = Framework::Onnx;
    g.output(test::sums(g));
    CompileOptions options;
    options.keep_on_chip = i % 4 != 0;
    options.compress = i % 3 == 0 ? Compress::kOn : Compress::kOff;
    const Config config = one_of_three(i);
    if (!refusals(g.graph, config, options).empty()) continue;  // maps beyond the tiny accelerator
    run++;
    run_on_model(g.graph, g.random_inputs(), config, options, i);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(run, 100);
}

// Convolutions on images: row-flattened where that costs fewer cycles.
TEST(Compiler, Stems) {
  int flattened = 0;
  for (std::uint64_t i = 0; i < 150; i++) {
    SCOPED_TRACE("stem " + std::to_string(i));
    GraphBuilder g(test::seed() * 5000 + i);
    const int h = g.uniform(8, 20);
    const int w = g.uniform(8, 20);
    const int in = g.input(h, w, g.uniform(1, 4));
    const int kernel = g.uniform(2, 8);
    const int stride = g.uniform(1, 4);
    Padding pad;
    if (i % 3 == 1) pad = GraphBuilder::same(h, w, kernel, kernel, stride);
    if (i % 3 == 2)
      pad = {g.uniform(0, kernel - 1), g.uniform(0, kernel - 1), g.uniform(0, kernel - 1),
             g.uniform(0, kernel - 1)};
    int out = g.conv(in, g.uniform(1, 12), kernel, kernel, stride, pad, g.activation());
    if (i % 4 == 0) out = g.add(out, out, g.activation());
    g.output(out);
    if (i % 5 == 0) g.output(g.conv(in, 4, 1, 1, 1, {}, g.activation()));  // a second reader, of plain pixels
    const Config config = i % 2 ? preset("nano") : preset("unit");
    const Program program = compile(g.graph, config, {});
    flattened += std::any_of(program.commands.begin(), program.commands.end(), [](const Command& c) {
      const auto* load = std::get_if<LoadRowsCommand>(&c.body);
      return load && load->step_bytes > 0;
    });
    run_on_model(g.graph, g.random_inputs(), config, {}, i);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(flattened, 50);
}

// Rule float: the layers of an ONNX graph that have one factor.
TEST(Compiler, FloatLayers) {
  for (std::uint64_t i = 0; i < 100; i++) {
    SCOPED_TRACE("layer " + std::to_string(i));
    GraphBuilder g(test::seed() * 3000 + i);
    g.output(test::float_layer(g));
    run_on_model(g.graph, g.random_inputs(), i % 2 ? preset("nano") : preset("unit"), {}, i);
    if (testing::Test::HasFailure()) break;
  }
}

// Chains with branches, on machines that keep everything, some and nothing on chip.
TEST(Compiler, RandomNetworks) {
  int run = 0;
  for (std::uint64_t i = 0; i < 150; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 7000 + i);
    g.uint8 = i % 4 == 0;
    std::vector<int> tensors{g.input(g.uniform(4, 14), g.uniform(4, 14), g.uniform(1, 20))};
    for (int n = g.uniform(2, 8); n > 0; n--) {
      const int in =
          g.uniform(0, 3) ? tensors.back() : tensors[std::size_t(g.uniform(0, int(tensors.size()) - 1))];
      int out = -1;
      // An addition with an earlier tensor of the same shape, where there is one.
      if (g.uniform(0, 2) == 0) {
        for (int other : tensors) {
          if (other != in &&
              g.graph.tensors[std::size_t(other)].shape == g.graph.tensors[std::size_t(in)].shape) {
            static constexpr OpKind kKinds[] = {OpKind::Add, OpKind::Add, OpKind::Sub, OpKind::Mul};
            out = g.element(kKinds[g.uniform(0, 3)], in, other, g.activation());
            break;
          }
        }
      }
      if (out < 0 && g.uniform(0, 2) == 0) {
        const Nhwc s = g.graph.tensors[std::size_t(in)].nhwc();
        out = g.conv(in, g.uniform(0, 1) ? s.c : g.uniform(1, 30), 3, 3, 1, {1, 1, 1, 1}, g.activation());
      }
      if (out < 0) out = random_layer(g, in);
      tensors.push_back(out);
    }
    if (g.uniform(0, 1))
      tensors.push_back(g.fully_connected(tensors.back(), g.uniform(1, 12), Activation::None));
    g.output(tensors.back());
    if (g.uniform(0, 3) == 0 && tensors.size() > 3) g.output(tensors[2]);
    const auto inputs = g.random_inputs();
    CompileOptions options;
    options.keep_on_chip = i % 5 != 0;
    options.compress = i % 2 == 0 || i % 5 == 0 ? Compress::kOn : Compress::kOff;
    options.order = OperatorOrder(i % 7 % 3);
    options.optimise = i % 4 == 1 ? Optimise::kTime : Optimise::kBytes;
    options.block_pixels = i % 3 == 0 ? g.uniform(1, 40) : 0;
    options.rounding = i % 2 ? RoundingStyle::Tflm : RoundingStyle::LiteRt;
    const Config config = one_of_three(i);
    if (!refusals(g.graph, config, options).empty()) continue;
    run++;
    run_on_model(g.graph, inputs, config, options, i);
    expect_the_best_of_all(g.graph, config, options);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(run, 60);
}

// Operators of single values, between others, all on the array: of float rules, of uint8 models, with weights' zero points.
TEST(Compiler, SingleValuesOnTheArray) {
  int moved = 0;
  for (std::uint64_t i = 0; i < 100; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 29000 + i);
    g.uint8 = i % 4 == 0;
    if (i % 5 == 1) g.graph.framework = Framework::Onnx;
    int last = g.input(g.uniform(1, 14), g.uniform(1, 14), g.uniform(1, 40));
    for (int n = g.uniform(1, 4); n > 0; n--) {
      const Nhwc s = g.graph.tensors[std::size_t(last)].nhwc();
      const int kind = g.uniform(0, 3);
      const int before = last;
      if (kind == 0) last = g.table(last);
      if (kind == 1) last = g.quantize(last);
      if (kind == 2) last = g.element(OpKind::Mul, last, g.constant({s.c}), g.activation());
      if (kind == 3) last = g.depthwise(last, 1, 1, 1, {}, g.activation());
      if (g.uniform(0, 2) == 0) last = g.add(last, before, g.activation());
      if (g.uniform(0, 2) == 0) last = g.conv(last, g.uniform(1, 40), 1, 1, 1, {}, g.activation());
    }
    g.output(last);
    CompileOptions options;
    options.keep_on_chip = i % 3 != 0;
    options.images = 1 + int(i % 2);
    const Config config = one_of_three(i / 2);
    if (!refusals(g.graph, config, options).empty()) continue;
    std::vector<Int8Values> inputs;
    for (int image = 0; image < options.images; image++) inputs.push_back(g.random_inputs()[0]);
    moved += run_balanced_on_model(g.graph, inputs, config, options, i);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(moved, 60);
}

// Each ranking is the better one in what it ranks by; that by time knows the schedule layer by layer, too.
TEST(Compiler, RanksPlansByBytesOrTime) {
  int faster = 0;
  for (std::uint64_t i = 0; i < 40; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 23000 + i);
    int last = g.input(g.uniform(8, 20), g.uniform(8, 20), g.uniform(1, 12));
    for (int n = g.uniform(3, 8); n > 0; n--)
      last = g.conv(last, g.uniform(4, 40), 3, 3, 1, {1, 1, 1, 1}, g.activation());
    g.output(last);
    CompileOptions options;
    options.images = g.uniform(1, 3);
    const Config config = i % 2 ? tiny() : preset("unit");
    if (!refusals(g.graph, config, options).empty()) continue;
    const Program bytes = compile(g.graph, config, options);
    expect_the_best_of_all(g.graph, config, options);
    options.optimise = Optimise::kTime;
    expect_the_best_of_all(g.graph, config, options);
    const Program time = compile(g.graph, config, options);
    options.keep_on_chip = false;
    const Program per_layer = compile(g.graph, config, options);
    EXPECT_LE(payload_bytes(bytes), payload_bytes(time));
    EXPECT_LE(time.modelled_cycles, bytes.modelled_cycles);
    EXPECT_LE(time.modelled_cycles, per_layer.modelled_cycles);
    faster += time.modelled_cycles < bytes.modelled_cycles;
  }
  EXPECT_GE(faster, 1);
}

std::int64_t moved_weight_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (const CommandMeta& m : program.meta) {
    if (m.kind == CommandMeta::Bytes::kWeights) bytes += m.bytes_read();
  }
  return bytes;
}

// Weights of zero do not cross the bus, in rings that end anywhere, batches and kept weights too; other
// weights are as they were without compression.
TEST(Compiler, CompressesSparseWeights) {
  int smaller = 0, kept = 0;
  for (std::uint64_t i = 0; i < 60; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 9100 + i);
    g.uint8 = i % 4 == 0;
    int t = g.input(g.uniform(4, 10), g.uniform(4, 10), g.uniform(4, 40));
    for (int n = g.uniform(2, 4); n > 0; n--) t = random_layer(g, t);
    g.output(g.fully_connected(t, g.uniform(1, 40), Activation::None));
    const unsigned zeros = i % 3 == 0 ? 90 : i % 3 == 1 ? 50 : 0;
    const Graph graph = test::pruned(g.graph, zeros, i);
    CompileOptions options;
    options.images = int(1 + i % 2);
    const Config config = i % 4 < 2 ? tiny() : preset("nano");
    if (!refusals(graph, config, options).empty()) continue;
    std::vector<Int8Values> inputs;
    for (int image = 0; image < options.images; image++) {
      for (Int8Values& one : g.random_inputs()) inputs.push_back(std::move(one));
    }
    const Program raw = compile(graph, config, options);
    for (const Compress compress : {Compress::kOn, Compress::kAuto}) {
      options.compress = compress;
      const Program program = compile(graph, config, options);
      EXPECT_EQ(weight_bytes(program), weight_bytes(raw));
      EXPECT_LE(moved_weight_bytes(program), weight_bytes(raw));
      smaller += zeros > 0 && moved_weight_bytes(program) < weight_bytes(raw) * 3 / 4;
      test::AcceleratorModel accelerator(config, i);
      run_program(graph, program, inputs, options.rounding, accelerator);
    }
    const KeptPrograms both = compile_kept(graph, config, options);
    test::AcceleratorModel accelerator(config, i);
    run_program(graph, both.first, inputs, options.rounding, accelerator);
    run_program(graph, both.again, inputs, options.rounding, accelerator);
    kept += moved_weight_bytes(both.again) < moved_weight_bytes(both.first);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(smaller, 20);
  EXPECT_GE(kept, 20);
}

// Where every weight is something, nothing changes.
TEST(Compiler, LeavesDenseWeightsAlone) {
  GraphBuilder g(test::seed() * 9200);
  int t = g.input(8, 8, 16);
  for (int i = 0; i < 3; i++) t = g.conv(t, 32, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  g.output(g.fully_connected(t, 40, Activation::None));
  for (const Op& op : g.graph.ops) {
    for (std::uint8_t& w : g.graph.tensors[std::size_t(op.weights)].data) w |= 1;
  }
  CompileOptions options;
  const Program off = compile(g.graph, preset("nano"), options);
  options.compress = Compress::kAuto;
  const Program on = compile(g.graph, preset("nano"), options);
  EXPECT_EQ(on.command_bytes(), off.command_bytes());
  EXPECT_EQ(on.constants, off.constants);
}

// Whatever the partition and the capacity, the same values come out; what the planner counted is what is
// moved.
TEST(Compiler, AnyPartitionGivesTheSameValues) {
  int run = 0;
  for (std::uint64_t i = 0; i < 120; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 9000 + i);
    g.uint8 = i % 4 == 3;
    std::vector<int> tensors{g.input(g.uniform(6, 20), g.uniform(4, 14), g.uniform(1, 12))};
    for (int n = g.uniform(3, 9); n > 0; n--) {
      const int in = tensors.back();
      const Nhwc s = g.graph.tensors[std::size_t(in)].nhwc();
      int out = -1;
      if (g.uniform(0, 2) == 0) {
        for (int other : tensors) {
          if (other != in && g.graph.tensors[std::size_t(other)].nhwc() == s)
            out = g.add(in, other, Activation::Relu);
        }
      }
      if (out < 0 && g.uniform(0, 1)) out = g.conv(in, s.c, 3, 3, 1, {1, 1, 1, 1}, g.activation());
      if (out < 0) out = random_layer(g, in);
      tensors.push_back(out);
    }
    g.output(tensors.back());
    CompileOptions options;
    for (int op = 0; op + 1 < int(g.graph.ops.size()); op++) {
      if (g.uniform(0, 2) == 0) options.cuts.push_back(op);
    }
    if (options.cuts.empty()) options.cuts.push_back(int(g.graph.ops.size()) - 1);
    if (i % 4 == 0) options.cuts.clear();
    const Config config = one_of_three(i);
    options.reserve = {g.uniform(0, config.sb_depth / 2), g.uniform(0, config.vb_depth / 2)};
    const auto inputs = g.random_inputs();
    if (!refusals(g.graph, config, options).empty()) continue;
    run++;
    run_on_model(g.graph, inputs, config, options, i);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(run, 50);
}

// A first run loads the weights, later ones find those that fit; where all fit they load none.
TEST(Compiler, KeepsWeightsOverRuns) {
  int all = 0, some = 0;
  for (std::uint64_t i = 0; i < 150; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 11000 + i);
    int t = g.input(g.uniform(4, 12), g.uniform(4, 12), g.uniform(1, 12));
    for (int n = g.uniform(2, 7); n > 0; n--) t = random_layer(g, t);
    g.output(t);
    Config config = i % 3 == 0 ? preset("nano") : tiny();
    if (i % 3 != 0) config.wb_rows = config.kp * g.uniform(20, 60);
    CompileOptions options;
    options.cuts = i % 2 == 0 ? std::vector<int>{0} : std::vector<int>{};
    if (!refusals(g.graph, config, options).empty()) continue;
    const KeptPrograms programs = compile_kept(g.graph, config, options);
    const std::int64_t first = weight_bytes(programs.first);
    const std::int64_t again = weight_bytes(programs.again);
    EXPECT_LE(again, first);
    if (first > 0 && again == 0) all++;
    if (again > 0 && again < first) some++;
    test::AcceleratorModel accelerator(config, i);
    run_program(g.graph, programs.first, g.random_inputs(), options.rounding, accelerator);
    for (int run = 0; run < 2; run++) {
      run_program(g.graph, programs.again, g.random_inputs(), options.rounding, accelerator);
    }
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(all, 30);
  EXPECT_GE(some, 3);
}

std::vector<Int8Values> random_batch(GraphBuilder& g, int images) {
  std::vector<Int8Values> inputs;
  for (; images > 0; images--) {
    for (Int8Values& one : g.random_inputs()) inputs.push_back(std::move(one));
  }
  return inputs;
}

// Branches that meet again, pools, additions and concatenations, on machines where some of the maps of a
// batch can be held and some cannot: every image as if it were alone, the weights never loaded more often
// than for single images, and never more bytes.
TEST(Compiler, RunsBatches) {
  int once = 0, again = 0;
  for (std::uint64_t i = 0; i < 200; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 17000 + i);
    std::vector<int> tensors{g.input(g.uniform(4, 14), g.uniform(4, 14), g.uniform(1, 12))};
    for (int n = g.uniform(2, 7); n > 0; n--) {
      const int in =
          g.uniform(0, 3) ? tensors.back() : tensors[std::size_t(g.uniform(0, int(tensors.size()) - 1))];
      const int kind = g.uniform(0, 5);
      if (kind == 0) {
        const int other = g.conv(in, g.uniform(1, 12), 1, 1, 1, {}, g.activation());
        const int third = g.conv(in, g.uniform(1, 12), 3, 3, 1, {1, 1, 1, 1}, g.activation());
        g.share_scale(third, other);
        tensors.push_back(g.concat({other, third}));
      } else if (kind == 1 && in == tensors.back()) {
        const int same =
            g.conv(in, g.graph.tensors[std::size_t(in)].nhwc().c, 3, 3, 1, {1, 1, 1, 1}, g.activation());
        tensors.push_back(g.add(in, same, g.activation()));
      } else {
        tensors.push_back(random_layer(g, in));
      }
    }
    g.output(tensors.back());
    const Config config = one_of_three(i);
    CompileOptions options;
    for (int op = 0; i % 2 == 0 && op + 1 < int(g.graph.ops.size()); op++) {
      if (g.uniform(0, 2) == 0) options.cuts.push_back(op);
    }
    options.keep_on_chip = i % 5 != 0;
    options.compress = i % 3 == 0 || i % 5 == 0 ? Compress::kOn : Compress::kOff;
    options.reserve = {g.uniform(0, config.sb_depth / 2), g.uniform(0, config.vb_depth / 2)};
    if (!refusals(g.graph, config, options).empty()) continue;
    const Program single = compile(g.graph, config, options);
    options.images = g.uniform(2, 4);
    const Program batch = compile(g.graph, config, options);
    EXPECT_LE(weight_bytes(batch), options.images * weight_bytes(single));
    EXPECT_LE(payload_bytes(batch), options.images * payload_bytes(single));
    if (weight_bytes(single) > 0) (weight_bytes(batch) == weight_bytes(single) ? once : again)++;
    test::AcceleratorModel accelerator(config, i);
    run_program(g.graph, batch, random_batch(g, options.images), options.rounding, accelerator);
    const KeptPrograms kept = compile_kept(g.graph, config, options);
    run_program(g.graph, kept.first, random_batch(g, options.images), options.rounding, accelerator);
    run_program(g.graph, kept.again, random_batch(g, options.images), options.rounding, accelerator);
    EXPECT_LE(payload_bytes(kept.first), payload_bytes(batch));
    EXPECT_LE(weight_bytes(kept.again), weight_bytes(kept.first));
    if (testing::Test::HasFailure()) break;
  }
  std::printf("weights once %d, several times %d\n", once, again);
  EXPECT_GE(once, 50);
  EXPECT_GE(again, 1);
}

// Operators on the host alone: programs without commands, kept weights or not.
TEST(Compiler, KeepsNothingOfTheHosts) {
  test::GraphBuilder g(1);
  g.output(g.softmax(g.input(1, 1, 16)));
  const Config& config = preset("nano");
  EXPECT_TRUE(compile(g.graph, config).commands.empty());
  const KeptPrograms kept = compile_kept(g.graph, config);
  EXPECT_TRUE(kept.first.commands.empty());
  EXPECT_TRUE(kept.again.commands.empty());
}

// Rows longer than SB, VB or OB: layers run in column stripes, through memory; strides, pads, pools and
// additions, several channel groups, batches, weights that do not fit.
TEST(Compiler, RunsColumnStripes) {
  int run = 0, striped = 0;
  for (std::uint64_t i = 0; i < 150; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 19000 + i);
    int t = g.input(g.uniform(1, 8), g.uniform(20, 90), g.uniform(1, 20));
    for (int n = g.uniform(1, 4); n > 0; n--) {
      if (g.uniform(0, 4) == 0) {
        const int same =
            g.conv(t, g.graph.tensors[std::size_t(t)].nhwc().c, 3, 3, 1, {1, 1, 1, 1}, g.activation());
        t = g.add(t, same, g.activation());
      } else {
        t = random_layer(g, t);
      }
    }
    g.output(t);
    Config config = tiny();
    config.wb_rows = i % 2 == 0 ? 400 : 160;
    config.ob_pixels = g.uniform(8, 32);
    config.sb_depth = g.uniform(12, 60);
    config.vb_depth = g.uniform(12, 60);
    CompileOptions options;
    options.images = g.uniform(1, 2);
    if (!refusals(g.graph, config, options).empty()) continue;
    const Program program = compile(g.graph, config, options);
    run++;
    striped += std::any_of(program.meta.begin(), program.meta.end(),
                           [](const CommandMeta& m) { return m.first_column > 0; });
    test::AcceleratorModel accelerator(config, i);
    run_program(g.graph, program, random_batch(g, options.images), options.rounding, accelerator);
    if (testing::Test::HasFailure()) break;
  }
  std::printf("%d run, %d in stripes\n", run, striped);
  EXPECT_GE(run, 80);
  EXPECT_GE(striped, 60);
}

TEST(Compiler, RunsWindowsOfUnequalStrides) {
  for (std::uint64_t i = 0; i < 40; i++) {
    SCOPED_TRACE("layer " + std::to_string(i));
    GraphBuilder g(test::seed() * 13000 + i);
    const int in = g.input(g.uniform(1, 14), g.uniform(1, 14), g.uniform(1, 20));
    const Nhwc s = g.graph.tensors[std::size_t(in)].nhwc();
    const int kh = g.uniform(1, std::min(5, s.h)), kw = g.uniform(1, std::min(5, s.w));
    const int down = g.uniform(1, 5), across = g.uniform(1, 5);
    if (i % 3 == 0) {
      g.output(g.depthwise(in, kh, kw, down, {}, g.activation(), 1, 1, across));
    } else {
      g.output(g.pool(i % 3 == 1 ? OpKind::MaxPool : OpKind::AveragePool, in, kh, kw, down, {},
                      g.activation(), across));
    }
    run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, i);
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Compiler, ConcatenatesOtherScalesThroughATable) {
  for (std::uint64_t i = 0; i < 10; i++) {
    GraphBuilder g(test::seed() * 15000 + i);
    const int in = g.input(6, 7, g.uniform(1, 12));
    const int a = g.conv(in, g.uniform(1, 20), 3, 3, 1, {1, 1, 1, 1}, Activation::None);
    const int b = g.conv(in, g.uniform(1, 20), 1, 1, 1, {}, Activation::Relu);
    g.graph.tensors[std::size_t(b)].quantization.scale[0] *= 0.7F;
    g.output(g.conv(g.concat({a, b}), 5, 1, 1, 1, {}, Activation::None));
    run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, i);
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Compiler, PadsChannels) {
  for (std::uint64_t i = 0; i < 10; i++) {
    GraphBuilder g(test::seed() * 17000 + i);
    const int in = g.input(5, 4, g.uniform(1, 12));
    const int map = i % 2 == 0 ? in : g.conv(in, g.uniform(1, 12), 3, 3, 1, {1, 1, 1, 1}, Activation::None);
    g.output(g.pad(map, {int(i % 3), int(i % 2), int(i % 4), 1}, g.uniform(0, 9), g.uniform(1, 9)));
    run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, i);
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Compiler, FlattensMapsBeforeFullyConnectedLayers) {
  for (int side : {2, 3, 5}) {
    GraphBuilder g{std::uint64_t(side)};
    const int in = g.input(side, side, 4);
    const int map = g.conv(in, 4, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
    const int flat = g.reshape(map, {1, side * side * 4});
    g.output(g.softmax(g.fully_connected(flat, 10, Activation::None)));
    run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, 1);
  }
}

TEST(Compiler, RunsGroups) {
  for (int groups : {2, 3, 6}) {
    GraphBuilder g(std::uint64_t(groups) + 10);
    g.uint8 = groups == 3;
    const int in = g.input(6, 7, 12);
    const int out = g.conv(in, 18, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
    // The same layer with an n-th of the weights.
    Op& op = g.graph.ops.back();
    op.groups = groups;
    Tensor& w = g.graph.tensors[std::size_t(op.weights)];
    w.shape[3] /= groups;
    w.data.resize(w.elements());
    g.output(out);
    run_on_model(g.graph, g.random_inputs(), preset("unit"), {}, 1);
  }
}

TEST(Compiler, RunsDepthwiseWithMultiplierOnTheArray) {
  GraphBuilder g(1);
  const int in = g.input(7, 9, 3);
  g.output(g.depthwise(in, 3, 3, 2, {1, 1, 1, 1}, Activation::Relu, 5));
  run_on_model(g.graph, g.random_inputs(), preset("unit"), {}, 1);
}

// Networks of concatenations and slices, nested, with parts that are used on their own, with channel counts
// that are multiples of nothing: kept on chip or through memory.
TEST(Compiler, ConcatenatesAndSlices) {
  int run = 0;
  for (std::uint64_t i = 0; i < 300; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 9000 + i);
    g.uint8 = i % 4 == 3;
    const int side = g.uniform(1, 9);
    const int in = g.input(side, g.uniform(1, 9), g.uniform(1, 20));
    std::vector<int> maps{in};  // all of one height and width
    const auto shape = [&](int t) { return g.graph.tensors[std::size_t(t)].nhwc(); };
    const auto any = [&] { return maps[std::size_t(g.uniform(0, int(maps.size()) - 1))]; };
    const auto whole_words = [&] { return 4 * g.uniform(1, 4); };
    for (int n = g.uniform(2, 7); n > 0; n--) {
      const int from = g.uniform(0, 2) ? maps.back() : any();
      switch (g.uniform(0, 6)) {
        case 0:
          maps.push_back(g.conv(from, g.uniform(0, 1) ? whole_words() : g.uniform(1, 15), 3, 3, 1,
                                {1, 1, 1, 1}, g.activation()));
          break;
        case 1:
          maps.push_back(g.depthwise(from, 3, 3, 1, {1, 1, 1, 1}, g.activation()));
          break;
        case 2:
          maps.push_back(g.pool(OpKind::MaxPool, from, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
          break;
        case 3: {
          const int c = shape(from).c;
          const int begin = g.uniform(0, 1) ? g.uniform(0, c - 1) : g.uniform(0, (c - 1) / 4) * 4;
          const int size = g.uniform(1, c - begin);
          maps.push_back(g.slice(from, {0, 0, 0, begin}, {1, shape(from).h, shape(from).w, size}));
          break;
        }
        case 4: {
          int other = -1;
          for (int m : maps) {
            if (m != from && shape(m) == shape(from)) other = m;
          }
          if (other >= 0) maps.push_back(g.add(from, other, g.activation()));
          break;
        }
        default: {
          // Branches of one scale, some of them made for this, some of them there already.
          std::vector<int> parts;
          for (int k = g.uniform(1, 3); k >= 0; k--) {
            if (g.uniform(0, 2) == 0) {
              for (int m : maps) {
                const Tensor& a = g.graph.tensors[std::size_t(m)];
                const Tensor& b = g.graph.tensors[std::size_t(parts.empty() ? maps[0] : parts[0])];
                if (a.quantization.scale == b.quantization.scale && a.zero_point() == b.zero_point()) {
                  parts.push_back(m);
                  break;
                }
              }
              continue;
            }
            const int made = g.conv(any(), g.uniform(0, 1) ? whole_words() : g.uniform(1, 15), 1, 1, 1, {},
                                    Activation::None);
            g.share_scale(made, parts.empty() ? maps[0] : parts[0]);
            parts.push_back(made);
            if (g.uniform(0, 2) == 0) maps.push_back(made);
          }
          if (!parts.empty() && shape(maps[0]).c * int(parts.size()) < 200) maps.push_back(g.concat(parts));
        }
      }
    }
    if (maps.size() == 1) continue;
    g.output(maps.back());
    if (g.uniform(0, 1)) g.output(maps[std::size_t(g.uniform(1, int(maps.size()) - 1))]);
    if (g.uniform(0, 2) == 0) g.output(g.fully_connected(maps.back(), 5, Activation::None));
    CompileOptions options;
    options.keep_on_chip = i % 3 != 0;
    options.order = OperatorOrder(i % 7 % 3);
    options.block_pixels = i % 4 == 0 ? g.uniform(1, 40) : 0;
    const Config config = i % 5 == 0 ? tiny() : i % 2 ? preset("nano") : preset("unit");
    const auto reasons = refusals(g.graph, config, options);
    if (!reasons.empty()) {
      // Too large for the small accelerator: nothing else is refused.
      const bool large = reasons[0].find("addresses of") != std::string::npos ||
                         reasons[0].find("rows of the weight buffer") != std::string::npos;
      EXPECT_TRUE(large) << reasons[0];
      continue;
    }
    run++;
    run_on_model(g.graph, g.random_inputs(), config, options, i);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(run, 200);
}

// Borders that belong to a window and borders that are made, kernels with gaps between their taps.
// Channels of a map that is read as another shape lie in the memory of the map itself.
TEST(Compiler, SlicesOfReshapedMapsAreOutputs) {
  for (std::uint64_t i = 0; i < 60; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 2000 + i);
    const int h = g.uniform(1, 5), w = g.uniform(1, 5), c = 4 * g.uniform(1, 5);
    const int in = g.input(h, w, g.uniform(1, 9));
    const int map = i % 2 ? g.conv(in, c, 1, 1, 1, {}, Activation::None) : g.table(g.input(h, 1, c));
    const int pixels = i % 2 ? h * w : h;
    const int flat = g.reshape(map, {1, pixels, c});
    const int first = 4 * g.uniform(0, c / 4 - 1);
    const int part = g.slice(flat, {0, 0, first}, {1, pixels, g.uniform(1, c - first)});
    g.output(part);
    if (g.uniform(0, 1))
      g.output(g.conv(g.reshape(map, {1, 1, pixels, c}), 5, 1, 1, 1, {}, Activation::None));
    if (g.uniform(0, 1)) g.output(g.slice(flat, {0, 0, 1}, {1, pixels, c - 1}));
    if (g.uniform(0, 2) == 0) g.output(map);
    if (!refusals(g.graph, preset("nano"), {}).empty()) continue;
    run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, i);
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Compiler, PadsAndDilates) {
  for (std::uint64_t i = 0; i < 120; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 11000 + i);
    g.uint8 = i % 4 == 3;
    const int in = g.input(g.uniform(1, 10), g.uniform(1, 10), g.uniform(1, 20));
    const int dilation = g.uniform(1, 4);
    const int kernel = g.uniform(1, 3);
    const Padding border{g.uniform(0, 4), g.uniform(0, 4), g.uniform(0, 4), g.uniform(0, 4)};
    int map = g.uniform(0, 1) ? g.conv(in, g.uniform(1, 12), 1, 1, 1, {}, Activation::None) : in;
    map = g.pad(map, border);
    const Nhwc s = g.graph.tensors[std::size_t(map)].nhwc();
    const int extent = (kernel - 1) * dilation + 1;
    const Padding pad{extent / 2, extent / 2, extent / 2, extent / 2};
    const bool fits = s.h + 2 * (extent / 2) >= extent && s.w + 2 * (extent / 2) >= extent;
    int out = map;
    if (fits) {
      const int stride = g.uniform(1, 2);
      out = i % 2 ? g.conv(map, g.uniform(1, 9), kernel, kernel, stride, pad, g.activation(), dilation)
                  : g.depthwise(map, kernel, kernel, 1, pad, g.activation(), 1, dilation);
    }
    g.output(out);
    if (g.uniform(0, 2) == 0) g.output(map);
    CompileOptions options;
    options.keep_on_chip = i % 3 != 0;
    run_on_model(g.graph, g.random_inputs(), i % 4 < 2 ? preset("nano") : preset("unit"), options, i);
    if (testing::Test::HasFailure()) break;
  }
}

// Parts of a map whose rows are made at different times: a ring of fewer rows than the map has.
TEST(Compiler, PartsMayBeRowsApart) {
  for (std::uint64_t i = 0; i < 60; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 13000 + i);
    g.uint8 = i % 4 == 3;
    const int in = g.input(g.uniform(10, 30), g.uniform(4, 12), g.uniform(1, 16));
    std::vector<int> parts{in};
    for (int n = g.uniform(2, 3); n > 0; n--) {
      const int from = g.uniform(0, 1) ? in : g.conv(in, 4, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
      const int kernel = 2 * g.uniform(0, 2) + 1;
      const int p = kernel / 2;
      parts.push_back(g.conv(from, g.uniform(1, 10), kernel, kernel, 1, {p, p, p, p}, Activation::None));
      g.share_scale(parts.back(), in);
    }
    const int both = g.concat(parts);
    g.output(g.uniform(0, 1) ? g.pool(OpKind::AveragePool, both, 1, 1, g.uniform(1, 3), {}, Activation::None)
                             : g.conv(both, 5, 3, 3, 2, {1, 1, 1, 1}, Activation::None));
    CompileOptions options;
    options.block_pixels = g.uniform(4, 24);
    run_on_model(g.graph, g.random_inputs(), i % 2 ? preset("nano") : preset("unit"), options, i);
    if (testing::Test::HasFailure()) break;
  }
}

// A concatenation of what convolutions make costs no command.
TEST(Compiler, ConcatenationIsNoWork) {
  GraphBuilder g(1);
  const int in = g.input(6, 6, 8);
  const int a = g.conv(in, 8, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  const int b = g.conv(in, 12, 1, 1, 1, {}, Activation::Relu);
  g.share_scale(b, a);
  const int both = g.concat({a, b});
  g.output(g.conv(both, 5, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
  const Program p = compile(g.graph, preset("nano"));
  EXPECT_EQ(p.layers[2].place, Place::kNothing);
  EXPECT_EQ(p.results[std::size_t(both)], 0U);
  run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, 1);
}

// Ctrl-C: what the caller throws comes out.
TEST(Compiler, MayBeEndedBetweenPlans) {
  struct Ended {};
  GraphBuilder g(1);
  const int in = g.input(12, 12, 8);
  g.output(g.conv(g.conv(in, 16, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu), 8, 3, 3, 1, {1, 1, 1, 1},
                  Activation::None));
  int calls = 0;
  CompileOptions options;
  options.cancellation_check = [&] {
    if (++calls == 3) throw Ended{};
  };
  EXPECT_THROW(compile(g.graph, preset("nano"), options), Ended);
  EXPECT_EQ(calls, 3);
  calls = 3;
  EXPECT_TRUE(try_compile(g.graph, preset("nano"), options).program);
  EXPECT_GT(calls, 5);
}

// A mean over more rows than VB has room for: of ranges of channels, which the convolution in front makes one
// after the other.
TEST(Compiler, WindowsOfLargeMapsGoByRangesOfChannels) {
  for (const bool shuffled : {false, true}) {
    GraphBuilder g(7);
    const int in = g.input(6, 5, 24);
    int a = g.conv(in, 1150, 1, 1, 1, {}, Activation::Relu);
    if (shuffled) a = g.shuffle(a);
    g.output(g.fully_connected(g.mean(a), 9, Activation::None));
    run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, test::seed());
    GraphBuilder d(8);
    const int wide = d.conv(d.input(9, 30, 8), 130, 1, 1, 1, {}, Activation::Relu);
    d.output(d.conv(d.depthwise(shuffled ? d.shuffle(wide) : wide, 3, 3, 2, {1, 1, 1, 1}, Activation::None),
                    10, 1, 1, 1, {}, Activation::None));
    run_on_model(d.graph, d.random_inputs(), preset("nano"), {}, test::seed());
  }
}

TEST(Compiler, ResizesAtTheEnd) {
  GraphBuilder g(1);
  const int map = g.conv(g.input(6, 5, 8), 12, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  const int large = g.resize(map, 12, 15, true);
  GraphBuilder middle = g;
  g.output(g.arg_max(large));
  run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, test::seed());
  middle.output(middle.conv(large, 4, 1, 1, 1, {}, Activation::None));
  EXPECT_EQ(refusals(middle.graph, preset("nano")),
            (std::vector<std::string>{
                "layer 'layer1' (resize): limit: resizing at the end of the network, found: its result "
                "feeds layer 'layer2'"}));
}

// The window's map comes from an addition, as in ShuffleNet.
TEST(Compiler, SumsOfManyRowsGoByRangesOfChannels) {
  for (const bool broadcast : {false, true}) {
    GraphBuilder g(test::seed() * 40);
    const int in = g.input(7, 7, 20);
    const int a = g.conv(in, 544, 1, 1, 1, {}, Activation::Relu);
    const int b = broadcast ? g.constant({544}) : g.conv(in, 544, 1, 1, 1, {}, Activation::None);
    g.output(g.mean(g.element(OpKind::Add, a, b, Activation::Relu)));
    EXPECT_TRUE(refusals(g.graph, preset("nano")).empty());
    run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, test::seed());
  }
}

// The heads of a detector: reshaped, concatenated, through a function, all behind the device.
TEST(Compiler, ConcatenatesRowsAndColumnsAtTheEnd) {
  for (const int before : {1, 2}) {
    GraphBuilder g(test::seed() * 30 + std::uint64_t(before));
    const int map = g.conv(g.input(8, 6, 8), 12, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
    const int small = g.conv(map, 12, 3, 3, 2, {1, 1, 1, 1}, Activation::None);
    g.share_scale(small, map);
    std::vector<int> heads{map, small};
    if (before == 1) heads = {g.reshape(map, {1, 48, 12}), g.reshape(small, {1, 12, 12})};
    if (before == 2) heads = {map, g.pad(small, {0, 0, 0, 3})};
    if (before == 2) g.share_scale(heads[1], map);
    const int all = g.concat(heads, before);
    GraphBuilder middle = g;
    g.output(g.table(all, Function::Sigmoid));
    run_on_model(g.graph, g.random_inputs(), preset("nano"), {}, test::seed());
    if (before == 1) continue;
    middle.output(middle.conv(all, 4, 1, 1, 1, {}, Activation::None));
    const std::vector<std::string> reasons = refusals(middle.graph, preset("nano"));
    ASSERT_EQ(reasons.size(), 1U);
    EXPECT_NE(reasons[0].find("limit: concatenation of rows or columns at the end of the network, found: its "
                              "result feeds layer"),
              std::string::npos)
        << reasons[0];
  }
}

TEST(Compiler, RefusesByName) {
  const auto reason = [](const Graph& g) {
    const auto all = refusals(g, preset("nano"));
    return all.empty() ? std::string() : all.front();
  };
  {
    GraphBuilder g(1);
    g.output(g.conv(g.input(60, 30, 3), 4, 49, 5, 1, {}, Activation::None));
    EXPECT_EQ(reason(g.graph), "layer 'layer0' (conv): limit: kernels up to 48x48, found: 49x5");
    EXPECT_THROW(compile(g.graph, preset("nano")), InputError);
  }
  {
    GraphBuilder g(1);
    g.output(g.conv(g.input(9, 9, 3), 4, 3, 3, 1, {}, Activation::None));
    auto& zero_points = g.graph.tensors[std::size_t(g.graph.ops[0].weights)].quantization.zero_point;
    std::fill(zero_points.begin(), zero_points.end(), -7);
    EXPECT_EQ(reason(g.graph), "");
    Config without = preset("nano");
    without.sum_row = false;
    EXPECT_EQ(refusals(g.graph, without).at(0),
              "layer 'layer0' (conv): limit: weights with zero point 0 on an array without a sum row, found: "
              "zero point -7");
  }
  {
    GraphBuilder g(1);
    g.output(g.table(g.mean(g.conv(g.input(9, 9, 3), 4, 3, 3, 1, {}, Activation::None)), Function::Sigmoid));
    EXPECT_EQ(reason(g.graph), "");
    Config without = preset("nano");
    without.average = without.table = false;
    const auto all = refusals(g.graph, without);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0],
              "layer 'layer1' (mean): limit: windows without averages on an accelerator without them, "
              "found: an average");
    EXPECT_EQ(all[1],
              "layer 'layer2' (table): limit: results as they are on an accelerator without tables, found: a "
              "table");
    g.graph.framework = Framework::Onnx;
    EXPECT_EQ(reason(g.graph), "");
    without = preset("nano");
    without.float_rule = false;
    EXPECT_EQ(
        refusals(g.graph, without).at(0),
        "layer 'layer0' (conv): limit: rules of integers on an accelerator without rule float, found: rule "
        "float (an ONNX model)");
  }
  {
    // A layer that reads what a refused one should have made.
    GraphBuilder g(1);
    const int refused = g.conv(g.input(60, 60, 3), 4, 50, 50, 1, {}, Activation::None);
    g.output(g.fully_connected(refused, 4, Activation::None));
    EXPECT_EQ(refusals(g.graph, preset("nano")).size(), 1U);
  }
  {
    // A factor so large that sums would leave int32, by the two rules whose sums the importers do not bound.
    GraphBuilder g(1);
    g.output(g.fully_connected(g.input(1, 1, 4), 4, Activation::None));
    g.graph.tensors.back().quantization.scale = {1e-9F};
    for (const Framework framework : {Framework::TfLite, Framework::Onnx}) {
      g.graph.framework = framework;
      EXPECT_NE(reason(g.graph).find("layer 'layer0' (fc): limit: sums times "), std::string::npos)
          << reason(g.graph);
    }
  }
  {
    GraphBuilder g(1);
    g.output(g.conv(g.input(40, 40, 3), 4, 3, 3, 16, {}, Activation::None));
    EXPECT_EQ(reason(g.graph), "layer 'layer0' (conv): limit: stride at most 15, found: 16");
  }
  {
    GraphBuilder g(1);
    g.output(g.conv(g.input(30, 30, 3), 4, 17, 17, 3, {}, Activation::None));
    EXPECT_EQ(
        reason(g.graph),
        "layer 'layer0' (conv): limit: column strides above 2 with kernels up to 16x16 and left padding up "
        "to 1151 words, found: kernel 17x17, padding of 0 words");
  }
  {
    GraphBuilder g(1);
    g.output(g.element(OpKind::Mul, g.input(4, 5, 6), g.input(4, 1, 6), Activation::None));
    EXPECT_EQ(reason(g.graph),
              "layer 'layer0' (mul): limit: two maps of one shape, or a map and one pixel of as many "
              "channels, found: 1x4x5x6 and 1x4x1x6");
  }
  {
    GraphBuilder g(1);
    g.output(g.conv(g.input(4, 16384, 3), 4, 3, 3, 1, {}, Activation::None));
    EXPECT_EQ(reason(g.graph), "layer 'layer0' (conv): limit: columns of a map at most 16383, found: 16384");
  }
  {
    GraphBuilder g(1);
    const int s = g.softmax(g.fully_connected(g.input(1, 1, 8), 4, Activation::None));
    g.output(g.fully_connected(s, 4, Activation::None));
    EXPECT_NE(reason(g.graph).find("on the host at the end"), std::string::npos);
  }
  {
    GraphBuilder g(1);
    g.output(g.depthwise(g.input(6, 6, 1000), 5, 5, 1, {}, Activation::None));  // even a single column
    EXPECT_NE(reason(g.graph).find("512 addresses of VB"), std::string::npos) << reason(g.graph);
  }
}

// The device sees what the host made of the input, and never the input itself.
TEST(Compiler, RunsOperatorsOnTheHostInFront) {
  GraphBuilder g(1);
  const int in = g.input(1, 1, 8);
  const int soft = g.softmax(in);
  g.output(g.fully_connected(soft, 4, Activation::None));
  const Program p = compile(g.graph, preset("nano"));
  ASSERT_EQ(p.inputs.size(), 1U);
  EXPECT_EQ(p.inputs[0].tensor, soft);
  EXPECT_EQ(p.input_bytes, 8);
  EXPECT_EQ(p.notes,
            std::vector<std::string>{"layer '" + g.graph.ops[0].name + "' (softmax) runs on the host"});
  std::mt19937_64 random(test::seed());
  Int8Values values(8);
  for (auto& v : values) v = std::int8_t(random());
  run_on_model(g.graph, std::vector<Int8Values>{values}, preset("nano"), {}, test::seed());
}

// --- networks of the field
// ---------------------------------------------------------------------------------------------

void run_model_file(const std::filesystem::path& file, const std::string& config, bool on_chip) {
  const Graph graph = require_graph(import_file(file));
  GraphBuilder noise(test::seed());
  std::vector<Int8Values> inputs;
  for (int t : graph.inputs) {
    Int8Values v(graph.tensors[std::size_t(t)].elements());
    for (auto& x : v) x = std::int8_t(noise.rng());
    inputs.push_back(std::move(v));
  }
  run_on_model(graph, inputs, preset(config), {}, test::seed());
  const auto start = std::chrono::steady_clock::now();
  const Program p = compile(graph, preset(config));
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::int64_t stored = 0;
  std::int64_t loaded = 0;
  for (const CommandMeta& m : p.meta) {
    stored += m.written_bytes;
    if (m.kind == CommandMeta::Bytes::kActivations) loaded += m.read_bytes;
  }
  std::printf("%s on %s: %zu commands, compiled in %.2f ms, activations read %lld, written %lld bytes\n",
              graph.name.c_str(), config.c_str(), p.commands.size(), ms, static_cast<long long>(loaded),
              static_cast<long long>(stored));
  if (on_chip) {
    // Nothing but the input is read and nothing but the output written.
    EXPECT_EQ(loaded, std::int64_t(inputs[0].size()));
    EXPECT_LE(stored, 64);
  }
}

class Networks : public testing::TestWithParam<std::string> {};

TEST_P(Networks, Demo) {
  run_model_file(test::source_file("models/demo/demo.tflite"), GetParam(), GetParam() == "base");
}

TEST_P(Networks, Resnet8) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: pretrainedResnet_quant.tflite is not run";
  run_model_file(*shared / "models/tflite/mlperf-tiny/pretrainedResnet_quant.tflite", GetParam(),
                 GetParam() == "base");
}

TEST_P(Networks, PersonDetection) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: vww_96_int8.tflite is not run";
  run_model_file(*shared / "models/tflite/mlperf-tiny/vww_96_int8.tflite", GetParam(), false);
}

TEST_P(Networks, Autoencoder) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: ad01_int8.tflite is not run";
  run_model_file(*shared / "models/tflite/mlperf-tiny/ad01_int8.tflite", GetParam(), false);
}

TEST_P(Networks, KeywordSpotting) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: kws_ref_model.tflite is not run";
  run_model_file(*shared / "models/tflite/mlperf-tiny/kws_ref_model.tflite", GetParam(), false);
}

TEST_P(Networks, Cifar10) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: cifar10_q.tflite is not run";
  run_model_file(*shared / "models/tflite/tinymaix/cifar10_q.tflite", GetParam(), false);
}

TEST_P(Networks, MnistWithMean) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: mnist_valid_q.tflite is not run";
  run_model_file(*shared / "models/tflite/tinymaix/mnist_valid_q.tflite", GetParam(), false);
}

INSTANTIATE_TEST_SUITE_P(Configurations, Networks, testing::Values("nano", "unit", "small", "base", "large"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kaiten
