// Random networks of several layers with residuals on the RTL, every tensor compared: kept on chip or through memory,
// in commands of any size, in both rounding styles, behind a memory with random timing.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/seed.h"
#include "tests/system/random_network.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

struct Selection {
  const char* config;
  int networks;
  int side, channels, layers;
};

void PrintTo(const Selection& s, std::ostream* out) { *out << s.config; }

#ifdef KAITEN_LONG
const Selection kSelections[] = {{"nano", 1500, 16, 30, 12},
                                 {"unit", 1500, 16, 30, 12},
                                 {"small", 300, 30, 60, 12},
                                 {"base", 300, 30, 80, 12}};
#else
const Selection kSelections[] = {
    {"nano", 100, 14, 24, 9}, {"unit", 80, 14, 24, 9}, {"small", 15, 20, 40, 9}, {"base", 15, 20, 50, 9}};
#endif

class RandomNetworks : public testing::TestWithParam<Selection> {};

TEST_P(RandomNetworks, EveryTensor) {
  const Selection& s = GetParam();
  const Config& config = preset(s.config);
  std::mt19937_64 random(test::seed() * 7919 + std::uint64_t(config.kp) * 131 + std::uint64_t(config.cp));
  const auto device = test::make_device(config.name, random());
  int ran = 0;
  std::uint64_t cycles = 0;
  for (int attempt = 0; ran < s.networks && attempt < 4 * s.networks && !HasFailure(); attempt++) {
    const std::uint64_t seed = random();
    const test::GraphBuilder g = test::random_network(seed, s.side, s.channels, s.layers);
    CompileOptions options;
    options.keep_on_chip = random() % 3 != 0;
    options.block_pixels = random() % 3 == 0 ? int(1 + random() % 40) : 0;
    options.rounding = random() % 2 ? RoundingStyle::Tflm : RoundingStyle::LiteRt;
    if (!refusals(g.graph, config, options).empty()) continue;
    test::draw_timing(*device, random);
    SCOPED_TRACE("network of seed " + std::to_string(seed) + ", " + std::to_string(g.graph.ops.size()) +
                 " layers" + (options.keep_on_chip ? ", on chip" : ", in memory") +
                 (options.rounding == RoundingStyle::Tflm ? ", tflm" : ", litert") + ", blocks of " +
                 std::to_string(options.block_pixels) + ", memory " +
                 test::timing_text(device->memory().options()));
    try {
      cycles += test::run_on(*device, g.graph, config, options, test::draw_inputs(g.graph, random)).cycles();
      ran++;
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_EQ(ran, s.networks);
  std::printf("%d networks, %llu cycles at %.0f kHz\n", ran, static_cast<unsigned long long>(cycles),
              double(device->loop_cycles()) / std::max(device->loop_seconds(), 1e-9) / 1e3);
}

INSTANTIATE_TEST_SUITE_P(Random, RandomNetworks, testing::ValuesIn(kSelections),
                         [](const auto& info) { return std::string(info.param.config); });

}  // namespace
}  // namespace kaiten
