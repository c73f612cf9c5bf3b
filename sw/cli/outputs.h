// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The outputs of a command: files that options name, and standard output, which '-' gives to one of them alone.
#ifndef KAITEN_CLI_OUTPUTS_H
#define KAITEN_CLI_OUTPUTS_H

#include <boost/program_options.hpp>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace kaiten::cli {

class Outputs {
 public:
  // `outputs` and `inputs` are options of `values`. Throws InputError, before any work, for an empty name, a place that may
  // not be written, a file that is an input, another output or what standard output goes to, and more than one '-'. An input
  // option that names `several` files has commas between them.
  Outputs(std::string command, const boost::program_options::variables_map& values,
          std::initializer_list<const char*> outputs, std::initializer_list<const char*> inputs,
          std::initializer_list<const char*> several = {});

  bool wanted(const std::string& option) const { return names_.contains(option); }
  // Nothing where it is not wanted. Throws InputError, or Interrupted where that was the reason.
  void write(const std::string& option, std::span<const std::uint8_t> bytes) const;
  void write(const std::string& option, std::string_view text) const;
  // A report below a head that says what made it: schema_version, command, program, seed, options. A list carries the head
  // in its first entry.
  void write_json(const std::string& option, nlohmann::ordered_json report) const;
  // Text for people, unless one of the outputs is standard output.
  void print(std::string_view text) const;

 private:
  std::string command_;
  const boost::program_options::variables_map& values_;
  std::map<std::string, std::string> names_;  // of the outputs that are wanted, by option
  bool standard_output_taken_ = false;
};

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_OUTPUTS_H
