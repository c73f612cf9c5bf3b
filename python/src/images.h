// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Images as inputs: files, their bytes or arrays of pixels, by the arguments of Model.image() and the model's metadata.
#ifndef KAITEN_PYTHON_IMAGES_H
#define KAITEN_PYTHON_IMAGES_H

#include <nanobind/nanobind.h>

#include <string>

#include "graph/graph.h"
#include "run/image_input.h"

namespace kaiten::python {

// The arguments as a rule. `mean` and `scale`: None, a number or three; `channels`: empty, "rgb" or "bgr". Throws InputError.
ImageRule image_rule(const nanobind::object& mean, const nanobind::object& scale, const std::string& channels,
                     const std::string& fit);

// An array for the model's only input. Throws InputError for models with others, and for what is no image.
nanobind::object image_array(const Graph& graph, const nanobind::object& source, const ImageRule& rule);

}  // namespace kaiten::python

#endif  // KAITEN_PYTHON_IMAGES_H
