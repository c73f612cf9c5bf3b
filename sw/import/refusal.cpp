// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "base/error.h"
#include "import/import.h"

namespace kaiten {

std::string Refusal::text() const {
  std::string line = op.empty() ? layer : "layer '" + layer + "' (" + op + ")";
  if (layers > 1) line += " and " + std::to_string(layers - 1) + " more";
  line += ": limit: " + limit + ", found: " + value;
  if (!hint.empty()) line += " (" + hint + ")";
  return line;
}

Graph require_graph(ImportResult result) {
  if (result.graph) return std::move(*result.graph);
  std::string message = "model cannot run";
  if (!result.refusals.empty()) message = result.refusals.front().text();
  if (result.refusals.size() > 1) {
    message += "; " + std::to_string(result.refusals.size() - 1) + " more (kaiten inspect lists all)";
  }
  throw InputError(message);
}

}  // namespace kaiten
