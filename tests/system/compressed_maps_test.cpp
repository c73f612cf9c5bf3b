// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Compression on the RTL: every tensor is that of the run without it, fewer bytes move, and memory that no
// compressor writes stops the accelerator with cause, command and row.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "codec/zvc.h"
#include "import/import.h"
#include "run/session.h"
#include "tests/support/prune.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/support/source_file.h"
#include "tests/system/random_network.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

Graph demo() { return require_graph(import_file(test::source_file("models/demo/demo.tflite"))); }

RunResult run_spilled(const Graph& graph, const std::string& config, Compress compress,
                      const std::vector<Int8Values>& inputs) {
  SessionOptions options{.config = config};
  options.spill = true;
  options.compress = compress;
  options.calibration = inputs;
  Session session(graph, options);
  return session.run(inputs);
}

class CompressedMaps : public testing::TestWithParam<std::string> {
 protected:
  static void compare(const Graph& graph) {
    std::mt19937_64 random(test::seed());
    const auto inputs = test::draw_inputs(graph, random);
    const RunResult off = run_spilled(graph, GetParam(), Compress::kOff, inputs);
    EXPECT_EQ(off.report.zvc.raw(), 0U);
    EXPECT_EQ(off.report.bytes.activations, off.report.predicted.activations);
    for (const Compress compress : {Compress::kOn, Compress::kAuto}) {
      const RunResult on = run_spilled(graph, GetParam(), compress, inputs);
      EXPECT_TRUE(on.report.exact.value_or(false)) << on.report.difference;
      EXPECT_EQ(on.outputs, off.outputs);
      EXPECT_TRUE(on.report.exactly_predicted);
      EXPECT_EQ(on.report.bus.read, on.report.predicted_bus.read);
      EXPECT_EQ(on.report.bus.written, on.report.predicted_bus.written);
      EXPECT_GT(on.report.zvc.raw(), 0U);
      EXPECT_LT(on.report.zvc.packed(), on.report.zvc.raw());
      EXPECT_LT(on.report.bytes.written, off.report.bytes.written);
      std::uint64_t raw = 0, packed = 0;
      for (const LayerReport& l : on.report.layers) {
        raw += l.zvc_raw;
        packed += l.zvc_packed;
        EXPECT_LE(l.zvc_limit, l.zvc_packed == 0 ? 0 : std::max(l.zvc_packed, l.zvc_raw * 9 / 8));
        EXPECT_GE(l.zvc_limit, l.zvc_raw / 8);
      }
      EXPECT_EQ(raw, on.report.zvc.written_raw);
      EXPECT_EQ(packed, on.report.zvc.written_packed);
    }
  }
};

TEST_P(CompressedMaps, Demo) { compare(demo()); }

TEST_P(CompressedMaps, ResNet8) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: ResNet-8 does not run compressed";
  compare(require_graph(import_file(*shared / "models/tflite/mlperf-tiny/pretrainedResnet_quant.tflite")));
}

