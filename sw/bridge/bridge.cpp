// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "bridge/bridge.h"

#include "base/error.h"
#include "device/csr.h"

namespace kaiten {

namespace {

constexpr std::uint64_t kStep = 200;  // cycles between two looks at the page
constexpr int kIdle = 5;              // milliseconds of a sleep with nothing to do

}  // namespace

void Bridge::serve(const std::function<bool()>& check) {
  answered_ = kaiten_bridge_get(&page_.answer);
  while (check()) {
    if (answer()) continue;
    if (working_) {
      device_.step(kStep);
      const std::uint32_t status = device_.read_register(csr::kStatus);
      working_ = csr::kStatusBusy.get(status) || csr::kStatusResetting.get(status);
      if (csr::kStatusDone.get(status) || csr::kStatusError.get(status)) counts_.runs++;
    }
    interrupt();
    if (!working_) kaiten_bridge_sleep(&page_.request, answered_, kIdle);
  }
}

// The client's access, if there is one.
bool Bridge::answer() {
  const std::uint32_t request = kaiten_bridge_get(&page_.request);
  if (request == answered_) return false;
  access();
  answered_ = request;
  interrupt();
  kaiten_bridge_set(&page_.answer, request);
  return true;
}

void Bridge::access() {
  counts_.accesses++;
  const std::uint32_t offset = page_.offset;
  try {
    if (page_.is_write == 0) {
      page_.value = device_.read_register(offset);
      return;
    }
    device_.write_register(offset, page_.value);
    if (offset == csr::kControl) working_ = true;
  } catch (const DeviceError&) {
    page_.value = UINT32_MAX;  // what a bus without an answer reads
  }
}

void Bridge::interrupt() {
  if (kaiten_bridge_get(&page_.armed) == 0 || !device_.interrupt()) return;
  kaiten_bridge_set(&page_.armed, 0);
  counts_.interrupts++;
  kaiten_bridge_set(&page_.interrupts, kaiten_bridge_get(&page_.interrupts) + 1);
}

}  // namespace kaiten
