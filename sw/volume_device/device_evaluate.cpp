// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume_device/device_evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "program/program.h"

namespace kaiten::volume {

using fft::Array;
using fft::Size;

struct DeviceEvaluator::Part {
  std::size_t begin = 0, end = 0;  // layers
  SliceGraph slices;
  Session session;
};

double DeviceWork::utilization(const Config& config) const {
  return cycles == 0 ? 0 : double(macs) / (double(cycles) * config.kp * config.cp * 9);
}

std::uint64_t volume_macs(const Network& network, const Plan& plan, std::size_t begin, std::size_t end) {
  const std::vector<Maps> maps = maps_of(network, plan);
  std::uint64_t sum = 0;
  for (std::size_t i = begin; i < end; i++) {
    if (network.layers[i].convolution)
      sum += maps[i + 1].elements() * std::uint64_t(maps[i].channels) * network.layers[i].window.elements();
  }
  return sum;
}

DeviceEvaluator::DeviceEvaluator(const Int8Network& network, Plan plan, fft::Memory& memory,
                                 const DeviceOptions& options)
    : network_(network),
      plan_(std::move(plan)),
      memory_(memory),
      options_(options),
      maps_(maps_of(network.network, plan_)) {
  const Config& config = preset(options.config);
  std::size_t begin = 0;
  for (const std::size_t end : slice_cuts(network.network)) {
    SliceGraph slices = slice_graph(
        network,
        {begin, end, maps_[begin].size, plan_.layers[end - 1].fragments, false, {config.kp, config.cp}});
    SessionOptions session;
    session.config = options.config;
    session.batch = maps_[begin].batch;
    session.cancellation_check = options.tick;
    Graph graph = slices.graph;
    parts_.push_back(std::make_unique<Part>(
        Part{begin, end, std::move(slices), Session(std::move(graph), std::move(session))}));
    Session& made = parts_.back()->session;
    const auto host = [](const LayerInfo& l) { return l.place == Place::kHost; };
    const std::vector<LayerInfo>& layers = made.program().layers;
    if (made.sections() != 1 || std::any_of(layers.begin(), layers.end(), host))
      throw InputError(
          fmt::format("layers {} to {} do not fit '{}' as slices of {}: some would run on the host",
                      begin + 1, end, options.config, maps_[begin].size.text()));
    if (options.tick) made.set_progress([tick = options.tick](const std::string&) { tick(); });
    begin = end;
  }
}

DeviceEvaluator::~DeviceEvaluator() = default;

Array<std::int8_t> DeviceEvaluator::make_images() const {
  return Array<std::int8_t>(memory_, maps_.front().elements());
}

Array<std::int8_t> DeviceEvaluator::run(Part& part, const Array<std::int8_t>& images) const {
  const Maps &in = maps_[part.begin], &out = maps_[part.end];
  const std::size_t each = in.elements() / std::size_t(in.batch);
  std::vector<Int8Values> inputs;
  for (int b = 0; b < in.batch; b++) {
    const std::span<const std::int8_t> image(images.data() + std::size_t(b) * each, each);
    for (const SliceTensor& t : part.slices.inputs)
      inputs.push_back(slice_values(t, image, in.size, network_.maps[part.begin].zero_point));
  }
  const RunResult result = part.session.run(inputs, {.check = options_.check});
  if (options_.check && result.report.exact != true)
    throw DeviceError("layers " + std::to_string(part.begin + 1) + " to " + std::to_string(part.end) + ": " +
                      result.report.difference);
  work_.cycles += result.report.cycles;
  work_.predicted_cycles += result.report.predicted_cycles;
  work_.bytes_read += result.report.bytes.read();
  work_.bytes_written += result.report.bytes.written;
  work_.checked += result.report.checked;
  work_.macs += volume_macs(network_.network, plan_, part.begin, part.end);
  const Layer& last = network_.network.layers[part.end - 1];
  const Size window = last.convolution ? Size{} : last.window;
  const int fragments = out.batch / in.batch, in_plane = window.height * window.width;
  Array<std::int8_t> results(memory_, out.elements());
  std::int8_t* to = results.data();
  for (int b = 0; b < in.batch; b++) {
    for (int f = 0; f < fragments; f++) {
      const auto o = std::size_t(f % in_plane);
      const Int8Maps maps = maps_of_slices(part.slices.outputs[o],
                                           result.outputs[std::size_t(b) * part.slices.outputs.size() + o],
                                           f / in_plane, window.depth, out.size.depth);
      to = std::copy(maps.values.begin(), maps.values.end(), to);
    }
  }
  return results;
}

Array<std::int8_t> DeviceEvaluator::evaluate(Array<std::int8_t> images) const {
  Array<std::int8_t> wanted;
  if (options_.check) {
    Plan plan = plan_;
    for (Choice& c : plan.layers) c.method = fft::Method::Blocked;
    fft::Workers workers(1);
    const Int8Evaluator reference(network_, plan, workers, memory_);
    Array<std::int8_t> copy = make_images();
    std::copy(images.begin(), images.end(), copy.begin());
    wanted = reference.evaluate(std::move(copy));
  }
  for (const auto& part : parts_) images = run(*part, images);
  if (options_.check && !std::equal(images.begin(), images.end(), wanted.begin(), wanted.end()))
    throw DeviceError("results differ from those of the int8 3-D convolution");
  return images;
}

}  // namespace kaiten::volume
