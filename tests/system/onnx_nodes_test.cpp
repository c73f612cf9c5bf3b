// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ONNX's node tests of float operators on the RTL: the input is quantised, the node runs on the device between
// DequantizeLinear and QuantizeLinear, weights are quantised too. What comes out must be the expected float output but for
// what quantisation may change: half a step of the output and what half a step of the input and of the weights makes of
// it. A window, a padding or an order of channels gone wrong is far beyond that.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "compile/compiler.h"
#include "import/import.h"
#include "tests/support/onnx_messages.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

namespace fs = std::filesystem;

std::vector<float> floats(const onnx::TensorProto& tensor) {
  if (!tensor.has_raw_data()) return {tensor.float_data().begin(), tensor.float_data().end()};
  const std::string& raw = tensor.raw_data();
  return floats_of(std::vector<std::int8_t>(raw.begin(), raw.end()));
}

// Whole numbers are kept as they are.
float scale_for(const std::vector<float>& values) {
  float largest = 1.0e-6F;
  bool whole = true;
  for (const float v : values) {
    largest = std::max(largest, std::abs(v));
    whole = whole && v == std::nearbyint(v);
  }
  return whole && largest <= 127 ? 1.0F : largest / 127;
}

class Wrapper {
 public:
  explicit Wrapper(const fs::path& test)
      : test_(test), model_(test::parse<onnx::ModelProto>(test / "model.onnx")) {}

  onnx::TensorProto data(const std::string& kind, int i) const { return test::node_data(test_, kind, i); }

  // The model between DequantizeLinear and QuantizeLinear. Float constants of several elements are weights.
  onnx::ModelProto wrapped() {
    onnx::GraphProto& graph = *model_.mutable_graph();
    const std::string in = graph.input(0).name();
    const std::string out = graph.output(0).name();
    input = floats(data("input", 0));
    expected = floats(data("output", 0));
    in_scale = scale_for(input);
    out_scale = scale_for(expected);
    onnx::GraphProto wrapped;
    *wrapped.add_input() = graph.input(0);
    wrapped.mutable_input(0)->set_name("wrap/float_in");
    wrapped.add_output()->set_name("wrap/float_out");
    linear(wrapped, "QuantizeLinear", "wrap/float_in", "wrap/in", in_scale);
    linear(wrapped, "DequantizeLinear", "wrap/in", in, in_scale);
    for (int i = 1; i < graph.input_size(); i++) {
      onnx::TensorProto tensor = data("input", i);
      const std::string name = graph.input(i).name();
      const std::vector<float> values = tensor.data_type() == 1 ? floats(tensor) : std::vector<float>{};
      if (values.size() < 2) {
        tensor.set_name(name);
        *wrapped.add_initializer() = std::move(tensor);
        continue;
      }
      const float scale = scale_for(values);
      weight_scale = std::max(weight_scale, scale);
      onnx::TensorProto stored;
      stored.set_name("wrap/weights/" + name);
      stored.set_data_type(3);
      for (const auto dim : tensor.dims()) stored.add_dims(dim);
      std::string raw;
      for (const float v : values) raw += char(std::int8_t(std::nearbyint(v / scale)));
      stored.set_raw_data(raw);
      *wrapped.add_initializer() = std::move(stored);
      linear(wrapped, "DequantizeLinear", "wrap/weights/" + name, name, scale);
    }
    for (const auto& node : graph.node()) *wrapped.add_node() = node;
    linear(wrapped, "QuantizeLinear", out, "wrap/out", out_scale);
    linear(wrapped, "DequantizeLinear", "wrap/out", "wrap/float_out", out_scale);
    graph = wrapped;
    return model_;
  }

  std::vector<float> input;
  std::vector<float> expected;
  float in_scale = 1;
  float out_scale = 1;
  float weight_scale = 0;

 private:
  static void linear(onnx::GraphProto& graph, const char* op, const std::string& from, const std::string& to,
                     float scale) {
    onnx::TensorProto* s = graph.add_initializer();
    s->set_name(to + "_scale");
    s->set_data_type(1);
    s->add_float_data(scale);
    onnx::TensorProto* z = graph.add_initializer();
    z->set_name(to + "_zero");
    z->set_data_type(3);
    z->add_int32_data(0);
    onnx::NodeProto* node = graph.add_node();
    node->set_op_type(op);
    for (const std::string& name : {from, to + "_scale", to + "_zero"}) node->add_input(name);
    node->add_output(to);
  }

