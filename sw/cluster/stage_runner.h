// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A chip of a pipeline: the Verilated accelerator with memory of its own and a DMA engine for each direction of its link. It
// runs its stage on an image when the image's map has arrived and one of its output buffers is free; results leave when the
// receiver has a buffer for them. What the DMA engines move takes bandwidth of the chip's memory.
#ifndef KAITEN_CLUSTER_STAGE_RUNNER_H
#define KAITEN_CLUSTER_STAGE_RUNNER_H

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "cluster/mail.h"
#include "cluster/pipeline.h"
#include "device/driver.h"
#include "sim/sim_device.h"

namespace kaiten::cluster {

struct MemoryOptions {
  unsigned latency = 100;  // cycles
  std::uint64_t seed = 1;
};

class StageRunner {
 public:
  struct Counts {
    int images = 0;
    std::uint64_t cycles = 0;           // that its runs took
    std::uint64_t again_cycles = 0;     // of the runs after the first
    std::uint64_t bytes = 0;            // its memory bus, payload
    std::uint64_t predicted_bytes = 0;  // the same as the programs announce
    std::uint64_t weights = 0;          // of them read after the first run
  };

  // The pipeline must outlive the runner. Throws DeviceError where the programs do not fit into the chip's memory.
  StageRunner(const Pipeline& pipeline, const Topology& topology, Endpoint chip, int images,
              RoundingStyle rounding, const MemoryOptions& memory);
  ~StageRunner();

  // Before advance() over the window in which the packet is delivered; in the order of time. `message`: where it is the last.
  void deliver(const Delivery& delivery, const Message* message);
  // Simulates until that cycle. What leaves before it is taken by mail().
  void advance(std::uint64_t until);
  Mail mail(std::uint64_t until) { return outbox_.take(until); }

  bool done() const { return sent_ == images_of_this_; }
  const Counts& counts() const { return counts_; }

 private:
  struct Arrival {
    Delivery delivery;
    std::optional<Message> message;
  };
  struct Output {
    int image = 0;
    std::vector<Int8Values> maps;
  };
  // Bytes that a DMA engine moves.
  struct Charge {
    std::uint32_t bytes = 0;
    bool write = false;
  };

  void take(const Arrival& arrival);
  void start();
  void finish();
  bool may_start() const;
  void send_outputs();
  void send(Message message);
  // Lets the device work until that cycle or its interrupt.
  void work(std::uint64_t until);
  std::uint64_t next_event(std::uint64_t until) const;

  const Stage* before_ = nullptr;  // null: the host
  const Stage* after_ = nullptr;
  const Stage& stage_;
  Endpoint host_, chip_;
  int replica_, images_of_this_ = 0, images_;
  std::unique_ptr<sim::SimDevice> device_;
  std::unique_ptr<Driver> first_, again_;
  std::array<std::uint64_t, kBuffers> inputs_at_{}, outputs_at_{};
  UpLink up_;
  std::uint64_t now_ = 0;
  std::deque<Arrival> arrivals_;
  std::multimap<std::uint64_t, Charge> charges_;  // by cycle
  std::map<int, Message> waiting_;                // images that have arrived, not begun
  std::set<int> granted_;                         // images that the receiver has room for
  std::deque<Output> outputs_;                    // not sent
  std::multiset<std::uint64_t> leaving_;          // cycles at which output buffers are free
  std::optional<int> running_;
  std::uint64_t started_ = 0;
  int next_image_, runs_ = 0, sent_ = 0;
  std::uint64_t messages_ = 0;
  Outbox outbox_;
  Counts counts_;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_STAGE_RUNNER_H
