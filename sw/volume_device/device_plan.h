// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Plans for the accelerator alone: pooling, block and stages by the cycles that the compiler's model predicts.
#ifndef KAITEN_VOLUME_DEVICE_DEVICE_PLAN_H
#define KAITEN_VOLUME_DEVICE_DEVICE_PLAN_H

#include <cstdint>
#include <vector>

#include "volume/int8_network.h"
#include "volume/plan.h"
#include "volume_device/stages.h"

namespace kaiten::volume {

struct DevicePlanned {
  Plan plan;
  StagesPlanned device;    // of a run
  std::uint64_t macs = 0;  // of a run, of the 3-D network
  double voxels_a_cycle = 0;
};

struct DeviceSearch {
  StageSearch stages;
  fft::Size volume;
  int most_side = 16;  // of a block's result
};

// What is tried: all poolings, and blocks near cubes; larger blocks of one pooling follow smaller ones.
std::vector<Plan> plans_tried(const Network& network, const DeviceSearch& search);

// Those of them that can run, best first. Throws InputError with the first reason where none can.
std::vector<DevicePlanned> device_plans(const Int8Network& network, const DeviceSearch& search);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_DEVICE_DEVICE_PLAN_H
