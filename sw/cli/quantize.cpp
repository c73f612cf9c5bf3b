// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/feed.h"
#include "cli/files.h"
#include "cli/image.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "evaluate/dataset.h"
#include "oracle/quantizer.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t(1) << 30;  // of the inputs together
constexpr const char* kUsage =
    "usage: kaiten quantize FLOAT.onnx --calibrate FOLDER|FILE.npz --output INT8.onnx [OPTIONS]\n"
    "Makes a float32 ONNX model int8 (QuantizeLinear and DequantizeLinear, weights per channel), with the "
    "ranges "
    "of\n"
    "its activations from images. Half of them give the ranges, the other half measure the result.\n";

struct QuantizeOptions {
  std::string model, images, method = "auto";
  std::size_t limit = 0;
  ImageRule rule;
};

std::optional<QuantizeOptions> parse(const Arguments& arguments, po::variables_map& values) {
  QuantizeOptions o;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("model", po::value(&o.model)->value_name("FILE"), "float32 ONNX model (also as first argument)");
  add("calibrate", po::value(&o.images)->value_name("FOLDER|FILE"),
      "images of a folder and those below it, or a .npz of images");
  add("output", po::value<std::string>()->value_name("FILE"), "write the int8 model");
  add("method", po::value(&o.method)->value_name("auto|minmax|percentile|mse")->default_value(o.method),
      "how ranges are chosen; auto: the one whose answers agree best with the float model's");
  add("limit", po::value(&o.limit)->value_name("N")->default_value(0), "the first N images only; 0: all");
  add_image_options(all);
  add("json", po::value<std::string>()->value_name("FILE"), "write the report as JSON");
  if (!read_options(arguments, all, "model", kUsage, values)) return std::nullopt;
  if (o.model.empty() || o.images.empty() || values.count("output") == 0)
    throw InputError("quantize needs a model, --calibrate and --output (see kaiten quantize --help)");
  if (o.method != "auto" && o.method != "minmax" && o.method != "percentile" && o.method != "mse")
    throw InputError("--method is auto, minmax, percentile or mse, not '" + o.method + "'");
  o.rule = image_rule(values);
  return o;
}

// The images as the model's inputs, one after the other.
std::vector<std::uint8_t> calibration(const Feed& feed, const Tensor& input, std::size_t images,
                                      ProgressLine& progress) {
  if (images * input.bytes() > kMostBytes) {
    throw InputError(fmt::format("{} images take {} bytes as inputs, limit: {} (--limit takes fewer)", images,
                                 images * input.bytes(), kMostBytes));
  }
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < images; i++) {
    check_interrupt();
    progress.show(fmt::format("reading image {} of {}", i + 1, images), double(i) / double(images));
    const std::vector<std::uint8_t> one = to_model(input, feed(i).front());
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

std::string text_of(const nlohmann::ordered_json& j, const Feed& feed) {
  std::string text = fmt::format("input: {}\n", feed.text());
  for (const auto& c : j["candidates"]) {
    text += fmt::format("{:<10} {:6.2f} % of best answers agree, error of the outputs {:.4f}\n",
                        c["method"].get<std::string>(), 100 * c["agreement"].get<double>(),
                        c["error"].get<double>());
  }
  text += "\nerror  layer\n";
  for (const auto& l : j["layers"])
    text += fmt::format("{:.4f} {}\n", l["error"].get<double>(), l["name"].get<std::string>());
  text += fmt::format("\n{} of {} images gave the ranges, {} measured them; taken: {}\n",
                      j["calibrated"].get<int>(), j["images"].get<int>(), j["measured"].get<int>(),
                      j["method"].get<std::string>());
  for (const auto& reason : j["refusals"])
    text += "kaiten cannot run it: " + reason.get<std::string>() + "\n";
  return text;
}

}  // namespace

int quantize_command(const Arguments& arguments) {
  po::variables_map values;
  const std::optional<QuantizeOptions> options = parse(arguments, values);
  if (!options) return kDone;
  const Outputs outputs("quantize", values, {"output", "json"}, {"model", "calibrate"});
  const std::vector<std::uint8_t> model = model_bytes(options->model);
  Dataset set = read_dataset(options->images, {});
  take_first(set, options->limit);
  Graph graph;
  graph.tensors.push_back(oracle::float_input(model, check_interrupt));
  graph.inputs.push_back(0);
  ImageRule rule = options->rule;
  rule.complete(metadata_of(options->model, model));
  const Feed feed("quantize", graph, set, rule);
  ProgressLine progress;
  const std::vector<std::uint8_t> images = calibration(feed, graph.tensors[0], set.names.size(), progress);
  progress.show("quantising with " + std::to_string(set.names.size()) + " images");
  const std::vector<std::string> methods = options->method == "auto"
                                               ? std::vector<std::string>{"minmax", "percentile", "mse"}
                                               : std::vector<std::string>{options->method};
  const oracle::Quantized made = oracle::quantize(model, images, set.names.size(), methods, check_interrupt);
  progress.clear();
  const std::string name = std::filesystem::path(options->model).stem().string();
  const ImportResult imported = import_onnx(made.model, name);
  nlohmann::ordered_json j;
  j["model"] = name;
  j["images"] = set.names.size();
  for (const char* key : {"method", "agreement", "error", "layers", "candidates", "calibrated", "measured",
                          "held_out", "quantizer"})
    j[key] = made.report.at(key);
  j["refusals"] = nlohmann::ordered_json::array();
  for (const Refusal& r : imported.refusals) j["refusals"].push_back(r.text());
  outputs.write("output", made.model);
  if (outputs.wanted("json")) outputs.write_json("json", j);
  outputs.print(text_of(j, feed));
  return kDone;
}

}  // namespace kaiten::cli
