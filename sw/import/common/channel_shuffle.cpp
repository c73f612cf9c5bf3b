// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/common/channel_shuffle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kaiten::importing {

std::optional<std::vector<int>> shuffled_channels(const std::vector<int>& dims, const std::vector<int>& order,
                                                  int channels, bool channels_last) {
  // Dimensions of 1 may stand anywhere.
  std::vector<int> moved;
  for (const int d : order) {
    if (dims[std::size_t(d)] != 1) moved.push_back(d);
  }
  std::vector<int> kept = moved;
  std::sort(kept.begin(), kept.end());

  // Those of the channels: the last ones, or the first.
  const std::size_t n = kept.size();
  std::size_t count = 0;
  std::int64_t product = 1;
  while (count < n && product < channels)
    product *= dims[std::size_t(kept[channels_last ? n - 1 - count++ : count++])];
  if (product != channels) return std::nullopt;
  const std::size_t first = channels_last ? n - count : 0;
  for (std::size_t i = 0; i < n; i++) {
    if ((i < first || i >= first + count) && moved[i] != kept[i]) return std::nullopt;
  }

  // Step of every dimension in the source, then counting in the order of the result.
  std::vector<int> step(dims.size(), 0);
  int next = 1;
  for (std::size_t i = first + count; i-- > first;) {
    step[std::size_t(kept[i])] = next;
    next *= dims[std::size_t(kept[i])];
  }
  std::vector<int> from(std::size_t(channels), 0);
  for (int o = 0; o < channels; o++) {
    int rest = o;
    for (std::size_t i = first + count; i-- > first;) {
      const auto d = std::size_t(moved[i]);
      from[std::size_t(o)] += rest % dims[d] * step[d];
      rest /= dims[d];
    }
  }
  return from;
}

}  // namespace kaiten::importing
