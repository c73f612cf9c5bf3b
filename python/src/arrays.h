// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// NumPy arrays to the values of tensors and back. Arrays have the model's own type and shape; several images lie along the
// first dimension.
#ifndef KAITEN_PYTHON_ARRAYS_H
#define KAITEN_PYTHON_ARRAYS_H

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"

namespace kaiten::python {

struct Inputs {
  std::vector<Int8Values> values;  // in the order of graph.inputs, image by image
  int images = 1;
};

// Of a NumPy array: its sides, and its type as name_of(ElementType) calls it.
std::vector<long> shape_of(const nanobind::object& array);
std::string type_of(const nanobind::object& array);

// An array, a list of them in the order of the inputs, or a dictionary by name. Throws InputError for a wrong name, number,
// type or shape.
Inputs inputs_of(const Graph& graph, const nanobind::object& given);

// One array: `images` values of the tensor, which lie `step` apart in `values`, from `first` on.
nanobind::object array_of(const Tensor& tensor, std::span<const Int8Values> values, std::size_t first,
                          std::size_t step, int images);

// All outputs of a run, in their order.
nanobind::list outputs_of(const Graph& graph, std::span<const Int8Values> values, int images);

}  // namespace kaiten::python

#endif  // KAITEN_PYTHON_ARRAYS_H
