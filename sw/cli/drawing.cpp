// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/drawing.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "draw/draw.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

std::optional<draw::Kind> kind_named(const std::string& name) {
  if (name == "auto") return {};
  if (name == "mask") return draw::Kind::Mask;
  if (name == "points") return draw::Kind::Points;
  if (name == "boxes") return draw::Kind::Boxes;
  if (name == "picture") return draw::Kind::Picture;
  throw InputError("--draw-as is auto, mask, points, boxes or picture, not '" + name + "'");
}

// "W,H,W,H": pairs of positive numbers.
std::vector<std::array<double, 2>> anchors_of(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    std::size_t used = 0;
    double number = 0;
    try {
      number = std::stod(part, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    const bool sound = used == part.size() && used > 0 && std::isfinite(number) && number > 0;
    if (!sound) throw InputError("--anchors is W,H,W,H,... of numbers above 0, not '" + text + "'");
    numbers.push_back(number);
  }
  if (numbers.empty() || numbers.size() % 2 != 0)
    throw InputError(fmt::format("--anchors is W,H,W,H,..., pairs; it has {} numbers", numbers.size()));
  std::vector<std::array<double, 2>> anchors;
  for (std::size_t i = 0; i < numbers.size(); i += 2) anchors.push_back({numbers[i], numbers[i + 1]});
  return anchors;
}

}  // namespace

void add_draw_options(po::options_description& all) {
  auto add = all.add_options();
  add("draw", po::value<std::string>()->value_name("FILE"),
      "write the input image as PNG with what the network found: mask, key points, boxes or another picture");
  add("draw-as", po::value<std::string>()->value_name("KIND")->default_value("auto"),
      "what the outputs are: mask|points|boxes|picture; auto: by their shapes");
  add("threshold", po::value<double>()->value_name("P")->default_value(0.5),
      "points and boxes of a lower score are not drawn");
  add("anchors", po::value<std::string>()->value_name("W,H,..."),
      "YOLO: width and height of each box of a cell, in shares of the image");
}

draw::FindOptions draw_options(const po::variables_map& values) {
  draw::FindOptions options;
  options.kind = kind_named(values["draw-as"].as<std::string>());
  options.threshold = values["threshold"].as<double>();
  if (!std::isfinite(options.threshold)) throw InputError("--threshold is a number");
  if (values.count("anchors") != 0) options.anchors = anchors_of(values["anchors"].as<std::string>());
  if (values.count("draw") == 0 &&
      (!values["draw-as"].defaulted() || !values["threshold"].defaulted() || values.count("anchors") != 0))
    throw InputError("--draw-as, --threshold and --anchors need --draw");
  return options;
}

draw::Findings findings_in(const Graph& graph, const Image& image, Fit fit,
                           const std::vector<Int8Values>& outputs, const draw::FindOptions& options) {
  const Nhwc input = image_shape(graph.tensors[std::size_t(graph.inputs.front())]);
  const ImagePlacement place = placement(image.width, image.height, input.w, input.h, fit);
  return draw::in_pixels(draw::find(draw::real_outputs(graph, outputs), input, options), image, place, input);
}

nlohmann::ordered_json json_of(const draw::Findings& findings) {
  const auto list = [](const std::vector<draw::Point>& points) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const draw::Point& p : points) all.push_back({{"x", p.x}, {"y", p.y}, {"score", p.score}});
    return all;
  };
  nlohmann::ordered_json told = nlohmann::ordered_json::object();
  if (findings.kind == draw::Kind::Points) told["points"] = list(findings.points);
  if (findings.kind == draw::Kind::Boxes) {
    told["boxes"] = nlohmann::ordered_json::array();
    for (const draw::FoundBox& b : findings.boxes) {
      told["boxes"].push_back({{"left", b.left},
                               {"top", b.top},
                               {"right", b.right},
                               {"bottom", b.bottom},
                               {"score", b.score},
                               {"class", b.category},
                               {"points", list(b.points)}});
    }
  }
  if (findings.mask) {
    std::map<std::string, int> pixels;
    for (const int c : findings.mask->classes) pixels[std::to_string(c)]++;
    told["mask"] = pixels;
  }
  return told;
}

}  // namespace kaiten::cli
