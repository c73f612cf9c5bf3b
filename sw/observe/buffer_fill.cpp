// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/buffer_fill.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/arithmetic.h"

namespace kaiten {

namespace {

// Rows of a weight memory, command by command: behind its last row comes row `first`.
class Lives {
 public:
  Lives(int rows, int first) : rows_(rows), first_(first) {}

  void write(int begin, int count, Queue queue, std::uint32_t number) {
    for (const auto& [from, to] : parts(begin, count)) {
      end_lives(from, to);
      Counts written{};
      written[std::size_t(queue)] = number;
      lives_[from] = {from, to, written, {}};
    }
  }
  void read(int begin, int count, Queue queue, std::uint32_t number) {
    for (const auto& [from, to] : parts(begin, count)) {
      split(to);
      auto life = split(from);
      for (int at = from; at < to; at = life++->second.end) {  // up to `at` rows have a life
        const int next = life == lives_.end() ? to : std::min(to, life->first);
        if (at < next) life = lives_.insert({at, {at, next, {}, {}}}).first;  // of an earlier run
        life->second.after[std::size_t(queue)] = number;
      }
    }
  }
  std::vector<BufferFill::Weights> finish() {
    end_lives(0, rows_);
    return std::move(over_);
  }

 private:
  using Map = std::map<int, BufferFill::Weights>;  // by first row

  std::vector<std::pair<int, int>> parts(int begin, int count) const {
    if (begin >= rows_) begin += first_ - rows_;
    const int end = begin + count;
    if (end <= rows_) return {{begin, end}};
    return {{begin, rows_}, {first_, first_ + end - rows_}};
  }
  // The first life behind `row`; none straddles it any more.
  Map::iterator split(int row) {
    const auto next = lives_.lower_bound(row);
    if (next == lives_.begin() || std::prev(next)->second.end <= row) return next;
    BufferFill::Weights& before = std::prev(next)->second;
    BufferFill::Weights behind = before;
    before.end = behind.begin = row;
    return lives_.insert({row, behind}).first;
  }
  void end_lives(int begin, int end) {
    split(end);
    for (auto at = split(begin); at != lives_.end() && at->first < end; at = lives_.erase(at)) {
      if (at->second.after != Counts{}) over_.push_back(at->second);
    }
  }

  int rows_;
  int first_;
  Map lives_;
  std::vector<BufferFill::Weights> over_;  // that somebody reads
};

void read_weights(const Command& command, const ConvCommand& c, int kp, std::uint32_t number, Lives& wb) {
  const int kernel_tiles = int((c.more_kernel_tile_rows + 1) * (c.more_kernel_tile_columns + 1));
  const int sets = int(c.tiles) * kernel_tiles;  // of passes
  int passes = int(c.passes);
  if (const auto& e = command.extension; e && e->resident_passes > 0) {
    for (int set = 0; set < sets; set++)
      wb.read(int(e->resident + set * e->resident_pitch), int(e->resident_passes) * kp, Queue::kConv, number);
    passes -= int(e->resident_passes);
  }
  if (passes > 0) wb.read(int(c.weights), sets * passes * kp, Queue::kConv, number);
}

template <class Life>
bool alive(const Life& life, std::span<const std::uint32_t, kQueues> completed) {
  const auto reached = [&](const Counts& counts) {
    return std::equal(counts.begin(), counts.end(), completed.begin(),
                      [](std::uint32_t wanted, std::uint32_t there) { return there >= wanted; });
  };
  return reached(life.written) && !reached(life.after);
}

}  // namespace

BufferFill::BufferFill(const Program& program) : rows_(program.deaths) {
  const Config& config = program.config;
  Lives wb(config.wb_rows, program.wb_split), vwb(config.vwb_rows, 0);
  Counts numbers{};
  for (const Command& command : program.commands) {
    const Queue queue = command.queue();
    const std::uint32_t number = ++numbers[std::size_t(queue)];
    if (const auto* load = std::get_if<LoadWeightsCommand>(&command.body)) {
      const int rows = int(load->passes * load->pass_pitch);  // those of kernels that do not exist, too
      (load->to_vwb ? vwb : wb).write(int(load->row), rows, queue, number);
    } else if (const auto* conv = std::get_if<ConvCommand>(&command.body)) {
      read_weights(command, *conv, config.kp, number, wb);
    } else if (const auto* window = std::get_if<WindowCommand>(&command.body);
               window != nullptr && WindowKind(window->kind) == WindowKind::kDepthwise) {
      const int kernel_tiles = int(ceil_div(window->kernel_rows, 3));
      vwb.read(int(window->weights), int(window->tiles * window->kernel_columns) * kernel_tiles, queue,
               number);
    }
  }
  wb_ = wb.finish();
  vwb_ = vwb.finish();
}

BufferFill::Held BufferFill::held(std::span<const std::uint32_t, kQueues> completed) const {
  Held sum;
  for (const RowDeath& rows : rows_) {
    if (alive(rows, completed)) (rows.buffer == Buffer::kSb ? sum.sb : sum.vb) += rows.end - rows.begin;
  }
  for (const Weights& w : wb_) {
    if (alive(w, completed)) sum.wb += w.end - w.begin;
  }
  for (const Weights& w : vwb_) {
    if (alive(w, completed)) sum.vwb += w.end - w.begin;
  }
  return sum;
}

}  // namespace kaiten
