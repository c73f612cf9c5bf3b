// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/source.h"

#include "cli/demo.h"
#include "cli/files.h"
#include "plan/from_graph.h"
#include "plan/table.h"

namespace kaiten::cli {

ImportResult import_model(const std::string& file) {
  return file == kDemoName ? import_tflite(demo_model(), kDemoName) : import_file(file);
}

Source read_source(const std::string& file) {
  if (file != kDemoName) {
    const std::vector<std::uint8_t> bytes = read_file(file);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (plan::looks_like_table(text)) return {plan::read_table(text, file), std::nullopt};
    if (file.ends_with(".csv") || plan::looks_like_topology(text))
      return {plan::read_topology(text, file), std::nullopt};
    if (file.ends_with(".json")) return {plan::read_table(text, file), std::nullopt};
  }
  Source s;
  s.graph = require_graph(import_model(file));
  s.network = plan::network_of(*s.graph);
  return s;
}

}  // namespace kaiten::cli
