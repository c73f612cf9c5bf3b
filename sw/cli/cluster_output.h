// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// `kaiten cluster --output`: the outputs of all images, raw as `kaiten run --output` writes them, in the order of the images.
// What an interrupted run or a failed rank leaves is gone on with (base/resumable_output.h).
#ifndef KAITEN_CLI_CLUSTER_OUTPUT_H
#define KAITEN_CLI_CLUSTER_OUTPUT_H

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/resumable_output.h"
#include "graph/graph.h"
#include "graph/values.h"

namespace kaiten::cli {

class ClusterOutput {
 public:
  // `key` tells these images and this model from others. With `resume` goes on where an earlier run ended. Throws
  // InputError where that was a run of another key.
  ClusterOutput(const Graph& graph, std::filesystem::path file, std::string key, std::size_t images,
                bool resume);

  // Images whose outputs an earlier run left: this run has the ones from here on, at least one.
  std::size_t first() const { return first_; }
  // Their outputs, in the order of the graph's, image by image.
  std::vector<Int8Values> kept() const;
  // Once for each image from first() on, in any order.
  void add(std::size_t image, const std::vector<Int8Values>& outputs);
  // What is there is noted for a later run; add() does so now and then.
  void note();
  // Once, with all images: the file is there.
  void commit() { file_->commit(); }

 private:
  std::string state() const;

  const Graph& graph_;
  std::filesystem::path name_;
  std::string key_;
  std::uint64_t image_bytes_ = 0;
  std::vector<bool> there_;  // by image
  std::size_t first_ = 0;
  std::optional<ResumableOutput> file_;
  std::chrono::steady_clock::time_point noted_;
};

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_CLUSTER_OUTPUT_H
