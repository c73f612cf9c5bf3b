// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/spill_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "reference/reference.h"

namespace kaiten::cluster {

namespace {

BufferBytes buffers_of(std::span<const Stage> segments) {
  BufferBytes out;
  for (const Stage& s : segments) {
    out.fit(s.first);
    out.fit(s.again);
  }
  return out;
}

std::uint64_t code_bytes(std::span<const Stage> segments) {
  std::uint64_t bytes = 0;
  for (const Stage& s : segments) bytes += memory_needed(s.first) + memory_needed(s.again);
  return bytes;
}

int zero_of(const Stage& segment) {
  return segment.graph.tensors[std::size_t(segment.graph.outputs.front())].zero_point();
}

}  // namespace

SpillRunner::SpillRunner(const SpillWork& work, const Topology& topology, Endpoint chip,
                         std::span<const Int8Values> inputs, const std::vector<swap::Swap>& swaps,
                         std::uint64_t offset, const MemoryOptions& memory)
    : work_(work),
      host_(Endpoint(topology.chips.size())),
      chip_(chip),
      inputs_(inputs),
      buffers_(buffers_of(work.segments)),
      offset_(offset),
      port_(topology, chip, code_bytes(work.segments) + buffers_.in + buffers_.out + aligned(work.limit),
            memory, "programs, buffers and maps"),
      inputs_at_(port_.device().memory_base() + code_bytes(work.segments)),
      outputs_at_(inputs_at_ + buffers_.in),
      maps_(work.segments.size()),
      fires_(work.segments.size()) {
  std::uint64_t at = 0;
  for (std::size_t s = 0; s < work_.segments.size(); s++) {
    const Stage& segment = work_.segments[s];
    const std::uint64_t first = memory_needed(segment.first);
    programs_.push_back(std::make_unique<Programs>(
        Programs{{port_.device(), segment.graph, segment.first, work_.rounding, at},
                 {port_.device(), segment.graph, segment.again, work_.rounding, at + first}}));
    at += first + memory_needed(segment.again);
    maps_[s].bytes = std::uint64_t(work_.batch) * segment.output_bytes();
  }
  for (const swap::Swap& s : swaps) {
    maps_[std::size_t(s.map)].swapped = true;
    fires_[std::size_t(s.trigger)].push_back(s.map);
  }
  // The ones that are needed first come first.
  for (auto& maps : fires_) std::sort(maps.begin(), maps.end(), std::greater<>());
  const std::size_t each = work_.graph->inputs.size();
  for (int i = 0; work_.check && i < work_.batch; i++)
    expected_.push_back(
        run_reference(*work_.graph, inputs_.subspan(std::size_t(i) * each, each), work_.rounding));
  used_ = counts_.peak_bytes = std::uint64_t(work_.batch) * work_.segments.front().input_bytes();
}

void SpillRunner::take(Message message) {
  Map& map = maps_[std::size_t(message.image)];
  if (message.kind == Message::Kind::kCredit) {
    map.left = true;
    sending_ = false;
    out_.pop_front();
    release_read(map);
    return;
  }
  const Stage& segment = work_.segments[std::size_t(message.image)];
  const std::size_t bytes = segment.output_bytes();
  for (Int8Values& values : message.maps) {
    counts_.in_bytes += values.size();
    map.images.push_back({work_.compress ? expand_map(values, bytes, zero_of(segment)) : std::move(values)});
  }
  map.here = true;
  fetching_ = false;
  in_.pop_front();
}

bool SpillRunner::allocate(std::uint64_t bytes) {
  if (used_ + bytes > work_.limit) return false;
  used_ += bytes;
  counts_.peak_bytes = std::max(counts_.peak_bytes, used_);
  return true;
}

void SpillRunner::release(Map& map) {
  map.images.clear();
  map.taken = false;
  used_ -= map.bytes;
}

// Frees a spilled map of which the host has a copy and that the forward pass needs no more.
void SpillRunner::release_read(Map& map) {
  if (map.taken && map.read && map.swapped && map.left) release(map);
}

bool SpillRunner::send_map() {
  if (sending_ || out_.empty()) return false;
  sending_ = true;
  const int index = out_.front();
  const Map& map = maps_[std::size_t(index)];
  const int zero = zero_of(work_.segments[std::size_t(index)]);
  Message message{Message::Kind::kSpill, chip_, host_, index, 0, {}};
  for (const std::vector<Int8Values>& image : map.images) {
    message.maps.push_back(work_.compress ? pack_map(image.front(), zero) : image.front());
    counts_.out_bytes += message.maps.back().size();
  }
  counts_.raw_bytes += map.bytes;
  port_.send(std::move(message), true);
  return true;
}

bool SpillRunner::fetch_map() {
  if (fetching_ || in_.empty()) return false;
  Map& map = maps_[std::size_t(in_.front())];
  if (!map.left || map.taken || !allocate(map.bytes)) return false;
  map.taken = fetching_ = true;
  port_.send({Message::Kind::kFetch, chip_, host_, in_.front(), 0, {}}, false);
  return true;
}

bool SpillRunner::begin_step() {
  if (at_work_ || step_ == 2 * segments() || port_.now() < offset_) return false;
  bool moved = false;
  if (!forward() && !reached_) {
    const std::vector<int>& called = fires_[std::size_t(segment())];
    in_.insert(in_.end(), called.begin(), called.end());
    reached_ = moved = true;
  }
  if (forward()) {
    Map& made = maps_[std::size_t(segment())];
    if (!allocate(made.bytes)) return moved;
    made.taken = true;
  } else if (segment() > 0) {
    const Map& read = maps_[std::size_t(segment()) - 1];
    if (read.swapped && !read.here) return moved;
  }
  at_work_ = true;
  image_ = 0;
  busy_from_ = port_.now();
  start_image();
  return true;
}

void SpillRunner::start_image() {
  Driver& d = driver();
  d.place(Base::kInputs, inputs_at_);
  d.place(Base::kOutputs, outputs_at_);
  if (segment() == 0) {
    const std::size_t each = work_.graph->inputs.size();
    d.write_inputs(inputs_.subspan(std::size_t(image_) * each, each));
  } else {
    d.write_inputs(maps_[std::size_t(segment()) - 1].images.at(std::size_t(image_)));
  }
  started_ = port_.now();
  port_.access([&] { d.start(); });
}

void SpillRunner::compare(const std::vector<Int8Values>& outputs) {
  const Graph& part = work_.segments[std::size_t(segment())].graph;
  for (std::size_t o = 0; o < outputs.size(); o++) {
    if (outputs[o] == expected_[std::size_t(image_)][std::size_t(part.outputs[o])]) continue;
    if (counts_.wrong++ == 0) counts_.first_wrong = segment();
  }
}

void SpillRunner::finish_image() {
  Driver& d = driver();
  port_.access([&] { d.finish(); });
  std::vector<Int8Values> outputs = d.read_outputs();
  if (work_.check) compare(outputs);
  counts_.runs++;
  counts_.bytes += counted_bytes(d.read_counters());
  counts_.predicted_bytes += announced_bytes(d.program());
  if (forward()) maps_[std::size_t(segment())].images.push_back(std::move(outputs));
  if (++image_ < work_.batch) return start_image();
  end_step();
}

void SpillRunner::end_step() {
  const std::uint64_t now = port_.now();
  counts_.busy += now - busy_from_;
  counts_.finish = now;
  const int s = segment();
  if (forward()) {
    Map& made = maps_[std::size_t(s)];
    if (made.swapped) out_.push_back(s);
    if (s > 0) {
      maps_[std::size_t(s) - 1].read = true;
      release_read(maps_[std::size_t(s) - 1]);
    }
    // The map of the last segment has no reader.
    if (s + 1 == segments()) release(made);
  } else if (s > 0) {
    release(maps_[std::size_t(s) - 1]);
  }
  at_work_ = reached_ = false;
  step_++;
}

bool SpillRunner::settle() {
  bool moved = send_map();
  moved = fetch_map() || moved;
  moved = begin_step() || moved;
  if (step_ == 2 * segments() && !told_) {
    told_ = moved = true;
    counts_.stall = counts_.finish - counts_.busy - offset_;
    port_.send({Message::Kind::kDone, chip_, host_, 0, 0, {}}, false);
  }
  return moved;
}

void SpillRunner::out_of_memory() const {
  const Stage& stage = work_.segments[std::size_t(segment())];
  throw DeviceError(fmt::format("out of memory in segment {} ({}): limit: {} bytes of maps, taken {}",
                                segment(), forward() ? "forward" : "reverse", work_.limit, used_) +
                    (stage.ops.empty() ? "" : fmt::format(", from operator {} on", stage.ops.front())));
}

void SpillRunner::advance(std::uint64_t until) {
  while (port_.now() < until) {
    for (Message& m : port_.receive(at_work_)) take(std::move(m));
    while (settle()) {
    }
    const bool waits = !at_work_ && step_ < 2 * segments();
    if (waits && !sending_ && !fetching_ && port_.now() >= offset_) out_of_memory();
    std::uint64_t next = port_.next_event(until);
    if (port_.now() < offset_) next = std::min(next, offset_);
    if (next <= port_.now()) continue;
    if (!at_work_) {
      port_.wait(next);
    } else if (port_.work(next)) {
      finish_image();
    } else if (port_.now() - started_ > patience(driver().program())) {
      throw DeviceError("the device did not answer for " + std::to_string(port_.now() - started_) +
                        " cycles");
    }
  }
}

}  // namespace kaiten::cluster
