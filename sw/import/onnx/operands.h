// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Inputs of nodes: constants, lists of numbers, scales, dequantised values.
#ifndef KAITEN_IMPORT_ONNX_OPERANDS_H
#define KAITEN_IMPORT_ONNX_OPERANDS_H

#include <cstdint>
#include <utility>
#include <vector>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

// The value that input i is. InputError where it is absent.
int input(const State& s, const Node& node, int i);

// A constant whose bytes are known; `role` names it in messages.
const Constant& constant(const State& s, int value, const char* role);
// At most 64 integers.
std::vector<std::int64_t> numbers(const State& s, int value, const char* role);
// Those of an attribute in older operator sets, of an input in newer ones.
std::vector<std::int64_t> numbers_of(const State& s, const Node& node, int input_index, const char* name);
// Scale and zero point from two inputs of a node; `type` where there is no zero point.
Scales scales_of(const State& s, const Node& node, int scale, int zero_point, int type);
// Lower and upper limit of a Relu or Clip.
std::pair<float, float> clip_limits(State& s, const Node& node);

bool is_dequantised_activation(const State& s, int value);
// A constant, or the dequantised values of one.
bool is_constant_value(const State& s, int value);
// The real values of a dequantised constant.
std::vector<float> dequantised(State& s, const Value& v);
// Those of a constant of float32 or a dequantised one. Throws Unsupported for any other value.
std::vector<float> real_values(State& s, int value);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_OPERANDS_H
