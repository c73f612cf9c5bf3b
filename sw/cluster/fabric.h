// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Links and switches as queues: a packet takes a link for its bytes, in the order of arrival, and is at the link's other end
// a latency later (store and forward). A link of a chip towards its switch belongs to the chip alone, which sees to that one
// itself (UpLink). Nothing else decides the order of two packets than their cycle, then their source, then their number: the
// times are the same however the chips are spread over threads and processes.
#ifndef KAITEN_CLUSTER_FABRIC_H
#define KAITEN_CLUSTER_FABRIC_H

#include <cstdint>
#include <queue>
#include <vector>

#include "cluster/topology.h"

namespace kaiten::cluster {

inline constexpr std::uint32_t kPacketBytes = 1024;  // at most

struct Packet {
  std::uint64_t time = 0;  // a chip's: when it has left the chip; the host's: when it leaves
  Endpoint source = 0, target = 0;
  std::uint32_t bytes = 0;
  std::uint64_t message = 0;  // that it is a part of
  bool last = false;          // of the message
};

struct Delivery {
  std::uint64_t time = 0;  // when it is there
  Packet packet;
};

// Cycles that bytes take a link.
std::uint64_t link_cycles(std::uint32_t bytes, double bytes_per_cycle);

// The link from a chip to its switch.
class UpLink {
 public:
  explicit UpLink(double bytes_per_cycle) : bytes_per_cycle_(bytes_per_cycle) {}
  // When a packet has left that is ready at `time`.
  std::uint64_t depart(std::uint64_t time, std::uint32_t bytes);

 private:
  double bytes_per_cycle_;
  std::uint64_t free_ = 0;
};

// What a link has done.
struct LinkCount {
  std::uint64_t bytes = 0;
  std::uint64_t busy = 0;  // cycles
  std::uint64_t packets = 0;
  std::uint64_t delay =
      0;  // cycles by which packets came later than if their chip had had the link alone, all together
};

class Fabric {
 public:
  explicit Fabric(const Topology& topology);

  // Packets of a window of time that ends at `until`; those before have been given. Returns what is delivered because of
  // them, in the order of time: from `until` on, if the window is no longer than the topology's latency.
  std::vector<Delivery> advance(const std::vector<Packet>& packets, std::uint64_t until);
  // Nothing is under way.
  bool idle() const { return events_.empty(); }

  // Bytes that have crossed links of all kinds, the chips' own among them, and the host's memory.
  std::uint64_t link_bytes() const { return link_bytes_; }
  const LinkCount& uplink(int of_switch, bool from_host) const;
  const LinkCount& host_memory() const { return links_.front().count; }
  // Cycles that a message takes from a chip (or the host) to another with nothing else under way.
  static std::uint64_t time_of(const Topology& topology, Endpoint source, Endpoint target,
                               std::uint64_t bytes);

 private:
  struct Link {
    double bytes_per_cycle = 0;
    std::uint64_t free = 0;
    LinkCount count = {};
    std::vector<std::uint64_t> alone =
        {};  // by chip: when the link would be free if it were the chip's alone
  };
  struct Event {
    std::uint64_t time = 0;
    Packet packet;
    std::size_t hop = 0;
    std::uint64_t number = 0;

    bool operator>(const Event& o) const;
  };

  // The cycle in which a packet has crossed.
  std::uint64_t cross(Link& link, const Packet& packet, std::uint64_t time) const;
  std::size_t uplinks() const { return (links_.size() - 1 - switches_.size()) / 2; }
  std::vector<std::size_t> route(Endpoint source, Endpoint target) const;

  std::uint64_t latency_;
  Endpoint host_;
  std::vector<int> switches_;  // by chip
  std::vector<Link> links_;    // the host's memory, uplinks up, uplinks down, links to chips
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t number_ = 0;
  std::uint64_t link_bytes_ = 0;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_FABRIC_H
