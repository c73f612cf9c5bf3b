// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Rows of SB and VB that are dead, or not yet written, are destroyed while a program runs
// (observe/row_poison.h). A compiler that is wrong about the rows a layer needs is caught even where what it
// reads too early still lies there from the run before.

#include <gtest/gtest.h>

#include <optional>

#include "compile/emit/emit.h"
#include "compile/lower/lower.h"
#include "compile/spans/place.h"
#include "compile/spans/spans.h"
#include "device/driver.h"
#include "observe/row_poison.h"
#include "observe/watcher.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

class Watching : public sim::ResultWatcher, public sim::QueueWatcher {
 public:
  Watching(sim::SimDevice& device, Watcher& watcher, const Program& program, bool poison)
      : device_(device), watcher_(watcher) {
    if (poison) {
      poison_.emplace(program, [&](Buffer buffer, int begin, int end) {
        device.spoil(buffer == Buffer::kVb, begin, end);
      });
    }
    device_.watch(this);
    device_.watch_queues(this);
  }
  ~Watching() override {
    device_.watch(nullptr);
    device_.watch_queues(nullptr);
  }
  void result(const sim::ResultWord& r) override {
    watcher_.result({r.command, int(r.tiles), int(r.rows), int(r.columns)}, r.data);
  }
  void queues(std::uint32_t, std::span<const std::uint32_t, 4> completed) override {
    if (poison_) poison_->completed(completed);
  }

 private:
  sim::SimDevice& device_;
  Watcher& watcher_;
  std::optional<RowPoison> poison_;
};

// An image and two convolutions; the compiler believes that the second one reads `kernel_rows` rows.
struct Injected {
  test::GraphBuilder g{test::seed()};
  Program program;

  Injected(const Config& config, int kernel_rows) {
    const int in = g.input(12, 12, 4);
    const int first = g.conv(in, 8, 1, 1, 1, {}, Activation::None);
    g.output(g.conv(first, 8, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
    Lowering lowering = lower(g.graph, config, RoundingStyle::LiteRt);
    lowering.ops.back().kernel_rows = kernel_rows;
    SpanOptions options;
    options.block_pixels = 12;  // one row a command
    SpanMemo memo;
    const SpanPlan plan = plan_spans(g.graph, lowering, config, options, memo);
    Buffer too_small;
    // Rings with room for all rows.
    const std::optional<Placement> placement = place(lowering, config, plan, {}, 12, too_small);
    Emitter emitter(g.graph, config, {lowering, plan, *placement}, {});
    emitter.run();
    program = emitter.finish(true);
  }
};

// Runs twice with the same inputs; whether the second run's results are right.
bool right_again(const Injected& p, bool poison) {
  const auto device = test::make_device("nano", test::seed());
  Driver driver(*device, p.g.graph, p.program, RoundingStyle::LiteRt);
  std::mt19937_64 random(test::seed());
  const auto inputs = test::draw_inputs(p.g.graph, random);
  const auto expected = run_reference(p.g.graph, inputs);
  bool right = false;
  for (int run = 0; run < 2; run++) {
    // The first run's array gets rows in time: LOAD is fast, the second's slow.
    sim::AxiMemoryOptions memory = device->memory().options();
    memory.read_latency = run == 0 ? 1 : 300;
    device->memory().set_options(memory);
    Watcher watcher(p.g.graph, driver.program(), expected);
    const Watching watching(*device, watcher, driver.program(), poison);
    driver.run(inputs);
    right = watcher.verdict().empty();
  }
  return right;
}

TEST(Poison, ShowsRowsThatAreReadTooEarly) {
  const Config& config = preset("nano");
  EXPECT_TRUE(right_again(Injected(config, 3), true));
  // The injected bug: the array starts a row before the last row of its window is there. The row of the run
  // before is.
  const Injected bug(config, 2);
  EXPECT_TRUE(right_again(bug, false));
  EXPECT_FALSE(right_again(bug, true));
}

// The plan ends a row's life at its last reader: a reader that it forgets reads a dead row.
TEST(Poison, ShowsRowsThatAreReadTooLate) {
  const Config& config = preset("nano");
  Injected p(config, 3);
  for (RowDeath& death : p.program.deaths) {
    std::uint32_t& conv = death.after[std::size_t(Queue::kConv)];
    if (death.buffer == Buffer::kSb && conv > 3) conv -= 2;
  }
  EXPECT_TRUE(right_again(p, false));
  EXPECT_FALSE(right_again(p, true));
}

}  // namespace
}  // namespace kaiten
