// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Our side of sweep.py: models by the thousand in one process. A line of standard input names a model and a configuration,
// "FOLDER model.tflite nano"; the folder holds the model, `input`, and `tensors` with `tensors.json`, an interpreter's answer
// (sw/oracle/interpreters.py); `tflm`, where there is one, the output bytes of tflite-micro. A line of JSON answers:
// {"state", "why", "tensors", "elements", "host", "unconfirmed", "tflm", "tflm_interpreter": whether
// the reference by tflite-micro's rounding, and the interpreter, give tflite-micro's outputs}. States: "exact"; "refused" by inspect and run
// alike; "differs" from the interpreter; "rounded" otherwise, by 1 at most and next to ties alone (ties.h) of the first tensor that differs, by operators whose
// float32 sums have no integer equal (docs/compiler/numerics.md); "rtl" differs from the reference; "disagree", where inspect, plan and run do not say
// the same; "failed" with an error of the device or the tool.

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "cli/tool.h"
#include "import/import.h"
#include "oracle/interpreter.h"
#include "reference/reference.h"
#include "run/session.h"
#include "tests/oracle/ties.h"

namespace kaiten {
namespace {

namespace fs = std::filesystem;

std::vector<char> bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// What a command makes of the model: empty, or why it refuses it.
template <typename Command>
std::string said_by(Command command) {
  try {
    command();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

// Whether the outputs among these tensors are what tflite-micro gives.
const char* tflm_verdict(const fs::path& file, const Graph& graph, const std::vector<Int8Values>& tensors) {
  if (!fs::exists(file)) return "none";
  std::vector<char> bytes;
  for (int t : graph.outputs) {
    const auto part = to_model(graph.tensors[std::size_t(t)], tensors[std::size_t(t)]);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes == bytes_of(file) ? "equal" : "differs";
}

// Operators of ONNX graphs that onnxruntime computes as float32 sums in an order of its own: where the exact result lies next
// to a tie, rounding may go the other way.
bool rounded_otherwise(const Graph& graph, const TensorComparison& c, std::span<const Int8Values> reference,
                       const Interpretation& shown) {
  if (graph.framework != Framework::Onnx || c.largest > 1) return false;
  const Op& op = graph.ops[std::size_t(c.op)];
  if (op.kind == OpKind::ToInt8) return true;  // after float32 arithmetic on the host
  return test::differ_at_ties(graph, op, reference, shown.tensors[std::size_t(op.output)]);
}

const char* state_of(const Graph& graph, const RunResult& result, std::span<const Int8Values> reference,
                     const Interpretation& shown) {
  if (result.report.difference.empty()) return "exact";
  for (const TensorComparison& c : result.comparisons) {
    if (c.different > 0) return "rtl";
  }
  for (const TensorComparison& c : result.interpreted) {
    if (c.different > 0) return rounded_otherwise(graph, c, reference, shown) ? "rounded" : "differs";
  }
  return "rtl";
}

nlohmann::json run_model(const fs::path& folder, const std::string& model, const std::string& config) {
  const std::string file = (folder / model).string();
  const std::string inspect = said_by([&] { cli::inspect_command({file, "--config", config}); });
  const std::string plan = said_by([&] { cli::plan_command({file, "--config", config}); });
  nlohmann::json report;
  const std::string run = said_by([&] {
    Session session(require_graph(import_file(file)), {.config = config});
    const Graph& graph = session.graph();
    const std::vector<Int8Values> inputs = raw_inputs(graph, bytes_of(folder / "input"));
    const Interpretation shown = oracle::read_interpretation(folder, graph, 1);
    const RunResult result =
        session.run(inputs, {.interpreter = [&](std::span<const Int8Values>) { return shown; }});
    const Confirmation& c = result.report.confirmation;
    std::uint64_t host = 0;
    for (const LayerReport& layer : result.report.layers) host += layer.on_host ? 1 : 0;
    const std::string& why = result.report.difference;
    report = {
        {"state", state_of(graph, result, run_reference(graph, inputs, RoundingStyle::LiteRt), shown)},
        {"why", why},
        {"tensors", c.tensors},
        {"elements", c.interpreted},
        {"different", c.different},
        {"host", host},
        {"unconfirmed", c.unconfirmed.size()},
        {"tflm", tflm_verdict(folder / "tflm", graph, run_reference(graph, inputs, RoundingStyle::Tflm))},
        {"tflm_interpreter", tflm_verdict(folder / "tflm", graph, shown.tensors)}};
  });
  if (inspect.empty() != run.empty() || plan.empty() != run.empty())
    return {{"state", "disagree"}, {"why", "inspect: " + inspect + "; plan: " + plan + "; run: " + run}};
  if (!run.empty()) return {{"state", "refused"}, {"why", run}};
  return report;
}

}  // namespace
}  // namespace kaiten

int main() {
  // The commands print; the answers are for whoever reads the real standard output.
  std::FILE* answers = ::fdopen(::dup(STDOUT_FILENO), "w");
  if (answers == nullptr || std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string folder, model, config;
    words >> folder >> model >> config;
    nlohmann::json answer;
    try {
      answer = kaiten::run_model(folder, model, config);
    } catch (const std::exception& error) {
      answer = {{"state", "failed"}, {"why", error.what()}};
    }
    const std::string text = answer.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
    std::fputs(text.c_str(), answers);
    std::fflush(answers);
  }
  return 0;
}
