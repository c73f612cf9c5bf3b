// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Generated networks: files the importer takes, of the size the papers give, with activations that are alive
// also under an image that was not calibrated with.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "generate/networks.h"
#include "generate/random_network.h"
#include "generate/statistics.h"
#include "import/import.h"
#include "supernet/choice.h"
#include "supernet/families.h"

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

void expect_alive(const Graph& graph) {
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
    if (values > 0) {
      EXPECT_NEAR(zeros / values, 0.5, 0.05);
    }
  }
}

TEST_P(Generate, ActivationsAreAlive) { expect_alive(network(GetParam(), kSize)); }
TEST(GenerateSubNets, ActivationsAreAlive) { expect_alive(network("ofa-resnet50/RC", kSize)); }

// A transformer has no ReLU: its logits are many values, and others for another image.
TEST(GenerateTransformer, TellsImagesApart) {
  const Graph graph = network("vit_tiny", 64);
  std::vector<Int8Values> logits;
  for (const std::uint64_t seed : {1, 2}) {
    const std::vector<Int8Values> inputs = {generate::random_image(64, seed)};
    logits.push_back(run_reference(graph, inputs).at(std::size_t(graph.outputs.front())));
    EXPECT_GT(std::set<std::int8_t>(logits.back().begin(), logits.back().end()).size(), 100U);
  }
  EXPECT_NE(logits.front(), logits.back());
}

