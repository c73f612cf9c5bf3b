// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/real_functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace kaiten {

bool is_function(HostKind kind) { return kind >= HostKind::Clip && kind <= HostKind::Sign; }

bool is_function_of_two(HostKind kind) { return kind >= HostKind::Add && kind <= HostKind::PRelu; }

float real_function(const Op& op, float x) {
  switch (op.host_kind) {
    case HostKind::Clip:
      // Not std::clamp: ONNX allows lo > hi, and hi wins.
      return std::min(std::max(x, op.lo), op.hi);
    case HostKind::LeakyRelu:
      return x < 0 ? op.alpha * x : x;
    case HostKind::Elu:
      return x < 0 ? op.alpha * (std::exp(x) - 1.0F) : x;
    case HostKind::Sigmoid:
      return 1.0F / (1.0F + std::exp(-x));
    case HostKind::Tanh:
      return std::tanh(x);
    case HostKind::HardSigmoid:
      return std::clamp(op.alpha * x + op.beta, 0.0F, 1.0F);
    case HostKind::HardSwish:
      return x * std::clamp(x * (1.0F / 6.0F) + 0.5F, 0.0F, 1.0F);
    case HostKind::Erf:
      return std::erf(x);
    case HostKind::Gelu:
      return 0.5F * x * (1.0F + std::erf(x * float(std::numbers::sqrt2 / 2)));
    case HostKind::Softplus:
      return x > 0 ? x + std::log(std::exp(-x) + 1.0F) : std::log(std::exp(x) + 1.0F);
    case HostKind::Exp:
      return std::exp(x);
    case HostKind::Log:
      return std::log(x);
    case HostKind::Sqrt:
      return std::sqrt(x);
    case HostKind::Reciprocal:
      return 1.0F / x;
    case HostKind::Abs:
      return std::abs(x);
    case HostKind::Neg:
      return -x;
    case HostKind::Floor:
      return std::floor(x);
    case HostKind::Ceil:
      return std::ceil(x);
    case HostKind::Round:
      return std::nearbyint(x);
    case HostKind::Sign:
      return float(int(x > 0) - int(x < 0));
    default:
      throw std::logic_error("no function of one value: " + std::string(name_of(op.host_kind)));
  }
}

float real_function(HostKind kind, float a, float b) {
  switch (kind) {
    case HostKind::Add:
      return a + b;
    case HostKind::Sub:
      return a - b;
    case HostKind::Mul:
      return a * b;
    case HostKind::Div:
      return a / b;
    case HostKind::Min:
      return std::min(a, b);
    case HostKind::Max:
      return std::max(a, b);
    case HostKind::Pow:
      return std::pow(a, b);
    case HostKind::PRelu:
      return a < 0 ? a * b : a;
    default:
      throw std::logic_error("no function of two values: " + std::string(name_of(kind)));
  }
}

}  // namespace kaiten
