// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/classes.h"

#include <fmt/format.h>

#include "base/error.h"

namespace kaiten::cli {

namespace {

// `what`: the names, for messages.
Classes fitted_to(const Graph& graph, std::vector<std::string> names, const std::string& what) {
  std::string found;
  for (const int output : graph.outputs) {
    const std::size_t classes = graph.tensors[std::size_t(output)].elements();
    if (classes == names.size()) return {std::move(names), ""};
    if (classes == names.size() + 1) {
      names.insert(names.begin(), "background");
      return {std::move(names), fmt::format("labels: {} names for {} classes, class 0 is the background",
                                            classes - 1, classes)};
    }
    if (classes + 1 == names.size() && names.front() == "background") {
      names.erase(names.begin());
      return {std::move(names),
              fmt::format("labels: {} classes without the background, which is the first of {} names",
                          classes, classes + 1)};
    }
    found += (found.empty() ? "" : ", ") + std::to_string(classes);
  }
  throw InputError(fmt::format("{} has {} names, the model {} classes", what, names.size(), found));
}

}  // namespace

Classes classes_of_file(const Graph& graph, std::vector<std::string> names, const std::string& file) {
  if (file.empty()) return {};
  return fitted_to(graph, std::move(names), "labels '" + file + "'");
}

Classes classes_of_metadata(const Graph& graph, const ModelMetadata& metadata) {
  if (metadata.labels.empty()) return {};
  const std::string what = "'" + metadata.labels_from + "' of the model's metadata";
  try {
    Classes classes = fitted_to(graph, metadata.labels, what);
    if (classes.note.empty()) classes.note = fmt::format("labels: {} names", classes.names.size());
    classes.note += ", " + what;
    return classes;
  } catch (const InputError& e) {
    return {{}, fmt::format("labels left out: {}", e.what())};
  }
}

}  // namespace kaiten::cli
