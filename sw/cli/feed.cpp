// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/feed.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "image/image.h"

namespace kaiten::cli {

Feed::Feed(const std::string& who, const Graph& graph, const Dataset& set, const ImageRule& rule)
    : set_(set), rule_(rule), tensor_(graph.tensors[std::size_t(only_input(graph, who))]) {
  quantization_ = quantization_of(graph, graph.inputs.front());
  if (!stored()) return;
  const bool float_data = set.images.type == "f4", float_input = tensor_.type == ElementType::Float32;
  const std::size_t bytes = set.bytes_of(0).size();
  if (bytes != tensor_.bytes() || float_data != float_input || set.images.element_bytes() > 4) {
    throw InputError(
        fmt::format("images of type {} with {} bytes each; input '{}' takes u1 pixels or {} with {} bytes",
                    set.images.type, bytes, tensor_.name, float_input ? "f4" : "i1 or u1", tensor_.bytes()));
  }
}

std::vector<Int8Values> Feed::operator()(std::size_t i) const {
  if (stored()) return {from_model(tensor_, set_.bytes_of(i))};
  return {to_input(picture_of(set_, i), tensor_, quantization_, rule_)};
}

std::string Feed::text() const {
  return stored() ? "stored values of the model's own type" : rule_.text(quantization_);
}

Image picture_of(const Dataset& set, std::size_t i) {
  if (set.is_folder()) return decode_image(read_file(set.files[i]), set.files[i].string()).image;
  return set.has_pixels() ? set.pixels_of(i) : Image{};
}

void take_first(Dataset& set, std::size_t limit) {
  if (limit == 0 || limit >= set.names.size()) return;
  set.labels.resize(limit);
  if (set.is_folder()) set.files.resize(limit);
  if (!set.is_folder()) set.images.data.resize(set.bytes_of(0).size() * limit);
  set.names.resize(limit);
}

}  // namespace kaiten::cli
