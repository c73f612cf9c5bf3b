// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "supernet/choice.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "base/error.h"

namespace kaiten::supernet {

namespace {

constexpr int kClasses = 1000;
constexpr std::array<double, 3> kWidths = {0.65, 0.8, 1.0};
constexpr std::array<double, 3> kExpands = {0.2, 0.25, 0.35};

std::string block_name(std::size_t stage, std::size_t block) {
  return "stage" + std::to_string(stage + 1) + ".block" + std::to_string(block + 1) + ".";
}

// Builds slots and the encodings of SubNets by one walk, so that they cannot disagree: a walk names every slot of the
// SuperNet in order, with what a SubNet has of it.
class Walk {
 public:
  explicit Walk(int image) : side_(image) {}

  void halve() { side_ = ceil_div(side_, 2); }
  void conv(const std::string& name, int kernel, Extent extent) { add(name, kernel, side_, extent); }
  void depthwise(const std::string& name, int kernel, int channels) {
    add(name, kernel, side_, {channels, channels > 0 ? 1 : 0});
    slots_.back().depthwise = true;
  }
  void vector(const std::string& name, Extent extent) { add(name, 1, 1, extent); }
  void classifier(int channels) {
    vector("classifier", {kClasses, channels});
    slots_.back().classifier = true;
  }
  SuperNet net(const std::string& name, int image) { return {name, image, slots_}; }
  Encoding encoding() const {
    Encoding out;
    for (const Slot& slot : slots_) out.push_back(slot.most);
    return out;
  }

 private:
  void add(const std::string& name, int kernel, int side, Extent extent) {
    if (extent.kernels == 0 || extent.channels == 0) extent = {};
    slots_.push_back({name, kernel, std::int64_t(side) * side, false, false, extent});
  }

