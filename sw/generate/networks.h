// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The networks the generator knows, by the tables of the papers that define them: batch normalisation folded,
// ReLU fused, "same" padding as TensorFlow has it, and without local response normalisation and dropout.
#ifndef KAITEN_MODELS_GENERATE_NETWORKS_H
#define KAITEN_MODELS_GENERATE_NETWORKS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaiten::generate {

// mobilenet_v1, resnet18, resnet34, ..., in the order of the list of the usage text.
std::vector<std::string_view> network_names();
// Rows and columns of the image.

constexpr int kSmallestSize = 32;
constexpr int kLargestSize = 512;
constexpr int kMostZeros = 95;  // percent

// The bytes of a TensorFlow Lite file; `name` is one of the above or a SubNet (generate/subnets.h): "ofa-resnet50/RA" (a
// member of the family of sw/supernet), or "ofa-mobilenetv3/" and a choice as supernet/choice.h reads it. SubNets of one seed have the
// weights of one SuperNet; `zeros` percent of the weights are zero. Throws InputError for a name,
// a size or a share that is none.
std::vector<uint8_t> make_network(std::string_view name, int size, uint64_t seed, int zeros = 0);

}  // namespace kaiten::generate

#endif  // KAITEN_MODELS_GENERATE_NETWORKS_H
