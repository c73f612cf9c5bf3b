// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "draw/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "draw/boxes.h"

namespace kaiten::draw {
namespace {

std::string shapes_of(const std::vector<RealOutput>& outputs) {
  std::string text;
  for (const RealOutput& o : outputs)
    text += (text.empty() ? "" : ", ") + fmt::format("'{}' {}", o.name, shape_text(o.shape));
  return text;
}

template <class T>
std::vector<float> numbers(std::span<const std::uint8_t> bytes) {
  std::vector<float> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); i++) {
    T value{};
    std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
    values[i] = float(value);
  }
  return values;
}

std::vector<float> reals_of(const Tensor& tensor, const Int8Values& stored) {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(stored.data()),
                                            stored.size());
  if (tensor.type == ElementType::Float32) return numbers<float>(bytes);
  if (tensor.type == ElementType::Int32) return numbers<std::int32_t>(bytes);
  if (tensor.type == ElementType::Int64) return numbers<std::int64_t>(bytes);
  std::vector<float> values = numbers<std::int8_t>(bytes);
  if (tensor.quantization.empty()) return values;
  for (float& v : values)
    v = tensor.quantization.scale.front() * (v - float(tensor.quantization.zero_point.front()));
  return values;
}

// A float32 map of an ONNX model is NCHW.
void to_nhwc(RealOutput& o) {
  const auto channels = std::size_t(o.shape[1]);
  const std::size_t pixels = std::size_t(o.shape[2]) * std::size_t(o.shape[3]);
  std::vector<float> values(o.values.size());
  for (std::size_t i = 0; i < values.size(); i++) values[i % pixels * channels + i / pixels] = o.values[i];
  o.values = std::move(values);
  std::rotate(o.shape.begin() + 1, o.shape.begin() + 2, o.shape.end());
}

// Rows and columns of a map of one image, no single row or column.
bool is_map(const RealOutput& o) {
  return o.shape.size() >= 3 && o.shape[0] == 1 && o.shape[1] > 1 && o.shape[2] > 1;
}
int channels_of(const RealOutput& o) { return o.shape.size() == 3 ? 1 : o.shape[3]; }
bool is_classes(const RealOutput& o) {
  return is_map(o) && o.shape.size() <= 4 && o.is_integer && channels_of(o) == 1;
}
bool is_channels(const RealOutput& o) { return is_map(o) && o.shape.size() == 4 && !o.is_integer; }
// n points of row, column and score.
bool is_triples(const RealOutput& o) {
  return o.shape.size() >= 3 && o.shape.back() == 3 && o.shape.front() == 1;
}
// Column, row and depth in pixels, as MediaPipe's landmarks.
bool is_landmarks(const RealOutput& o) {
  return o.shape.size() == 2 && o.shape[0] == 1 && o.shape[1] % 3 == 0 && o.shape[1] > 3;
}

Mask mask_of(const RealOutput& o) {
  Mask mask{o.shape[1], o.shape[2], {}};
  const auto channels = std::size_t(channels_of(o));
  for (std::size_t i = 0; i < o.values.size(); i += channels) {
    const auto first = o.values.begin() + std::ptrdiff_t(i);
    const auto best = std::max_element(first, first + std::ptrdiff_t(channels));
    mask.classes.push_back(channels == 1 ? int(*best) : int(best - first));
  }
  return mask;
}

// The largest value of each channel.
std::vector<Point> peaks_of(const RealOutput& o) {
  const int columns = o.shape[2];
  const auto channels = std::size_t(o.shape[3]);
  std::vector<Point> points;
  for (std::size_t c = 0; c < channels; c++) {
    std::size_t best = c;
    for (std::size_t i = c; i < o.values.size(); i += channels)
      best = o.values[i] > o.values[best] ? i : best;
    const int row = int(best / channels) / columns, column = int(best / channels) % columns;
    points.push_back({(column + 0.5) / columns, (row + 0.5) / o.shape[1], double(o.values[best])});
  }
  return points;
}

// Where a model has landmarks in pixels and in metres, those with the larger numbers are pixels.
const RealOutput* landmarks_of(const std::vector<RealOutput>& outputs) {
  const auto reach = [](const RealOutput& o) {
    float most = 0;
    for (const float v : o.values) most = std::max(most, std::abs(v));
    return most;
  };
  const RealOutput* best = nullptr;
  for (const RealOutput& o : outputs) {
    if (is_landmarks(o) && (best == nullptr || reach(o) > reach(*best))) best = &o;
  }
  return best;
}

std::vector<Point> points_of(const RealOutput& o, const Nhwc& input) {
  if (is_channels(o) && o.shape[1] > 1) return peaks_of(o);
  std::vector<Point> points;
  for (std::size_t i = 0; i + 2 < o.values.size(); i += 3) {
    const double a = double(o.values[i]), b = double(o.values[i + 1]), c = double(o.values[i + 2]);
    points.push_back(is_triples(o) ? Point{b, a, c} : Point{a / input.w, b / input.h, 1});
  }
  return points;
}

