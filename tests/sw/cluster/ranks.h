// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Ranks that are threads of a test; each is late now and then.
#ifndef KAITEN_TESTS_SW_CLUSTER_RANKS_H
#define KAITEN_TESTS_SW_CLUSTER_RANKS_H

#include <barrier>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "cluster/exchange.h"

namespace kaiten::test {

class Hall {
 public:
  explicit Hall(int ranks) : told_(std::size_t(ranks)), barrier_(ranks) {}

  class Seat : public cluster::Exchange {
   public:
    Seat(Hall& hall, int rank) : hall_(hall), rank_(rank), random_(unsigned(rank)) {}
    int rank() const override { return rank_; }
    int ranks() const override { return int(hall_.told_.size()); }
    std::vector<std::string> gather(const std::string& mine) override {
      if (random_() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 500));
      hall_.told_[std::size_t(rank_)] = mine;
      hall_.barrier_.arrive_and_wait();
      std::vector<std::string> all = hall_.told_;
      hall_.barrier_.arrive_and_wait();
      return all;
    }

   private:
    Hall& hall_;
    int rank_;
    std::mt19937 random_;
  };

 private:
  std::vector<std::string> told_;
  std::barrier<> barrier_;
};

// What work(exchange) returns on each rank.
template <class Work>
auto on_ranks(int ranks, const Work& work) {
  using Result = std::invoke_result_t<Work, cluster::Exchange&>;
  Hall hall(ranks);
  std::vector<Result> results{std::size_t(ranks)};
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; r++) {
    threads.emplace_back([&, r] {
      Hall::Seat seat(hall, r);
      results[std::size_t(r)] = work(seat);
    });
  }
  for (std::thread& t : threads) t.join();
  return results;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SW_CLUSTER_RANKS_H
