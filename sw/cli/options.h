// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What all commands do with their options.
#ifndef KAITEN_CLI_OPTIONS_H
#define KAITEN_CLI_OPTIONS_H

#include <boost/program_options.hpp>
#include <string>

#include "cli/tool.h"

namespace kaiten::cli {

// Reads the options of a command into `values` and the variables behind them; `first`: the option that the first argument
// may be, or empty. False: help was asked for and printed, `usage` before and `ending` after the options.
// Throws boost::program_options::error.
bool read_options(const Arguments& arguments, const boost::program_options::options_description& all,
                  const std::string& first, const std::string& usage,
                  boost::program_options::variables_map& values, const std::string& ending = "");

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_OPTIONS_H
