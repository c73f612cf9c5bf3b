// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "image/resize.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kaiten {

namespace {

constexpr int kWeightBits = 22;

// The inputs under one output and their weights, which add up to about 2^kWeightBits.
struct Window {
  int first = 0;
  std::vector<std::int32_t> weights;
};

std::vector<Window> windows(int in, int out) {
  const double step = double(in) / out;
  const double reach = std::max(step, 1.0);  // half the base of the triangle
  std::vector<Window> all(static_cast<std::size_t>(out));
  for (int o = 0; o < out; o++) {
    const double centre = (o + 0.5) * step;
    const int first = std::max(0, int(std::floor(centre - reach + 0.5)));
    const int end = std::min(in, int(std::floor(centre + reach + 0.5)));
    std::vector<double> heights;
    double sum = 0;
    for (int i = first; i < end; i++) {
      heights.push_back(std::max(0.0, 1.0 - std::abs((i - centre + 0.5) * (1.0 / reach))));
      sum += heights.back();
    }
    Window& w = all[std::size_t(o)];
    w.first = first;
    for (const double h : heights)
      w.weights.push_back(std::int32_t(std::lround(h / sum * (1 << kWeightBits))));
  }
  return all;
}

// `stride`: from one input of the window to the next, in bytes.
std::uint8_t weighted(const Window& w, const std::uint8_t* in, std::size_t stride) {
  std::int64_t sum = std::int64_t(1) << (kWeightBits - 1);
  for (const std::int32_t weight : w.weights) {
    sum += std::int64_t(weight) * *in;
    in += stride;
  }
  return std::uint8_t(std::clamp<std::int64_t>(sum >> kWeightBits, 0, 255));
}

Image with_width(const Image& image, int width) {
  Image out{image.height, width, image.channels, {}};
  const auto channels = std::size_t(image.channels);
  out.data.resize(std::size_t(out.height) * std::size_t(width) * channels);
  const std::vector<Window> all = windows(image.width, width);
  std::uint8_t* to = out.data.data();
  for (int y = 0; y < image.height; y++) {
    const std::uint8_t* row = &image.data[std::size_t(y) * std::size_t(image.width) * channels];
    for (const Window& w : all) {
      for (std::size_t c = 0; c < channels; c++)
        *to++ = weighted(w, row + std::size_t(w.first) * channels + c, channels);
    }
  }
  return out;
}

Image with_height(const Image& image, int height) {
  Image out{height, image.width, image.channels, {}};
  const std::size_t row = std::size_t(image.width) * std::size_t(image.channels);
  out.data.resize(std::size_t(height) * row);
  std::uint8_t* to = out.data.data();
  for (const Window& w : windows(image.height, height)) {
    for (std::size_t x = 0; x < row; x++)
      *to++ = weighted(w, &image.data[std::size_t(w.first) * row + x], row);
  }
  return out;
}

void copy(const Image& from, Box box, Image& to, int left, int top) {
  const auto channels = std::size_t(from.channels);
  for (int y = 0; y < box.height; y++) {
    const std::size_t source = std::size_t(box.top + y) * std::size_t(from.width) + std::size_t(box.left);
    const std::size_t target = std::size_t(top + y) * std::size_t(to.width) + std::size_t(left);
    std::copy_n(&from.data[source * channels], std::size_t(box.width) * channels,
                &to.data[target * channels]);
  }
}

}  // namespace

std::optional<Fit> fit_of(std::string_view name) {
  if (name == "crop") return Fit::Crop;
  if (name == "stretch") return Fit::Stretch;
  if (name == "pad") return Fit::Pad;
  return std::nullopt;
}

ImagePlacement placement(int image_width, int image_height, int width, int height, Fit fit) {
  ImagePlacement p{{0, 0, image_width, image_height}, {0, 0, width, height}};
  if (fit == Fit::Stretch) return p;
  // The larger side of `box` shrinks until it has the proportions w : h.
  const auto shrink = [](Box& box, std::int64_t w, std::int64_t h) {
    const Box whole = box;
    if (box.width * h > box.height * w) {
      box.width = std::max(1, int((2 * box.height * w + h) / (2 * h)));
    } else {
      box.height = std::max(1, int((2 * box.width * h + w) / (2 * w)));
    }
    box.left = (whole.width - box.width) / 2;
    box.top = (whole.height - box.height) / 2;
  };
  if (fit == Fit::Crop) {
    shrink(p.from, width, height);
  } else {
    shrink(p.to, image_width, image_height);
  }
  return p;
}

Image resized(const Image& image, int width, int height) {
  Image out = width == image.width ? image : with_width(image, width);
  return height == out.height ? out : with_height(out, height);
}

Image fitted(const Image& image, int width, int height, const ImagePlacement& place) {
  const Box all{0, 0, image.width, image.height};
  Image part{place.from.height, place.from.width, image.channels, {}};
  if (place.from != all) {
    part.data.resize(std::size_t(part.height) * std::size_t(part.width) * std::size_t(part.channels));
    copy(image, place.from, part, 0, 0);
  }
  Image scaled = resized(place.from == all ? image : part, place.to.width, place.to.height);
  if (scaled.width == width && scaled.height == height) return scaled;
  Image out{height, width, image.channels, {}};
  out.data.resize(std::size_t(height) * std::size_t(width) * std::size_t(image.channels));
  copy(scaled, {0, 0, scaled.width, scaled.height}, out, place.to.left, place.to.top);
  return out;
}

Image to_grey(Image image) {
  if (image.channels == 1) return image;
  const std::size_t pixels = image.data.size() / 3;
  for (std::size_t p = 0; p < pixels; p++) {
    const std::uint8_t* rgb = &image.data[3 * p];
    image.data[p] = std::uint8_t((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
  }
  image.data.resize(pixels);
  image.channels = 1;
  return image;
}

}  // namespace kaiten
