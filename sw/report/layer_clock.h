// Whose cycles they are. Array and vector engine work on neighbouring layers at the same time, so a cycle belongs
// - while the array takes windows: to the layer of the CONV command that completes next,
// - else, while the vector engine works: to the layer of its next completed command,
// - else to the layer of whichever command completes next.
// The cycles of all layers add up to the cycles of the run; a layer of the vector engine that hides behind the array has
// few. What the machine did comes from its event flags, one bit a counter in the order of csr::kCounters
// (docs/registers.md).
#ifndef KAITEN_REPORT_LAYER_CLOCK_H
#define KAITEN_REPORT_LAYER_CLOCK_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compile/program.h"

namespace kaiten {

struct LayerTime {
  using Events = std::array<std::uint64_t, 32>;

  std::uint64_t cycles = 0;
  std::uint64_t engine_cycles = 0;  // in which its engine worked, hidden behind the other one or not
  Events events{};                  // of its engine's time: from the completion of the layer before to its own
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
  // What one engine did since its last completed command.
  struct Engine {
    std::uint64_t owned = 0;  // cycles that belong to its next command
    LayerTime::Events events{};
  };

  const Program& program_;
  // Windows leave the array as results so many cycles later: its flags wait until then.
  std::vector<std::uint32_t> delayed_;
  std::size_t at_ = 0;
  std::vector<LayerTime> times_;
  Engine engines_[2];  // array, vector
  std::uint64_t idle_ = 0;
  int last_op_ = -1;
};

// What kept the layer from being faster, or its engine if that was busy most of the time: array, vector, weights, rows,
// output or commands. "host" where nothing ran on the machine.
std::string limited_by(const Program& program, int op, const LayerTime& time);

}  // namespace kaiten

#endif  // KAITEN_REPORT_LAYER_CLOCK_H
