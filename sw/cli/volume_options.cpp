// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/volume_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "base/output.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "fft/memory.h"
#include "program/config.h"
#include "volume/sliding.h"

namespace kaiten::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using fft::Size;

namespace {

constexpr int kMostSide = 1 << 20;

bool parse(const Arguments& arguments, po::variables_map& values, VolumeOptions& o) {
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("network", po::value(&o.network)->value_name("FILE"),
      "network (.znni or JSON); also as first argument");
  add("input", po::value(&o.input)->value_name("FILE"),
      "volume: NumPy (.npy), TIFF stack (.tif, .tiff), else raw; without it random voxels of --size");
  add("size", po::value(&o.size)->value_name("Z,Y,X"), "of a raw or random volume: depth, height, width");
  add("type", po::value(&o.type)->value_name("NAME")->default_value(o.type),
      "of a raw volume's voxels: u8, i8, u16, i16 or f32, little-endian");
  add("weights", po::value(&o.weights)->value_name("FILE"),
      "raw float32: each convolution's kernels [output][input][z][y][x], then its biases; without it random "
      "ones");
  add("seed", po::value(&o.seed)->value_name("N")->default_value(o.seed), "of random weights and voxels");
  add("int8", po::bool_switch(&o.int8),
      "compute in int8, exactly; scales come of the float network in the middle of the volume");
  add("rtl", po::bool_switch(&o.rtl), "run on the simulated accelerator, in int8");
  add("split", po::bool_switch(&o.split),
      "the first layers on the processors, the others on the simulated accelerator, in a pipeline; needs "
      "--clock");
  add("theta", po::value(&o.theta)->value_name("N"),
      "with --split: so many layers on the processors, instead of as many as the search finds best");
  add("config", po::value(&o.config)->value_name("NAME")->default_value(o.config), "of the accelerator");
  add("block-side", po::value(&o.block_side)->value_name("N")->default_value(o.block_side),
      "of the accelerator's blocks: longest side of a result that is tried, in voxels; with --split no bound "
      "unless given");
  add("brick-side", po::value(&o.brick_side)->value_name("N")->default_value(o.brick_side),
      "longest side of the maps that a run on the accelerator computes");
  add("device-memory", po::value(&o.device_memory)->value_name("SIZE"),
      "of the accelerator, such as 64MiB: what a run takes of a layer, the rest stays in this computer's; "
      "without it no bound");
  add("link", po::value(&o.link)->value_name("MB/S")->default_value(o.link),
      "between this computer's memory and the accelerator's; 0: moving maps takes no time");
  add("no-check", po::bool_switch(&o.no_check),
      "do not compare what the accelerator computes with the references");
  add("clock", po::value(&o.clock)->value_name("MHZ"), "of the accelerator: cycles become voxels a second");
  add("output", po::value(&o.output)->value_name("FILE"),
      "results, float32 or with --int8 int8 [map][z][y][x]: NumPy (.npy), else raw; without it they are only "
      "timed");
  add("resume", po::bool_switch(&o.resume), "go on with the interrupted run that began --output");
  add("memory", po::value(&o.memory)->value_name("SIZE"),
      "bound of memory, such as 4GiB; without it three quarters of this computer's");
  add("halos", po::value(&o.halos)->value_name("HOW")->default_value(o.halos),
      "what blocks that follow in depth have in common is kept for every layer, or computed again: any (the "
      "faster), kept, computed");
  add("threads", po::value(&o.threads)->value_name("N")->default_value(o.threads), "threads");
  add("best", po::value(&o.best)->value_name("N")->default_value(o.best),
      "plans to list, different in more than size");
  add("plan", po::value(&o.plan)->value_name("N")->default_value(o.plan),
      "which of the listed plans to run, to compare what they take");
  add("blocks", po::value(&o.blocks)->value_name("N")->default_value(o.blocks),
      "end after so many blocks; 0: all");
  add("plan-only", po::bool_switch(&o.plan_only), "search and explain, compute nothing");
  add("calibration", po::value(&o.calibration)->value_name("FILE"),
      "where this machine's rates are kept; without it in the user's cache folder");
  add("recalibrate", po::bool_switch(&o.recalibrate), "measure the rates again");
  add("json", po::value<std::string>()->value_name("FILE"), "write JSON");
  constexpr const char* kUsage =
      "usage: kaiten volume NETWORK [--input VOLUME] [--output RESULT] [OPTIONS]\n"
      "Slide a network of 3-D convolutions over a volume, by the fastest plan that fits into memory.\n";
  return read_options(arguments, all, "network", kUsage, values);
}

Size size_of(const std::string& text) {
  int n[3] = {};
  const char *at = text.data(), *end = at + text.size();
  for (int i = 0; i < 3; i++) {
    const auto [next, error] = std::from_chars(at, end, n[i]);
    if (error != std::errc{} || n[i] < 1 || n[i] > kMostSide ||
        (i < 2 ? next == end || *next != ',' : next != end))
      throw InputError(
          fmt::format("--size: expected Z,Y,X, three numbers from 1 to {}, found '{}'", kMostSide, text));
    at = next + 1;
  }
  return {n[0], n[1], n[2]};
}

std::uint64_t bytes_of_text(const std::string& option, const std::string& text) {
  double n = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string unit(rest, text.data() + text.size());
  for (const auto& [name, shift] : {std::pair{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}}) {
    if (error == std::errc{} && unit == name && n >= 1 && n <= 1e15)
      return std::uint64_t(n * double(1ULL << shift));
  }
  throw InputError(option + ": expected bytes, or a number with KiB, MiB or GiB, found '" + text + "'");
}

void check(const VolumeOptions& o) {
  if (o.network.empty()) throw InputError("volume needs a network (see kaiten volume --help)");
  if (o.threads < 1 || o.threads > 1024)
    throw InputError(fmt::format("--threads: expected 1 to 1024, found {}", o.threads));
  if (o.best < 1 || o.best > 1000)
    throw InputError(fmt::format("--best: expected 1 to 1000, found {}", o.best));
  if (o.plan < 1 || o.plan > o.best)
    throw InputError(
        fmt::format("--plan: expected 1 to {}, the plans that --best lists, found {}", o.best, o.plan));
  if (o.plan > 1 && o.resume) throw InputError("--plan: --resume goes on with the plan that was begun");
  if (o.block_side < 1 || o.block_side > 1024)
    throw InputError(fmt::format("--block-side: expected 1 to 1024, found {}", o.block_side));
  if (o.brick_side < 1 || o.brick_side > 256)
    throw InputError(fmt::format("--brick-side: expected 1 to 256, found {}", o.brick_side));
  if (!(o.link >= 0 && o.link <= 1e6))
    throw InputError(fmt::format("--link: expected up to 1000000 MB/s, found {}", o.link));
  if (!(o.clock >= 0 && o.clock <= 1e6))
    throw InputError(fmt::format("--clock: expected up to 1000000 MHz, found {}", o.clock));
  if (o.blocks < 0) throw InputError(fmt::format("--blocks: expected 0 or more, found {}", o.blocks));
  if (!volume::voxel_of(o.type))
    throw InputError("--type: expected u8, i8, u16, i16 or f32, found '" + o.type + "'");
  if (o.output == kStandardOutput) throw InputError("--output: results are written in parts, '-' cannot be");
  if (o.resume && o.output.empty()) throw InputError("--resume needs --output");
  if (o.plan_only && !o.output.empty()) throw InputError("--plan-only computes nothing for --output");
}

}  // namespace

