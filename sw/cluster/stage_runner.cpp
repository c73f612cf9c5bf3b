// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/stage_runner.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace kaiten::cluster {

namespace {

BufferBytes buffers_of(const Stage& stage) {
  BufferBytes out;
  out.fit(stage.first);
  out.fit(stage.again);
  return out;
}

// Of both programs, which are in memory at once.
std::uint64_t code_bytes(const Stage& stage) {
  return memory_needed(stage.first) + memory_needed(stage.again);
}

}  // namespace

StageRunner::StageRunner(const Pipeline& pipeline, const Topology& topology, Endpoint chip, int images,
                         RoundingStyle rounding, const MemoryOptions& memory)
    : stage_(pipeline.stage_of(chip)),
      host_(Endpoint(topology.chips.size())),
      chip_(chip),
      images_(images),
      buffers_(buffers_of(stage_)),
      port_(topology, chip, code_bytes(stage_) + kBuffers * (buffers_.in + buffers_.out), memory,
            "the stage"),
      first_(port_.device(), stage_.graph, stage_.first, rounding),
      again_(port_.device(), stage_.graph, stage_.again, rounding, memory_needed(stage_.first)) {
  if (&stage_ != &pipeline.stages.front()) before_ = &stage_ - 1;
  if (&stage_ != &pipeline.stages.back()) after_ = &stage_ + 1;
  replica_ = int(std::find(stage_.chips.begin(), stage_.chips.end(), chip) - stage_.chips.begin());
  next_image_ = replica_;
  const int replicas = int(stage_.chips.size());
  for (int image = replica_; image < images; image += replicas) {
    images_of_this_++;
    if (after_ == nullptr || image / int(after_->chips.size()) < kBuffers) granted_.insert(image);
  }
  for (std::size_t b = 0; b < std::size_t(kBuffers); b++) {
    inputs_at_[b] = port_.device().memory_base() + code_bytes(stage_) + b * (buffers_.in + buffers_.out);
    outputs_at_[b] = inputs_at_[b] + buffers_.in;
  }
}

void StageRunner::take(Message message) {
  if (message.kind == Message::Kind::kCredit) {
    granted_.insert(message.image);
  } else {
    waiting_.emplace(message.image, std::move(message));
  }
}

bool StageRunner::may_start() const {
  return !running_ && waiting_.contains(next_image_) &&
         outputs_.size() + leaving_.size() < std::size_t(kBuffers);
}

void StageRunner::start() {
  Driver& driver = runs_ == 0 ? first_ : again_;
  const auto buffer = std::size_t(runs_ % kBuffers);
  driver.place(Base::kInputs, inputs_at_[buffer]);
  driver.place(Base::kOutputs, outputs_at_[buffer]);
  const auto image = waiting_.find(next_image_);
  driver.write_inputs(image->second.maps);
  waiting_.erase(image);
  running_ = next_image_;
  started_ = port_.now();
  port_.access([&] { driver.start(); });
}

void StageRunner::work(std::uint64_t until) {
  if (port_.work(until)) {
    finish();
  } else if (port_.now() - started_ > patience(runs_ == 0 ? stage_.first : stage_.again)) {
    throw DeviceError("the device did not answer for " + std::to_string(port_.now() - started_) + " cycles");
  }
}

void StageRunner::finish() {
  Driver& driver = runs_ == 0 ? first_ : again_;
  port_.access([&] { driver.finish(); });
  outputs_.push_back({*running_, driver.read_outputs()});
  // What follows is for the report: it takes no time of the pipeline.
  const Counters counters = driver.read_counters();
  counts_.images++;
  counts_.cycles += counters["cycles"];
  if (runs_ > 0) counts_.again_cycles += counters["cycles"];
  if (runs_ > 0) counts_.weights += counters["read_weights"];
  counts_.bytes += counted_bytes(counters);
  counts_.predicted_bytes += announced_bytes(driver.program());
  // The buffer of this image is free for another one.
  const int replicas = int(stage_.chips.size());
  const int next = *running_ + kBuffers * replicas;
  if (next < images_) {
    const Endpoint to =
        before_ == nullptr ? host_ : before_->chips[std::size_t(next) % before_->chips.size()];
    port_.send({Message::Kind::kCredit, chip_, to, next, 0, {}}, false);
  }
  next_image_ = *running_ + replicas;
  running_.reset();
  runs_++;
}

void StageRunner::send_outputs() {
  while (!outputs_.empty() && granted_.contains(outputs_.front().image)) {
    const int image = outputs_.front().image;
    const Endpoint to = after_ == nullptr ? host_ : after_->chips[std::size_t(image) % after_->chips.size()];
    leaving_.insert(
        port_.send({Message::Kind::kImage, chip_, to, image, 0, std::move(outputs_.front().maps)}, true));
    outputs_.pop_front();
    sent_++;
  }
}

std::uint64_t StageRunner::next_event(std::uint64_t until) const {
  until = port_.next_event(until);
  if (!running_ && !leaving_.empty()) until = std::min(until, *leaving_.begin());
  return until;
}

void StageRunner::advance(std::uint64_t until) {
  while (port_.now() < until) {
    for (Message& m : port_.receive(running_.has_value())) take(std::move(m));
    leaving_.erase(leaving_.begin(), leaving_.upper_bound(port_.now()));
    send_outputs();
    if (may_start()) start();
    const std::uint64_t next = next_event(until);
    if (next <= port_.now()) continue;
    if (running_) {
      work(next);
    } else {
      port_.wait(next);
    }
  }
}

}  // namespace kaiten::cluster
