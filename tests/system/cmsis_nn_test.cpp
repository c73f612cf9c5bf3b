// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// CMSIS-NN's conformance cases through importer, compiler and RTL: each becomes a model file whose float32
// scales give exactly the suite's multipliers, runs on the Verilated device and must give the published
// output. Batches run one image after the other. Output limits that no fused activation gives come from a
// second model of QUANTIZE layers, whose shifted zero points saturate there. All run on nano; no case may vanish.

#include "tests/support/cmsis_nn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "import/import.h"
#include "tests/support/float_scales.h"
#include "tests/support/model_builder.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

using test::ModelBuilder;
using test::cmsis_nn::Case;

constexpr std::size_t kCases = 52;

// The suite rounds like tflite-micro.
const CompileOptions kOptions{.rounding = RoundingStyle::Tflm};

// TensorFlow Lite's numbers of the operators without a function in ModelBuilder.
constexpr int kMulCode = 18;
constexpr int kPadCode = 34;
constexpr int kQuantizeCode = 114;

std::vector<Multiplier> multipliers_of(const ConvParams& p) {
  std::vector<Multiplier> m;
  for (std::size_t c = 0; c < p.multiplier.size(); c++) m.push_back(p.channel(c));
  return m;
}

// An operator without options behind what is there; its output.
int with_op(ModelBuilder& file, int code, std::vector<int> inputs, FileTensor out) {
  out.name = "op" + std::to_string(code) + "_" + std::to_string(file.tensors.size());
  file.tensors.push_back(std::move(out));
  FileOp op;
  op.code = code;
  op.inputs = std::move(inputs);
  op.outputs = {int(file.tensors.size()) - 1};
  file.ops.push_back(op);
  return op.outputs.front();
}

// The model of a case, and what the graph that the importer makes of it must say.
struct CaseModel {
  ModelBuilder file;
  std::vector<ConvParams> convs;  // of the weighted layers, in order
  int lo = -128, hi = 127;        // limits of the last layer that are still to be applied

  FileTensor& tensor(int t) { return file.tensors[std::size_t(t)]; }

  // A convolution, depthwise convolution or fully connected layer with the scales of its output and its
  // weights.
  int weighted(int in, const Case& c, float out_scale, std::vector<float> weight_scales) {
    const auto weights = c.array<int8_t>("weights");
    const std::vector<int> shape = tensor(in).shape;
    const bool whole = shape.size() == 2;
    const int channels = whole ? int(weights.size()) / shape[1] : c.value("OUT_CH");
    ConvParams params = c.conv(std::size_t(channels));
    EXPECT_EQ(tensor(in).zero_point.front(), params.zp_in);
    const bool relu = params.output.low == params.output.zero_point && params.output.high == 127;
    if (!relu) lo = params.output.low, hi = params.output.high;
    test::ConvSpec spec;
    spec.activation = relu ? Activation::Relu : Activation::None;
    spec.channels = channels;
    spec.weights = weights;
    spec.bias = params.bias;
    spec.weight_scales = std::move(weight_scales);
    spec.out_scale = out_scale;
    spec.out_zero_point = params.output.zero_point;
    convs.push_back(params);
    if (whole) return file.fully_connected(in, spec);
    const Window w = c.window();
    spec.kernel_h = w.kernel_h, spec.kernel_w = w.kernel_w;
    spec.stride_h = w.stride_h, spec.stride_w = w.stride_w;
    spec.dilation_h = w.dilation_h, spec.dilation_w = w.dilation_w;
    spec.same = is_same(c, w, shape);
    if (c.has("CH_MULT") ||
        (c.has("ACCUMULATION_DEPTH") && weights.size() == std::size_t(w.kernel_h * w.kernel_w * channels))) {
      spec.depth_multiplier = channels / shape[3];
      return file.depthwise(in, spec);
    }
    const int out = file.conv(in, spec);
    tensor(file.ops.back().inputs[1]).shape[3] = c.value("FILTER_CH", shape[3]);  // grouped
    return out;
  }

