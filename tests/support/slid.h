// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The whole result of a volume, put together from the blocks of an evaluator.
#ifndef KAITEN_TESTS_SUPPORT_SLID_H
#define KAITEN_TESTS_SUPPORT_SLID_H

#include "volume/int8_reference.h"
#include "volume/sliding.h"

namespace kaiten::test {

inline volume::Int8Maps slid(const volume::Network& network,
                             const volume::BlockEvaluator<std::int8_t>& evaluator, volume::Source& source,
                             fft::Memory& memory) {
  volume::Int8Maps result(network.outputs(), fft::valid(source.size(), network.field_of_view()));
  const auto keep = [&result](const volume::BlockOf<std::int8_t>& b) {
    const std::int8_t* from = b.values.data();
    for (int m = 0; m < result.maps; m++)
      for (int z = 0; z < b.extent.depth; z++)
        for (int y = 0; y < b.extent.height; y++)
          for (int x = 0; x < b.extent.width; x++)
            result.values[result.index(m, b.begin.depth + z, b.begin.height + y, b.begin.width + x)] =
                *from++;
  };
  volume::slide(network, evaluator, source, memory, {0, keep, [](const volume::Progress&) {}});
  return result;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_SLID_H
