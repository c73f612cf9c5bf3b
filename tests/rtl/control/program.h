// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Random programs for the tests of control: commands with random bodies (spare bits 0) and waits that keep the rules of
// docs/hardware/control.md, and a stub of the four engines that honours the coupling of STORE and its feeder.
#ifndef KAITEN_TESTS_RTL_CONTROL_PROGRAM_H
#define KAITEN_TESTS_RTL_CONTROL_PROGRAM_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "program/command_fields.h"

namespace kaiten::test {

inline constexpr int kQueues = 4;  // LOAD, CONV, VECTOR, STORE
inline constexpr int kConvQueue = 1, kStoreQueue = 3;

using Random = std::mt19937_64;

// A bit for each queue
inline std::uint8_t mask_of(const std::array<bool, kQueues>& bits) {
  unsigned mask = 0;
  for (int q = 0; q < kQueues; ++q) mask |= unsigned{bits[q]} << q;
  return static_cast<std::uint8_t>(mask);
}

inline int pick(Random& random, int below) {
  return static_cast<int>(random() % static_cast<std::uint64_t>(below));
}
inline bool chance(Random& random, int percent) { return pick(random, 100) < percent; }

struct Command {
  std::array<std::uint32_t, 16> words{};

  void set(int first, int bits, std::uint64_t value) {
    for (int i = 0; i < bits; ++i) {
      const std::uint32_t mask = 1u << ((first + i) % 32);
      std::uint32_t& word = words[(first + i) / 32];
      word = (value >> i) & 1 ? word | mask : word & ~mask;
    }
  }
  std::uint64_t get(int first, int bits) const {
    std::uint64_t value = 0;
    for (int i = 0; i < bits; ++i)
      value |= std::uint64_t{words[(first + i) / 32] >> ((first + i) % 32) & 1} << i;
    return value;
  }
  int op() const { return static_cast<int>(get(0, 4)); }
  int queue() const {
    constexpr int kQueueOf[16] = {0, 0, 0, 0, 1, 2, 2, 3};
    return kQueueOf[op()];
  }
  std::uint32_t wait(int queue) const { return static_cast<std::uint32_t>(get(16 + 20 * queue, 20)); }
  void set_wait(int queue, std::uint32_t count) { set(16 + 20 * queue, 20, count); }
  // of a LOAD: rows from outside
  std::uint32_t wait_arrived() const { return static_cast<std::uint32_t>(get(4, 12)); }
  void set_wait_arrived(std::uint32_t rows) { set(4, 12, rows); }
};

// First spare bit of a command of this operation
inline int used_bits(int op) {
  int used = 0;
  for_each_command_kind([&](auto command) {
    using Kind = decltype(command);
    if (static_cast<int>(Kind::kOpcode) != op) return;
    Kind::fields(command, [&](const char*, auto, int first, int bits, FieldKind) { used = first + bits; });
  });
  return used;
}

// A field that must not be 0; `where`: only if this one is not 0, no bits otherwise
struct Count {
  int first, bits, where_first, where_bits;
};

// All such fields of an operation.
inline std::vector<Count> counts(int op) {
  std::vector<Count> found;
  for_each_command_kind([&](auto command) {
    using Kind = decltype(command);
    if (static_cast<int>(Kind::kOpcode) != op) return;
    Count row{};
    Kind::fields(command, [&](const char* name, auto, int first, int bits, FieldKind kind) {
      if (kind == FieldKind::kCount) found.push_back({first, bits, 0, 0});
      if (std::string_view(name) == "step_bytes") row.where_first = first, row.where_bits = bits;
      if (std::string_view(name) == "row_bytes")
        found.push_back({first, bits, row.where_first, row.where_bits});
    });
  });
  return found;
}

inline int to_store_bit(int op) {
  int bit = -1;
  for_each_command_kind([&](auto command) {
    using Kind = decltype(command);
    if (static_cast<int>(Kind::kOpcode) != op) return;
    Kind::fields(command, [&](const char* name, auto, int first, int, FieldKind) {
      if (std::string_view(name) == "to_store") bit = first;
    });
  });
  return bit;
}

inline Command random_command(Random& random, int op) {
  Command c;
  const int used = used_bits(op);
  for (int bit = 96; bit < used; bit += 32) c.set(bit, std::min(32, used - bit), random());
  c.set(0, 4, static_cast<std::uint64_t>(op));
  for (const Count& count : counts(op)) {
    if (chance(random, 30)) c.set(count.first, count.bits, 0);
    if (c.get(count.first, count.bits) == 0) c.set(count.first + pick(random, count.bits), 1, 1);
  }
  if (to_store_bit(op) >= 0) c.set(to_store_bit(op), 1, 0);
  return c;
}

// A program that keeps the rules: waits name earlier commands, a STORE only if its feeder is earlier, too.
inline std::vector<Command> random_program(Random& random, int length) {
  std::vector<Command> program;
  std::array<std::uint32_t, kQueues> seen{};
  std::array<int, 7> weight{};
  for (int& w : weight) w = 1 + pick(random, 8);
  const int eager = pick(random, 101);  // how often a wait names the latest command
  const auto waits = [&](Command& c, std::uint32_t stores) {
    for (int q = 0; q < kQueues; ++q) {
      const std::uint32_t limit = q == kStoreQueue ? stores : seen[q];
      if (chance(random, 40) || limit == 0) continue;
      c.set_wait(q, chance(random, eager) ? limit : pick(random, static_cast<int>(limit) + 1));
    }
  };
  while (static_cast<int>(program.size()) < length) {
    int op = 1;
    for (int sum = 0, at = pick(random, 7 * 8); op < 7 && (sum += weight[op - 1]) <= at; ++op) {
    }
    Command c = random_command(random, op);
    waits(c, seen[kStoreQueue]);
    program.push_back(c);
    ++seen[c.queue()];
    if (op == 7) {
      Command feeder = random_command(random, 4 + pick(random, 3));
      feeder.set(to_store_bit(feeder.op()), 1, 1);
      waits(feeder, seen[kStoreQueue] - 1);
      program.push_back(feeder);
      ++seen[feeder.queue()];
    }
  }
  return program;
}

// Makes LOADs wait for rows from outside, up to `rows` of them.
inline void wait_for_rows(Random& random, std::vector<Command>& program, std::uint32_t rows) {
  for (Command& c : program)
    if (c.queue() == 0 && chance(random, 60))
      c.set_wait_arrived(static_cast<std::uint32_t>(pick(random, static_cast<int>(rows) + 1)));
}

// Engines: take commands, complete them in order after random times. A feeder completes only once its STORE has been taken,
// a STORE only after its feeder.
class Engines {
 public:
  Engines(const std::vector<Command>& program, Random& random, int slowness)
      : program_(program),
        random_(random),
        slowness_(slowness),
        done_(program.size(), false),
        taken_(program.size(), false) {}

