// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The plan of highest throughput within a bound of memory (ZNNi, section VI): pooling or fragments of every pooling layer,
// halos kept along depth or not, size of the block, batch, and the method of every convolution.
//
// Best first: candidates wait in the order of a bound, the throughput with every layer's fastest method, no matter how much
// memory it takes. The first of them is looked at closely: where a layer's method does not fit, the next fastest is taken
// and the candidate waits again. The first candidate whose layers all fit is the best plan, because layers share nothing
// but the bound of memory and no bound is below what comes of it.
#ifndef KAITEN_VOLUME_SEARCH_H
#define KAITEN_VOLUME_SEARCH_H

#include <functional>
#include <vector>

#include "volume/model.h"

namespace kaiten::volume {

// Which plans are looked for.
enum class HaloSearch { kAny, kKept, kComputed };

struct SearchLimits {
  std::uint64_t memory = 0;  // bytes, for everything but weights
  fft::Size volume;          // of the input: blocks are not larger than its result
  int most_batch = 64;       // runs computed together
  HaloSearch halos = HaloSearch::kAny;
};

struct Planned {
  Plan plan;
  double seconds = 0;  // of all runs of a block; where halos are kept of an average one
  double voxels_a_second =
      0;                    // of the whole volume's results, blocks that reach beyond it included in the time
  std::uint64_t bytes = 0;  // most in use at a time: layers, the block's input and result, halos
};

struct Found {
  std::vector<Planned>
      best;  // best first, as many as asked for and there are, distinct in more than the block's size
  std::uint64_t candidates = 0;   // pooling x halos x block x batch
  std::uint64_t plans = 0;        // with methods
  std::uint64_t opened = 0;       // candidates whose memory was computed
  std::uint64_t least_bytes = 0;  // where nothing fits: what the smallest plan needs
  double seconds = 0;             // of the search
};

// At most `count` plans; none where nothing fits.
Found search(const Network& network, const Calibration& calibration, const SearchLimits& limits, int count,
             fft::Workers& workers, const std::function<void()>& tick);

// Fragments tried where halos are kept: depths, each about an eighth more than the one before, and sides of the area, the
// least that divide the results, `height` and `width` in fragments, into 1, 2, 3 ... columns along either axis.
std::vector<int> kept_depths(int most);
std::vector<int> kept_sides(int height, int width);
// Batches tried: some of a block's `runs` without a rest, or all of 2, 4, 8 ... blocks of those there are.
bool batch_fits(int batch, int runs, std::uint64_t blocks);
// Of the plan, for a whole result of this size.
std::int64_t runs_of(const Network& network, const Plan& plan, const fft::Size& result);
// Of the blocks that are worked on together: inputs and results, and in int8 a block's voxels as they are read.
std::uint64_t block_bytes(const Network& network, const Plan& plan, Numbers numbers);
// Bytes of a plan, exactly, as Planned::bytes.
std::uint64_t plan_bytes(const Network& network, const Plan& plan, Numbers numbers, fft::Workers& workers);
// Seconds of all runs for a whole result of this size, by the model.
double plan_seconds(const Network& network, const Calibration& calibration, const Plan& plan,
                    const fft::Size& result);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_SEARCH_H
