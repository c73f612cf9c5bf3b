// Whose cycles they are. Layers overlap a little; a cycle belongs to the layer whose last result comes next, so the
// cycles of all layers add up to the cycles of the run. What the machine did in those cycles comes from its event flags,
// one bit a counter in the order of csr::kCounters (docs/registers.md).
#ifndef KAITEN_REPORT_LAYER_CLOCK_H
#define KAITEN_REPORT_LAYER_CLOCK_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compile/program.h"

namespace kaiten {

struct LayerTime {
  std::uint64_t cycles = 0;
  std::array<std::uint64_t, 32> events{};  // cycles with each flag
};

class LayerClock {
 public:
  explicit LayerClock(const Program& program);

  // Every cycle of the run, in order.
  void events(std::uint32_t flags) {
    now_.cycles++;
    while (flags != 0) {
      now_.events[std::size_t(__builtin_ctz(flags))]++;
      flags &= flags - 1;
    }
  }
  // A result whose counters are all zero: the last of its command.
  void last_result(std::uint32_t command) {
    if (last_of_layer_[command]) close(program_.meta[command].op);
  }
  // The run is over: what is left belongs to the last layer. Indexed like graph.ops.
  const std::vector<LayerTime>& finish();

 private:
  void close(int op);

  const Program& program_;
  std::vector<bool> last_of_layer_;  // commands
  std::vector<LayerTime> times_;
  LayerTime now_;                    // since the last end of a layer
  int last_op_ = -1;
};

// What kept the layer from being faster, or its engine if that was busy most of the time: array, vector, weights, rows,
// output or commands. "host" where nothing ran on the machine.
std::string limited_by(const Program& program, int op, const LayerTime& time);

}  // namespace kaiten

#endif  // KAITEN_REPORT_LAYER_CLOCK_H
