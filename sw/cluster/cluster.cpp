// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/cluster.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "cluster/host.h"
#include "reference/reference.h"

namespace kaiten::cluster {

namespace {

class Cluster {
 public:
  Cluster(const Pipeline& pipeline, const Topology& topology, std::span<const Int8Values> inputs,
          const RunOptions& options)
      : topology_(topology),
        options_(options),
        fabric_(topology),
        host_(pipeline, topology, inputs),
        workers_(options.threads) {
    const int images = int(host_.images().size());
    for (Endpoint c = 0; c < Endpoint(topology.chips.size()); c++) {
      if (rank_of(c) != rank()) continue;
      MemoryOptions memory = options.memory;
      memory.seed += std::uint64_t(c);
      own_.push_back(c);
      chips_.push_back(named(c, [&] {
        return std::make_unique<StageRunner>(pipeline, topology, c, images, options.rounding, memory);
      }));
    }
  }

  void run() {
    bool done = false;
    for (std::uint64_t until = topology_.latency; !done; until += topology_.latency) done = window(until);
  }

  bool first_rank() const { return rank() == 0; }
  const HostRunner& host() const { return host_; }
  const Fabric& fabric() const { return fabric_; }
  // Of all chips.
  std::vector<StageRunner::Counts> counts() const {
    std::vector<StageRunner::Counts> own, all(topology_.chips.size());
    for (const auto& chip : chips_) own.push_back(chip->counts());
    if (options_.exchange == nullptr) return own;
    const std::vector<std::string> told = options_.exchange->gather(encode(own));
    for (int r = 0; r < ranks(); r++) {
      const std::vector<StageRunner::Counts> theirs = decode_counts(told[std::size_t(r)], r);
      std::size_t next = 0;
      for (std::size_t c = 0; c < all.size(); c++) {
        if (rank_of(Endpoint(c)) == r) all[c] = theirs.at(next++);
      }
    }
    return all;
  }

 private:
  int rank() const { return options_.exchange == nullptr ? 0 : options_.exchange->rank(); }
  int ranks() const { return options_.exchange == nullptr ? 1 : options_.exchange->ranks(); }
  int rank_of(Endpoint chip) const { return chip % ranks(); }

  // What a chip does, its errors with the chip's name.
  template <class Work>
  std::invoke_result_t<Work> named(Endpoint chip, const Work& work) const {
    try {
      return work();
    } catch (const DeviceError& e) {
      throw DeviceError(topology_.chips[std::size_t(chip)].name + ": " + e.what());
    }
  }

