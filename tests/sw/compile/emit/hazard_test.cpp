// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/hazard.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>
#include <vector>

#include "tests/support/seed.h"

namespace kaiten {
namespace {

constexpr std::size_t kCommands = 160;

struct Given {
  Queue queue;
  std::vector<Access> accesses;
  Counts wait;
};

bool conflict(const Given& a, const Given& b) {
  for (const Access& x : a.accesses) {
    for (const Access& y : b.accesses) {
      if (x.space != y.space || (!x.write && !y.write)) continue;
      if (x.write && y.write && x.part_of != 0 && x.part_of == y.part_of && a.queue == b.queue) continue;
      if (x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

// Every pair that conflicts is ordered: the later one cannot start before the earlier one is complete.
TEST(Hazards, EveryConflictIsOrdered) {
  std::mt19937_64 rng(test::seed());
  const auto uniform = [&](int low, int high) { return low + int(rng() % std::uint64_t(high - low + 1)); };
  for (int round = 0; round < 60; round++) {
    HazardTracker tracker;
    std::vector<Given> given;
    std::vector<std::vector<std::size_t>> of_queue(kQueues);  // commands of each queue
    for (std::size_t i = 0; i < kCommands; i++) {
      Given g;
      g.queue = Queue(uniform(0, 3));
      for (int n = uniform(1, 3); n > 0; n--) {
        const int begin = uniform(0, 30);
        g.accesses.push_back({Space(uniform(0, 1)), begin, begin + uniform(1, 8), uniform(0, 1) == 0, 0});
      }
      // In another space parts and whole accesses mix; a command writes one part, as rows of a tensor are.
      if (uniform(0, 1)) {
        const int begin = uniform(0, 3) * 8;
        Access a{Space::kWb, begin, begin + 8, uniform(0, 1) == 0, 0};
        if (a.write && uniform(0, 3) > 0) a.part_of = std::uint32_t(uniform(1, 2));
        g.accesses.push_back(a);
      }
      g.wait = tracker.add(g.queue, g.accesses);
      for (std::size_t q = 0; q < kQueues; q++) ASSERT_LE(g.wait[q], of_queue[q].size());
      of_queue[std::size_t(g.queue)].push_back(i);
      given.push_back(std::move(g));
    }
    // completed_before[i]: commands that are complete when i starts; started_before[i] without those it must
    // wait for.
    std::vector<std::bitset<kCommands>> complete(kCommands);
    for (std::size_t i = 0; i < kCommands; i++) {
      for (std::size_t q = 0; q < kQueues; q++) {
        for (std::size_t n = 0; n < given[i].wait[q]; n++) {
          complete[i].set(of_queue[q][n]);
          complete[i] |= complete[of_queue[q][n]];
        }
      }
      // Queues start their commands in order: what was complete for the one before is complete now.
      for (std::size_t j = i; j-- > 0;) {
        if (given[j].queue != given[i].queue) continue;
        complete[i] |= complete[j];
        break;
      }
      for (std::size_t j = 0; j < i; j++) {
        if (conflict(given[i], given[j])) EXPECT_TRUE(complete[i][j]) << "command " << i << " after " << j;
      }
    }
  }
}

TEST(Hazards, PartsDoNotWaitForEachOther) {
  HazardTracker tracker;
  const auto write = [](std::uint32_t part) { return std::vector<Access>{{Space::kSb, 0, 10, true, part}}; };
  const std::vector<Access> read{{Space::kSb, 5, 6, false, 0}};
  EXPECT_EQ(tracker.add(Queue::kConv, write(7)), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(tracker.add(Queue::kConv, write(7)), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(tracker.add(Queue::kVector, read), (Counts{0, 2, 0, 0}));
  EXPECT_EQ(tracker.add(Queue::kConv, write(8)), (Counts{0, 2, 1, 0}));
  EXPECT_EQ(tracker.add(Queue::kVector, write(8)), (Counts{0, 3, 0, 0}));
}

TEST(Hazards, ReadersDoNotWaitForReaders) {
  HazardTracker tracker;
  const std::vector<Access> read{{Space::kWb, 0, 4, false, 0}};
  const std::vector<Access> write{{Space::kWb, 2, 6, true, 0}};
  EXPECT_EQ(tracker.add(Queue::kLoad, write), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(tracker.add(Queue::kConv, read), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(tracker.add(Queue::kVector, read), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(tracker.add(Queue::kLoad, write), (Counts{1, 1, 1, 0}));
}

}  // namespace
}  // namespace kaiten
