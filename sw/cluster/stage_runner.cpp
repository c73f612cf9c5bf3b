// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/stage_runner.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace kaiten::cluster {

namespace {

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kMemoryAlign - 1) / kMemoryAlign * kMemoryAlign;
}

// Payload of a run, commands among it.
std::uint64_t announced_bytes(const Program& program) {
  std::int64_t bytes = std::int64_t(program.command_blocks()) * std::int64_t(kCommandBytes);
  for (const CommandMeta& m : program.meta) bytes += m.bytes_read() + m.bytes_written();
  return std::uint64_t(bytes);
}

}  // namespace

StageRunner::StageRunner(const Pipeline& pipeline, const Topology& topology, Endpoint chip, int images,
                         RoundingStyle rounding, const MemoryOptions& memory)
    : stage_(pipeline.stage_of(chip)),
      host_(Endpoint(topology.chips.size())),
      chip_(chip),
      images_(images),
      up_(topology.chips[std::size_t(chip)].bytes_per_cycle) {
  if (&stage_ != &pipeline.stages.front()) before_ = &stage_ - 1;
  if (&stage_ != &pipeline.stages.back()) after_ = &stage_ + 1;
  replica_ = int(std::find(stage_.chips.begin(), stage_.chips.end(), chip) - stage_.chips.begin());
  next_image_ = replica_;
  const int replicas = int(stage_.chips.size());
  for (int image = replica_; image < images; image += replicas) {
    images_of_this_++;
    if (after_ == nullptr || image / int(after_->chips.size()) < kBuffers) granted_.insert(image);
  }
  // Both programs, then the buffers.
  const Program* programs[] = {&stage_.first, &stage_.again};
  std::uint64_t in = 0, out = 0;
  for (const Program* p : programs) {
    in = std::max(in, aligned(std::uint64_t(p->input_bytes)));
    out = std::max(out, aligned(std::uint64_t(p->output_bytes)));
  }
  const std::uint64_t code = memory_needed(stage_.first) + memory_needed(stage_.again);
  const std::uint64_t needed = code + kBuffers * (in + out);
  const Chip& c = topology.chips[std::size_t(chip)];
  if (needed > c.memory_bytes)
    throw InputError("the stage of " + c.name + ": limit: " + std::to_string(c.memory_bytes) +
                     " bytes of memory, found " + std::to_string(needed));
  sim::SimOptions sim;
  sim.memory.bytes = needed;
  sim.memory.read_latency = sim.memory.write_latency = memory.latency;
  sim.memory.bytes_per_cycle = stage_.first.config.axi_bytes;
  sim.memory.seed = memory.seed;
  device_ = sim::make_sim_device(c.config, sim);
  first_ = std::make_unique<Driver>(*device_, stage_.graph, stage_.first, rounding);
  again_ =
      std::make_unique<Driver>(*device_, stage_.graph, stage_.again, rounding, memory_needed(stage_.first));
  for (std::size_t b = 0; b < std::size_t(kBuffers); b++) {
    inputs_at_[b] = device_->memory_base() + code + b * (in + out);
    outputs_at_[b] = inputs_at_[b] + in;
  }
}

StageRunner::~StageRunner() = default;

void StageRunner::deliver(const Delivery& delivery, const Message* message) {
  arrivals_.push_back({delivery, message == nullptr ? std::nullopt : std::optional(*message)});
}

void StageRunner::take(const Arrival& arrival) {
  if (arrival.delivery.packet.bytes > kCreditBytes)
    charges_.insert({arrival.delivery.time, {arrival.delivery.packet.bytes, true}});
  if (!arrival.message) return;
  if (arrival.message->kind == Message::Kind::kCredit) {
    granted_.insert(arrival.message->image);
  } else {
    waiting_.emplace(arrival.message->image, *arrival.message);
  }
}

bool StageRunner::may_start() const {
  return !running_ && waiting_.contains(next_image_) &&
         outputs_.size() + leaving_.size() < std::size_t(kBuffers);
}

