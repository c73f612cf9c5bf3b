// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/command_list.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/arithmetic.h"
#include "base/error.h"

namespace kaiten {

namespace {

// The wait counts of a command have 20 bits.
constexpr std::size_t kMaxCommands = std::size_t(1) << 20;

}  // namespace

std::int64_t CommandList::start_after(Queue queue, const Counts& wait) const {
  std::int64_t start = busy_until_[std::size_t(queue)];
  for (std::size_t q = 0; q < kQueues; q++) {
    if (wait[q] > 0) start = std::max(start, done_[q][wait[q] - 1]);
  }
  return start;
}

void CommandList::emit(const Offer& offer) {
  if (commands_.size() == kMaxCommands) {
    throw InputError("limit: programs of " + std::to_string(kMaxCommands) +
                     " commands, found: more, in layer '" + graph_.ops[std::size_t(offer.meta.op)].name +
                     "'");
  }
  Command c;
  c.body = offer.body;
  c.extension = offer.extension;
  const Queue queue = c.queue();
  const std::size_t q = std::size_t(queue);
  c.wait = hazards_.add(queue, all_of(offer.accesses));
  const std::int64_t start = start_after(queue, c.wait);
  for (const RowUse& use : offer.rows) lives_.use(queue, hazards_.counts()[q], use);
  commands_.push_back(c);
  meta_.push_back(offer.meta);
  if (offer.meta.kind == CommandMeta::Bytes::kActivations) {
    activation_bytes_ += offer.meta.read_bytes + offer.meta.written_bytes;
  }
  scheduled_.push_back({c.wait, queue, {offer.meta.cycles, offer.latency}});
  timed_.emplace_back(c, offer.meta.cycles, config_);
  const auto complete = [&](std::size_t in, std::int64_t at) {
    auto& d = done_[in];
    d.push_back(d.empty() ? at : std::max(d.back(), at));  // completions are in order
  };
  if (queue == Queue::kStore) {
    store_pending_ = true;  // takes as long as what feeds it
    return;
  }
  busy_until_[q] = start + offer.meta.cycles;
  complete(q, busy_until_[q] + offer.latency);
  if (store_pending_) {
    complete(std::size_t(Queue::kStore), busy_until_[q] + offer.latency + kStoreLatency);
    store_pending_ = false;
  }
}

std::int64_t CommandList::constant(std::int64_t bytes, std::function<void(std::vector<std::uint8_t>&)> fill) {
  const std::int64_t offset = align_up(constant_bytes_, config_.axi_bytes);
  constant_bytes_ = offset + bytes;
  constants_.push_back({offset, bytes, std::move(fill)});
  return offset;
}

std::int64_t CommandList::bus_cycles(std::int64_t bytes) const {
  return kLoadStart + ceil_div(bytes, config_.axi_bytes);
}

// The order is good if the scheduler's small model guesses LOADs right, which wait for banks and for memory: it is made
// with several guesses, and that with the least modelled cycles is taken. No other order is better than one that reaches the
// bound.
bool CommandList::schedule(std::int64_t most) {
  const std::int64_t least = least_cycles(timed_, config_);
  if (least > most) return false;
  std::vector<std::vector<std::uint32_t>> orders;  // that were timed
  std::size_t best = 0;
  modelled_cycles_ = std::numeric_limits<std::int64_t>::max();
  std::vector<TimedCommand> commands;
  commands.reserve(timed_.size());
  for (const std::int64_t extra : kLoadExtra) {
    std::vector<std::uint32_t> order = kaiten::schedule(scheduled_, extra);
    if (std::find(orders.begin(), orders.end(), order) != orders.end()) continue;
    commands.clear();
    for (const std::uint32_t i : order) commands.push_back(timed_[i]);
    std::vector<CommandTime> t = command_times(commands, config_);
    std::int64_t end = 0;
    for (const CommandTime& c : t) end = std::max(end, c.complete);
    orders.push_back(std::move(order));
    if (end >= modelled_cycles_) continue;
    modelled_cycles_ = end;
    best = orders.size() - 1;
    times_ = std::move(t);
    if (end == least) break;
  }
  order_ = std::move(orders[best]);
  return true;
}

Program CommandList::finish(bool constants) {
  if (order_.empty()) {  // not scheduled
    order_.resize(commands_.size());
    std::iota(order_.begin(), order_.end(), std::uint32_t(0));
    times_ = command_times(timed_, config_);
  }
  Program program;
  program.config = config_;
  program.modelled_cycles = modelled_cycles_;
  program.commands.reserve(order_.size());
  program.meta.reserve(order_.size());
  for (std::size_t i = 0; i < order_.size(); i++) {
    program.commands.push_back(commands_[order_[i]]);
    CommandMeta& meta = program.meta.emplace_back(meta_[order_[i]]);
    meta.start = times_[i].start;
    meta.complete = times_[i].complete;
  }
  program.deaths = lives_.deaths();
  program.constant_bytes = constant_bytes_;
  if (!constants) return program;
  program.constants.reserve(std::size_t(constant_bytes_));
  for (const Constant& p : constants_) {
    program.constants.resize(std::size_t(p.offset));
    p.fill(program.constants);
    if (std::int64_t(program.constants.size()) != p.offset + p.bytes) {
      throw std::logic_error("a constant of another size than announced");
    }
  }
  return program;
}

void add_rows(Offer& offer, const RowUse& use, std::uint32_t part_of) {
  const int rows = use.end - use.begin;
  if (rows <= 0) return;
  offer.rows.push_back(use);
  const Ring& ring = use.ring;
  const auto add = [&](int slot, int slots) {
    offer.accesses.push_back({use.buffer == Buffer::kSb ? Space::kSb : Space::kVb,
                              ring.first + slot * ring.slot_size,
                              ring.first + (slot + slots) * ring.slot_size, use.write, part_of});
  };
  if (rows >= ring.slots) return add(0, ring.slots);
  const int slot = ring.index(use.begin);
  const int straight = std::min(rows, ring.slots - slot);
  add(slot, straight);
  if (straight < rows) add(0, rows - straight);
}

Access memory_rows(const MemoryLayout& m, int begin, int end, bool write, std::uint32_t part_of) {
  return {memory_space(m.base), m.offset + begin * m.row_pitch, m.offset + end * m.row_pitch, write, part_of};
}

Access surface_rows(const MemoryLayout& m, int begin, int end, bool write, std::uint32_t part_of) {
  return {memory_space(m.base), m.surface(begin), m.surface(end), write, part_of};
}

}  // namespace kaiten
