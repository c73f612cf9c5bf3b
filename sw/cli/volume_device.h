// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten volume --rtl` says of plans and runs on the simulated accelerator.
#ifndef KAITEN_CLI_VOLUME_DEVICE_H
#define KAITEN_CLI_VOLUME_DEVICE_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/volume_options.h"
#include "volume_device/device_evaluate.h"
#include "volume_device/device_plan.h"

namespace kaiten::cli {

// Plans for the accelerator, best first.
std::vector<volume::DevicePlanned> device_plans_for(const VolumeOptions& o,
                                                    const volume::Int8Network& network,
                                                    const fft::Size& volume);
std::string device_table(const VolumeOptions& o, const volume::Network& network,
                         const std::vector<volume::DevicePlanned>& plans);
nlohmann::ordered_json device_plan_json(const volume::Network& network, const volume::DevicePlanned& p);

std::string device_text(const VolumeOptions& o, const volume::DeviceEvaluator& device, std::uint64_t voxels);
nlohmann::ordered_json device_json(const VolumeOptions& o, const volume::DeviceEvaluator& device,
                                   std::uint64_t voxels);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_VOLUME_DEVICE_H