#ifdef KAITEN_LONG
// Multiply-accumulates of 224 x 224 pixels, in millions: the papers give 1.8, 3.6, 3.8, 7.6 and 11.3 thousand
// million for the ResNets (without projections; the 3x3 convolutions of stride 2 make 50 and above
// larger), 1.5 for GoogLeNet, 19.6 for VGG-19, 0.569 for MobileNet, 0.2 for MNv4-Conv-S.
const std::map<std::string_view, int> kMacs = {
    {"resnet18", 1814},    {"resnet34", 3664},          {"resnet50", 4089},      {"resnet101", 7801},
    {"resnet152", 11514},  {"squeezenet", 387},         {"googlenet", 1583},     {"vgg19", 19632},
    {"mobilenet_v1", 569}, {"shufflenet", 125},         {"stem_3x3", 11},        {"stem_7x7", 118},
    {"stem_11x11", 102},   {"efficientnet_lite0", 385}, {"mobilenet_v4_s", 186}, {"vit_tiny", 1070},
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

// Layers with weights in the order of the file.
std::vector<const Tensor*> weights_in(const Graph& graph) {
  std::vector<const Tensor*> out;
  for (const Op& op : graph.ops) {
    if (op.weights != kNoTensor) out.push_back(&graph.weights_of(op));
  }
  return out;
}

// As many layers in each, so that the i-th of both are one slot of the SuperNet: RA is narrower than RC.
TEST(GenerateSubNets, WeightsAreAPrefixOfThoseOfAWiderOne) {
  const Graph narrow = network("ofa-resnet50/RA", 64), wide = network("ofa-resnet50/RC", 64);
  const auto few = weights_in(narrow), many = weights_in(wide);
  ASSERT_EQ(few.size(), many.size());
  std::size_t narrower = 0;
  for (std::size_t i = 0; i < few.size(); i++) {
    SCOPED_TRACE(few[i]->name);
    const int positions = few[i]->shape.size() == 4 ? few[i]->shape[1] * few[i]->shape[2] : 1;
    const int kernels = std::min(few[i]->shape[0], many[i]->shape[0]);
    const int a = few[i]->shape.back(), b = many[i]->shape.back(), channels = std::min(a, b);
    narrower += few[i]->shape != many[i]->shape ? 1 : 0;
    const auto &x = few[i]->data, &y = many[i]->data;
    for (int at = 0; at < kernels * positions; at++)
      ASSERT_TRUE(std::equal(x.begin() + at * a, x.begin() + at * a + channels, y.begin() + at * b)) << at;
  }
  EXPECT_GT(narrower, few.size() / 2);
}

std::string slot_text(const std::string& kernels) {
  return "ofa-mobilenetv3/22222:34343434343434343434:" + kernels;
}

// The weights of the layer that a slot is called by.
const Tensor& weights_of(const Graph& graph, const std::string& name) {
  for (const Op& op : graph.ops) {
    if (op.name == name) return graph.weights_of(op);
  }
  throw std::logic_error("no layer " + name);
}

// Depthwise kernels of different sizes are no crops of each other; those of one size are shared.
TEST(GenerateSubNets, KernelsOfEachSizeAreBytesOfTheirOwn) {
  const Graph seven = network(slot_text("7"), 32), five = network(slot_text("5"), 32);
  const Graph mixed = network(slot_text("73573573573573573573"), 32);
  EXPECT_EQ(weights_of(seven, "stage1.block1.depthwise7").data,
            weights_of(mixed, "stage1.block1.depthwise7").data);
  EXPECT_EQ(weights_of(seven, "stage1.block1.expand").data, weights_of(five, "stage1.block1.expand").data);
  const Tensor& large = weights_of(seven, "stage1.block1.depthwise7");
  const Tensor& small = weights_of(five, "stage1.block1.depthwise5");
  const int channels = small.shape[3];
  int equal = 0;
  for (int row = 0; row < 5; row++) {
    for (int at = 0; at < 5 * channels; at++)
      equal += small.int8_at(std::size_t(row * 5 * channels + at)) ==
                       large.int8_at(std::size_t(((row + 1) * 7 + 1) * channels + at))
                   ? 1
                   : 0;
  }
  EXPECT_LT(equal, 25 * channels / 20);  // by chance 1 in 100
}

TEST(GenerateSubNets, MobileNetsAreAsLargeAsTheirSubNets) {
  const supernet::Family family = supernet::family("ofa-mobilenetv3");
  for (const std::string text : {"22222:33333333333333333333:3", "44444:66666666666666666666:7",
                                 "23423:34643464346434643464:35735735735735735735"}) {
    SCOPED_TRACE(text);
    const supernet::Encoding encoding = supernet::encode(supernet::parse_mobilenet_v3(text));
    const Graph graph = network("ofa-mobilenetv3/" + text, 64);
    std::size_t bytes = 0;
    for (const Tensor* w : weights_in(graph)) bytes += w->data.size();
    EXPECT_EQ(std::int64_t(bytes), supernet::weight_bytes(family.net, encoding));
    EXPECT_EQ(std::int64_t(macs(graph)), supernet::macs(supernet::mobilenet_v3_supernet(64), encoding));
  }
}

// The sizes that sw/supernet counts are those of the model.
TEST(GenerateSubNets, ModelsAreAsLargeAsTheirSubNets) {
  const supernet::Family family = supernet::family("ofa-resnet50");
  for (const char* text : {"RA", "RF", "22222:222222:2222,2222,222222,2222"}) {
    SCOPED_TRACE(text);
    std::string choice = text;
    for (const supernet::SubNet& s : family.subnets) {
      if (s.name == text) choice = s.text;
    }
    const supernet::Encoding encoding = supernet::encode(supernet::parse_resnet50(choice));
    const Graph graph = network("ofa-resnet50/" + std::string(text), 64);
    std::size_t bytes = 0;
    for (const Tensor* w : weights_in(graph)) bytes += w->data.size();
    EXPECT_EQ(std::int64_t(bytes), supernet::weight_bytes(family.net, encoding));
    EXPECT_EQ(std::int64_t(macs(graph)), supernet::macs(supernet::resnet50_supernet(64), encoding));
  }
}

TEST(GenerateBadInput, IsNamed) {
  EXPECT_THROW(generate::make_network("ofa-resnet50/RX", 224, 1), InputError);
  EXPECT_THROW(generate::make_network("ofa-mobilenetv3/22225:33333333333333333333:3", 224, 1), InputError);
  EXPECT_THROW(generate::make_network("ofa-resnet50/RA", 224, 1, 50), InputError);
  EXPECT_THROW(generate::make_network("resnet19", 224, 1), InputError);
  EXPECT_THROW(generate::make_network("resnet18", generate::kSmallestSize - 1, 1), InputError);
  EXPECT_THROW(generate::make_network("resnet18", generate::kLargestSize + 1, 1), InputError);
  EXPECT_THROW(generate::make_network("resnet18", 32, 1, -1), InputError);
  EXPECT_THROW(generate::make_network("resnet18", 32, 1, generate::kMostZeros + 1), InputError);
}

}  // namespace
}  // namespace kaiten
