// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/fabric.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace kaiten::cluster {

std::uint64_t link_cycles(std::uint32_t bytes, double bytes_per_cycle) {
  return std::uint64_t(std::ceil(bytes / bytes_per_cycle));
}

std::uint64_t UpLink::depart(std::uint64_t time, std::uint32_t bytes) {
  free_ = std::max(free_, time) + link_cycles(bytes, bytes_per_cycle_);
  return free_;
}

bool Fabric::Event::operator>(const Event& o) const {
  return std::tie(time, packet.source, number) > std::tie(o.time, o.packet.source, o.number);
}

Fabric::Fabric(const Topology& topology)
    : latency_(topology.latency), host_(Endpoint(topology.chips.size())) {
  links_.push_back({topology.host_bytes_per_cycle});
  for (int way = 0; way < 2; way++) {
    for (double uplink : topology.uplinks) links_.push_back({uplink});
  }
  for (const Chip& chip : topology.chips) {
    switches_.push_back(chip.of_switch);
    links_.push_back({chip.bytes_per_cycle});
  }
}

std::vector<std::size_t> Fabric::route(Endpoint source, Endpoint target) const {
  const std::size_t uplinks = this->uplinks();
  const auto of_switch = [&](Endpoint chip) { return std::size_t(switches_[std::size_t(chip)]); };
  const bool up = source != host_ && (target == host_ || of_switch(source) != of_switch(target));
  const bool down = target != host_ && (source == host_ || of_switch(source) != of_switch(target));
  std::vector<std::size_t> out;
  if (source == host_) out.push_back(0);
  if (up) out.push_back(1 + of_switch(source));
  if (target == host_) out.push_back(0);
  if (down) out.push_back(1 + uplinks + of_switch(target));
  if (target != host_) out.push_back(1 + 2 * uplinks + std::size_t(target));
  return out;
}

const LinkCount& Fabric::uplink(int of_switch, bool from_host) const {
  return links_[1 + std::size_t(of_switch) + (from_host ? uplinks() : 0)].count;
}

std::uint64_t Fabric::cross(Link& link, const Packet& packet, std::uint64_t time) const {
  const std::uint64_t cycles = link_cycles(packet.bytes, link.bytes_per_cycle);
  link.free = std::max(link.free, time) + cycles;
  const auto chip = std::size_t(packet.source == host_ ? packet.target : packet.source);
  link.alone.resize(switches_.size());
  link.alone[chip] = std::max(link.alone[chip], time) + cycles;
  link.count.bytes += packet.bytes;
  link.count.busy += cycles;
  link.count.packets++;
  link.count.delay += link.free - link.alone[chip];
  return link.free;
}

std::vector<Delivery> Fabric::advance(const std::vector<Packet>& packets, std::uint64_t until) {
  for (const Packet& p : packets) {
    // A chip's packet is at the switch a latency after it has left.
    const bool of_chip = p.source != host_;
    events_.push({p.time + (of_chip ? latency_ : 0), p, 0, number_++});
    if (of_chip) link_bytes_ += p.bytes;
  }
  std::vector<Delivery> out;
  while (!events_.empty() && events_.top().time < until) {
    Event e = events_.top();
    events_.pop();
    const std::vector<std::size_t> way = route(e.packet.source, e.packet.target);
    Link& link = links_[way[e.hop]];
    link_bytes_ += e.packet.bytes;
    e.time = cross(link, e.packet, e.time) + latency_;
    if (++e.hop == way.size()) {
      out.push_back({e.time, e.packet});
    } else {
      events_.push(e);
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Delivery& a, const Delivery& b) { return a.time < b.time; });
  return out;
}

std::uint64_t Fabric::time_of(const Topology& topology, Endpoint source, Endpoint target,
                              std::uint64_t bytes) {
  Fabric fabric(topology);
  const bool of_chip = source != Endpoint(topology.chips.size());
  UpLink up(of_chip ? topology.chips[std::size_t(source)].bytes_per_cycle : 1);
  std::vector<Packet> packets;
  while (bytes > 0) {
    const auto size = std::uint32_t(std::min<std::uint64_t>(bytes, kPacketBytes));
    bytes -= size;
    packets.push_back({of_chip ? up.depart(0, size) : 0, source, target, size, 0, bytes == 0});
  }
  const std::vector<Delivery> there = fabric.advance(packets, std::uint64_t(-1));
  return there.empty() ? 0 : there.back().time;
}

}  // namespace kaiten::cluster
