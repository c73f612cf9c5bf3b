// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/bank_waits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <variant>

#include "base/arithmetic.h"
#include "program/config.h"

namespace kaiten {

namespace {

constexpr int kBanks = 9;

enum Buffer : std::uint8_t { kSb, kVb, kBuffers };

// A request meets results in a second cycle at most: its words go there while the result's do not.
constexpr double kMostBlocked = 0.5;

// An engine's results on their way into a buffer.
struct Writes {
  WorkTime time;
  double blocking = 0;  // cycles in which a request that meets the result is held up, of all
  int words = 0;        // of a result
};

// Those of an engine into a buffer, one after the other.
using Track = std::vector<Writes>;

// That words of a LOAD and of a result meet in a bank: 1 less the choices of banks that do not.
double meeting(int load_words, int result_words) {
  double apart = 1;
  for (int i = 0; i < result_words; i++)
    apart *= double(std::max(kBanks - load_words - i, 0)) / double(kBanks - i);
  return 1 - apart;
}

// The array's results come one a cycle in the last pass of a tile: every second one holds up a request. Those of the
// vector engine come evenly.
template <class C>
void add_results(const C& c, int most_words, const WorkTime& t, std::array<Track, kBuffers>& tracks) {
  if (t.end <= t.begin) return;
  std::int64_t columns = c.columns;
  int pixels = 1;  // of a result
  if constexpr (C::kQueue == Queue::kConv) {
    const int words = int(std::min<std::int64_t>(most_words, c.out_groups));
    const bool apart = c.out_pixel % kBanks >= words && c.out_pixel % kBanks <= kBanks - words;
    if (c.pair_groups > 0 && !c.to_store && apart) {
      columns = last_slots_of_row(c);
      pixels = 2;
    }
  }
  const double results = std::min(double(c.tiles * c.rows * columns) / double(t.end - t.begin), 1.0);
  const double blocking =
      C::kQueue == Queue::kConv ? results * kMostBlocked : std::min(results, kMostBlocked);
  const Writes w{t, blocking, pixels * int(std::min<std::int64_t>(most_words, c.out_groups))};
  if (c.to_sb) tracks[kSb].push_back(w);
  if (c.to_vb) tracks[kVb].push_back(w);
}

// Goes through the time of a writer while the engines' commands come and go.
class Passage {
 public:
  explicit Passage(std::vector<const Track*> tracks) : tracks_(std::move(tracks)), at_(tracks_.size()) {}

  // The end of `cycles` of work from `begin` on, of which each request takes `share`. Calls come in order of time.
  double end(double begin, double cycles, double share, int words) {
    double now = begin;
    while (cycles > 0) {
      double until = std::numeric_limits<double>::infinity();
      double free = 1;  // that no result is in the way
      for (std::size_t t = 0; t < tracks_.size(); t++) {
        const Track& track = *tracks_[t];
        std::size_t& at = at_[t];
        while (at < track.size() && double(track[at].time.end) <= now) at++;
        if (at == track.size()) continue;
        const Writes& w = track[at];
        if (now < double(w.time.begin)) {
          until = std::min(until, double(w.time.begin));
        } else {
          free *= 1 - w.blocking * meeting(words, w.words);
          until = std::min(until, double(w.time.end));
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

// Of a LOAD at the banks.
struct Requests {
  std::int64_t number = 0;
  int words = 0;  // of each
};

Requests requests(const LoadRowsCommand& l, const Config& config) {
  const int pixel_words = int(ceil_div(l.pixel_bytes, std::int64_t(config.cp)));
  return {l.rows * l.segments * ceil_div(l.columns, l.more_pixels + 1) *
              ceil_div(pixel_words, config.load_words()),
          std::min(pixel_words * int(l.more_pixels + 1), config.load_words())};
}

}  // namespace

std::vector<std::int64_t> bank_waits(const std::vector<Command>& commands,
                                     const std::vector<std::int64_t>& cycles,
                                     const std::vector<WorkTime>& work, const Config& config) {
  std::array<Track, kBuffers> array, vector;
  for (std::size_t i = 0; i < commands.size(); i++) {
    const auto& body = commands[i].body;
    if (const auto* c = std::get_if<ConvCommand>(&body)) {
      add_results(*c, config.kp / config.cp, work[i], array);
    } else if (const auto* w = std::get_if<WindowCommand>(&body)) {
      add_results(*w, 3, work[i], vector);
    } else if (const auto* a = std::get_if<AddCommand>(&body)) {
      add_results(*a, 3, work[i], vector);
    }
  }
  std::vector<std::int64_t> waits(commands.size());
  const auto wait = [&](std::size_t i, Passage& passage, double share, int words) {
    const double end = passage.end(double(work[i].begin), double(cycles[i]), share, words);
    waits[i] = std::max(waits[i], std::int64_t(std::lround(end)) - work[i].begin - cycles[i]);
  };
  for (const Buffer b : {kSb, kVb}) {
    Passage load({&array[b], &vector[b]}), results({&array[b]});
    for (std::size_t i = 0; i < commands.size(); i++) {
      if (cycles[i] == 0) continue;
      std::visit(
          [&]<class C>(const C& c) {
            if constexpr (std::is_same_v<C, LoadRowsCommand>) {
              if (!(b == kSb ? c.to_sb : c.to_vb)) return;
              const Requests r = requests(c, config);
              wait(i, load, std::min(double(r.number) / double(cycles[i]), 1.0), r.words);
            } else if constexpr (C::kQueue == Queue::kVector) {
              if (!(b == kSb ? c.to_sb : c.to_vb)) return;
              const double share = double(c.tiles * c.rows * c.columns) / double(cycles[i]);
              wait(i, results, std::min(share, 1.0), int(std::min<std::int64_t>(3, c.out_groups)));
            }
          },
          commands[i].body);
    }
  }
  return waits;
}

}  // namespace kaiten
