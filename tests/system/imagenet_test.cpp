// Whole image networks of other people on the RTL (`base`): every tensor against the reference, the values in front of the
// softmax against the framework's (models/golden). One image in the short check, all of them in the long one.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "import/import.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

struct Case {
  const char* model;   // under models/tflite
  const char* golden;  // under models/golden
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.golden; }

class ImageNet : public testing::TestWithParam<Case> {};

TEST_P(ImageNet, Base) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: " << GetParam().model << " does not run on the RTL";
  Graph graph = require_graph(import_file(*shared / "models/tflite" / GetParam().model));
  const auto folder = *shared / "models/golden" / GetParam().golden;
  const nlohmann::json list = nlohmann::json::parse(std::ifstream(folder / "expected.json"));
  int logits = kNoTensor;
  for (const Op& op : graph.ops) {
    if (op.kind == OpKind::Softmax) logits = op.inputs.front();
  }
  ASSERT_NE(logits, kNoTensor);
  graph.outputs.push_back(logits);

  tb::SimOptions options;
  options.memory.read_latency = options.memory.write_latency = 100;
  options.memory.bytes_per_cycle = preset("base").axi_bytes;
  const auto device = test::make_device("base", test::seed(), options);
  test::Session session(*device, graph, preset("base"), {});
  for (const auto& entry : list["cases"]) {
    const std::string name = entry["name"];
    SCOPED_TRACE(name);
    const Tensor& input = graph.tensors[std::size_t(graph.inputs.at(0))];
    const auto pixels =
        read_model_file(*shared / "models/images/raw" / (name + "_" + std::to_string(input.nhwc().h) + ".rgb"));
    ASSERT_EQ(pixels.size(), input.elements());
    const auto result = session.run(std::vector<Int8Values>{from_model(input, pixels)});
    const auto want = read_model_file(folder / entry["logits_file"].get<std::string>());
    EXPECT_EQ(result.outputs.back(), from_model(graph.tensors[std::size_t(logits)], want));
    std::printf("%s, %s: %llu cycles, simulated at %.0f kHz\n", GetParam().golden, name.c_str(),
                static_cast<unsigned long long>(result.cycles()), double(device->loop_cycles()) / device->loop_seconds() / 1e3);
#ifndef KAITEN_LONG
    break;
#endif
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, ImageNet,
    testing::Values(Case{"coral/tf2_mobilenet_v2_1.0_224_ptq.tflite", "tf2_mobilenet_v2_1.0_224_ptq"},
                    Case{"coral-edgetpu/mobilenet_edgetpu_0.75_224_post_training_quant.tflite",
                         "mobilenet_edgetpu_0.75_224_post_training_quant"}),
    [](const auto& info) {
      return std::string(info.param.golden).substr(0, 16) == "mobilenet_edgetp" ? "MobileNetEdgeTpu" : "MobileNetV2";
    });

}  // namespace
}  // namespace kaiten
