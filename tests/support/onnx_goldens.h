// The recorded outputs of ONNX networks (docs/models.md): onnxruntime's float32 answers without graph
// optimisation, and how far an exact integer machine may be from them.
#ifndef KAITEN_TESTS_SUPPORT_ONNX_GOLDENS_H
#define KAITEN_TESTS_SUPPORT_ONNX_GOLDENS_H

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "reference/reference.h"

namespace kaiten::test {

struct OnnxNetwork {
  std::string name;    // of the folder below golden/
  std::string file;    // below onnx/
  std::string suffix;  // of the outputs' files
  std::size_t output;  // which one they are
  float step;          // scale of the last quantised tensor: the outputs move in such steps
  float steps;         // largest distance to the framework
};

// ResNet-8 twice, visual wake words, MobileNetV1 in uint8, MobileNetV2.
const std::vector<OnnxNetwork>& onnx_networks();
const OnnxNetwork& onnx_network(const std::string& name);

struct OnnxGolden {
  std::string name;             // of the input
  Int8Values input;             // float32, NCHW
  std::vector<float> expected;  // of network.output
};

// All cases of one network; `models`: the folder of docs/models.md.
std::vector<OnnxGolden> onnx_goldens(const std::filesystem::path& models, const OnnxNetwork& network);

// The largest distance to the expected output, after a check that the framework's best class is as good as
// ours.
float compare_golden(const OnnxNetwork& network, const OnnxGolden& golden, const Int8Values& output);

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_ONNX_GOLDENS_H
