// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Every case of the functional cover table's windows (tests/system/cover.h): convolution, depthwise and pooling by kernel,
// stride, padding and what is left of the channels in the last group; one layer each, one after the other on one device,
// every element compared.

#include <gtest/gtest.h>

#include <string>

#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

struct Case {
  OpKind kind;
  int kernel_h, kernel_w, stride;
  Padding pad;
  int in, out;  // channels

  std::string text() const {
    return std::string(name_of(kind)) + ", kernel " + std::to_string(kernel_h) + "x" +
           std::to_string(kernel_w) + ", stride " + std::to_string(stride) + ", padding " +
           std::to_string(pad.top) + " " + std::to_string(pad.bottom) + " " + std::to_string(pad.left) + " " +
           std::to_string(pad.right) + ", channels " + std::to_string(in) + " to " + std::to_string(out);
  }
};

std::vector<Case> cases(OpKind kind, const Config& config) {
  constexpr std::pair<int, int> kKernels[] = {{1, 1}, {3, 3}, {5, 5}, {2, 2}, {3, 2}};
  std::vector<Case> all;
  for (const auto& [h, w] : kKernels) {
    for (const int stride : {1, 2, 3}) {
      for (const Padding pad : {Padding{}, Padding{1, 1, 1, 1}, Padding{0, 1, 0, 1}}) {
        if (h == 1 && pad.bottom != 0) continue;
        for (const int in : {2 * config.cp, 2 * config.cp + 1}) {
          if (kind != OpKind::Conv2D) {
            all.push_back({kind, h, w, stride, pad, in, in});
            continue;
          }
          for (const int out : {2 * config.kp, 2 * config.kp + 3})
            all.push_back({kind, h, w, stride, pad, in, out});
        }
      }
    }
  }
  return all;
}

Graph graph_of(const Case& c, std::uint64_t seed) {
  test::GraphBuilder g(seed);
  const int in = g.input(7, 8, c.in);
  const Activation a = g.activation();
  g.output(c.kind == OpKind::Conv2D ? g.conv(in, c.out, c.kernel_h, c.kernel_w, c.stride, c.pad, a)
           : c.kind == OpKind::DepthwiseConv2D
               ? g.depthwise(in, c.kernel_h, c.kernel_w, c.stride, c.pad, a)
               : g.pool(c.kind, in, c.kernel_h, c.kernel_w, c.stride, c.pad, a));
  return g.graph;
}

class Windows : public testing::TestWithParam<OpKind> {};

TEST_P(Windows, EveryCase) {
  const Config config = preset("nano");
  std::mt19937_64 random(test::seed() * 7919 + std::uint64_t(GetParam()));
  const auto device = test::make_device("nano", random());
  for (const Case& c : cases(GetParam(), config)) {
    SCOPED_TRACE(c.text());
    const Graph graph = graph_of(c, random());
    test::draw_timing(*device, random);
    CompileOptions options;
    options.keep_on_chip = random() % 2 != 0;
    options.compress = random() % 2 ? Compress::kOn : Compress::kOff;
    try {
      test::run_on(*device, graph, config, options, test::draw_inputs(graph, random));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nano, Windows,
                         testing::Values(OpKind::Conv2D, OpKind::DepthwiseConv2D, OpKind::AveragePool,
                                         OpKind::MaxPool),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace kaiten
