// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Channel shuffles as models write them: a map is reshaped so that its channels have dimensions of their own,
// these are transposed, and the result is reshaped to a map again.
#ifndef KAITEN_IMPORT_COMMON_CHANNEL_SHUFFLE_H
#define KAITEN_IMPORT_COMMON_CHANNEL_SHUFFLE_H

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kaiten::importing {

// A map on its way through a channel shuffle: reshaped, perhaps transposed.
struct Regrouping {
  int map = kNoTensor;
  std::vector<int> dims;   // that it was reshaped to
  std::vector<int> order;  // of the transposition; empty: not transposed yet
};

// A map of `channels` channels and batch 1 was reshaped to `dims` and transposed by `order` (dimension d of
// the result is dimension order[d]). The channel of the map that each channel of the result is; nothing where
// the transposition moves pixels, or mixes them with channels.
std::optional<std::vector<int>> shuffled_channels(const std::vector<int>& dims, const std::vector<int>& order,
                                                  int channels, bool channels_last);

}  // namespace kaiten::importing

#endif  // KAITEN_IMPORT_COMMON_CHANNEL_SHUFFLE_H
