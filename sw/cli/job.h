// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `run` and `compare` have in common: the options that name model, inputs and device, and the session
// they make.
#ifndef KAITEN_CLI_JOB_H
#define KAITEN_CLI_JOB_H

#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "oracle/interpreter.h"
#include "run/session.h"

namespace kaiten::cli {

class Job {
 public:
  // Adds the common options; is_tb: the model may be left out and is no positional argument.
  Job(boost::program_options::options_description& all, bool is_tb);
  // --clock, of the commands that show cycles.
  void add_clock() { add_clock_option(all_, clock_mhz_); }

  // Reads all options of a command and checks the outputs among them. Nothing after --help was printed. `second`: the
  // option that the second argument may be. Throws InputError for values out of range.
  std::optional<boost::program_options::variables_map> parse(const Arguments& arguments,
                                                             const std::string& usage,
                                                             const std::string& second = "");

  // Before open(): the model's bytes are kept, for file().
  void keep_file() { keeps_file_ = true; }
  std::span<const std::uint8_t> file() const { return file_; }
  // As the user names it: a file, 'demo' or '-'.
  std::string model() const;
  // Of --clock; 0: none.
  double clock_mhz() const { return clock_mhz_; }
  SessionOptions& session_options() { return session_options_; }
  // Imports and compiles the model; its progress shows on the terminal and Ctrl-C ends it.
  Session open(ProgressLine& progress);
  // Of --fit.
  Fit fit() const { return rule_.fit; }
  // Once.
  ModelInputs inputs(const Graph& graph);
  // Once open, where there is an --input: what the model's file says of images; nothing with --no-metadata.
  const ModelMetadata& metadata() const { return metadata_; }
  // What --fault inverted, once the session is open; empty: nothing.
  const std::string& fault_note() const { return fault_note_; }
  // Whether --oracle names one.
  bool has_interpreter() const { return interpreter_.has_value(); }
  // That, for RunOptions::interpreter; empty where it names none. The session's graph outlives it.
  std::function<Interpretation(std::span<const Int8Values>)> interpreter(const Graph& graph) const;

 private:
  boost::program_options::options_description& all_;
  bool is_tb_;
  std::string model_;  // empty: the demo network
  std::string until_;  // empty: the model's outputs
  std::string input_;
  std::string fault_;
  std::string fault_note_;
  std::string rounding_ = "litert";
  std::string compress_ = "off";
  std::string optimise_ = "bytes";
  std::string oracle_ = "direct";
  std::int64_t latency_;
  std::int64_t wave_from_ = 0;
  std::int64_t wave_to_ = std::numeric_limits<std::int64_t>::max();
  int stall_ = 0;
  double clock_mhz_ = 0;
  ImageRule rule_;
  ModelMetadata metadata_;
  bool quiet_ = false;  // standard output belongs to a file
  SessionOptions session_options_;
  std::optional<oracle::Interpreter> interpreter_;
  bool keeps_file_ = false;
  std::vector<std::uint8_t> file_;     // the model, for the interpreter or file()
  std::optional<ModelInputs> inputs_;  // where they were needed before the session
};

// What --optimise says.
Optimise optimise_of(const std::string& text);
// What --compress says.
Compress compress_of(const std::string& text);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_JOB_H
