// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Generated networks: files the importer takes, of the size the papers give, with activations that are alive
// also under an image that was not calibrated with.
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "import/import.h"
#include "models/generate/networks.h"
#include "models/generate/random_network.h"
#include "models/generate/statistics.h"

namespace kaiten {
namespace {

#ifdef KAITEN_LONG
constexpr bool kLong = true;
#else
constexpr bool kLong = false;
#endif

Graph network(std::string_view name, int size, std::uint64_t seed = 1) {
  return require_graph(import_tflite(generate::make_network(name, size, seed), std::string(name)));
}

// Those that take long to make are left to the long tests.
std::vector<std::string_view> selection() {
  std::vector<std::string_view> names = generate::network_names();
  if (!kLong) {
    std::erase_if(names,
                  [](std::string_view n) { return n == "vgg19" || n == "resnet101" || n == "resnet152"; });
  }
  return names;
}

constexpr int kSize = kLong ? 224 : 112;

class Generate : public testing::TestWithParam<std::string_view> {};

TEST_P(Generate, ActivationsAreAlive) {
  const Graph graph = network(GetParam(), kSize);
  for (const std::uint64_t seed : {1, 2}) {  // the image of the calibration, and another one
    SCOPED_TRACE("image of seed " + std::to_string(seed));
    const bool calibrated = seed == 1;
    const std::vector<Int8Values> inputs = {generate::random_image(kSize, seed)};
    double zeros = 0;
    double values = 0;
    for (const generate::LayerStatistics& l : generate::statistics(graph, run_reference(graph, inputs))) {
      if (!l.relu || size_t(l.shape.h) * size_t(l.shape.w) < generate::kFewPixels) continue;
      SCOPED_TRACE(l.name + " " + shape_text({l.shape.h, l.shape.w, l.shape.c}));
      EXPECT_NEAR(l.zeros, 0.5, calibrated ? 0.05 : 0.15);
      EXPECT_LT(l.saturated, calibrated ? 0.02 : 0.1);
      EXPECT_LT(l.dead_channels, calibrated ? 0.001 : 0.05);
      zeros += l.zeros * double(l.shape.elements());
      values += double(l.shape.elements());
    }
    EXPECT_NEAR(zeros / values, 0.5, 0.05);
  }
}

#ifdef KAITEN_LONG
// Multiply-accumulates of 224 x 224 pixels, in millions: the papers give 1.8, 3.6, 3.8, 7.6 and 11.3 thousand
// million for the ResNets (without projections; the 3x3 convolutions of stride 2 make 50 and above
// larger), 1.5 for GoogLeNet, 19.6 for VGG-19, 0.569 for MobileNet.
const std::map<std::string_view, int> kMacs = {
    {"resnet18", 1814},    {"resnet34", 3664},  {"resnet50", 4089},  {"resnet101", 7801},
    {"resnet152", 11514},  {"squeezenet", 387}, {"googlenet", 1583}, {"vgg19", 19632},
    {"mobilenet_v1", 569}, {"shufflenet", 125}, {"stem_3x3", 11},    {"stem_7x7", 118},
    {"stem_11x11", 102},
};

TEST_P(Generate, IsAsLargeAsThePaperSays) {
  EXPECT_EQ(int((macs(network(GetParam(), 224)) + 500000) / 1000000), kMacs.at(GetParam()));
}
#endif

INSTANTIATE_TEST_SUITE_P(Networks, Generate, testing::ValuesIn(selection()),
                         [](const auto& info) { return std::string(info.param); });

TEST(GenerateSeeds, TheSameSeedGivesTheSameBytes) {
  const std::vector<uint8_t> file = generate::make_network("resnet18", 32, 7);
  EXPECT_EQ(file, generate::make_network("resnet18", 32, 7));
  EXPECT_NE(file, generate::make_network("resnet18", 32, 8));
}

TEST(GenerateBadInput, IsNamed) {
  EXPECT_THROW(generate::make_network("resnet19", 224, 1), InputError);
  EXPECT_THROW(generate::make_network("resnet18", generate::kSmallestSize - 1, 1), InputError);
  EXPECT_THROW(generate::make_network("resnet18", generate::kLargestSize + 1, 1), InputError);
  EXPECT_THROW(generate::make_network("resnet18", 32, 1, -1), InputError);
  EXPECT_THROW(generate::make_network("resnet18", 32, 1, generate::kMostZeros + 1), InputError);
}

}  // namespace
}  // namespace kaiten
