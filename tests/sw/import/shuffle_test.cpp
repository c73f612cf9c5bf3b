// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Channel shuffles and argmax of TensorFlow Lite files: what the importer makes of them, run by the reference
// executor, against transpositions and comparisons spelt out here.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "import/common/channel_shuffle.h"
#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/model_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

using importing::shuffled_channels;
using Numbers = std::vector<int>;

TEST(ShuffledChannels, Examples) {
  const Numbers swapped = {0, 3, 1, 4, 2, 5};  // two groups of three
  EXPECT_EQ(shuffled_channels({1, 4, 4, 2, 3}, {0, 1, 2, 4, 3}, 6, true), swapped);
  EXPECT_EQ(shuffled_channels({16, 2, 3}, {0, 2, 1}, 6, true), swapped);
  EXPECT_EQ(shuffled_channels({1, 2, 3, 4, 4}, {0, 2, 1, 3, 4}, 6, false), swapped);
  EXPECT_EQ(shuffled_channels({2, 3, 16}, {1, 0, 2}, 6, false), swapped);
  EXPECT_EQ(shuffled_channels({2, 1, 3, 1, 16}, {2, 1, 0, 4, 3}, 6, false), swapped);
  EXPECT_EQ(shuffled_channels({1, 6, 4, 4}, {0, 1, 2, 3}, 6, false), (Numbers{0, 1, 2, 3, 4, 5}));
  // Pixels move, or a dimension holds both.
  EXPECT_FALSE(shuffled_channels({1, 4, 4, 2, 3}, {0, 2, 1, 4, 3}, 6, true));
  EXPECT_FALSE(shuffled_channels({1, 4, 4, 2, 3}, {0, 1, 3, 2, 4}, 6, true));
  EXPECT_FALSE(shuffled_channels({1, 8, 12}, {0, 2, 1}, 6, true));
  EXPECT_FALSE(shuffled_channels({1, 2, 48}, {0, 2, 1}, 6, false));
}

// Every transposition of a map of 2 x 3 pixels and 2 x 3 x 2 channels: the function's answer, or that there
// is none, from moving all elements.
TEST(ShuffledChannels, AllTranspositions) {
  const Numbers dims = {2, 3, 2, 3, 2};
  Numbers order = {0, 1, 2, 3, 4};
  int shuffles = 0;
  do {
    Numbers from(12, -1);
    bool channels_only = true;
    int at = 0;
    std::function<void(size_t, Numbers&)> walk = [&](size_t d, Numbers& index) {
      if (d < dims.size()) {
        for (int i = 0; i < dims[size_t(order[d])]; i++) {
          index[size_t(order[d])] = i;
          walk(d + 1, index);
        }
        return;
      }
      int source = 0;
      for (size_t k = 0; k < dims.size(); k++) source = source * dims[k] + index[k];
      int& channel = from[size_t(at % 12)];
      channels_only = channels_only && source / 12 == at / 12 && (channel < 0 || channel == source % 12);
      channel = source % 12;
      at++;
    };
    Numbers index(5, 0);
    walk(0, index);
    const auto found = shuffled_channels(dims, order, 12, true);
    EXPECT_EQ(found.has_value(), channels_only);
    if (found && channels_only) EXPECT_EQ(*found, from);
    shuffles += channels_only ? 1 : 0;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(shuffles, 6);
}

Int8Values run(const Graph& graph, const std::vector<int8_t>& input) {
  return run_reference(graph, std::vector<Int8Values>{input})[size_t(graph.outputs.at(0))];
}

TEST(ChannelShuffle, MovesGroups) {
  test::ModelBuilder model(test::seed());
  const int in = model.input({1, 3, 4, 12});
  model.output(model.channel_shuffle(in, 4));
  const Graph graph = require_graph(import_tflite(model.file()));
  ASSERT_EQ(graph.ops.size(), 1U);
  EXPECT_EQ(graph.ops[0].kind, OpKind::Shuffle);
  const auto values = test::random_values(3 * 4 * 12, model.random());
  const Int8Values out = run(graph, values);
  for (size_t pixel = 0; pixel < 12; pixel++) {
    for (size_t group = 0; group < 4; group++) {
      for (size_t i = 0; i < 3; i++)
        EXPECT_EQ(out[pixel * 12 + i * 4 + group], values[pixel * 12 + group * 3 + i]);
    }
  }
}

// Rows and groups of channels change places: no shuffle of channels, the values go where the index says all the same.
TEST(ChannelShuffle, OtherTranspositionsMoveValuesToo) {
  test::ModelBuilder model(test::seed());
  const int in = model.input({1, 3, 4, 6});
  model.output(
      model.reshape(model.transpose(model.reshape(in, {1, 3, 4, 2, 3}), {0, 3, 1, 2, 4}), {1, 6, 4, 3}));
  const Graph graph = require_graph(import_tflite(model.file()));
  ASSERT_EQ(graph.ops.size(), 1U);
  EXPECT_EQ(graph.ops[0].kind, OpKind::Rearrange);
  const auto values = test::random_values(72, model.random());
  const Int8Values out = run(graph, values);
  size_t at = 0;
  for (size_t group = 0; group < 2; group++) {
    for (size_t pixel = 0; pixel < 12; pixel++) {
      for (size_t i = 0; i < 3; i++) EXPECT_EQ(out[at++], values[pixel * 6 + group * 3 + i]);
    }
  }
}

TEST(ArgMax, FirstOfTheLargest) {
  for (const auto type : {FileType::Int32, FileType::Int64}) {
    for (const int axis : {-1, 1, 2}) {
      test::ModelBuilder model(test::seed());
      const int in = model.input({1, 3, 4, 5});
      model.output(model.arg_max(in, axis, type));
      const Graph graph = require_graph(import_tflite(model.file()));
      std::vector<int8_t> values(60);
      for (int8_t& v : values) v = int8_t(int(model.random()() % 4) - 2);  // many equals
      const Int8Values out = run(graph, values);
      const size_t width = type == FileType::Int32 ? 4 : 8;
      const int depth = axis == 1 ? 3 : axis == 2 ? 4 : 5;
      const int inner = axis == 1 ? 20 : axis == 2 ? 5 : 1;
      ASSERT_EQ(out.size(), 60 / size_t(depth) * width);
      for (int line = 0; line < 60 / depth; line++) {
        const int first = line / inner * inner * depth + line % inner;
        int best = 0;
        for (int k = depth - 1; k >= 0; k--) {
          if (values[size_t(first + k * inner)] >= values[size_t(first + best * inner)]) best = k;
        }
        int64_t position = 0;
        std::memcpy(&position, out.data() + size_t(line) * width, width);
        EXPECT_EQ(position, best) << "axis " << axis << " line " << line;
      }
    }
  }
}

}  // namespace
}  // namespace kaiten
