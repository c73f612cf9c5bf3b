// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Sessions in the hands of a program: options out of range, runs that end early, sessions moved from, several threads.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "import/import.h"
#include "program/program.h"
#include "run/session.h"
#include "tests/support/graph_builder.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

Graph demo() { return require_graph(import_file(test::source_file("models/demo/demo.tflite"))); }

SessionOptions nano() {
  SessionOptions o;
  o.config = "nano";
  return o;
}

std::vector<Int8Values> inputs_of(const Graph& graph, int seed) {
  Int8Values values(graph.tensors[std::size_t(graph.inputs.front())].elements());
  for (std::size_t i = 0; i < values.size(); i++) values[i] = std::int8_t(i * 37 + std::size_t(seed) * 11);
  return {values};
}

TEST(Session, OptionsOutOfRangeAreInputErrors) {
  const std::vector<std::function<void(SessionOptions&)>> wrong = {
      [](SessionOptions& o) { o.batch = 0; },
      [](SessionOptions& o) { o.batch = -1; },
      [](SessionOptions& o) { o.batch = std::numeric_limits<int>::max(); },
      [](SessionOptions& o) { o.latency = 0; },
      [](SessionOptions& o) { o.latency = kMostLatency + 1; },
      [](SessionOptions& o) { o.stall = kMostStall + 1; },
      [](SessionOptions& o) { o.bytes_per_cycle = 0.0099; },
      [](SessionOptions& o) { o.bytes_per_cycle = 1e7; },
      [](SessionOptions& o) { o.bytes_per_cycle = std::nan(""); },
      [](SessionOptions& o) { o.bytes_per_cycle = std::numeric_limits<double>::infinity(); },
      [](SessionOptions& o) { o.block_pixels = -1; },
      [](SessionOptions& o) { o.wave = "w.fst", o.wave_from = 5, o.wave_to = 5; },
      [](SessionOptions& o) { o.config = "none"; },
  };
  const Graph graph = demo();
  for (std::size_t i = 0; i < wrong.size(); i++) {
    SessionOptions o = nano();
    wrong[i](o);
    EXPECT_THROW(Session(graph, o), InputError) << "case " << i;
  }
}

TEST(Session, BadInputsAndIndicesAreInputErrors) {
  Session session(demo(), nano());
  EXPECT_THROW(session.program(-1), InputError);
  EXPECT_THROW(session.program(session.sections()), InputError);
  EXPECT_THROW(session.run({}), InputError);
  std::vector<Int8Values> inputs = inputs_of(session.graph(), 1);
  inputs.front().pop_back();
  EXPECT_THROW(session.run(inputs), InputError);
  EXPECT_TRUE(session.run(inputs_of(session.graph(), 1)).report.exact.value_or(false));
}

// The device is in the middle of its work.
TEST(Session, RunsAgainAfterARunThatEndedEarly) {
  struct GivenUp {};
  for (const bool keep_weights : {false, true}) {
    SessionOptions o = nano();
    o.keep_weights = keep_weights;
    o.latency = 5'000;
    Session session(demo(), o);
    const auto inputs = inputs_of(session.graph(), 2);
    for (int calls = 1; calls <= 3; calls++) {
      int left = calls;
      session.set_progress([&](const std::string& what) {
        if (what.find("cycles") != std::string::npos && --left == 0) throw GivenUp{};
      });
      EXPECT_THROW(session.run(inputs), GivenUp);
    }
    session.set_progress({});
    for (int i = 0; i < 2; i++) EXPECT_TRUE(session.run(inputs).report.exact.value_or(false)) << keep_weights;
  }
}

TEST(Session, MovedFrom) {
  Session first(demo(), nano());
  const auto inputs = inputs_of(first.graph(), 3);
  Session second(std::move(first));
  EXPECT_TRUE(second.run(inputs).report.exact.value_or(false));
  EXPECT_THROW(first.run(inputs), InputError);              // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_THROW(first.graph(), InputError);                  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(first.sections(), InputError);               // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(first.program(), InputError);                // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(first.set_progress({}), InputError);         // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(first.flip_constant_bit(0, 0), InputError);  // NOLINT(bugprone-use-after-move)
}

// A border is the windows' own where the accelerator has them; windows on the host read a map that has it.
TEST(Session, WindowsOnTheHostSeeTheirBorder) {
  test::GraphBuilder g(1);
  const int map = g.conv(g.input(14, 14, 8), 384, 1, 1, 1, {}, Activation::None);
  g.output(g.depthwise(g.pad(map, {3, 3, 3, 3}), 7, 7, 2, {}, Activation::None));
  Session session(g.graph, nano());
  const RunReport report = session.run(inputs_of(g.graph, 6)).report;
  EXPECT_TRUE(report.layers.back().on_host);
  EXPECT_TRUE(report.exact.value_or(false)) << report.difference;
}

TEST(Session, RunsOnceAtATime) {
  Session session(demo(), nano());
  const auto inputs = inputs_of(session.graph(), 4);
  int refused = 0;
  session.set_progress([&](const std::string&) {
    std::thread other([&] {
      try {
        session.run(inputs);
      } catch (const InputError&) {
        refused++;
      }
    });
    other.join();
  });
  EXPECT_TRUE(session.run(inputs).report.exact.value_or(false));
  EXPECT_GT(refused, 0);
  session.set_progress({});
  EXPECT_TRUE(session.run(inputs).report.exact.value_or(false));
}

TEST(Session, EveryThreadMayHaveItsOwn) {
  const Graph graph = demo();
  const Int8Values expected = Session(graph, nano()).run(inputs_of(graph, 5)).outputs.front();
  std::vector<Int8Values> found(4);
  std::vector<std::thread> threads;
  for (Int8Values& f : found) {
    threads.emplace_back([&] {
      Session own(graph, nano());
      f = own.run(inputs_of(graph, 5)).outputs.front();
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Int8Values& f : found) EXPECT_EQ(f, expected);
}

}  // namespace
}  // namespace kaiten
