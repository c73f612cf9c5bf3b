// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A chip of a pipeline. It runs its stage on an image when the image's map, or enough rows of it (row_stream.h), has arrived
// and one of its output buffers is free; results leave when the receiver has a buffer for them.
#ifndef KAITEN_CLUSTER_STAGE_RUNNER_H
#define KAITEN_CLUSTER_STAGE_RUNNER_H

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "cluster/chip_port.h"
#include "cluster/node.h"
#include "cluster/pipeline.h"

namespace kaiten::cluster {

class StageRunner : public Node {
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

  void deliver(const Delivery& delivery, const Message* message) override {
    port_.deliver(delivery, message);
  }
  void advance(std::uint64_t until) override;
  Mail mail(std::uint64_t until) override { return port_.mail(until); }

  bool done() const { return sent_ == images_of_this_; }
  const Counts& counts() const { return counts_; }

 private:
  struct Input {
    std::vector<Int8Values> maps;  // whole
    int rows = 0;                  // that are in memory
  };
  struct Output {
    int image = 0;
    std::vector<Int8Values> maps;  // by rows: what is there of the only one
    int sent = 0;                  // rows
    std::uint64_t departure = 0;   // of the last packet so far
    bool complete = false;
  };

  void take(Message message);
  void start();
  void finish();
  bool may_start() const;
  Driver& driver() { return runs_ == 0 ? first_ : again_; }
  void take_rows(const Message& message);
  // Reads the rows of the output that are stored since it asked before.
  void ask_stored();
  void read_rows(int end);
  void send_outputs();
  // What is there of an output and not sent; true where that is all of it.
  bool send(Output& output);
  // Lets the device work until that cycle or its interrupt.
  void work(std::uint64_t until);
  std::uint64_t next_event(std::uint64_t until) const;

  const Stage* before_ = nullptr;  // null: the host
  const Stage* after_ = nullptr;
  const Stage& stage_;
  Endpoint host_, chip_;
  int replica_, images_of_this_ = 0, images_;
  BufferBytes buffers_;
  ChipPort port_;
  Driver first_, again_;
  std::array<std::uint64_t, kBuffers> inputs_at_{}, outputs_at_{};
  std::map<int, Input>
      inputs_;                  // images that have arrived, or are arriving; those that are complete left out
  std::set<int> granted_;       // images that the receiver has room for
  std::deque<Output> outputs_;  // begun, not sent whole
  RowStream out_;               // how outputs leave
  std::vector<int> stored_first_, stored_again_;  // rows, by STOREs
  std::multiset<std::uint64_t> leaving_;          // cycles at which output buffers are free
  std::optional<int> running_;
  std::uint64_t started_ = 0, ask_at_ = 0;
  int next_image_, runs_ = 0, sent_ = 0;
  Counts counts_;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_STAGE_RUNNER_H
