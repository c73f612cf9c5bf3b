// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the page's worker calls. Every function answers with JSON; {"error": "one line"} where something is wrong, after which the
// next model can be opened.
#include <emscripten/bind.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "compile/sections.h"
#include "graph/values.h"
#include "import/import.h"
#include "program/config.h"
#include "report/analysis.h"
#include "report/inspect.h"
#include "report/json_report.h"
#include "report/model_page.h"
#include "run/random_inputs.h"
#include "run/session.h"

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kConfig = "nano";

struct Bench {
  std::unique_ptr<kaiten::Session> session;
  std::optional<kaiten::RunResult> result;
  std::string origin;  // of the inputs
};
Bench bench;

// Names come from files: what is not UTF-8 must not throw.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class Work>
std::string guarded(const Work& work) {
  try {
    return text_of(work());
  } catch (const std::exception& e) {
    bench = {};
    return text_of({{"error", e.what()}});
  }
}

std::string shape_of(const kaiten::Tensor& tensor) { return kaiten::shape_text(tensor.shape); }

Json layers_of(const kaiten::Session& session) {
  const kaiten::Graph& graph = session.graph();
  std::vector<std::string> where(graph.ops.size(), "-");
  for (const kaiten::Section& section : kaiten::compile_sections(graph, kaiten::preset(kConfig), {})) {
    const std::vector<std::string> here = kaiten::places(*section.graph, section.program);
    for (std::size_t i = 0; i < here.size(); i++) where[std::size_t(section.ops[i])] = here[i];
  }
  Json layers = Json::array();
  for (std::size_t i = 0; i < graph.ops.size(); i++) {
    const kaiten::Op& op = graph.ops[i];
    layers.push_back({{"name", op.name},
                      {"op", kaiten::name_of(op.kind)},
                      {"in", shape_of(graph.input_of(op))},
                      {"out", shape_of(graph.output_of(op))},
                      {"where", where[i]}});
  }
  return layers;
}

std::string open_model(const std::string& name, const std::string& file) {
  return guarded([&] {
    bench = {};
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
    kaiten::SessionOptions options;
    options.config = kConfig;
    bench.session = std::make_unique<kaiten::Session>(
        kaiten::require_graph(kaiten::import_tflite({bytes, file.size()}, name)), options);
    std::size_t input_bytes = 0;
    for (int t : bench.session->graph().inputs)
      input_bytes += bench.session->graph().tensors[std::size_t(t)].bytes();
    return Json{{"layers", layers_of(*bench.session)},
                {"sections", bench.session->sections()},
                {"input_bytes", input_bytes}};
  });
}

// `input`: bytes of the model's own type; none: random values as `kaiten run` takes them.
std::string begin(const std::string& input, const std::string& origin) {
  return guarded([&] {
    if (!bench.session) throw kaiten::InputError("no model is open");
    const kaiten::Graph& graph = bench.session->graph();
    bench.origin = input.empty() ? "random, seed 1" : origin;
    bench.session->begin(input.empty() ? kaiten::random_inputs(graph, 1)
                                       : kaiten::raw_inputs(graph, {input.data(), input.size()}),
                         {.trace = true});
    return Json::object();
  });
}

Json view_of(const kaiten::Session& session) {
  const kaiten::RunView view = session.look();
  Json queues = Json::array();
  for (const kaiten::QueueView& q : view.queues) {
    queues.push_back({{"commands", q.commands},
                      {"completed", q.completed},
                      {"waiting", q.waiting},
                      {"layer", q.op < 0 ? "" : session.graph().ops[std::size_t(q.op)].name}});
  }
  Json buffers = Json::array();
  for (const kaiten::BufferView& b : view.buffers) buffers.push_back({{"bytes", b.bytes}, {"held", b.held}});
  return {{"section", view.section},
          {"cycles", view.cycles},
          {"modelled_cycles", view.modelled_cycles},
          {"queues", queues},
          {"buffers", buffers}};
}

std::string step(double cycles) {
  return guarded([&] {
    if (!bench.session) throw kaiten::InputError("no model is open");
    const bool over = bench.session->step(std::uint64_t(cycles));
    if (over) {
      bench.result = bench.session->finish();
      bench.result->report.notes.push_back("input: " + bench.origin);
    }
    Json json = view_of(*bench.session);
    json["over"] = over;
    return json;
  });
}

// The model's own bytes of the outputs, as text: two digits each.
std::string hex_of(const std::vector<std::uint8_t>& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t b : bytes) hex += {kDigits[b >> 4], kDigits[b & 15]};
  return hex;
}

std::string last_line(const std::string& text) {
  return text.substr(text.rfind('\n', text.size() - 2) + 1, text.size());
}

std::string result() {
  return guarded([] {
    if (!bench.result) throw kaiten::InputError("no run is over");
    const kaiten::Graph& graph = bench.session->graph();
    Json outputs = Json::array(), tensors = Json::array();
    for (std::size_t i = 0; i < bench.result->outputs.size(); i++) {
      const kaiten::Tensor& tensor = graph.tensors[std::size_t(graph.outputs[i % graph.outputs.size()])];
      outputs.push_back(
          {{"name", tensor.name}, {"hex", hex_of(kaiten::to_model(tensor, bench.result->outputs[i]))}});
    }
    for (const kaiten::TensorComparison& c : bench.result->comparisons) {
      tensors.push_back({{"name", graph.tensors[std::size_t(c.tensor)].name},
                         {"seen", c.seen},
                         {"different", c.different},
                         {"first", c.different > 0 ? kaiten::to_text(c.first, graph) : ""}});
    }
    return Json{{"report", kaiten::json_of(bench.result->report)},
                {"verdict", last_line(kaiten::to_text(bench.result->report, 0))},
                {"confirmation", kaiten::to_text(bench.result->report.confirmation)},
                {"outputs", outputs},
                {"tensors", tensors}};
  });
}

std::string report() {
  return guarded([] {
    if (!bench.result) throw kaiten::InputError("no run is over");
    const kaiten::Graph& graph = bench.session->graph();
    const kaiten::Analysis analysis = kaiten::analyse(graph, kaiten::preset(kConfig), {});
    return Json{{"page", kaiten::model_page(graph, bench.result->report, analysis)}};
  });
}

}  // namespace

EMSCRIPTEN_BINDINGS(kaiten) {
  emscripten::function("open", &open_model);
  emscripten::function("begin", &begin);
  emscripten::function("step", &step);
  emscripten::function("result", &result);
  emscripten::function("report", &report);
}
