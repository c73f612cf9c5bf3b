// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "oracle/interpreter.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "import/common/text.h"
#include "oracle/program.h"

namespace kaiten::oracle {

namespace fs = std::filesystem;

namespace {

constexpr char kProgram[] =
#include "interpreters_py.inc"
    ;
constexpr int kPackageMissing = 3;  // exit code of the program

std::string_view name_of(Interpreter i) { return i == Interpreter::LiteRt ? "litert" : "onnxruntime"; }

std::string request_of(Interpreter interpreter, const Graph& graph, int images) {
  nlohmann::json inputs = nlohmann::json::array();
  for (int t : graph.inputs) {
    const Tensor& tensor = graph.tensors[std::size_t(t)];
    inputs.push_back({{"name", tensor.name},
                      {"shape", tensor.model_shape()},
                      {"type", std::string(kaiten::name_of(tensor.model_type))}});
  }
  return nlohmann::json{{"interpreter", name_of(interpreter)}, {"images", images}, {"inputs", inputs}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::uint8_t> bytes_of(const Graph& graph, std::span<const Int8Values> inputs) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const Tensor& tensor = graph.tensors[std::size_t(graph.inputs[i % graph.inputs.size()])];
    const std::vector<std::uint8_t> part = to_model(tensor, inputs[i]);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

// Which tensors of the graph an interpreter's tensor is. Those of TensorFlow Lite files keep their numbers; a name is
// compared besides, as far as the importer keeps it, for both sides have further tensors behind the file's. In ONNX there
// are names only; those that the importer shortens to the same text name nothing, and of the steps that one node becomes,
// which all have its name, the last is the node's.
class Names {
 public:
  Names(const Graph& graph, const nlohmann::json& list) : graph_(graph) {
    const std::vector<bool> step = steps_of(graph);
    for (std::size_t t = 0; t < graph.tensors.size(); t++) {
      if (!step[t]) by_name_.emplace(graph.tensors[t].name, int(t));
    }
    std::map<std::string, std::string> full;
    for (const nlohmann::json& entry : list) {
      const std::string name = entry["name"];
      const auto [at, is_new] = full.try_emplace(importing::clean_name(name), name);
      if (!is_new && at->second != name) by_name_.erase(at->first);
    }
  }

  std::vector<int> of(int index, const std::string& name) const {
    if (index >= 0) {
      if (std::size_t(index) >= graph_.tensors.size()) return {};
      const std::string& ours = graph_.tensors[std::size_t(index)].name;
      const bool same = name.empty() ? ours == "tensor" + std::to_string(index)
                                     : importing::clean_name(name.substr(0, name.find(';'))) == ours;
      return same ? std::vector<int>{index} : std::vector<int>{};
    }
    const std::string clean = importing::clean_name(name);
    std::vector<int> found;
    for (auto [at, end] = by_name_.equal_range(clean); at != end; ++at) found.push_back(at->second);
    return found;
  }

 private:
  // Tensors that the next operator turns into one of the same name, be it through a view with other scales.
  static std::vector<bool> steps_of(const Graph& graph) {
    std::vector<bool> step(graph.tensors.size());
    std::vector<int> viewed(graph.tensors.size(), kNoTensor);
    const auto name_of = [&](int t) -> const std::string& { return graph.tensors[std::size_t(t)].name; };
    for (const Op& op : graph.ops) {
      for (const int input : op.inputs) {
        for (int t = input; t != kNoTensor; t = viewed[std::size_t(t)]) {
          if (name_of(t) == name_of(op.output)) step[std::size_t(t)] = true;
        }
      }
      if (op.kind == OpKind::Reshape && graph.output_of(op).shape == graph.input_of(op).shape)
        viewed[std::size_t(op.output)] = op.inputs.front();
    }
    return step;
  }

  const Graph& graph_;
  std::multimap<std::string, int> by_name_;
};

// For each tensor the one whose layout its stored values have: ONNX maps are NHWC here, and stay so where a Reshape
// flattens them.
std::vector<int> layouts_of(const Graph& graph) {
  std::vector<int> layouts(graph.tensors.size());
  for (std::size_t t = 0; t < layouts.size(); t++) layouts[t] = int(t);
  for (const Op& op : graph.ops) {
    if (op.kind == OpKind::Reshape && graph.output_of(op).shape.size() != 4)
      layouts[std::size_t(op.output)] = layouts[std::size_t(op.inputs.front())];
  }
  return layouts;
}

}  // namespace

Interpretation read_interpretation(const fs::path& folder, const Graph& graph, int images) {
  std::ifstream in(folder / "tensors.json");
  const nlohmann::json list = nlohmann::json::parse(in);
  std::ifstream values(folder / "tensors", std::ios::binary);
  Interpretation result{list["name"], list["version"], {}};
  result.tensors.resize(graph.tensors.size() * std::size_t(images));
  const Names names(graph, list["tensors"]);
  const std::vector<int> layouts = layouts_of(graph);
  for (const nlohmann::json& entry : list["tensors"]) {
    std::vector<std::uint8_t> bytes(entry["bytes"].get<std::size_t>());
    values.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()));
    for (int t : names.of(entry["index"], entry["name"])) {
      const Tensor& tensor = graph.tensors[std::size_t(t)];
      if (tensor.is_constant() || bytes.size() != tensor.bytes() ||
          entry["type"] != kaiten::name_of(tensor.model_type))
        continue;
      result.tensors[entry["image"].get<std::size_t>() * graph.tensors.size() + std::size_t(t)] =
          from_model(graph.tensors[std::size_t(layouts[std::size_t(t)])], bytes);
    }
  }
  return result;
}

std::optional<Interpreter> interpreter_of(std::string_view name) {
  for (const Interpreter i : {Interpreter::LiteRt, Interpreter::OnnxRuntime}) {
    if (name == name_of(i)) return i;
  }
  return std::nullopt;
}

Interpreter interpreter_of(Framework framework) {
  return framework == Framework::Onnx ? Interpreter::OnnxRuntime : Interpreter::LiteRt;
}

std::string python() {
  const auto set = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string named = set("KAITEN_PYTHON"); !named.empty()) return named;
  if (std::string venv = set("KAITEN_VENV"); !venv.empty()) return venv + "/bin/python3";
  return fs::exists(KAITEN_SETUP_PYTHON) ? KAITEN_SETUP_PYTHON : "python3";
}

