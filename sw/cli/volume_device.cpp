// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/volume_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
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

volume::DeviceSearch search_of(const VolumeOptions& o, const Size& volume, std::function<void()> tick) {
  return {{o.config, o.brick_side, device_memory_of(o), o.clock, o.link * 1e6, std::move(tick)},
          volume,
          o.block_side};
}

// Of the accelerator's part of a plan; layers count from the network's first.
nlohmann::ordered_json stages_json(const volume::Network& network, const volume::Plan& plan,
                                   std::size_t theta, const volume::StagesPlanned& device) {
  auto all = nlohmann::ordered_json::array();
  for (volume::Stage s : device.stages) {
    s.begin += theta, s.end += theta;
    all.push_back({{"layers", {s.begin + 1, s.end}},
                   {"brick", {s.brick.depth, s.brick.height, s.brick.width}},
                   {"images", s.images},
                   {"maps", s.maps},
                   {"runs", volume::stage_runs(network, plan, s)}});
  }
  return all;
}

}  // namespace

double link_seconds(const VolumeOptions& o, const volume::StagesPlanned& device) {
  return o.link > 0 ? double(device.link_bytes) / (o.link * 1e6) : 0;
}

std::string stages_text(const volume::Network& network, const volume::Plan& plan, std::size_t theta,
                        const std::vector<volume::Stage>& stages) {
  const std::vector<volume::Maps> maps = volume::maps_of(network, plan);
  std::string text;
  for (volume::Stage s : stages) {
    s.begin += theta, s.end += theta;
    const volume::Maps &in = maps[s.begin], &out = maps[s.end];
    text += s.end == s.begin + 1 ? fmt::format("layer {}", s.end)
                                 : fmt::format("layers {} to {}", s.begin + 1, s.end);
    text += fmt::format(
        ": a run computes {} of {} voxels of {} of {} maps, {} of {} images: {} runs\n", s.brick.text(),
        out.size.text(), s.maps, out.channels, s.images, in.batch,
        volume::stage_runs(network, plan, s) * std::uint64_t((out.channels + s.maps - 1) / s.maps));
  }
  return text;
}

std::vector<volume::DevicePlanned> device_plans_for(const VolumeOptions& o,
                                                    const volume::Int8Network& network, const Size& volume) {
  ProgressLine line;
  int looks = 0;
  auto plans = volume::device_plans(network, search_of(o, volume, [&] {
                                      check_interrupt();
                                      if (++looks % 1000 == 0) line.show("planning blocks");
                                    }));
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
    const double used = double(p.macs) / (double(p.device.cycles) * config.kp * config.cp * 9);
    text += fmt::format("{:>3} {:>14} {:>12} {:>10.1f}% {:>14.5f}  {}\n", ++n,
                        volume::block_result(network, p.plan).text(), p.device.cycles, 100 * used,
                        p.voxels_a_cycle, layers_text(network, p.plan));
  }
  return text;
}

nlohmann::ordered_json device_plan_json(const volume::Network& network, const volume::DevicePlanned& p) {
  const Size in = volume::block_input(network, p.plan), out = volume::block_result(network, p.plan);
  nlohmann::ordered_json j;
  j["block_input"] = {in.depth, in.height, in.width};
  j["block_result"] = {out.depth, out.height, out.width};
  j["layers"] = layers_text(network, p.plan);
  j["stages"] = stages_json(network, p.plan, 0, p.device);
  j["device_memory_bytes"] = p.device.memory_bytes;
  j["link_bytes"] = p.device.link_bytes;
  j["predicted_cycles"] = p.device.cycles;
  j["predicted_voxels_per_cycle"] = p.voxels_a_cycle;
  return j;
}

SplitFound split_for(const VolumeOptions& o, const volume::Int8Network& network, const Size& volume,
                     std::uint64_t memory, fft::Workers& workers) {
  const volume::Calibration calibration = calibration_of(o, workers);
  ProgressLine line;
  int looks = 0;
  const auto tick = [&] {
    check_interrupt();
    if (++looks % 1000 == 0) line.show("planning splits");
  };
  const std::size_t layers = network.network.layers.size();
  SplitFound found;
  found.plans =
      volume::split_plans(network, calibration, {search_of(o, volume, tick), memory, 0, layers}, workers);
  const volume::Found alone =
      volume::search(network.network, calibration, {memory, volume, 64, volume::HaloSearch::kComputed}, 1,
                     workers, [] { check_interrupt(); });
  line.clear();
  if (!alone.best.empty()) found.processor = alone.best.front().voxels_a_second;
  for (const volume::SplitPlanned& p : found.plans) {
    if (p.theta == 0) found.accelerator = p.voxels_a_second;
    // A larger block than those tried here may be better for the processors.
    if (p.theta == layers) found.processor = std::max(found.processor, p.voxels_a_second);
  }
  if (o.theta >= 0) {
    const auto at = std::find_if(found.plans.begin(), found.plans.end(), [&](const volume::SplitPlanned& p) {
      return p.theta == std::size_t(o.theta);
    });
    if (at == found.plans.end())
      throw InputError(
          fmt::format("--theta: no block fits with {} of {} layers on the processors", o.theta, layers));
    found.taken = std::size_t(at - found.plans.begin());
  } else {
    found.taken = std::size_t(o.plan - 1);
    if (found.taken >= found.plans.size())
      throw InputError(
          fmt::format("--plan: limit: the {} plans listed, found {}", found.plans.size(), o.plan));
  }
  return found;
}