  // Padding of the file format from the padding that the suite states.
  static bool is_same(const Case& c, const Window& w, const std::vector<int>& shape) {
    const int out[] = {c.value("OUTPUT_H"), c.value("OUTPUT_W")};
    const int in[] = {shape[1], shape[2]};
    const int extent[] = {(w.kernel_h - 1) * w.dilation_h + 1, (w.kernel_w - 1) * w.dilation_w + 1};
    const int stride[] = {w.stride_h, w.stride_w};
    const int before[] = {w.pad.top, w.pad.left};
    bool same = true, valid = true;
    for (int d = 0; d < 2; d++) {
      const int total = std::max(0, (out[d] - 1) * stride[d] + extent[d] - in[d]);
      same = same && out[d] == (in[d] + stride[d] - 1) / stride[d] && before[d] == total / 2;
      valid = valid && before[d] == 0 && out[d] == (in[d] - extent[d]) / stride[d] + 1;
    }
    if (!same && !valid) throw std::runtime_error("padding is neither same nor valid");
    return same;
  }

  int pool(int in, const Case& c, bool average) {
    const Window w = c.window();
    EXPECT_EQ(c.value("ACTIVATION_MIN", -128), -128);
    EXPECT_EQ(c.value("ACTIVATION_MAX", 127), 127);
    const test::PoolSpec spec{w.kernel_h, w.kernel_w, w.stride_h, w.stride_w,
                              is_same(c, w, tensor(in).shape)};
    return average ? file.average_pool(in, spec) : file.max_pool(in, spec);
  }
};

// The factor of a softmax as a scale: the suite folds 2^26, the fraction bits of its exponential, into it.
float softmax_scale(int multiplier, int shift) {
  return float(std::ldexp(double(multiplier), shift - 31 - 26));
}

// Scales of a chain of layers: the output's of one is the input's of the next. The first has the mantissa
// with which all others are float32 too.
std::vector<float> chain_scales(const std::vector<test::ScaleRatio>& ratios) {
  for (float first = 1; first < 2; first += 0x1p-23F) {
    std::vector<float> scales = {first};
    for (const test::ScaleRatio& r : ratios) {
      const auto next = test::output_scale(scales.back(), r);
      if (!next) break;
      scales.push_back(*next);
    }
    if (scales.size() > ratios.size()) return scales;
  }
  throw std::runtime_error("no float32 scales give the multipliers of this chain");
}

// A keyword network of 13 layers.
CaseModel ds_cnn(const nlohmann::json& json) {
  std::vector<Case> layers;
  std::vector<std::vector<Multiplier>> multipliers;
  std::vector<test::ScaleRatio> ratios;
  for (int layer = 1; layer <= 9; layer++) {
    const bool depthwise = layer % 2 == 0;
    const std::string number = std::to_string(layer);
    const std::string defines = depthwise ? "DEPTHWISE_CONV_2D_" : "CONV_2D_",
                      name = depthwise ? "depthwise_conv_2d" : "conv_2d";
    layers.emplace_back(json, defines + number + "_", "ds_cnn_s_layer_" + number + "_" + name + "_");
    multipliers.push_back(multipliers_of(layers.back().conv(64)));
    ratios.push_back(test::scale_ratios(multipliers.back()).at(0));
  }
  const std::vector<float> scales = chain_scales(ratios);
  CaseModel model;
  int t = model.file.input({1, 49, 10, 1}, {scales[0], layers[0].conv(64).zp_in});
  for (std::size_t i = 0; i < layers.size(); i++)
    t = model.weighted(t, layers[i], scales[i + 1], test::weight_scales(multipliers[i], ratios[i]));
  t = model.pool(t, Case(json, "AVERAGE_POOL_2D_10_", ""), true);
  t = model.file.reshape(t, {1, 64});
  // Softmax tells the scale of its input; what is left of the multiplier is the weights' scale, in double as
  // for convolutions.
  const Case last(json, "FULLY_CONNECTED_12_", "ds_cnn_s_layer_12_fully_connected_"),
      softmax(json, "SOFTMAX_13_", "");
  const float out = softmax_scale(softmax.value("MULT"), softmax.value("SHIFT"));
  const Multiplier m = last.conv(1).channel(0);
  const double weight = std::ldexp(double(m.m), m.shift - 31) * double(out) / double(scales.back());
  t = model.weighted(t, last, out, std::vector<float>(12, float(weight)));
  model.file.output(model.file.softmax(t));
  return model;
}

