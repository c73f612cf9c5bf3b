// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// SushiSched against the algorithm written out: scans for SubNets, means and distances of vectors, all sequences of SubGraphs.
// The server's clock and sums against queries counted by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "serve/scheduler.h"
#include "serve/server.h"
#include "tests/support/seed.h"

namespace kaiten::serve {
namespace {

// Times that differ from column to column with no order, accuracies some of which are equal.
Table random_table(std::mt19937_64& random, std::size_t rows, std::size_t columns, std::size_t code = 12) {
  Table t{.supernet = "random", .origin = "random", .accuracies = "random"};
  const auto codes = [&] {
    std::vector<int> out;
    for (std::size_t i = 0; i < code; i++) out.push_back(int(random() % 2049));
    return out;
  };
  for (std::size_t i = 0; i < rows; i++)
    t.subnets.push_back({"S" + std::to_string(i), 70 + double(random() % 10), codes()});
  for (std::size_t j = 0; j < columns; j++) {
    t.subgraphs.push_back({j == 0 ? std::string(Table::kNothing) : "G" + std::to_string(j),
                           j == 0 ? 0 : 0.5 + double(random() % 8),
                           j == 0 ? 0 : 1000.0 * double(random() % 9),
                           j == 0 ? std::vector<int>(code) : codes()});
  }
  for (std::size_t i = 0; i < rows * columns; i++) {
    t.latency_ms.push_back(1 + double(random() % 20));
    t.weight_bytes.push_back(double(random() % 100));
  }
  for (std::size_t i = 0; i < rows; i++) t.other_bytes.push_back(10);
  check(t, "random table");
  return t;
}

Constraints random_query(std::mt19937_64& random) {
  return {69 + double(random() % 12), double(random() % 23)};
}

// Line by line as the paper says it: every SubNet is looked at.
std::optional<std::size_t> scanned(const Table& t, Policy policy, const Constraints& query,
                                   std::size_t column) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < t.subnets.size(); i++) {
    const double accuracy = t.subnets[i].accuracy, latency = t.latency(i, column);
    if (policy == Policy::kAccuracy ? accuracy < query.accuracy : latency > query.latency_ms) continue;
    if (!best) {
      best = i;
      continue;
    }
    const double a = t.subnets[*best].accuracy, l = t.latency(*best, column);
    const bool better = policy == Policy::kAccuracy ? latency < l || (latency == l && accuracy > a)
                                                    : accuracy > a || (accuracy == a && latency < l);
    if (better) best = i;
  }
  return best;
}

TEST(Scheduler, ChoosesTheSubNetThatAScanFinds) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 50; round++) {
    const Table t = random_table(random, 1 + random() % 20, 1 + random() % 5);
    for (const Policy policy : {Policy::kAccuracy, Policy::kLatency}) {
      const Scheduler drops(t,
                            {.policy = policy, .caching = Caching::kNone, .infeasible = Infeasible::kDrop});
      const Scheduler serves(t, {.policy = policy, .caching = Caching::kNone});
      for (int n = 0; n < 50; n++) {
        const Constraints query = random_query(random);
        const std::size_t column = random() % t.subgraphs.size();
        const auto expected = scanned(t, policy, query, column);
        EXPECT_EQ(drops.choose(query, column).subnet, expected);
        EXPECT_EQ(serves.choose(query, column).feasible, expected.has_value());
        if (expected) {
          EXPECT_EQ(serves.choose(query, column).subnet, expected);
          continue;
        }
        // The closest: the most accurate ones' fastest, or the fastest ones' most accurate.
        Constraints closest = query;
        for (std::size_t i = 0; i < t.subnets.size(); i++) {
          closest.accuracy =
              i == 0 ? t.subnets[i].accuracy : std::max(closest.accuracy, t.subnets[i].accuracy);
          closest.latency_ms =
              i == 0 ? t.latency(i, column) : std::min(closest.latency_ms, t.latency(i, column));
        }
        EXPECT_EQ(serves.choose(query, column).subnet, scanned(t, policy, closest, column));
      }
    }
  }
}

