// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The reference executor on the project's own network: all hundred images against golden.tsv (LiteRT's
// reference kernels) and the one value in which tflite-micro differs.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "reference/reference.h"
#include "tests/support/demo_network.h"

namespace kaiten {
namespace {

TEST(Demo, AllImagesInBothRoundingStyles) {
  const Graph graph = test::demo_network();
  const std::vector<test::DemoGolden> goldens = test::demo_goldens();
  const std::vector<Int8Values> images = test::demo_images();
  ASSERT_EQ(goldens.size(), test::kDemoImages);
  for (size_t i = 0; i < test::kDemoImages; i++) {
    const auto logits = [&](RoundingStyle style) {
      return run_reference(graph, std::vector<Int8Values>{images[i]}, style)[size_t(graph.outputs.front())];
    };
    const Int8Values litert = logits(RoundingStyle::LiteRt);
    EXPECT_EQ(litert, goldens[i].logits) << "image " << i;
    const auto answer = std::max_element(litert.begin(), litert.end()) - litert.begin();
    EXPECT_EQ(answer, goldens[i].answer) << "image " << i;
    EXPECT_EQ(answer, goldens[i].label) << "image " << i;

    Int8Values tflm = goldens[i].logits;
    if (i == 34) {
      EXPECT_EQ(tflm[5], -74);
      tflm[5] = -75;  // two roundings instead of one
    }
    EXPECT_EQ(logits(RoundingStyle::Tflm), tflm) << "image " << i;
  }
}

}  // namespace
}  // namespace kaiten
