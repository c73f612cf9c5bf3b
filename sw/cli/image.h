// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Images as model inputs: their size, channels and values made those of the tensor.
#ifndef KAITEN_CLI_IMAGE_H
#define KAITEN_CLI_IMAGE_H

#include <boost/program_options.hpp>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"
#include "image/image.h"
#include "image/resize.h"
#include "metadata/metadata.h"

namespace kaiten::cli {

// How a pixel becomes an input: real = (pixel - mean) * scale; stored = real / tensor scale + zero point,
// rounded and limited. Without mean and scale the 256 values of a pixel are the 256 stored values (pixel -
// 128), which is what int8 image models expect; a float32 input gets the real values these stand for.
struct Normalisation {
  std::vector<double> mean;   // one value, or one a channel; empty: 0
  std::vector<double> scale;  // likewise; empty: 1

  bool given() const { return !mean.empty() || !scale.empty(); }
};

// What the options --mean, --scale, --channels and --fit say, and where they say nothing, the model's file.
struct ImageRule {
  Normalisation normalisation;
  Fit fit = Fit::Crop;
  bool is_bgr = false;         // channels of the input: blue, green, red
  bool order_given = false;    // by --channels
  bool reads_metadata = true;  // without --no-metadata
  bool from_metadata = false;  // the normalisation is the file's

  // Takes what the options left open. `metadata`: of the model that the images are for.
  void complete(const ModelMetadata& metadata);
  // Whether the user asked for a normalisation.
  bool asked() const { return normalisation.given() && !from_metadata; }
  // For the report: how pixels become values, where that was said, and what real values it gives.
  std::string text(const Quantization& quantization) const;
};

// The options. image_rule() throws InputError for values that are none.
void add_image_options(boost::program_options::options_description& all);
ImageRule image_rule(const boost::program_options::variables_map& values);

// The sides of an input that takes an image. Throws InputError where the tensor is none: not one map of 1 or 3 channels.
Nhwc image_shape(const Tensor& tensor);
// Where the image lies in the input. Throws InputError where the tensor is no image: not one map of 1 or 3 channels.
ImagePlacement placement_in(const Tensor& tensor, int width, int height, Fit fit);

// `quantization`: of the tensor; of a float32 one, what it is quantised with, or nothing. Float32 tensors are
// NCHW, or NHWC where only the last dimension can be the channels. The image is cut, resized, made grey or repeated in
// three channels as the tensor needs.
Int8Values to_input(const Image& image, const Tensor& tensor, const Quantization& quantization,
                    const ImageRule& rule);
// What was done to the image, in a few words.
std::string how_placed(const DecodedImage& decoded, const Tensor& tensor, Fit fit);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_IMAGE_H
