// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Plans of networks of several programs: the sums of their programs, with the host's part between them.
#include "target_plan/sections_plan.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/graph_builder.h"

namespace kaiten {
namespace {

using test::GraphBuilder;

// A convolution, a map enlarged on the host, another convolution with a second input of the network added.
GraphBuilder two_programs() {
  GraphBuilder b(1);
  const int in = b.input(6, 6, 4);
  const int small = b.conv(in, 4, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  const int large = b.resize(small, 12, 12, true);
  const int other = b.input(12, 12, 4);
  b.output(b.conv(b.add(large, other, Activation::None), 3, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
  return b;
}

TEST(SectionsPlan, IsThatOfAllPrograms) {
  const GraphBuilder b = two_programs();
  CompileOptions options;
  options.images = 2;
  const std::vector<Section> sections = compile_sections(b.graph, preset("nano"), options);
  ASSERT_EQ(sections.size(), 2U);
  std::int64_t cycles = 0, bytes = 0;
  for (const Section& s : sections) {
    cycles += std::int64_t(s.program.modelled_cycles);
    bytes += std::int64_t(s.program.commands.size() * kCommandBytes);
    for (const CommandMeta& m : s.program.meta) bytes += m.bytes_read() + m.bytes_written();
  }
  SectionsPlanner planner(b.graph, preset("nano"), options);
  const plan::Method m = planner.run(plan::MethodKind::kOptimal);
  EXPECT_EQ(m.cycles, cycles);
  EXPECT_EQ(m.traffic_bytes, bytes);
  ASSERT_EQ(planner.network().layer_count(), 3);
  EXPECT_EQ(planner.network().layers[0].number, 0);
  EXPECT_EQ(planner.network().layers[2].number, 3);
  ASSERT_EQ(m.layers.size(), 3U);
  EXPECT_EQ(m.layers.back().number, 3);
  EXPECT_EQ(m.spans.front().first, 0);
  EXPECT_EQ(m.spans.back().last, 2);
  const std::vector<plan::SectionWork> work = planner.sections(0);
  ASSERT_EQ(work.size(), 2U);
  EXPECT_EQ(work[0].cycles + work[1].cycles, cycles);
  EXPECT_EQ(work[0].traffic_bytes + work[1].traffic_bytes, bytes);
  EXPECT_EQ(work[0].host_written_bytes, 2 * 6 * 6 * 4);
  EXPECT_EQ(work[0].host_read_bytes, 2 * 6 * 6 * 4);
  EXPECT_EQ(work[0].host_operators.size(), 1U);
  EXPECT_EQ(work[1].host_written_bytes, 2 * 2 * 12 * 12 * 4);
  EXPECT_EQ(work[1].host_read_bytes, 2 * 12 * 12 * 3);
  EXPECT_GE(planner.run(plan::MethodKind::kPerLayer).traffic_bytes, bytes);
  EXPECT_EQ(planner.sections(1).size(), 2U);
}

TEST(SectionsPlan, NeedsWorkForTheDevice) {
  GraphBuilder b(1);
  b.output(b.resize(b.input(6, 6, 4), 12, 12, true));
  EXPECT_TRUE(SectionsPlanner(b.graph, preset("nano"), {}).network().layers.empty());
}

}  // namespace
}  // namespace kaiten
