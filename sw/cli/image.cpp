// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/image.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

// One number or three, with commas between them.
std::vector<double> numbers_of(const po::variables_map& values, const std::string& option) {
  std::vector<double> numbers;
  if (values.count(option) == 0) return numbers;
  const auto& text = values[option].as<std::string>();
  const char* at = text.data();
  const char* end = at + text.size();
  for (;;) {
    double number = 0;
    const auto read = std::from_chars(at, end, number);
    const bool sound = read.ec == std::errc{} && std::isfinite(number) && (option != "scale" || number != 0);
    if (!sound || (read.ptr != end && *read.ptr != ',')) break;
    numbers.push_back(number);
    if (read.ptr == end && (numbers.size() == 1 || numbers.size() == 3)) return numbers;
    if (read.ptr == end) break;
    at = read.ptr + 1;
  }
  throw InputError("--" + option + " is one number" + (option == "scale" ? ", not 0," : "") +
                   " or three with commas between them, not '" + text + "'");
}

}  // namespace

void add_image_options(po::options_description& all) {
  auto add = all.add_options();
  add("mean", po::value<std::string>()->value_name("M[,M,M]"),
      "image pixels become (pixel - mean) * scale; one number, or one for red, green and blue");
  add("scale", po::value<std::string>()->value_name("S[,S,S]"),
      "see --mean; without both what the model's metadata says, else pixel - 128 as stored value");
  add("channels", po::value<std::string>()->value_name("rgb|bgr"),
      "order of the input's colours; without it the model's metadata, else rgb");
  add("no-metadata", po::bool_switch(), "leave out what the model's metadata says of pixels and classes");
  add("fit", po::value<std::string>()->value_name("crop|stretch|pad")->default_value("crop"),
      "images of other proportions than the model's: the centre, all of it distorted, or all of it with "
      "black edges");
}

ImageRule image_rule(const po::variables_map& values) {
  ImageRule rule;
  rule.normalisation = {numbers_of(values, "mean"), numbers_of(values, "scale")};
  rule.reads_metadata = !values["no-metadata"].as<bool>();
  rule.order_given = values.count("channels") != 0;
  if (rule.order_given) {
    const auto& order = values["channels"].as<std::string>();
    if (order != "rgb" && order != "bgr") throw InputError("--channels is rgb or bgr, not '" + order + "'");
    rule.is_bgr = order == "bgr";
  }
  const auto& fit = values["fit"].as<std::string>();
  const std::optional<Fit> known = fit_of(fit);
  if (!known) throw InputError("--fit is crop, stretch or pad, not '" + fit + "'");
  rule.fit = *known;
  return rule;
}

}  // namespace kaiten::cli
