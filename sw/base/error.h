// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The two typed exceptions of Kaiten's boundaries. Everything that is wrong with what the user gave (a model
/// file, an input file, a command line) is an InputError and ends the tool with exit code 2; everything the
/// hardware reports, or a limit inside the tool, is a DeviceError and ends it with exit code 3. The message is
/// one clear line without a newline: what, where, the limit and the value.
#ifndef KAITEN_BASE_ERROR_H
#define KAITEN_BASE_ERROR_H

#include <stdexcept>
#include <string>

namespace kaiten {

/// What the user gave is wrong, or asks for more than Kaiten can do.
class InputError : public std::runtime_error {
 public:
  /// `message`: one line without a newline.
  explicit InputError(const std::string& message) : std::runtime_error(message) {}
};

/// The device reports an error, does not do what was predicted, or a limit inside the tool is reached.
class DeviceError : public std::runtime_error {
 public:
  /// `message`: one line without a newline.
  explicit DeviceError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace kaiten

#endif  // KAITEN_BASE_ERROR_H
