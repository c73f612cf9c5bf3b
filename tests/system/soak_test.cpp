// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A soak: one device that is never reset runs random networks behind a memory with random stalls for a number of cycles,
// every tensor compared, on the small configuration with all assertions. KAITEN_SOAK_CYCLES sets another number.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/seed.h"
#include "tests/system/random_runs.h"

namespace kaiten {
namespace {

struct Selection {
  const char* config;
  bool debug;
  std::uint64_t cycles;
  test::NetworkSize size;
};

void PrintTo(const Selection& s, std::ostream* out) { *out << s.config; }

#ifdef KAITEN_LONG
const Selection kSelections[] = {{"nano", true, 10'000'000, {20, 40, 14}},
                                 {"base", false, 10'000'000, {40, 90, 14}}};
#else
const Selection kSelections[] = {{"nano", true, 200'000, {16, 30, 12}},
                                 {"base", false, 200'000, {30, 80, 12}}};
#endif

class Soak : public testing::TestWithParam<Selection> {};

TEST_P(Soak, EveryTensor) {
  const Selection& s = GetParam();
  const char* text = std::getenv("KAITEN_SOAK_CYCLES");
  const std::uint64_t cycles = text && *text ? std::strtoull(text, nullptr, 0) : s.cycles;
  std::mt19937_64 random(test::seed() * 104729 + cycles);
  sim::SimOptions options;
  options.debug = s.debug;
  const auto device = test::make_device(s.config, random(), options);
  const auto done = test::run_random_networks(*device, preset(s.config), s.size, random,
                                              [&](const auto& so_far) { return so_far.cycles >= cycles; });
  EXPECT_GE(done.cycles, cycles);
}

INSTANTIATE_TEST_SUITE_P(Configurations, Soak, testing::ValuesIn(kSelections),
                         [](const auto& info) { return std::string(info.param.config); });

}  // namespace
}  // namespace kaiten
