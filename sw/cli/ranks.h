// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Commands that share their work with the other ranks of mpirun: rank 0 alone prints, writes and says what is wrong.
#ifndef KAITEN_CLI_RANKS_H
#define KAITEN_CLI_RANKS_H

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "cluster/exchange.h"

namespace kaiten::cli {

// This process is alone or rank 0.
bool first_rank();
// The other ranks; null where this process is alone. Throws DeviceError where MPI is not there.
cluster::Exchange* other_ranks();
// Threads for this process: one a rank, else one a core.
int threads_of_rank();
// Those of the values that stand at these places.
template <class Values>
auto picked(const Values& values, const std::vector<std::size_t>& places) {
  std::vector<std::decay_t<decltype(values[0])>> some;
  some.reserve(places.size());
  for (const std::size_t p : places) some.push_back(values[p]);
  return some;
}

// What makes the answers to some items, in their order.
using RankWork = std::function<std::vector<std::string>(const std::vector<std::size_t>& items)>;
// Items 0 to `items` - 1 go to the ranks in turn; every rank is told all answers, by item. Throws what the work throws, and
// DeviceError where a rank is gone or a message is damaged.
std::vector<std::string> shared_by(cluster::Exchange& ranks, std::size_t items, const RankWork& work);
// The command's exit code; of a rank that is not the first always kDone where the command line is at fault, which all of them
// see alike.
int on_ranks(const std::function<int()>& command);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_RANKS_H
