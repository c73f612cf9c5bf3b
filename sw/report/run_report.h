// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a run was like, as text for people and as the JSON that other tools read (its keys do not change).
#ifndef KAITEN_REPORT_RUN_REPORT_H
#define KAITEN_REPORT_RUN_REPORT_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/counters.h"
#include "program/config.h"

namespace kaiten {

struct LayerReport {
  std::string name;
  std::string op;
  std::string shape_in;
  std::string shape_out;
  bool on_host = false;
  bool nothing_to_do = false;  ///< a view of what exists: reshapes, concatenations, slices
  bool on_array = false;
  std::uint64_t macs = 0;
  std::uint64_t cycles = 0;
  std::uint64_t predicted_cycles = 0;
  double utilization = 0;  ///< of the multipliers of its engine
  std::string limited_by;
  /// Where the rest of its multipliers' time went, largest first: "padding" (channels and taps that do not
  /// exist, the array being busy) and what the engine waited for. Shares of 0..1; with the utilisation they
  /// add up to 1.
  std::vector<std::pair<std::string, double>> losses;
  std::int64_t bytes_read = 0;  ///< predicted ones
  std::int64_t bytes_written = 0;
  /// What it stores compressed: before, and in memory with its size surface.
  std::uint64_t zvc_raw = 0;
  std::uint64_t zvc_packed = 0;
  std::uint64_t zvc_limit = 0;  ///< a bit an element, and the elements that are not the zero point
};

struct OutputReport {
  struct Class {
    int index = 0;
    double value = 0;  ///< the model's own: an integer, or float32
    std::string label;
  };
  std::string name;
  std::string shape;
  std::string type;
  std::vector<Class> top5 = {};  ///< the largest values; empty for maps of several pixels
  int image = 0;                 ///< of the batch
};

/// Bytes by kind, as counted or as the compiler predicts them.
struct BytesReport {
  std::uint64_t weights = 0;
  std::uint64_t parameters = 0;
  std::uint64_t activations = 0;
  std::uint64_t commands = 0;
  std::uint64_t written = 0;

  std::uint64_t read() const { return weights + parameters + activations + commands; }
};

/// Beats of the bus times its width.
struct BusReport {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
};

/// Bytes of compressed maps and weights: what they stand for, and what crossed the bus.
struct ZvcReport {
  std::uint64_t read_raw = 0;
  std::uint64_t read_packed = 0;
  std::uint64_t written_raw = 0;
  std::uint64_t written_packed = 0;

  std::uint64_t raw() const { return read_raw + written_raw; }
  std::uint64_t packed() const { return read_packed + written_packed; }
};

struct RunReport {
  std::string model;
  Config config;
  int batch = 1;              ///< images of the run: all numbers are theirs together
  std::optional<bool> exact;  ///< nothing: not checked
  std::string difference;     ///< the first one, where not exact
  std::uint64_t cycles = 0;
  std::uint64_t predicted_cycles = 0;
  std::uint64_t macs = 0;
  std::uint64_t array_macs = 0;
  double seconds = 0;  ///< in the evaluation loop
  std::uint64_t loop_cycles = 0;
  std::uint64_t checked = 0;  ///< elements compared
  Counters counters;
  BytesReport bytes;
  BytesReport predicted;
  BusReport bus;
  BusReport predicted_bus;
  /// Predicted bytes are the counted ones; else those of compressed maps are what other values, or none, let expect.
  bool exactly_predicted = false;
  ZvcReport zvc;
  /// What the counters must agree with: bytes without compression, and how many of them are compressed.
  BytesReport uncompressed;
  std::uint64_t zvc_read_raw = 0;
  std::uint64_t zvc_written_raw = 0;
  std::uint64_t zvc_weights_raw = 0;  ///< of weights, among the former; what moves for them is known exactly
  std::uint64_t zvc_weights_packed = 0;
  std::vector<LayerReport> layers;
  std::vector<OutputReport> outputs;
  std::vector<std::string> notes;

  double array_utilization() const;
  double mac_utilization() const;
  double khz() const { return seconds > 0 ? double(loop_cycles) / seconds / 1000 : 0; }
};

/// The table, the totals and the verdict. width 0: unlimited. The last line begins with PASS or FAIL.
std::string to_text(const RunReport& report, std::size_t width);
std::string to_json(const RunReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_RUN_REPORT_H
