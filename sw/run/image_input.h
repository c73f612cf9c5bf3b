// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Images as model inputs: their size, channels and values made those of the tensor, by the caller's word or the model's.
///
/// @code
///   kaiten::ImageRule rule;
///   rule.complete(kaiten::tflite_metadata(file));
///   const kaiten::DecodedImage photo = kaiten::decode_image(bytes, "photo.jpg");
///   const int input = graph.inputs[0];
///   const kaiten::Int8Values values =
///       kaiten::to_input(photo.image, graph.tensors[input], kaiten::quantization_of(graph, input), rule);
/// @endcode
#ifndef KAITEN_RUN_IMAGE_INPUT_H
#define KAITEN_RUN_IMAGE_INPUT_H

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"
#include "image/image.h"
#include "image/resize.h"
#include "metadata/metadata.h"

namespace kaiten {

/// How a pixel becomes an input: real = (pixel - mean) * scale; stored = real / tensor scale + zero point,
/// rounded and limited. Without mean and scale the 256 values of a pixel are the 256 stored values (pixel -
/// 128), which is what int8 image models expect; a float32 input gets the real values these stand for.
struct Normalisation {
  std::vector<double> mean;   ///< one value, or one each for red, green and blue; empty: 0
  std::vector<double> scale;  ///< likewise; empty: 1

  /// Whether there is one at all.
  bool given() const { return !mean.empty() || !scale.empty(); }
};

/// What the caller says of images, and where that is nothing, the model's file.
struct ImageRule {
  Normalisation normalisation;  ///< how pixels become values
  Fit fit = Fit::Crop;          ///< how other proportions than the input's fill it
  bool is_bgr = false;          ///< channels of the input: blue, green, red
  bool order_given = false;     ///< is_bgr is the caller's word
  bool reads_metadata = true;   ///< the file may say what the caller left open
  bool from_metadata = false;   ///< the normalisation is the file's

  /// Takes what the caller left open. `metadata`: of the model that the images are for.
  void complete(const ModelMetadata& metadata);
  /// Whether the caller asked for a normalisation.
  bool asked() const { return normalisation.given() && !from_metadata; }
  /// How pixels become values, where that was said, and what real values it gives.
  std::string text(const Quantization& quantization) const;
};

/// The input of a model that has one. Throws InputError for models with others; `who`: what feeds it.
int only_input(const Graph& graph, const std::string& who = "an image");
/// The sides of an input that takes an image. Throws InputError where the tensor is none: not one map of 1 or 3 channels.
Nhwc image_shape(const Tensor& tensor);
/// Where an image of these sides lies in the input. Throws InputError where the tensor is no image.
ImagePlacement placement_in(const Tensor& tensor, int width, int height, Fit fit);

/// Values of the tensor, in its own type and layout. `quantization`: as quantization_of() gives it. Float32 tensors are
/// NCHW, or NHWC where only the last dimension can be the channels. The image is cut, resized, made grey or repeated in
/// three channels as the tensor needs. Throws InputError where tensor or normalisation do not fit.
Int8Values to_input(const Image& image, const Tensor& tensor, const Quantization& quantization,
                    const ImageRule& rule);
/// What was done to the image, in a few words.
std::string how_placed(const DecodedImage& decoded, const Tensor& tensor, Fit fit);

}  // namespace kaiten

#endif  // KAITEN_RUN_IMAGE_INPUT_H
