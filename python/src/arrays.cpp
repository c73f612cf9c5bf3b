// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays.h"

#include "base/error.h"
#include "run/session.h"

namespace nb = nanobind;

namespace kaiten::python {

namespace {

// An input as bytes, and how many images it holds.
struct Given {
  nb::bytes bytes;
  int images = 1;
};

Given read(const Tensor& tensor, const nb::object& object) {
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(object);
  const std::string type = type_of(array);
  const std::vector<long> shape = shape_of(array);
  const std::vector<int> wanted = tensor.model_shape();
  bool fits = type == name_of(tensor.model_type) && shape.size() == wanted.size();
  long images = 1;
  for (std::size_t d = 0; fits && d < shape.size(); d++) {
    if (d == 0 && wanted[0] == 1 && shape[0] >= 1 && shape[0] <= (1 << 20)) {
      images = shape[0];
    } else {
      fits = shape[d] == wanted[d];
    }
  }
  if (!fits) {
    throw InputError("input '" + tensor.name + "' takes " + std::string(name_of(tensor.model_type)) + " " +
                     shape_text(wanted) + ", or several images along the first dimension, not " + type + " " +
                     shape_text({shape.begin(), shape.end()}));
  }
  return {nb::cast<nb::bytes>(array.attr("tobytes")()), int(images)};
}

std::vector<nb::object> in_order(const Graph& graph, const nb::object& given) {
  const std::size_t count = graph.inputs.size();
  std::vector<nb::object> objects;
  if (nb::isinstance<nb::dict>(given)) {
    const auto dict = nb::cast<nb::dict>(given);
    for (const int t : graph.inputs) {
      const std::string& name = graph.tensors[std::size_t(t)].name;
      if (!dict.contains(name.c_str())) throw InputError("input '" + name + "' is missing");
      objects.push_back(dict[name.c_str()]);
    }
    if (dict.size() != count) {
      throw InputError("the model has " + std::to_string(count) + " inputs, " + std::to_string(dict.size()) +
                       " were given");
    }
    return objects;
  }
  const bool list = nb::isinstance<nb::list>(given) || nb::isinstance<nb::tuple>(given);
  if (!list) {
    objects.push_back(given);
  } else {
    for (const nb::handle item : given) objects.push_back(nb::borrow(item));
  }
  if (objects.size() != count) {
    throw InputError("the model has " + std::to_string(count) + " inputs, " + std::to_string(objects.size()) +
                     " were given");
  }
  return objects;
}

}  // namespace

std::vector<long> shape_of(const nb::object& array) {
  std::vector<long> shape;
  const nb::object dimensions = array.attr("shape");
  for (const nb::handle d : dimensions) shape.push_back(nb::cast<long>(d));
  return shape;
}

std::string type_of(const nb::object& array) {
  return nb::cast<std::string>(array.attr("dtype").attr("name"));
}

Inputs inputs_of(const Graph& graph, const nb::object& given) {
  const std::vector<nb::object> objects = in_order(graph, given);
  std::vector<Given> all;
  for (std::size_t i = 0; i < objects.size(); i++) {
    all.push_back(read(graph.tensors[std::size_t(graph.inputs[i])], objects[i]));
    if (all[i].images != all[0].images) {
      throw InputError("input '" + graph.tensors[std::size_t(graph.inputs[i])].name + "' holds " +
                       std::to_string(all[i].images) + " images, the first input " +
                       std::to_string(all[0].images));
    }
  }
  Inputs inputs;
  inputs.images = all.empty() ? 1 : all[0].images;
  for (std::size_t image = 0; image < std::size_t(inputs.images); image++) {
    for (std::size_t i = 0; i < all.size(); i++) {
      const Tensor& tensor = graph.tensors[std::size_t(graph.inputs[i])];
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(all[i].bytes.c_str());
      inputs.values.push_back(from_model(tensor, {bytes + image * tensor.bytes(), tensor.bytes()}));
    }
  }
  return inputs;
}

nb::object array_of(const Tensor& tensor, std::span<const Int8Values> values, std::size_t first,
                    std::size_t step, int images) {
  std::vector<std::uint8_t> bytes;
  for (int image = 0; image < images; image++) {
    const std::vector<std::uint8_t> part = to_model(tensor, values[first + std::size_t(image) * step]);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  nb::list shape;
  std::vector<int> dims = tensor.model_shape();
  if (images > 1 && (dims.empty() || dims[0] != 1)) {
    shape.append(images);
  } else if (images > 1) {
    dims[0] = images;
  }
  for (const int d : dims) shape.append(d);
  const std::string type(name_of(tensor.model_type));
  return nb::module_::import_("numpy")
      .attr("frombuffer")(nb::bytearray(bytes.data(), bytes.size()), type.c_str())
      .attr("reshape")(nb::tuple(shape));
}

nb::list outputs_of(const Graph& graph, std::span<const Int8Values> values, int images) {
  nb::list outputs;
  for (std::size_t i = 0; i < graph.outputs.size(); i++) {
    outputs.append(
        array_of(graph.tensors[std::size_t(graph.outputs[i])], values, i, graph.outputs.size(), images));
  }
  return outputs;
}

}  // namespace kaiten::python
