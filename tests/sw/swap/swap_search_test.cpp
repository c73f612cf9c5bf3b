// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Our search of triggers and start offsets against brute force: 1,000 chains of up to 8 layers on up to 3 devices.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "swap/search.h"
#include "tests/support/seed.h"
#include "tests/sw/swap/chain.h"

namespace kaiten::swap {
namespace {

struct Case {
  Scenario setup;
  Plan plan;
};

// Up to `most` plans in all.
Case random_case(std::mt19937_64& random, double most) {
  const auto uniform = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const int layers = uniform(3, 8), devices = uniform(1, 3);
  std::vector<test::Layer> chain;
  for (int i = 0; i < layers; i++)
    chain.push_back(
        {uniform(1, 9) / 2.0, double(uniform(1, 9)), double(uniform(1, 60)), double(uniform(0, 3))});
  Case c{test::setup(test::chain(chain), devices), {}};
  c.setup.independent = uniform(0, 3) == 0;
  c.setup.machine.transfer_seconds = uniform(0, 2) / 8.0;
  c.plan.devices.resize(std::size_t(devices));
  double plans = devices == 1 ? 1 : devices == 2 ? 3 : 9;
  for (int tries = 0; tries < 12; tries++) {
    const std::size_t d = std::size_t(uniform(0, devices - 1));
    const int map = uniform(0, layers - 3), need = map + 1;
    const auto& own = c.plan.devices[d];
    const bool has = std::any_of(own.begin(), own.end(), [&](const Swap& s) { return s.map == map; });
    if (has || plans * (layers - need) > most) continue;
    plans *= layers - need;
    c.plan.devices[d].push_back({map, need});
  }
  // Memory between what just in time needs and what everything at home does, so that some triggers are too early.
  const Result late = simulate(c.setup, c.plan);
  double peak = 0;
  for (const DeviceResult& d : late.devices) peak = std::max(peak, d.peak_bytes);
  for (Device& d : c.setup.machine.devices) d.memory_bytes = peak * uniform(90, 110) / 100;
  return c;
}

// Counts through all triggers and offsets like an odometer.
double brute_force(const Scenario& setup, Plan plan) {
  const auto offsets = start_offsets(setup);
  std::vector<std::size_t> offset(plan.devices.size(), 0);
  double best = std::numeric_limits<double>::infinity();
  for (bool more = true; more;) {
    plan.offsets.clear();
    for (std::size_t o : offset) plan.offsets.push_back(offsets[o]);
    const Result r = simulate(setup, plan);
    if (r.fits()) best = std::min(best, r.seconds);
    more = false;
    for (std::size_t d = 0; d < plan.devices.size() && !more; d++) {
      for (Swap& s : plan.devices[d]) {
        const Training& t = setup.training[d];
        if (++s.trigger < int(t.steps.size())) {
          more = true;
          break;
        }
        s.trigger = t.maps[std::size_t(s.map)].first_backward;
      }
    }
    for (std::size_t d = 1; d < offset.size() && !more; d++) {
      more = ++offset[d] < offsets.size();
      if (!more) offset[d] = 0;
    }
  }
  return best;
}

// Under the address sanitizer, which looks for other faults, a tenth of the chains.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KAITEN_FEWER_CHAINS
#endif
#endif
#ifdef KAITEN_FEWER_CHAINS
constexpr int kChains = 100;
#else
constexpr int kChains = 1000;
#endif

TEST(Search, NoRegretAgainstBruteForce) {
  std::mt19937_64 random(kaiten::test::seed());
  int fit = 0, short_of_memory = 0;
  for (int i = 0; i < kChains; i++) {
    const Case c = random_case(random, 600);
    const Found found = search_triggers(c.setup, c.plan, {});
    const double least = brute_force(c.setup, c.plan);
    ASSERT_EQ(found.seconds, least) << "chain " << i;
    if (least == std::numeric_limits<double>::infinity()) {
      short_of_memory++;
      continue;
    }
    fit++;
    EXPECT_TRUE(found.exact);
    EXPECT_EQ(simulate(c.setup, found.plan).seconds, least);
    EXPECT_GE(least, least_seconds(c.setup) * (1 - 1e-9));
  }
  EXPECT_GT(fit, kChains / 2);
  EXPECT_GT(short_of_memory, kChains / 50);
}

// What the descent alone, which large networks get, leaves on the table.
TEST(Search, DescentAlone) {
  std::mt19937_64 random(kaiten::test::seed() + 1);
  double regret = 0;
  int fit = 0, exact = 0;
  for (int i = 0; i < 300; i++) {
    const Case c = random_case(random, 300);
    SearchOptions descent;
    descent.exhaustive = 0;
    const Found found = search_triggers(c.setup, c.plan, descent);
    const double least = brute_force(c.setup, c.plan);
    if (found.seconds == std::numeric_limits<double>::infinity()) continue;
    fit++;
    exact += found.seconds <= least * (1 + 1e-9) ? 1 : 0;
    regret += found.seconds / least - 1;
  }
  RecordProperty("exact", exact);
  std::printf("descent alone: %d of %d exact, mean regret %.4f\n", exact, fit, regret / fit);
  EXPECT_LT(regret / fit, 0.01);
}

}  // namespace
}  // namespace kaiten::swap
