// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Plans over whole volumes against the network at every position of its window, in double.
#include "volume/sliding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/error.h"

namespace kaiten::volume {
namespace {

using fft::Size;

struct Map4 {
  int maps;
  Size size;
  std::vector<double> v;

  double& at(int m, int z, int y, int x) {
    return v[std::size_t(((m * size.depth + z) * size.height + y) * size.width + x)];
  }
};

Map4 make(int maps, const Size& size) {
  return {maps, size, std::vector<double>(std::size_t(maps) * size.elements())};
}

// Neither fragments nor transforms: loops over the definition.
Map4 layer_of(const Layer& l, const LayerWeights& w, Map4& in) {
  const Size k = l.window;
  if (!l.convolution) {
    Map4 out = make(in.maps, {in.size.depth / k.depth, in.size.height / k.height, in.size.width / k.width});
    for (int m = 0; m < in.maps; m++)
      for (int z = 0; z < out.size.depth; z++)
        for (int y = 0; y < out.size.height; y++)
          for (int x = 0; x < out.size.width; x++) {
            double most = -1e300;
            for (int t = 0; t < int(k.elements()); t++)
              most = std::max(most, in.at(m, z * k.depth + t / (k.height * k.width),
                                          y * k.height + t / k.width % k.height, x * k.width + t % k.width));
            out.at(m, z, y, x) = most;
          }
    return out;
  }
  Map4 out = make(l.maps, fft::valid(in.size, k));
  for (int m = 0; m < l.maps; m++)
    for (int z = 0; z < out.size.depth; z++)
      for (int y = 0; y < out.size.height; y++)
        for (int x = 0; x < out.size.width; x++) {
          double sum = double(w.bias[std::size_t(m)]);
          for (int c = 0; c < in.maps; c++)
            for (int t = 0; t < int(k.elements()); t++)
              sum +=
                  double(w.kernels[(std::size_t(m) * std::size_t(in.maps) + std::size_t(c)) * k.elements() +
                                   std::size_t(t)]) *
                  in.at(c, z + t / (k.height * k.width), y + t / k.width % k.height, x + t % k.width);
          out.at(m, z, y, x) = std::max(sum, 0.0);
        }
  return out;
}

std::vector<double> every_position(const Network& network, const std::vector<LayerWeights>& weights,
                                   Source& source) {
  const Size view = network.field_of_view(), whole = fft::valid(source.size(), view);
  std::vector<double> result(std::size_t(network.outputs()) * whole.elements());
  std::vector<float> seen(std::size_t(network.inputs) * view.elements());
  for (int z = 0; z < whole.depth; z++)
    for (int y = 0; y < whole.height; y++)
      for (int x = 0; x < whole.width; x++) {
        source.read({z, y, x}, view, seen);
        Map4 maps = make(network.inputs, view);
        std::copy(seen.begin(), seen.end(), maps.v.begin());
        for (std::size_t i = 0; i < network.layers.size(); i++)
          maps = layer_of(network.layers[i], weights[i], maps);
        EXPECT_EQ(maps.size, (Size{1, 1, 1}));
        for (int m = 0; m < maps.maps; m++)
          result[((std::size_t(m) * std::size_t(whole.depth) + std::size_t(z)) * std::size_t(whole.height) +
                  std::size_t(y)) *
                     std::size_t(whole.width) +
                 std::size_t(x)] = maps.v[std::size_t(m)];
      }
  return result;
}

struct Whole {
  Size size;
  std::vector<float> values;
  std::vector<int> writes;  // each voxel exactly once

