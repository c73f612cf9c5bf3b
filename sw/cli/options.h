// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What all commands do with their options.
#ifndef KAITEN_CLI_OPTIONS_H
#define KAITEN_CLI_OPTIONS_H

#include <boost/program_options.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/tool.h"

namespace kaiten::cli {

// Reads the options of a command into `values` and the variables behind them; `positional`: the options that the first
// arguments may be, separated by spaces. False: help was asked for and printed, `usage` before and `ending` after the options;
// or, by --help=json, the same for scripts/shell_pages.py. What all commands know is read here: --wide (terminal.h). Throws
// InputError for unknown options, with the nearest one that there is, and boost::program_options::error.
bool read_options(const Arguments& arguments, const boost::program_options::options_description& all,
                  const std::string& positional, const std::string& usage,
                  boost::program_options::variables_map& values, const std::string& ending = "");

// ", did you mean 'run'?": the nearest of the words that there are, or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

// "3145728", "3MiB", "1.5MiB", "256KiB", "1GiB": bytes of `option`, 1 to plan::kMaxCapacity. Throws InputError.
std::int64_t bytes_of(const std::string& text, const std::string& option);

// --clock MHZ, which has no default: without it cycles stay cycles, and `mhz` as it is.
void add_clock_option(boost::program_options::options_description& all, double& mhz);
// Throws InputError for a clock that is none.
void require_clock(const boost::program_options::variables_map& values, double mhz);

// Throw InputError: for an --efficiency above the peak rate; for a --density that is no share, or beside --densities.
void require_efficiency(const boost::program_options::variables_map& values, double efficiency);
void require_density(const boost::program_options::variables_map& values, double density,
                     const std::string& densities);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_OPTIONS_H
