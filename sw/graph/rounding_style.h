// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Whose rounding the arithmetic follows (docs/compiler/numerics.md).
#ifndef KAITEN_GRAPH_ROUNDING_STYLE_H
#define KAITEN_GRAPH_ROUNDING_STYLE_H

#include <cstdint>

namespace kaiten {

/// Whose answers to reproduce: LiteRT's reference kernels (fully connected layers use Single) or
/// tflite-micro's (Double there too). The option --rounding litert|tflm.
enum class RoundingStyle : uint8_t { LiteRt, Tflm };

}  // namespace kaiten

#endif  // KAITEN_GRAPH_ROUNDING_STYLE_H
