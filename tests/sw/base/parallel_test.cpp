// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace kaiten {
namespace {

TEST(Workers, DoEachPieceOnce) {
  for (int threads : {1, 2, 5}) {
    Workers workers(threads);
    for (std::size_t n : {0, 1, 2, 7, 100}) {
      for (int round = 0; round < 200; round++) {
        std::vector<int> done(n);
        workers.run(n, [&](std::size_t i) { done[i]++; });
        ASSERT_EQ(done, std::vector<int>(n, 1));
      }
    }
  }
}

TEST(Workers, WorkAtOnce) {
  // Each waits until the other has begun.
  Workers workers(2);
  std::atomic<int> begun = 0;
  workers.run(2, [&](std::size_t) {
    begun++;
    for (int b = begun; b < 2; b = begun) begun.wait(b);
    begun.notify_all();
  });
  EXPECT_EQ(begun, 2);
}

TEST(Workers, PassExceptionsOnAndGoOn) {
  Workers workers(3);
  std::atomic<int> done = 0;
  const auto fail = [&](std::size_t i) {
    if (i == 10) throw std::runtime_error("ten");
    done++;
  };
  EXPECT_THROW(workers.run(10'000'000, fail), std::runtime_error);
  EXPECT_GE(done, 10);
  EXPECT_LT(done, 10'000'000 - 1);
  done = 0;
  workers.run(50, [&](std::size_t) { done++; });
  EXPECT_EQ(done, 50);
  EXPECT_THROW(parallel(20, 2, fail), std::runtime_error);
}

}  // namespace
}  // namespace kaiten
