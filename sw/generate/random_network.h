// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Builds a quantised network of random weights layer by layer, as a TensorFlow Lite file. Every layer is
// calibrated when it is added, as batch normalisation and a quantiser do for a trained one: the sums of the
// reference executor on a random image choose bias and scale of each output channel, so that about half of
// the values are zero behind a ReLU, few saturate and no channel dies.
//
// The same seed gives the same bytes on every machine.
#ifndef KAITEN_MODELS_GENERATE_RANDOM_NETWORK_H
#define KAITEN_MODELS_GENERATE_RANDOM_NETWORK_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "export/tflite_file.h"
#include "graph/graph.h"

namespace kaiten::generate {

// Fewer pixels than this say nothing of a channel: then all channels are calibrated together.
constexpr size_t kFewPixels = 32;

struct ConvShape {
  int channels = 0;
  int kernel = 1;
  int stride = 1;
  int groups = 1;
  bool relu = true;
  bool same = true;  // else no padding
  bool gate =
      false;        // ReLU6 of the result plus 3: six times the hard-sigmoid, a product takes care of the six
  int add_to = -1;  // tensor that add() adds to the result
  float out_scale = 0;    // of the output, for operands of concat(); 0: chosen
  int slot = -1;          // of a SuperNet: the weights are those of the slot's first kernels and channels
  std::string name = {};  // of the layer; empty: numbered
};

class RandomNetwork {
 public:
  // A network that reads an image of size x size x 3. Of the weights, `zeros` percent are zero, as in a
  // pruned network.
  RandomNetwork(int size, uint64_t seed, int zeros = 0);

  // Layers take and return tensors of the file.
  int image() const { return 0; }
  int conv(int in, const ConvShape& shape);
  int depthwise(int in, const ConvShape& shape);  // of all channels, whatever `shape` says of them
  int fully_connected(int in, int channels, bool relu, int slot = -1, const std::string& name = {});
  int add(int a, int b, bool relu = true);
  int multiply(int map, int factors);  // one factor a channel
  int hard_swish(int in);
  int max_pool(int in, int kernel, int stride, bool same = true);
  int average_pool(int in, int kernel, int stride);  // "same" padding
  int mean(int in);
  int concat(const std::vector<int>& operands);  // of one scale, see shared_scale()
  // Groups of channels become the fast dimension: reshaped, transposed, reshaped.
  int channel_shuffle(int in, int groups);
  int softmax(int in);
  // Tokens, (1, tokens, channels), and the matrices of attention (token_layers.cpp).
  int tokens(int map);  // a token a pixel
  int reshape(int in, const std::vector<int>& shape);
  int transpose(int in, const std::vector<int>& order);
  int batch_matmul(int a, int b, bool transpose_b,
                   double factor = 1);  // factor: of the result's scale, as scores are divided
  int gelu(int in);
  int layer_norm(int in);      // of each token, without learned factors: the next layer's weights have them
  int constant_add(int in);    // one random value an element: embeddings of positions
  int mean_of_tokens(int in);  // (1, channels)

  float scale_of(int tensor) const { return file_.tensors[size_t(tensor)].scale.front(); }
  float shared_scale();
  int side(int tensor) const { return shape_of(tensor).h; }
  int channels(int tensor) const { return shape_of(tensor).c; }

  // The file, with `tensor` as its output.
  std::vector<uint8_t> file(int tensor, const std::string& description);

 private:
  // A layer with weights: what is known before its calibration.
  struct Weighted {
    int code = 0;  // BuiltinOperator
    Nhwc in;       // as the sums see it
    Nhwc out;
    Window window;
    int groups = 1;
    std::vector<int> weights_shape;
    std::vector<int> out_shape;
    ConvShape shape;
  };
  // Bias and weight scale of every output channel, and the output's quantisation.
  struct Calibration {
    std::vector<int32_t> bias;
    std::vector<float> weight_scale;
    float out_scale = 0;
    int out_zero_point = 0;
  };

  Nhwc shape_of(int tensor) const;
  std::vector<int8_t> random_weights(const Weighted& layer);
  int zero_point_of(int tensor) const { return int(file_.tensors[size_t(tensor)].zero_point.front()); }
  double real(int tensor, size_t i) const;
  double uniform(double low, double high);

  int activation(const std::string& kind, const std::vector<int>& shape, float scale, int zero_point);
  int constant(const std::string& kind, FileType type, const std::vector<int>& shape,
               std::vector<uint8_t> data);
  int numbers(const std::string& kind, const std::vector<int>& values);  // int32
  FileOp& operation(int code, const std::vector<int>& inputs, int output);
  int weighted(int in, const Weighted& layer);
  // An activation of these real values, scale and zero point by their range.
  int elementwise(const std::string& kind, const std::vector<int>& shape, const std::vector<double>& reals);
  std::vector<double> reals(int tensor) const;
  // Of the last dimension, which becomes 1.
  int mean_of_channels(int in);
  // An operator of two tensors, the second stretched over the last dimension or of the same shape.
  int combined(int code, const std::string& kind, int a, int b, double (*value)(double, double));
  int function(int code, const std::string& kind, int in, double (*value)(double));
  FileOp& pool(int code, int in, const Window& window, Nhwc to, bool same);
  Calibration with_relu(int in, const ConvShape& shape, const std::vector<int32_t>& sums, size_t channels);
  Calibration without_relu(int in, const ConvShape& shape, const std::vector<int32_t>& sums, size_t channels);

  std::mt19937_64 random_;
  uint64_t seed_;
  unsigned zeros_;
  TfLiteFile file_;
  std::vector<std::vector<int8_t>> values_;  // of activations, under the image of the calibration
};

// The weight of a slot of a SuperNet: it depends on its place alone, so that every SubNet has the first kernels and channels
// of the same weights. `position`: row times columns plus column.
int8_t supernet_weight(uint64_t seed, int slot, int kernel, int position, int channel);

// The image that `kaiten run --seed SEED` takes too: size x size x 3 random stored values.
std::vector<int8_t> random_image(int size, uint64_t seed);

}  // namespace kaiten::generate

#endif  // KAITEN_MODELS_GENERATE_RANDOM_NETWORK_H