// Behind a last channel, in the middle of a word, stands the zero point, whoever made the map: nothing but the tensor's
// own values costs bytes.
TEST_P(CompressedMaps, GapsHoldTheZeroPoint) {
  test::GraphBuilder g(test::seed());
  const int a = g.conv(g.input(12, 31, 5), 13, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  const int b = g.depthwise(a, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  const int c = g.add(a, b, Activation::Relu);
  const int d = g.pool(OpKind::MaxPool, c, 2, 2, 1, {}, Activation::None);
  const int e = g.pool(OpKind::AveragePool, d, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  const int f = g.conv(e, 7, 1, 1, 1, {}, Activation::Relu);
  g.share_scale(f, e);
  const int h = g.depthwise(g.concat({e, f}), 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  const int moved = g.slice(h, {0, 0, 0, 2}, {1, 11, 30, 9});
  g.output(g.fully_connected(g.mean(g.add(moved, moved, Activation::Relu)), 7, Activation::None));
  std::mt19937_64 random(test::seed());
  const auto inputs = test::draw_inputs(g.graph, random);
  const std::vector<Int8Values> values = run_reference_batch(g.graph, 1, inputs);
  const RunResult on = run_spilled(g.graph, GetParam(), Compress::kOn, inputs);
  int compressed = 0;
  for (std::size_t op = 0; op < g.graph.ops.size(); op++) {
    const LayerReport& layer = on.report.layers[op];
    if (layer.zvc_raw == 0) continue;
    const std::size_t tensor = std::size_t(g.graph.ops[op].output);
    const std::int8_t zero = std::int8_t(g.graph.tensors[tensor].zero_point());
    const auto nonzeros = values[tensor].size() - std::size_t(std::ranges::count(values[tensor], zero));
    EXPECT_EQ(layer.zvc_limit - layer.zvc_raw / 8, nonzeros) << layer.name;
    compressed++;
  }
  EXPECT_GE(compressed, 7);
}

// Maps of many channels: rows have a surface of hundreds of sizes, beats of their own.
TEST_P(CompressedMaps, LongSurfaces) {
  test::GraphBuilder g(test::seed());
  const int a = g.conv(g.input(8, 12, 8), 256, 1, 1, 1, {}, Activation::Relu);
  g.output(g.conv(a, 8, 1, 1, 1, {}, Activation::Relu));
  compare(g.graph);
}

// The demo network with half of its weights zero: in a batch, and with weights that stay.
TEST_P(CompressedMaps, SparseWeights) {
  const Graph graph = test::pruned(demo(), 50, test::seed());
  std::mt19937_64 random(test::seed());
  std::uint64_t raw = 0;
  for (const Compress compress : {Compress::kOff, Compress::kOn, Compress::kAuto}) {
    SessionOptions options{.config = GetParam()};
    options.compress = compress;
    options.keep_weights = true;
    options.batch = 2;
    Session session(graph, options);
    std::uint64_t again = 0;
    for (int run = 0; run < 2; run++) {
      std::vector<Int8Values> inputs;
      for (int image = 0; image < options.batch; image++) {
        for (Int8Values& one : test::draw_inputs(graph, random)) inputs.push_back(std::move(one));
      }
      const RunReport report = session.run(inputs).report;
      EXPECT_TRUE(report.exact.value_or(false)) << report.difference;
      EXPECT_EQ(report.bytes.weights, report.predicted.weights);
      EXPECT_EQ(report.bus.read, report.predicted_bus.read);
      if (run == 1) {
        EXPECT_LT(report.bytes.weights, again);
      } else if (compress == Compress::kOff) {
        raw = report.bytes.weights;
      } else {
        EXPECT_LT(report.bytes.weights, raw * 3 / 4);
        EXPECT_EQ(raw - report.bytes.weights, report.zvc.raw() - report.zvc.packed());
      }
      again = report.bytes.weights;
    }
  }
}

// Any cuts, sizes of commands and timing; images of a batch have surfaces of their own. Where the compiler knows the
// values, the bytes it predicts are those that move.
TEST_P(CompressedMaps, RandomNetworks) {
  const Config& config = preset(GetParam());
  std::mt19937_64 random(test::seed() * 7013 + std::uint64_t(config.kp));
  const auto device = test::make_device(config.name, random());
  const int networks = config.name == "nano" ? 40 : 10;
  int ran = 0, exact = 0;
  std::size_t compressed = 0;
  for (int attempt = 0; ran < networks && attempt < 4 * networks && !HasFailure(); attempt++) {
    const std::uint64_t seed = random();
    const test::GraphBuilder g = test::random_network(seed, 14, 30, 9);
    CompileOptions options;
    options.keep_on_chip = random() % 3 == 0;
    options.block_pixels = random() % 3 == 0 ? int(1 + random() % 40) : 0;
    for (int op = 0; random() % 2 == 0 && op + 1 < int(g.graph.ops.size()); op++) options.cuts.push_back(op);
    options.images = int(1 + random() % 2);
    options.compress = Compress::kOn;
    if (!refusals(g.graph, config, options).empty()) continue;
    test::draw_timing(*device, random);
    SCOPED_TRACE("network of seed " + std::to_string(seed) + ", memory " +
                 test::timing_text(device->memory().options()));
    std::vector<Int8Values> inputs;
    for (int i = 0; i < options.images; i++) {
      for (Int8Values& one : test::draw_inputs(g.graph, random)) inputs.push_back(std::move(one));
    }
    const std::vector<Int8Values> values = run_reference_batch(g.graph, options.images, inputs);
    if (random() % 4 > 0) options.known_values = values;
    if (random() % 2 == 0) options.compress = Compress::kAuto;
    test::Session session(*device, g.graph, config, options);
    compressed += session.program().compressed.size();
    exact += !options.known_values.empty() && session.program().sizes_known();
    session.run(inputs);
    ran++;
  }
  EXPECT_EQ(ran, networks);
  EXPECT_GT(compressed, std::size_t(networks));
  EXPECT_GT(exact, networks / 4);
}

// Whether the codec refuses a segment.
bool is_corrupt(const Config& config, std::int64_t zero, std::span<const std::uint8_t> memory,
                std::uint8_t units, std::int64_t bytes) {
  std::vector<std::uint8_t> raw(static_cast<std::size_t>(bytes));
  try {
    codec::zvc_load(codec::accelerator_format(config.axi_bytes, int(zero)), memory, units, raw);
    return false;
  } catch (const codec::CorruptStream&) {
    return true;
  }
}

// The demo network after a run in which every map crossed memory compressed.
struct SpilledDemo {
  SpilledDemo(const std::string& name, std::uint64_t seed) : config(preset(name)), random(seed) {
    session.run(inputs);
  }

  const Graph graph = demo();
  const Config& config;
  std::mt19937_64 random;
  const std::unique_ptr<sim::SimDevice> device = test::make_device(config.name, random());
  const CompileOptions options = [] {
    CompileOptions o;
    o.keep_on_chip = false;
    o.compress = Compress::kOn;
    return o;
  }();
  const std::vector<Int8Values> inputs = test::draw_inputs(graph, random);
  test::Session session{*device, graph, config, options};
};

// The LOADs of a run again, alone, after a byte of what they read has changed.
TEST_P(CompressedMaps, CorruptMemoryStopsTheMachine) {
  SpilledDemo spilled(GetParam(), test::seed() + 5);
  auto& [graph, config, random, device, options, inputs, session] = spilled;

  Program loads = session.program();
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < loads.commands.size(); i++) {
    const auto* l = std::get_if<LoadRowsCommand>(&loads.commands[i].body);
    if (l != nullptr && l->zvc != 0) from.push_back(i);
  }
  ASSERT_FALSE(from.empty());
  for (std::size_t i = 0; i < loads.commands.size(); i++) {  // as many, so that memory stays where it is
    loads.commands[i] = session.program().commands[from[i % from.size()]];
    loads.commands[i].wait = {};
    loads.meta[i] = session.program().meta[from[i % from.size()]];
  }
  Driver driver(*device, graph, loads, options.rounding);
  driver.execute();  // nothing is wrong yet
  int found = 0;
  for (int round = 0; round < 20; round++) {
    const std::size_t hit = std::size_t(random() % from.size());
    const auto& l = std::get<LoadRowsCommand>(loads.commands[hit].body);
    const std::int64_t row = std::int64_t(random() % std::uint64_t(l.rows));
    const std::int64_t segment = std::int64_t(random() % std::uint64_t(l.segments));
    const std::uint64_t base = session.base_address(int(l.base));
    const std::uint64_t size_at = base + std::uint64_t(l.surface + row * l.segments + segment);
    const std::uint64_t data_at =
        base + std::uint64_t(l.offset + row * l.row_pitch + segment * l.segment_pitch);
    std::uint8_t size = 0;
    device->read_memory(size_at, {&size, 1});
    const std::int64_t pixel = segment + 1 == l.segments ? l.last_pixel_bytes : l.pixel_bytes;
    const std::int64_t beats = (l.columns * pixel + config.axi_bytes - 1) / config.axi_bytes;
    std::uint64_t at = size_at;
    std::uint8_t was = size, now = std::uint8_t(beats + std::int64_t(random() % 10));  // not fewer than raw
    if (size != 0 && round % 2 == 0) {  // any bit of the segment, mostly of a mask
      std::vector<std::uint8_t> memory(std::size_t(size) * std::size_t(config.axi_bytes));
      device->read_memory(data_at, memory);
      const std::size_t byte = round % 4 == 0 ? 0 : random() % memory.size();
      was = memory[byte];
      now = memory[byte] ^= std::uint8_t(1U << random() % 8);
      if (!is_corrupt(config, l.fill, memory, size, l.columns * pixel))
        continue;  // of other elements, but valid
      at = data_at + byte;
    }
    found++;
    device->write_memory(at, {&now, 1});
    const CommandMeta& meta = loads.meta[hit];
    const std::string place = ", row " + std::to_string(meta.first_row + row) + " of '" +
                              graph.tensors[std::size_t(meta.tensor)].name + "'";
    try {
      driver.execute();
      ADD_FAILURE() << "nothing noticed" << place;
    } catch (const DeviceError& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find("corrupt compressed bytes, command"), std::string::npos) << text;
      EXPECT_NE(text.find(place), std::string::npos) << text << ", expected" << place;
    }
    device->write_memory(at, {&was, 1});
    driver.execute();
  }
  EXPECT_GE(found, 10);
}

// A bus error at the sizes of packed segments stops the accelerator with the LOAD that asked for them.
TEST_P(CompressedMaps, BusErrorsOfSizes) {
  SpilledDemo spilled(GetParam(), test::seed() + 7);
  auto& [graph, config, random, device, options, inputs, session] = spilled;
  const auto& commands = session.program().commands;
  const auto load = std::find_if(commands.begin(), commands.end(), [](const auto& c) {
    const auto* l = std::get_if<LoadRowsCommand>(&c.body);
    return l != nullptr && l->zvc != 0;
  });
  ASSERT_NE(load, commands.end());
  const auto& l = std::get<LoadRowsCommand>(load->body);
  const std::uint64_t at = session.base_address(int(l.base)) + std::uint64_t(l.surface);
  device->memory().fail_range(at, at, sim::kRespSlverr, true, false);
  try {
    session.driver().run(inputs);
    ADD_FAILURE() << "nothing noticed";
  } catch (const DeviceError& e) {
    const std::string expected =
        "bus error of LOAD (slave error), command " + std::to_string(load - commands.begin()) + " (";
    EXPECT_NE(std::string(e.what()).find(expected), std::string::npos)
        << e.what() << ", expected " << expected;
  }
  device->memory().clear_failures();
  session.run(inputs);
}

// Weights that no compressor writes stop the accelerator, with the command; others are other weights.
TEST_P(CompressedMaps, CorruptWeightsStopTheMachine) {
  const Graph graph = test::pruned(demo(), 50, test::seed());
  const Config& config = preset(GetParam());
  std::mt19937_64 random(test::seed() + 9);
  SessionOptions options{.config = config.name};
  options.compress = Compress::kOn;
  Session session(graph, options);
  const auto inputs = test::draw_inputs(graph, random);
  const Program& program = session.program();
  int found = 0;
  for (std::size_t i = 0; i < program.commands.size() && found < 5; i++) {
    const auto* l = std::get_if<LoadWeightsCommand>(&program.commands[i].body);
    if (l == nullptr || l->zvc_beats == 0 || l->zvc_beats > std::int64_t(codec::kMaxZvcUnits)) continue;
    for (int round = 0; round < 4; round++) {
      std::vector<std::uint8_t> memory(std::size_t(l->zvc_beats * config.axi_bytes));
      std::copy_n(program.constants.begin() + l->offset, memory.size(), memory.begin());
      const std::size_t byte = round == 0 ? memory.size() - 1 : random() % memory.size();
      const int bit = int(random() % 8);
      memory[byte] ^= std::uint8_t(1U << bit);
      const bool corrupt = is_corrupt(config, l->fill, memory, std::uint8_t(l->zvc_beats), l->bytes);
      session.flip_constant_bit(std::size_t(l->offset) + byte, bit);
      try {
        session.run(inputs);
        EXPECT_FALSE(corrupt) << "nothing noticed, command " << i << ", byte " << byte;
      } catch (const DeviceError& e) {
        EXPECT_TRUE(corrupt) << e.what();
        EXPECT_NE(std::string(e.what()).find("corrupt compressed bytes, command " + std::to_string(i)),
                  std::string::npos)
            << e.what();
        found++;
      }
      session.flip_constant_bit(std::size_t(l->offset) + byte, bit);
    }
  }
  EXPECT_GE(found, 1);
  EXPECT_TRUE(session.run(inputs).report.exact.value_or(false));
}

INSTANTIATE_TEST_SUITE_P(Configurations, CompressedMaps, testing::Values("nano", "base"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kaiten
