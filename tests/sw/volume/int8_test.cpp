// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Networks in int8: the reference by hand, every plan against the reference at every position, without a bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/seed.h"
#include "tests/support/slid.h"
#include "volume/int8_evaluate.h"
#include "volume/int8_reference.h"
#include "volume/sliding.h"

namespace kaiten::volume {
namespace {

using fft::Method;
using fft::Size;

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  int between(int least, int most) { return least + int(bits_() % std::uint64_t(most - least + 1)); }
  std::uint64_t bits() { return bits_(); }

 private:
  std::mt19937_64 bits_;
};

TEST(VolumeInt8, ReferenceByHand) {
  // A kernel of two slices over three: sums 1 * (5 - 3) - 2 * (9 - 3) + 10 = 0, 1 * (9 - 3) - 2 * (0 - 3) + 10 = 22, times
  // 1/4, ties away from zero, plus 1.
  Int8Network n{{1, {{true, {2, 1, 1}, 1, Pooling::kAny}}}, {{1, 3}, {4, 1}}, {{}}};
  n.layers[0] = {{1, -2}, {1}, {10}, {quantize_multiplier(0.25)}, {1, 1, 127, Rounding::Double}};
  Int8Maps in(1, {3, 1, 1});
  in.values = {5, 9, 0};
  const Int8Maps out = reference_convolution(n, 0, in);
  EXPECT_EQ(out.size, (Size{2, 1, 1}));
  EXPECT_EQ(out.values, (std::vector<std::int8_t>{1, 7}));  // 0 + 1, 5.5 away from zero + 1
  n.layers[0].bias = {-100};
  EXPECT_EQ(reference_convolution(n, 0, in).values, (std::vector<std::int8_t>{1, 1}));  // ReLU
  n.layers[0].bias = {1000};
  EXPECT_EQ(reference_convolution(n, 0, in).values, (std::vector<std::int8_t>{127, 127}));

  Int8Maps pooled(1, {1, 2, 5});
  pooled.values = {1, 2, 3, 4, -5, -9, -8, -7, -6, -5};
  EXPECT_EQ(reference_pooling(pooled, {1, 2, 2}).values, (std::vector<std::int8_t>{2, 4}));
  EXPECT_EQ(reference_pooling(pooled, {1, 1, 2}, {0, 1, 3}).values, (std::vector<std::int8_t>{-5}));
}

TEST(VolumeInt8, StoredValuesAreTheNearest) {
  const Int8Scale s{0.5F, -3};
  EXPECT_EQ(s.stored(0), -3);
  EXPECT_EQ(s.stored(0.25F), -2);  // half away from zero
  EXPECT_EQ(s.stored(-0.25F), -4);
  EXPECT_EQ(s.stored(1e9F), 127);
  EXPECT_EQ(s.stored(-1e9F), -128);
  EXPECT_EQ(s.real(-2), 0.5F);
}

// Of one to three convolutions and up to two poolings, small in everything.
Network random_network(Random& random) {
  Network n{random.between(1, 3), {}};
  const auto size = [&](int most) {
    return Size{random.between(1, most), random.between(1, most), random.between(1, most)};
  };
  n.layers.push_back({true, size(3), random.between(1, 6), Pooling::kAny});
  for (int i = random.between(0, 2); i > 0; i--) {
    n.layers.push_back({false, size(2), 0, Pooling::kAny});
    if (random.between(0, 3) > 0) n.layers.push_back({true, size(3), random.between(1, 6), Pooling::kAny});
  }
  return n;
}

struct Stored {
  Int8Network network;
  std::unique_ptr<Source> source;
  Int8Maps volume;
};

Stored stored_network(const Network& network, const Size& size, std::uint64_t seed) {
  fft::Workers workers(1);
  auto source = seeded_source(network.inputs, size, seed);
  const auto weights = seeded_weights(network, seed);
  Int8Network q = quantized(network, weights, ranges_of(network, weights, *source, workers));
  Int8Maps volume(network.inputs, size);
  std::vector<float> voxels(volume.values.size());
  source->read({0, 0, 0}, size, voxels);
  std::transform(voxels.begin(), voxels.end(), volume.values.begin(),
                 [&](float v) { return q.maps.front().stored(v); });
  return {std::move(q), std::move(source), std::move(volume)};
}

Int8Maps slid(const Stored& s, const Plan& plan, fft::Workers& workers) {
  fft::Memory memory;
  const Int8Evaluator evaluator(s.network, plan, workers, memory);
  return test::slid(s.network.network, evaluator, *s.source, memory);
}

TEST(VolumeInt8, EveryPlanIsTheReferenceAtEveryPosition) {
  Random random(test::seed());
  fft::Workers workers(2);
  int plans = 0, values = 0;
  for (int i = 0; i < 12; i++) {
    const Network network = random_network(random);
    const Size view = network.field_of_view();
    const Stored s = stored_network(network,
                                    {view.depth + random.between(0, 3), view.height + random.between(0, 4),
                                     view.width + random.between(0, 4)},
                                    random.bits());
    const Int8Maps wanted = reference_at_every_position(s.network, s.volume);
    values += int(std::count_if(wanted.values.begin(), wanted.values.end(),
                                [&](std::int8_t v) { return v > -128 && v < 127; }));
    for (int p = 0; p < 6; p++) {
      Plan plan{
          {random.between(1, 2), random.between(1, 2), random.between(1, 3)}, 1 << random.between(0, 2), {}};
      for (std::size_t l = 0; l < network.layers.size(); l++)
        plan.layers.push_back({kInt8Methods[std::size_t(random.between(0, 1))], random.between(0, 1) == 0});
      ASSERT_EQ(slid(s, plan, workers).values, wanted.values) << i << ": " << text_of(network, plan);
      plans++;
      plan.batch = 1;
      plan.halos_kept = true;
      ASSERT_EQ(slid(s, plan, workers).values, wanted.values)
          << i << ", halos kept: " << text_of(network, plan);
    }
  }
  EXPECT_EQ(plans, 72);
  EXPECT_GT(values, 100);  // that are not at the ends
}

TEST(VolumeInt8, IsNearTheFloatNetwork) {
  const Network network = parse_network("INPUTS:1, LAYERS:3\nCONV 2,3,3 8\nPOOL 2,2,2\nCONV 3,2,2 4\n", "n");
  const Size view = network.field_of_view(), size{view.depth + 4, view.height + 4, view.width + 4};
  const Stored s = stored_network(network, size, 5);
  const Int8Maps stored = reference_at_every_position(s.network, s.volume);
  fft::Workers workers(1);
  fft::Memory memory;
  const auto weights = seeded_weights(network, 5);
  const Plan plan{{1, 1, 1}, 1, std::vector<Choice>(3, {Method::Blocked, true})};
  const Evaluator evaluator(network, plan, weights, workers, memory, fft::Effort::Estimate);
  double squares = 0, errors = 0;
  slide(network, evaluator, *s.source, memory,
        {0,
         [&](const BlockResult& b) {
           std::size_t i = 0;
           for (int m = 0; m < 4; m++)
             for (int z = 0; z < b.extent.depth; z++)
               for (int y = 0; y < b.extent.height; y++)
                 for (int x = 0; x < b.extent.width; x++, i++) {
                   const double wanted = b.values[i];
                   const double found = s.network.maps.back().real(
                       stored.at(m, b.begin.depth + z, b.begin.height + y, b.begin.width + x));
                   squares += wanted * wanted;
                   errors += (found - wanted) * (found - wanted);
                 }
         },
         [](const Progress&) {}});
  EXPECT_GT(squares, 1);
  EXPECT_LT(std::sqrt(errors / squares), 0.05);
}

TEST(VolumeInt8, PeaksAreThePredictedOnes) {
  const Network network = parse_network("INPUTS:2, LAYERS:3\nCONV 2,2,2 6\nPOOL 2,2,2\nCONV 3,3,3 5\n", "n");
  const Stored s = stored_network(network, {20, 20, 20}, 3);
  fft::Workers workers(2);
  for (const bool fragments : {true, false})
    for (const Method method : kInt8Methods) {
      fft::Memory memory;
      const Plan plan{{4, 4, 4}, 1, std::vector<Choice>(3, {method, fragments})};
      const Int8Evaluator evaluator(s.network, plan, workers, memory);
      auto images = evaluator.make_images();
      std::fill(images.begin(), images.end(), std::int8_t(1));
      memory.reset_peak();
      evaluator.evaluate(std::move(images));
      EXPECT_EQ(memory.peak(), evaluator.peak_bytes()) << fft::name_of(method);
    }
}

TEST(VolumeInt8, PartsOfANetworkFollowEachOther) {
  const Network network = parse_network("INPUTS:2, LAYERS:3\nCONV 2,2,2 6\nPOOL 2,2,2\nCONV 3,3,3 5\n", "n");
  const Stored s = stored_network(network, {20, 20, 20}, 3);
  for (std::size_t cut = 0; cut <= 3; cut++) {
    const Int8Network first = some_layers(s.network, 0, cut),
                      rest = some_layers(s.network, cut, s.network.layers.size());
    EXPECT_EQ(first.layers.size(), cut);
    EXPECT_EQ(first.network.outputs(), rest.network.inputs);
    EXPECT_EQ(first.maps.back(), rest.maps.front());
    EXPECT_EQ(rest.network.outputs(), 5);
  }
}

TEST(VolumeInt8, SomeMapsOfTheResult) {
  const Network network = parse_network("INPUTS:2, LAYERS:2\nCONV 2,1,2 6\nPOOL 1,2,1\n", "n");
  const Stored s = stored_network(network, {9, 9, 9}, 3);
  Int8Maps in(2, {4, 3, 5});
  for (std::size_t i = 0; i < in.values.size(); i++) in.values[i] = std::int8_t(i * 73 % 256);
  const Int8Maps all = reference_convolution(s.network, 0, in);
  const Int8Network some = some_outputs(s.network, 2, 3);
  EXPECT_EQ(some.network.outputs(), 3);
  const Int8Maps found = reference_convolution(some, 0, in);
  const auto each = std::ptrdiff_t(all.size.elements());
  ASSERT_EQ(found.values.size(), std::size_t(3 * each));
  EXPECT_TRUE(std::equal(found.values.begin(), found.values.end(), all.values.begin() + 2 * each));
  EXPECT_NE(found.values[0], found.values[std::size_t(each)]);
}

TEST(VolumeInt8, SumsThatLeaveInt32AreRefused) {
  const Network network = parse_network("INPUTS:4096, LAYERS:1\nCONV 4,4,4 1\n", "n");
  std::vector<LayerWeights> weights(1);
  weights[0].kernels.assign(std::size_t(4096) * 64, 1.0F);
  weights[0].bias = {0};
  const std::vector<Range> ranges = {{-1, 1}, {0, 1e6F}};
  try {
    quantized(network, weights, ranges);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("layer 1, output 1: sums up to"), std::string::npos) << e.what();
  }
}

TEST(VolumeInt8, OtherMethodsAreRefused) {
  const Network network = parse_network("INPUTS:1, LAYERS:1\nCONV 2,2,2 2\n", "n");
  const Stored s = stored_network(network, {4, 4, 4}, 3);
  fft::Workers workers(1);
  fft::Memory memory;
  EXPECT_THROW(Int8Evaluator(s.network, {{1, 1, 1}, 1, {{Method::Patches, true}}}, workers, memory),
               std::invalid_argument);
  EXPECT_FALSE(int8_exact({1, 4096, 1, {1000, 1000, 1000}, {9, 9, 9}}, Method::TaskParallel));
  EXPECT_TRUE(int8_exact({1, 80, 80, {200, 200, 200}, {9, 9, 9}}, Method::TaskParallel));
}

}  // namespace
}  // namespace kaiten::volume
