// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/inputs.h"

#include "base/error.h"
#include "cli/demo.h"
#include "cli/files.h"
#include "run/session.h"

namespace kaiten::cli {

namespace {

ModelInputs demo_inputs(std::uint64_t seed, int batch) {
  const std::size_t images = demo_images().size() / kDemoImageBytes;
  ModelInputs inputs;
  for (std::size_t i = 0; i < std::size_t(batch); i++) {
    const std::size_t image = (seed + i) % images;
    Int8Values values;
    for (std::uint8_t pixel : demo_images().subspan(image * kDemoImageBytes, kDemoImageBytes))
      values.push_back(std::int8_t(pixel - 128));
    inputs.values.push_back(std::move(values));
  }
  inputs.origin =
      "image " + std::to_string(seed % images) + (batch > 1 ? " and following" : "") + " of the demo";
  return inputs;
}

}  // namespace

ModelInputs make_inputs(const Graph& graph, const InputSource& source) {
  if (source.file.empty() && source.rule.asked())
    throw InputError("--mean and --scale need an image as --input");
  if (source.file.empty() && source.demo) return demo_inputs(source.seed, source.batch);
  ModelInputs inputs;
  if (source.file.empty()) {
    inputs.values = random_inputs(graph, source.seed, source.batch);
    inputs.origin = "random, seed " + std::to_string(source.seed);
    return inputs;
  }
  const std::vector<std::uint8_t> file = read_file(source.file);
  if (is_image(file)) {
    const int input = only_input(graph);
    if (source.batch > 1) {
      throw InputError("input '" + source.file + "' is one image, a batch of " +
                       std::to_string(source.batch) + " needs raw tensors, one image behind the other");
    }
    DecodedImage decoded = decode_image(file, source.file);
    const Tensor& tensor = graph.tensors[std::size_t(input)];
    const Quantization quantization = quantization_of(graph, input);
    inputs.values.push_back(to_input(decoded.image, tensor, quantization, source.rule));
    inputs.origin = "image " + source.file + ": " + how_placed(decoded, tensor, source.rule.fit) + "; " +
                    source.rule.text(quantization);
    inputs.image = std::move(decoded.image);
    return inputs;
  }
  if (source.rule.asked())
    throw InputError("--mean and --scale are for images, '" + source.file +
                     "' is none that is read (PNG, JPEG, BMP, PPM)");
  std::size_t wanted = 0;
  for (int t : graph.inputs) wanted += std::size_t(source.batch) * graph.tensors[std::size_t(t)].bytes();
  if (const char* format = foreign_image(file); format != nullptr && file.size() != wanted) {
    throw InputError("input '" + source.file + "' is a " + format +
                     " image: images are read as PNG, JPEG, BMP or PPM, convert it");
  }
  const std::span bytes(reinterpret_cast<const char*>(file.data()), file.size());
  inputs.values = raw_inputs(graph, bytes, "input '" + source.file + "'", source.batch);
  inputs.origin = source.file;
  return inputs;
}

}  // namespace kaiten::cli