bool parse_volume_options(const Arguments& arguments, po::variables_map& values, VolumeOptions& o) {
  if (!parse(arguments, values, o)) return false;
  check(o);
  if (values.contains("theta") && (!o.split || o.theta < 0 || o.plan != 1))
    throw InputError("--theta: layers with --split, from 0 on, and without --plan");
  if (o.split && o.clock <= 0) throw InputError("--split needs --clock: what the accelerator's cycles take");
  if (o.link > 0 && o.clock <= 0)
    throw InputError("--link needs --clock: what the accelerator's cycles take");
  device_memory_of(o);  // throws where it is none
  if (o.split && values["block-side"].defaulted()) o.block_side = kMostSide;
  o.rtl = o.rtl || o.split;
  if (halos_of(o) == volume::HaloSearch::kKept && o.rtl)
    throw InputError("--halos: bricks on the accelerator compute them again");
  if (o.rtl) preset(o.config);  // throws where there is none
  o.int8 = o.int8 || o.rtl;
  return true;
}

volume::HaloSearch halos_of(const VolumeOptions& o) {
  if (o.halos == "any") return volume::HaloSearch::kAny;
  if (o.halos == "kept") return volume::HaloSearch::kKept;
  if (o.halos == "computed") return volume::HaloSearch::kComputed;
  throw InputError("--halos: expected any, kept or computed, found '" + o.halos + "'");
}

