// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The host of a cluster: sends images to the first stage, gathers results, and keeps the times of both. The first images, as
// many as the widest stage has replicas, make the chips load their weights. The others follow when their results are there,
// each as soon as there is room for it, but for the last: that one runs alone.
#ifndef KAITEN_CLUSTER_HOST_H
#define KAITEN_CLUSTER_HOST_H

#include <deque>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "cluster/node.h"
#include "cluster/pipeline.h"

namespace kaiten::cluster {

class HostRunner : public Node {
 public:
  struct Image {
    std::uint64_t sent = 0;      // cycle in which its first packet may leave
    std::uint64_t received = 0;  // in which all outputs are there
    std::vector<Int8Values> outputs;
  };

  // `inputs`: of all images, one after the other, in the order of the graph's inputs; outlive the runner. `when_received` is
  // called once for each image when its outputs are there.
  HostRunner(const Pipeline& pipeline, const Topology& topology, std::span<const Int8Values> inputs,
             std::function<void(int image, const std::vector<Int8Values>& outputs)> when_received = {});

  void deliver(const Delivery& delivery, const Message* message) override;
  void advance(std::uint64_t until) override;
  Mail mail(std::uint64_t until) override { return outbox_.take(until); }

  bool done() const { return received_ == images_.size(); }
  std::size_t received() const { return received_; }
  // Images that load weights; then some that stream, where there are more; the one that runs alone, where there are more still.
  int warm_up() const { return warm_up_; }
  std::size_t streamed() const { return images_.size() - std::size_t(warm_up_) - (alone() ? 1 : 0); }
  const Image* alone() const {
    return images_.size() > std::size_t(warm_up_) + 1 ? &images_.back() : nullptr;
  }
  const std::vector<Image>& images() const { return images_; }

 private:
  struct Arrival {
    std::uint64_t time = 0;
    Message message;
  };

  void take(const Arrival& arrival);
  bool may_send() const;
  void send_image();

  const Stage& first_;
  Endpoint host_;
  std::span<const Int8Values> inputs_;
  std::size_t each_;
  std::function<void(int, const std::vector<Int8Values>&)> when_received_;
  int warm_up_;
  std::vector<Image> images_;
  std::deque<Arrival> arrivals_;
  std::set<int> granted_;
  int next_ = 0;
  std::size_t received_ = 0;
  std::uint64_t now_ = 0, messages_ = 0;
  Outbox outbox_;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_HOST_H
