// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The reference executor on the project's own network: all hundred images against golden.tsv (LiteRT's
// reference kernels) and the one value in which tflite-micro differs.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

constexpr size_t kImages = 100;
constexpr size_t kPixels = 32 * 32;
constexpr size_t kClasses = 10;

struct Golden {
  int label = 0;
  int answer = 0;
  Int8Values logits;
};

std::vector<Golden> read_goldens() {
  std::ifstream file(test::source_file("models/demo/golden.tsv"));
  std::string line;
  std::getline(file, line);  // column names
  std::vector<Golden> goldens;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    Golden golden;
    size_t image = 0;
    fields >> image >> golden.label >> golden.answer;
    for (int logit = 0; fields >> logit;) golden.logits.push_back(int8_t(logit));
    EXPECT_EQ(image, goldens.size());
    EXPECT_EQ(golden.logits.size(), kClasses);
    goldens.push_back(golden);
  }
  return goldens;
}

// The model's input is int8 with zero point -128: pixel - 128.
std::vector<Int8Values> read_images() {
  const std::vector<uint8_t> bytes = read_model_file(test::source_file("models/demo/digits.u8"));
  EXPECT_EQ(bytes.size(), kImages * kPixels);
  std::vector<Int8Values> images(kImages, Int8Values(kPixels));
  for (size_t i = 0; i < bytes.size(); i++) images[i / kPixels][i % kPixels] = int8_t(int(bytes[i]) - 128);
  return images;
}

TEST(Demo, AllImagesInBothRoundingStyles) {
  const Graph graph = require_graph(import_file(test::source_file("models/demo/demo.tflite")));
  const std::vector<Golden> goldens = read_goldens();
  const std::vector<Int8Values> images = read_images();
  ASSERT_EQ(goldens.size(), kImages);
  for (size_t i = 0; i < kImages; i++) {
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
