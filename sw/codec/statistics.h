// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What no codec of a kind can beat, from the elements of a map alone.
#ifndef KAITEN_CODEC_STATISTICS_H
#define KAITEN_CODEC_STATISTICS_H

#include "codec/codec.h"

namespace kaiten::codec {

/// Elements that differ from the zero value, of all; 0 for an empty map.
double density_of(std::span<const std::uint8_t> map, const Elements& elements);

/// Bits an element by the frequencies of the values alone (Shannon, order 0): codes of single elements need at
/// least as many. Below it comes only who finds order between elements.
double entropy_of(std::span<const std::uint8_t> map, const Elements& elements);

/// The best ratio of ZVC at a density: of w bits an element, w * density + 1 are left.
double zvc_limit(int element_bits, double density);

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_STATISTICS_H
