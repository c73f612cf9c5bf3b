// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/common/state.h"

#include <utility>

namespace kaiten::importing {

ImportState::ImportState(const std::string& name, Framework framework, std::int64_t sharing_,
                         std::size_t file_bytes)
    : sharing(sharing_), constant_budget(sharing_ * std::int64_t(file_bytes)) {
  result.name = name;
  graph.name = name;
  graph.framework = framework;
}

void refuse(ImportState& s, const Unsupported& what) {
  s.refused_layers++;
  for (Refusal& known : s.result.refusals) {
    const bool same = known.limit == what.limit && known.hint == what.hint;
    if (!same || (known.value != what.value && known.op != s.layer.op)) continue;
    known.layers++;
    return;
  }
  s.result.refusals.push_back({s.layer.name, s.layer.op, what.limit, what.value, what.hint});
}

void fail_layer(const ImportState& s, const std::string& what) { fail(here(s) + what); }

std::string here(const ImportState& s) { return "layer '" + s.layer.name + "' (" + s.layer.op + "): "; }

void charge_constant(ImportState& s, std::int64_t bytes) {
  s.constant_budget -= bytes;
  if (s.constant_budget < 0)
    fail("its constants add up to more than " + std::to_string(s.sharing) + " times the file");
}

void charge_activation(ImportState& s, std::int64_t bytes, const std::string& where) {
  s.activation_bytes += bytes;
  if (s.activation_bytes > kMaxActivationBytes)
    fail("its activations exceed the limit of " + std::to_string(kMaxActivationBytes) + " bytes" + where);
}

ImportResult finish(ImportState& s) {
  if (s.result.refusals.empty()) s.result.graph = std::move(s.graph);
  return std::move(s.result);
}

}  // namespace kaiten::importing
