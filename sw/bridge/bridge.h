// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A simulated accelerator for programs in other processes, which use it as they use a board's: registers with the same
// protocol, memory that both map, interrupts as UIO gives them. Time passes while a run or a reset is under way.
#ifndef KAITEN_BRIDGE_BRIDGE_H
#define KAITEN_BRIDGE_BRIDGE_H

#include <cstdint>
#include <functional>

#include "bridge/shared_folder.h"
#include "sim/sim_device.h"

namespace kaiten {

class Bridge {
 public:
  struct Counts {
    std::uint64_t accesses = 0;    // of registers
    std::uint64_t interrupts = 0;  // given
    std::uint64_t runs = 0;        // that ended
  };

  // The device's memory is the folder's. Both outlive the bridge.
  Bridge(sim::SimDevice& device, SharedFolder& folder) : device_(device), page_(folder.page()) {}

  // Answers until `check`, which is called after every access and every few hundred cycles, throws or returns false.
  void serve(const std::function<bool()>& check);
  const Counts& counts() const { return counts_; }

 private:
  bool answer();
  void access();
  void interrupt();

  sim::SimDevice& device_;
  kaiten_bridge_page& page_;
  Counts counts_;
  std::uint32_t answered_ = 0;
  bool working_ = false;  // a run or a reset is under way
};

}  // namespace kaiten

#endif  // KAITEN_BRIDGE_BRIDGE_H