void StageRunner::start() {
  Driver& driver = runs_ == 0 ? *first_ : *again_;
  const auto buffer = std::size_t(runs_ % kBuffers);
  driver.place(Base::kInputs, inputs_at_[buffer]);
  driver.place(Base::kOutputs, outputs_at_[buffer]);
  const auto image = waiting_.find(next_image_);
  driver.write_inputs(image->second.maps);
  waiting_.erase(image);
  running_ = next_image_;
  started_ = now_;
  const std::uint64_t before = device_->cycles();
  driver.start();
  now_ += device_->cycles() - before;
}

void StageRunner::work(std::uint64_t until) {
  const std::uint64_t before = device_->cycles();
  const bool complete = device_->wait_interrupt(until - now_);
  now_ += device_->cycles() - before;
  if (complete) {
    finish();
  } else if (now_ - started_ > patience(runs_ == 0 ? stage_.first : stage_.again)) {
    throw DeviceError("the device did not answer for " + std::to_string(now_ - started_) + " cycles");
  }
}

void StageRunner::finish() {
  Driver& driver = runs_ == 0 ? *first_ : *again_;
  const std::uint64_t before = device_->cycles();
  driver.finish();
  now_ += device_->cycles() - before;
  outputs_.push_back({*running_, driver.read_outputs()});
  // What follows is for the report: it takes no time of the pipeline.
  const Counters counters = driver.read_counters();
  counts_.images++;
  counts_.cycles += counters["cycles"];
  if (runs_ > 0) counts_.again_cycles += counters["cycles"];
  if (runs_ > 0) counts_.weights += counters["read_weights"];
  for (const char* name :
       {"read_weights", "read_parameters", "read_activations", "read_commands", "written_activations"})
    counts_.bytes += counters[name];
  counts_.predicted_bytes += announced_bytes(driver.program());
  // The buffer of this image is free for another one.
  const int replicas = int(stage_.chips.size());
  const int next = *running_ + kBuffers * replicas;
  if (next < images_) {
    const Endpoint to =
        before_ == nullptr ? host_ : before_->chips[std::size_t(next) % before_->chips.size()];
    send({Message::Kind::kCredit, chip_, to, next, 0, {}});
  }
  next_image_ = *running_ + replicas;
  running_.reset();
  runs_++;
}

void StageRunner::send(Message message) {
  message.number = std::uint64_t(chip_) << 40 | messages_++;
  const bool image = message.kind == Message::Kind::kImage;
  std::uint64_t departure = now_;
  outbox_.add(std::move(message), [&](const Packet& p) {
    departure = up_.depart(now_, p.bytes);
    if (image) charges_.insert({departure, {p.bytes, false}});
    return departure;
  });
  if (image) leaving_.insert(departure);
}

void StageRunner::send_outputs() {
  while (!outputs_.empty() && granted_.contains(outputs_.front().image)) {
    const int image = outputs_.front().image;
    const Endpoint to = after_ == nullptr ? host_ : after_->chips[std::size_t(image) % after_->chips.size()];
    send({Message::Kind::kImage, chip_, to, image, 0, std::move(outputs_.front().maps)});
    outputs_.pop_front();
    sent_++;
  }
}

std::uint64_t StageRunner::next_event(std::uint64_t until) const {
  if (!arrivals_.empty()) until = std::min(until, arrivals_.front().delivery.time);
  if (!charges_.empty()) until = std::min(until, charges_.begin()->first);
  if (!running_ && !leaving_.empty()) until = std::min(until, *leaving_.begin());
  return until;
}

void StageRunner::advance(std::uint64_t until) {
  while (now_ < until) {
    while (!arrivals_.empty() && arrivals_.front().delivery.time <= now_) {
      take(arrivals_.front());
      arrivals_.pop_front();
    }
    leaving_.erase(leaving_.begin(), leaving_.upper_bound(now_));
    // An accelerator that does nothing has no use for the bandwidth.
    const auto past = charges_.upper_bound(now_);
    for (auto c = charges_.begin(); c != past; ++c) {
      if (running_) device_->memory().charge(c->second.bytes, c->second.write);
    }
    charges_.erase(charges_.begin(), past);
    send_outputs();
    if (may_start()) start();
    const std::uint64_t next = next_event(until);
    if (next <= now_) continue;
    if (running_) {
      work(next);
    } else {
      now_ = next;
    }
  }
}

}  // namespace kaiten::cluster
