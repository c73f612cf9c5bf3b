// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/spill_host.h"

#include <algorithm>

#include "base/error.h"

namespace kaiten::cluster {

void SpillHost::deliver(const Delivery& delivery, const Message* message) {
  if (message != nullptr) arrivals_.emplace_back(delivery.time, *message);
}

void SpillHost::send(Message message) {
  message.number = std::uint64_t(host_) << 40 | messages_++;
  outbox_.add(std::move(message), [&](const Packet&) { return now_; });
}

void SpillHost::take(const Message& m) {
  switch (m.kind) {
    case Message::Kind::kSpill:
      kept_[{m.source, m.image}] = m.maps;
      send({Message::Kind::kCredit, host_, m.source, m.image, 0, {}});
      break;
    case Message::Kind::kFetch: {
      const auto found = kept_.find({m.source, m.image});
      if (found == kept_.end()) throw DeviceError("a map was asked for that never came");
      send({Message::Kind::kImage, host_, m.source, m.image, 0, std::move(found->second)});
      kept_.erase(found);
      break;
    }
    case Message::Kind::kDone:
      working_--;
      break;
    case Message::Kind::kImage:
    case Message::Kind::kRows:
    case Message::Kind::kCredit:
      break;
  }
}

void SpillHost::advance(std::uint64_t until) {
  while (now_ < until) {
    for (; !arrivals_.empty() && arrivals_.front().first <= now_; arrivals_.pop_front())
      take(arrivals_.front().second);
    now_ = arrivals_.empty() ? until : std::min(until, arrivals_.front().first);
  }
}

}  // namespace kaiten::cluster
