// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The signatures of TensorFlow Lite files: names that a model's users have for its inputs and outputs.
#ifndef KAITEN_IMPORT_SIGNATURES_H
#define KAITEN_IMPORT_SIGNATURES_H

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace kaiten {

/// A function of a file: tensors, as the graph numbers them, by their names in the signature.
struct Signature {
  std::map<std::string, int> inputs;   ///< index of the tensor, of each input
  std::map<std::string, int> outputs;  ///< likewise of each output
};

/// The signatures of a file's first subgraph by their keys; none for other formats and damaged files. Throws nothing.
std::map<std::string, Signature> tflite_signatures(std::span<const std::uint8_t> file);

}  // namespace kaiten

#endif  // KAITEN_IMPORT_SIGNATURES_H
