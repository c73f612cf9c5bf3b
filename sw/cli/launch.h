// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Starts this program again under mpirun. What mpirun tells of a rank that died, in a frame of twenty lines and with the exit
// code of the signal, becomes one line and the exit code of a failure.
#ifndef KAITEN_CLI_LAUNCH_H
#define KAITEN_CLI_LAUNCH_H

#include <string>
#include <vector>

namespace kaiten::cli {

// The command with these arguments in so many processes; the exit code that they end with. Throws DeviceError naming a rank
// that died, or where mpirun is not there.
int launch_ranks(int ranks, const std::vector<std::string>& command);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_LAUNCH_H