  bool stuck[kQueues] = {};  // an engine that never completes anything

  // One cycle: which engines would take a command, which complete one.
  void step() {
    for (int q = 0; q < kQueues; ++q) {
      ready[q] = running_[q].size() < 3 && chance(random_, ready_percent);
      done[q] = false;
      if (running_[q].empty() || stuck[q]) continue;
      Running& oldest = running_[q].front();
      if (oldest.left > 0) {
        --oldest.left;
        continue;
      }
      const std::size_t i = oldest.index;
      if (q == kStoreQueue) {
        if (i + 1 < program_.size() && !done_[i + 1]) continue;
      } else if (to_store_bit(program_[i].op()) >= 0 && program_[i].get(to_store_bit(program_[i].op()), 1)) {
        if (i == 0 || !taken_[i - 1]) continue;
      }
      done[q] = true;
      done_[i] = true;
      ++completed[q];
      running_[q].pop_front();
    }
  }

  // A command was taken in this cycle.
  void take(int q, std::size_t index) {
    taken_[index] = true;
    order[q].push_back(index);
    running_[q].push_back({index, chance(random_, 50) ? 0 : pick(random_, slowness_)});
  }

  // A STORE has got its results: it writes until it is complete.
  bool writing() const {
    return !running_[kStoreQueue].empty() && done_[running_[kStoreQueue].front().index + 1];
  }
  bool is_done(std::size_t index) const { return done_[index]; }
  bool idle() const {
    return std::all_of(running_.begin(), running_.end(), [](const auto& r) { return r.empty(); });
  }

  int ready_percent = 80;
  std::array<bool, kQueues> ready{};
  std::array<bool, kQueues> done{};
  std::array<std::uint32_t, kQueues> completed{};
  std::array<std::vector<std::size_t>, kQueues> order;

 private:
  struct Running {
    std::size_t index;
    int left;
  };
  const std::vector<Command>& program_;
  Random& random_;
  int slowness_;
  std::vector<bool> done_, taken_;
  std::array<std::deque<Running>, kQueues> running_;
};

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_RTL_CONTROL_PROGRAM_H
