// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Commands that share their work with the other ranks of mpirun: rank 0 alone prints, writes and says what is wrong.
#ifndef KAITEN_CLI_RANKS_H
#define KAITEN_CLI_RANKS_H

#include <functional>

#include "cluster/exchange.h"

namespace kaiten::cli {

// This process is alone or rank 0.
bool first_rank();
// The other ranks; null where this process is alone. Throws DeviceError where MPI is not there.
cluster::Exchange* other_ranks();
// The command's exit code; of a rank that is not the first always kDone where the command line is at fault, which all of them
// see alike.
int on_ranks(const std::function<int()>& command);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_RANKS_H
