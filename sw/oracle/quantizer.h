// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Float32 ONNX models to int8 by onnxruntime's quantiser, a Python package that `make setup ALL=1` installs: a program that
// is part of this library (quantizer.py) calls it in a child process, and says how ranges are chosen.
#ifndef KAITEN_ORACLE_QUANTIZER_H
#define KAITEN_ORACLE_QUANTIZER_H

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace kaiten::oracle {

struct Quantized {
  std::vector<std::uint8_t> model;  // ONNX with QuantizeLinear and DequantizeLinear
  // {"method", "agreement", "error", "layers": [{"name", "error"}], "candidates": [{"method", "agreement", "error"}],
  // "calibrated", "measured", "held_out", "quantizer"}
  nlohmann::json report;
};

// The only input of a float32 model, in the model's order. This and quantize() throw InputError where the quantiser is not
// installed or has something against the model, and what `cancellation_check` throws.
Tensor float_input(std::span<const std::uint8_t> model, const std::function<void()>& cancellation_check = {});

// `images`: inputs as bytes, one after the other. `methods`: of "minmax", "percentile", "mse", of which the first
// wins a tie.
Quantized quantize(std::span<const std::uint8_t> model, std::span<const std::uint8_t> images,
                   std::size_t count, const std::vector<std::string>& methods,
                   const std::function<void()>& cancellation_check = {});

}  // namespace kaiten::oracle

#endif  // KAITEN_ORACLE_QUANTIZER_H
