// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A short soak (soak_runs.h) on the small configuration with all assertions and on a large one. KAITEN_SOAK_CYCLES sets another
// number of cycles. The long one is the program `soak`.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/seed.h"
#include "tests/system/soak_runs.h"

namespace kaiten {
namespace {

struct Selection {
  const char* config;
  bool debug;
  std::uint64_t cycles;
  std::array<test::NetworkSize, 2> sizes;
};

void PrintTo(const Selection& s, std::ostream* out) { *out << s.config; }

const Selection kSelections[] = {{"nano", true, 200'000, {{{16, 30, 12}, {4, 100, 6}}}},
                                 {"base", false, 200'000, {{{30, 80, 12}, {4, 100, 6}}}}};

class Soak : public testing::TestWithParam<Selection> {};

TEST_P(Soak, EveryTensorAndEveryBeat) {
  const Selection& s = GetParam();
  const char* text = std::getenv("KAITEN_SOAK_CYCLES");
  const std::uint64_t cycles = text && *text ? std::strtoull(text, nullptr, 0) : s.cycles;
  std::mt19937_64 random(test::seed() * 104729 + cycles);
  sim::SimOptions options;
  options.debug = s.debug;
  test::Soak soak(s.config, random(), options, s.sizes);
  test::SoakCounts done;
  while (done.cycles < cycles && !HasFailure()) done += soak.episode(random());
  EXPECT_GT(done.errors, 0U);
  EXPECT_GT(done.resets, 0U);
  test::SoakCounts::fields([&](const char* name, std::uint64_t test::SoakCounts::*member) {
    std::printf("%s %llu  ", name, static_cast<unsigned long long>(done.*member));
  });
  std::printf("\n");
}

// What the long soak has found, as long as random_network() draws the same from these seeds: rows of one command in one slot
// (the test of the cause: RowFlow.RowsThatNobodyReadsHaveSlots).
TEST(SoakFound, IsMended) {
  test::Soak soak("unit", 1, {}, {{{16, 30, 12}, {16, 30, 12}}});
  EXPECT_GT(soak.episode(17439134264622427532U).runs, 0U);
}

INSTANTIATE_TEST_SUITE_P(Configurations, Soak, testing::ValuesIn(kSelections),
                         [](const auto& info) { return std::string(info.param.config); });

}  // namespace
}  // namespace kaiten
