// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// TensorFlow Lite's quantised HARD_SWISH: 16-bit fixed point. The value is taken seven binary places up, scaled towards the
// output and, beside that, to relu6(x + 3) / 6 as a fraction of 2^16; their product is shifted down to the output. Source:
// tensorflow/lite/kernels/activations.cc and internal/reference/hard_swish.h; every value of every scale that
// tests/oracle/sweep.py draws equals LiteRT and tflite-micro.
#ifndef KAITEN_GRAPH_HARD_SWISH_H
#define KAITEN_GRAPH_HARD_SWISH_H

#include <optional>

#include "graph/quantize.h"

namespace kaiten {

// Of all stored values. Nothing where the output's scale is less than an input step over 128 times: LiteRT refuses that.
std::optional<ValueTable> hard_swish_table(float in_scale, int in_zero_point, float out_scale,
                                           int out_zero_point);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_HARD_SWISH_H
