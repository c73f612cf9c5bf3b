// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Options of `kaiten volume`, and what they ask for.
#ifndef KAITEN_CLI_VOLUME_OPTIONS_H
#define KAITEN_CLI_VOLUME_OPTIONS_H

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "cli/tool.h"
#include "fft/workers.h"
#include "volume/search.h"
#include "volume/source.h"

namespace kaiten::cli {

struct VolumeOptions {
  std::string network, input, size, type = "u8", weights, output, memory, calibration, halos = "any";
  std::uint64_t seed = 1;
  int threads = int(std::max(1U, std::thread::hardware_concurrency()));
  int best = 10, plan = 1;
  int blocks = 0;
  bool plan_only = false, resume = false, recalibrate = false, int8 = false;
  bool rtl = false, no_check = false, split = false;  // on the simulated accelerator
  int theta = -1;                                     // layers on the processors; -1: the search chooses
  std::string config = "base";
  int block_side = 16;  // with --split, where it is not given: no bound
  int brick_side = 16;
  double clock = 0;           // MHz
  std::string device_memory;  // of the accelerator; empty: enough
  double link = 0;            // MB/s between both memories; 0: takes no time

  volume::Numbers numbers() const { return int8 ? volume::Numbers::kInt8 : volume::Numbers::kFloat32; }
};

// False where --help was asked for. Throws InputError for what is out of range.
bool parse_volume_options(const Arguments& arguments, boost::program_options::variables_map& values,
                          VolumeOptions& o);
// Which plans are looked for, of --halos.
volume::HaloSearch halos_of(const VolumeOptions& o);
// Bytes of --memory.
std::uint64_t memory_of(const VolumeOptions& o);
// Of --device-memory; 0 without it.
std::uint64_t device_memory_of(const VolumeOptions& o);
// The volume, as large as the network needs. Throws InputError.
std::unique_ptr<volume::Source> source_of(const VolumeOptions& o, const volume::Network& network);
std::filesystem::path calibration_file(const VolumeOptions& o);
// As it is kept, or measured now and kept.
volume::Calibration calibration_of(const VolumeOptions& o, fft::Workers& workers);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_VOLUME_OPTIONS_H
