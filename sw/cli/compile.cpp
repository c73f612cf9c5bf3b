// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "cli/compiling.h"
#include "cli/demo.h"
#include "cli/job.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "compile/sections.h"
#include "device/driver.h"
#include "device/program_image.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

struct CompileRequest {
  std::string model;
  std::string until;
  std::string config = "base";
  std::string rounding = "litert";
  std::string compress = "off";
  std::string optimise = "bytes";
  int batch = 1;
};

RoundingStyle rounding_of(const std::string& text) {
  if (text == "litert") return RoundingStyle::LiteRt;
  if (text == "tflm") return RoundingStyle::Tflm;
  throw InputError("--rounding is litert or tflm, not '" + text + "'");
}

// The only program of the model and the graph it is of.
Section compiled(const CompileRequest& request) {
  ProgressLine progress;
  const Graph graph = require_graph(import_model(request.model, request.until));
  CompileOptions options{.cancellation_check = compiling(progress)};
  options.rounding = rounding_of(request.rounding);
  options.compress = compress_of(request.compress);
  options.optimise = optimise_of(request.optimise);
  options.images = request.batch;
  std::vector<Section> sections = compile_sections(graph, preset(request.config), options);
  if (sections.size() != 1) {
    throw InputError(fmt::format(
        "an image holds one program, '{}' becomes {}, with operators on the host between them; --until ends "
        "the network earlier",
        request.model, sections.size()));
  }
  return std::move(sections.front());
}

nlohmann::ordered_json json_of_tensor(const Tensor& tensor) {
  return {{"name", tensor.name},
          {"shape", tensor.shape},
          {"type", tensor.model_type == ElementType::UInt8 ? "uint8" : "int8"},
          {"bytes", tensor.bytes()}};
}

std::string text_of(const char* what, const Tensor& tensor) {
  return fmt::format("  {} '{}', {}, {} bytes\n", what, tensor.name, shape_text(tensor.shape),
                     tensor.bytes());
}

}  // namespace

int compile_command(const Arguments& arguments) {
  CompileRequest request;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("model", po::value(&request.model)->value_name("FILE"),
      "TensorFlow Lite or ONNX model, '-': standard input (also as first argument)");
  add("image", po::value<std::string>()->value_name("FILE"),
      "write the program as an image: docs/formats/program_image.md");
  add("config", po::value(&request.config)->value_name("NAME")->default_value(request.config),
      "configuration it is compiled for");
  add("until", po::value(&request.until)->value_name("TENSOR"),
      "the network up to this tensor, which becomes its only output");
  add("batch", po::value(&request.batch)->value_name("N")->default_value(request.batch), "images of a run");
  add("optimise", po::value(&request.optimise)->value_name("bytes|time")->default_value(request.optimise),
      "what plans are ranked by first: bytes that cross the memory bus, or modelled cycles");
  add("compress", po::value(&request.compress)->value_name("auto|on|off")->default_value(request.compress),
      "maps and weights cross memory compressed; auto, which knows nothing of the maps here: weights only");
  add("rounding", po::value(&request.rounding)->value_name("litert|tflm")->default_value(request.rounding),
      "whose answers to give: LiteRT's reference kernels or tflite-micro's");
  add("json", po::value<std::string>()->value_name("FILE"), "write what was made as JSON");
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten compile MODEL --image FILE [OPTIONS]\n"
      "Writes the program of a model for systems without this tool. 'demo' is the embedded demo network.\n";
  if (!read_options(arguments, all, "model", kUsage, values)) return kDone;
  if (request.model.empty()) throw InputError("compile needs a model (see kaiten compile --help)");
  if (request.batch < 1 || request.batch > kMostBatch)
    throw InputError(fmt::format("--batch is 1 to {}, not {}", kMostBatch, request.batch));
  const Outputs outputs("compile", values, {"image", "json"}, {"model"});
  if (!outputs.wanted("image")) throw InputError("compile needs --image FILE (see kaiten compile --help)");

  const Section section = compiled(request);
  const Program& program = section.program;
  const std::vector<std::uint8_t> image = program_image(program, *section.graph);
  nlohmann::ordered_json report = {{"model", section.graph->name},
                                   {"config", program.config.name},
                                   {"images", program.images},
                                   {"commands", program.commands.size()},
                                   {"image_bytes", image.size()},
                                   {"memory_bytes", memory_needed(program)},
                                   {"modelled_cycles", program.modelled_cycles}};
  std::string text = fmt::format("{} for {}: {} bytes, {} commands; {} bytes of memory, {} cycles modelled\n",
                                 section.graph->name, program.config.name, image.size(),
                                 program.commands.size(), memory_needed(program), program.modelled_cycles);
  const auto add_tensor = [&](const char* key, const char* what, int index) {
    const Tensor& tensor = section.graph->tensors[std::size_t(index)];
    report[key].push_back(json_of_tensor(tensor));
    text += text_of(what, tensor);
  };
  for (const MemoryTensor& t : program.inputs) add_tensor("inputs", "input", t.tensor);
  for (const MemoryOutput& t : program.outputs) add_tensor("outputs", "output", t.tensor);
  report["host"] = nlohmann::ordered_json::array();
  for (const LayerInfo& layer : program.layers) {
    if (!layer.on_host) continue;
    const std::string& name = section.graph->ops[std::size_t(layer.op)].name;
    report["host"].push_back(name);
    text += fmt::format("  not in the image, for the host: '{}'\n", name);
  }
  outputs.write("image", image);
  if (outputs.wanted("json")) outputs.write_json("json", std::move(report));
  outputs.print(text);
  return kDone;
}

}  // namespace kaiten::cli