CaseModel single_layer(const nlohmann::json& json, const std::string& name, std::size_t& batches) {
  const Case c = test::cmsis_nn::single_layer(json, name);
  CaseModel model;
  ModelBuilder& file = model.file;
  if (name == "add" || name == "mul") {
    const int elements = int(c.array<int8_t>("input1").size());
    const std::vector<int> shape = {1, 4, 8, elements / 32};
    const bool add = name == "add";
    // add: equal scales; 2 * max / (2^20 * out) is the output's multiplier. mul: s1 * s2 / out.
    const float factor = float(std::ldexp(double(c.value("OUTPUT_MULT")), c.value("OUTPUT_SHIFT") - 31));
    const int a = file.input(shape, {add ? 1 : factor, -c.value("INPUT1_OFFSET")});
    const int b = file.input(shape, {1, -c.value("INPUT2_OFFSET")});
    const float out = add ? float(2 / std::ldexp(double(factor), c.value("LEFT_SHIFT"))) : 1;
    if (add) {
      file.output(file.add(a, b, {Activation::None, out, c.value("OUTPUT_OFFSET")}));
    } else {
      FileTensor t = model.tensor(a);
      t.scale = {out};
      t.zero_point = {c.value("OUTPUT_OFFSET")};
      file.output(with_op(file, kMulCode, {a, b}, t));
    }
    return model;
  }
  const std::size_t elements = c.array<int8_t>(c.has_array("input") ? "input" : "input_tensor").size();
  if (name == "pad_int8_1") {
    std::vector<std::int32_t> pads;
    FileTensor out, paddings;
    for (const std::string dim : {"N", "H", "W", "C"}) {
      pads.push_back(c.value("PRE_PAD_" + dim));
      pads.push_back(c.value("POST_PAD_" + dim));
      out.shape.push_back(c.value("INPUT_" + dim) + pads[pads.size() - 2] + pads.back());
    }
    const int in = file.input({1, c.value("INPUT_H"), c.value("INPUT_W"), c.value("INPUT_C")},
                              {1, c.value("PAD_VALUE")});
    paddings.name = "paddings";
    paddings.type = FileType::Int32;
    paddings.shape = {4, 2};
    for (std::int32_t p : pads) {
      for (int byte = 0; byte < 4; byte++) paddings.data.push_back(std::uint8_t(p >> 8 * byte));
    }
    file.tensors.push_back(paddings);
    out.scale = {1};
    out.zero_point = {c.value("PAD_VALUE")};
    file.output(with_op(file, kPadCode, {in, int(file.tensors.size()) - 1}, out));
    return model;
  }
  if (name == "softmax") {
    batches = std::size_t(c.value("NUM_ROWS"));
    file.output(file.softmax(file.input(
        {1, c.value("ROW_SIZE")}, {softmax_scale(c.value("INPUT_MULT"), c.value("INPUT_LEFT_SHIFT")), 0})));
    return model;
  }
  if (name.starts_with("avgpooling") || name.starts_with("maxpooling")) {
    const std::vector<int> shape = {1, c.value("INPUT_H"), c.value("INPUT_W"), c.value("INPUT_C")};
    batches = elements / std::size_t(shape[1] * shape[2] * shape[3]);
    file.output(model.pool(file.input(shape, {1, 0}), c, name.starts_with("avg")));
    return model;
  }
  std::vector<int> shape = {1, c.value("INPUT_H"), c.value("INPUT_W"), c.value("IN_CH")};
  if (c.has("ACCUMULATION_DEPTH")) shape = {1, c.value("ACCUMULATION_DEPTH")};
  batches = elements;
  for (int s : shape) batches /= std::size_t(s);
  const ConvParams params = c.conv(std::size_t(c.value("OUT_CH")));
  const bool one_scale = c.has("OUTPUT_MULTIPLIER");
  test::LayerScales scales = test::layer_scales(multipliers_of(params));
  if (one_scale) scales.weights.resize(1);
  const int in = file.input(shape, {scales.in, params.zp_in});
  file.output(model.weighted(in, c, scales.out, scales.weights));
  return model;
}

// A model that limits stored values to lo..hi: each layer moves them by the difference of two zero points,
// and what goes beyond int8 saturates; in the end they are where they were.
ModelBuilder limiter(const std::vector<int>& shape, int lo, int hi) {
  ModelBuilder file;
  int t = file.input(shape, {1, lo});
  for (int zero_point : {lo + 127 - hi, -128, lo}) {
    FileTensor out = file.tensors[std::size_t(t)];
    out.zero_point = {zero_point};
    t = with_op(file, kQuantizeCode, {t}, out);
  }
  file.output(t);
  return file;
}

