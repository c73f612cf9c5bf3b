// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The host of chips that spill: keeps the maps they send, acknowledges each, and sends it back when it is asked for.
#ifndef KAITEN_CLUSTER_SPILL_HOST_H
#define KAITEN_CLUSTER_SPILL_HOST_H

#include <deque>
#include <map>
#include <utility>

#include "cluster/node.h"

namespace kaiten::cluster {

class SpillHost : public Node {
 public:
  explicit SpillHost(const Topology& topology)
      : host_(Endpoint(topology.chips.size())), working_(topology.chips.size()) {}

  void deliver(const Delivery& delivery, const Message* message) override;
  void advance(std::uint64_t until) override;
  Mail mail(std::uint64_t until) override { return outbox_.take(until); }

  // Chips that are not done.
  std::size_t working() const { return working_; }

 private:
  void take(const Message& message);
  void send(Message message);

  Endpoint host_;
  std::size_t working_;
  std::deque<std::pair<std::uint64_t, Message>> arrivals_;            // by cycle
  std::map<std::pair<Endpoint, int>, std::vector<Int8Values>> kept_;  // by chip and map
  std::uint64_t now_ = 0, messages_ = 0;
  Outbox outbox_;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_SPILL_HOST_H