  // What leaves in a window, by endpoint, of all ranks.
  Bulletin tell(std::uint64_t until) {
    Bulletin own;
    const auto add = [&own](Mail mail) {
      own.mail.packets.insert(own.mail.packets.end(), mail.packets.begin(), mail.packets.end());
      std::move(mail.messages.begin(), mail.messages.end(), std::back_inserter(own.mail.messages));
    };
    for (const auto& chip : chips_) add(chip->mail(until));
    if (first_rank()) add(host_.mail(until));
    own.done = first_rank() && host_.done();
    if (options_.exchange == nullptr) return own;
    const std::vector<std::string> told = options_.exchange->gather(encode(own));
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

  // True when the host has all outputs.
  bool window(std::uint64_t until) {
    workers_.run(chips_.size(), [&](std::size_t i) { named(own_[i], [&] { chips_[i]->advance(until); }); });
    if (first_rank()) host_.advance(until);
    Bulletin told = tell(until);
    for (Message& m : told.mail.messages) under_way_.emplace(m.number, std::move(m));
    for (const Delivery& d : fabric_.advance(told.mail.packets, until)) deliver(d);
    if (options_.progress) options_.progress(host_.received(), host_.images().size());
    return told.done;
  }

  void deliver(const Delivery& d) {
    const auto message = d.packet.last ? under_way_.find(d.packet.message) : under_way_.end();
    const Message* whole = message == under_way_.end() ? nullptr : &message->second;
    const auto own = std::find(own_.begin(), own_.end(), d.packet.target);
    if (own != own_.end()) {
      chips_[std::size_t(own - own_.begin())]->deliver(d, whole);
    } else if (first_rank() && d.packet.target == Endpoint(topology_.chips.size())) {
      host_.deliver(d, whole);
    }
    if (whole != nullptr) under_way_.erase(message);
  }

  const Topology& topology_;
  const RunOptions& options_;
  Fabric fabric_;
  HostRunner host_;            // of rank 0
  std::vector<Endpoint> own_;  // chips of this rank
  std::vector<std::unique_ptr<StageRunner>> chips_;
  std::map<std::uint64_t, Message> under_way_;  // by number
  Workers workers_;
};

// Of the images that stream, so many that each replica of each stage takes part alike; the last ones, which nothing follows,
// left out. 0 where there are fewer.
double period_of(const HostRunner& host, const Pipeline& pipeline) {
  std::size_t round = 1;
  for (const Stage& s : pipeline.stages) round = std::lcm(round, s.chips.size());
  if (host.streamed() < 2 * round + 1) return 0;
  const std::size_t end = host.streamed() - round;  // of the images that count
  const std::size_t span = std::max(round, (end - 1) / 2 / round * round);
  const auto received = [&](std::size_t image) {
    return host.images()[std::size_t(host.warm_up()) + image].received;
  };
  return double(received(end - 1) - received(end - 1 - span)) / double(span);
}

void compare(const Graph& graph, std::span<const Int8Values> inputs, const RunOptions& options,
             ClusterResult& result) {
  const std::size_t each = graph.inputs.size();
  for (std::size_t i = 0; i < result.outputs.size(); i++) {
    if (options.progress) options.progress(result.outputs.size(), result.outputs.size());
    const std::vector<Int8Values> expected =
        run_reference(graph, inputs.subspan(i * each, each), options.rounding);
    for (std::size_t o = 0; o < graph.outputs.size(); o++) {
      const auto tensor = std::size_t(graph.outputs[o]);
      if (result.outputs[i][o] == expected[tensor]) continue;
      result.exact = false;
      if (result.difference.empty())
        result.difference = "output '" + graph.tensors[tensor].name + "' of image " + std::to_string(i) +
                            " is not the reference executor's";
    }
  }
}

}  // namespace

ClusterResult run_cluster(const Graph& graph, const Pipeline& pipeline, const Topology& topology,
                          std::span<const Int8Values> inputs, const RunOptions& options) {
  Cluster cluster(pipeline, topology, inputs, options);
  const auto start = std::chrono::steady_clock::now();
  cluster.run();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const std::vector<StageRunner::Counts> counts = cluster.counts();
  ClusterResult result;
  if (!cluster.first_rank()) return result;
  result.warm_up = std::size_t(cluster.host().warm_up());
  for (const HostRunner::Image& image : cluster.host().images()) {
    result.outputs.push_back(image.outputs);
    result.cycles = std::max(result.cycles, image.received);
  }
  result.period = period_of(cluster.host(), pipeline);
  if (const HostRunner::Image* alone = cluster.host().alone())
    result.latency = double(alone->received - alone->sent);
  result.seconds = taken.count();
  result.link_bytes = cluster.fabric().link_bytes();
  for (std::size_t s = 0; s < pipeline.stages.size(); s++) {
    for (std::size_t r = 0; r < pipeline.stages[s].chips.size(); r++) {
      const auto chip = std::size_t(pipeline.stages[s].chips[r]);
      result.chips.push_back({s, int(r), counts[chip]});
      const StageRunner::Counts& c = result.chips.back().counts;
      if (c.bytes != c.predicted_bytes)
        throw DeviceError(topology.chips[chip].name + ": counted " + std::to_string(c.bytes) +
                          " bytes on its memory bus, its programs announce " +
                          std::to_string(c.predicted_bytes));
    }
  }
  if (options.check) compare(graph, inputs, options, result);
  return result;
}

}  // namespace kaiten::cluster
