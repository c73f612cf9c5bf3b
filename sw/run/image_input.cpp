// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/image_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace kaiten {

namespace {

double of_channel(const std::vector<double>& values, std::size_t channel, double otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : channel];
}

bool has_channels(int n) { return n == 1 || n == 3; }

bool is_planes(const Tensor& tensor) {
  return tensor.type == ElementType::Float32 && tensor.shape.size() == 4 && has_channels(tensor.shape[1]);
}

double real_of(double stored, const Quantization& q) {
  return q.empty() ? stored + 128 : double(q.scale.front()) * (stored - q.zero_point.front());
}

}  // namespace

int only_input(const Graph& graph, const std::string& who) {
  if (graph.inputs.size() != 1)
    throw InputError(
        fmt::format("{} feeds models with one input; this one has {}", who, graph.inputs.size()));
  return graph.inputs.front();
}

Nhwc image_shape(const Tensor& tensor) {
  Nhwc s = tensor.nhwc();
  if (is_planes(tensor)) s = {tensor.shape[0], tensor.shape[2], tensor.shape[3], tensor.shape[1]};
  if (s.n != 1 || !has_channels(s.c) || tensor.shape.size() < 2) {
    throw InputError(fmt::format("an image feeds inputs of 1 or 3 channels, input '{}' is {}", tensor.name,
                                 shape_text(tensor.model_shape())));
  }
  return s;
}

void ImageRule::complete(const ModelMetadata& metadata) {
  if (!reads_metadata) return;
  if (!order_given) is_bgr = metadata.is_bgr;
  if (normalisation.given() || metadata.mean.empty()) return;
  normalisation = {metadata.mean, metadata.scale};
  from_metadata = true;
}

std::string ImageRule::text(const Quantization& q) const {
  const std::string order = is_bgr ? ", channels blue, green, red" : "";
  if (!normalisation.given()) {
    return fmt::format(
        "stored values pixel - 128, which stand for {:.4g} to {:.4g} (--mean, --scale: others){}",
        real_of(-128, q), real_of(127, q), order);
  }
  const auto list = [](const std::vector<double>& v, double otherwise) {
    return v.empty() ? fmt::format("{:g}", otherwise) : fmt::format("{:g}", fmt::join(v, ","));
  };
  return fmt::format("values (pixel - {}) * {}{}{}", list(normalisation.mean, 0),
                     list(normalisation.scale, 1), from_metadata ? ", as the model's metadata says" : "",
                     order);
}

ImagePlacement placement_in(const Tensor& tensor, int width, int height, Fit fit) {
  const Nhwc s = image_shape(tensor);
  return placement(width, height, s.w, s.h, fit);
}

std::string how_placed(const DecodedImage& decoded, const Tensor& tensor, Fit fit) {
  const Nhwc s = image_shape(tensor);
  const Image& image = decoded.image;
  const ImagePlacement p = placement_in(tensor, image.width, image.height, fit);
  std::string text = fmt::format("{} of {}x{}", decoded.format, image.width, image.height);
  for (const std::string& note : decoded.notes) text += ", " + note;
  if (p.from.width != image.width || p.from.height != image.height) {
    text += fmt::format(", cut to the {}x{} pixels from {},{}", p.from.width, p.from.height, p.from.left,
                        p.from.top);
  }
  if (p.from.width != p.to.width || p.from.height != p.to.height)
    text += fmt::format(", resized to {}x{} (bilinear, antialiased)", p.to.width, p.to.height);
  if (p.to.width != s.w || p.to.height != s.h) text += fmt::format(", black edges to {}x{}", s.w, s.h);
  if (s.c != image.channels) text += s.c == 1 ? ", made grey" : ", grey in three channels";
  return text;
}

Int8Values to_input(const Image& image, const Tensor& tensor, const Quantization& quantization,
                    const ImageRule& rule) {
  const Nhwc s = image_shape(tensor);
  const bool is_float = tensor.type == ElementType::Float32, planes = is_planes(tensor);
  const Normalisation& normalisation = rule.normalisation;
  if (s.c == 1 && std::max(normalisation.mean.size(), normalisation.scale.size()) > 1) {
    throw InputError(
        rule.from_metadata
            ? "the model's metadata has a mean or std of 3 channels, its input one: leave the metadata out"
            : "mean and scale are one number each for an input of one channel, three were given");
  }
  Image fit = fitted(image, s.w, s.h, placement_in(tensor, image.width, image.height, rule.fit));
  if (s.c == 1) fit = to_grey(std::move(fit));
  const double scale = quantization.empty() ? 1.0 : double(quantization.scale.front());
  const int zero_point = quantization.empty() ? -128 : quantization.zero_point.front();
  const auto real = [&](double pixel, std::size_t c) {
    return normalisation.given()
               ? (pixel - of_channel(normalisation.mean, c, 0)) * of_channel(normalisation.scale, c, 1)
               : real_of(pixel - 128, quantization);
  };
  const auto stored = [&](double pixel, std::size_t c) {
    if (!normalisation.given()) return std::int8_t(std::lround(pixel) - 128);
    return std::int8_t(std::clamp(std::round(real(pixel, c) / scale) + zero_point, -128.0, 127.0));
  };
  Int8Values values(is_float ? 0 : s.elements());
  std::vector<float> reals(is_float ? s.elements() : 0);
  const std::size_t pixels = std::size_t(s.h) * std::size_t(s.w);
  for (std::size_t p = 0; p < pixels; p++) {
    const std::uint8_t* in = &fit.data[p * std::size_t(fit.channels)];
    for (std::size_t channel = 0; channel < std::size_t(s.c); channel++) {
      const std::size_t c = rule.is_bgr && s.c == 3 ? 2 - channel : channel;  // red, green or blue
      const double pixel = in[fit.channels == 1 ? 0 : c];
      const std::size_t at = planes ? channel * pixels + p : p * std::size_t(s.c) + channel;
      if (is_float) {
        reals[at] = float(real(pixel, c));
      } else {
        values[at] = stored(pixel, c);
      }
    }
  }
  return is_float ? bytes_of(reals) : values;
}

}  // namespace kaiten
