// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Random networks of several layers with residuals on the RTL, every tensor compared: kept on chip or through memory, there
// compressed or not, in commands of any size, in both rounding styles, behind a memory with random timing. And plans: any
// partition, on buffers of any size, gives the same outputs.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "tests/support/seed.h"
#include "tests/system/random_runs.h"

namespace kaiten {
namespace {

struct Selection {
  const char* config;
  int networks;
  int side, channels, layers;
  int planned;  // networks that run by several plans
};

void PrintTo(const Selection& s, std::ostream* out) { *out << s.config; }

#ifdef KAITEN_LONG
const Selection kSelections[] = {{"micro", 1500, 16, 20, 12, 300},
                                 {"nano", 1500, 16, 30, 12, 300},
                                 {"unit", 1500, 16, 30, 12, 300},
                                 {"small", 300, 30, 60, 12, 60},
                                 {"base", 300, 30, 80, 12, 60}};
#else
const Selection kSelections[] = {{"micro", 40, 14, 16, 9, 8},
                                 {"nano", 100, 14, 24, 9, 40},
                                 {"unit", 80, 14, 24, 9, 4},
                                 {"small", 15, 20, 40, 9, 2},
                                 {"base", 15, 20, 50, 9, 4}};
#endif
constexpr int kPlans = 5;  // of a network, beside the compiler's own

class RandomNetworks : public testing::TestWithParam<Selection> {};

TEST_P(RandomNetworks, EveryTensor) {
  const Selection& s = GetParam();
  const Config& config = preset(s.config);
  std::mt19937_64 random(test::seed() * 7919 + std::uint64_t(config.kp) * 131 + std::uint64_t(config.cp));
  const auto device = test::make_device(config.name, random());
  const auto done =
      test::run_random_networks(*device, config, {s.side, s.channels, s.layers}, random,
                                [&](const auto& so_far) { return so_far.networks == s.networks; });
  EXPECT_EQ(done.networks, s.networks);
}

// A partition forced behind any operators, any part of SB and VB taken away.
CompileOptions random_plan(const Graph& graph, const Config& config, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return int(random() % n); };
  CompileOptions options;
  options.keep_on_chip = below(8) != 0;
  options.block_pixels = below(2) ? 1 + below(40) : 0;
  options.order = OperatorOrder(below(3));
  for (const Buffer b : {Buffer::kSb, Buffer::kVb}) {
    const int depth = b == Buffer::kSb ? config.sb_depth : config.vb_depth;
    // What is left is any power of two, so that small capacities are as likely as large ones.
    if (below(2)) options.reserve[std::size_t(b)] = depth - (depth >> below(6));
  }
  const int one_in = 1 + below(4);
  for (int op = 0; op + 1 < int(graph.ops.size()); op++) {
    if (below(3) != 0 && below(std::size_t(one_in)) == 0) options.cuts.push_back(op);
  }
  return options;
}

TEST_P(RandomNetworks, AnyPlanGivesTheSameOutputs) {
  const Selection& s = GetParam();
  const Config& config = preset(s.config);
  std::mt19937_64 random(test::seed() * 6841 + std::uint64_t(config.kp) * 131 + std::uint64_t(config.cp));
  const auto device = test::make_device(config.name, random());
  int networks = 0, plans = 0;
  std::set<std::pair<std::size_t, std::int64_t>> shapes;  // spans and bytes of the plans of a network
  std::size_t different = 0;
  for (int attempt = 0; networks < s.planned && attempt < 4 * s.planned && !HasFailure(); attempt++) {
    const std::uint64_t seed = random();
    const test::GraphBuilder g = test::random_network(seed, s.side, s.channels, s.layers);
    if (!refusals(g.graph, config, {}).empty()) continue;
    const auto inputs = test::draw_inputs(g.graph, random);
    const auto own = test::run_on(*device, g.graph, config, {}, inputs);
    shapes.clear();
    for (int plan = 0; plan < kPlans && !HasFailure(); plan++) {
      const CompileOptions options = random_plan(g.graph, config, random);
      if (!refusals(g.graph, config, options).empty()) continue;
      test::draw_timing(*device, random);
      std::string text = "network of seed " + std::to_string(seed) + ", without " +
                         std::to_string(options.reserve[0]) + " and " + std::to_string(options.reserve[1]) +
                         " addresses, cuts behind";
      for (int op : options.cuts) text += " " + std::to_string(op);
      SCOPED_TRACE(text);
      try {
        test::Session session(*device, g.graph, config, options);
        EXPECT_EQ(session.run(inputs).outputs, own.outputs);
        std::int64_t bytes = 0;
        for (const SpanInfo& span : session.program().spans) bytes += span.activation_bytes;
        shapes.emplace(session.program().spans.size(), bytes);
        plans++;
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
    different += shapes.size();
    networks++;
  }
  EXPECT_EQ(networks, s.planned);
  EXPECT_GT(different, std::size_t(2 * networks));  // the plans must not be all the same
  std::printf("%d networks, %d plans, %zu of them different\n", networks, plans, different);
}

INSTANTIATE_TEST_SUITE_P(Random, RandomNetworks, testing::ValuesIn(kSelections),
                         [](const auto& info) { return std::string(info.param.config); });

}  // namespace
}  // namespace kaiten