// The mean of the last SubNets' vectors and the vector nearest to it, in floating point.
std::size_t nearest(const Table& t, const std::vector<std::size_t>& served, std::size_t window,
                    std::size_t current) {
  const std::size_t n = std::min(window, served.size()), code = t.subnets.front().code.size();
  std::vector<double> mean(code, 0);
  for (std::size_t i = served.size() - n; i < served.size(); i++) {
    for (std::size_t k = 0; k < code; k++) mean[k] += t.subnets[served[i]].code[k] / double(n);
  }
  const auto distance = [&](std::size_t j) {
    double sum = 0;
    for (std::size_t k = 0; k < code; k++) sum += std::pow(mean[k] - t.subgraphs[j].code[k], 2);
    return sum;
  };
  std::size_t best = current;
  for (std::size_t j = 0; j < t.subgraphs.size(); j++) {
    if (distance(j) < distance(best) * (1 - 1e-12)) best = j;
  }
  return best;
}

TEST(Scheduler, CachesTheSubGraphNearestToTheMeanSubNet) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 40; round++) {
    const Table t = random_table(random, 1 + random() % 8, 2 + random() % 30);
    SchedulerOptions o;
    o.q = 1 + int(random() % 6);
    o.window = int(random() % 12);
    o.seed = random();
    const std::size_t window = std::size_t(o.window == 0 ? o.q : o.window);
    Scheduler scheduler(t, o);
    EXPECT_NE(scheduler.subgraph(), 0U) << "the first one is no empty PB";
    std::size_t current = scheduler.subgraph();
    std::vector<std::size_t> served;
    for (int n = 1; n <= 200; n++) {
      const Constraints query = random_query(random);
      const Decision d = scheduler.decide(query);
      ASSERT_EQ(d.subgraph, current);
      served.push_back(*d.subnet);
      if (n % o.q == 0) current = nearest(t, served, window, current);
      ASSERT_EQ(d.next, current) << "query " << n;
    }
  }
}

TEST(Scheduler, PerQueryFollowsTheLastSubNet) {
  std::mt19937_64 random(test::seed());
  const Table t = random_table(random, 6, 20);
  Scheduler scheduler(t, {.caching = Caching::kPerQuery, .q = 7, .window = 9});
  std::size_t current = scheduler.subgraph();
  for (int n = 0; n < 100; n++) {
    const Decision d = scheduler.decide(random_query(random));
    current = nearest(t, {*d.subnet}, 1, current);
    ASSERT_EQ(d.next, current);
  }
}

TEST(Scheduler, UnawareReadsTheEmptyColumnAndKeepsItsSubGraph) {
  std::mt19937_64 random(test::seed());
  const Table t = random_table(random, 8, 9);
  Scheduler scheduler(t, {.caching = Caching::kUnaware, .first = 4});
  for (int n = 0; n < 100; n++) {
    const Constraints query = random_query(random);
    const Decision d = scheduler.decide(query);
    EXPECT_EQ(d.subnet, Scheduler(t, {}).choose(query, 0).subnet);
    EXPECT_EQ(d.next, 4U);
  }
}

// Saved time less the time of loading decides.
TEST(Scheduler, SavedLoadsWhatPaysBack) {
  Table t{.supernet = "t", .origin = "t", .accuracies = "t"};
  t.subnets = {{"S", 70, {}}};
  t.subgraphs = {{"none", 0, 0, {}}, {"small", 3, 0, {}}, {"large", 9, 0, {}}};
  t.latency_ms = {10, 9, 8};
  const auto after = [&](int q) {
    Scheduler scheduler(t, {.caching = Caching::kSaved, .q = q, .first = 0});
    for (int n = 1; n < q; n++) scheduler.decide({70, 1});
    return scheduler.decide({70, 1}).next;
  };
  EXPECT_EQ(after(3), 0U);  // 3 saved, 3 to load
  EXPECT_EQ(after(4), 1U);
  EXPECT_EQ(after(6), 1U);  // 6 - 3 against 12 - 9
  EXPECT_EQ(after(7), 2U);
}

