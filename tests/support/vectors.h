// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Vectors that the make_*_vectors.py scripts recorded: models, inputs, and what an interpreter made of them.
#ifndef KAITEN_TESTS_SUPPORT_VECTORS_H
#define KAITEN_TESTS_SUPPORT_VECTORS_H

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"

namespace kaiten::test {

struct Vector {
  std::string name;
  std::vector<std::uint8_t> model;                 // the file
  std::vector<std::vector<std::uint8_t>> inputs;   // the model's own bytes
  std::vector<std::vector<std::uint8_t>> outputs;  // likewise
};

// Of a file of the source tree.
std::vector<Vector> vectors(const std::string& file);

// The inputs as the graph stores them.
std::vector<Int8Values> stored_inputs(const Graph& graph, const Vector& vector);

// Elements of output `i` that differ from the vector's; `values` are stored ones. GoogleTest fails where sizes differ.
std::size_t differing(const Graph& graph, const Vector& vector, std::size_t i, const Int8Values& values);

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_VECTORS_H
