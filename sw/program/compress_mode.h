// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Which maps and weights cross the memory bus compressed (docs/formats/zvc.md).
#ifndef KAITEN_PROGRAM_COMPRESS_MODE_H
#define KAITEN_PROGRAM_COMPRESS_MODE_H

#include <cstdint>
#include <span>
#include <vector>

namespace kaiten {

/// kOn: every map that can be, and weights that become smaller; kAuto: what is worthwhile, of maps by
/// expectation.
enum class Compress : std::uint8_t { kOff, kOn, kAuto };

/// Values of every tensor of a graph, image by image; none where nothing is known.
using KnownValues = std::span<const std::vector<std::int8_t>>;

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_COMPRESS_MODE_H