std::string split_table(const volume::Network& network, const SplitFound& found) {
  std::string text = fmt::format("{:>3} {:>5} {:>14} {:>13} {:>14} {:>12}  layers\n", "", "theta",
                                 "block result", "processors ms", "accelerator ms", "voxels/s");
  int n = 0;
  for (const volume::SplitPlanned& p : found.plans) {
    std::string layers;
    for (std::size_t i = 0; i < network.layers.size(); i++) {
      const bool array = i >= p.theta && network.layers[i].convolution;
      layers += i > 0 ? " " : "";
      layers += array                           ? std::string("array")
                : network.layers[i].convolution ? std::string(fft::name_of(p.plan.layers[i].method))
                : p.plan.layers[i].fragments    ? "MPF"
                                                : "pool";
    }
    text += fmt::format("{:>3} {:>5} {:>14} {:>13.3f} {:>14.3f} {:>12.0f}  {}\n", ++n, p.theta,
                        volume::block_result(network, p.plan).text(), 1e3 * p.processor_seconds,
                        1e3 * p.device.seconds, p.voxels_a_second, layers);
  }
  const double best = found.plans.front().voxels_a_second,
               better = std::max(found.processor, found.accelerator);
  text += fmt::format(
      "alone: processors {:.0f} voxels/s, accelerator {}; the best split {:.2f} times the better, "
      "{:.2f} times the sum\n",
      found.processor,
      found.accelerator > 0 ? fmt::format("{:.0f}", found.accelerator) : "cannot run the first layers",
      best / better, best / (found.processor + found.accelerator));
  return text;
}

nlohmann::ordered_json split_json(const VolumeOptions& o, const volume::Network& network,
                                  const SplitFound& found) {
  nlohmann::ordered_json j;
  j["clock_mhz"] = o.clock;
  j["theta"] = found.plan().theta;
  j["processor_alone_voxels_per_second"] = found.processor;
  j["accelerator_alone_voxels_per_second"] = found.accelerator;
  const double best = found.plans.front().voxels_a_second;
  j["gain_over_better"] = best / std::max(found.processor, found.accelerator);
  j["gain_over_sum"] = best / (found.processor + found.accelerator);
  for (const volume::SplitPlanned& p : found.plans) {
    const Size result = volume::block_result(network, p.plan);
    j["plans"].push_back({{"theta", p.theta},
                          {"block_result", {result.depth, result.height, result.width}},
                          {"layers", volume::text_of(network, p.plan)},
                          {"stages", stages_json(network, p.plan, p.theta, p.device)},
                          {"groups", p.groups},
                          {"bytes", p.bytes},
                          {"device_memory_bytes", p.device.memory_bytes},
                          {"link_bytes", p.device.link_bytes},
                          {"processor_seconds", p.processor_seconds},
                          {"predicted_cycles", p.device.cycles},
                          {"predicted_voxels_per_second", p.voxels_a_second}});
  }
  return j;
}

double split_rate(const VolumeOptions& o, const SplitTimes& times, const std::vector<std::uint64_t>& cycles,
                  std::uint64_t voxels) {
  std::vector<volume::BlockTimes> blocks;
  blocks.reserve(cycles.size());
  for (const std::uint64_t n : cycles)
    blocks.push_back({times.processor, double(n) / (o.clock * 1e6) + times.link});
  return double(voxels) / volume::pipeline_seconds(blocks);
}

std::string device_text(const VolumeOptions& o, const volume::DeviceEvaluator& device, std::uint64_t voxels) {
  const volume::DeviceWork& w = device.work();
  if (device.programs() == 0) return "nothing ran on the accelerator\n";
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
  j["memory_bytes"] = device.memory_bytes();
  j["bytes_read"] = w.bytes_read;
  j["bytes_written"] = w.bytes_written;
  j["checked"] = w.checked;
  if (o.clock > 0 && w.cycles > 0) {
    j["clock_mhz"] = o.clock;
    j["voxels_per_second"] = double(voxels) / double(w.cycles) * o.clock * 1e6;
  }
  return j;
}

}  // namespace kaiten::cli
