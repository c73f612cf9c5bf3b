// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A plan over a whole volume: blocks that overlap by the field of view less one, so that their results lie side by side.
// A block that reaches beyond the volume sees zeros there, and those results are left out. Where halos are kept (plan.h)
// blocks follow each other in depth first, column by column.
#ifndef KAITEN_VOLUME_SLIDING_H
#define KAITEN_VOLUME_SLIDING_H

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "volume/evaluate.h"
#include "volume/source.h"

namespace kaiten::volume {

// A block's result, cut to the volume's: `values` [map][voxel]. T: float, or int8 stored values.
template <typename T>
struct BlockOf {
  fft::Size begin;  // in the result of the whole volume
  fft::Size extent;
  std::vector<T> values;
};
using BlockResult = BlockOf<float>;

struct Progress {
  std::int64_t done = 0, blocks = 0;
  std::uint64_t voxels = 0;  // of results, in this run
  Seconds spent;             // in this run
};

template <typename T>
struct SlidingRun {
  std::int64_t first = 0;  // blocks before it are done already; what first_block() gives
  std::function<void(const BlockOf<T>&)> store;
  std::function<void(const Progress&)> progress;  // after every batch of blocks; may throw to end the run
};

// Throws InputError where the volume is smaller than the field of view.
template <typename T>
Progress slide(const Network& network, const BlockEvaluator<T>& evaluator, Source& source,
               fft::Memory& memory, const std::type_identity_t<SlidingRun<T>>& run);

// Where a run goes on of whose blocks so many are done: there, or at the beginning of its column where halos are kept.
std::int64_t first_block(const Network& network, const Plan& plan, const fft::Size& volume,
                         std::int64_t done);
// Blocks of a volume's result, with those that fill halos.
std::int64_t block_count(const Network& network, const Plan& plan, const fft::Size& volume);
// Throws InputError, naming the least size, where the volume is smaller than the field of view.
void require_view(const Network& network, const fft::Size& volume);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_SLIDING_H
