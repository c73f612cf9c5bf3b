// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/bank_waits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "base/arithmetic.h"
#include "compile/emit/passage.h"
#include "program/config.h"

namespace kaiten {

namespace {

constexpr int kBanks = 9;

enum Buffer : std::uint8_t { kSb, kVb, kBuffers };

// That words of a LOAD and of a result meet in a bank: 1 less the choices of banks that do not.
constexpr double meeting(int load_words, int result_words) {
  double apart = 1;
  for (int i = 0; i < result_words; i++)
    apart *= double(std::max(kBanks - load_words - i, 0)) / double(kBanks - i);
  return 1 - apart;
}

// By both; more words than banks meet as often as one in each.
constexpr auto kMeeting = [] {
  std::array<std::array<double, kBanks + 1>, kBanks + 1> all{};
  for (int load = 0; load <= kBanks; load++)
    for (int result = 0; result <= kBanks; result++)
      all[std::size_t(load)][std::size_t(result)] = meeting(load, result);
  return all;
}();

// The array's results come one a cycle in the last pass of a tile, and of ten six hold up a request: measured, since which
// banks meet is not known here. Those of the vector engine come evenly.
constexpr double kHoldsUp = 0.6;

void add_results(const BankWrites& c, const WorkTime& t, std::array<Track, kBuffers>& tracks) {
  if (t.end <= t.begin) return;
  const double results = std::min(double(c.number) / double(t.end - t.begin), 1.0);
  const bool array = c.writer == BankWrites::Writer::kArray;
  const Busy w{t, array ? results * kHoldsUp : std::min(results, kMostBlocked), std::min(c.words, kBanks)};
  if (c.to_sb) tracks[kSb].push_back(w);
  if (c.to_vb) tracks[kVb].push_back(w);
}

BankWrites writes_of(const LoadRowsCommand& l, const Config& config) {
  const int pixel_words = int(ceil_div(l.pixel_bytes, std::int64_t(config.cp)));
  BankWrites w;
  w.writer = BankWrites::Writer::kLoad;
  w.number = l.rows * l.segments * ceil_div(l.columns, l.more_pixels + 1) *
             ceil_div(pixel_words, config.load_words());
  w.words = std::min(pixel_words * int(l.more_pixels + 1), config.load_words());
  return w;
}

BankWrites writes_of(const ConvCommand& c, const Config& config) {
  BankWrites w;
  w.writer = BankWrites::Writer::kArray;
  const int words = int(std::min<std::int64_t>(config.kp / config.cp, c.out_groups));
  const bool apart = c.out_pixel % kBanks >= words && c.out_pixel % kBanks <= kBanks - words;
  const bool two = c.pair_groups > 0 && !c.to_store && apart;  // pixels in a result
  w.number = c.tiles * c.rows * (two ? last_slots_of_row(c) : c.columns);
  w.words = two ? 2 * words : words;
  return w;
}

}  // namespace

BankWrites bank_writes(const CommandBody& body, const Config& config) {
  return std::visit(
      [&]<class C>(const C& c) {
        BankWrites w;
        if constexpr (std::is_same_v<C, LoadRowsCommand> || std::is_same_v<C, ConvCommand>) {
          w = writes_of(c, config);
        } else if constexpr (C::kQueue == Queue::kVector) {
          w = {c.tiles * c.rows * c.columns, int(std::min<std::int64_t>(3, c.out_groups)),
               BankWrites::Writer::kVector};
        }
        if constexpr (requires { c.to_sb; }) {
          w.to_sb = c.to_sb != 0;
          w.to_vb = c.to_vb != 0;
        }
        return w;
      },
      body);
}

std::vector<std::int64_t> bank_waits(std::span<const BankWrites> commands,
                                     std::span<const std::int64_t> cycles, std::span<const WorkTime> work) {
  using Writer = BankWrites::Writer;
  std::array<Track, kBuffers> array, vector;
  for (std::size_t i = 0; i < commands.size(); i++) {
    if (commands[i].writer == Writer::kArray) add_results(commands[i], work[i], array);
    if (commands[i].writer == Writer::kVector) add_results(commands[i], work[i], vector);
  }
  std::vector<std::int64_t> waits(commands.size());
  for (const Buffer b : {kSb, kVb}) {
    Passage load({&array[b], &vector[b]}), results({&array[b]});
    for (std::size_t i = 0; i < commands.size(); i++) {
      const BankWrites& c = commands[i];
      if (cycles[i] == 0 || !(b == kSb ? c.to_sb : c.to_vb)) continue;
      if (c.writer != Writer::kLoad && c.writer != Writer::kVector) continue;
      Passage& passage = c.writer == Writer::kLoad ? load : results;
      const double share = std::min(double(c.number) / double(cycles[i]), 1.0);
      const auto& met = kMeeting[std::size_t(std::min(c.words, kBanks))];
      const double end = passage.end(double(work[i].begin), double(cycles[i]), share,
                                     [&met](const Busy& w) { return met[std::size_t(w.words)]; });
      waits[i] = std::max(waits[i], std::int64_t(std::lround(end)) - work[i].begin - cycles[i]);
    }
  }
  return waits;
}

}  // namespace kaiten
