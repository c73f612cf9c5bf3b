// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The shared library kaiten_mpi: ranks by Boost.MPI. A rank that waits sleeps between looks at what has come, so that others
// have its core, and gives up when a rank has told nothing for too long.
#include <algorithm>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/nonblocking.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cluster/exchange.h"

namespace kaiten::cluster {

namespace {

namespace mpi = boost::mpi;
using Clock = std::chrono::steady_clock;

constexpr int kTag = 1;
constexpr int kFailed = 3;                       // exit code, see cli/tool.h
constexpr int kYields = 200;                     // looks before the first sleep
constexpr std::chrono::microseconds kSleep{50};  // between looks
constexpr std::chrono::seconds kPatienceOfRank{
    120};  // without a word of a rank; KAITEN_RANK_PATIENCE changes it

class MpiExchange : public Exchange {
 public:
  MpiExchange() : environment_(mpi::threading::funneled, false) {
    if (const char* seconds = std::getenv("KAITEN_RANK_PATIENCE"))
      patience_ = std::chrono::seconds(std::max(1, std::atoi(seconds)));
  }
  ~MpiExchange() override {
    // Others would wait for this rank for ever.
    if (!finished_) mpi::environment::abort(kFailed);
  }
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;

  void finish() override { finished_ = true; }
  int rank() const override { return world_.rank(); }
  int ranks() const override { return world_.size(); }

  std::vector<std::string> gather(const std::string& mine) override {
    std::vector<std::string> all;
    all.resize(std::size_t(ranks()));
    std::vector<mpi::request> sent, coming;
    std::vector<int> of;
    for (int r = 0; r < ranks(); r++) {
      if (r == rank()) continue;
      sent.push_back(world_.isend(r, kTag, mine));
      coming.push_back(world_.irecv(r, kTag, all[std::size_t(r)]));
      of.push_back(r);
    }
    all[std::size_t(rank())] = mine;
    for (std::size_t i = 0; i < coming.size(); i++) wait(coming[i], of[i]);
    for (std::size_t i = 0; i < sent.size(); i++) wait(sent[i], of[i]);
    return all;
  }

 private:
  void wait(mpi::request& request, int rank) {
    const Clock::time_point start = Clock::now();
    for (int looks = 0; !request.test(); looks++) {
      if (looks < kYields) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(kSleep);
      if (Clock::now() - start > patience_)
        throw DeviceError("rank " + std::to_string(rank) + " has told nothing for " +
                          std::to_string(patience_.count()) + " s");
    }
  }

  mpi::environment environment_;
  mpi::communicator world_;
  bool finished_ = false;
  std::chrono::seconds patience_ = kPatienceOfRank;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) Exchange* kaiten_make_mpi_exchange() {
  return new MpiExchange;
}

}  // namespace kaiten::cluster
