// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Work that shares a place, a bank of a buffer or the memory, with others that come and go.
#ifndef KAITEN_COMPILE_EMIT_PASSAGE_H
#define KAITEN_COMPILE_EMIT_PASSAGE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kaiten {

// When a command's data moves: a LOAD's beats, an engine's slots. Cycles.
struct WorkTime {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Nobody waits longer than for a second cycle: those who share a place take turns.
inline constexpr double kMostBlocked = 0.5;

// Somebody at the place.
struct Busy {
  WorkTime time;
  double blocking = 0;  // share of the cycles in which whoever meets it is held up
  int words = 0;        // of a result, where the place is banks
};

// Those of one queue, one after the other.
using Track = std::vector<Busy>;

// Goes through time while the commands of the tracks come and go.
class Passage {
 public:
  // The tracks outlive the passage.
  explicit Passage(std::vector<const Track*> tracks) : tracks_(std::move(tracks)), at_(tracks_.size()) {}

  // The end of `cycles` of work from `begin` on, which takes `share` of the place's cycles; meets(Busy): how likely one gets
  // into the way of the other. Calls come in order of time.
  template <class Meets>
  double end(double begin, double cycles, double share, Meets meets) {
    double now = begin;
    while (cycles > 0) {
      double until = std::numeric_limits<double>::infinity();
      double free = 1;  // that nobody is in the way
      for (std::size_t t = 0; t < tracks_.size(); t++) {
        const Track& track = *tracks_[t];
        std::size_t& at = at_[t];
        while (at < track.size() && double(track[at].time.end) <= now) at++;
        if (at == track.size()) continue;
        const Busy& b = track[at];
        if (now < double(b.time.begin)) {
          until = std::min(until, double(b.time.begin));
        } else {
          free *= 1 - b.blocking * meets(b);
          until = std::min(until, double(b.time.end));
        }
      }
      const double pace = std::max(1.0, share / std::max(free, 1 - kMostBlocked));  // cycles for each of work
      const double most = (until - now) / pace;
      if (most >= cycles) return now + cycles * pace;
      cycles -= most;
      now = until;
    }
    return now;
  }

 private:
  std::vector<const Track*> tracks_;
  std::vector<std::size_t> at_;  // of each, what is not over
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_PASSAGE_H
