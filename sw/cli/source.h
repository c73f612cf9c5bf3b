// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Models and layer tables that the tool is asked about.
#ifndef KAITEN_CLI_SOURCE_H
#define KAITEN_CLI_SOURCE_H

#include <optional>
#include <string>

#include "graph/graph.h"
#include "import/import.h"
#include "plan/network.h"

namespace kaiten::cli {

// A model's file, or 'demo'. Throws InputError where it cannot be read.
ImportResult import_model(const std::string& file);

// A table is a network; a model is a graph, too.
struct Source {
  plan::Network network;
  std::optional<Graph> graph;
};

// A layer table (JSON), a SCALE-Sim topology (CSV), a model's file or 'demo'. Throws InputError.
Source read_source(const std::string& file);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_SOURCE_H
