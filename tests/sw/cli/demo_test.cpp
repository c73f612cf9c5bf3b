// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/demo.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/files.h"
#include "tests/support/source_file.h"

namespace kaiten::cli {
namespace {

TEST(Demo, IsEmbedded) {
  const auto file = read_file(test::source_file("models/demo/demo.tflite"));
  EXPECT_TRUE(std::equal(file.begin(), file.end(), demo_model().begin(), demo_model().end()));
  EXPECT_EQ(demo_images().size(), 100 * kDemoImageBytes);
}

}  // namespace
}  // namespace kaiten::cli
