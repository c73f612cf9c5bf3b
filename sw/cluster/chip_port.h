// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What every simulated chip has, whatever it works on: the Verilated accelerator with memory of its own, a DMA engine for each
// direction of its link, and the cycle that it has reached. What the DMA engines move takes bandwidth of the chip's memory.
#ifndef KAITEN_CLUSTER_CHIP_PORT_H
#define KAITEN_CLUSTER_CHIP_PORT_H

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "cluster/mail.h"
#include "device/driver.h"
#include "sim/sim_device.h"

namespace kaiten::cluster {

struct MemoryOptions {
  unsigned latency = 100;  // cycles
  std::uint64_t seed = 1;
};

// A multiple of kMemoryAlign, for buffers in a chip's memory.
std::uint64_t aligned(std::uint64_t bytes);
// Payload of a run, commands among it, as the program announces it.
std::uint64_t announced_bytes(const Program& program);
// The same as the device has counted.
std::uint64_t counted_bytes(const Counters& counters);

// Bytes of the buffers that hold one image's inputs and outputs of any of some programs.
struct BufferBytes {
  std::uint64_t in = 0, out = 0;
  void fit(const Program& program);
};

class ChipPort {
 public:
  // `memory_bytes` of the simulated memory, no more than the topology's chip has: else InputError that says what `needs` them.
  ChipPort(const Topology& topology, Endpoint chip, std::uint64_t memory_bytes, const MemoryOptions& memory,
           const std::string& needs);
  ~ChipPort();
  ChipPort(const ChipPort&) = delete;
  ChipPort& operator=(const ChipPort&) = delete;

  sim::SimDevice& device() { return *device_; }
  std::uint64_t now() const { return now_; }
  void deliver(const Delivery& delivery, const Message* message);
  Mail mail(std::uint64_t until) { return outbox_.take(until); }

  // What the host's register accesses take, the chip's time, too.
  template <class Work>
  void access(const Work& work) {
    const std::uint64_t before = device_->cycles();
    work();
    now_ += device_->cycles() - before;
  }
  // Lets the device work until that cycle or its interrupt: true where it is raised.
  bool work(std::uint64_t until);
  void wait(std::uint64_t until) { now_ = until; }

  // The messages that are there now, and what the DMA engines have moved by now: it takes bandwidth of a device that works.
  std::vector<Message> receive(bool working);
  // Returns the cycle in which the last packet leaves. `data`: it is read from the chip's memory.
  std::uint64_t send(Message message, bool data);
  // The first cycle in which something arrives or has been moved, no later than `until`.
  std::uint64_t next_event(std::uint64_t until) const;

 private:
  struct Arrival {
    Delivery delivery;
    std::optional<Message> message;
  };
  // Bytes that a DMA engine moves.
  struct Charge {
    std::uint32_t bytes = 0;
    bool write = false;
  };

  Endpoint chip_;
  UpLink up_;
  std::unique_ptr<sim::SimDevice> device_;
  std::uint64_t now_ = 0, messages_ = 0;
  std::deque<Arrival> arrivals_;
  std::multimap<std::uint64_t, Charge> charges_;  // by cycle
  Outbox outbox_;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_CHIP_PORT_H