  int side_;
  std::vector<Slot> slots_;
};

Walk walk(const ResNet50& c, int image) {
  Walk w(image);
  w.halve();
  w.conv("stem.conv1", 3, {c.stem_middle(), 3});
  const int residual = c.depth[0] != 0 ? c.stem_middle() : 0;
  w.conv("stem.conv2", 3, {residual, residual});
  w.conv("stem.conv3", 3, {c.stem_out(), c.stem_middle()});
  w.halve();
  int in = c.stem_out();
  for (std::size_t stage = 0; stage < 4; stage++) {
    const int out = c.stage_out(stage);
    for (std::size_t block = 0; block < std::size_t(ResNet50::kSlots[stage]); block++) {
      const bool exists = int(block) < c.blocks(stage);
      const int middle = exists ? c.middle(stage, block) : 0;
      const std::string name = block_name(stage, block);
      w.conv(name + "conv1", 1, {middle, in});
      if (stage > 0 && block == 0) w.halve();
      w.conv(name + "conv2", 3, {middle, middle});
      w.conv(name + "conv3", 1, {exists ? out : 0, middle});
      if (block == 0) w.conv(name + "shortcut", 1, {out, in});
      in = out;
    }
  }
  w.classifier(in);
  return w;
}

Walk walk(const MobileNetV3& c, int image) {
  Walk w(image);
  w.halve();
  w.conv("stem.conv", 3, {16, 3});
  w.depthwise("stem.depthwise", 3, 16);
  w.conv("stem.project", 1, {16, 16});
  int in = 16;
  for (std::size_t stage = 0; stage < MobileNetV3::kStages; stage++) {
    for (std::size_t block = 0; block < 4; block++) {
      const bool exists = int(block) < c.depth[stage];
      const int middle = exists ? rounded_channels(double(in * c.expand[stage][block])) : 0;
      const std::string name = block_name(stage, block);
      w.conv(name + "expand", 1, {middle, in});
      if (block == 0 && MobileNetV3::kStride[stage] == 2) w.halve();
      for (const int kernel : {3, 5, 7})
        w.depthwise(name + "depthwise" + std::to_string(kernel), kernel,
                    c.kernel[stage][block] == kernel ? middle : 0);
      if (MobileNetV3::kSqueeze[stage]) {
        const int reduced = exists ? rounded_channels(middle / 4.0) : 0;
        w.vector(name + "squeeze", {reduced, middle});
        w.vector(name + "excite", {middle, reduced});
      }
      w.conv(name + "project", 1, {exists ? MobileNetV3::kWidth[stage] : 0, middle});
      in = MobileNetV3::kWidth[stage];
    }
  }
  w.conv("head.expand", 1, {960, in});
  w.vector("head.features", {1280, 960});
  w.classifier(1280);
  return w;
}

[[noreturn]] void fail(std::string_view text, const std::string& what) {
  throw InputError("SubNet '" + std::string(text) + "': " + what);
}

std::vector<std::string_view> fields(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// One digit of `allowed`, as its value.
int digit(std::string_view text, std::string_view field, std::size_t at, std::string_view name,
          std::string_view allowed) {
  if (allowed.find(field[at]) == std::string_view::npos) {
    fail(text, "character " + std::to_string(at + 1) + " of " + std::string(name) + ": limit: one of " +
                   std::string(allowed) + ", found '" + field[at] + "'");
  }
  return field[at] - '0';
}

std::string_view sized(std::string_view text, std::string_view field, std::string_view name,
                       std::size_t size) {
  if (field.size() != size) {
    fail(text, std::string(name) + ": limit: " + std::to_string(size) + " characters, found " +
                   std::to_string(field.size()));
  }
  return field;
}

}  // namespace

int ResNet50::stem_middle() const { return rounded_channels(32 * kWidths[std::size_t(width[0])]); }
int ResNet50::stem_out() const { return rounded_channels(64 * kWidths[std::size_t(width[1])]); }
int ResNet50::stage_out(std::size_t stage) const {
  return rounded_channels((256 << stage) * kWidths[std::size_t(width[2 + stage])]);
}
int ResNet50::middle(std::size_t stage, std::size_t block) const {
  return rounded_channels(stage_out(stage) * kExpands[std::size_t(expand[stage][block])]);
}

SuperNet resnet50_supernet(int image) {
  ResNet50 most{.depth = {2, 2, 2, 2, 2}, .width = {2, 2, 2, 2, 2, 2}};
  for (auto& stage : most.expand) stage.fill(2);
  return walk(most, image).net("ofa-resnet50", image);
}

SuperNet mobilenet_v3_supernet(int image) {
  MobileNetV3 most{.depth = {4, 4, 4, 4, 4}};
  for (auto& stage : most.expand) stage.fill(6);
  SuperNet net;
  for (const int kernel : {3, 5, 7}) {  // the slots of the three sizes
    for (auto& stage : most.kernel) stage.fill(kernel);
    const SuperNet one = walk(most, image).net("ofa-mobilenetv3", image);
    if (net.slots.empty()) net = one;
    for (std::size_t i = 0; i < net.slots.size(); i++)
      net.slots[i].most = std::max(net.slots[i].most, one.slots[i].most);
  }
  return net;
}

Encoding encode(const ResNet50& choice) { return walk(choice, 1).encoding(); }
Encoding encode(const MobileNetV3& choice) { return walk(choice, 1).encoding(); }

ResNet50 parse_resnet50(std::string_view text) {
  const std::vector<std::string_view> parts = fields(text, ':');
  if (parts.size() != 3)
    fail(text, "limit: DEPTH:WIDTH:EXPAND, found " + std::to_string(parts.size()) + " fields");
  ResNet50 c;
  sized(text, parts[0], "depth", c.depth.size());
  for (std::size_t i = 0; i < c.depth.size(); i++)
    c.depth[i] = digit(text, parts[0], i, "depth", i == 0 ? "02" : "012");
  sized(text, parts[1], "width", c.width.size());
  for (std::size_t i = 0; i < c.width.size(); i++) c.width[i] = digit(text, parts[1], i, "width", "012");
  const std::vector<std::string_view> stages = fields(parts[2], ',');
  if (stages.size() != 4) fail(text, "expand: limit: 4 stages, found " + std::to_string(stages.size()));
  for (std::size_t stage = 0; stage < 4; stage++) {
    const std::string name = "expand of stage " + std::to_string(stage + 1);
    sized(text, stages[stage], name, std::size_t(ResNet50::kSlots[stage]));
    for (std::size_t block = 0; block < stages[stage].size(); block++) {
      const bool exists = int(block) < c.blocks(stage);
      const int value = digit(text, stages[stage], block, name, exists ? "012" : "012-");
      c.expand[stage][block] = exists ? value : 0;
    }
  }
  return c;
}

MobileNetV3 parse_mobilenet_v3(std::string_view text) {
  const std::vector<std::string_view> parts = fields(text, ':');
  if (parts.size() != 3)
    fail(text, "limit: DEPTH:EXPAND:KERNELS, found " + std::to_string(parts.size()) + " fields");
  MobileNetV3 c;
  sized(text, parts[0], "depth", c.depth.size());
  for (std::size_t i = 0; i < c.depth.size(); i++) c.depth[i] = digit(text, parts[0], i, "depth", "234");
  sized(text, parts[1], "expand", 20);
  if (parts[2].size() != 1) sized(text, parts[2], "kernels", 20);
  for (std::size_t i = 0; i < 20; i++) {
    c.expand[i / 4][i % 4] = digit(text, parts[1], i, "expand", "346");
    c.kernel[i / 4][i % 4] = digit(text, parts[2], parts[2].size() == 1 ? 0 : i, "kernels", "357");
  }
  return c;
}

std::vector<MobileNetV3> compofa(int kernel) {
  constexpr std::array<int, 3> kExpand = {3, 4, 6};
  std::vector<MobileNetV3> all;
  for (int n = 0; n < 243; n++) {
    MobileNetV3 c;
    for (std::size_t stage = 0, rest = std::size_t(n); stage < MobileNetV3::kStages; stage++, rest /= 3) {
      c.depth[stage] = 2 + int(rest % 3);
      c.expand[stage].fill(kExpand[rest % 3]);
      c.kernel[stage].fill(kernel);
    }
    all.push_back(c);
  }
  return all;
}

}  // namespace kaiten::supernet
