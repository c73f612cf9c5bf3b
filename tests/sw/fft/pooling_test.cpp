// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Pooling, and networks that slide over a volume: fragments put together against the evaluation at every
// position.
#include "fft/pooling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include "fft/convolution.h"
#include "tests/support/seed.h"

namespace kaiten::fft {
namespace {

Array<double> array_of(Memory& memory, const std::vector<double>& values) {
  Array<double> a(memory, values.size());
  std::copy(values.begin(), values.end(), a.begin());
  return a;
}

std::vector<double> random_values(std::uint64_t count, std::mt19937_64& random) {
  std::vector<double> v(count);
  for (double& x : v) x = std::uniform_real_distribution<double>(-1, 1)(random);
  return v;
}

TEST(FftPooling, MaximaOfWindows) {
  Workers workers(2);
  Memory memory;
  const std::vector<double> image = {1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -9, -4, -5, -6, -7};
  const auto pooled =
      max_pool<double>({1, 2, {1, 2, 4}, {1, 2, 2}}, array_of(memory, image), workers, memory);
  EXPECT_EQ(std::vector<double>(pooled.begin(), pooled.end()), (std::vector<double>{6, 8, -1, -3}));
  EXPECT_THROW(max_pool<double>({1, 1, {1, 4, 4}, {1, 3, 2}}, array_of(memory, image), workers, memory),
               std::invalid_argument);
}

TEST(FftPooling, FragmentsArePoolingFromEveryOffset) {
  Workers workers(2);
  Memory memory;
  std::mt19937_64 random(test::seed());
  const Size image = {5, 7, 11}, window = {2, 4, 3};
  const auto values = random_values(2 * image.elements(), random);
  const PoolShape shape{1, 2, image, window};
  const auto fragments = max_pool_fragments<double>(shape, array_of(memory, values), workers, memory);
  const Size f = shape.fragment();
  EXPECT_EQ(f, (Size{2, 1, 3}));
  std::size_t at = 0;
  for (int oz = 0; oz < 2; oz++)
    for (int oy = 0; oy < 4; oy++)
      for (int ox = 0; ox < 3; ox++)
        for (int c = 0; c < 2; c++)
          for (int z = 0; z < f.depth; z++)
            for (int y = 0; y < f.height; y++)
              for (int x = 0; x < f.width; x++) {
                double most = -2;
                for (int dz = 0; dz < 2; dz++)
                  for (int dy = 0; dy < 4; dy++)
                    for (int dx = 0; dx < 3; dx++)
                      most = std::max(
                          most, values[std::size_t(((c * 5 + oz + 2 * z + dz) * 7 + oy + 4 * y + dy) * 11 +
                                                   ox + 3 * x + dx)]);
                ASSERT_EQ(fragments[at++], most);
              }
  EXPECT_EQ(at, fragments.size());
  EXPECT_THROW(
      max_pool_fragments<double>({1, 1, {1, 8, 8}, {1, 2, 2}}, array_of(memory, values), workers, memory),
      std::invalid_argument);
}

// Convolution, pooling, convolution, pooling, convolution with bias and ReLU.
struct Network {
  struct Layer {
    Size window;   // of a pooling layer
    int channels;  // of a convolution
    Size kernel;
    std::vector<double> weights;
    std::vector<double> bias;
  };
  std::vector<Layer> layers;
  int in = 1;

