// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/host.h"

#include <algorithm>
#include <utility>

namespace kaiten::cluster {

HostRunner::HostRunner(const Pipeline& pipeline, const Topology& topology, std::span<const Int8Values> inputs,
                       std::function<void(int, const std::vector<Int8Values>&)> when_received)
    : first_(pipeline.stages.front()),
      host_(Endpoint(topology.chips.size())),
      inputs_(inputs),
      each_(first_.graph.inputs.size()),
      when_received_(std::move(when_received)),
      images_(inputs.size() / each_) {
  std::size_t replicas = 0;
  for (const Stage& s : pipeline.stages) replicas = std::max(replicas, s.chips.size());
  warm_up_ = int(std::min(replicas, images_.size()));
  const int first = pipeline.replicas(0);
  for (int image = 0; image < int(images_.size()) && image / first < kBuffers; image++)
    granted_.insert(image);
}

void HostRunner::deliver(const Delivery& delivery, const Message* message) {
  if (message != nullptr) arrivals_.push_back({delivery.time, *message});
}

void HostRunner::take(const Arrival& arrival) {
  const Message& m = arrival.message;
  if (m.kind == Message::Kind::kCredit) {
    granted_.insert(m.image);
    return;
  }
  Image& image = images_[std::size_t(m.image)];
  image.outputs = m.maps;
  image.received = arrival.time;
  received_++;
  if (when_received_) when_received_(m.image, image.outputs);
}

bool HostRunner::may_send() const {
  if (next_ == int(images_.size()) || !granted_.contains(next_)) return false;
  if (next_ < warm_up_) return true;
  if (received_ < std::size_t(warm_up_)) return false;
  return alone() == nullptr || next_ + 1 < int(images_.size()) || received_ == std::size_t(next_);
}

void HostRunner::send_image() {
  Message message{Message::Kind::kImage, host_, first_.chips[std::size_t(next_) % first_.chips.size()],
                  next_};
  const auto send = [&](Message m) {
    m.number = std::uint64_t(host_) << 40 | messages_++;
    outbox_.add(std::move(m), [&](const Packet&) { return now_; });
  };
  const auto from = inputs_.begin() + std::ptrdiff_t(std::size_t(next_) * each_);
  const RowStream& stream = first_.input;
  if (stream.rows == 0) {
    message.maps.assign(from, from + std::ptrdiff_t(each_));
    send(message);
  }
  message.kind = Message::Kind::kRows;
  for (int row = 0; row < stream.rows; row = stream.group_end(row)) {
    message.first_row = row;
    message.maps = {stream.rows_of(*from, row)};
    send(message);
  }
}

void HostRunner::advance(std::uint64_t until) {
  while (now_ < until) {
    while (!arrivals_.empty() && arrivals_.front().time <= now_) {
      take(arrivals_.front());
      arrivals_.pop_front();
    }
    while (may_send()) {
      send_image();
      images_[std::size_t(next_++)].sent = now_;
    }
    now_ = arrivals_.empty() ? until : std::min(until, std::max(now_, arrivals_.front().time));
  }
}

}  // namespace kaiten::cluster