  Whole(int maps, const Size& s) : size(s), values(std::size_t(maps) * s.elements()), writes(values.size()) {}
  void store(const BlockResult& r) {
    std::size_t from = 0;
    for (int m = 0; m < int(values.size() / size.elements()); m++)
      for (int z = 0; z < r.extent.depth; z++)
        for (int y = 0; y < r.extent.height; y++)
          for (int x = 0; x < r.extent.width; x++) {
            const std::size_t at =
                ((std::size_t(m) * std::size_t(size.depth) + std::size_t(r.begin.depth + z)) *
                     std::size_t(size.height) +
                 std::size_t(r.begin.height + y)) *
                    std::size_t(size.width) +
                std::size_t(r.begin.width + x);
            values[at] = r.values[from++];
            writes[at]++;
          }
  }
};

constexpr double kBound = 1e-5;  // float32, values of about 1

TEST(VolumeSliding, EveryPlanIsTheNetworkAtEveryPosition) {
  const Network network = parse_network(
      "INPUTS:2, LAYERS:5\nCONV 2,1,2 3\nPOOL 2,2,1\nCONV 1,2,2 4\nPOOL 1,2,3\nCONV 2,2,1 4\n", "n");
  const auto weights = seeded_weights(network, 6);
  const Size view = network.field_of_view();
  const auto source = seeded_source(2, {view.depth + 6, view.height + 8, view.width + 7}, 9);
  const auto wanted = every_position(network, weights, *source);
  ASSERT_GT(std::count_if(wanted.begin(), wanted.end(), [](double v) { return v > 0.01; }), 50);
  fft::Workers workers(1);
  const Size whole = fft::valid(source->size(), view);
  int plans = 0;
  for (const auto method : {fft::Method::Naive, fft::Method::Blocked, fft::Method::DataParallel,
                            fft::Method::TaskParallel, fft::Method::Patches})
    for (int pooling = 0; pooling < 4; pooling++)
      for (const int batch : {1, 2, 8})
        for (const Size& fragment : {Size{1, 1, 1}, Size{2, 3, 2}}) {
          Plan plan{fragment, batch, std::vector<Choice>(5, {method, true})};
          plan.layers[1].fragments = (pooling & 1) == 0;
          plan.layers[3].fragments = (pooling & 2) == 0;
          fft::Memory memory;
          const Evaluator evaluator(network, plan, weights, workers, memory, fft::Effort::Estimate);
          Whole result(4, whole);
          const Progress p =
              slide(network, evaluator, *source, memory,
                    {0, [&](const BlockResult& r) { result.store(r); }, [](const Progress&) {}});
          EXPECT_EQ(p.voxels, whole.elements());
          EXPECT_EQ(p.done, block_count(network, plan, source->size()));
          for (std::size_t i = 0; i < wanted.size(); i++) {
            ASSERT_EQ(result.writes[i], 1);
            ASSERT_NEAR(result.values[i], wanted[i], kBound) << text_of(network, plan) << " " << i;
          }
          plans++;
        }
  EXPECT_EQ(plans, 120);
}

TEST(VolumeSliding, AnInterruptedRunGoesOnWhereItEnded) {
  const Network network = parse_network("INPUTS:1, LAYERS:3\nCONV 2,2,2 2\nPOOL 2,2,2\nCONV 1,1,1 1\n", "n");
  const auto weights = seeded_weights(network, 1);
  const auto source = seeded_source(1, {8, 9, 10}, 2);
  fft::Workers workers(1);
  fft::Memory memory;
  const Plan plan{{1, 1, 1}, 2, std::vector<Choice>(3)};
  const Evaluator evaluator(network, plan, weights, workers, memory, fft::Effort::Estimate);
  const Size whole = fft::valid(source->size(), network.field_of_view());
  Whole once(1, whole), twice(1, whole);
  slide(network, evaluator, *source, memory,
        {0, [&](const BlockResult& r) { once.store(r); }, [](const Progress&) {}});
  std::int64_t done = 0;
  EXPECT_THROW(slide(network, evaluator, *source, memory,
                     {0, [&](const BlockResult& r) { twice.store(r); },
                      [&](const Progress& p) {
                        done = p.done;
                        if (done >= 6) throw std::runtime_error("stop");
                      }}),
               std::runtime_error);
  slide(network, evaluator, *source, memory,
        {done, [&](const BlockResult& r) { twice.store(r); }, [](const Progress&) {}});
  EXPECT_EQ(once.values, twice.values);
  EXPECT_EQ(twice.writes, std::vector<int>(twice.writes.size(), 1));
}

TEST(VolumeSliding, PeaksAreThePredictedOnes) {
  const Network network = parse_network("INPUTS:1, LAYERS:3\nCONV 2,2,2 6\nPOOL 2,2,2\nCONV 3,3,3 5\n", "n");
  const auto weights = seeded_weights(network, 1);
  fft::Workers workers(2);
  for (const bool fragments : {true, false})
    for (const auto method : {fft::Method::Blocked, fft::Method::TaskParallel, fft::Method::Patches}) {
      fft::Memory memory;
      const Plan plan{{6, 6, 6}, 1, std::vector<Choice>(3, {method, fragments})};
      const Evaluator evaluator(network, plan, weights, workers, memory, fft::Effort::Estimate);
      auto images = evaluator.make_images();
      std::fill(images.begin(), images.end(), 1.0F);
      memory.reset_peak();
      evaluator.run(std::move(images));
      EXPECT_EQ(memory.peak(), evaluator.peak_bytes());
    }
}

TEST(VolumeSliding, VolumesSmallerThanTheWindowAreRefused) {
  const Network network = parse_network("INPUTS:1, LAYERS:1\nCONV 3,4,5 1\n", "n");
  require_view(network, {3, 4, 5});
  try {
    require_view(network, {3, 4, 4});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(
        e.what(),
        "a volume of 3x4x4 is smaller than the network's field of view, 3x4x5: at least that is needed");
  }
}

}  // namespace
}  // namespace kaiten::volume
