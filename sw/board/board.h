// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A model on an accelerator that exists, whatever its Device is: compiled for what the device's registers say it is, run
/// with the operators on the host in between.
#ifndef KAITEN_BOARD_BOARD_H
#define KAITEN_BOARD_BOARD_H

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "graph/graph.h"
#include "graph/rounding_style.h"
#include "graph/values.h"
#include "program/config.h"

namespace kaiten {

/// How a board compiles and waits.
struct BoardOptions {
  int batch = 1;                                   ///< images of a run, 1 to kMostBatch
  RoundingStyle rounding = RoundingStyle::LiteRt;  ///< of device, host and reference alike
  /// Called now and then while the model is compiled and the device works; what it throws ends that.
  std::function<void()> cancellation_check = {};
};

/// What a run gave.
struct BoardRun {
  std::vector<Int8Values> outputs;  ///< in the order of graph.outputs, image by image
  std::uint64_t cycles = 0;         ///< of the device, all programs together; what follows likewise
  std::uint64_t array_busy = 0;     ///< cycles in which the array works
  std::uint64_t bytes_read = 0;     ///< by its counters
  std::uint64_t bytes_written = 0;  ///< likewise
  double seconds = 0;  ///< from the first input's copy to the last output's, the host's operators included
};

/// One thread at a time. After an exception of run() the board runs again.
class Board {
 public:
  /// Resets the device, which belongs to the board from now on. Throws InputError where the model does not fit the device, DeviceError
  /// where it is no Kaiten or its memory is too small.
  Board(Graph graph, std::unique_ptr<Device> device, BoardOptions options = {});
  ~Board();
  Board(Board&&) noexcept;  ///< what is left may only be destroyed

  const Graph& graph() const;             ///< as given
  const Config& config() const;           ///< as the device's registers say
  int programs() const;                   ///< that a run takes
  std::uint64_t modelled_cycles() const;  ///< of a run
  std::uint64_t memory_bytes() const;     ///< that the programs take in the device's memory

  /// Inputs as Session::run() takes them. Throws InputError where their number or size is wrong, DeviceError for errors of the device.
  BoardRun run(std::span<const Int8Values> inputs);
  /// What the reference executor makes of these inputs, to compare BoardRun::outputs with.
  std::vector<Int8Values> expected(std::span<const Int8Values> inputs) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "uio0,udmabuf0": registers and interrupt by UIO, memory by u-dma-buf; "bridge:FOLDER": a simulated accelerator behind `kaiten
/// bridge FOLDER`. Throws InputError with what is wrong.
std::unique_ptr<Device> open_device(const std::string& name);

}  // namespace kaiten

#endif  // KAITEN_BOARD_BOARD_H
