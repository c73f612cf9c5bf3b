// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/program_options.hpp>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/output.h"
#include "base/resumable_output.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "volume/search.h"
#include "volume/sliding.h"

namespace kaiten::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;

namespace {

using fft::Size;

constexpr int kMostSide = 1 << 20;
constexpr double kMi = 1024.0 * 1024.0;

struct VolumeOptions {
  std::string network, input, size, type = "u8", weights, output, memory, calibration;
  std::uint64_t seed = 1;
  int threads = int(std::max(1U, std::thread::hardware_concurrency()));
  int best = 10, plan = 1;
  int blocks = 0;
  bool plan_only = false, resume = false, recalibrate = false;
};

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
  add("output", po::value(&o.output)->value_name("FILE"),
      "results, float32 [map][z][y][x]: NumPy (.npy), else raw; without it they are only timed");
  add("resume", po::bool_switch(&o.resume), "go on with the interrupted run that began --output");
  add("memory", po::value(&o.memory)->value_name("SIZE"),
      "bound of memory, such as 4GiB; without it three quarters of this computer's");
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

std::uint64_t memory_of(const std::string& text) {
  if (text.empty()) return fft::Memory::physical_bytes() / 4 * 3;
  double n = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string unit(rest, text.data() + text.size());
  for (const auto& [name, shift] : {std::pair{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}}) {
    if (error == std::errc{} && unit == name && n >= 1 && n <= 1e15)
      return std::uint64_t(n * double(1ULL << shift));
  }
  throw InputError("--memory: expected bytes, or a number with KiB, MiB or GiB, found '" + text + "'");
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
  if (o.blocks < 0) throw InputError(fmt::format("--blocks: expected 0 or more, found {}", o.blocks));
  if (!volume::voxel_of(o.type))
    throw InputError("--type: expected u8, i8, u16, i16 or f32, found '" + o.type + "'");
  if (o.output == kStandardOutput) throw InputError("--output: results are written in parts, '-' cannot be");
  if (o.resume && o.output.empty()) throw InputError("--resume needs --output");
  if (o.plan_only && !o.output.empty()) throw InputError("--plan-only computes nothing for --output");
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
  return folder / "kaiten" / fmt::format("volume-{}-threads.json", o.threads);
}

volume::Calibration calibration_of(const VolumeOptions& o, fft::Workers& workers) {
  const fs::path file = calibration_file(o);
  if (!o.recalibrate && fs::exists(file)) {
    const auto bytes = read_file(file, FileKind::kText);
    const auto c =
        volume::parse_calibration({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
    if (c.threads != o.threads)
      throw InputError(fmt::format("'{}' is of {} threads, --threads says {} (--recalibrate measures again)",
                                   file.string(), c.threads, o.threads));
    return c;
  }
  ProgressLine progress;
  int done = 0;
  const auto c = volume::calibrate(workers, [&] {
    check_interrupt();
    progress.show(fmt::format("calibrating, measurement {}", ++done));
  });
  progress.clear();
  std::error_code ignored;
  if (o.calibration.empty()) fs::create_directories(file.parent_path(), ignored);
  write_output(file, volume::text_of(c));
  return c;
}

// FNV-1a, to tell another run's output from this one's.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const char c : text) h = (h ^ std::uint8_t(c)) * 0x100000001b3U;
  return h;
}

// What an interrupted run leaves: whose it is, its plan, the blocks done.
struct State {
  std::string key;
  volume::Plan plan;
  std::int64_t done = 0;
};

std::string text_of(const State& s) {
  nlohmann::ordered_json j;
  j["key"] = s.key;
  j["fragment"] = {s.plan.fragment.depth, s.plan.fragment.height, s.plan.fragment.width};
  j["batch"] = s.plan.batch;
  for (const volume::Choice& c : s.plan.layers) j["layers"].push_back({int(c.method), c.fragments});
  j["done"] = s.done;
  return j.dump() + "\n";
}

State parse_state(const std::string& text, const std::string& file) {
  try {
    const auto j = nlohmann::json::parse(text);
    State s{j.at("key"), {}, j.at("done")};
    const auto& f = j.at("fragment");
    s.plan.fragment = {f.at(0), f.at(1), f.at(2)};
    s.plan.batch = j.at("batch");
    for (const auto& l : j.at("layers")) s.plan.layers.push_back({fft::Method(l.at(0).get<int>()), l.at(1)});
    return s;
  } catch (const nlohmann::json::exception&) {
    throw InputError("'" + file + ".part.state' is not what an interrupted run leaves");
  }
}

nlohmann::ordered_json json_of(const volume::Network& network, const volume::Planned& p) {
  nlohmann::ordered_json j;
  const Size in = volume::block_input(network, p.plan), out = volume::block_result(network, p.plan);
  j["block_input"] = {in.depth, in.height, in.width};
  j["block_result"] = {out.depth, out.height, out.width};
  j["batch"] = p.plan.batch;
  j["layers"] = volume::text_of(network, p.plan);
  j["bytes"] = p.bytes;
  j["predicted_voxels_per_second"] = p.voxels_a_second;
  return j;
}

std::string table_of(const volume::Network& network, const volume::Found& found) {
  std::string text = fmt::format("{:>3} {:>14} {:>5} {:>10} {:>12}  layers\n", "", "block result", "batch",
                                 "MiB", "voxels/s");
  int n = 0;
  for (const volume::Planned& p : found.best)
    text += fmt::format("{:>3} {:>14} {:>5} {:>10.0f} {:>12.0f}  {}\n", ++n,
                        volume::block_result(network, p.plan).text(), p.plan.batch, double(p.bytes) / kMi,
                        p.voxels_a_second, volume::text_of(network, p.plan));
  text += fmt::format("{} candidates of {} plans, {} opened, in {:.2f} s: {:.0f} plans/s\n", found.candidates,
                      found.plans, found.opened, found.seconds, double(found.plans) / found.seconds);
  return text;
}

std::span<const std::uint8_t> bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

// Rows of a block to their places in the file.
void store(ResumableOutput& file, std::uint64_t header, const Size& whole, int maps,
           const volume::BlockResult& r) {
  std::size_t from = 0;
  for (int m = 0; m < maps; m++) {
    for (int z = 0; z < r.extent.depth; z++) {
      for (int y = 0; y < r.extent.height; y++, from += std::size_t(r.extent.width)) {
        const std::uint64_t at =
            ((std::uint64_t(m) * std::uint64_t(whole.depth) + std::uint64_t(r.begin.depth + z)) *
                 std::uint64_t(whole.height) +
             std::uint64_t(r.begin.height + y)) *
                std::uint64_t(whole.width) +
            std::uint64_t(r.begin.width);
        file.write(header + at * sizeof(float),
                   bytes_of({r.values.data() + from, std::size_t(r.extent.width)}));
      }
    }
  }
}

// One run of the command.
class VolumeJob {
 public:
  VolumeJob(const VolumeOptions& o, const Outputs& outputs)
      : o_(o),
        outputs_(outputs),
        network_text_(text_file(o.network)),
        network_(volume::parse_network(network_text_, o.network)),
        weights_(o.weights.empty() ? volume::seeded_weights(network_, o.seed)
                                   : volume::weights_from(network_, read_file(o.weights), o.weights)),
        source_(source_of(o, network_)),
        whole_(fft::valid(source_->size(), network_.field_of_view())),
        limit_(memory_of(o.memory)),
        workers_(o.threads) {}

  int run() {
    const auto state = earlier();
    report_["network"] = o_.network;
    const Size view = network_.field_of_view();
    report_["field_of_view"] = {view.depth, view.height, view.width};
    report_["threads"] = o_.threads;
    report_["memory_bytes"] = limit_;
    const volume::Planned planned = state ? volume::Planned{state->plan, 0, 0, 0} : search();
    if (!o_.plan_only) compute(planned, state ? state->done : 0);
    if (outputs_.wanted("json")) outputs_.write_json("json", report_);
    return kDone;
  }

 private:
  static std::string text_file(const std::string& name) {
    const auto bytes = read_file(name, FileKind::kText);
    return {bytes.begin(), bytes.end()};
  }

  std::string key() const {
    const std::string all = fmt::format("{}|{}|{}|{}|{}|{}", network_text_, o_.input, source_->size().text(),
                                        o_.type, o_.weights, o_.seed);
    return fmt::format("{:016x}", hash_of(all));
  }

  std::optional<State> earlier() const {
    if (!o_.resume) return std::nullopt;
    const auto text = ResumableOutput::state_of(o_.output);
    if (!text) return std::nullopt;  // ended before its first block, or never began
    State s = parse_state(*text, o_.output);
    if (s.key != key() || s.plan.layers.size() != network_.layers.size() || s.done < 0)
      throw InputError("--resume: '" + o_.output + ".part' is of another network, volume or seed");
    return s;
  }

  volume::Planned search() {
    const volume::Calibration calibration = calibration_of(o_, workers_);
    const volume::Found found = volume::search(network_, calibration, {limit_, source_->size(), 64}, o_.best,
                                               workers_, [] { check_interrupt(); });
    if (found.best.empty())
      throw InputError(fmt::format("--memory: no plan fits into {} bytes, the least takes more than {}",
                                   limit_, found.least_bytes));
    if (std::size_t(o_.plan) > found.best.size())
      throw InputError(
          fmt::format("--plan: limit: the {} plans listed, found {}", found.best.size(), o_.plan));
    outputs_.print(table_of(network_, found));
    report_["search"] = {{"candidates", found.candidates},
                         {"plans", found.plans},
                         {"opened", found.opened},
                         {"seconds", found.seconds}};
    for (const volume::Planned& p : found.best) report_["plans"].push_back(json_of(network_, p));
    report_["plan"] = o_.plan;
    return found.best[std::size_t(o_.plan) - 1];
  }

  void compute(const volume::Planned& planned, std::int64_t first) {
    fft::Memory memory(limit_);
    const volume::Evaluator evaluator(network_, planned.plan, weights_, workers_, memory);
    const std::string header =
        o_.output.ends_with(".npy") ? volume::numpy_header(network_.outputs(), whole_) : std::string();
    std::optional<ResumableOutput> file;
    State state{key(), planned.plan, first};
    if (!o_.output.empty()) {
      file.emplace(o_.output,
                   header.size() + std::uint64_t(network_.outputs()) * whole_.elements() * sizeof(float),
                   first > 0, text_of(state));
      file->write(0, {reinterpret_cast<const std::uint8_t*>(header.data()), header.size()});
    }
    ProgressLine line;
    struct Enough {};
    volume::Progress last;
    const auto progress = [&](const volume::Progress& p) {
      last = p;
      state.done = p.done;
      if (file) file->note(text_of(state));
      const double rate = double(p.voxels) / p.spent.wall;
      const double left = p.spent.wall * double(p.blocks - p.done) / double(p.done - first);
      line.show(fmt::format("block {} of {}, {:.0f} voxels/s, {:.0f} s left", p.done, p.blocks, rate, left));
      check_interrupt();
      if (o_.blocks > 0 && p.done - first >= o_.blocks && p.done < p.blocks) throw Enough{};
    };
    try {
      volume::slide(network_, evaluator, *source_, memory,
                    {first,
                     [&](const volume::BlockResult& r) {
                       if (file) store(*file, header.size(), whole_, network_.outputs(), r);
                     },
                     progress});
      if (file) file->commit();
    } catch (const Enough&) {  // --blocks
    }
    line.clear();
    tell(planned, last);
  }

  void tell(const volume::Planned& planned, const volume::Progress& p) {
    if (p.voxels == 0) return;
    const double wall = double(p.voxels) / p.spent.wall,
                 processor = double(p.voxels) * o_.threads / p.spent.processor;
    report_["blocks"] = {{"done", p.done}, {"all", p.blocks}};
    report_["voxels"] = p.voxels;
    report_["seconds"] = p.spent.wall;
    report_["processor_seconds"] = p.spent.processor;
    report_["voxels_per_second"] = wall;
    report_["voxels_per_processor_second"] = processor / o_.threads;
    std::string text = fmt::format(
        "{} of {} blocks: {} voxels in {:.2f} s, {:.0f} voxels/s; by processor time over {} threads {:.0f}",
        p.done, p.blocks, p.voxels, p.spent.wall, wall, o_.threads, processor);
    text += planned.voxels_a_second > 0 ? fmt::format(", predicted {:.0f}\n", planned.voxels_a_second) : "\n";
    outputs_.print(text);
  }

  const VolumeOptions& o_;
  const Outputs& outputs_;
  std::string network_text_;
  volume::Network network_;
  std::vector<volume::LayerWeights> weights_;
  std::unique_ptr<volume::Source> source_;
  Size whole_;
  std::uint64_t limit_;
  fft::Workers workers_;
  nlohmann::ordered_json report_;
};

}  // namespace

int volume_command(const Arguments& arguments) {
  VolumeOptions o;
  po::variables_map values;
  if (!parse(arguments, values, o)) return kDone;
  check(o);
  // The calibration is read where it is there, and else an output.
  const bool read = !o.recalibrate && fs::exists(calibration_file(o));
  const Outputs outputs =
      read ? Outputs("volume", values, {"json", "output"}, {"network", "input", "weights", "calibration"})
           : Outputs("volume", values, {"json", "output", "calibration"}, {"network", "input", "weights"});
  return VolumeJob(o, outputs).run();
}

}  // namespace kaiten::cli
