// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layers of volumes on the RTL, as 2-D operators on slices: every tensor and all counters by the session, and every layer's
// maps against the int8 3-D reference, which knows neither slices nor operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "run/session.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"
#include "volume/int8_reference.h"
#include "volume/slices.h"

namespace kaiten {
namespace {

using fft::Size;
using volume::Int8Maps;

// Scales of ranges that random weights and values roughly have; zero points of all kinds.
volume::Int8Network random_network(const volume::Network& network, std::mt19937_64& random) {
  const auto weights = volume::seeded_weights(network, random());
  std::vector<volume::Range> ranges{{-1, 0.25F * float(random() % 5)}};
  for (std::size_t i = 0; i < network.layers.size(); i++) ranges.push_back({0, 1.5F});
  return volume::quantized(network, weights, ranges);
}

int uniform(std::mt19937_64& random, int low, int high) {
  return low + int(random() % std::uint64_t(high - low + 1));
}

volume::Network network_of(int inputs, std::vector<volume::Layer> layers) {
  return {inputs, std::move(layers)};
}
volume::Layer conv(const Size& kernel, int maps) { return {true, kernel, maps, volume::Pooling::kAny}; }
volume::Layer pool(const Size& window) { return {false, window, 0, volume::Pooling::kAny}; }

// Weights that operators have, and operators whose weights are loaded: as many where all slices share them.
void expect_weights_once(const Graph& graph, const Program& program) {
  std::set<int> weights, loaded;
  for (const Op& op : graph.ops) {
    if (op.kind == OpKind::Conv2D) weights.insert(op.weights);
  }
  std::set<std::int64_t> offsets;
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const auto* l = std::get_if<LoadWeightsCommand>(&program.commands[i].body);
    if (l == nullptr) continue;
    loaded.insert(program.meta[i].op);
    EXPECT_TRUE(offsets.insert(l->offset).second) << "loaded again";
  }
  EXPECT_EQ(loaded.size(), weights.size());
}

void run(const std::string& name, const volume::Network& network, const Size& size, bool fragments,
         int images = 1) {
  std::mt19937_64 random(test::seed() + network.layers.size());
  const Config& config = preset(name);
  const volume::Int8Network q = random_network(network, random);
  const auto made =
      volume::slice_graph(q, {0, network.layers.size(), size, fragments, true, {config.kp, config.cp}});
  std::vector<Int8Maps> volumes;
  std::vector<Int8Values> inputs;
  for (int image = 0; image < images; image++) {
    Int8Maps& v = volumes.emplace_back(network.inputs, size);
    for (auto& x : v.values) x = std::int8_t(random());
    for (const auto& t : made.inputs)
      inputs.push_back(volume::slice_values(t, v.values, size, q.maps.front().zero_point));
  }
  const auto device = test::make_device(name, test::seed());
  CompileOptions options;
  options.images = images;
  test::Session session(*device, made.graph, config, options);
  expect_weights_once(made.graph, session.program());
  const auto result = session.run(inputs);
  ASSERT_EQ(result.outputs.size(), made.outputs.size() * std::size_t(images));
  for (int image = 0; image < images; image++) {
    const auto output = [&](std::size_t i) {
      return std::span<const std::int8_t>(result.outputs[std::size_t(image) * made.outputs.size() + i]);
    };
    Int8Maps maps = volumes[std::size_t(image)];
    std::size_t at = 0, compared = 0;
    for (std::size_t i = 0; i < network.layers.size(); i++) {
      const volume::Layer& l = network.layers[i];
      if (l.convolution) {
        maps = volume::reference_convolution(q, i, maps);
        const bool shown = at < made.shown || i + 1 == network.layers.size();
        if (!shown) continue;
        const auto& t = made.outputs[at];
        ASSERT_EQ(t.slices, maps.size.depth);
        EXPECT_EQ(volume::maps_of_slices(t, output(at), 0, 1, t.slices), maps) << "layer " << i;
        at++, compared++;
        continue;
      }
      const Size w = l.window;
      for (int o = 0; o < (fragments ? int(w.elements()) : 1); o++) {
        const Size offset{o / (w.height * w.width), o / w.width % w.height, o % w.width};
        const Int8Maps wanted = volume::reference_pooling(maps, w, offset);
        const auto in_plane = at + std::size_t(o % (w.height * w.width));
        EXPECT_EQ(volume::maps_of_slices(made.outputs[in_plane], output(in_plane), offset.depth, w.depth,
                                         wanted.size.depth),
                  wanted)
            << "offset " << o;
        compared++;
      }
    }
    EXPECT_GE(compared, network.layers.size());
  }
}

TEST(Volume, ALayerOfWholeWords) { run("nano", network_of(8, {conv({3, 3, 3}, 8)}), {5, 6, 7}, true); }

// Ten maps in tiles of four: groups of two slices, five tiles, a gap behind each slice's maps.
TEST(Volume, ALayerWithGaps) {
  run("nano", network_of(4, {conv({2, 3, 1}, 10), conv({2, 2, 2}, 3)}), {6, 5, 6}, true);
}

TEST(Volume, OneMapAndPooling) {
  run("nano", network_of(1, {conv({2, 2, 2}, 5), pool({2, 2, 2})}), {6, 6, 6}, false);
  run("nano", network_of(1, {conv({2, 2, 2}, 5), conv({3, 1, 2}, 4), pool({2, 2, 2})}), {8, 6, 7}, true);
  run("nano", network_of(3, {pool({3, 1, 2})}), {7, 3, 5}, true);
}

TEST(Volume, Batches) {
  run("unit", network_of(4, {conv({3, 3, 3}, 12), conv({1, 2, 2}, 4)}), {5, 5, 5}, true, 3);
}

// Twenty maps in tiles of 32: groups of three slices.
TEST(Volume, Base) { run("base", network_of(16, {conv({3, 3, 3}, 20), pool({2, 2, 2})}), {7, 9, 9}, true); }

// Weights that stay from run to run, and compressed ones, are shared too.
TEST(Volume, KeptAndCompressedWeights) {
  std::mt19937_64 random(test::seed());
  const volume::Network network = network_of(8, {conv({3, 3, 3}, 8), conv({2, 2, 2}, 8)});
  const volume::Int8Network q = random_network(network, random);
  for (const bool keep : {true, false}) {
    SessionOptions options;
    options.config = "unit";
    options.keep_weights = keep;
    options.compress = keep ? Compress::kOff : Compress::kOn;
    const Size size{6, 6, 7};
    const auto made =
        volume::slice_graph(q, {0, 2, size, true, false, {preset("unit").kp, preset("unit").cp}});
    kaiten::Session session(made.graph, options);
    std::uint64_t weights = 0;
    for (int i = 0; i < 2; i++) {
      Int8Maps v(8, size);
      for (auto& x : v.values) x = std::int8_t(random());
      const RunResult result = session.run(std::vector<Int8Values>{
          volume::slice_values(made.inputs[0], v.values, size, q.maps[0].zero_point)});
      EXPECT_TRUE(result.report.exact.value_or(false)) << result.report.difference;
      const auto& t = made.outputs[0];
      EXPECT_EQ(volume::maps_of_slices(t, result.outputs[0], 0, 1, t.slices),
                volume::reference_convolution(q, 1, volume::reference_convolution(q, 0, v)));
      if (keep && i > 0) {
        EXPECT_EQ(result.report.bytes.weights, 0U);
        EXPECT_GT(weights, 0U);
      }
      weights = result.report.bytes.weights;
    }
  }
}

TEST(Volume, RandomLayers) {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 6; i++) {
    const auto window = [&](int most) {
      return Size{uniform(random, 1, most), uniform(random, 1, most), uniform(random, 1, most)};
    };
    std::vector<volume::Layer> layers{conv(window(3), uniform(random, 1, 12))};
    if (uniform(random, 0, 1) == 1) layers.push_back(conv(window(2), uniform(random, 1, 9)));
    if (uniform(random, 0, 1) == 1) layers.push_back(pool(window(2)));
    const volume::Network network = network_of(uniform(random, 1, 9), layers);
    const Size view = network.field_of_view();
    const Size size{view.depth + uniform(random, 0, 4), view.height + uniform(random, 0, 4),
                    view.width + uniform(random, 0, 5)};
    SCOPED_TRACE(std::to_string(i) + ": " + size.text());
    run(i % 2 == 0 ? "nano" : "unit", network, size, uniform(random, 0, 1) == 1);
  }
}

}  // namespace
}  // namespace kaiten
