// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Images as model inputs: PNG, PGM (P5) and PPM (P6), eight bits a channel.
#ifndef KAITEN_CLI_IMAGE_H
#define KAITEN_CLI_IMAGE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "reference/reference.h"

namespace kaiten::cli {

struct Image {
  int height = 0;
  int width = 0;
  int channels = 0;                // 1 or 3
  std::vector<std::uint8_t> data;  // rows of pixels
};

bool is_image(std::span<const std::uint8_t> file);
// Throws InputError naming the file for anything that is not a sound image.
Image decode_image(std::span<const std::uint8_t> file, const std::string& name);

// How a pixel becomes an input: real = (pixel - mean) * scale; stored = real / tensor scale + zero point,
// rounded and limited. Without mean and scale the 256 values of a pixel are the 256 stored values (pixel -
// 128), which is what int8 image models expect; a float32 input gets the real values these stand for.
struct Normalisation {
  std::optional<double> mean;
  std::optional<double> scale;

  std::string text() const;
};

// `quantization`: of the tensor; of a float32 one, what it is quantised with, or nothing. Float32 tensors are
// NCHW, or NHWC where only the last dimension can be the channels. Throws InputError where size or channels
// are not the tensor's. Grey images feed three channels and the other way round.
Int8Values to_input(const Image& image, const Tensor& tensor, const Quantization& quantization,
                    const Normalisation& normalisation);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_IMAGE_H
