// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Maps on a link, as they are or by zero-value compression in windows of 4 KiB (codec/copy.h), as the cDMA paper's engine packs
// them on their way: no time is counted for it.
#ifndef KAITEN_CLUSTER_SPILL_CODEC_H
#define KAITEN_CLUSTER_SPILL_CODEC_H

#include "graph/values.h"

namespace kaiten::cluster {

// `zero`: the value left out, the map's zero point.
Int8Values pack_map(const Int8Values& map, int zero);
// Throws CorruptStream.
Int8Values expand_map(const Int8Values& packed, std::size_t bytes, int zero);

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_SPILL_CODEC_H
