// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Ranks as processes that mpirun has started. MPI is a shared library of its own (kaiten_mpi) that is opened only then: without
// mpirun nothing of it is looked for.
#ifndef KAITEN_CLUSTER_MPI_H
#define KAITEN_CLUSTER_MPI_H

#include <filesystem>
#include <optional>

#include "cluster/exchange.h"

namespace kaiten::cluster {

// This process's number among those that Open MPI, MPICH or another launcher has started, which tell it in the environment.
// Nothing where it is alone.
std::optional<int> launched_rank();

// The ranks, once a process: MPI ends with the program, after its last words; for all ranks if this one has not finished. Throws
// DeviceError where `library`, the file of kaiten_mpi, is not there or does not load, naming what to install.
Exchange& open_mpi(const std::filesystem::path& library);

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_MPI_H
