// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A model of the accelerator in plain loops: it decodes the 64-byte commands of a program and executes them on
// byte arrays, one command at a time, in a random order that the queues and the wait counts allow. Written
// from docs/hardware and docs/formats alone: it shares nothing with the compiler but the decoder of commands.
//
// To find missing waits it is as unfriendly as the hardware may be: a queue takes commands before earlier
// ones are complete, LOAD may fetch when it takes a command and write much later, the array may fetch the
// first weights of a command as soon as its LOAD count holds, STORE writes when its producer runs or at the
// very end, and memories start with random contents.
#ifndef KAITEN_TESTS_SUPPORT_ACCELERATOR_MODEL_H
#define KAITEN_TESTS_SUPPORT_ACCELERATOR_MODEL_H

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "program/command.h"
#include "program/config.h"

namespace kaiten::test {

class AcceleratorModel {
 public:
  // Every result: command, counters left after it (tiles, rows, columns), values of the tile's channels.
  using Watch = std::function<void(std::uint32_t command, int tiles_left, int rows_left, int columns_left,
                                   std::span<const std::int8_t> channels)>;

  AcceleratorModel(const Config& config, std::uint64_t seed);

  std::vector<std::uint8_t>& memory(int base) { return memory_[std::size_t(base)]; }
  void set_watch(Watch watch) { watch_ = std::move(watch); }
  // Called at the start of a run and behind every completion, with the completed commands of each queue.
  using Completed = std::function<void(std::span<const std::uint32_t, kQueues> counts)>;
  void set_completed(Completed completed) { completed_ = std::move(completed); }
  // Changes every byte of SB (or VB) at addresses [first, end).
  void spoil(bool vb, int first, int end);
  // Rows [first, end) of WB (or VWB).
  void spoil_weights(bool vwb, int first, int end);

  // Throws std::runtime_error where the program hangs, leaves a memory or breaks a rule.
  // Register wb_split: first WB row of the ring DB.
  void set_wb_split(int row) { wb_split_ = row; }
  void run(std::span<const std::uint8_t> command_bytes);

 private:
  using Word = std::vector<std::int8_t>;  // CP values
  struct Param {
    std::int32_t bias = 0;
    std::int32_t mult = 0;
    int shift = 0;
  };
  struct Ring {
    int first, last, size;
    int next(int slot) const { return slot == last ? first : slot + size; }
    int at(int slot, int rows) const;
  };
  struct InFlight {
    std::uint32_t index = 0;
    bool executed = false;
    std::vector<std::uint8_t> fetched;  // LOAD: bytes read from memory when the command was taken
    bool has_fetched = false;
  };
  struct Queued {
    std::deque<std::uint32_t> waiting;
    std::deque<InFlight> in_flight;
    std::uint32_t completed = 0;
  };

  bool may_start(const Command& c) const;
  bool may_execute(const InFlight& f) const;
  void execute(InFlight& f);
  void complete(Queue queue);
  void tell_completed() const;

  std::vector<std::uint8_t> fetch(const CommandBody& body) const;
  // n bytes that stand packed in `units` bus beats, raw where 0.
  void expand(std::int64_t base, std::int64_t offset, std::int64_t n, std::int64_t units, int zero,
              std::vector<std::uint8_t>& out) const;
  void execute_load(const CommandBody& body, const std::vector<std::uint8_t>& bytes);
  void require_pairs(const ConvCommand& c) const;
  void conv(std::uint32_t index, const ConvCommand& c);
  void window(std::uint32_t index, const WindowCommand& c);
  void add(std::uint32_t index, const AddCommand& c);
  template <class Body>
  void result(std::uint32_t index, const Body& c, int lanes, int tile, int row, int column,
              const std::vector<std::int8_t>& values);
  void write_store(const StoreCommand& s);
  std::int8_t requantise(std::int64_t acc, const Param& p, int rule, int zero, int low, int high) const;
  std::int64_t round(std::int64_t x, const Param& p, int rule) const;
  // A result through the table at ZSB word `params`.
  static std::int8_t looked_up(const std::vector<Param>& zsb, std::int64_t table, std::int8_t value);

  Word& word(bool vb, int slot, int row_mod3, int position);
  std::int64_t random(std::int64_t n) { return std::int64_t(rng_() % std::uint64_t(n)); }

  Config config_;
  std::mt19937_64 rng_;
  std::array<std::vector<std::uint8_t>, 8> memory_;
  std::vector<Word> sb_, vb_;  // [address * 9 + bank]
  std::vector<std::vector<std::int8_t>> wb_, vwb_;
  int wb_split_ = 0;
  std::vector<Param> zsb_array_, zsb_vector_;
  std::vector<Command> commands_;
  std::array<Queued, kQueues> queues_;
  // First weights of a CONV, fetched early: command and rows.
  std::optional<std::uint32_t> early_;
  std::vector<std::vector<std::int8_t>> early_rows_;
  // Results on their way to memory: of the STORE of each producer.
  std::vector<std::vector<std::int8_t>> store_data_;
  std::vector<bool> stored_;
  Watch watch_;
  Completed completed_;
};

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_ACCELERATOR_MODEL_H
