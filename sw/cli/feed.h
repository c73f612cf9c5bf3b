// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A set of images as a model's inputs.
#ifndef KAITEN_CLI_FEED_H
#define KAITEN_CLI_FEED_H

#include <string>
#include <vector>

#include "evaluate/dataset.h"
#include "graph/graph.h"
#include "graph/values.h"
#include "run/image_input.h"

namespace kaiten::cli {

class Feed {
 public:
  // Everything outlives it. `who`, a command, is for errors. Throws InputError for models of several inputs, and arrays that
  // do not fit.
  Feed(const std::string& who, const Graph& graph, const Dataset& set, const ImageRule& rule);

  // Image i of the set. Throws InputError for a damaged one.
  std::vector<Int8Values> operator()(std::size_t i) const;
  // How pixels become values, for the report.
  std::string text() const;

 private:
  bool stored() const { return !set_.is_folder() && !set_.has_pixels(); }

  const Dataset& set_;
  const ImageRule& rule_;
  const Tensor& tensor_;
  Quantization quantization_;
};

// Image i as it is in the set; nothing where the set holds no pixels.
Image picture_of(const Dataset& set, std::size_t i);

// The first `limit` images; 0: all.
void take_first(Dataset& set, std::size_t limit);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_FEED_H