Interpretation interpret(Interpreter interpreter, std::span<const std::uint8_t> model, const Graph& graph,
                         int images, std::span<const Int8Values> inputs,
                         const std::function<void()>& cancellation_check) {
  const std::string name(name_of(interpreter));
  if (interpreter != interpreter_of(graph.framework)) {
    throw InputError("--oracle " + name + " does not read this model: " +
                     std::string(name_of(interpreter_of(graph.framework))) + " does");
  }
  const PrivateFolder folder;
  write_output(folder.path() / "model", model);
  write_output(folder.path() / "input", bytes_of(graph, inputs));
  write_output(folder.path() / "request.json", request_of(interpreter, graph, images));
  write_output(folder.path() / "interpreters.py", kProgram);
  const std::string program = python();
  const Ended ended =
      run_program({program, "-B", (folder.path() / "interpreters.py").string(), folder.path().string()},
                  folder.path(), cancellation_check);
  if (ended.code == 127) {
    throw InputError("--oracle " + name + " cannot start '" + program + "': " + ended.last_line +
                     " (KAITEN_PYTHON names another Python)");
  }
  if (ended.code == kPackageMissing) {
    throw InputError("--oracle " + name + " is not installed: " + ended.last_line + " in '" + program +
                     "'; `make setup ALL=1` installs it, or KAITEN_PYTHON names a Python that has it");
  }
  if (ended.code != 0) {
    throw InputError(
        "--oracle " + name + " does not run this model: " +
        (ended.last_line.empty() ? "ended with code " + std::to_string(ended.code) : ended.last_line));
  }
  return read_interpretation(folder.path(), graph, images);
}

}  // namespace kaiten::oracle
