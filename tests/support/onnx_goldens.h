// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The recorded outputs of ONNX networks (docs/third_party_models.md): onnxruntime's answers without graph optimisation, in
// float32, and with it, on integers; and how far an exact integer machine may be from them.
#ifndef KAITEN_TESTS_SUPPORT_ONNX_GOLDENS_H
#define KAITEN_TESTS_SUPPORT_ONNX_GOLDENS_H

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "reference/reference.h"

namespace kaiten::test {

struct OnnxNetwork {
  std::string name;     // of the folder below golden/
  std::string file;     // below onnx/
  std::string suffix;   // of the outputs' files, in front of .f32.bin and .opt_all.f32.bin
  std::size_t output;   // which one they are
  float step;           // scale of the last quantised tensor: the outputs move in such steps
  float steps;          // largest distance to the framework's float32 answers
  float integer_steps;  // to its answers on integers
};

// ResNet-8 twice, visual wake words, MobileNetV1 in uint8, MobileNetV2.
const std::vector<OnnxNetwork>& onnx_networks();
const OnnxNetwork& onnx_network(const std::string& name);

struct OnnxGolden {
  std::string name;             // of the input
  Int8Values input;             // float32, NCHW
  std::vector<float> expected;  // of network.output
  std::vector<float> on_integers;
};

// All cases of one network; `models`: the folder of docs/third_party_models.md.
std::vector<OnnxGolden> onnx_goldens(const std::filesystem::path& models, const OnnxNetwork& network);

// Checks the distances to both answers, and that the framework's best class is as good as ours; returns the one to
// the float32 answer.
float compare_golden(const OnnxNetwork& network, const OnnxGolden& golden, const Int8Values& output);

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_ONNX_GOLDENS_H
