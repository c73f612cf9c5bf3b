// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Models and layer tables that the tool is asked about.
#ifndef KAITEN_CLI_SOURCE_H
#define KAITEN_CLI_SOURCE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "import/import.h"
#include "metadata/metadata.h"
#include "plan/from_graph.h"
#include "plan/network.h"

namespace kaiten::cli {

// A model's file, 'demo', or '-' for standard input. Throws InputError where it cannot be read.
// `until`: as for import_tflite().
ImportResult import_model(const std::string& file, const std::string& until = "");
// The bytes of such a file.
std::vector<std::uint8_t> model_bytes(const std::string& file);
// The same as import_model() where its bytes have been read already.
ImportResult import_model(const std::string& file, std::span<const std::uint8_t> bytes,
                          const std::string& until = "");
// What such a file says of pixels and classes.
ModelMetadata metadata_of(const std::string& file, std::span<const std::uint8_t> bytes);
// By its name or, whatever that is, by what stands at its beginning.
bool is_model(const std::string& file, std::span<const std::uint8_t> bytes);

// A table is a network; a model is a graph, too.
struct Source {
  plan::Network network;
  std::optional<Graph> graph;
  ModelMetadata metadata;  // of a model
};

// A layer table (JSON), a SCALE-Sim topology (CSV), a model's file, 'demo' or '-'. Throws InputError.
Source read_source(const std::string& file, plan::Inputs inputs = plan::Inputs::kOne);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_SOURCE_H
