// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/slow_memory.h"

#include <algorithm>
#include <variant>

#include "compile/emit/cycle_model.h"
#include "program/bus_beats.h"
#include "program/config.h"
#include "program/program.h"

namespace kaiten {

namespace {

// Beats of results that wait for memory: the write master's.
constexpr double kBeatsStaged = 32;
// Beats between memory and the words that LOAD writes.
constexpr double kBeatsBetween = 4;
// Whoever waits is longer in the way of others.
constexpr int kRounds = 6;

// The array's results come in the last passes of a tile, one a cycle: what memory does not take of them is staged, as far as
// there is room.
MemoryWork results(const TimedCommand& c, const CommandBody& body, double cycles, double beat) {
  MemoryWork m;
  m.written = cycles;
  const auto* conv = std::get_if<ConvCommand>(&body);
  if (conv == nullptr) return m;
  const double tiles = double(conv->tiles), slots = double(std::min(c.writes.number, c.cycles));
  const double left = (cycles - slots) / tiles - kBeatsStaged * beat;
  m.stalls = std::int64_t(std::ceil(tiles * std::max(left, 0.0)));
  return m;
}

// The share of memory's cycles that `work` takes of `time`; others wait for it at most in every second one.
Busy busy(const WorkTime& time, double work) {
  return {time, std::min(work / double(time.end - time.begin), kMostBlocked), 0};
}

}  // namespace

SlowMemory::SlowMemory(const Program& program, std::span<const TimedCommand> timed, double bytes_per_cycle)
    : beat(double(program.config.axi_bytes) / bytes_per_cycle),
      block(double(kCommandBytes) / bytes_per_cycle),
      commands(timed.size()) {
  for (std::size_t i = 0; i < timed.size(); i++) {
    const CommandBody& body = program.commands[i].body;
    const BusBeats beats = bus_beats(body, program.meta[i], program.config);
    if (beats.read > 0) {
      commands[i].read = double(beats.read) * beat;
      commands[i].bursts = read_bursts(body, program.config);
    }
    if (beats.written == 0 || i + 1 == timed.size()) continue;
    commands[i + 1] = results(timed[i + 1], program.commands[i + 1].body, double(beats.written) * beat, beat);
  }
}

FromMemory SlowMemory::from(std::size_t command, std::int64_t cycles, std::int64_t moves) const {
  const MemoryWork& m = commands[command];
  if (m.written > 0) return {moves, std::int64_t(kBeatsStaged * beat)};
  const double beats = std::max(kBeatsBetween, m.read / beat);
  return {moves, std::int64_t(std::ceil(double(cycles) * kBeatsBetween / beats)), m.bursts};
}

std::vector<std::int64_t> memory_waits(std::span<const MemoryWork> commands,
                                       std::span<const std::int64_t> cycles, std::span<const WorkTime> work) {
  const auto always = [](const Busy&) { return 1.0; };
  std::vector<std::int64_t> waits(commands.size());
  std::vector<WorkTime> times(work.begin(), work.end());
  for (int round = 0; round < kRounds; round++) {
    Track reads, writes;
    for (std::size_t i = 0; i < commands.size(); i++) {
      if (times[i].end <= times[i].begin) continue;
      if (commands[i].read > 0) reads.push_back(busy(times[i], commands[i].read));
      if (commands[i].written > 0) writes.push_back(busy(times[i], commands[i].written));
    }
    if (reads.empty() || writes.empty()) break;
    Passage read({&writes}), write({&reads});
    for (std::size_t i = 0; i < commands.size(); i++) {
      const double moved = commands[i].read + commands[i].written;
      if (moved <= 0) continue;
      const auto begin = double(times[i].begin), length = std::max(double(cycles[i]), moved);
      Passage& passage = commands[i].read > 0 ? read : write;
      const double end = passage.end(begin, length, moved / length, always);
      waits[i] = std::lround(end - begin - length);
      times[i].end = std::int64_t(std::ceil(end));
    }
  }
  return waits;
}

}  // namespace kaiten
