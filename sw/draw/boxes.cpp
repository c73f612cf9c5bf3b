// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "draw/boxes.h"

#include <algorithm>
#include <cmath>

namespace kaiten::draw {
namespace {

constexpr double kMostOverlap = 0.5;   // intersection over union
constexpr int kFine = 2, kCoarse = 6;  // anchors a cell of BlazeFace's two grids

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

FoundBox around(double x, double y, double width, double height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2, 0, 0, {}};
}

double overlap(const FoundBox& a, const FoundBox& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const auto area = [](const FoundBox& f) { return (f.right - f.left) * (f.bottom - f.top); };
  return width * height / (area(a) + area(b) - width * height);
}

// Values of n rows behind one another, parts with more rows (the finer grid) first.
struct Rows {
  std::size_t rows = 0, columns = 0;
  std::vector<float> values;
};

Rows joined(const std::vector<RealOutput>& outputs, bool scores) {
  std::vector<const RealOutput*> parts;
  for (const RealOutput& o : outputs) {
    if ((o.shape.back() == 1) == scores) parts.push_back(&o);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto* a, const auto* b) { return a->shape[1] > b->shape[1]; });
  Rows all;
  for (const RealOutput* o : parts) {
    all.rows += std::size_t(o->shape[1]);
    all.columns = std::size_t(o->shape.back());
    all.values.insert(all.values.end(), o->values.begin(), o->values.end());
  }
  return all;
}

// Cells of the finer grid's side, 0 where n anchors make no such pair of grids.
int grid_of(std::size_t n) {
  const int side = int(std::lround(std::sqrt(double(n) / (kFine + kCoarse / 4.0))));
  const bool fits = side % 2 == 0 && std::size_t(kFine * side * side + kCoarse * side * side / 4) == n;
  return fits ? side : 0;
}

// The centres of the cells, one for each anchor.
std::vector<Point> anchors_of(int side) {
  std::vector<Point> anchors;
  for (const auto& [cells, each] : {std::pair{side, kFine}, std::pair{side / 2, kCoarse}}) {
    for (int i = 0; i < cells * cells * each; i++) {
      const int row = i / each / cells, column = i / each % cells;
      anchors.push_back({(column + 0.5) / cells, (row + 0.5) / cells});
    }
  }
  return anchors;
}

}  // namespace

bool is_blaze(const std::vector<RealOutput>& outputs) {
  for (const RealOutput& o : outputs) {
    const int columns = o.shape.back();
    if (o.shape.size() != 3 || (columns != 1 && (columns < 4 || columns % 2 != 0))) return false;
  }
  const Rows scores = joined(outputs, true), values = joined(outputs, false);
  return scores.rows == values.rows && scores.rows > 0 && grid_of(scores.rows) != 0 &&
         values.values.size() == values.rows * values.columns;
}

std::vector<FoundBox> blaze_boxes(const std::vector<RealOutput>& outputs, const Nhwc& input) {
  const Rows scores = joined(outputs, true), values = joined(outputs, false);
  const std::vector<Point> anchors = anchors_of(grid_of(scores.rows));
  std::vector<FoundBox> boxes;
  for (std::size_t i = 0; i < anchors.size(); i++) {
    const float* v = &values.values[i * values.columns];  // pixels of the input
    const auto x = [&](std::size_t at) { return double(v[at]) / input.w; };
    const auto y = [&](std::size_t at) { return double(v[at]) / input.h; };
    FoundBox box = around(anchors[i].x + x(0), anchors[i].y + y(1), x(2), y(3));
    box.score = sigmoid(double(scores.values[i]));
    for (std::size_t k = 4; k + 1 < values.columns; k += 2)
      box.points.push_back({anchors[i].x + x(k), anchors[i].y + y(k + 1)});
    boxes.push_back(box);
  }
  return boxes;
}

std::vector<FoundBox> yolo_boxes(const RealOutput& output,
                                 const std::vector<std::array<double, 2>>& anchors) {
  const int rows = output.shape[1], columns = output.shape[2];
  const std::size_t fields = std::size_t(output.shape[3]) / anchors.size(), classes = fields - 5;
  std::vector<FoundBox> boxes;
  for (std::size_t i = 0; i * fields < output.values.size(); i++) {
    const float* v = &output.values[i * fields];
    const auto cell = int(i / anchors.size());
    const int row = cell / columns, column = cell % columns;
    const auto& [width, height] = anchors[i % anchors.size()];
    FoundBox box = around((column + sigmoid(double(v[0]))) / columns, (row + sigmoid(double(v[1]))) / rows,
                          width * std::exp(double(v[2])), height * std::exp(double(v[3])));
    const float* best = std::max_element(v + 5, v + fields);
    double sum = 0;
    for (std::size_t c = 0; c < classes; c++) sum += std::exp(double(v[5 + c]) - double(*best));
    box.score = sigmoid(double(v[4])) / sum;
    box.category = int(best - (v + 5));
    boxes.push_back(box);
  }
  return boxes;
}

std::vector<FoundBox> best_boxes(std::vector<FoundBox> boxes, double threshold) {
  std::erase_if(boxes, [=](const FoundBox& b) { return !(b.score >= threshold); });
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const FoundBox& a, const FoundBox& b) { return a.score > b.score; });
  std::vector<FoundBox> kept;
  for (const FoundBox& b : boxes) {
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const FoundBox& k) {
      return k.category == b.category && overlap(k, b) > kMostOverlap;
    });
    if (!known) kept.push_back(b);
  }
  return kept;
}

}  // namespace kaiten::draw
