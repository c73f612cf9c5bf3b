// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "generate/subnets.h"

#include <stdexcept>
#include <string>

#include "generate/networks.h"
#include "supernet/choice.h"
#include "supernet/families.h"

namespace kaiten::generate {
namespace {

constexpr int kClasses = 1000;

// Slots of a SuperNet by their names.
class Slots {
 public:
  explicit Slots(supernet::SuperNet net) : net_(std::move(net)) {}

  // A convolution with the weights and the name of a slot.
  ConvShape of(const std::string& name, ConvShape shape) const {
    shape.slot = at(name);
    shape.name = name;
    return shape;
  }
  int at(const std::string& name) const {
    for (std::size_t i = 0; i < net_.slots.size(); i++) {
      if (net_.slots[i].name == name) return int(i);
    }
    throw std::logic_error("no slot " + name);
  }

 private:
  supernet::SuperNet net_;
};

std::string block_name(std::size_t stage, int block) {
  return "stage" + std::to_string(stage + 1) + ".block" + std::to_string(block + 1) + ".";
}

int build(RandomNetwork& n, const supernet::ResNet50& c) {
  const Slots slots(supernet::resnet50_supernet(kSmallestSize));  // slots do not depend on the size
  int x = n.conv(n.image(), slots.of("stem.conv1", {.channels = c.stem_middle(), .kernel = 3, .stride = 2}));
  if (c.depth[0] != 0) {
    const int y = n.conv(x, slots.of("stem.conv2", {.channels = c.stem_middle(), .kernel = 3, .add_to = x}));
    x = n.add(y, x);
  }
  x = n.conv(x, slots.of("stem.conv3", {.channels = c.stem_out(), .kernel = 3}));
  x = n.max_pool(x, 3, 2);
  for (std::size_t stage = 0; stage < 4; stage++) {
    const int out = c.stage_out(stage);
    for (int block = 0; block < c.blocks(stage); block++) {
      const std::string name = block_name(stage, block);
      const int stride = stage > 0 && block == 0 ? 2 : 1;
      const int middle = c.middle(stage, std::size_t(block));
      int shortcut = x;
      if (block == 0) {
        if (stride == 2) shortcut = n.average_pool(x, 2, 2);
        shortcut = n.conv(shortcut, slots.of(name + "shortcut", {.channels = out, .relu = false}));
      }
      int y = n.conv(x, slots.of(name + "conv1", {.channels = middle}));
      y = n.conv(y, slots.of(name + "conv2", {.channels = middle, .kernel = 3, .stride = stride}));
      y = n.conv(y, slots.of(name + "conv3", {.channels = out, .relu = false, .add_to = shortcut}));
      x = n.add(y, shortcut);
    }
  }
  return n.softmax(n.fully_connected(n.mean(x), kClasses, false, slots.at("classifier"), "classifier"));
}

// A convolution and ReLU, or hard-swish.
int activated(RandomNetwork& n, int x, bool swish, bool depthwise, ConvShape shape) {
  shape.relu = !swish;
  const int y = depthwise ? n.depthwise(x, shape) : n.conv(x, shape);
  return swish ? n.hard_swish(y) : y;
}

// Howard et al., "Searching for MobileNetV3", section 5.1: the factors of a map's channels from their means.
int squeeze_and_excite(RandomNetwork& n, const Slots& slots, int x, const std::string& name) {
  const int channels = n.channels(x);
  int factors = n.mean(x);
  factors =
      n.conv(factors, slots.of(name + "squeeze", {.channels = supernet::rounded_channels(channels / 4.0)}));
  factors = n.conv(factors, slots.of(name + "excite", {.channels = channels, .relu = false, .gate = true}));
  return n.multiply(x, factors);
}

int build(RandomNetwork& n, const supernet::MobileNetV3& c) {
  using supernet::MobileNetV3;
  constexpr std::size_t kFirstSwish = 2;  // stage from which on activations are hard-swish
  const Slots slots(supernet::mobilenet_v3_supernet(kSmallestSize));
  int x =
      activated(n, n.image(), true, false, slots.of("stem.conv", {.channels = 16, .kernel = 3, .stride = 2}));
  int y = n.depthwise(x, slots.of("stem.depthwise", {.kernel = 3}));
  y = n.conv(y, slots.of("stem.project", {.channels = 16, .relu = false, .add_to = x}));
  x = n.add(y, x, false);
  for (std::size_t stage = 0; stage < MobileNetV3::kStages; stage++) {
    const bool swish = stage >= kFirstSwish;
    for (int block = 0; block < c.depth[stage]; block++) {
      const std::string name = block_name(stage, block);
      const auto b = std::size_t(block);
      const int stride = block == 0 ? MobileNetV3::kStride[stage] : 1;
      const int middle = supernet::rounded_channels(n.channels(x) * c.expand[stage][b]);
      const int kernel = c.kernel[stage][b];
      y = activated(n, x, swish, false, slots.of(name + "expand", {.channels = middle}));
      y = activated(
          n, y, swish, true,
          slots.of(name + "depthwise" + std::to_string(kernel), {.kernel = kernel, .stride = stride}));
      if (MobileNetV3::kSqueeze[stage]) y = squeeze_and_excite(n, slots, y, name);
      const bool residual = block > 0;  // the first block of a stage is wider, or halves the map
      y = n.conv(
          y, slots.of(name + "project",
                      {.channels = MobileNetV3::kWidth[stage], .relu = false, .add_to = residual ? x : -1}));
      x = residual ? n.add(y, x, false) : y;
    }
  }
  x = n.mean(activated(n, x, true, false, slots.of("head.expand", {.channels = 960})));
  x = activated(n, x, true, false, slots.of("head.features", {.channels = 1280}));
  return n.fully_connected(x, kClasses, false, slots.at("classifier"), "classifier");
}

constexpr std::string_view kResNet50 = "ofa-resnet50";
constexpr std::string_view kMobileNetV3 = "ofa-mobilenetv3";

// "RA" of a family, or the choice in full.
std::string choice_of(std::string_view family, std::string_view name) {
  for (const supernet::SubNet& s : supernet::family(family).subnets) {
    if (s.name == name) return s.text;
  }
  return std::string(name);
}

}  // namespace

bool is_subnet(std::string_view name) {
  return name.starts_with(std::string(kResNet50) + "/") || name.starts_with(std::string(kMobileNetV3) + "/");
}

std::function<int(RandomNetwork&)> subnet(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::string_view family = name.substr(0, slash);
  const std::string text = choice_of(family, name.substr(slash + 1));
  if (family == kResNet50)
    return [c = supernet::parse_resnet50(text)](RandomNetwork& n) { return build(n, c); };
  return [c = supernet::parse_mobilenet_v3(text)](RandomNetwork& n) { return build(n, c); };
}

}  // namespace kaiten::generate
