// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_text.h"
#include "fft/work.h"
#include "volume/evaluate.h"
#include "volume/weights.h"

namespace kaiten::volume {
namespace {

using fft::Array;
using fft::Method;

constexpr int kFeatures = 5;
using Features = std::array<double, kFeatures>;

// In int8 each image has its own transforms of kernels.
Features features_of(const fft::LayerShape& s, Method method, Numbers numbers) {
  fft::Work w = fft::work_of(s, method);
  if (numbers == Numbers::kInt8 && method != Method::Blocked) w.kernel_passes *= s.batch;
  const double voxels =
      double(s.batch) * (s.channels * double(s.image.elements()) + s.outputs * double(s.result().elements()));
  return {w.image_passes, w.kernel_passes, w.products, w.multiplies, voxels};
}

struct Measurement {
  Features work;
  double seconds;
};

// Least squares of relative errors with rates of at least 0, by coordinate descent: the problem is convex.
Rates fit(const std::vector<Measurement>& measured) {
  std::array<double, kFeatures> rate{};
  for (int round = 0; round < 20000; round++) {
    for (std::size_t k = 0; k < kFeatures; k++) {
      double above = 0, below = 0;
      for (const Measurement& m : measured) {
        double rest = 1;
        for (std::size_t j = 0; j < kFeatures; j++) rest -= j == k ? 0 : rate[j] * m.work[j] / m.seconds;
        above += rest * m.work[k] / m.seconds;
        below += m.work[k] * m.work[k] / (m.seconds * m.seconds);
      }
      rate[k] = below > 0 ? std::max(0.0, above / below) : 0;
    }
  }
  return {rate[0], rate[1], rate[2], rate[3], rate[4]};
}

// Of several runs the shortest: processor time over threads.
double shortest(int threads, const std::function<void()>& run, const std::function<void()>& tick) {
  double least = INFINITY;
  for (int i = 0; i < 3; i++) {
    tick();
    const Seconds start = now();
    run();
    least = std::min(least, (now() - start).processor / threads);
  }
  return least;
}

double measure(const fft::LayerShape& s, Method method, fft::Workers& workers,
               const std::function<void()>& tick) {
  fft::Memory memory;
  const fft::Convolution<float> layer(s, method, workers, memory, fft::Effort::Measure);
  std::vector<float> kernels(std::size_t(s.channels) * std::size_t(s.outputs) * s.kernel.elements());
  for (std::size_t i = 0; i < kernels.size(); i++) kernels[i] = seeded_voxel(1, i);
  const std::vector<float> bias(std::size_t(s.outputs), 0.5F);
  const auto run = [&] {
    auto images = layer.make_images();
    std::fill(images.begin(), images.end(), 0.25F);
    layer.run(std::move(images), {kernels, bias, true});
  };
  run();  // pages and plans
  return shortest(workers.count(), run, tick);
}

double measure_int8(const fft::LayerShape& s, Method method, fft::Workers& workers,
                    const std::function<void()>& tick) {
  const Network one{s.channels, {{true, s.kernel, s.outputs, Pooling::kAny}}};
  const auto weights = seeded_weights(one, 1);
  const std::array<Range, 2> ranges = {{{-1, 1}, {0, 4}}};
  const Int8Network network = quantized(one, weights, ranges);
  fft::Memory memory;
  const Int8Evaluator layer(network, {s.result(), s.batch, {{method, true}}}, workers, memory);
  const auto run = [&] {
    auto images = layer.make_images();
    for (std::size_t i = 0; i < images.size(); i++) images[i] = std::int8_t(i * 37 % 251);
    layer.evaluate(std::move(images));
  };
  run();  // pages and plans
  return shortest(workers.count(), run, tick);
}

// Layers in which each kind of work weighs most once.
std::vector<fft::LayerShape> layers_of(Method method, Numbers numbers) {
  if (numbers == Numbers::kInt8) {
    return {{1, 1, 32, {40, 40, 40}, {2, 2, 2}},  {1, 1, 16, {40, 40, 40}, {5, 5, 5}},
            {8, 24, 24, {12, 12, 12}, {3, 3, 3}}, {1, 32, 32, {24, 24, 24}, {3, 3, 3}},
            {1, 16, 16, {24, 24, 24}, {5, 5, 5}}, {4, 32, 3, {12, 12, 12}, {3, 3, 3}}};
  }
  if (method == Method::Blocked) {
    return {{1, 1, 32, {40, 40, 40}, {2, 2, 2}},
            {1, 1, 32, {40, 40, 40}, {6, 6, 6}},
            {8, 32, 32, {12, 12, 12}, {3, 3, 3}},
            {1, 32, 32, {24, 24, 24}, {3, 3, 3}},
            {1, 16, 16, {24, 24, 24}, {5, 5, 5}}};
  }
  std::vector<fft::LayerShape> layers = {
      {1, 1, 40, {64, 64, 64}, {3, 3, 3}},  {1, 1, 40, {64, 64, 64}, {7, 7, 7}},
      {8, 40, 40, {18, 18, 18}, {3, 3, 3}}, {8, 40, 40, {22, 22, 22}, {7, 7, 7}},
      {1, 40, 40, {48, 48, 48}, {3, 3, 3}}, {32, 80, 80, {9, 9, 9}, {3, 3, 3}},
      {8, 80, 3, {18, 18, 18}, {3, 3, 3}},  {1, 80, 80, {20, 20, 20}, {5, 5, 5}}};
  if (method == Method::Patches) {
    layers.push_back({8, 80, 80, {30, 30, 30}, {3, 3, 3}});
    layers.push_back({8, 80, 80, {24, 24, 24}, {7, 7, 7}});
  }
  return layers;
}

// Seconds a voxel that windows read.
template <typename T>
double pooling_rate(const Network& pool, const BlockEvaluator<T>& evaluator, int threads,
                    const std::function<void()>& tick) {
  const Maps in = maps_of(pool, evaluator.plan()).front();
  const double seconds = shortest(
      threads,
      [&] {
        auto images = evaluator.make_images();
        std::fill(images.begin(), images.end(), T(1));
        evaluator.evaluate(std::move(images));
      },
      tick);
  return seconds / (double(in.channels) * double(in.size.elements()) * 8);
}

// Seconds a voxel of maps that are put together with a halo.
template <typename T>
double joining_rate(fft::Workers& workers, const std::function<void()>& tick) {
  const Network two{16, {{true, {1, 1, 1}, 16, Pooling::kAny}, {true, {5, 1, 1}, 1, Pooling::kAny}}};
  const Plan plan{{28, 64, 64}, 1, std::vector<Choice>(2), true};
  const Maps in = maps_of(two, plan)[1];
  fft::Memory memory;
  Halos<T> halos(two, plan, workers, memory);
  const std::uint64_t fresh =
      in.elements() / std::uint64_t(in.size.depth) * std::uint64_t(plan.fragment.depth);
  const auto fill = [&] {
    Array<T> maps(memory, fresh);
    std::fill(maps.begin(), maps.end(), T(1));
    return maps;
  };
  const auto join = [&] { halos.joined(1, fill()); };
  join();  // pages
  const double all = shortest(workers.count(), join, tick), rest = shortest(workers.count(), fill, tick);
  return std::max(0.0, all - rest) / double(in.elements());
}

}  // namespace

std::span<const fft::Method> methods_of(Numbers numbers) {
  return numbers == Numbers::kInt8 ? std::span<const fft::Method>(kInt8Methods) : kMethods;
}

Calibration calibrate(Numbers numbers, fft::Workers& workers, const std::function<void()>& tick) {
  Calibration c;
  c.threads = workers.count();
  c.numbers = numbers;
  const auto methods = methods_of(numbers);
  for (std::size_t m = 0; m < methods.size(); m++) {
    std::vector<Measurement> measured;
    for (const fft::LayerShape& s : layers_of(methods[m], numbers)) {
      measured.push_back({features_of(s, methods[m], numbers),
                          numbers == Numbers::kInt8 ? measure_int8(s, methods[m], workers, tick)
                                                    : measure(s, methods[m], workers, tick)});
    }
    c.methods[m] = fit(measured);
  }
  const Network pool{16, {{false, {2, 2, 2}, 0, Pooling::kAny}}};
  const Plan plan{{31, 31, 31}, 1, {{Method::Patches, true}}};
  fft::Memory memory;
  if (numbers == Numbers::kInt8) {
    const Int8Network stored{pool, std::vector<Int8Scale>(2), std::vector<Int8Layer>(1)};
    c.pooled_voxel = pooling_rate(pool, Int8Evaluator(stored, plan, workers, memory), c.threads, tick);
    c.joined_voxel = joining_rate<std::int8_t>(workers, tick);
  } else {
    c.pooled_voxel = pooling_rate(pool, Evaluator(pool, plan, {}, workers, memory), c.threads, tick);
    c.joined_voxel = joining_rate<float>(workers, tick);
  }
  return c;
}

std::string text_of(const Calibration& c) {
  const auto methods = methods_of(c.numbers);
  std::string text =
      fmt::format("{{{}\"threads\": {}, \"pooled_voxel\": {:.6g}, \"joined_voxel\": {:.6g}, \"methods\": {{",
                  c.numbers == Numbers::kInt8 ? "\"numbers\": \"int8\", " : "", c.threads, c.pooled_voxel,
                  c.joined_voxel);
  for (std::size_t m = 0; m < methods.size(); m++) {
    const Rates& r = c.methods[m];
    text +=
        fmt::format("{}\"{}\": [{:.6g}, {:.6g}, {:.6g}, {:.6g}, {:.6g}]", m == 0 ? "" : ", ",
                    fft::name_of(methods[m]), r.image_pass, r.kernel_pass, r.product, r.multiply, r.voxel);
  }
  return text + "}}\n";
}

Calibration parse_calibration(std::string_view text, const std::string& file) {
  const JsonValue root = parse_json(text, file);
  const JsonValue *threads = root.find("threads"), *pooled = root.find("pooled_voxel"),
                  *methods = root.find("methods");
  if (threads == nullptr || pooled == nullptr || methods == nullptr || !(threads->number >= 1))
    fail_at(file, root.at, "expected threads, pooled_voxel and methods");
  Calibration c;
  c.threads = int(std::min(threads->number, 65536.0));
  c.pooled_voxel = pooled->number;
  // Kept before halos were: a voxel is read and written, twice what a window reads of one.
  const JsonValue* joined = root.find("joined_voxel");
  c.joined_voxel = joined != nullptr ? joined->number : 2 * c.pooled_voxel;
  if (!(c.joined_voxel >= 0)) fail_at(file, root.at, "joined_voxel: a rate is at least 0");
  if (const JsonValue* numbers = root.find("numbers")) {
    if (numbers->text != "int8") fail_at(file, numbers->at, "numbers: expected int8");
    c.numbers = Numbers::kInt8;
  }
  const auto names = methods_of(c.numbers);
  for (std::size_t m = 0; m < names.size(); m++) {
    const JsonValue* rates = methods->find(fft::name_of(names[m]));
    if (rates == nullptr || rates->items.size() != kFeatures)
      fail_at(file, methods->at, fmt::format("expected five rates of '{}'", fft::name_of(names[m])));
    for (const JsonValue& rate : rates->items) {
      if (!(rate.number >= 0)) fail_at(file, rate.at, "a rate is at least 0");
    }
    const auto& r = rates->items;
    c.methods[m] = {r[0].number, r[1].number, r[2].number, r[3].number, r[4].number};
  }
  return c;
}

double layer_seconds(const Calibration& c, const Layer& layer, const Choice& choice, const Maps& in) {
  if (!layer.convolution) {
    const double read = choice.fragments ? double(layer.window.elements()) : 1;
    return c.pooled_voxel * double(in.batch) * in.channels * double(in.size.elements()) * read;
  }
  const auto methods = methods_of(c.numbers);
  const auto at = std::size_t(std::find(methods.begin(), methods.end(), choice.method) - methods.begin());
  if (c.numbers == Numbers::kInt8 && !int8_exact(shape_of(layer, in), choice.method)) return INFINITY;
  const Features f = features_of(shape_of(layer, in), choice.method, c.numbers);
  const Rates& r = c.methods.at(at);
  return r.image_pass * f[0] + r.kernel_pass * f[1] + r.product * f[2] + r.multiply * f[3] + r.voxel * f[4];
}

}  // namespace kaiten::volume
