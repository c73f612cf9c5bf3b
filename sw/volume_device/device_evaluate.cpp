// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume_device/device_evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "program/program.h"
#include "volume/boxes.h"

namespace kaiten::volume {

using fft::Array;
using fft::Size;

// A program, for some maps of a stage's results.
struct DeviceEvaluator::Part {
  Stage stage;
  int first_map = 0, maps = 0;
  Network layers;
  Plan plan;
  SliceGraph slices;
  Session session;

  std::string name() const {
    return "layers " + std::to_string(stage.begin + 1) + " to " + std::to_string(stage.end);
  }
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

DeviceEvaluator::DeviceEvaluator(const Int8Network& network, Plan plan, std::span<const Stage> stages,
                                 fft::Memory& memory, const DeviceOptions& options)
    : network_(network),
      plan_(std::move(plan)),
      memory_(memory),
      options_(options),
      maps_(maps_of(network.network, plan_)) {
  const std::vector<Stage> whole = whole_stages(network.network, plan_);
  if (stages.empty()) stages = whole;
  require_stages(network.network, plan_, stages);
  for (const Stage& stage : stages) {
    const int maps = maps_[stage.end].channels;
    for (int first = 0; first < maps; first += stage.maps)
      compile(stage, first, std::min(stage.maps, maps - first));
  }
}

void DeviceEvaluator::compile(const Stage& stage, int first, int count) {
  const Config& config = preset(options_.config);
  const Int8Network layers = stage_layers(network_, stage, first, count);
  const Plan plan = stage_plan(plan_, stage);
  SliceGraph slices = stage_graph(layers, plan, config);
  SessionOptions session;
  session.config = options_.config;
  session.batch = stage.images;
  session.cancellation_check = options_.tick;
  Graph graph = slices.graph;
  parts_.push_back(std::make_unique<Part>(Part{stage, first, count, layers.network, plan, std::move(slices),
                                               Session(std::move(graph), std::move(session))}));
  const Part& part = *parts_.back();
  Session& made = parts_.back()->session;
  if (made.sections() != 1 || !all_on_device(made.program()))
    throw InputError(fmt::format("{} do not fit '{}' as slices of {}: some would run on the host",
                                 part.name(), options_.config,
                                 maps_of(layers.network, plan).front().size.text()));
  const std::uint64_t bytes = volume::memory_bytes(made.program());
  if (options_.memory > 0 && bytes > options_.memory)
    throw InputError(fmt::format("{}: a run takes {} bytes of the accelerator's memory, limit {}",
                                 part.name(), bytes, options_.memory));
  if (options_.tick) made.set_progress([tick = options_.tick](const std::string&) { tick(); });
}

DeviceEvaluator::~DeviceEvaluator() = default;

std::uint64_t DeviceEvaluator::memory_bytes() const {
  std::uint64_t most = 0;
  for (const auto& part : parts_) most = std::max(most, volume::memory_bytes(part->session.program()));
  return most;
}

Array<std::int8_t> DeviceEvaluator::make_images() const {
  return Array<std::int8_t>(memory_, maps_.front().elements());
}

void DeviceEvaluator::run(Part& part, const Array<std::int8_t>& images, Array<std::int8_t>& results) const {
  const Size &whole = maps_[part.stage.end].size, &brick = part.stage.brick;
  const Size bricks = blocks_of(whole, brick);
  // The last bricks end with the maps.
  const auto begin = [](int n, int side, int all) { return std::min(n * side, all - side); };
  for (int image = 0; image < maps_[part.stage.begin].batch; image += part.stage.images) {
    for (int z = 0; z < bricks.depth; z++)
      for (int y = 0; y < bricks.height; y++)
        for (int x = 0; x < bricks.width; x++)
          run(part, images, image,
              {begin(z, brick.depth, whole.depth), begin(y, brick.height, whole.height),
               begin(x, brick.width, whole.width)},
              results);
  }
}

void DeviceEvaluator::run(Part& part, const Array<std::int8_t>& images, int image, const Size& brick,
                          Array<std::int8_t>& results) const {
  const Stage& stage = part.stage;
  const Maps &in = maps_[stage.begin], &out = maps_[stage.end];
  const Size box = maps_of(part.layers, part.plan).front().size, from = stage_origin(part.layers, brick);
  std::vector<std::int8_t> taken(std::size_t(in.channels) * box.elements());
  std::vector<Int8Values> inputs;
  for (int b = image; b < image + stage.images; b++) {
    take_box(in.channels, images.data() + std::size_t(b) * (in.elements() / std::size_t(in.batch)), in.size,
             from, taken.data(), box);
    for (const SliceTensor& t : part.slices.inputs)
      inputs.push_back(slice_values(t, taken, box, network_.maps[stage.begin].zero_point));
  }
  const RunResult result = part.session.run(inputs, {.check = options_.check});
  if (options_.check && result.report.exact != true)
    throw DeviceError(part.name() + ": " + result.report.difference);
  work_.cycles += result.report.cycles;
  work_.predicted_cycles += result.report.predicted_cycles;
  work_.bytes_read += result.report.bytes.read();
  work_.bytes_written += result.report.bytes.written;
  work_.checked += result.report.checked;
  const Layer& last = part.layers.layers.back();
  const Size window = last.convolution ? Size{} : last.window;
  const int fragments = out.batch / in.batch, in_plane = window.height * window.width;
  for (int b = 0; b < stage.images; b++) {
    for (int f = 0; f < fragments; f++) {
      const auto o = std::size_t(f % in_plane);
      const Int8Maps maps = maps_of_slices(part.slices.outputs[o],
                                           result.outputs[std::size_t(b) * part.slices.outputs.size() + o],
                                           f / in_plane, window.depth, stage.brick.depth);
      const auto map =
          std::size_t((image + b) * fragments + f) * std::size_t(out.channels) + std::size_t(part.first_map);
      put_box(part.maps, maps.values.data(), stage.brick, results.data() + map * out.size.elements(),
              out.size, brick);
    }
  }
}

Array<std::int8_t> DeviceEvaluator::evaluate(Array<std::int8_t> images) const {
  std::vector<std::int8_t> first;
  if (options_.check) first.assign(images.begin(), images.end());
  for (std::size_t p = 0; p < parts_.size();) {
    const Stage stage = parts_[p]->stage;
    Array<std::int8_t> results(memory_, maps_[stage.end].elements());
    for (; p < parts_.size() && parts_[p]->stage.begin == stage.begin; p++) run(*parts_[p], images, results);
    work_.macs += volume_macs(network_.network, plan_, stage.begin, stage.end);
    images = std::move(results);
  }
  if (options_.check) check_maps(first, images);
  return images;
}

// Against the 3-D convolution on the processors, in memory of its own: the bound is for what computes.
void DeviceEvaluator::check_maps(std::span<const std::int8_t> images,
                                 const Array<std::int8_t>& results) const {
  Plan plan = plan_;
  for (Choice& c : plan.layers) c.method = fft::Method::Blocked;
  fft::Workers workers(1);
  fft::Memory memory;
  const Int8Evaluator reference(network_, plan, workers, memory);
  Array<std::int8_t> copy = reference.make_images();
  std::copy(images.begin(), images.end(), copy.begin());
  const Array<std::int8_t> wanted = reference.evaluate(std::move(copy));
  if (!std::equal(results.begin(), results.end(), wanted.begin(), wanted.end()))
    throw DeviceError("results differ from those of the int8 3-D convolution");
}

}  // namespace kaiten::volume
