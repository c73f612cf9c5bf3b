// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "volume/weights.h"

namespace kaiten::volume {
namespace {

constexpr const char* kN337 =
    "INPUTS:1, LAYERS:10\nCONV 2,2,2 80\nPOOL 2,2,2\nCONV 3,3,3 80\nPOOL 2,2,2\nCONV 3,3,3 80\nPOOL 2,2,2\n"
    "CONV 3,3,3 80\nCONV 3,3,3 80\nCONV 3,3,3 80\nCONV 3,3,3 3\n";

TEST(VolumeNetwork, TheFieldOfViewIsThePublishedOne) {
  const Network n = parse_network(kN337, "n337");
  EXPECT_EQ(n.field_of_view(), (fft::Size{85, 85, 85}));
  EXPECT_EQ(n.outputs(), 3);
  EXPECT_EQ(n.pooled(), (fft::Size{8, 8, 8}));
}

TEST(VolumeNetwork, JsonSaysTheSame) {
  const Network a = parse_network("INPUTS:2, LAYERS:2\r\n\nCONV 1,2,3 4\nPOOL 1,2,2\n", "a");
  const Network b = parse_network(
      R"({"inputs": 2, "layers": [{"conv": [1, 2, 3], "maps": 4}, {"pool": [1, 2, 2], "pooling": "plain"}]})",
      "b");
  ASSERT_EQ(a.layers.size(), b.layers.size());
  EXPECT_EQ(a.inputs, b.inputs);
  for (std::size_t i = 0; i < a.layers.size(); i++) {
    EXPECT_EQ(a.layers[i].convolution, b.layers[i].convolution);
    EXPECT_EQ(a.layers[i].window, b.layers[i].window);
    EXPECT_EQ(a.layers[i].maps, b.layers[i].maps);
  }
  EXPECT_EQ(b.layers[1].pooling, Pooling::kPlain);
}

TEST(VolumeNetwork, MistakesAreNamedWithTheirLine) {
  const auto said = [](const std::string& text) -> std::string {
    try {
      parse_network(text, "f");
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(said(""), "f:1: expected 'INPUTS:n, LAYERS:n', found an empty file");
  EXPECT_EQ(said("CONV 1,1,1 1\n"), "f:1: expected 'INPUTS:n, LAYERS:n' first");
  EXPECT_EQ(said("INPUTS:1, LAYERS:1\nCONV 3,3 8\n"), "f:2: expected ',', found '8'");
  EXPECT_EQ(said("INPUTS:1, LAYERS:1\nCONV 3,3,3\n"),
            "f:2: maps: expected 1 to 4096, found the end of the line");
  EXPECT_EQ(said("INPUTS:1, LAYERS:1\nCONV 0,3,3 1\n"), "f:2: kernel: expected 1 to 64, found '0,3,3 1'");
  EXPECT_EQ(said("INPUTS:1, LAYERS:1\nPOOL 2,2,2 7\n"), "f:2: expected the end of the line, found '7'");
  EXPECT_EQ(said("INPUTS:1, LAYERS:1\nDROP 2,2,2\n"), "f:2: expected CONV or POOL, found 'DROP'");
  EXPECT_EQ(said("INPUTS:1, LAYERS:2\nCONV 3,3,3 8\n"), "f:2: the header has 2 layers, the file 1");
  EXPECT_EQ(said("INPUTS:1, LAYERS:1\nCONV 3,3,3 8\nCONV 3,3,3 8\n"),
            "f:3: more than the 1 layers of the header");
  EXPECT_EQ(said("INPUTS:1, LAYERS:1\nPOOL 2,2,2\n"), "f: a network has at least one convolution");
  EXPECT_NE(said(R"({"layers": [{"conv": [3, 3, 3]}]})").find("f:1:13: a convolution has 'maps'"),
            std::string::npos);
  EXPECT_NE(said(R"({"layers": [{"conv": [3, 3, 3], "mops": 2}]})").find("no member 'mops'"),
            std::string::npos);
  std::string deep = "INPUTS:1, LAYERS:6\nCONV 3,3,3 1\n";
  for (int i = 0; i < 5; i++) deep += "POOL 64,1,1\n";
  EXPECT_EQ(said(deep), "f: the field of view exceeds 100000 along an axis");
}

TEST(VolumeNetwork, WeightsComeFromFilesAndSeeds) {
  const Network n = parse_network("INPUTS:2, LAYERS:2\nCONV 1,1,2 2\nCONV 1,1,1 1\n", "n");
  std::vector<float> values(2 * 2 * 2 + 2 + 2 + 1);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = float(i);
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(values.data()),
                                            values.size() * 4);
  const auto w = weights_from(n, bytes, "w");
  EXPECT_EQ(w[0].kernels[7], 7);
  EXPECT_EQ(w[0].bias, (std::vector<float>{8, 9}));
  EXPECT_EQ(w[1].kernels, (std::vector<float>{10, 11}));
  EXPECT_EQ(w[1].bias, (std::vector<float>{12}));
  EXPECT_THROW(weights_from(n, bytes.first(48), "w"), InputError);
  values[3] = NAN;
  EXPECT_THROW(weights_from(n, bytes, "w"), InputError);
  EXPECT_EQ(seeded_weights(n, 3)[0].kernels, seeded_weights(n, 3)[0].kernels);
  EXPECT_NE(seeded_weights(n, 3)[0].kernels, seeded_weights(n, 4)[0].kernels);
}

}  // namespace
}  // namespace kaiten::volume