std::uint64_t memory_of(const VolumeOptions& o) {
  return o.memory.empty() ? fft::Memory::physical_bytes() / 4 * 3 : bytes_of_text("--memory", o.memory);
}

std::uint64_t device_memory_of(const VolumeOptions& o) {
  return o.device_memory.empty() ? 0 : bytes_of_text("--device-memory", o.device_memory);
}

std::unique_ptr<volume::Source> source_of(const VolumeOptions& o, const volume::Network& network) {
  const bool numpy = o.input.ends_with(".npy"),
             tiff = o.input.ends_with(".tif") || o.input.ends_with(".tiff");
  if ((numpy || tiff) && !o.size.empty())
    throw InputError("--size is for raw and random volumes, '" + o.input + "' has its own");
  if (!numpy && !tiff && o.size.empty()) throw InputError("a raw or random volume needs --size Z,Y,X");
  std::unique_ptr<volume::Source> source;
  if (o.input.empty()) {
    source = volume::seeded_source(network.inputs, size_of(o.size), o.seed);
  } else if (numpy) {
    source = volume::numpy_source(o.input);
  } else if (tiff) {
    source = volume::tiff_source(o.input);
  } else {
    source = volume::raw_source(o.input, network.inputs, size_of(o.size), *volume::voxel_of(o.type));
  }
  if (source->maps() != network.inputs)
    throw InputError(
        fmt::format("'{}' has {} maps, the network's input {}", o.input, source->maps(), network.inputs));
  volume::require_view(network, source->size());
  return source;
}

fs::path calibration_file(const VolumeOptions& o) {
  if (!o.calibration.empty()) return o.calibration;
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  fs::path folder =
      cache != nullptr && *cache != 0 ? fs::path(cache) : fs::path(home != nullptr ? home : ".") / ".cache";
  return folder / "kaiten" / fmt::format("volume-{}{}-threads.json", o.int8 ? "int8-" : "", o.threads);
}

volume::Calibration calibration_of(const VolumeOptions& o, fft::Workers& workers) {
  const fs::path file = calibration_file(o);
  if (!o.recalibrate && fs::exists(file)) {
    const auto bytes = read_file(file, FileKind::kText);
    const auto c =
        volume::parse_calibration({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
    if (c.numbers != o.numbers())
      throw InputError(fmt::format("'{}' has rates of {}, here {} is asked for", file.string(),
                                   c.numbers == volume::Numbers::kInt8 ? "int8" : "float32",
                                   o.int8 ? "int8" : "float32"));
    if (c.threads != o.threads)
      throw InputError(fmt::format("'{}' is of {} threads, --threads says {} (--recalibrate measures again)",
                                   file.string(), c.threads, o.threads));
    return c;
  }
  ProgressLine progress;
  int done = 0;
  const auto c = volume::calibrate(o.numbers(), workers, [&] {
    check_interrupt();
    progress.show(fmt::format("calibrating, measurement {}", ++done));
  });
  progress.clear();
  std::error_code ignored;
  if (o.calibration.empty()) fs::create_directories(file.parent_path(), ignored);
  write_output(file, volume::text_of(c));
  return c;
}

}  // namespace kaiten::cli
