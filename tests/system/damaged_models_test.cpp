// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Demo networks with flipped bytes that are still sound models: what they compute is no longer digits, but the RTL computes
// it exactly. (Those that are no models any more: tests/sw/import/bad_input_test.cpp.)

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "import/import.h"
#include "tests/support/byte_flips.h"
#include "tests/support/seed.h"
#include "tests/support/source_file.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

class DamagedModels : public testing::TestWithParam<std::string> {};

TEST_P(DamagedModels, TwentyRunExactly) {
  constexpr int kWanted = 20;
  const std::vector<std::uint8_t> demo = read_model_file(test::source_file("models/demo/demo.tflite"));
  const Config& config = preset(GetParam());
  std::mt19937_64 random(test::seed() + 77);
  const auto device = test::make_device(GetParam(), random());
  int ran = 0, refused = 0, damaged = 0;
  for (int attempt = 0; ran < kWanted && attempt < 500; attempt++) {
    // One flip hits weights, most often; the more there are, the more often they hit scales and biases as well.
    const std::size_t flips = attempt % 2 ? 1 : 8;
    SCOPED_TRACE("attempt " + std::to_string(attempt) + ", bytes flipped: " + std::to_string(flips));
    const std::vector<std::uint8_t> file = test::flip_bytes(demo, flips, random);
    Graph graph;
    try {
      ImportResult result = import_tflite(file);
      if (!result.graph || !refusals(*result.graph, config).empty()) {
        refused++;
        continue;
      }
      graph = std::move(*result.graph);
    } catch (const InputError&) {
      damaged++;
      continue;
    }
    test::run_on(*device, graph, config, {}, test::draw_inputs(graph, random));
    ran++;
    if (HasFailure()) break;
  }
  EXPECT_EQ(ran, kWanted);
  std::printf("%d ran, %d damaged, %d refused\n", ran, damaged, refused);
}

INSTANTIATE_TEST_SUITE_P(Configurations, DamagedModels, testing::Values("nano", "base"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kaiten
