// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A chip that works on a batch, forward and in reverse (spill.h), within a limit of memory for maps. A map that spills leaves
// when its segment is done, and its bytes are free when the host has it and the next segment has read it; it comes back from
// its trigger on, the start of a segment in reverse, when there is room. One transfer at a time in each direction, in the
// order of request.
#ifndef KAITEN_CLUSTER_SPILL_RUNNER_H
#define KAITEN_CLUSTER_SPILL_RUNNER_H

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cluster/chip_port.h"
#include "cluster/node.h"
#include "cluster/pipeline.h"
#include "cluster/spill_codec.h"
#include "swap/simulate.h"

namespace kaiten::cluster {

// The same for all chips; what it points to outlives the runners.
struct SpillWork {
  const Graph* graph = nullptr;
  std::span<const Stage> segments;
  std::uint64_t limit = 0;
  int batch = 1;
  bool compress = false, check = true;
  RoundingStyle rounding = RoundingStyle::LiteRt;
};

class SpillRunner : public Node {
 public:
  struct Counts {
    int runs = 0;                               // of a segment on an image
    std::uint64_t finish = 0;                   // cycle in which the last segment was done
    std::uint64_t busy = 0;                     // cycles of runs, with the host's register accesses
    std::uint64_t stall = 0;                    // in which it waited for maps or memory
    std::uint64_t out_bytes = 0, in_bytes = 0;  // of maps on its link
    std::uint64_t raw_bytes = 0;                // of the maps that went out, as they are in memory
    std::uint64_t peak_bytes = 0;               // of maps in memory
    std::uint64_t bytes = 0;                    // its memory bus, payload of the runs
    std::uint64_t predicted_bytes = 0;          // the same as the programs announce
    int wrong = 0;                              // maps of an image that are not the reference's
    int first_wrong = -1;                       // segment of the first
  };

  // `inputs`: of the chip's images. `swaps`: maps by the segment that makes them. Throws InputError where programs and maps
  // exceed the chip's memory.
  SpillRunner(const SpillWork& work, const Topology& topology, Endpoint chip,
              std::span<const Int8Values> inputs, const std::vector<swap::Swap>& swaps, std::uint64_t offset,
              const MemoryOptions& memory);

  void deliver(const Delivery& delivery, const Message* message) override {
    port_.deliver(delivery, message);
  }
  void advance(std::uint64_t until) override;
  Mail mail(std::uint64_t until) override { return port_.mail(until); }

  const Counts& counts() const { return counts_; }

 private:
  // Made by a segment, read by the next.
  struct Map {
    std::vector<std::vector<Int8Values>> images;  // empty: not here
    std::uint64_t bytes = 0;
    bool swapped = false;
    bool taken = false;  // memory
    bool read = false;   // the forward pass is done with it
    bool left = false;   // the host has it
    bool here = false;   // in reverse: may be read
  };
  struct Programs {
    Driver first, again;
  };

  int segments() const { return int(work_.segments.size()); }
  bool forward() const { return step_ < segments(); }
  int segment() const { return forward() ? step_ : 2 * segments() - 1 - step_; }
  Driver& driver() {
    Programs& p = *programs_[std::size_t(segment())];
    return image_ == 0 ? p.first : p.again;
  }

  void take(Message message);
  // Each does what can be done now, and says whether it did anything.
  bool settle();
  bool begin_step();
  bool send_map();
  bool fetch_map();
  bool allocate(std::uint64_t bytes);
  void release(Map& map);
  void release_read(Map& map);

  void start_image();
  void finish_image();
  void end_step();
  void compare(const std::vector<Int8Values>& outputs);
  [[noreturn]] void out_of_memory() const;

  const SpillWork& work_;
  Endpoint host_, chip_;
  std::span<const Int8Values> inputs_;
  BufferBytes buffers_;
  std::uint64_t offset_;
  ChipPort port_;
  std::uint64_t inputs_at_, outputs_at_;
  std::vector<std::unique_ptr<Programs>> programs_;  // by segment
  std::vector<std::vector<Int8Values>> expected_;    // by image: the reference's tensors
  std::vector<Map> maps_;
  std::vector<std::vector<int>> fires_;  // by segment: maps that its start in reverse calls back
  std::deque<int> out_, in_;             // maps to send, to fetch
  bool sending_ = false, fetching_ = false;
  int step_ = 0;  // forward, then reverse; 2 segments: done
  bool reached_ = false, at_work_ = false, told_ = false;
  int image_ = 0;
  std::uint64_t used_ = 0, started_ = 0, busy_from_ = 0;
  Counts counts_;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_SPILL_RUNNER_H
