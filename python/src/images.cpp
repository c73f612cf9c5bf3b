// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "images.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <vector>

#include "arrays.h"
#include "base/error.h"
#include "import/import.h"

namespace nb = nanobind;

namespace kaiten::python {

namespace {

// None, a number, or a sequence of one or three.
std::vector<double> numbers_of(const char* name, const nb::object& given, bool zero_allowed) {
  std::vector<double> numbers;
  if (given.is_none()) return numbers;
  double one = 0;
  bool sound = true;
  if (nb::try_cast<double>(given, one)) {
    numbers.push_back(one);
  } else {
    sound = nb::try_cast<std::vector<double>>(given, numbers) && (numbers.size() == 1 || numbers.size() == 3);
  }
  for (const double n : numbers) sound = sound && std::isfinite(n) && (zero_allowed || n != 0);
  if (sound) return numbers;
  throw InputError(std::string(name) + ": expected one number or three" +
                   (zero_allowed ? "" : ", none of them 0") + ", found " +
                   nb::cast<std::string>(nb::repr(given)));
}

// H x W, or H x W x 1 or 3, uint8.
Image image_of_array(const nb::object& array) {
  std::vector<long> shape = shape_of(array);
  const std::string type = type_of(array);
  if (shape.size() == 2) shape.push_back(1);
  const bool fits = type == "uint8" && shape.size() == 3 && shape[0] >= 1 &&
                    shape[0] <= long(kMaxImageSide) && shape[1] >= 1 && shape[1] <= long(kMaxImageSide) &&
                    (shape[2] == 1 || shape[2] == 3) &&
                    std::size_t(shape[0]) * std::size_t(shape[1]) <= kMaxImagePixels;
  if (!fits) {
    throw InputError("an image is uint8 pixels, height x width, or height x width x 1 or 3, not " + type +
                     " " + shape_text({shape.begin(), shape.end()}));
  }
  const auto bytes = nb::cast<nb::bytes>(array.attr("tobytes")());
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.c_str());
  return {int(shape[0]), int(shape[1]), int(shape[2]), {begin, begin + bytes.size()}};
}

Image decoded(std::span<const std::uint8_t> file, const std::string& name) {
  const nb::gil_scoped_release released;
  return decode_image(file, name).image;
}

Image image_of(const nb::object& source) {
  if (nb::isinstance<nb::bytes>(source)) {
    const auto bytes = nb::cast<nb::bytes>(source);
    return decoded({reinterpret_cast<const std::uint8_t*>(bytes.c_str()), bytes.size()}, "image");
  }
  if (nb::isinstance<nb::str>(source) || nb::hasattr(source, "__fspath__")) {
    const auto name = nb::cast<std::string>(nb::module_::import_("os").attr("fsdecode")(source));
    return decoded(read_model_file(name), name);
  }
  return image_of_array(nb::module_::import_("numpy").attr("asarray")(source));
}

}  // namespace

ImageRule image_rule(const nb::object& mean, const nb::object& scale, const std::string& channels,
                     const std::string& fit) {
  ImageRule rule;
  rule.normalisation = {numbers_of("mean", mean, true), numbers_of("scale", scale, false)};
  if (!channels.empty() && channels != "rgb" && channels != "bgr")
    throw InputError("channels: expected rgb or bgr, found '" + channels + "'");
  rule.order_given = !channels.empty();
  rule.is_bgr = channels == "bgr";
  const std::optional<Fit> known = fit_of(fit);
  if (!known) throw InputError("fit: expected crop, stretch or pad, found '" + fit + "'");
  rule.fit = *known;
  return rule;
}

nb::object image_array(const Graph& graph, const nb::object& source, const ImageRule& rule) {
  const int input = only_input(graph);
  const Tensor& tensor = graph.tensors[std::size_t(input)];
  const Image image = image_of(source);
  Int8Values values;
  {
    const nb::gil_scoped_release released;
    values = to_input(image, tensor, quantization_of(graph, input), rule);
  }
  return array_of(tensor, std::span(&values, 1), 0, 1, 1);
}

}  // namespace kaiten::python
