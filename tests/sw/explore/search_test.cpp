// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The search against all candidates of random spaces, whatever the bounds are as long as they are none too high, and shared by
// any number of threads.
#include "explore/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <stdexcept>

#include "tests/support/seed.h"

namespace kaiten::explore {
namespace {

struct Space {
  std::vector<Resources> areas;
  std::vector<std::int64_t> cycles, bounds;
  std::vector<bool> refused;
  Resources budget;

  Problem problem(bool prune) const {
    const auto outcome = [this](const std::vector<std::int64_t>& of, std::size_t i) {
      return Outcome{{of[i] / 3, of[i] - of[i] / 3}, ""};
    };
    return {areas, budget, [this, outcome](std::size_t i) { return outcome(bounds, i); },
            [this, outcome](std::size_t i) {
              return refused[i] ? Outcome{{}, "too small"} : outcome(cycles, i);
            },
            prune};
  }
};

// Small numbers, so that equals and near equals are many.
Space drawn(std::mt19937_64& rng, std::size_t n) {
  const auto uniform = [&](int low, int high) { return low + int(rng() % std::uint64_t(high - low + 1)); };
  Space s;
  const int most = uniform(2, 12);
  for (std::size_t i = 0; i < n; i++) {
    s.areas.push_back({double(uniform(1, most)), double(uniform(1, most)), double(uniform(1, most)) / 2});
    const int size = int(s.areas.back().lut + s.areas.back().dsp);
    s.cycles.push_back(std::max(1, 30 - size + uniform(0, 6)));
    s.bounds.push_back(uniform(0, 2) == 0 ? uniform(0, int(s.cycles.back())) : s.cycles.back());
    s.refused.push_back(uniform(0, 9) == 0);
  }
  if (uniform(0, 1) == 1) s.budget = {double(most - 1), 0, double(most) / 2};
  return s;
}

// The set by its definition.
std::set<std::size_t> front_of(const Space& s) {
  const auto possible = [&](std::size_t i) {
    return !s.refused[i] && (s.budget.lut <= 0 || s.areas[i].lut <= s.budget.lut) &&
           (s.budget.ram <= 0 || s.areas[i].ram <= s.budget.ram);
  };
  std::set<std::size_t> front;
  for (std::size_t i = 0; i < s.areas.size(); i++) {
    bool beaten = !possible(i);
    for (std::size_t j = 0; j < s.areas.size() && !beaten; j++) {
      const Resources &a = s.areas[j], &b = s.areas[i];
      const bool no_worse = s.cycles[j] <= s.cycles[i] && a.lut <= b.lut && a.dsp <= b.dsp && a.ram <= b.ram;
      const bool better = s.cycles[j] < s.cycles[i] || a.lut < b.lut || a.dsp < b.dsp || a.ram < b.ram;
      beaten = possible(j) && no_worse && better;
    }
    if (!beaten) front.insert(i);
  }
  return front;
}

std::set<std::size_t> numbers_of(const Found& found) {
  std::set<std::size_t> all;
  for (const Point& p : found.front) all.insert(p.candidate);
  return all;
}

TEST(Search, FindsWhatTheWholeSpaceHas) {
  std::mt19937_64 rng(test::seed());
  std::size_t pruned = 0;
  for (int round = 0; round < 200; round++) {
    const Space s = drawn(rng, 1 + rng() % 300);
    const Found all = search(s.problem(false), on_threads(1));
    const Found some = search(s.problem(true), on_threads(1));
    EXPECT_EQ(numbers_of(all), front_of(s)) << round;
    EXPECT_EQ(numbers_of(some), front_of(s)) << round;
    EXPECT_EQ(all.pruned, 0U);
    EXPECT_EQ(some.looked_at + some.pruned + some.over_budget, s.areas.size());
    EXPECT_LE(some.looked_at, all.looked_at);
    EXPECT_TRUE(std::is_sorted(some.front.begin(), some.front.end(), [](const Point& a, const Point& b) {
      return a.outcome.total() < b.outcome.total();
    }));
    pruned += some.pruned;
  }
  EXPECT_GT(pruned, 1000U);  // or nothing was tested
}

TEST(Search, TheSameForAnyNumberOfThreads) {
  std::mt19937_64 rng(test::seed());
  for (int round = 0; round < 20; round++) {
    const Space s = drawn(rng, 400);
    const Found one = search(s.problem(true), on_threads(1));
    for (const int threads : {2, 5}) {
      const Found more = search(s.problem(true), on_threads(threads));
      EXPECT_EQ(more.looked_at, one.looked_at);
      EXPECT_EQ(more.reason, one.reason);
      ASSERT_EQ(more.front.size(), one.front.size());
      for (std::size_t i = 0; i < one.front.size(); i++) {
        EXPECT_EQ(more.front[i].candidate, one.front[i].candidate);
        EXPECT_EQ(more.front[i].outcome, one.front[i].outcome);
      }
    }
  }
}

TEST(Search, AnInterruptionKeepsWhatWasFound) {
  std::mt19937_64 rng(test::seed());
  Space s = drawn(rng, 300);
  s.budget = {};
  Problem problem = s.problem(false);
  std::atomic<int> left = 100;
  problem.modelled = [&, modelled = problem.modelled](std::size_t i) {
    if (left-- <= 0) throw std::runtime_error("stop");
    return modelled(i);
  };
  const Found found = search(problem, on_threads(2, [](const std::exception_ptr&) { return true; }));
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.looked_at, 100U);
  EXPECT_FALSE(found.front.empty());
  left = 100;
  EXPECT_THROW(search(problem, on_threads(2, [](const std::exception_ptr&) { return false; })),
               std::runtime_error);
}

TEST(Search, RefusalsOfBoundsAreCounted) {
  Space s;
  s.areas = {{1, 1, 1}, {2, 2, 2}};
  s.cycles = s.bounds = {5, 4};
  s.refused = {false, false};
  Problem problem = s.problem(true);
  problem.least = [](std::size_t i) { return i == 0 ? Outcome{{}, "a kernel of 99"} : Outcome{{1}, ""}; };
  const Found found = search(problem, on_threads(1));
  EXPECT_EQ(found.refused, 1U);
  EXPECT_EQ(found.reason, "a kernel of 99");
  EXPECT_EQ(numbers_of(found), std::set<std::size_t>{1});
}

}  // namespace
}  // namespace kaiten::explore
