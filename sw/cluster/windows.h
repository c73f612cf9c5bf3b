// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Co-simulation: chips and host advance window by window of the links' latency: what leaves in a window arrives in a later one,
// so within it they need not know of each other (conservative simulation, Chandy and Misra), and results do not depend on how
// the chips are spread over threads and ranks.
#ifndef KAITEN_CLUSTER_WINDOWS_H
#define KAITEN_CLUSTER_WINDOWS_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "cluster/exchange.h"
#include "cluster/fabric.h"
#include "cluster/node.h"

namespace kaiten::cluster {

class Windows {
 public:
  // Of this process; `exchange` with other ranks, null where there are none. Every n-th chip is simulated by each of n ranks,
  // the host by rank 0.
  Windows(const Topology& topology, int threads, Exchange* exchange);

  int rank() const { return exchange_ == nullptr ? 0 : exchange_->rank(); }
  int rank_of(Endpoint chip) const { return chip % ranks(); }
  // The chips of this rank, in order.
  const std::vector<Endpoint>& own() const { return own_; }
  // Calls work(chip), its errors with the chip's name.
  template <class Work>
  std::invoke_result_t<Work> named(Endpoint chip, const Work& work) const {
    try {
      return work();
    } catch (const DeviceError& e) {
      throw DeviceError(topology_.chips[std::size_t(chip)].name + ": " + e.what());
    }
  }

  // Until done(), asked of rank 0 alone after each window; `chips` are those of own(). `after_window` may throw to end the run.
  void run(Node& host, const std::vector<Node*>& chips, const std::function<bool()>& done,
           const std::function<void()>& after_window);
  // What all ranks tell of their chips, by chip; `own` is of own().
  template <class T>
  std::vector<T> gather(const std::vector<T>& own) const {
    if (exchange_ == nullptr) return own;
    const std::vector<std::string> told = exchange_->gather(encode_values(std::span<const T>(own)));
    std::vector<T> all(topology_.chips.size());
    for (int r = 0; r < ranks(); r++) {
      const std::vector<T> theirs = decode_values<T>(told[std::size_t(r)], r);
      std::size_t next = 0;
      for (std::size_t c = 0; c < all.size(); c++) {
        if (rank_of(Endpoint(c)) == r) all[c] = theirs.at(next++);
      }
    }
    return all;
  }
  const Fabric& fabric() const { return fabric_; }

 private:
  int ranks() const { return exchange_ == nullptr ? 1 : exchange_->ranks(); }
  bool window(std::uint64_t until, Node& host, const std::vector<Node*>& chips,
              const std::function<bool()>& done);
  Bulletin tell(std::uint64_t until, Node& host, const std::vector<Node*>& chips,
                const std::function<bool()>& done);
  void deliver(const Delivery& delivery, Node& host, const std::vector<Node*>& chips);

  const Topology& topology_;
  Exchange* exchange_;
  Fabric fabric_;
  std::vector<Endpoint> own_;
  std::map<std::uint64_t, Message> under_way_;  // by number
  Workers workers_;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_WINDOWS_H
