// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "draw/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace kaiten::draw {
namespace {

constexpr int kLinesOfSide = 120;  // lines are a 120th of the shorter side wide

Image in_colour(const Image& image) {
  if (image.channels == 3) return image;
  Image out{image.height, image.width, 3, {}};
  for (const std::uint8_t v : image.data) out.data.insert(out.data.end(), 3, v);
  return out;
}

// From shares of the network's input to pixels of the image, and back.
class Frame {
 public:
  Frame(const ImagePlacement& place, const Nhwc& input) : place_(place), input_(input) {}
  double column(double x) const {
    return place_.from.left + (x * input_.w - place_.to.left) * place_.from.width / place_.to.width;
  }
  double row(double y) const {
    return place_.from.top + (y * input_.h - place_.to.top) * place_.from.height / place_.to.height;
  }
  double x_of(double column) const {
    return ((column - place_.from.left) * place_.to.width / place_.from.width + place_.to.left) / input_.w;
  }
  double y_of(double row) const {
    return ((row - place_.from.top) * place_.to.height / place_.from.height + place_.to.top) / input_.h;
  }

 private:
  ImagePlacement place_;
  Nhwc input_;
};

Mask stretched(const Mask& m, const Image& image, const Frame& frame) {
  Mask out{image.height, image.width, {}};
  for (int y = 0; y < image.height; y++) {
    const double row = std::floor(frame.y_of(y + 0.5) * m.height);
    for (int x = 0; x < image.width; x++) {
      const double column = std::floor(frame.x_of(x + 0.5) * m.width);
      const bool inside = row >= 0 && column >= 0 && row < m.height && column < m.width;
      out.classes.push_back(inside ? m.classes[std::size_t(row) * std::size_t(m.width) + std::size_t(column)]
                                   : 0);
    }
  }
  return out;
}

class Canvas {
 public:
  explicit Canvas(Image image)
      : image_(std::move(image)), line_(std::max(1, std::min(image_.width, image_.height) / kLinesOfSide)) {}

  void paint(int x, int y, Colour colour, double share = 1) {
    if (x < 0 || y < 0 || x >= image_.width || y >= image_.height) return;
    std::uint8_t* p = &image_.data[(std::size_t(y) * std::size_t(image_.width) + std::size_t(x)) * 3];
    for (std::size_t c = 0; c < 3; c++) p[c] = std::uint8_t(std::lround(p[c] + share * (colour[c] - p[c])));
  }

  // What lies beyond the image is cut off.
  void rectangle(const FoundBox& b, Colour colour) {
    const int left = pixel(b.left), right = pixel(b.right), top = pixel(b.top), bottom = pixel(b.bottom);
    for (int y = std::max(top, 0); y <= std::min(bottom, image_.height - 1); y++) {
      for (int x = std::max(left, 0); x <= std::min(right, image_.width - 1); x++) {
        const bool edge = x < left + line_ || x > right - line_ || y < top + line_ || y > bottom - line_;
        if (edge) paint(x, y, colour);
      }
    }
  }

  void dot(const Point& p, Colour colour) {
    const int radius = line_ + 1;
    for (int dy = -radius; dy <= radius; dy++) {
      for (int dx = -radius; dx <= radius; dx++) {
        if (dx * dx + dy * dy <= radius * radius) paint(pixel(p.x) + dx, pixel(p.y) + dy, colour);
      }
    }
  }

  void mask(const Mask& m) {
    constexpr double kShare = 0.5;
    for (int i = 0; i < m.height * m.width; i++) {
      const int category = m.classes[std::size_t(i)];
      if (category != 0) paint(i % m.width, i / m.width, colour_of(category), kShare);
    }
  }

  Image take() { return std::move(image_); }

 private:
  // Far outside stays outside, and NaN with it.
  static int pixel(double at) {
    constexpr double kFar = 2.0 * kMaxImageSide;
    return at > -kFar && at < kFar ? int(std::floor(at)) : int(kFar);
  }

  Image image_;
  int line_;
};

}  // namespace

// Hues by the golden angle, so that no two of some tens are near each other.
Colour colour_of(int category) {
  const double hue = std::fmod(category * 0.618033988749895, 1.0) * 6;
  const auto channel = [&](double shift) {
    const double at = std::fmod(hue + shift, 6.0);
    return std::uint8_t(std::lround(255 * std::clamp(std::abs(at - 3) - 1, 0.0, 1.0)));
  };
  return {channel(0), channel(4), channel(2)};
}

Findings in_pixels(Findings f, const Image& image, const ImagePlacement& place, const Nhwc& input) {
  const Frame frame(place, input);
  const auto move = [&](Point& p) { p = {frame.column(p.x), frame.row(p.y), p.score}; };
  for (Point& p : f.points) move(p);
  for (FoundBox& b : f.boxes) {
    b.left = frame.column(b.left), b.right = frame.column(b.right);
    b.top = frame.row(b.top), b.bottom = frame.row(b.bottom);
    for (Point& p : b.points) move(p);
  }
  if (f.mask) f.mask = stretched(*f.mask, image, frame);
  return f;
}

Image drawn(const Image& image, const Findings& findings) {
  if (findings.picture) return *findings.picture;
  Canvas canvas(in_colour(image));
  if (findings.mask) canvas.mask(*findings.mask);
  for (const FoundBox& b : findings.boxes) {
    canvas.rectangle(b, colour_of(b.category));
    for (const Point& p : b.points) canvas.dot(p, colour_of(b.category));
  }
  for (std::size_t i = 0; i < findings.points.size(); i++) canvas.dot(findings.points[i], colour_of(int(i)));
  return canvas.take();
}

std::string summary(const Findings& findings) {
  if (findings.picture)
    return fmt::format("a picture of {}x{}", findings.picture->width, findings.picture->height);
  if (findings.mask) {
    const std::set<int> classes(findings.mask->classes.begin(), findings.mask->classes.end());
    std::string text = classes.size() == 1 ? "class" : "classes";
    for (const int c : classes) text += " " + std::to_string(c);
    return text;
  }
  if (findings.kind == Kind::Points)
    return fmt::format("{} point{}", findings.points.size(), findings.points.size() == 1 ? "" : "s");
  std::string text = fmt::format("{} box{}", findings.boxes.size(), findings.boxes.size() == 1 ? "" : "es");
  for (const FoundBox& b : findings.boxes)
    text += fmt::format(", class {} {:.0f} %", b.category, 100 * b.score);
  return text;
}

}  // namespace kaiten::draw
