// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "graph/real_functions.h"
#include "import/onnx/operands.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

namespace {

struct Named {
  std::string_view name;
  HostKind kind;
};

constexpr Named kFunctions[] = {
    {"Abs", HostKind::Abs},
    {"Ceil", HostKind::Ceil},
    {"Clip", HostKind::Clip},
    {"Elu", HostKind::Elu},
    {"Erf", HostKind::Erf},
    {"Exp", HostKind::Exp},
    {"Floor", HostKind::Floor},
    {"Gelu", HostKind::Gelu},
    {"HardSigmoid", HostKind::HardSigmoid},
    {"HardSwish", HostKind::HardSwish},
    {"LeakyRelu", HostKind::LeakyRelu},
    {"Log", HostKind::Log},
    {"Neg", HostKind::Neg},
    {"Reciprocal", HostKind::Reciprocal},
    {"Relu", HostKind::Clip},
    {"Round", HostKind::Round},
    {"Sigmoid", HostKind::Sigmoid},
    {"Sign", HostKind::Sign},
    {"Softplus", HostKind::Softplus},
    {"Sqrt", HostKind::Sqrt},
    {"Tanh", HostKind::Tanh},
};

constexpr Named kPairs[] = {
    {"Add", HostKind::Add}, {"Div", HostKind::Div},     {"Max", HostKind::Max}, {"Min", HostKind::Min},
    {"Mul", HostKind::Mul}, {"PRelu", HostKind::PRelu}, {"Pow", HostKind::Pow}, {"Sub", HostKind::Sub},
};

template <std::size_t kCount>
HostKind kind_of(const Named (&table)[kCount], std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(table), std::end(table), [&](const Named& n) { return n.name == name; });
  return found == std::end(table) ? HostKind::None : found->kind;
}

// A float for every stored value.
using Floats = std::array<float, 256>;

float step(HostKind kind, float x) {
  Op op;
  op.host_kind = kind;
  op.alpha = 1;
  return real_function(op, x);
}

// Functions of one value that are tables only, in steps as onnxruntime takes them; nothing for any other node.
std::optional<float> composed(const Node& node, float x) {
  const std::string& kind = node.op_type();
  if (kind == "Mish") return x * step(HostKind::Tanh, step(HostKind::Softplus, x));
  if (kind == "Swish") return x * step(HostKind::Sigmoid, real(node, "alpha", 1.0F) * x);
  if (kind == "Softsign") return x / (1 + std::abs(x));
  if (kind == "ThresholdedRelu") return x > real(node, "alpha", 1.0F) ? x : 0;
  if (kind == "Celu") {
    const float alpha = real(node, "alpha", 1.0F);
    return std::max(x, 0.0F) + std::min(alpha * (step(HostKind::Exp, x / alpha) - 1), 0.0F);
  }
  if (kind == "Selu") {
    const float below = real(node, "alpha", 1.67326319F) * (step(HostKind::Exp, x) - 1);
    return real(node, "gamma", 1.05070102F) * (std::max(x, 0.0F) + std::min(below, 0.0F));
  }
  if (kind == "Gelu" && text(node, "approximate", "none") == "tanh") {
    constexpr float kOfX = 0.7978845608F, kOfCube = 0.0356774081F;  // sqrt(2 / pi), and 0.044715 times it
    return 0.5F * x * (1 + step(HostKind::Tanh, x * (kOfCube * x * x + kOfX)));
  }
  return std::nullopt;
}

// Walks an expression down to its only dequantised activation.
class Evaluation {
 public:
  explicit Evaluation(State& s) : s_(s) {}

  int source() const { return source_; }  // the dequantised activation; -1: none so far

