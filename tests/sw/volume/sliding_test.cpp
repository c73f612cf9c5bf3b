// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Plans over whole volumes against the network at every position of its window, in double.
#include "volume/sliding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
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

void expect_slides(const Network& network, const Plan& plan, const std::vector<LayerWeights>& weights,
                   Source& source, const std::vector<double>& wanted) {
  fft::Workers workers(1);
  fft::Memory memory;
  const Evaluator evaluator(network, plan, weights, workers, memory, fft::Effort::Estimate);
  const Size whole = fft::valid(source.size(), network.field_of_view());
  Whole result(network.outputs(), whole);
  const Progress p = slide(network, evaluator, source, memory,
                           {0, [&](const BlockResult& r) { result.store(r); }, [](const Progress&) {}});
  EXPECT_EQ(p.voxels, whole.elements());
  EXPECT_EQ(p.done, block_count(network, plan, source.size()));
  for (std::size_t i = 0; i < wanted.size(); i++) {
    ASSERT_EQ(result.writes[i], 1);
    ASSERT_NEAR(result.values[i], wanted[i], kBound)
        << text_of(network, plan) << (plan.halos_kept ? ", halos kept " : " ") << i;
  }
}

TEST(VolumeSliding, EveryPlanIsTheNetworkAtEveryPosition) {
  const Network network = parse_network(
      "INPUTS:2, LAYERS:5\nCONV 2,1,2 3\nPOOL 2,2,1\nCONV 1,2,2 4\nPOOL 1,2,3\nCONV 2,2,1 4\n", "n");
  const auto weights = seeded_weights(network, 6);
  const Size view = network.field_of_view();
  const auto source = seeded_source(2, {view.depth + 6, view.height + 8, view.width + 7}, 9);
  const auto wanted = every_position(network, weights, *source);
  ASSERT_GT(std::count_if(wanted.begin(), wanted.end(), [](double v) { return v > 0.01; }), 50);
  int plans = 0, kept = 0;
  for (const auto method : {fft::Method::Naive, fft::Method::Blocked, fft::Method::DataParallel,
                            fft::Method::TaskParallel, fft::Method::Patches})
    for (int pooling = 0; pooling < 4; pooling++)
      for (const int batch : {1, 2, 8})
        for (const Size& fragment : {Size{1, 1, 1}, Size{2, 3, 2}}) {
          Plan plan{fragment, batch, std::vector<Choice>(5, {method, true})};
          plan.layers[1].fragments = (pooling & 1) == 0;
          plan.layers[3].fragments = (pooling & 2) == 0;
          expect_slides(network, plan, weights, *source, wanted);
          plans++;
          if (plain_windows(network, plan).elements() % std::uint64_t(batch) != 0) continue;
          plan.halos_kept = true;
          expect_slides(network, plan, weights, *source, wanted);
          kept++;
        }
  EXPECT_EQ(plans, 120);
  EXPECT_EQ(kept, 80);
}

TEST(VolumeSliding, KeptHalosAreThoseOfEveryLayer) {
  // Deep windows, kernels of more slices than a block has, a pooling layer first, pooling after pooling.
  for (const char* text : {"INPUTS:1, LAYERS:6\nCONV 3,2,1 2\nPOOL 2,1,1\nCONV 4,1,2 3\nPOOL 3,2,1\nCONV "
                           "2,1,1 3\nCONV 5,1,1 2\n",
                           "INPUTS:2, LAYERS:4\nPOOL 2,2,1\nPOOL 3,1,1\nCONV 3,1,2 2\nCONV 1,1,1 2\n",
                           "INPUTS:1, LAYERS:1\nCONV 4,2,2 2\n"}) {
    const Network network = parse_network(text, "n");
    const auto weights = seeded_weights(network, 4);
    const Size view = network.field_of_view();
    const auto source = seeded_source(network.inputs, {view.depth + 20, view.height + 2, view.width + 3}, 5);
    const auto wanted = every_position(network, weights, *source);
    for (const auto method : {fft::Method::Blocked, fft::Method::Patches})
      for (int pooling = 0; pooling < 4; pooling++)
        for (const int depth : {1, 2, 9}) {
          Plan plan{{depth, 2, 2}, 1, std::vector<Choice>(network.layers.size(), {method, true}), true};
          int n = 0;
          for (std::size_t i = 0; i < network.layers.size(); i++)
            if (!network.layers[i].convolution) plan.layers[i].fragments = (pooling >> n++ & 1) == 0;
          expect_slides(network, plan, weights, *source, wanted);
        }
  }
}