// The importer must have found the suite's integers in the scales.
void expect_published_parameters(const Graph& graph, const std::vector<ConvParams>& convs) {
  std::size_t at = 0;
  for (const Op& op : graph.ops) {
    if (op.weights == kNoTensor) continue;
    ASSERT_LT(at, convs.size());
    const ConvParams found = conv_params(graph, op, RoundingStyle::Tflm);
    const ConvParams& want = convs[at++];
    EXPECT_EQ(found.multiplier, want.multiplier) << op.name;
    EXPECT_EQ(found.shift, want.shift) << op.name;
    EXPECT_EQ(found.bias, want.bias) << op.name;
    EXPECT_EQ(found.zp_in, want.zp_in) << op.name;
    EXPECT_EQ(found.output.zero_point, want.output.zero_point) << op.name;
    EXPECT_EQ(found.output.rule, Rounding::Double) << op.name;
  }
  EXPECT_EQ(at, convs.size());
}

// Runs the images of a batch one after the other.
std::vector<int8_t> run_batches(sim::SimDevice& device, const Config& config, const Graph& graph,
                                const std::vector<Int8Values>& all, std::size_t batches) {
  test::Session session(device, graph, config, kOptions);
  std::vector<int8_t> output;
  for (std::size_t b = 0; b < batches; b++) {
    std::vector<Int8Values> inputs;
    for (const Int8Values& whole : all) {
      const std::size_t n = whole.size() / batches;
      inputs.emplace_back(whole.begin() + std::ptrdiff_t(b * n), whole.begin() + std::ptrdiff_t((b + 1) * n));
    }
    const Int8Values part = session.run(inputs).outputs.at(0);
    output.insert(output.end(), part.begin(), part.end());
  }
  return output;
}

// Empty when the case ran; else why importer or compiler refuse it.
std::string run_case(sim::SimDevice& device, const Config& config, const std::string& name) {
  const nlohmann::json json = test::cmsis_nn::read_case(name);
  std::size_t batches = 1;
  const CaseModel model = name == "ds_cnn_s" ? ds_cnn(json) : single_layer(json, name, batches);
  const ImportResult imported = import_tflite(model.file.file(), name);
  if (!imported.graph)
    return "limit: " + imported.refusals[0].limit + ", found: " + imported.refusals[0].value;
  const Graph& graph = *imported.graph;
  expect_published_parameters(graph, model.convs);
  const std::vector<std::string> reasons = refusals(graph, config, kOptions);
  if (!reasons.empty()) return reasons[0];

  const Case c = test::cmsis_nn::single_layer(json, name);
  std::vector<Int8Values> inputs;
  for (const char* array : {"input", "input_tensor", "input1", "input2"}) {
    if (c.has_array(array)) inputs.push_back(c.array<int8_t>(array));
  }
  std::vector<int8_t> output = run_batches(device, config, graph, inputs, batches);
  if (model.lo != -128 || model.hi != 127) {
    const Tensor& out = graph.tensors[std::size_t(graph.outputs[0])];
    const Graph limits =
        require_graph(import_tflite(limiter(out.shape, model.lo, model.hi).file(), "limiter"));
    output = run_batches(device, config, limits, {output}, batches);
  }
  EXPECT_EQ(output, test::cmsis_nn::expected_output(json, name));
  return "";
}

TEST(CmsisNn, EveryCaseRunsOnTheDevice) {
  if (!test::shared_dir())
    GTEST_SKIP() << "KAITEN_SHARED is absent: CMSIS-NN conformance cases do not run on the RTL";
  const auto nano = test::make_device("nano", 1);
  std::size_t ran = 0;
  for (const std::string& name : test::cmsis_nn::case_names()) {
    SCOPED_TRACE(name);
    try {
      const std::string reason = run_case(*nano, preset("nano"), name);
      EXPECT_EQ(reason, "");
      if (reason.empty()) ran++;
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
  EXPECT_EQ(ran, kCases);
  std::printf("%zu cases run\n", ran);
}

}  // namespace
}  // namespace kaiten
