// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What an expander throws when its input cannot have come out of the packer. The message is one line: where
/// (the row, where there are rows), and what disagrees.
#ifndef KAITEN_CODEC_ERROR_H
#define KAITEN_CODEC_ERROR_H

#include <string>

#include "base/error.h"

namespace kaiten::codec {

/// Packed bytes that no packer makes.
class CorruptStream : public InputError {
 public:
  /// `message`: one line without a newline.
  explicit CorruptStream(const std::string& message) : InputError(message) {}
};

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_ERROR_H
