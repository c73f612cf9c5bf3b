// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which --help explains what was wrong with a command line.
#ifndef KAITEN_CLI_MISUSED_H
#define KAITEN_CLI_MISUSED_H

#include <functional>
#include <string>

#include "base/error.h"

namespace kaiten::cli {

// An option that does not exist, a model that is missing: with_help() adds where to read on.
class Misused : public InputError {
 public:
  using InputError::InputError;
};

// Runs a command. A Misused, or an error of boost::program_options, becomes an InputError that ends with " (see CALL --help)".
int with_help(const std::string& call, const std::function<int()>& command);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_MISUSED_H
