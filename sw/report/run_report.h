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

/// A layer of the run, for all images of the batch together.
struct LayerReport {
  std::string name;                    ///< of the operator: Op::name
  std::string op;                      ///< its kind: name_of(OpKind)
  std::string shape_in;                ///< of its first input: "1x32x32x3"
  std::string shape_out;               ///< of its output
  bool on_host = false;                ///< it runs on the host processor
  bool nothing_to_do = false;          ///< a view of what exists: reshapes, concatenations, slices
  bool on_array = false;               ///< its engine is the array, not the vector engine
  std::uint64_t macs = 0;              ///< multiply-accumulates
  std::uint64_t cycles = 0;            ///< of the run that are its own; 0 on the host
  std::uint64_t predicted_cycles = 0;  ///< the same by the compiler's model
  double utilization = 0;              ///< of the multipliers of its engine, 0..1
  /// "array", "vector", "weights", "rows", "output" or "commands"; empty for no time.
  std::string limited_by;
  /// Where the rest of its multipliers' time went, largest first: "padding" (channels and taps that do not
  /// exist, the array being busy) and what the engine waited for. Shares of 0..1; with the utilisation they
  /// add up to 1.
  std::vector<std::pair<std::string, double>> losses;
  std::int64_t bytes_read = 0;     ///< off-chip payload, predicted
  std::int64_t bytes_written = 0;  ///< off-chip payload, predicted
  std::uint64_t zvc_raw = 0;       ///< bytes of what it stores compressed, before
  std::uint64_t zvc_packed = 0;    ///< bytes of that in memory, with its size surface
  /// Least bytes: a bit an element, and the elements that are not the zero point.
  std::uint64_t zvc_limit = 0;
};

/// A command as it ran in one of the four queues.
struct QueueSlice {
  int queue = 0;           ///< LOAD, CONV, VECTOR, STORE
  int op = 0;              ///< its layer: index in RunReport::layers
  std::uint64_t from = 0;  ///< cycle of its start or, if later, of the completion of the one before
  std::uint64_t to = 0;    ///< cycle of its completion
};

/// An output of the network, of one image.
struct OutputReport {
  /// A value of the output and what it stands for.
  struct Class {
    int index = 0;      ///< counted from 0
    double value = 0;   ///< the model's own: an integer, or float32
    std::string label;  ///< RunOptions::labels; empty where there is none
  };
  std::string name;              ///< of the tensor
  std::string shape;             ///< "1x10"
  std::string type;              ///< the model's: name_of(ElementType)
  std::vector<Class> top5 = {};  ///< the largest values; empty for maps of several pixels
  int image = 0;                 ///< of the batch
};

/// Bytes by kind, as counted or as the compiler predicts them.
struct BytesReport {
  std::uint64_t weights = 0;      ///< read
  std::uint64_t parameters = 0;   ///< of requantisation, read
  std::uint64_t activations = 0;  ///< read
  std::uint64_t commands = 0;     ///< read
  std::uint64_t written = 0;      ///< activations

  /// Of all kinds.
  std::uint64_t read() const { return weights + parameters + activations + commands; }
  /// Kind by kind.
  BytesReport& operator+=(const BytesReport& o) {
    weights += o.weights, parameters += o.parameters, activations += o.activations, commands += o.commands;
    written += o.written;
    return *this;
  }
};

/// Beats of the bus times its width: bytes.
struct BusReport {
  std::uint64_t read = 0;     ///< by the device
  std::uint64_t written = 0;  ///< by the device

  /// Both directions.
  BusReport& operator+=(const BusReport& o) {
    read += o.read, written += o.written;
    return *this;
  }
};

/// Bytes of compressed maps and weights: what they stand for, and what crossed the bus.
struct ZvcReport {
  std::uint64_t read_raw = 0;        ///< what was read stands for
  std::uint64_t read_packed = 0;     ///< what crossed the bus
  std::uint64_t written_raw = 0;     ///< what was written stands for
  std::uint64_t written_packed = 0;  ///< what crossed the bus

  std::uint64_t raw() const { return read_raw + written_raw; }           ///< both directions
  std::uint64_t packed() const { return read_packed + written_packed; }  ///< both directions
  /// Field by field.
  ZvcReport& operator+=(const ZvcReport& o) {
    read_raw += o.read_raw, read_packed += o.read_packed, written_raw += o.written_raw,
        written_packed += o.written_packed;
    return *this;
  }
};

