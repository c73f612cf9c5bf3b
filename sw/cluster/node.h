// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What takes part in a co-simulation: a chip or the host.
#ifndef KAITEN_CLUSTER_NODE_H
#define KAITEN_CLUSTER_NODE_H

#include "cluster/mail.h"

namespace kaiten::cluster {

class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  // Before advance() over the window in which the packet is delivered; in the order of time. `message`: where it is the last.
  virtual void deliver(const Delivery& delivery, const Message* message) = 0;
  // Simulates until that cycle. What leaves before it is taken by mail().
  virtual void advance(std::uint64_t until) = 0;
  virtual Mail mail(std::uint64_t until) = 0;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_NODE_H
