// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/cluster_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/files.h"
#include "run/session.h"

namespace kaiten::cli {

namespace {

constexpr std::chrono::milliseconds kBetweenNotes{500};

// Images that a state says are there, in the beginning.
std::size_t leading(const std::string& text, const std::string& key, const std::string& file) {
  try {
    const auto j = nlohmann::json::parse(text);
    if (j.at("key") == key) return j.at("images");
  } catch (const nlohmann::json::exception&) {
    throw InputError("'" + file + ".part.state' is not what an interrupted run leaves");
  }
  throw InputError("--resume: '" + file + ".part' is of another model, other images or another rounding");
}

}  // namespace

ClusterOutput::ClusterOutput(const Graph& graph, std::filesystem::path file, std::string key,
                             std::size_t images, bool resume)
    : graph_(graph), name_(std::move(file)), key_(std::move(key)), there_(images) {
  for (int t : graph.outputs) image_bytes_ += graph.tensors[std::size_t(t)].bytes();
  const std::optional<std::string> earlier =
      resume ? ResumableOutput::state_of(name_) : std::nullopt;  // nothing: it ended before its first image
  if (earlier) first_ = std::min(leading(*earlier, key_, name_.string()), images - 1);
  std::fill_n(there_.begin(), first_, true);
  file_.emplace(name_, images * image_bytes_, earlier.has_value(), state());
  noted_ = std::chrono::steady_clock::now();
}

std::string ClusterOutput::state() const {
  const auto gap = std::find(there_.begin(), there_.end(), false);
  return nlohmann::ordered_json{{"key", key_}, {"images", gap - there_.begin()}}.dump() + "\n";
}

std::vector<Int8Values> ClusterOutput::kept() const {
  if (first_ == 0) return {};
  const std::string part = name_.string() + ".part";
  const std::vector<std::uint8_t> bytes = read_file(part);
  return raw_outputs(graph_, {reinterpret_cast<const char*>(bytes.data()), first_ * image_bytes_},
                     "'" + part + "'", int(first_));
}

void ClusterOutput::add(std::size_t image, const std::vector<Int8Values>& outputs) {
  std::uint64_t at = image * image_bytes_;
  for (std::size_t o = 0; o < outputs.size(); o++) {
    const auto bytes = to_model(graph_.tensors[std::size_t(graph_.outputs[o])], outputs[o]);
    file_->write(at, bytes);
    at += bytes.size();
  }
  there_[image] = true;
  if (std::chrono::steady_clock::now() - noted_ >= kBetweenNotes) note();
}

void ClusterOutput::note() {
  file_->note(state());
  noted_ = std::chrono::steady_clock::now();
}

}  // namespace kaiten::cli