  void convolution(int channels, const Size& kernel, std::mt19937_64& random) {
    const int before = layers.empty() ? in : last_channels();
    layers.push_back({{},
                      channels,
                      kernel,
                      random_values(std::uint64_t(before * channels) * kernel.elements(), random),
                      random_values(std::uint64_t(channels), random)});
  }
  void pooling(const Size& window) { layers.push_back({window, 0, {}, {}, {}}); }
  int last_channels() const {
    int channels = in;
    for (const Layer& l : layers) channels = l.channels > 0 ? l.channels : channels;
    return channels;
  }
};

struct Result {
  Size size;
  Array<double> values;
};

Result evaluate(const Network& network, Size size, Array<double> images, bool fragments, Method method,
                Workers& workers, Memory& memory) {
  int batch = 1, channels = network.in;
  std::vector<Size> windows;
  for (const Network::Layer& layer : network.layers) {
    if (layer.channels > 0) {
      const LayerShape shape{batch, channels, layer.channels, size, layer.kernel};
      images = Convolution<double>(shape, method, workers, memory)
                   .run(std::move(images), {layer.weights, layer.bias, true});
      channels = layer.channels;
      size = shape.result();
    } else {
      const PoolShape shape{batch, channels, size, layer.window};
      images = fragments ? max_pool_fragments(shape, images, workers, memory)
                         : max_pool(shape, images, workers, memory);
      size = fragments ? shape.fragment() : shape.pooled();
      if (fragments) {
        batch *= shape.fragments();
        windows.push_back(layer.window);
      }
    }
  }
  Array<double> whole = assemble(1, channels, size, windows, images, memory);
  return {assembled(size, windows), std::move(whole)};
}

// `view`: what the network sees of the volume for one output.
void compare_with_every_position(const Network& network, const Size& volume, const Size& view) {
  std::mt19937_64 random(test::seed() + 1);
  Workers workers(2);
  Memory memory;
  const auto values = random_values(std::uint64_t(network.in) * volume.elements(), random);
  const Size positions = valid(volume, view);
  const std::size_t channels = std::size_t(network.last_channels());
  std::vector<double> dense(channels * positions.elements());
  std::size_t at = 0;
  for (int z = 0; z < positions.depth; z++) {
    for (int y = 0; y < positions.height; y++) {
      for (int x = 0; x < positions.width; x++, at++) {
        std::vector<double> seen;
        for (int c = 0; c < network.in; c++)
          for (int dz = 0; dz < view.depth; dz++)
            for (int dy = 0; dy < view.height; dy++)
              for (int dx = 0; dx < view.width; dx++)
                seen.push_back(values[std::size_t(
                    ((c * volume.depth + z + dz) * volume.height + y + dy) * volume.width + x + dx)]);
        const Result r =
            evaluate(network, view, array_of(memory, seen), false, Method::Naive, workers, memory);
        ASSERT_EQ(r.size, (Size{1, 1, 1}));
        for (std::size_t c = 0; c < channels; c++) dense[c * positions.elements() + at] = r.values[c];
      }
    }
  }
  for (Method method : {Method::Naive, Method::DataParallel, Method::TaskParallel, Method::Patches}) {
    const Result r = evaluate(network, volume, array_of(memory, values), true, method, workers, memory);
    ASSERT_EQ(r.size, positions) << name_of(method);
    for (std::size_t i = 0; i < dense.size(); i++)
      ASSERT_NEAR(r.values[i], dense[i], 1e-12) << name_of(method) << " " << i;
  }
}

TEST(FftPooling, ASlidingNetworkOverAnImage) {
  std::mt19937_64 random(test::seed());
  Network network{{}, 2};
  network.convolution(3, {1, 2, 3}, random);
  network.pooling({1, 2, 2});
  network.convolution(4, {1, 3, 2}, random);
  network.pooling({1, 2, 3});
  network.convolution(2, {1, 2, 2}, random);
  // Backwards: 2x2 by pooling 4x6, by 3x2 kernels 6x7, by pooling 12x14, by 2x3 kernels 13x16; 4 * 3 and 6 *
  // 2 positions.
  compare_with_every_position(network, {1, 13 + 11, 16 + 11}, {1, 13, 16});
}

TEST(FftPooling, ASlidingNetworkOverAVolume) {
  std::mt19937_64 random(test::seed());
  Network network{{}, 1};
  network.convolution(2, {2, 2, 2}, random);
  network.pooling({2, 2, 2});
  network.convolution(3, {2, 1, 2}, random);
  network.pooling({1, 2, 2});
  network.convolution(1, {1, 2, 1}, random);
  // Depth: 1, 1, 2, 4, 5. Height: 2, 4, 4, 8, 9. Width: 1, 2, 3, 6, 7.
  compare_with_every_position(network, {5 + 3, 9 + 7, 7 + 7}, {5, 9, 7});
}

}  // namespace
}  // namespace kaiten::fft
