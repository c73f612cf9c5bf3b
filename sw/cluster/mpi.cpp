// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/mpi.h"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.h"

namespace kaiten::cluster {

std::optional<int> launched_rank() {
  struct Launcher {
    const char *size, *rank;
  };
  for (const Launcher& l :
       {Launcher{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}}) {
    const char *size = std::getenv(l.size), *rank = std::getenv(l.rank);
    if (size != nullptr && rank != nullptr && std::atoi(size) > 1) return std::atoi(rank);
  }
  return std::nullopt;
}

Exchange& open_mpi(const std::filesystem::path& library) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) {
    const char* why = dlerror();
    throw DeviceError("cannot run under mpirun: " + std::string(why == nullptr ? "unknown reason" : why) +
                      " (install libboost-mpi-dev and build again)");
  }
  using Make = Exchange* (*)();
  // POSIX: a data pointer that dlsym() returns may be a function's.
  const auto make = reinterpret_cast<Make>(dlsym(opened, "kaiten_make_mpi_exchange"));
  if (make == nullptr)
    throw DeviceError("cannot run under mpirun: " + library.string() + " is of another version");
  static const std::unique_ptr<Exchange> ranks(make());
  return *ranks;
}

}  // namespace kaiten::cluster
