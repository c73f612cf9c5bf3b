// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The project's own network with its images and what LiteRT answers for them (models/demo/README.md).
#ifndef KAITEN_TESTS_SUPPORT_DEMO_NETWORK_H
#define KAITEN_TESTS_SUPPORT_DEMO_NETWORK_H

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"
#include "import/import.h"
#include "tests/support/source_file.h"

namespace kaiten::test {

constexpr std::size_t kDemoImages = 100;
constexpr std::size_t kDemoPixels = std::size_t(32) * 32;
constexpr std::size_t kDemoClasses = 10;

struct DemoGolden {
  int label = 0;
  int answer = 0;
  Int8Values logits;
};

inline Graph demo_network() { return require_graph(import_file(source_file("models/demo/demo.tflite"))); }

inline std::vector<DemoGolden> demo_goldens() {
  std::ifstream file(source_file("models/demo/golden.tsv"));
  std::string line;
  std::getline(file, line);  // column names
  std::vector<DemoGolden> goldens;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    DemoGolden golden;
    std::size_t image = 0;
    fields >> image >> golden.label >> golden.answer;
    for (int logit = 0; fields >> logit;) golden.logits.push_back(std::int8_t(logit));
    EXPECT_EQ(image, goldens.size());
    EXPECT_EQ(golden.logits.size(), kDemoClasses);
    goldens.push_back(golden);
  }
  EXPECT_EQ(goldens.size(), kDemoImages);
  return goldens;
}

// The model's input is int8 with zero point -128: pixel - 128.
inline std::vector<Int8Values> demo_images() {
  const std::vector<std::uint8_t> bytes = read_model_file(source_file("models/demo/digits.u8"));
  EXPECT_EQ(bytes.size(), kDemoImages * kDemoPixels);
  std::vector<Int8Values> images(kDemoImages, Int8Values(kDemoPixels));
  for (std::size_t i = 0; i < bytes.size(); i++)
    images.at(i / kDemoPixels)[i % kDemoPixels] = std::int8_t(int(bytes[i]) - 128);
  return images;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_DEMO_NETWORK_H
