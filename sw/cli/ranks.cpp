// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/ranks.h"

#include <filesystem>

#include "base/error.h"
#include "cli/tool.h"
#include "cluster/mpi.h"

namespace kaiten::cli {

namespace {

// Beside the program, or where `cmake --install` puts it.
std::filesystem::path mpi_library() {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path beside = folder / "kaiten_mpi.so";
  return std::filesystem::exists(beside) ? beside
                                         : folder.parent_path() / KAITEN_MPI_FOLDER / "kaiten_mpi.so";
}

}  // namespace

bool first_rank() { return cluster::launched_rank().value_or(0) == 0; }

cluster::Exchange* other_ranks() {
  return cluster::launched_rank() ? &cluster::open_mpi(mpi_library()) : nullptr;
}

int on_ranks(const std::function<int()>& command) {
  try {
    return command();
  } catch (const InputError&) {
    if (first_rank()) throw;
    return kDone;
  }
}

}  // namespace kaiten::cli
