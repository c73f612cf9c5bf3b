// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/windows.h"

#include <algorithm>
#include <iterator>

namespace kaiten::cluster {

Windows::Windows(const Topology& topology, int threads, Exchange* exchange)
    : topology_(topology), exchange_(exchange), fabric_(topology), workers_(threads) {
  for (Endpoint c = 0; c < Endpoint(topology.chips.size()); c++) {
    if (rank_of(c) == rank()) own_.push_back(c);
  }
}

void Windows::run(Node& host, const std::vector<Node*>& chips, const std::function<bool()>& done,
                  const std::function<void()>& after_window) {
  bool over = false;
  for (std::uint64_t until = topology_.latency; !over; until += topology_.latency) {
    over = window(until, host, chips, done);
    if (after_window) after_window();
  }
}

bool Windows::window(std::uint64_t until, Node& host, const std::vector<Node*>& chips,
                     const std::function<bool()>& done) {
  workers_.run(chips.size(), [&](std::size_t i) { named(own_[i], [&] { chips[i]->advance(until); }); });
  if (rank() == 0) host.advance(until);
  Bulletin told = tell(until, host, chips, done);
  for (Message& m : told.mail.messages) under_way_.emplace(m.number, std::move(m));
  for (const Delivery& d : fabric_.advance(told.mail.packets, until)) deliver(d, host, chips);
  return told.done;
}

// What leaves in a window, by endpoint, of all ranks.
Bulletin Windows::tell(std::uint64_t until, Node& host, const std::vector<Node*>& chips,
                       const std::function<bool()>& done) {
  Bulletin own;
  const auto add = [&own](Mail mail) {
    own.mail.packets.insert(own.mail.packets.end(), mail.packets.begin(), mail.packets.end());
    std::move(mail.messages.begin(), mail.messages.end(), std::back_inserter(own.mail.messages));
  };
  for (Node* chip : chips) add(chip->mail(until));
  if (rank() == 0) add(host.mail(until));
  own.done = rank() == 0 && done();
  if (exchange_ == nullptr) return own;
  const std::vector<std::string> told = exchange_->gather(encode(own));
  own = {};
  for (int r = 0; r < ranks(); r++) {
    Bulletin theirs = decode_bulletin(told[std::size_t(r)], r);
    own.done = own.done || theirs.done;
    add(std::move(theirs.mail));
  }
  std::stable_sort(own.mail.packets.begin(), own.mail.packets.end(),
                   [](const Packet& a, const Packet& b) { return a.source < b.source; });
  return own;
}

void Windows::deliver(const Delivery& d, Node& host, const std::vector<Node*>& chips) {
  const auto message = d.packet.last ? under_way_.find(d.packet.message) : under_way_.end();
  const Message* whole = message == under_way_.end() ? nullptr : &message->second;
  const auto own = std::find(own_.begin(), own_.end(), d.packet.target);
  if (own != own_.end()) {
    chips[std::size_t(own - own_.begin())]->deliver(d, whole);
  } else if (rank() == 0 && d.packet.target == Endpoint(topology_.chips.size())) {
    host.deliver(d, whole);
  }
  if (whole != nullptr) under_way_.erase(message);
}

}  // namespace kaiten::cluster
