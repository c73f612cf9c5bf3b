// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What is done with any model that a fuzzer made: import, and where that succeeds for a small one, everything after it.
#ifndef KAITEN_TESTS_FUZZ_MODELS_H
#define KAITEN_TESTS_FUZZ_MODELS_H

#include <cstdint>
#include <random>
#include <vector>

#include "base/error.h"
#include "compile/sections.h"
#include "import/import.h"
#include "reference/reference.h"

namespace kaiten::fuzz {

// Work in one call, in products: more is left alone so that a call stays quick.
constexpr std::int64_t kMostMacs = 200'000;

template <class Import>
void use_model(Import&& import) {
  try {
    ImportResult result = import();
    for (const Refusal& r : result.refusals) {
      if (r.text().empty()) __builtin_trap();
    }
    if (!result.graph) {
      if (result.refusals.empty()) __builtin_trap();
      return;
    }
    const Graph& graph = *result.graph;
    std::int64_t work = 0;
    for (const Op& op : graph.ops) work += std::int64_t(macs(graph, op));
    for (const Tensor& t : graph.tensors) work += std::int64_t(t.elements());
    if (work > kMostMacs) return;
    const CompiledSections compiled = try_compile_sections(graph, preset("nano"));
    if (compiled.sections.empty() && compiled.refusals.empty() && !graph.ops.empty()) __builtin_trap();
    std::vector<Int8Values> inputs;
    for (int i : graph.inputs) inputs.emplace_back(std::size_t(graph.tensors[std::size_t(i)].elements()));
    run_reference(graph, inputs);
  } catch (const InputError&) {
    // one clear line, exit code 2
  }
}

}  // namespace kaiten::fuzz

#endif  // KAITEN_TESTS_FUZZ_MODELS_H
