// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Codes of operators and activations in TensorFlow Lite files, of those that random networks have.
#ifndef KAITEN_GENERATE_OPERATOR_CODES_H
#define KAITEN_GENERATE_OPERATOR_CODES_H

namespace kaiten::generate {

// Values of BuiltinOperator.
constexpr int kAdd = 0;
constexpr int kAveragePool = 1;
constexpr int kConcat = 2;
constexpr int kConv = 3;
constexpr int kDepthwise = 4;
constexpr int kFullyConnected = 9;
constexpr int kMaxPool = 17;
constexpr int kMul = 18;
constexpr int kReshape = 22;
constexpr int kSoftmax = 25;
constexpr int kTranspose = 39;
constexpr int kMean = 40;
constexpr int kSub = 41;
constexpr int kRsqrt = 76;
constexpr int kSquaredDifference = 99;
constexpr int kHardSwish = 117;
constexpr int kBatchMatMul = 126;
constexpr int kGelu = 150;

// Values of ActivationFunctionType.
constexpr int kRelu = 1;
constexpr int kRelu6 = 3;

}  // namespace kaiten::generate

#endif  // KAITEN_GENERATE_OPERATOR_CODES_H
