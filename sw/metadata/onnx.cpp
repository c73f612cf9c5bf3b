// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <climits>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "metadata/labels.h"
#include "metadata/metadata.h"
#include "onnx_extras.pb.h"

namespace kaiten {

namespace {

// Keys and values of the image category are case insensitive (ONNX's MetadataProps).
std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = char(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

using Properties = std::map<std::string, std::string>;

Properties properties_of(const onnx_extras::Model& model) {
  Properties properties;
  for (const auto& entry : model.metadata_props()) properties.emplace(lower(entry.key()), entry.value());
  return properties;
}

// A pixel of 0..255 as the named range has it: (pixel - mean) * scale.
struct Range {
  double mean = 0;
  double scale = 1;
};

std::optional<Range> range_of(const std::string& name) {
  if (name == "nominalrange_0_255") return Range{};
  if (name == "normalized_0_1") return Range{0, 1.0 / 255};
  if (name == "normalized_1_1") return Range{127.5, 1 / 127.5};
  if (name == "nominalrange_16_235") return Range{-16 * 255.0 / 219, 219.0 / 255};
  return std::nullopt;
}

// "0.485, 0.456, 0.406", also between brackets. Nothing where it is not one finite number or three.
std::optional<std::vector<double>> numbers_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::string_view("[](),").find(c) != std::string::npos; },
      ' ');
  std::vector<double> numbers;
  const char *at = text.data(), *end = at + text.size();
  for (;;) {
    while (at != end && std::isspace(static_cast<unsigned char>(*at)) != 0) at++;
    if (at == end) break;
    const auto read = std::from_chars(at, end, numbers.emplace_back());
    if (read.ec != std::errc{} || !std::isfinite(numbers.back())) return std::nullopt;
    at = read.ptr;
  }
  if (numbers.size() != 1 && numbers.size() != 3) return std::nullopt;
  return numbers;
}

void read_normalisation(const Properties& properties, ModelMetadata& found) {
  Range range;
  const auto nominal = properties.find("image.nominalpixelrange");
  if (nominal != properties.end()) {
    const std::optional<Range> known = range_of(lower(nominal->second));
    if (!known) {
      found.notes.push_back(fmt::format("Image.NominalPixelRange '{}' left out: not one of ONNX's four",
                                        printable(nominal->second)));
      return;
    }
    range = *known;
  }
  const auto mean_text = properties.find("mean"), std_text = properties.find("std");
  const bool has_mean = mean_text != properties.end(), has_std = std_text != properties.end();
  if (nominal == properties.end() && !has_mean && !has_std) return;
  const auto mean = has_mean ? numbers_of(mean_text->second) : std::vector<double>{0};
  const auto std = has_std ? numbers_of(std_text->second) : std::vector<double>{1};
  if (!mean || !std || std::count(std->begin(), std->end(), 0.0) != 0) {
    found.notes.emplace_back("mean and std left out: limit: one number each or three, finite, std not 0");
    return;
  }
  const std::size_t channels = std::max(mean->size(), std->size());
  for (std::size_t c = 0; c < channels; c++) {
    const double m = (*mean)[mean->size() == 1 ? 0 : c], s = (*std)[std->size() == 1 ? 0 : c];
    found.mean.push_back(range.mean + m / range.scale);
    found.scale.push_back(range.scale / s);
  }
  if (found.is_bgr) {  // they stand in the order of the channels
    std::reverse(found.mean.begin(), found.mean.end());
    std::reverse(found.scale.begin(), found.scale.end());
  }
}

void read_order(const Properties& properties, ModelMetadata& found) {
  const auto format = properties.find("image.bitmappixelformat");
  if (format == properties.end()) return;
  const std::string name = lower(format->second);
  found.is_bgr = name == "bgr8";
  if (name == "gray8" || name == "rgb8" || name == "bgr8") return;
  found.notes.push_back(fmt::format("Image.BitmapPixelFormat '{}' left out: limit: Gray8, Rgb8, Bgr8",
                                    printable(format->second)));
}

void read_labels(const Properties& properties, ModelMetadata& found) {
  for (const char* key : {"names", "labels", "classes", "class_names"}) {
    const auto text = properties.find(key);
    if (text == properties.end()) continue;
    try {
      found.labels = metadata::names_of(text->second);
      found.labels_from = key;
      return;
    } catch (const InputError& e) {
      found.notes.push_back(fmt::format("'{}' left out: {}", key, e.what()));
    }
  }
}

}  // namespace

ModelMetadata onnx_metadata(std::span<const std::uint8_t> file) {
  ModelMetadata found;
  onnx_extras::Model model;
  if (file.size() > INT_MAX || !model.ParseFromArray(file.data(), int(file.size()))) return found;
  const Properties properties = properties_of(model);
  read_order(properties, found);
  read_normalisation(properties, found);
  read_labels(properties, found);
  return found;
}

}  // namespace kaiten
