// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Boxes from the raw outputs of detectors.
#ifndef KAITEN_DRAW_BOXES_H
#define KAITEN_DRAW_BOXES_H

#include <vector>

#include "draw/findings.h"

namespace kaiten::draw {

// BlazeFace and palm detection (Bazarevsky et al., "BlazeFace", and MediaPipe's graphs): outputs of n x 1 scores and n x (4 + 2
// k) values, perhaps in two parts, for 2 anchors a cell of a grid of g x g and 6 of one of g/2 x g/2. Empty if these are others.
std::vector<FoundBox> blaze_boxes(const std::vector<RealOutput>& outputs, const Nhwc& input);
bool is_blaze(const std::vector<RealOutput>& outputs);

// YOLOv2 (Redmon and Farhadi, "YOLO9000"): one output of rows x columns x (anchors (5 + classes)).
std::vector<FoundBox> yolo_boxes(const RealOutput& output, const std::vector<std::array<double, 2>>& anchors);

// The boxes of at least this score, the best first, without those that overlap a better one of their class by more than half of
// what both cover.
std::vector<FoundBox> best_boxes(std::vector<FoundBox> boxes, double threshold);

}  // namespace kaiten::draw

#endif  // KAITEN_DRAW_BOXES_H