TEST(VolumeSliding, KeptHalosComputeNewSlicesAlone) {
  const Network network = parse_network("INPUTS:1, LAYERS:3\nCONV 3,3,3 2\nPOOL 2,2,2\nCONV 4,3,3 1\n", "n");
  Plan plan{{5, 2, 2}, 1, std::vector<Choice>(3), true};
  // 10 slices of voxels and the first kernel's halo; 10 slices and the fragments' halo; 5 and that of four taps.
  const auto depths = [&] {
    std::vector<int> all;
    for (const Maps& m : maps_of(network, plan)) all.push_back(m.size.depth);
    return all;
  };
  EXPECT_EQ(depths(), (std::vector<int>{12, 11, 8, 5}));
  EXPECT_EQ(lag_of(network, plan, 3), 1 + 2 * 3);  // voxels: one of a fragment's window, three after pooling
  EXPECT_EQ(grid_of(network, plan, {13, 4, 4}), (Size{2, 1, 1}));
  EXPECT_EQ(grid_of(network, plan, {14, 4, 4}), (Size{3, 1, 1}));
  plan.layers[1].fragments = false;
  EXPECT_EQ(depths(), (std::vector<int>{12, 10, 8, 5}));
  EXPECT_EQ(block_input(network, plan).depth, 12 + 1);  // the last of two offsets
}

TEST(VolumeSliding, AnInterruptedRunGoesOnWhereItEnded) {
  const Network network = parse_network("INPUTS:1, LAYERS:3\nCONV 2,2,2 2\nPOOL 2,2,2\nCONV 1,1,1 1\n", "n");
  const auto weights = seeded_weights(network, 1);
  const auto source = seeded_source(1, {8, 9, 10}, 2);
  fft::Workers workers(1);
  const Size whole = fft::valid(source->size(), network.field_of_view());
  for (const bool kept : {false, true}) {
    fft::Memory memory;
    const Plan plan{{1, 1, 1}, kept ? 1 : 2, std::vector<Choice>(3), kept};
    const Evaluator evaluator(network, plan, weights, workers, memory, fft::Effort::Estimate);
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
    // Columns have four blocks: a run in the second one computes its first two again.
    const std::int64_t first = first_block(network, plan, source->size(), done);
    EXPECT_EQ(first, kept ? 4 : done);
    slide(network, evaluator, *source, memory,
          {first, [&](const BlockResult& r) { twice.store(r); }, [](const Progress&) {}});
    EXPECT_EQ(once.values, twice.values);
    const auto written = [&](int times) {
      return std::count(twice.writes.begin(), twice.writes.end(), times);
    };
    EXPECT_EQ(written(1) + written(2), std::ptrdiff_t(twice.writes.size()));
    EXPECT_EQ(written(2), kept ? 12 : 0);
    if (kept)
      EXPECT_THROW(
          slide(network, evaluator, *source, memory, {5, [](const BlockResult&) {}, [](const Progress&) {}}),
          std::invalid_argument);
  }
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

TEST(VolumeSliding, PeaksWithKeptHalosArePredictedToo) {
  // The last layer's halo is larger than all that it computes: putting it together takes the most of the second network.
  for (const char* last : {"CONV 3,3,3 5\n", "CONV 9,1,1 1\n"})
    for (const bool fragments : {true, false})
      for (const auto method : {fft::Method::Blocked, fft::Method::Patches}) {
        const Network network =
            parse_network(std::string("INPUTS:1, LAYERS:3\nCONV 2,2,2 6\nPOOL 2,2,2\n") + last, "n");
        const auto weights = seeded_weights(network, 1);
        fft::Workers workers(2);
        fft::Memory memory;
        const Plan plan{{4, 6, 6}, 1, std::vector<Choice>(3, {method, fragments}), true};
        const Evaluator evaluator(network, plan, weights, workers, memory, fft::Effort::Estimate);
        const std::uint64_t before = memory.used();
        auto halos = evaluator.make_halos();
        const std::uint64_t kept = memory.used() - before;
        EXPECT_EQ(halo_bytes(network, plan, Numbers::kFloat32), kept * (fragments ? 1 : 8));
        auto images = evaluator.make_images();
        std::fill(images.begin(), images.end(), 1.0F);
        memory.reset_peak();
        evaluator.evaluate_next(std::move(images), halos, 3);
        EXPECT_EQ(memory.peak() - before - kept, evaluator.peak_bytes());
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
