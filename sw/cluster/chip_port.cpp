// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/chip_port.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace kaiten::cluster {

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kMemoryAlign - 1) / kMemoryAlign * kMemoryAlign;
}

std::uint64_t announced_bytes(const Program& program) {
  std::int64_t bytes = std::int64_t(program.command_blocks()) * std::int64_t(kCommandBytes);
  for (const CommandMeta& m : program.meta) bytes += m.bytes_read() + m.bytes_written();
  return std::uint64_t(bytes);
}

std::uint64_t counted_bytes(const Counters& counters) {
  std::uint64_t bytes = 0;
  for (const char* name :
       {"read_weights", "read_parameters", "read_activations", "read_commands", "written_activations"})
    bytes += counters[name];
  return bytes;
}

void BufferBytes::fit(const Program& program) {
  in = std::max(in, aligned(std::uint64_t(program.input_bytes)));
  out = std::max(out, aligned(std::uint64_t(program.output_bytes)));
}

ChipPort::ChipPort(const Topology& topology, Endpoint chip, std::uint64_t memory_bytes,
                   const MemoryOptions& memory, const std::string& needs)
    : chip_(chip), up_(topology.chips[std::size_t(chip)].bytes_per_cycle) {
  const Chip& c = topology.chips[std::size_t(chip)];
  if (memory_bytes > c.memory_bytes)
    throw InputError(needs + " of " + c.name + ": limit: " + std::to_string(c.memory_bytes) +
                     " bytes of memory, found " + std::to_string(memory_bytes));
  sim::SimOptions sim;
  sim.memory.bytes = memory_bytes;
  sim.memory.read_latency = sim.memory.write_latency = memory.latency;
  sim.memory.bytes_per_cycle = preset(c.config).axi_bytes;
  sim.memory.seed = memory.seed + std::uint64_t(chip);
  device_ = sim::make_sim_device(c.config, sim);
}

ChipPort::~ChipPort() = default;

void ChipPort::deliver(const Delivery& delivery, const Message* message) {
  arrivals_.push_back({delivery, message == nullptr ? std::nullopt : std::optional(*message)});
}

bool ChipPort::work(std::uint64_t until) {
  bool complete = false;
  access([&] { complete = device_->wait_interrupt(until - now_); });
  return complete;
}

std::vector<Message> ChipPort::receive(bool working) {
  std::vector<Message> out;
  for (; !arrivals_.empty() && arrivals_.front().delivery.time <= now_; arrivals_.pop_front()) {
    Arrival& arrival = arrivals_.front();
    if (arrival.delivery.packet.bytes > kCreditBytes)
      charges_.insert({arrival.delivery.time, {arrival.delivery.packet.bytes, true}});
    if (arrival.message) out.push_back(std::move(*arrival.message));
  }
  // An accelerator that does nothing has no use for the bandwidth.
  const auto past = charges_.upper_bound(now_);
  for (auto c = charges_.begin(); c != past; ++c) {
    if (working) device_->memory().charge(c->second.bytes, c->second.write);
  }
  charges_.erase(charges_.begin(), past);
  return out;
}

std::uint64_t ChipPort::send(Message message, bool data) {
  message.number = std::uint64_t(chip_) << 40 | messages_++;
  std::uint64_t departure = now_;
  outbox_.add(std::move(message), [&](const Packet& p) {
    departure = up_.depart(now_, p.bytes);
    if (data) charges_.insert({departure, {p.bytes, false}});
    return departure;
  });
  return departure;
}

std::uint64_t ChipPort::next_event(std::uint64_t until) const {
  if (!arrivals_.empty()) until = std::min(until, arrivals_.front().delivery.time);
  if (!charges_.empty()) until = std::min(until, charges_.begin()->first);
  return until;
}

}  // namespace kaiten::cluster
