// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "bridge/bridge.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <iostream>

#include "base/error.h"
#include "bridge/shared_folder.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "program/config.h"
#include "report/table.h"
#include "run/session.h"
#include "sim/sim_device.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr std::uint64_t kAddress = 0x4000'0000;  // of the memory, as many boards have it
constexpr std::int64_t kMostMebibytes = 4096;
constexpr unsigned kMebibyte = 20;  // bits

struct Request {
  std::string folder;
  std::string config = "nano";
  std::int64_t mebibytes = 64;
  std::int64_t latency = SessionOptions{}.latency;
  int stall = 0;
  double bytes_per_cycle = -1;
  std::uint64_t seed = 1;
};

template <class T>
void require(const char* option, T value, T least, T most) {
  if (value < least || value > most)
    throw InputError(fmt::format("--{} is {} to {}, not {}", option, least, most, value));
}

sim::SimOptions sim_options(const Request& r) {
  sim::SimOptions sim;
  sim.memory.base = kAddress;
  sim.memory.bytes = std::size_t(r.mebibytes) << kMebibyte;
  sim.memory.read_latency = sim.memory.write_latency = unsigned(r.latency);
  sim.memory.bytes_per_cycle = r.bytes_per_cycle < 0 ? preset(r.config).axi_bytes : r.bytes_per_cycle;
  sim.memory.seed = r.seed;
  sim.memory.stall_all(unsigned(r.stall));
  return sim;
}

void serve(const Request& r) {
  sim::SimOptions options = sim_options(r);
  SharedFolder folder(r.folder, options.memory.base, options.memory.bytes);
  options.memory.storage = folder.memory();
  const auto device = sim::make_sim_device(r.config, options);
  Bridge bridge(*device, folder);
  folder.publish();
  std::cout << fmt::format(
                   "bridge in '{0}': {1}, {2} MiB of memory at {3:#x}; programs open it as 'bridge:{0}', "
                   "Ctrl-C ends it\n",
                   r.folder, r.config, r.mebibytes, kAddress)
            << std::flush;
  ProgressLine progress;
  bridge.serve([&] {
    progress.show(
        fmt::format("{} runs, {} register accesses", bridge.counts().runs, bridge.counts().accesses));
    return interrupt_signal() == 0;
  });
  progress.clear();
  std::cout << fmt::format("{} runs, {} register accesses, {} interrupts, {} cycles\n",
                           grouped(bridge.counts().runs), grouped(bridge.counts().accesses),
                           grouped(bridge.counts().interrupts), grouped(device->cycles()));
}

}  // namespace

int bridge_command(const Arguments& arguments) {
  Request r;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("folder", po::value(&r.folder)->value_name("FOLDER"),
      "where the shared files are, made if there is none (also as first argument); /dev/shm is fastest");
  add("config", po::value(&r.config)->value_name("NAME")->default_value(r.config), "configuration");
  add("memory", po::value(&r.mebibytes)->value_name("MIB")->default_value(r.mebibytes),
      "memory that both sides reach");
  add("latency", po::value(&r.latency)->value_name("CYCLES")->default_value(r.latency),
      "latency of the memory, 1 to 1000000");
  add("bytes-per-cycle", po::value(&r.bytes_per_cycle)->value_name("N"),
      "bandwidth of the memory, both directions together, 0.01 to 1e6; without it the bus width, 0: no "
      "limit");
  add("stall", po::value(&r.stall)->value_name("PERCENT")->default_value(0),
      "random stalls on every channel of the bus");
  add("seed", po::value(&r.seed)->value_name("N")->default_value(r.seed), "seed of stalls");
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten bridge FOLDER [OPTIONS]\n"
      "A simulated accelerator for programs in other processes, which use it as they use a board's: 'kaiten "
      "board MODEL --device\n"
      "bridge:FOLDER', the C driver, Python. Until Ctrl-C.\n";
  if (!read_options(arguments, all, "folder", kUsage, values)) return kDone;
  if (r.folder.empty()) throw InputError("bridge needs a folder (see kaiten bridge --help)");
  require<std::int64_t>("memory", r.mebibytes, 1, kMostMebibytes);
  require<std::int64_t>("latency", r.latency, 1, kMostLatency);
  require<int>("stall", r.stall, 0, kMostStall);
  if (r.bytes_per_cycle > 0)
    require("bytes-per-cycle", r.bytes_per_cycle, kLeastBytesPerCycle, kMostBytesPerCycle);
  preset(r.config);
  serve(r);
  return kDone;
}

}  // namespace kaiten::cli
