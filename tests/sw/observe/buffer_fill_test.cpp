// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the fill of the buffers counts as held is read: destroyed, it makes results wrong. What it does not count any more is
// not read: destroyed, it does not. The model of the accelerator is the judge, which knows commands only.
#include "observe/buffer_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "compile/compiler.h"
#include "observe/watcher.h"
#include "reference/reference.h"
#include "tests/support/accelerator_model.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

using Counted = std::span<const std::uint32_t, kQueues>;

bool reached(Counted counts, const Counts& wanted) {
  return std::equal(wanted.begin(), wanted.end(), counts.begin(), std::less_equal<>());
}

// Weights that do not fit WB at once, maps whose rows go round in their rings, depthwise layers in between.
struct Bench {
  test::GraphBuilder g{test::seed()};
  std::vector<Int8Values> inputs;
  Program program;

  explicit Bench(int batch = 1) {
    const int in = g.input(14, 10, 8);
    const int a = g.conv(in, 16, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
    const int b = g.depthwise(a, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
    const int c = g.conv(b, 24, 1, 1, 1, {}, Activation::None);
    const int d = g.depthwise(c, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
    g.output(g.conv(d, 16, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
    Config config = preset("unit");
    config.wb_rows = 128;
    config.vwb_rows = 16;
    config.sb_depth = 128;
    config.vb_depth = 128;
    CompileOptions options;
    options.images = batch;
    program = compile(g.graph, config, options);
    for (int image = 0; image < batch; image++) {
      for (Int8Values& values : g.random_inputs()) inputs.push_back(std::move(values));
    }
  }

  // Whether all results are right when `completed` has done what it wants behind every completion.
  bool right(const std::function<void(test::AcceleratorModel&, Counted)>& completed) {
    test::AcceleratorModel accelerator(program.config, test::seed());
    accelerator.set_wb_split(program.wb_split);
    accelerator.memory(int(Base::kConstants)) = program.constants;
    accelerator.memory(int(Base::kActivations)).assign(std::size_t(program.activation_bytes), 0);
    accelerator.memory(int(Base::kInputs)).assign(std::size_t(program.input_bytes), 0);
    accelerator.memory(int(Base::kOutputs)).assign(std::size_t(program.output_bytes), 0);
    for (int image = 0; image < program.images; image++) {
      const MemoryLayout layout = program.inputs.at(0).layout.of_image(image);
      const Int8Values& values = inputs[std::size_t(image)];
      std::copy(values.begin(), values.end(), accelerator.memory(layout.base).begin() + layout.offset);
    }
    const std::vector<Int8Values> expected =
        run_reference_batch(g.graph, program.images, inputs, RoundingStyle::LiteRt);
    Watcher watcher(g.graph, program, expected);
    accelerator.set_watch(
        [&](std::uint32_t command, int tiles, int rows, int columns, std::span<const std::int8_t> channels) {
          watcher.result({command, tiles, rows, columns}, channels);
        });
    accelerator.set_completed([&](Counted counts) { completed(accelerator, counts); });
    accelerator.run(program.command_bytes());
    return watcher.verdict().empty();
  }
};

// A place of a memory with its life, and how to destroy it.
struct Place {
  std::string name;
  Counts written;
  Counts after;
  std::function<void(test::AcceleratorModel&)> spoil;
};

std::vector<Place> places(const Program& program, const BufferFill& fill) {
  std::vector<Place> all;
  const auto name = [](const char* memory, int begin) { return memory + std::to_string(begin); };
  for (const RowDeath& r : program.deaths) {
    const bool vb = r.buffer == Buffer::kVb;
    all.push_back({name(vb ? "VB " : "SB ", r.begin), r.written, r.after,
                   [=](test::AcceleratorModel& m) { m.spoil(vb, r.begin, r.end); }});
  }
  for (const bool vwb : {false, true}) {
    for (const BufferFill::Weights& w : vwb ? fill.vwb() : fill.wb()) {
      all.push_back({name(vwb ? "VWB " : "WB ", w.begin), w.written, w.after,
                     [=](test::AcceleratorModel& m) { m.spoil_weights(vwb, w.begin, w.end); }});
    }
  }
  return all;
}

TEST(BufferFill, DoesNotHoldWhatNobodyReads) {
  for (const int batch : {1, 2}) {
    Bench bench(batch);
    const BufferFill fill(bench.program);
    std::vector<Place> alive = places(bench.program, fill);
    const std::size_t lives = alive.size();
    EXPECT_TRUE(bench.right([&](test::AcceleratorModel& m, Counted counts) {
      std::erase_if(alive, [&](const Place& place) {
        if (!reached(counts, place.after)) return false;
        place.spoil(m);
        return true;
      });
    }));
    EXPECT_TRUE(alive.empty());
    EXPECT_GT(lives, 60U);
  }
}

TEST(BufferFill, HoldsWhatIsRead) {
  Bench bench;
  const BufferFill fill(bench.program);
  for (const Place& place : places(bench.program, fill)) {
    bool spoilt = false;
    EXPECT_FALSE(bench.right([&](test::AcceleratorModel& m, Counted counts) {
      if (spoilt || !reached(counts, place.written)) return;
      spoilt = true;
      EXPECT_FALSE(reached(counts, place.after)) << place.name;
      place.spoil(m);
    })) << place.name;
    EXPECT_TRUE(spoilt) << place.name;
  }
}

// All that is loaded into WB and VWB is read; together it is more than they have.
TEST(BufferFill, CountsEveryWeight) {
  Bench bench;
  const BufferFill fill(bench.program);
  std::int64_t loaded[2] = {}, lives[2] = {};
  for (const Command& c : bench.program.commands) {
    if (const auto* l = std::get_if<LoadWeightsCommand>(&c.body))
      loaded[l->to_vwb] += l->passes * l->pass_pitch;
  }
  for (const auto& w : fill.wb()) lives[0] += w.end - w.begin;
  for (const auto& w : fill.vwb()) lives[1] += w.end - w.begin;
  EXPECT_EQ(lives[0], loaded[0]);
  EXPECT_EQ(lives[1], loaded[1]);
  EXPECT_GT(loaded[0], bench.program.config.wb_rows);
}

TEST(BufferFill, RisesAndFalls) {
  Bench bench;
  const Config& config = bench.program.config;
  const BufferFill fill(bench.program);
  BufferFill::Held most, last;
  EXPECT_TRUE(bench.right([&](test::AcceleratorModel&, Counted counts) {
    last = fill.held(counts);
    most = {std::max(most.sb, last.sb), std::max(most.vb, last.vb), std::max(most.wb, last.wb),
            std::max(most.vwb, last.vwb)};
    if (std::ranges::all_of(counts, [](std::uint32_t n) { return n == 0; }))
      EXPECT_EQ(last.sb + last.vb + last.wb + last.vwb, 0);
  }));
  EXPECT_EQ(last.sb + last.vb + last.wb + last.vwb, 0);
  const auto within = [](std::int64_t n, int size) { return n > size / 8 && n <= size; };
  EXPECT_TRUE(within(most.sb, config.sb_depth)) << most.sb;
  EXPECT_TRUE(within(most.vb, config.vb_depth)) << most.vb;
  EXPECT_TRUE(within(most.wb, config.wb_rows)) << most.wb;
  EXPECT_TRUE(within(most.vwb, config.vwb_rows)) << most.vwb;
}

}  // namespace
}  // namespace kaiten