// Every sequence of columns that changes at the same queries.
TEST(KnownStream, TheSequenceIsTheBestOfAll) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 20; round++) {
    const Table t = random_table(random, 4, 4);
    const bool given = round % 2 == 0;  // else the first column is chosen, too
    SchedulerOptions o{.caching = Caching::kPlanned, .q = 2};
    if (given) o.first = random() % 4;
    Stream stream{.origin = "t", .closed = true};
    for (int n = 0; n < 9; n++) stream.constraints.push_back(random_query(random));
    double least = 1e300;
    for (int code = 0; code < 1024; code++) {  // columns of five blocks
      const auto column = [&](std::size_t block) { return std::size_t(code >> 2 * block & 3); };
      if (given && column(0) != *o.first) continue;
      double ms = 0;
      for (std::size_t i = 0; i < 9; i++) {
        const std::size_t j = column(i / 2);
        if (i > 0 && j != column((i - 1) / 2)) ms += t.subgraphs[j].load_ms;
        ms += t.latency(*Scheduler(t, o).choose(stream.constraints[i], j).subnet, j);
      }
      least = std::min(least, ms);
    }
    EXPECT_NEAR(serve_stream(t, o, stream, 0, [](const Served&) { return true; }).end_ms, least, 1e-9);
  }
}

TEST(KnownStream, TheStaticColumnIsTheBestOfAll) {
  std::mt19937_64 random(test::seed());
  const Table t = random_table(random, 6, 8);
  Stream stream{.origin = "t", .closed = true};
  for (int n = 0; n < 50; n++) stream.constraints.push_back(random_query(random));
  const auto end = [&](std::size_t first, Caching caching) {
    return serve_stream(t, {.caching = caching, .first = first}, stream, 0,
                        [](const Served&) { return true; })
        .end_ms;
  };
  double least = 1e300;
  for (std::size_t j = 0; j < t.subgraphs.size(); j++) {
    Scheduler scheduler(t, {.caching = Caching::kStatic, .first = j});
    double ms = 0;
    for (const Constraints& query : stream.constraints) ms += t.latency(*scheduler.decide(query).subnet, j);
    least = std::min(least, ms);
  }
  EXPECT_NEAR(end(0, Caching::kStatic), least, 1e-9);
}

Table two_by_two() {
  Table t{.supernet = "t", .origin = "t", .accuracies = "t"};
  t.subnets = {{"slow", 80, {4, 3}}, {"fast", 70, {2, 3}}};
  t.subgraphs = {{"none", 0, 0, {0, 0}}, {"G", 5, 600, {3, 4}}};
  t.latency_ms = {20, 16, 10, 7};
  t.weight_bytes = {1000, 600, 500, 300};
  t.other_bytes = {50, 50};
  return t;
}

// Arrivals at 0, 4, 50: the second one waits for the first and for the loading of G.
TEST(Server, CountsTimeAndBytes) {
  const Table t = two_by_two();
  Server server(t, {.caching = Caching::kNearest, .q = 1, .first = 0}, 2);
  const Served a = server.serve({75, 30}, 0);
  EXPECT_EQ(a.subnet, 0U);
  EXPECT_EQ((std::array{a.start_ms, a.end_ms, a.load_ms}), (std::array{0.0, 20.0, 5.0}));
  const Served b = server.serve({60, 30}, 4);
  EXPECT_EQ(b.subnet, 1U);
  EXPECT_EQ(b.subgraph, 1U);
  EXPECT_EQ((std::array{b.start_ms, b.end_ms}), (std::array{25.0, 32.0}));
  const Served c = server.serve({90, 30}, 50);
  EXPECT_EQ(c.subnet, 0U);
  EXPECT_TRUE(c.violated);
  EXPECT_EQ((std::array{c.start_ms, c.end_ms}), (std::array{50.0, 66.0}));
  const Summary s = server.summary();
  EXPECT_EQ(s.queries, 3U);
  EXPECT_EQ(s.served, 3U);
  EXPECT_EQ(s.violated, 1U);
  EXPECT_EQ(s.violation_max, 10);
  EXPECT_DOUBLE_EQ(s.latency_ms.mean, (20 + 28 + 16) / 3.0);
  EXPECT_EQ(s.latency_ms.p50, 20);
  EXPECT_EQ(s.latency_ms.p99, 28);
  EXPECT_EQ(s.slo_attainment, 1);
  EXPECT_EQ(s.load_bytes, 600);
  EXPECT_EQ(s.weight_bytes, 1000 + 600 + 300 + 600);
  EXPECT_EQ(s.other_bytes, 150);
  EXPECT_DOUBLE_EQ(s.energy_millijoules, (2500 + 150) * 2e-9);
  // G is (3, 4) of length 5: slow has (3, 3) of it, fast (2, 3); PB was empty for the first one.
  EXPECT_DOUBLE_EQ(*s.hit_ratio, (0 + std::sqrt(13.0) / 5 + std::sqrt(18.0) / 5) / 3);
  EXPECT_DOUBLE_EQ(s.byte_hit_ratio, (0 + 200 + 400) / 2500.0);
}

