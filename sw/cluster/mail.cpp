// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/mail.h"

#include <algorithm>
#include <iterator>

namespace kaiten::cluster {

std::uint64_t bytes_of(const Message& message) {
  using Kind = Message::Kind;
  if (message.kind != Kind::kImage && message.kind != Kind::kRows && message.kind != Kind::kSpill)
    return kCreditBytes;
  std::uint64_t bytes = 0;
  for (const Int8Values& map : message.maps) bytes += map.size();
  return bytes;
}

std::vector<Packet> packets_of(const Message& message) {
  std::vector<Packet> out;
  for (std::uint64_t left = bytes_of(message); left > 0;) {
    const auto size = std::uint32_t(std::min<std::uint64_t>(left, kPacketBytes));
    left -= size;
    out.push_back({0, message.source, message.target, size, message.number, left == 0});
  }
  return out;
}

Mail Outbox::take(std::uint64_t until) {
  Mail out;
  const auto left = [&](const Packet& p) { return p.time < until; };
  std::copy_if(packets_.begin(), packets_.end(), std::back_inserter(out.packets), left);
  std::erase_if(packets_, left);
  std::stable_sort(out.packets.begin(), out.packets.end(),
                   [](const Packet& a, const Packet& b) { return a.time < b.time; });
  for (const Packet& p : out.packets) {
    if (!p.last) continue;
    const auto found = std::find_if(messages_.begin(), messages_.end(),
                                    [&](const Message& m) { return m.number == p.message; });
    out.messages.push_back(std::move(*found));
    messages_.erase(found);
  }
  return out;
}

}  // namespace kaiten::cluster