  fs::path test_;
  onnx::ModelProto model_;
};

// `gain`: how much an error of one step of the input may grow: 1 for pooling, the sum of a kernel for convolutions.
void run_node(const std::string& name, float gain = 1.0F) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: ONNX node tests are not run";
  Wrapper wrapper(*shared / "models/conformance/onnx-node" / name);
  const std::string bytes = wrapper.wrapped().SerializeAsString();
  const Graph graph =
      require_graph(import_onnx({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, name));
  for (const Op& op : graph.ops) EXPECT_NE(op.kind, OpKind::HostFloat) << op.name;
  const auto device = test::make_device("nano", test::seed());
  const auto result =
      test::run_on(*device, graph, preset("nano"), {}, std::vector<Int8Values>{bytes_of(wrapper.input)});
  const std::vector<float> made = floats_of(result.outputs.at(0));
  ASSERT_EQ(made.size(), wrapper.expected.size());
  float largest = 0;
  for (const float x : wrapper.input) largest = std::max(largest, std::abs(x));
  const float in_error = wrapper.in_scale == 1.0F ? 0.0F : wrapper.in_scale / 2;
  const float weight_error = wrapper.weight_scale == 1.0F ? 0.0F : wrapper.weight_scale / 2 * largest;
  const float tolerance =
      (wrapper.out_scale == 1.0F ? 0.5F : wrapper.out_scale / 2) * 1.01F + gain * (in_error + weight_error);
  for (std::size_t i = 0; i < made.size(); i++)
    ASSERT_LE(std::abs(made[i] - wrapper.expected[i]), tolerance) << "element " << i;
}

class OnnxNodes : public testing::TestWithParam<const char*> {};

// Averages, maxima, shapes: no gain.
TEST_P(OnnxNodes, OnNano) { run_node(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Pooling, OnnxNodes,
    testing::Values("test_averagepool_2d_ceil", "test_averagepool_2d_default", "test_averagepool_2d_pads",
                    "test_averagepool_2d_pads_count_include_pad", "test_averagepool_2d_precomputed_pads",
                    "test_averagepool_2d_precomputed_pads_count_include_pad",
                    "test_averagepool_2d_precomputed_same_upper", "test_averagepool_2d_precomputed_strides",
                    "test_averagepool_2d_same_lower", "test_averagepool_2d_same_upper",
                    "test_averagepool_2d_strides", "test_globalaveragepool",
                    "test_globalaveragepool_precomputed", "test_maxpool_2d_ceil", "test_maxpool_2d_default",
                    "test_maxpool_2d_pads", "test_maxpool_2d_precomputed_pads",
                    "test_maxpool_2d_precomputed_same_upper", "test_maxpool_2d_precomputed_strides",
                    "test_maxpool_2d_same_lower", "test_maxpool_2d_same_upper", "test_maxpool_2d_strides"),
    [](const auto& info) { return std::string(info.param); });

// The second operand is a constant.
TEST(OnnxPairs, OnNano) {
  for (const char* name : {"test_add", "test_add_bcast", "test_sub", "test_sub_bcast", "test_sub_example",
                           "test_mul", "test_mul_bcast", "test_mul_example"}) {
    SCOPED_TRACE(name);
    run_node(name, 4.0F);  // no operand is larger
  }
}

// Functions of one value go through a table; a clamp alone is one too.
TEST(OnnxFunctions, OnNano) {
  for (const char* name : {"test_leakyrelu", "test_leakyrelu_default", "test_sigmoid", "test_hardsigmoid",
                           "test_hardsigmoid_default", "test_hardswish", "test_relu", "test_clip"}) {
    SCOPED_TRACE(name);
    run_node(name, 2.0F);  // no slope is steeper
  }
}

TEST(OnnxConvolutions, OnNano) {
  for (const char* name : {"test_basic_conv_with_padding", "test_basic_conv_without_padding",
                           "test_conv_with_autopad_same", "test_conv_with_strides_and_asymmetric_padding",
                           "test_conv_with_strides_no_padding", "test_conv_with_strides_padding"}) {
    SCOPED_TRACE(name);
    run_node(name, 9.0F);  // kernels of 3x3 ones
  }
}

}  // namespace
}  // namespace kaiten
