// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A run in steps is the run at once: Session::begin(), step(), finish().
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "import/import.h"
#include "program/program.h"
#include "run/random_inputs.h"
#include "run/session.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

Session demo() {
  return Session(require_graph(import_file(test::source_file("models/demo/demo.tflite"))),
                 {.config = "nano"});
}

TEST(Steps, GiveWhatARunGives) {
  Session session = demo();
  const std::vector<Int8Values> inputs = random_inputs(session.graph(), 1);
  const RunResult whole = session.run(inputs, {.trace = true});
  session.begin(inputs, {.trace = true});
  RunView before = session.look();
  EXPECT_EQ(before.cycles, 0U);
  while (!session.step(777)) {
    const RunView view = session.look();
    EXPECT_EQ(view.cycles, before.cycles + 777);
    for (std::size_t q = 0; q < view.queues.size(); q++) {
      if (before.cycles > 0) EXPECT_GE(view.queues[q].completed, before.queues[q].completed);
      EXPECT_EQ(view.queues[q].op < 0, view.queues[q].completed == view.queues[q].commands);
    }
    before = view;
  }
  const RunResult stepped = session.finish();
  EXPECT_EQ(stepped.outputs, whole.outputs);
  EXPECT_EQ(stepped.report.cycles, whole.report.cycles);
  EXPECT_EQ(stepped.report.counters.values, whole.report.counters.values);
  EXPECT_TRUE(stepped.report.exact.value());
}

// Sums wait in OB for as many pixels as a command has, of those with several passes; rows and weights come and go.
TEST(Steps, ShowTheFillOfTheBuffers) {
  Session session = demo();
  const Config& config = preset("nano");
  std::int64_t pixels = 0;
  for (const Command& command : session.program().commands) {
    const auto* conv = std::get_if<ConvCommand>(&command.body);
    if (conv == nullptr ||
        (conv->passes == 1 && conv->more_kernel_tile_rows + conv->more_kernel_tile_columns == 0))
      continue;
    pixels = std::max(pixels, conv->rows * conv->columns);
  }
  session.begin(random_inputs(session.graph(), 1), {.trace = true});
  std::array<std::int64_t, 5> most{};
  while (!session.step(7)) {
    const auto buffers = session.look().buffers;
    for (std::size_t i = 0; i < most.size(); i++) most[i] = std::max(most[i], buffers[i].held);
    if (session.look().queues[1].op < 0) EXPECT_EQ(buffers[4].held, 0);
  }
  const std::int64_t row = 9 * config.cp;
  const std::int64_t sizes[] = {config.sb_depth * row, config.vb_depth * row, config.wb_rows * row,
                                config.vwb_rows * row, config.ob_pixels * 4 * config.kp};
  for (std::size_t i = 0; i < most.size(); i++) {
    EXPECT_GT(most[i], 0) << i;
    EXPECT_LE(most[i], sizes[i]) << i;
  }
  EXPECT_EQ(most[4], pixels * 4 * config.kp);
  EXPECT_EQ(session.finish().report.exact, true);
}

TEST(Steps, KeepTheirOrder) {
  Session session = demo();
  const std::vector<Int8Values> inputs = random_inputs(session.graph(), 1);
  EXPECT_THROW(session.step(1), InputError);
  EXPECT_THROW(session.finish(), InputError);
  session.begin(inputs);
  EXPECT_THROW(session.begin(inputs), InputError);
  EXPECT_THROW(session.run(inputs), InputError);
  EXPECT_THROW(session.finish(), InputError);
  EXPECT_THROW(session.step(0), InputError);
  EXPECT_FALSE(session.step(1000));
}

}  // namespace
}  // namespace kaiten