TEST(Server, DropsOrServesWhatCannotBeMet) {
  const Table t = two_by_two();
  Server drops(t, {.caching = Caching::kNone, .infeasible = Infeasible::kDrop});
  drops.serve({99, 1}, 0);
  drops.serve({75, 30}, 1);
  EXPECT_EQ(drops.summary().served, 1U);
  EXPECT_EQ(drops.summary().violated, 1U);
  EXPECT_EQ(drops.summary().latency_ms.mean, 20);
  // Under the latency policy a query that waits too long is violated, though a SubNet is fast enough.
  Server late(t, {.policy = Policy::kLatency, .caching = Caching::kNone});
  EXPECT_FALSE(late.serve({0, 20}, 0).violated);
  EXPECT_TRUE(late.serve({0, 20}, 1).violated);
  EXPECT_EQ(late.summary().slo_attainment, 0.5);
  EXPECT_EQ(late.summary().violation_max, 19);
}

// The second query and the first loading end with an error of the hardware.
TEST(Server, AnErrorOfTheHardwareFailsOneQuery) {
  const Table t = two_by_two();
  int runs = 0, loads = 0;
  Executor executor;
  executor.run = [&](std::size_t) {
    if (++runs == 2) throw DeviceError("bus error of query 2");
    return Taken{1, 10};
  };
  executor.load = [&](std::size_t) {
    if (++loads == 2) throw DeviceError("bus error of a load");
    return Taken{3, 30};
  };
  Server server(t, {.caching = Caching::kNearest, .q = 1, .first = 0}, 0, executor);
  const Served a = server.serve({75, 30}, 0);
  EXPECT_FALSE(a.failed);
  EXPECT_EQ((std::array{a.end_ms, a.load_ms, a.load_bytes}),
            (std::array{1.0, 5.0, 0.0}));  // the table's time
  const Served b = server.serve({75, 30}, 10);
  EXPECT_TRUE(b.failed && b.violated);
  EXPECT_EQ((std::array{b.start_ms, b.end_ms, b.weight_bytes}), (std::array{10.0, 26.0, 0.0}));
  EXPECT_FALSE(server.serve({75, 30}, 100).failed);
  const Summary s = server.summary();
  EXPECT_EQ((std::array{s.queries, s.served, s.failed, s.violated}),
            (std::array<std::uint64_t, 4>{3, 2, 1, 1}));
  EXPECT_EQ(s.failure, "bus error of a load");
  EXPECT_EQ(s.weight_bytes, 20);
  EXPECT_NEAR(s.slo_attainment, 2 / 3.0, 1e-12);
  // What is wrong with the caller's own code comes out.
  Server wrong(t, {.caching = Caching::kNone}, 0,
               {.run = [](std::size_t) -> Taken { throw std::logic_error("x"); }});
  EXPECT_THROW(wrong.serve({75, 30}, 0), std::logic_error);
}

TEST(Server, ASingleStreamWaitsForLoadingAlone) {
  const Table t = two_by_two();
  Server server(t, {.caching = Caching::kNearest, .q = 1, .first = 0});
  EXPECT_EQ(server.serve({75, 30}).response_ms(), 20);
  EXPECT_EQ(server.serve({75, 30}).response_ms(), 5 + 16);
  EXPECT_EQ(server.serve({75, 30}).response_ms(), 16);
}

TEST(Scheduler, SaysWhatTheTableLacks) {
  Table t = two_by_two();
  EXPECT_THROW(Scheduler(t, {.q = 0}), InputError);
  EXPECT_THROW(Scheduler(t, {.first = 2}), InputError);
  t.subgraphs[0].name = "other";
  EXPECT_THROW(Scheduler(t, {.caching = Caching::kNone}), InputError);
  EXPECT_THROW(Scheduler(t, {.caching = Caching::kUnaware}), InputError);
  EXPECT_NO_THROW(Scheduler(t, {.caching = Caching::kNearest}));
  for (auto& s : t.subnets) s.code.clear();
  for (auto& g : t.subgraphs) g.code.clear();
  EXPECT_THROW(Scheduler(t, {.caching = Caching::kNearest}), InputError);
  EXPECT_NO_THROW(Scheduler(t, {.caching = Caching::kSaved}));
}

}  // namespace
}  // namespace kaiten::serve