/// What was compared with what, in elements.
struct Confirmation {
  /// What an operator computed on the host, or with no check at all, and nothing independent confirmed.
  struct Unconfirmed {
    std::string layer;           ///< Op::name
    std::string op;              ///< its kind: name_of(OpKind)
    std::uint64_t elements = 0;  ///< of its output, all images together
  };
  std::uint64_t reference = 0;    ///< computed by the accelerator and compared with the reference executor
  std::uint64_t golden = 0;       ///< of the outputs, compared with a golden
  std::string interpreter;        ///< "LiteRT", whose tensors were compared, too; empty: none
  std::string version;            ///< its version
  std::uint64_t tensors = 0;      ///< that it shows
  std::uint64_t interpreted = 0;  ///< elements of them
  std::uint64_t different = 0;    ///< of these
  std::uint64_t close = 0;  ///< of these: float32 arithmetic on the host, within 1e-5 of the largest value
  std::vector<Unconfirmed> unconfirmed;  ///< in the order of the operators

  /// "LiteRT 2.3.0"
  std::string title() const { return interpreter + " " + version; }
};

/// What was compared with what, and what nothing confirmed: lines.
std::string to_text(const Confirmation& confirmation);

/// A run. A plain value; bytes, cycles and multiply-accumulates are of all images together.
struct RunReport {
  std::string model;          ///< name of the graph
  Config config;              ///< of the device
  int batch = 1;              ///< images of the run: all numbers are theirs together
  int sections = 1;           ///< programs that ran one after the other, with the host's work between them
  std::optional<bool> exact;  ///< nothing: not checked
  std::string difference;     ///< the first one, where not exact
  std::uint64_t cycles = 0;   ///< from start to end, counted by the device
  std::uint64_t predicted_cycles = 0;  ///< the same by the compiler's model
  std::uint64_t macs = 0;              ///< multiply-accumulates
  std::uint64_t array_macs = 0;        ///< those of them on the array
  double seconds = 0;                  ///< in the evaluation loop of the simulator
  std::uint64_t loop_cycles = 0;       ///< simulated in these seconds: of all runs, with RunOptions::seconds
  std::uint64_t checked = 0;           ///< elements compared
  Confirmation confirmation;           ///< with what
  Counters counters;                   ///< of the device
  BytesReport bytes;                   ///< payload, as counted
  BytesReport predicted;               ///< payload, as the compiler predicts
  BusReport bus;                       ///< as counted
  BusReport predicted_bus;             ///< as the compiler predicts
  /// Predicted bytes are the counted ones; else those of compressed maps are what other values, or none, let expect.
  bool exactly_predicted = false;
  ZvcReport zvc;                      ///< as counted
  BytesReport uncompressed;           ///< as predicted, without compression: raw bytes counted must be these
  std::uint64_t zvc_read_raw = 0;     ///< as predicted: bytes among them that are read compressed
  std::uint64_t zvc_written_raw = 0;  ///< as predicted: bytes among them that are written compressed
  std::uint64_t zvc_weights_raw = 0;  ///< of weights, among the former; what moves for them is known exactly
  std::uint64_t zvc_weights_packed = 0;   ///< as predicted: bytes these take
  std::vector<LayerReport> layers;        ///< operators of the graph, in its order
  std::vector<OutputReport> outputs;      ///< in the order of Graph::outputs, image by image
  std::vector<std::string> notes;         ///< a line each: where results may differ from the model's
  std::vector<QueueSlice> timeline = {};  ///< with RunOptions::trace: all commands, queue by queue
  double clock_mhz = 0;                   ///< turns cycles into time in text and JSON; 0: none was given

  /// Time of so many cycles at clock_mhz, milliseconds; 0 without a clock.
  double milliseconds(std::uint64_t n) const { return clock_mhz > 0 ? double(n) / (clock_mhz * 1e3) : 0; }
  /// Images a second at clock_mhz; 0 without a clock, or without cycles.
  double frames_per_second() const {
    return clock_mhz > 0 && cycles > 0 ? batch * clock_mhz * 1e6 / double(cycles) : 0;
  }
  double array_utilization() const;  ///< of the array's multipliers in all cycles, 0..1
  double mac_utilization() const;    ///< of all multipliers in all cycles, 0..1
  /// Speed of the simulation: thousand cycles a second; 0 where it was not measured.
  double khz() const { return seconds > 0 ? double(loop_cycles) / seconds / 1000 : 0; }
};

/// The table, the totals and the verdict. width 0: unlimited. The last line begins with PASS or FAIL.
std::string to_text(const RunReport& report, std::size_t width);
/// The same as JSON (docs/performance.md), with a newline at the end.
std::string to_json(const RunReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_RUN_REPORT_H
