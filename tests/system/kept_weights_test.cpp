// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Weights kept over runs: every run but the first loads none that fit on chip, and computes the same.

#include <gtest/gtest.h>

#include "import/import.h"
#include "run/session.h"
#include "tests/support/seed.h"
#include "tests/support/source_file.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

class KeptWeights : public testing::TestWithParam<std::string> {};

TEST_P(KeptWeights, LaterRunsLoadNone) {
  std::mt19937_64 random(test::seed());
  Session session(require_graph(import_file(test::source_file("models/demo/demo.tflite"))),
                  {.config = GetParam(), .keep_weights = true});
  const bool all_fit = GetParam() != "nano";  // 88 KiB of weights, 72 KiB of WB
  std::uint64_t first = 0;
  for (int run = 0; run < 3; run++) {
    const RunResult result = session.run(test::draw_inputs(session.graph(), random));
    EXPECT_TRUE(result.report.exact.value_or(false)) << result.report.difference;
    const std::uint64_t weights = result.report.bytes.weights;
    if (run == 0) {
      first = weights;
      EXPECT_GT(first, 0U);
    } else if (all_fit) {
      EXPECT_EQ(weights, 0U);
    } else {
      EXPECT_LT(weights, first);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, KeptWeights, testing::Values("nano", "base"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kaiten
