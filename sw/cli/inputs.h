// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Inputs of a run: from a file in the model's own type and layout, from an image, random, or of the demo.
#ifndef KAITEN_CLI_INPUTS_H
#define KAITEN_CLI_INPUTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "reference/reference.h"
#include "run/image_input.h"
#include "run/random_inputs.h"

namespace kaiten::cli {

struct InputSource {
  bool demo = false;  // without a file: an image of the demo network
  std::string file;   // empty: random values
  std::uint64_t seed = 1;
  ImageRule rule;
  int batch = 1;  // images: one behind the other in the file, random ones all different
};

struct ModelInputs {
  std::vector<Int8Values> values;  // in the order of graph.inputs, image by image
  std::string origin;              // where they come from, for the report
  std::optional<Image> image;      // as decoded, where it is one
};

// Throws InputError where the file does not fit the model.
ModelInputs make_inputs(const Graph& graph, const InputSource& source);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_INPUTS_H
