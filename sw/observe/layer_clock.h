// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Whose cycles they are. Array and vector engine work on neighbouring layers at the same time, so a cycle
// belongs
// - while the array takes windows: to the layer of the CONV command that completes next,
// - else, while the vector engine works: to the layer of its next completed command,
// - else to the layer of whichever command completes next.
// The cycles of all layers add up to the cycles of the run; a layer of the vector engine that hides behind
// the array has few. What the accelerator did comes from its event flags, one bit a counter in the order of
// csr::kCounters (docs/formats/registers.md).
#ifndef KAITEN_OBSERVE_LAYER_CLOCK_H
#define KAITEN_OBSERVE_LAYER_CLOCK_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/program.h"

namespace kaiten {

// What an engine that does nothing waits for. Latency is the time from the last window of a command to its
// completion (the skew of the array), and whatever has no other cause.
enum class Wait : std::uint8_t { kWeights, kRows, kOutput, kCommands, kVector, kLatency };
constexpr std::size_t kWaits = 6;

// "weights", "rows", "output", "commands", "vector", "latency".
std::string_view name_of(Wait wait);

struct LayerTime {
  std::uint64_t cycles = 0;
  std::uint64_t busy_cycles = 0;    // of them, its engine worked
  std::uint64_t engine_cycles = 0;  // in which its engine worked, hidden behind the other engine or not
  std::array<std::uint64_t, kWaits> waits{};  // the rest of its cycles
};

class LayerClock {
 public:
  explicit LayerClock(const Program& program);

  // Every cycle of the run, in order.
  void events(std::uint32_t flags);
  // A result whose counters are all zero: the last of its command.
  void last_result(std::uint32_t command);
  // The run is over: what is left belongs to the last layer. Indexed like graph.ops.
  const std::vector<LayerTime>& finish();

 private:
  static constexpr std::size_t kLoads = kWaits;  // weights or rows, whichever the layer loads more of
  using Waits = std::array<std::uint64_t, kWaits + 1>;
  // What one engine did since its last completed command.
  struct Engine {
    std::uint64_t owned = 0;  // cycles that belong to its next command because it worked
    std::uint64_t worked = 0;
    std::uint64_t left = 0;  // commands of the program that are not complete
    Waits idle{};            // cycles in which no engine worked, by what this one waited for
  };

  void close(int op, Engine& engine);

  const Program& program_;
  std::vector<bool> loads_rows_;  // layers
  // Flags that wait until their windows leave the engine as results.
  class Delay {
   public:
    explicit Delay(std::size_t cycles) : flags_(cycles) {}
    std::uint32_t pass(std::uint32_t flags) {
      const std::uint32_t out = std::exchange(flags_[at_], flags);
      at_ = at_ + 1 == flags_.size() ? 0 : at_ + 1;
      return out;
    }

   private:
    std::vector<std::uint32_t> flags_;
    std::size_t at_ = 0;
  };
  Delay array_;
  Delay vector_;
  std::vector<LayerTime> times_;
  Engine engines_[2];  // array, vector
  int last_op_ = -1;
};

// The same of the compiler's model: every command takes the time that its CommandMeta tells. The cycles of all layers add up
// to Program::modelled_cycles.
std::vector<LayerTime> modelled_layer_times(const Program& program);

// What kept the layer from being faster, or its engine if that worked most of the time: array, vector,
// weights, rows, output or commands; empty for a layer without cycles.
std::string limited_by(bool on_array, const LayerTime& time);

}  // namespace kaiten

#endif  // KAITEN_OBSERVE_LAYER_CLOCK_H