  std::optional<Floats> of(int value) {
    const Value& v = s_.at(value);
    if (is_dequantised_activation(s_, value)) return of_activation(value);
    if (is_constant_value(s_, value)) return of_constant(value);
    if (v.form != Form::Expression || v.tensor >= 0) return std::nullopt;
    const std::vector<int> operands = v.operands;
    const Node& node = *v.node;
    if (const HostKind pair = kind_of(kPairs, node.op_type());
        pair != HostKind::None && operands.size() == 2) {
      const auto a = of(operands[0]), b = of(operands[1]);
      if (!a || !b) return std::nullopt;
      return each([&](std::size_t i) { return real_function(pair, (*a)[i], (*b)[i]); });
    }
    if (composed(node, 0)) {
      const auto x = of(operands[0]);
      if (!x) return std::nullopt;
      return each([&](std::size_t i) { return *composed(node, (*x)[i]); });
    }
    const std::optional<Op> function = function_of(s_, node);
    if (!function) return std::nullopt;
    const auto x = of(operands[0]);
    if (!x) return std::nullopt;
    return each([&](std::size_t i) { return real_function(*function, (*x)[i]); });
  }

 private:
  template <typename F>
  static Floats each(F f) {
    Floats floats;
    for (std::size_t i = 0; i < floats.size(); i++) floats[i] = f(i);
    return floats;
  }

  std::optional<Floats> of_activation(int value) {
    const Value& v = s_.at(value);
    if (source_ >= 0 && (s_.at(source_).source != v.source || !(s_.at(source_).scales == v.scales)))
      return std::nullopt;
    source_ = value;
    const int first = v.scales.type == kUint8 ? 0 : -128;
    return each(
        [&](std::size_t i) { return float(int(i) + first - v.scales.zero_point[0]) * v.scales.scale[0]; });
  }

  std::optional<Floats> of_constant(int value) {
    const Value& v = s_.at(value);
    if (elements_of(v.shape) != 1) return std::nullopt;
    float x = 0;
    if (v.form == Form::Dequantised) {
      x = dequantised(s_, v).front();
    } else {
      if (v.constant.type != kFloat) return std::nullopt;
      x = v.constant.real(0);
    }
    return each([=](std::size_t) { return x; });
  }

  State& s_;
  int source_ = -1;
};

}  // namespace

std::optional<Op> function_of(State& s, const Node& node) {
  Op op;
  op.kind = OpKind::HostFloat;
  op.host_kind = kind_of(kFunctions, node.op_type());
  switch (op.host_kind) {
    case HostKind::None:
      return std::nullopt;
    case HostKind::Clip:
      std::tie(op.lo, op.hi) = clip_limits(s, node);
      break;
    case HostKind::LeakyRelu:
      op.alpha = real(node, "alpha", 0.01F);
      break;
    case HostKind::HardSigmoid:
      op.alpha = real(node, "alpha", 0.2F);
      op.beta = real(node, "beta", 0.5F);
      break;
    case HostKind::Gelu:
      if (text(node, "approximate", "none") != "none")
        throw Unsupported{"Gelu without approximation, or of quantised values",
                          clean_name(text(node, "approximate", "none"))};
      break;
    default:
      op.alpha = real(node, "alpha", 1.0F);
  }
  return op;
}

int as_table(State& s, int value, const Scales& out) {
  if (s.at(value).form != Form::Expression) return kNoTensor;
  Evaluation evaluation(s);
  const auto floats = evaluation.of(value);
  if (!floats || evaluation.source() < 0 || s.at(evaluation.source()).shape != s.at(value).shape)
    return kNoTensor;
  Op op;
  op.kind = OpKind::Table;
  op.function = Function::Values;
  const int offset = out.type == kUint8 ? 128 : 0;
  for (const float f : *floats) {
    const float rounded = std::clamp(std::nearbyint(f / out.scale[0]), -1.0e6F, 1.0e6F);
    op.dims.push_back(std::clamp((std::isnan(f) ? 0 : int(rounded)) + out.zero_point[0] - offset, -128, 127));
  }
  op.inputs = {plain(s, activation_of(s, evaluation.source()))};
  return emit_quantised(s, std::move(op), s.layer.name, s.at(value).shape, out);
}

}  // namespace kaiten::importing::from_onnx
