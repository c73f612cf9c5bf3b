// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Builds TensorFlow Lite model files in memory, for tests: layer by layer with chosen or random quantisation,
// weights and biases, or field by field for files that must be refused.
//
//   test::ModelBuilder model(seed);
//   const int in = model.input({1, 9, 9, 5}, {.scale = 0.02F, .zero_point = -128});
//   const int a = model.conv(in, {.channels = 7, .stride_h = 2});
//   model.output(model.add(a, model.conv(in, {.channels = 7, .stride_h = 2})));
//   const std::vector<uint8_t> file = model.file();
//
// Layer functions take and return tensor indices of the file. A scale of 0 (the default) is chosen from the
// layer's size so that random data uses the whole range of the output.
#ifndef KAITEN_TESTS_SUPPORT_MODEL_BUILDER_H
#define KAITEN_TESTS_SUPPORT_MODEL_BUILDER_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "export/tflite_file.h"
#include "graph/graph.h"

namespace kaiten::test {

using kaiten::FileOp;
using kaiten::FileTensor;
using kaiten::FileType;

// Quantisation of an activation.
struct ActivationScale {
  float scale = 0.02F;
  int zero_point = 0;
};

// Parameters of conv, depthwise (channels ignored: in * depth_multiplier) and fc (only channels and what
// follows `same`). Empty vectors are filled at random.
struct ConvSpec {
  int channels = 8;
  int kernel_h = 3;
  int kernel_w = 3;
  int stride_h = 1;
  int stride_w = 1;
  int dilation_h = 1;
  int dilation_w = 1;
  int depth_multiplier = 1;
  bool same = true;  // else valid padding
  Activation activation = Activation::None;
  float out_scale = 0.0F;  // 0: chosen
  int out_zero_point = 0;
  bool per_channel = true;
  bool has_bias = true;
  std::vector<int8_t> weights = {};       // OHWI, depthwise HWO, fc OI; random in [-127, 127]
  std::vector<int32_t> bias = {};         // one per output channel
  std::vector<float> weight_scales = {};  // one, or one per output channel
};

struct AddSpec {
  Activation activation = Activation::None;
  float out_scale = 0.0F;
  int out_zero_point = 0;
};

struct PoolSpec {
  int kernel_h = 2;
  int kernel_w = 2;
  int stride_h = 2;
  int stride_w = 2;
  bool same = false;
  Activation activation = Activation::None;
};

// Anything of the file may be changed before file() is called.
class ModelBuilder : public TfLiteFile {
 public:
  explicit ModelBuilder(uint64_t seed = 1) : random_(seed) {}

  int input(const std::vector<int>& shape, ActivationScale quantization = {});
  int conv(int in, const ConvSpec& spec);
  int depthwise(int in, const ConvSpec& spec);
  int fully_connected(int in, const ConvSpec& spec);
  int add(int a, int b, const AddSpec& spec = {});
  int average_pool(int in, const PoolSpec& spec);
  int max_pool(int in, const PoolSpec& spec);
  int mean(int in, ActivationScale quantization, bool keep_dims = true);
  int reshape(int in, const std::vector<int>& shape);
  int transpose(int in, const std::vector<int>& order);
  // A map's channels reshaped to groups, transposed, reshaped back.
  int channel_shuffle(int in, int groups);
  int arg_max(int in, int axis, FileType type = FileType::Int64);
  int softmax(int in, float beta = 1.0F);
  void output(int tensor) { outputs.push_back(tensor); }
  // Turns int8 into legacy uint8, weights (one scale each) with this stored zero point less 128.
  void make_uint8(int weight_zero_point);

  std::mt19937_64& random() { return random_; }

 private:
  int weighted_layer(int code, int in, ConvSpec spec, const std::vector<int>& kernel, int fan_in,
                     int channels, int axis, const std::vector<int>& out_shape);
  int pool(int code, int in, const PoolSpec& spec);
  int numbers(const std::string& kind, const std::vector<int>& values);
  int activation_tensor(const std::string& kind, const std::vector<int>& shape, ActivationScale quantization);

  std::mt19937_64 random_;
};

// Limits of random_layer().
struct RandomLayerLimits {
  int max_side = 20;      // rows and columns of the input
  int max_channels = 40;  // input and output
  int max_kernel = 5;
  int max_stride = 3;
  int max_dilation = 1;
  int max_depth_multiplier = 1;
  bool uint8 = false;  // a legacy uint8 model, weights with a zero point
};

// A model of one random layer of a kind (Add: one input added to itself behind a 1x1 convolution). Channel
// counts are multiples of nothing, zero points often stand at an end of the range; in one weighted layer of
// four the biases put the accumulators next to the ends of int32.
ModelBuilder random_layer(uint64_t seed, OpKind kind, const RandomLayerLimits& limits = {});

// Random stored values; one in four is -128, 127 or 0, so that extremes meet.
std::vector<int8_t> random_values(size_t count, std::mt19937_64& random);

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_MODEL_BUILDER_H
