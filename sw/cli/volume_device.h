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
#include "volume_device/split.h"

namespace kaiten::cli {

// Plans for the accelerator, best first.
std::vector<volume::DevicePlanned> device_plans_for(const VolumeOptions& o,
                                                    const volume::Int8Network& network,
                                                    const fft::Size& volume);
std::string device_table(const VolumeOptions& o, const volume::Network& network,
                         const std::vector<volume::DevicePlanned>& plans);
nlohmann::ordered_json device_plan_json(const volume::Network& network, const volume::DevicePlanned& p);

// Plans of a split, best first, and what each side alone would do.
struct SplitFound {
  std::vector<volume::SplitPlanned> plans;
  double processor = 0;    // voxels a second
  double accelerator = 0;  // likewise; 0: it cannot run the network
  std::size_t taken = 0;   // of the plans

  const volume::SplitPlanned& plan() const { return plans[taken]; }
};
SplitFound split_for(const VolumeOptions& o, const volume::Int8Network& network, const fft::Size& volume,
                     std::uint64_t memory, fft::Workers& workers);
std::string split_table(const volume::Network& network, const SplitFound& found);
nlohmann::ordered_json split_json(const VolumeOptions& o, const volume::Network& network,
                                  const SplitFound& found);
// Of every block: its processors' time and that of the link by the model.
struct SplitTimes {
  double processor = 0, link = 0;  // seconds
};
// Voxels a second of a run, with the cycles that were counted.
double split_rate(const VolumeOptions& o, const SplitTimes& times, const std::vector<std::uint64_t>& cycles,
                  std::uint64_t voxels);
double link_seconds(const VolumeOptions& o, const volume::StagesPlanned& device);
// What the accelerator's runs compute, a line a stage; layers of the network from `theta` on.
std::string stages_text(const volume::Network& network, const volume::Plan& plan, std::size_t theta,
                        const std::vector<volume::Stage>& stages);

std::string device_text(const VolumeOptions& o, const volume::DeviceEvaluator& device, std::uint64_t voxels);
nlohmann::ordered_json device_json(const VolumeOptions& o, const volume::DeviceEvaluator& device,
                                   std::uint64_t voxels);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_VOLUME_DEVICE_H
