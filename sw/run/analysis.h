// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What can be said of a model without running it on the accelerator: its layers and where they run, what the
/// reference executor computes, its plan, how far its tensors compress.
#ifndef KAITEN_RUN_ANALYSIS_H
#define KAITEN_RUN_ANALYSIS_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/rounding_style.h"
#include "graph/values.h"
#include "import/import.h"

namespace kaiten {

/// A layer of a model.
struct LayerFacts {
  std::string name;                ///< Op::name
  std::string op;                  ///< its kind: name_of(OpKind)
  std::string shape_in;            ///< of its first input: "1x32x32x3"
  std::string shape_out;           ///< of its output
  std::uint64_t macs = 0;          ///< multiply-accumulates
  std::uint64_t weight_bytes = 0;  ///< of its weights, 0 where it has none
  std::string runs_on;  ///< "array", "vector", "host", "nothing to do"; "refused"; "-": part of others
};

/// What `kaiten inspect` tells.
struct Inspection {
  std::vector<LayerFacts> layers;    ///< empty where the importer refuses the model
  std::vector<std::string> reasons;  ///< why it cannot run, a line each; empty: it can
  std::string text;                  ///< the table, or the reasons
};

/// Compiles the model for a configuration, which needs no simulator. Throws InputError for unknown ones.
Inspection inspect(const ImportResult& model, const std::string& config = "base");

/// Configurations that this build can simulate.
std::vector<std::string> simulated_configs();

/// Every tensor as the reference executor computes it, under its index, image by image; constants are empty. `inputs` as
/// raw_inputs() makes them. Throws InputError where they do not fit and what `cancellation_check` throws.
std::vector<Int8Values> reference_tensors(const Graph& graph, std::span<const Int8Values> inputs,
                                          int images = 1, RoundingStyle rounding = RoundingStyle::LiteRt,
                                          const std::function<void()>& cancellation_check = {});

/// What to plan for: bytes on chip or a configuration, not both.
struct PlanRequest {
  std::int64_t capacity_bytes = 0;  ///< 0: for `config`
  std::string config = {};          ///< empty: for `capacity_bytes`
  std::string method = "optimal";   ///< as `kaiten plan --method`, without "all"
  std::string closure = "rolling";  ///< or "paper"; with `capacity_bytes`
  int batch = 1;                    ///< images that share a span's weights
};

/// The plan as JSON with the keys of `kaiten plan --json`. Throws InputError for what does not fit.
std::string plan_json(const Graph& graph, const PlanRequest& request,
                      const std::function<void()>& cancellation_check = {});

/// Codecs over the int8 activations and weights of a model, with the keys of `kaiten compress --json`: lossless, NHWC.
/// `tensors` as reference_tensors() gives them, of one image; `codec` of codec_names(). Throws InputError for another.
std::string compress_json(const Graph& graph, std::span<const Int8Values> tensors, const std::string& codec);

}  // namespace kaiten

#endif  // KAITEN_RUN_ANALYSIS_H
