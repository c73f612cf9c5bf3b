// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the compiler's plans are ranked by.
#ifndef KAITEN_PROGRAM_OPTIMISE_H
#define KAITEN_PROGRAM_OPTIMISE_H

#include <cstdint>

namespace kaiten {

/// First by bytes that cross the memory bus, commands apart, or by modelled cycles; ties are broken by the other.
enum class Optimise : std::uint8_t { kBytes, kTime };

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_OPTIMISE_H
