// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the outputs of a vision network say of its image: a class for each pixel, key points, boxes, or another image.
// Positions are shares of the network's input, 0 to 1 from its left and upper edge.
#ifndef KAITEN_DRAW_FINDINGS_H
#define KAITEN_DRAW_FINDINGS_H

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"
#include "image/image.h"

namespace kaiten::draw {

enum class Kind { Mask, Points, Boxes, Picture };

struct Point {
  double x = 0, y = 0;
  double score = 1;  // as the output has it; 1 where it has none
};

struct FoundBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  double score = 0;  // 0 to 1
  int category = 0;  // which class, counted from 0
  std::vector<Point> points;
};

// One class a pixel of a map that covers the input.
struct Mask {
  int height = 0, width = 0;
  std::vector<int> classes;  // rows of pixels
};

struct Findings {
  Kind kind = Kind::Mask;
  std::optional<Mask> mask;
  std::vector<Point> points;
  std::vector<FoundBox> boxes;  // the best first
  std::optional<Image> picture;
};

struct FindOptions {
  std::optional<Kind> kind;  // nothing: by the outputs' shapes
  double threshold = 0.5;    // points and boxes of a lower score are left out
  // YOLO: width and height of each box of a cell, in shares of the input.
  std::vector<std::array<double, 2>> anchors;
};

// An output as its real values, NHWC.
struct RealOutput {
  std::string name;
  std::vector<int> shape;
  bool is_integer = false;
  std::vector<float> values;
};

// Outputs in the graph's order, as Session::run() gives them for one image.
std::vector<RealOutput> real_outputs(const Graph& graph, const std::vector<Int8Values>& outputs);

// The kind that the shapes of these outputs of a network with this input tell. Throws InputError that lists the shapes
// where none fits.
Kind kind_of(const std::vector<RealOutput>& outputs, const Nhwc& input);

// Throws InputError where the outputs have no such findings.
Findings find(const std::vector<RealOutput>& outputs, const Nhwc& input, const FindOptions& options);

}  // namespace kaiten::draw

#endif  // KAITEN_DRAW_FINDINGS_H
