// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "generate/networks.h"

#include <array>
#include <functional>

#include "base/error.h"
#include "generate/random_network.h"
#include "generate/subnets.h"
#include "generate/transformer.h"

namespace kaiten::generate {
namespace {

constexpr int kClasses = 1000;

// Global average, one value a class, softmax.
int classify(RandomNetwork& n, int x) { return n.softmax(n.fully_connected(n.mean(x), kClasses, false)); }

// He et al., "Deep Residual Learning for Image Recognition", table 1; the stride of a bottleneck stands in
// its 3x3 convolution, as in the networks people have.
int resnet(RandomNetwork& n, std::array<int, 4> blocks, bool bottleneck) {
  int x = n.conv(n.image(), {.channels = 64, .kernel = 7, .stride = 2});
  x = n.max_pool(x, 3, 2);
  for (size_t stage = 0; stage < blocks.size(); stage++) {
    const int width = 64 << stage;
    const int out = bottleneck ? 4 * width : width;
    for (int block = 0; block < blocks[stage]; block++) {
      const int stride = stage > 0 && block == 0 ? 2 : 1;
      const bool same_shape = block > 0 || (stage == 0 && !bottleneck);
      const int shortcut = same_shape ? x : n.conv(x, {.channels = out, .stride = stride, .relu = false});
      int y = x;
      if (bottleneck) {
        y = n.conv(y, {.channels = width});
        y = n.conv(y, {.channels = width, .kernel = 3, .stride = stride});
        y = n.conv(y, {.channels = out, .relu = false, .add_to = shortcut});
      } else {
        y = n.conv(y, {.channels = width, .kernel = 3, .stride = stride});
        y = n.conv(y, {.channels = out, .kernel = 3, .relu = false, .add_to = shortcut});
      }
      x = n.add(y, shortcut);
    }
  }
  return classify(n, x);
}

// Simonyan and Zisserman, "Very Deep Convolutional Networks", configuration E.
int vgg19(RandomNetwork& n) {
  int x = n.image();
  constexpr std::array<std::array<int, 2>, 5> kStages = {{{64, 2}, {128, 2}, {256, 4}, {512, 4}, {512, 4}}};
  for (const auto& [channels, layers] : kStages) {
    for (int i = 0; i < layers; i++) x = n.conv(x, {.channels = channels, .kernel = 3});
    x = n.max_pool(x, 2, 2);
  }
  x = n.fully_connected(x, 4096, true);
  x = n.fully_connected(x, 4096, true);
  return n.softmax(n.fully_connected(x, kClasses, false));
}

// Iandola et al., "SqueezeNet", version 1.1.
int squeezenet(RandomNetwork& n) {
  int x = n.conv(n.image(), {.channels = 64, .kernel = 3, .stride = 2, .same = false});
  x = n.max_pool(x, 3, 2);
  const auto fire = [&](int squeeze, int expand) {
    const int s = n.conv(x, {.channels = squeeze});
    const float scale = n.shared_scale();
    const int one = n.conv(s, {.channels = expand, .out_scale = scale});
    const int three = n.conv(s, {.channels = expand, .kernel = 3, .out_scale = scale});
    x = n.concat({one, three});
  };
  fire(16, 64);
  fire(16, 64);
  x = n.max_pool(x, 3, 2);
  fire(32, 128);
  fire(32, 128);
  x = n.max_pool(x, 3, 2);
  fire(48, 192);
  fire(48, 192);
  fire(64, 256);
  fire(64, 256);
  return n.softmax(n.mean(n.conv(x, {.channels = kClasses})));
}

// Szegedy et al., "Going Deeper with Convolutions", table 1.
int googlenet(RandomNetwork& n) {
  int x = n.conv(n.image(), {.channels = 64, .kernel = 7, .stride = 2});
  x = n.max_pool(x, 3, 2);
  x = n.conv(x, {.channels = 64});
  x = n.conv(x, {.channels = 192, .kernel = 3});
  x = n.max_pool(x, 3, 2);
  const auto inception = [&](int one, int reduce3, int three, int reduce5, int five, int pool) {
    const float scale = n.shared_scale();
    const int a = n.conv(x, {.channels = one, .out_scale = scale});
    const int b =
        n.conv(n.conv(x, {.channels = reduce3}), {.channels = three, .kernel = 3, .out_scale = scale});
    const int c =
        n.conv(n.conv(x, {.channels = reduce5}), {.channels = five, .kernel = 5, .out_scale = scale});
    const int d = n.conv(n.max_pool(x, 3, 1), {.channels = pool, .out_scale = scale});
    x = n.concat({a, b, c, d});
  };
  inception(64, 96, 128, 16, 32, 32);
  inception(128, 128, 192, 32, 96, 64);
  x = n.max_pool(x, 3, 2);
  inception(192, 96, 208, 16, 48, 64);
  inception(160, 112, 224, 24, 64, 64);
  inception(128, 128, 256, 24, 64, 64);
  inception(112, 144, 288, 32, 64, 64);
  inception(256, 160, 320, 32, 128, 128);
  x = n.max_pool(x, 3, 2);
  inception(256, 160, 320, 32, 128, 128);
  inception(384, 192, 384, 48, 128, 128);
  return classify(n, x);
}

// Howard et al., "MobileNets", table 1.
int mobilenet_v1(RandomNetwork& n) {
  int x = n.conv(n.image(), {.channels = 32, .kernel = 3, .stride = 2});
  constexpr std::array<std::array<int, 2>, 13> kLayers = {{{64, 1},
                                                           {128, 2},
                                                           {128, 1},
                                                           {256, 2},
                                                           {256, 1},
                                                           {512, 2},
                                                           {512, 1},
                                                           {512, 1},
                                                           {512, 1},
                                                           {512, 1},
                                                           {512, 1},
                                                           {1024, 2},
                                                           {1024, 1}}};
  for (const auto& [channels, stride] : kLayers)
    x = n.conv(n.depthwise(x, {.kernel = 3, .stride = stride}), {.channels = channels});
  return classify(n, x);
}

// Zhang et al., "ShuffleNet", four groups and the channels of ONNX's topology of that name: the first unit of
// a stage halves the map and concatenates its result with the map's average.
int shufflenet(RandomNetwork& n) {
  constexpr int kGroups = 4;
  struct Stage {
    int first;  // channels between the convolutions of the first unit
    int channels;
    int units;
  };
  int x = n.conv(n.image(), {.channels = 24, .kernel = 3, .stride = 2});
  x = n.max_pool(x, 3, 2);
  int channels = 24;
  for (const Stage& stage : {Stage{112, 136, 4}, Stage{136, 272, 8}, Stage{272, 544, 4}}) {
    for (int unit = 0; unit < stage.units; unit++) {
      const int between = unit == 0 ? stage.first : stage.channels;
      int y = n.conv(x, {.channels = between, .groups = kGroups});
      y = n.depthwise(n.channel_shuffle(y, kGroups),
                      {.kernel = 3, .stride = unit == 0 ? 2 : 1, .relu = false});
      if (unit == 0) {
        const int made = stage.channels - channels;
        y = n.conv(y, {.channels = made, .groups = kGroups, .out_scale = n.scale_of(x)});
        x = n.concat({y, n.average_pool(x, 3, 2)});
      } else {
        y = n.conv(y, {.channels = stage.channels, .groups = kGroups, .relu = false, .add_to = x});
        x = n.add(y, x);
      }
    }
    channels = stage.channels;
  }
  return classify(n, x);
}

// Tan and Le, "EfficientNet", table 1, as the Lite0 variant has it: no squeeze-and-excitation, ReLU instead of swish.
int efficientnet_lite0(RandomNetwork& n) {
  struct Stage {
    int expand, channels, blocks, kernel, stride;
  };
  int x = n.conv(n.image(), {.channels = 32, .kernel = 3, .stride = 2});
  for (const Stage& stage :
       {Stage{1, 16, 1, 3, 1}, Stage{6, 24, 2, 3, 2}, Stage{6, 40, 2, 5, 2}, Stage{6, 80, 3, 3, 2},
        Stage{6, 112, 3, 5, 1}, Stage{6, 192, 4, 5, 2}, Stage{6, 320, 1, 3, 1}}) {
    for (int block = 0; block < stage.blocks; block++) {
      const bool residual = block > 0;  // the first block of a stage is wider, or halves the map
      int y = x;
      if (stage.expand > 1) y = n.conv(y, {.channels = n.channels(x) * stage.expand});
      y = n.depthwise(y, {.kernel = stage.kernel, .stride = residual ? 1 : stage.stride});
      y = n.conv(y, {.channels = stage.channels, .relu = false, .add_to = residual ? x : -1});
      x = residual ? n.add(y, x, false) : y;
    }
  }
  return classify(n, n.conv(x, {.channels = 1280}));
}

// A universal inverted bottleneck (Qin et al., "MobileNetV4", section 3): a depthwise convolution in front of the
// expansion, one behind it, either or both; 0 where there is none.
struct UniversalBlock {
  int start, middle, channels, expand;
  int stride = 1;
};

int universal_block(RandomNetwork& n, int x, const UniversalBlock& b) {
  const bool residual = b.stride == 1 && n.channels(x) == b.channels;
  int y = x;
  if (b.start != 0)
    y = n.depthwise(y, {.kernel = b.start, .stride = b.middle != 0 ? 1 : b.stride, .relu = false});
  y = n.conv(y, {.channels = n.channels(x) * b.expand});
  if (b.middle != 0) y = n.depthwise(y, {.kernel = b.middle, .stride = b.stride});
  y = n.conv(y, {.channels = b.channels, .relu = false, .add_to = residual ? x : -1});
  return residual ? n.add(y, x, false) : y;
}

// The same, MNv4-Conv-S.
int mobilenet_v4_s(RandomNetwork& n) {
  int x = n.conv(n.image(), {.channels = 32, .kernel = 3, .stride = 2});
  x = n.conv(n.conv(x, {.channels = 32, .kernel = 3, .stride = 2}), {.channels = 32});
  x = n.conv(n.conv(x, {.channels = 96, .kernel = 3, .stride = 2}), {.channels = 64});
  for (const UniversalBlock& block :
       {UniversalBlock{5, 5, 96, 3, 2}, UniversalBlock{0, 3, 96, 2}, UniversalBlock{0, 3, 96, 2},
        UniversalBlock{0, 3, 96, 2}, UniversalBlock{0, 3, 96, 2}, UniversalBlock{3, 0, 96, 4},
        UniversalBlock{3, 3, 128, 6, 2}, UniversalBlock{5, 5, 128, 4}, UniversalBlock{0, 5, 128, 4},
        UniversalBlock{0, 5, 128, 3}, UniversalBlock{0, 3, 128, 4}, UniversalBlock{0, 3, 128, 4}})
    x = universal_block(n, x, block);
  x = n.mean(n.conv(x, {.channels = 960}));
  return n.softmax(n.fully_connected(n.fully_connected(x, 1280, true), kClasses, false));
}

// First layers alone: a kernel of this size on an image of three channels.
int stem(RandomNetwork& n, int channels, int kernel, int stride, bool same) {
  return n.conv(n.image(), {.channels = channels, .kernel = kernel, .stride = stride, .same = same});
}

struct Entry {
  std::string_view name;
  std::function<int(RandomNetwork&)> build;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> list = {
      {"resnet18",
       [](RandomNetwork& n) {
         return resnet(n, {2, 2, 2, 2}, false);
       }},
      {"resnet34",
       [](RandomNetwork& n) {
         return resnet(n, {3, 4, 6, 3}, false);
       }},
      {"resnet50",
       [](RandomNetwork& n) {
         return resnet(n, {3, 4, 6, 3}, true);
       }},
      {"resnet101",
       [](RandomNetwork& n) {
         return resnet(n, {3, 4, 23, 3}, true);
       }},
      {"resnet152",
       [](RandomNetwork& n) {
         return resnet(n, {3, 8, 36, 3}, true);
       }},
      {"squeezenet", squeezenet},
      {"googlenet", googlenet},
      {"vgg19", vgg19},
      {"mobilenet_v1", mobilenet_v1},
      {"shufflenet", shufflenet},
      {"efficientnet_lite0", efficientnet_lite0},
      {"mobilenet_v4_s", mobilenet_v4_s},
      {"vit_tiny", [](RandomNetwork& n) { return vision_transformer(n, {}); }},
      {"stem_3x3", [](RandomNetwork& n) { return stem(n, 32, 3, 2, true); }},
      {"stem_7x7", [](RandomNetwork& n) { return stem(n, 64, 7, 2, true); }},
      {"stem_11x11", [](RandomNetwork& n) { return stem(n, 96, 11, 4, false); }},
  };
  return list;
}

}  // namespace

std::vector<std::string_view> network_names() {
  std::vector<std::string_view> names;
  for (const Entry& e : entries()) names.push_back(e.name);
  return names;
}

std::vector<uint8_t> make_network(std::string_view name, int size, uint64_t seed, int zeros) {
  if (size < kSmallestSize || size > kLargestSize) {
    throw InputError("size: limit: " + std::to_string(kSmallestSize) + " to " + std::to_string(kLargestSize) +
                     ", found: " + std::to_string(size));
  }
  if (zeros < 0 || zeros > kMostZeros)
    throw InputError("zeros: limit: 0 to " + std::to_string(kMostZeros) +
                     " %, found: " + std::to_string(zeros));
  std::vector<Entry> known_entries = entries();
  if (is_subnet(name)) {
    if (zeros > 0) throw InputError("zeros: limit: 0 for SubNets, found: " + std::to_string(zeros));
    known_entries = {{name, subnet(name)}};
  }
  for (const Entry& e : known_entries) {
    if (e.name != name) continue;
    RandomNetwork n(size, seed, zeros);
    const int out = e.build(n);
    return n.file(out, std::string(name) + ", random weights of seed " + std::to_string(seed) +
                           (zeros > 0 ? ", " + std::to_string(zeros) + " % zero" : ""));
  }
  std::string known;
  for (const Entry& e : entries()) known += (known.empty() ? "" : ", ") + std::string(e.name);
  throw InputError("no network '" + std::string(name) + "' (known: " + known + ")");
}

}  // namespace kaiten::generate
