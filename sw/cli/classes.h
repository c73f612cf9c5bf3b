// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Names of a model's classes: from a file that the user names, else from the model's own.
#ifndef KAITEN_CLI_CLASSES_H
#define KAITEN_CLI_CLASSES_H

#include <string>
#include <vector>

#include "graph/graph.h"
#include "metadata/metadata.h"

namespace kaiten::cli {

struct Classes {
  std::vector<std::string> names;  // one a class; empty: none are known
  std::string note;                // where they are from, or what was done to fit them; may be empty
};

// Lists of ImageNet's have 1000 names or 1001 with "background" in front, models as many classes of either kind: that one is
// added or left out. Throws InputError where no output has as many classes as `names`, which are those of `file`.
Classes classes_of_file(const Graph& graph, std::vector<std::string> names, const std::string& file);
// The same of the names in the model's metadata; where they do not fit, none, and the note says so.
Classes classes_of_metadata(const Graph& graph, const ModelMetadata& metadata);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_CLASSES_H
