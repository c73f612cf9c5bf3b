// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/volume_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/interrupt.h"
#include "cli/terminal.h"

namespace kaiten::cli {

using fft::Size;

namespace {

std::string layers_text(const volume::Network& network, const volume::Plan& plan) {
  std::string text;
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    text += i > 0 ? " " : "";
    text += network.layers[i].convolution ? "array" : plan.layers[i].fragments ? "MPF" : "pool";
  }
  return text;
}

std::string voxels_a_second(const VolumeOptions& o, double voxels_a_cycle) {
  return o.clock > 0 ? fmt::format("{:.0f} voxels/s at {:g} MHz", voxels_a_cycle * o.clock * 1e6, o.clock)
                     : fmt::format("{:.5f} voxels a cycle", voxels_a_cycle);
}

}  // namespace

std::vector<volume::DevicePlanned> device_plans_for(const VolumeOptions& o,
                                                    const volume::Int8Network& network, const Size& volume) {
  ProgressLine line;
  int looks = 0;
  auto plans = volume::device_plans(network, {o.config, volume, o.block_side, [&] {
                                                check_interrupt();
                                                if (++looks % 1000 == 0) line.show("planning blocks");
                                              }});
  line.clear();
  if (plans.size() > std::size_t(o.best)) plans.resize(std::size_t(o.best));
  return plans;
}

std::string device_table(const VolumeOptions& o, const volume::Network& network,
                         const std::vector<volume::DevicePlanned>& plans) {
  const Config& config = preset(o.config);
  std::string text = fmt::format("{:>3} {:>14} {:>12} {:>11} {:>14}  layers\n", "", "block result",
                                 "cycles a run", "utilisation", "voxels/cycle");
  int n = 0;
  for (const volume::DevicePlanned& p : plans) {
    const double used = double(p.macs) / (double(p.cycles) * config.kp * config.cp * 9);
    text += fmt::format("{:>3} {:>14} {:>12} {:>10.1f}% {:>14.5f}  {}\n", ++n,
                        volume::block_result(network, p.plan).text(), p.cycles, 100 * used, p.voxels_a_cycle,
                        layers_text(network, p.plan));
  }
  return text;
}

nlohmann::ordered_json device_plan_json(const volume::Network& network, const volume::DevicePlanned& p) {
  const Size in = volume::block_input(network, p.plan), out = volume::block_result(network, p.plan);
  nlohmann::ordered_json j;
  j["block_input"] = {in.depth, in.height, in.width};
  j["block_result"] = {out.depth, out.height, out.width};
  j["layers"] = layers_text(network, p.plan);
  j["predicted_cycles"] = p.cycles;
  j["predicted_voxels_per_cycle"] = p.voxels_a_cycle;
  return j;
}

std::string device_text(const VolumeOptions& o, const volume::DeviceEvaluator& device, std::uint64_t voxels) {
  const volume::DeviceWork& w = device.work();
  std::string text = fmt::format(
      "{}: {} cycles ({} predicted), array utilisation {:.1f} %, {:.1f} KiB read, {:.1f} written; {}\n",
      o.config, w.cycles, w.predicted_cycles, 100 * w.utilization(preset(o.config)),
      double(w.bytes_read) / 1024, double(w.bytes_written) / 1024,
      voxels_a_second(o, double(voxels) / double(w.cycles)));
  text += o.no_check
              ? "nothing was compared\n"
              : fmt::format("PASS: {} elements of all tensors equal the reference, all results the 3-D one\n",
                            w.checked);
  return text;
}

nlohmann::ordered_json device_json(const VolumeOptions& o, const volume::DeviceEvaluator& device,
                                   std::uint64_t voxels) {
  const volume::DeviceWork& w = device.work();
  nlohmann::ordered_json j;
  j["config"] = o.config;
  j["programs"] = device.programs();
  j["cycles"] = w.cycles;
  j["predicted_cycles"] = w.predicted_cycles;
  j["macs"] = w.macs;
  j["array_utilization"] = w.utilization(preset(o.config));
  j["bytes_read"] = w.bytes_read;
  j["bytes_written"] = w.bytes_written;
  j["checked"] = w.checked;
  if (o.clock > 0) {
    j["clock_mhz"] = o.clock;
    j["voxels_per_second"] = double(voxels) / double(w.cycles) * o.clock * 1e6;
  }
  return j;
}

}  // namespace kaiten::cli
