// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "base/fingerprint.h"
#include "base/output.h"
#include "base/resumable_output.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "cli/volume_device.h"
#include "cli/volume_options.h"
#include "volume/search.h"
#include "volume/sliding.h"

namespace kaiten::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;

namespace {

using fft::Size;

constexpr double kMi = 1024.0 * 1024.0;

// What an interrupted run leaves: whose it is, its plan, the blocks done.
struct State {
  std::string key;
  volume::Plan plan;
  std::int64_t done = 0;
  std::size_t theta = 0;  // with --split
  int groups = 1;
  SplitTimes times;
  std::vector<volume::Stage> stages;  // with --rtl and --split
};

std::string text_of(const State& s) {
  nlohmann::ordered_json j;
  j["key"] = s.key;
  j["fragment"] = {s.plan.fragment.depth, s.plan.fragment.height, s.plan.fragment.width};
  j["batch"] = s.plan.batch;
  j["halos_kept"] = s.plan.halos_kept;
  for (const volume::Choice& c : s.plan.layers) j["layers"].push_back({int(c.method), c.fragments});
  j["done"] = s.done;
  j["theta"] = s.theta;
  j["groups"] = s.groups;
  j["processor_seconds"] = s.times.processor;
  j["link_seconds"] = s.times.link;
  j["stages"] = nlohmann::json::array();
  for (const volume::Stage& t : s.stages)
    j["stages"].push_back({t.begin, t.end, t.brick.depth, t.brick.height, t.brick.width, t.images, t.maps});
  return j.dump() + "\n";
}

State parse_state(const std::string& text, const std::string& file) {
  try {
    const auto j = nlohmann::json::parse(text);
    State s{j.at("key"),
            {},
            j.at("done"),
            j.at("theta"),
            j.at("groups"),
            {j.at("processor_seconds"), j.at("link_seconds")},
            {}};
    const auto& f = j.at("fragment");
    s.plan.fragment = {f.at(0), f.at(1), f.at(2)};
    s.plan.batch = j.at("batch");
    s.plan.halos_kept = j.value("halos_kept", false);
    for (const auto& l : j.at("layers")) s.plan.layers.push_back({fft::Method(l.at(0).get<int>()), l.at(1)});
    for (const auto& t : j.at("stages"))
      s.stages.push_back({t.at(0), t.at(1), {t.at(2), t.at(3), t.at(4)}, t.at(5), t.at(6)});
    return s;
  } catch (const nlohmann::json::exception&) {
    throw InputError("'" + file + ".part.state' is not what an interrupted run leaves");
  }
}

nlohmann::ordered_json json_of(const volume::Network& network, const volume::Planned& p, const Size& whole,
                               volume::Numbers numbers) {
  nlohmann::ordered_json j;
  const Size in = volume::block_input(network, p.plan), out = volume::block_result(network, p.plan);
  j["block_input"] = {in.depth, in.height, in.width};
  j["block_result"] = {out.depth, out.height, out.width};
  j["batch"] = p.plan.batch;
  j["layers"] = volume::text_of(network, p.plan);
  j["halos"] = p.plan.halos_kept ? "kept" : "computed";
  j["column_blocks"] = volume::grid_of(network, p.plan, whole).depth;
  j["halo_bytes"] = volume::halo_bytes(network, p.plan, numbers);
  j["bytes"] = p.bytes;
  j["predicted_voxels_per_second"] = p.voxels_a_second;
  return j;
}

std::string table_of(const volume::Network& network, const volume::Found& found) {
  std::string text = fmt::format("{:>3} {:>14} {:>8} {:>5} {:>10} {:>12}  layers\n", "", "block result",
                                 "halos", "batch", "MiB", "voxels/s");
  int n = 0;
  for (const volume::Planned& p : found.best)
    text +=
        fmt::format("{:>3} {:>14} {:>8} {:>5} {:>10.0f} {:>12.0f}  {}\n", ++n,
                    volume::block_result(network, p.plan).text(), p.plan.halos_kept ? "kept" : "computed",
                    p.plan.batch, double(p.bytes) / kMi, p.voxels_a_second, volume::text_of(network, p.plan));
  text += fmt::format("{} candidates of {} plans, {} opened, in {:.2f} s: {:.0f} plans/s\n", found.candidates,
                      found.plans, found.opened, found.seconds, double(found.plans) / found.seconds);
  return text;
}

// Rows of a block to their places in the file.
template <typename T>
void store(ResumableOutput& file, std::uint64_t header, const Size& whole, int maps,
           const volume::BlockOf<T>& r) {
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
        file.write(header + at * sizeof(T), {reinterpret_cast<const std::uint8_t*>(r.values.data() + from),
                                             std::size_t(r.extent.width) * sizeof(T)});
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
        limit_(memory_of(o)),
        workers_(o.threads) {}

  int run() {
    const auto state = earlier();
    report_["network"] = o_.network;
    const Size view = network_.field_of_view();
    report_["field_of_view"] = {view.depth, view.height, view.width};
    report_["threads"] = o_.threads;
    report_["memory_bytes"] = limit_;
    if (o_.rtl) quantise();
    const volume::Planned planned = state      ? volume::Planned{state->plan, 0, 0, 0}
                                    : o_.split ? split_search()
                                    : o_.rtl   ? device_search()
                                               : search();
    if (state) {
      theta_ = state->theta;
      groups_ = state->groups;
      times_ = state->times;
      stages_ = state->stages;
    }
    if (o_.int8 && !o_.rtl) quantise();
    if (!o_.plan_only)
      compute(planned, first_block(network_, planned.plan, source_->size(), state ? state->done : 0));
    if (outputs_.wanted("json")) outputs_.write_json("json", report_);
    return kDone;
  }

 private:
  static std::string text_file(const std::string& name) {
    const auto bytes = read_file(name, FileKind::kText);
    return {bytes.begin(), bytes.end()};
  }

  std::string key() const {
    const std::string all =
        fmt::format("{}|{}|{}|{}|{}|{}{}", network_text_, o_.input, source_->size().text(), o_.type,
                    o_.weights, o_.seed, o_.int8 ? "|int8" : "");
    Fingerprint print;
    print.add(all);
    return print.text();
  }

  std::optional<State> earlier() const {
    if (!o_.resume) return std::nullopt;
    const auto text = ResumableOutput::state_of(o_.output);
    if (!text) return std::nullopt;  // ended before its first block, or never began
    State s = parse_state(*text, o_.output);
    if (s.key != key() || s.plan.layers.size() != network_.layers.size() || s.done < 0 ||
        s.theta > network_.layers.size())
      throw InputError("--resume: '" + o_.output + ".part' is of another network, volume or seed");
    return s;
  }

  volume::Planned search() {
    const volume::Calibration calibration = calibration_of(o_, workers_);
    const volume::Found found =
        volume::search(network_, calibration, {limit_, source_->size(), 64, halos_of(o_)}, o_.best, workers_,
                       [] { check_interrupt(); });
    if (found.best.empty())
      throw InputError(fmt::format("--memory: no plan fits into {} bytes, the least takes more than {}",
                                   limit_, found.least_bytes));
    require_listed(found.best.size());
    outputs_.print(table_of(network_, found));
    report_["search"] = {{"candidates", found.candidates},
                         {"plans", found.plans},
                         {"opened", found.opened},
                         {"seconds", found.seconds}};
    for (const volume::Planned& p : found.best)
      report_["plans"].push_back(json_of(network_, p, whole_, o_.numbers()));
    report_["plan"] = o_.plan;
    return found.best[std::size_t(o_.plan) - 1];
  }

  volume::Planned device_search() {
    const auto plans = device_plans_for(o_, *int8_, source_->size());
    require_listed(plans.size());
    outputs_.print(device_table(o_, network_, plans));
    for (const volume::DevicePlanned& p : plans)
      report_["device_plans"].push_back(device_plan_json(network_, p));
    report_["plan"] = o_.plan;
    const volume::DevicePlanned& taken = plans[std::size_t(o_.plan) - 1];
    stages_ = taken.device.stages;
    outputs_.print(stages_text(network_, taken.plan, 0, stages_));
    return {taken.plan, 0, 0, 0};
  }

  volume::Planned split_search() {
    const SplitFound found = split_for(o_, *int8_, source_->size(), limit_, workers_);
    outputs_.print(split_table(network_, found));
    report_["split"] = split_json(o_, network_, found);
    theta_ = found.plan().theta;
    groups_ = found.plan().groups;
    times_ = {found.plan().processor_seconds, link_seconds(o_, found.plan().device)};
    stages_ = found.plan().device.stages;
    outputs_.print(stages_text(network_, found.plan().plan, theta_, stages_));
    return {found.plan().plan, 0, 0, 0};
  }

  void require_listed(std::size_t plans) const {
    if (std::size_t(o_.plan) > plans)
      throw InputError(fmt::format("--plan: limit: the {} plans listed, found {}", plans, o_.plan));
  }

  void quantise() {
    int8_ = volume::quantized(network_, weights_, volume::ranges_of(network_, weights_, *source_, workers_));
    const auto json = [](const volume::Int8Scale& s) {
      return nlohmann::ordered_json{{"scale", s.scale}, {"zero_point", s.zero_point}};
    };
    report_["int8"] = {{"input", json(int8_->maps.front())}, {"result", json(int8_->maps.back())}};
    const volume::Int8Scale& result = int8_->maps.back();
    outputs_.print(fmt::format("int8: a result r is {:g} * (r {} {})\n", result.scale,
                               result.zero_point < 0 ? '+' : '-', std::abs(result.zero_point)));
  }

  void compute(const volume::Planned& planned, std::int64_t first) {
    fft::Memory memory(limit_);
    const volume::DeviceOptions options{o_.config, !o_.no_check, [] { check_interrupt(); },
                                        device_memory_of(o_)};
    if (o_.split) {
      const volume::SplitEvaluator split(*int8_, planned.plan, theta_, groups_, stages_, workers_, memory,
                                         options);
      const std::uint64_t voxels = run_blocks(split, memory, planned, first);
      const double rate = split_rate(o_, times_, split.cycles(), voxels);
      outputs_.print(
          device_text(o_, split.device(), voxels) +
          fmt::format("{} layers on the processors, {} on the accelerator: {:.0f} voxels/s in simulated "
                      "time\n",
                      theta_, network_.layers.size() - theta_, rate));
      report_["device"] = device_json(o_, split.device(), voxels);
      report_["split"]["voxels_per_second"] = rate;
    } else if (o_.rtl) {
      const volume::DeviceEvaluator device(*int8_, planned.plan, stages_, memory, options);
      const std::uint64_t voxels = run_blocks(device, memory, planned, first);
      outputs_.print(device_text(o_, device, voxels));
      report_["device"] = device_json(o_, device, voxels);
    } else if (int8_) {
      run_blocks(volume::Int8Evaluator(*int8_, planned.plan, workers_, memory), memory, planned, first);
    } else {
      run_blocks(volume::Evaluator(network_, planned.plan, weights_, workers_, memory), memory, planned,
                 first);
    }
  }

  // The voxels that are computed.
  template <typename T>
  std::uint64_t run_blocks(const volume::BlockEvaluator<T>& evaluator, fft::Memory& memory,
                           const volume::Planned& planned, std::int64_t first) {
    constexpr auto kType = std::is_same_v<T, float> ? volume::Voxel::kFloat32 : volume::Voxel::kInt8;
    const std::string header =
        o_.output.ends_with(".npy") ? volume::numpy_header(network_.outputs(), whole_, kType) : std::string();
    std::optional<ResumableOutput> file;
    State state{key(), planned.plan, first, theta_, groups_, times_, stages_};
    if (!o_.output.empty()) {
      file.emplace(o_.output,
                   header.size() + std::uint64_t(network_.outputs()) * whole_.elements() * sizeof(T),
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
      if (o_.blocks > 0 && p.done - first >= o_.blocks && p.done < p.blocks && may_end(planned.plan, p.done))
        throw Enough{};
    };
    try {
      volume::slide(network_, evaluator, *source_, memory,
                    {first,
                     [&](const volume::BlockOf<T>& r) {
                       if (file) store(*file, header.size(), whole_, network_.outputs(), r);
                     },
                     progress});
      if (file) file->commit();
    } catch (const Enough&) {  // --blocks
    }
    line.clear();
    tell(planned, last);
    return last.voxels;
  }

  // Runs with results end where others can go on without computing blocks again.
  bool may_end(const volume::Plan& plan, std::int64_t done) const {
    return o_.output.empty() || first_block(network_, plan, source_->size(), done) == done;
  }

  void tell(const volume::Planned& planned, const volume::Progress& p) {
    if (p.done == 0) return;
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
  std::optional<volume::Int8Network> int8_;  // with --int8
  std::size_t theta_ = 0;                    // with --split: layers on the processors
  int groups_ = 1;
  SplitTimes times_;                   // and those of a run, by the model
  std::vector<volume::Stage> stages_;  // with --rtl: what the accelerator's runs compute
  fft::Workers workers_;
  nlohmann::ordered_json report_;
};

}  // namespace

int volume_command(const Arguments& arguments) {
  VolumeOptions o;
  po::variables_map values;
  if (!parse_volume_options(arguments, values, o)) return kDone;
  // The calibration is read where it is there, and else an output; the accelerator needs none.
  const bool read = !o.recalibrate && fs::exists(calibration_file(o));
  const Outputs outputs =
      o.rtl && !o.split ? Outputs("volume", values, {"json", "output"}, {"network", "input", "weights"})
      : read ? Outputs("volume", values, {"json", "output"}, {"network", "input", "weights", "calibration"})
             : Outputs("volume", values, {"json", "output", "calibration"}, {"network", "input", "weights"});
  return VolumeJob(o, outputs).run();
}

}  // namespace kaiten::cli