Image picture_of(const RealOutput& o) {
  Image image{o.shape[1], o.shape[2], channels_of(o), {}};
  const float most = *std::max_element(o.values.begin(), o.values.end());
  const float scale = most > 2.0F ? 1.0F : 255.0F;  // pixels, or shares of white
  for (const float v : o.values)
    image.data.push_back(std::uint8_t(std::clamp(std::round(v * scale), 0.0F, 255.0F)));
  return image;
}

template <class Fits>
const RealOutput& the_output(const std::vector<RealOutput>& outputs, const char* wanted, Fits fits) {
  for (const RealOutput& o : outputs) {
    if (fits(o)) return o;
  }
  throw InputError(fmt::format("drawing needs {}, the outputs are {}", wanted, shapes_of(outputs)));
}

std::vector<FoundBox> boxes_of(const std::vector<RealOutput>& outputs, const Nhwc& input,
                               const FindOptions& options) {
  if (is_blaze(outputs)) return blaze_boxes(outputs, input);
  const RealOutput& o = the_output(outputs, "boxes of BlazeFace or a grid of cells", is_channels);
  const auto anchors = int(options.anchors.size());
  if (anchors == 0) throw InputError("boxes of a grid of cells need --anchors");
  if (o.shape[3] % anchors != 0 || o.shape[3] / anchors < 6) {
    throw InputError(fmt::format(
        "--anchors has {} boxes, but the {} channels of '{}' are no {} times 5 and a class or more", anchors,
        o.shape[3], o.name, anchors));
  }
  return yolo_boxes(o, options.anchors);
}

}  // namespace

std::vector<RealOutput> real_outputs(const Graph& graph, const std::vector<Int8Values>& outputs) {
  std::vector<RealOutput> reals;
  for (std::size_t i = 0; i < graph.outputs.size(); i++) {
    const Tensor& tensor = graph.tensors[std::size_t(graph.outputs[i])];
    const bool is_integer = tensor.type == ElementType::Int32 || tensor.type == ElementType::Int64;
    RealOutput o{tensor.name, tensor.shape, is_integer, reals_of(tensor, outputs[i])};
    const bool planes = graph.framework == Framework::Onnx && tensor.type == ElementType::Float32;
    if (planes && o.shape.size() == 4) to_nhwc(o);
    reals.push_back(std::move(o));
  }
  return reals;
}

Kind kind_of(const std::vector<RealOutput>& outputs, const Nhwc& input) {
  if (is_blaze(outputs)) return Kind::Boxes;
  const RealOutput& o = outputs.front();
  if (outputs.size() == 1 && is_classes(o)) return Kind::Mask;
  if (outputs.size() == 1 && is_channels(o)) {
    const bool large = o.shape[1] >= input.h && o.shape[2] >= input.w;
    if (large && (channels_of(o) == 1 || channels_of(o) == 3)) return Kind::Picture;
    if (large) return Kind::Mask;
  }
  if (std::any_of(outputs.begin(), outputs.end(), is_landmarks) || (outputs.size() == 1 && is_triples(o)))
    return Kind::Points;
  throw InputError("what to draw? The shapes of the outputs do not tell: " + shapes_of(outputs) +
                   " (--draw-as mask, points, boxes or picture)");
}

Findings find(const std::vector<RealOutput>& outputs, const Nhwc& input, const FindOptions& options) {
  Findings found;
  const RealOutput* landmarks = landmarks_of(outputs);
  const auto draws_points = [=](const RealOutput& o) {
    return is_channels(o) || is_triples(o) || &o == landmarks;
  };
  const auto draws_mask = [](const RealOutput& o) { return is_classes(o) || is_channels(o); };
  const auto draws_picture = [](const RealOutput& o) {
    return is_map(o) && (channels_of(o) == 1 || channels_of(o) == 3);
  };
  found.kind = options.kind ? *options.kind : kind_of(outputs, input);
  switch (found.kind) {
    case Kind::Mask:
      found.mask = mask_of(the_output(outputs, "a map of classes", draws_mask));
      break;
    case Kind::Points:
      found.points = points_of(the_output(outputs, "heat maps or key points", draws_points), input);
      std::erase_if(found.points, [&](const Point& p) { return !(p.score >= options.threshold); });
      break;
    case Kind::Boxes:
      found.boxes = best_boxes(boxes_of(outputs, input, options), options.threshold);
      break;
    case Kind::Picture:
      found.picture = picture_of(the_output(outputs, "a map of 1 or 3 channels", draws_picture));
      break;
  }
  return found;
}

}  // namespace kaiten::draw
