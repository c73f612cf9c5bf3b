// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/stage_runner.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "program/arrivals.h"

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
  if (after_ != nullptr && after_->input.rows > 0) {
    out_ = after_->input;
    stored_first_ = rows_stored(stage_.first, stage_.graph);
    stored_again_ = rows_stored(stage_.again, stage_.graph);
  }
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
  switch (message.kind) {
    case Message::Kind::kCredit:
      granted_.insert(message.image);
      break;
    case Message::Kind::kRows:
      take_rows(message);
      break;
    default:
      inputs_[message.image].maps = std::move(message.maps);
  }
}

void StageRunner::take_rows(const Message& message) {
  const MemoryLayout& map = stage_.again.inputs.front().layout;
  const Int8Values& rows = message.maps.front();
  const auto buffer = std::size_t(message.image / int(stage_.chips.size()) % kBuffers);
  port_.device().write_memory(
      inputs_at_[buffer] + std::uint64_t(map.offset + message.first_row * map.row_pitch),
      {reinterpret_cast<const std::uint8_t*>(rows.data()), rows.size()});
  Input& input = inputs_[message.image];
  input.rows = message.first_row + int(rows.size() / stage_.input.row_bytes);
  if (running_ == message.image) port_.access([&] { driver().arrived(input.rows); });
}

bool StageRunner::may_start() const {
  const auto next = inputs_.find(next_image_);
  return !running_ && next != inputs_.end() && next->second.rows >= stage_.input.start &&
         outputs_.size() + leaving_.size() < std::size_t(kBuffers);
}

void StageRunner::start() {
  const auto buffer = std::size_t(runs_ % kBuffers);
  driver().place(Base::kInputs, inputs_at_[buffer]);
  driver().place(Base::kOutputs, outputs_at_[buffer]);
  const Input& input = inputs_[next_image_];
  if (stage_.input.rows == 0) {
    driver().write_inputs(input.maps);
  } else {
    driver().begin_rows(input.rows);
  }
  running_ = next_image_;
  started_ = port_.now();
  port_.access([&] { driver().start(); });
  ask_at_ = port_.now() + kPollCycles;
  outputs_.push_back({*running_, {}});
  if (out_.rows > 0) outputs_.back().maps.emplace_back();
}

void StageRunner::ask_stored() {
  std::uint32_t stores = 0;
  port_.access([&] { stores = driver().stored(); });
  read_rows((runs_ == 0 ? stored_first_ : stored_again_)[stores]);
  ask_at_ += kPollCycles;
}

void StageRunner::read_rows(int end) {
  Int8Values& map = outputs_.back().maps.front();
  const int there = int(map.size() / out_.row_bytes);
  if (end == there) return;
  const Int8Values rows = driver().read_output_rows(there, end - there);
  map.insert(map.end(), rows.begin(), rows.end());
}

void StageRunner::work(std::uint64_t until) {
  if (port_.work(until)) {
    finish();
  } else if (port_.now() - started_ > patience(runs_ == 0 ? stage_.first : stage_.again)) {
    throw DeviceError("the device did not answer for " + std::to_string(port_.now() - started_) + " cycles");
  }
}

void StageRunner::finish() {
  port_.access([&] { driver().finish(); });
  outputs_.back().complete = true;
  if (out_.rows > 0) {
    read_rows(out_.rows);
  } else {
    outputs_.back().maps = driver().read_outputs();
  }
  inputs_.erase(*running_);
  // What follows is for the report: it takes no time of the pipeline.
  const Counters counters = driver().read_counters();
  counts_.images++;
  counts_.cycles += counters["cycles"];
  if (runs_ > 0) counts_.again_cycles += counters["cycles"];
  if (runs_ > 0) counts_.weights += counters["read_weights"];
  counts_.bytes += counted_bytes(counters);
  counts_.predicted_bytes += announced_bytes(driver().program());
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
  while (!outputs_.empty() && granted_.contains(outputs_.front().image) && send(outputs_.front())) {
    outputs_.pop_front();
    sent_++;
  }
}

bool StageRunner::send(Output& output) {
  Message message{Message::Kind::kImage, chip_, host_, output.image};
  if (after_ != nullptr) message.target = after_->chips[std::size_t(output.image) % after_->chips.size()];
  if (out_.rows == 0) {
    if (!output.complete) return false;
    message.maps = std::move(output.maps);
    output.departure = port_.send(std::move(message), true);
  } else {
    const Int8Values& map = output.maps.front();
    message.kind = Message::Kind::kRows;
    for (int end; output.sent < out_.rows; output.sent = end) {
      end = out_.group_end(output.sent);
      if (map.size() < std::uint64_t(end) * out_.row_bytes) return false;
      message.first_row = output.sent;
      message.maps = {out_.rows_of(map, output.sent)};
      output.departure = port_.send(message, true);
    }
  }
  // The chip's own buffer is free when the last packet has left and the run is over.
  if (output.complete) leaving_.insert(output.departure);
  return output.complete;
}

std::uint64_t StageRunner::next_event(std::uint64_t until) const {
  until = port_.next_event(until);
  if (!running_ && !leaving_.empty()) until = std::min(until, *leaving_.begin());
  if (running_ && out_.rows > 0) until = std::min(until, ask_at_);
  return until;
}

void StageRunner::advance(std::uint64_t until) {
  while (port_.now() < until) {
    for (Message& m : port_.receive(running_.has_value())) take(std::move(m));
    leaving_.erase(leaving_.begin(), leaving_.upper_bound(port_.now()));
    if (running_ && out_.rows > 0 && port_.now() >= ask_at_) ask_stored();
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
