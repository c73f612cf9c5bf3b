// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/search.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "base/arithmetic.h"
#include "volume/evaluate.h"

namespace kaiten::volume {
namespace {

using fft::Size;

// Sizes of fragments tried along an axis.
constexpr int kMostFragment = 400;

std::uint64_t bytes_of_layer(const Layer& layer, const Choice& choice, const Maps& in, Numbers numbers,
                             fft::Workers& workers) {
  return numbers == Numbers::kInt8 ? int8_layer_bytes(layer, choice, in, workers)
                                   : layer_bytes(layer, choice, in, workers);
}

std::uint64_t most_join_bytes(const Network& network, const Plan& plan, const std::vector<Maps>& maps,
                              Numbers numbers) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; plan.halos_kept && i < network.layers.size(); i++)
    most = std::max(most, join_bytes(network, plan, maps[i], i, numbers));
  return most;
}

// Runs in which the layer computes something: where halos are kept, not those of its idle blocks.
std::int64_t runs_of_layer(const Network& network, const Plan& plan, const Size& result, std::size_t layer) {
  const std::int64_t runs = runs_of(network, plan, result);
  if (!plan.halos_kept) return runs;
  const std::int64_t depth = grid_of(network, plan, result).depth;
  return runs / depth * (depth - std::min<std::int64_t>(depth, idle_blocks(network, plan, layer)));
}

// Of all runs; `maps` are maps_of() the plan, `layer_time(i)` the seconds of a layer in one of them.
double seconds_of(const Network& network, const Calibration& calibration, const Plan& plan,
                  const std::vector<Maps>& maps, const Size& result,
                  const std::function<double(std::size_t)>& layer_time) {
  double seconds = 0;
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    seconds += double(runs_of_layer(network, plan, result, i)) * layer_time(i);
    if (i > 0 && plan.halos_kept)  // by the layer before
      seconds += double(runs_of_layer(network, plan, result, i - 1)) * calibration.joined_voxel *
                 double(joined_elements(network, plan, maps[i], i));
  }
  return seconds;
}

using Key =
    std::tuple<std::size_t, int, int, int, int, int, int>;  // layer, method or pooling, batch, channels, size

Key key_of(std::size_t layer, const Layer& l, const Choice& c, const Maps& in) {
  return {layer,         l.convolution ? int(c.method) : int(c.fragments),
          in.batch,      in.channels,
          in.size.depth, in.size.height,
          in.size.width};
}

struct Option {
  fft::Method method;
  double seconds;
};

class Search {
 public:
  Search(const Network& network, const Calibration& calibration, const SearchLimits& limits,
         fft::Workers& workers, const std::function<void()>& tick)
      : network_(network), calibration_(calibration), limits_(limits), workers_(workers), tick_(tick) {}

  Found run(int count) {
    const auto start = std::chrono::steady_clock::now();
    for (const std::vector<Choice>& choices : poolings(network_)) blocks({{}, 1, choices});
    std::set<std::vector<int>> kinds;
    while (!waiting_.empty() && int(found_.best.size()) < count) {
      tick_();
      Candidate c = waiting_.top();
      waiting_.pop();
      found_.opened++;
      if (!fitted(c)) continue;
      if (!kinds.insert(kind_of(c.plan)).second) continue;
      found_.best.push_back({c.plan, c.seconds, c.rate, bytes_of(c.plan)});
    }
    found_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(found_);
  }

 private:
  struct Candidate {
    double rate = 0;     // bound of the throughput, or the throughput itself
    double seconds = 0;  // of a block
    Plan plan;

    bool operator<(const Candidate& other) const { return rate < other.rate; }
  };

  // Plans of one kind differ in the block's size alone.
  static std::vector<int> kind_of(const Plan& plan) {
    std::vector<int> kind = {plan.batch, int(plan.halos_kept)};
    for (const Choice& c : plan.layers) kind.push_back(int(c.method) * 2 + int(c.fragments));
    return kind;
  }

  void blocks(Plan plan) {
    const Size pooled = network_.pooled(), result = fft::valid(limits_.volume, network_.field_of_view());
    const auto most = [](int n, int step) { return std::clamp((n + step - 1) / step, 1, kMostFragment); };
    const Size limit = {most(result.depth, pooled.depth), most(result.height, pooled.height),
                        most(result.width, pooled.width)};
    if (limits_.halos != HaloSearch::kKept) cubes(plan, limit);
    plan.halos_kept = true;
    if (limits_.halos != HaloSearch::kComputed) columns(plan, limit);
  }

  // Blocks as near a cube as the volume allows; batches of some offsets of a block, or all of some blocks.
  void cubes(Plan plan, const Size& limit) {
    for (int side = 1; side <= std::max({limit.depth, limit.height, limit.width}); side++) {
      plan.fragment = {std::min(side, limit.depth), std::min(side, limit.height),
                       std::min(side, limit.width)};
      if (!batches(plan)) break;  // larger blocks' maps are larger still
    }
  }

  // Halos kept along depth; areas as near a square as the volume allows, batches of some offsets.
  void columns(Plan plan, const Size& limit) {
    for (const int depth : kept_depths(limit.depth)) {
      bool any = false;
      for (const int side : kept_sides(limit.height, limit.width)) {
        plan.fragment = {depth, std::min(side, limit.height), std::min(side, limit.width)};
        if (!batches(plan)) break;
        any = true;
      }
      if (!any) break;
    }
  }

  // False where none fits.
  bool batches(Plan plan) {
    tick_();
    const int runs = int(plain_windows(network_, plan).elements());
    const Size result = fft::valid(limits_.volume, network_.field_of_view());
    const std::uint64_t grid =
        plan.halos_kept ? 1 : blocks_of(result, block_result(network_, plan)).elements();
    bool any = false;
    for (int batch = 1; batch <= limits_.most_batch; batch++) {
      if (!batch_fits(batch, runs, grid)) continue;
      plan.batch = batch;
      any = add(plan) || any;
    }
    return any;
  }

  // False where the maps alone exceed the memory.
  bool add(const Plan& plan) {
    const std::vector<Maps> maps = maps_of(network_, plan);
    std::uint64_t maps_bytes = 0, methods = 1;
    for (std::size_t i = 0; i < network_.layers.size(); i++) {
      maps_bytes = std::max(maps_bytes, fft::product({std::max(maps[i].elements(), maps[i + 1].elements()),
                                                      volume::bytes_of(calibration_.numbers)}));
      if (network_.layers[i].convolution) methods *= methods_of(calibration_.numbers).size();
    }
    const std::uint64_t bytes = fft::sum(
        {std::max(maps_bytes, most_join_bytes(network_, plan, maps, calibration_.numbers)), beside(plan)});
    if (found_.least_bytes == 0 || bytes < found_.least_bytes) found_.least_bytes = bytes;
    if (bytes > limits_.memory) return false;
    found_.candidates++;
    found_.plans += methods;
    Candidate c{0, 0, plan};
    for (std::size_t i = 0; i < network_.layers.size(); i++) {
      if (network_.layers[i].convolution) c.plan.layers[i].method = options(i, maps[i]).front().method;
    }
    push(std::move(c), maps);
    return true;
  }

  void push(Candidate c, const std::vector<Maps>& maps) {
    const Size whole = fft::valid(limits_.volume, network_.field_of_view());
    c.seconds = seconds_of(network_, calibration_, c.plan, maps, whole,
                           [&](std::size_t i) { return seconds(i, c.plan.layers[i], maps[i]); });
    c.rate = double(whole.elements()) / c.seconds;
    c.seconds *= double(plain_windows(network_, c.plan).elements()) / c.plan.batch /
                 double(runs_of(network_, c.plan, whole));
    waiting_.push(std::move(c));
  }

  // True where all layers fit. Else the layers that do not take their next method and the candidate waits again, or
  // it is dropped.
  bool fitted(const Candidate& c) {
    const std::vector<Maps> maps = maps_of(network_, c.plan);
    const std::uint64_t others = beside(c.plan);
    Candidate next = c;
    bool fits = true;
    for (std::size_t i = 0; i < network_.layers.size(); i++) {
      const Layer& l = network_.layers[i];
      const std::vector<Option> choices = l.convolution ? options(i, maps[i]) : std::vector<Option>{};
      while (fft::sum({layer(i, next.plan.layers[i], maps[i]), others}) > limits_.memory) {
        fits = false;
        auto at = std::find_if(choices.begin(), choices.end(),
                               [&](const Option& o) { return o.method == next.plan.layers[i].method; });
        if (at == choices.end() || ++at == choices.end()) return false;
        next.plan.layers[i].method = at->method;
      }
    }
    if (!fits) push(std::move(next), maps);
    return fits;
  }

  // Fastest first.
  const std::vector<Option>& options(std::size_t i, const Maps& in) {
    std::vector<Option>& o = options_[key_of(i, network_.layers[i], {fft::Method::Naive, true}, in)];
    if (o.empty()) {
      for (const fft::Method m : methods_of(calibration_.numbers)) {
        const double seconds = layer_seconds(calibration_, network_.layers[i], {m, true}, in);
        if (std::isfinite(seconds)) o.push_back({m, seconds});
      }
      std::stable_sort(o.begin(), o.end(),
                       [](const Option& a, const Option& b) { return a.seconds < b.seconds; });
    }
    return o;
  }

  double seconds(std::size_t i, const Choice& c, const Maps& in) {
    const Layer& l = network_.layers[i];
    if (!l.convolution) return layer_seconds(calibration_, l, c, in);
    for (const Option& o : options(i, in)) {
      if (o.method == c.method) return o.seconds;
    }
    return INFINITY;
  }

  std::uint64_t layer(std::size_t i, const Choice& c, const Maps& in) {
    std::uint64_t& bytes = bytes_[key_of(i, network_.layers[i], c, in)];
    if (bytes == 0) bytes = bytes_of_layer(network_.layers[i], c, in, calibration_.numbers, workers_);
    return bytes;
  }

  // What is there while layers work.
  std::uint64_t beside(const Plan& plan) const {
    return fft::sum({block_bytes(network_, plan, calibration_.numbers),
                     halo_bytes(network_, plan, calibration_.numbers)});
  }

  std::uint64_t bytes_of(const Plan& plan) {
    const std::vector<Maps> maps = maps_of(network_, plan);
    std::uint64_t most = most_join_bytes(network_, plan, maps, calibration_.numbers);
    for (std::size_t i = 0; i < network_.layers.size(); i++)
      most = std::max(most, layer(i, plan.layers[i], maps[i]));
    return fft::sum({most, beside(plan)});
  }

  const Network& network_;
  const Calibration& calibration_;
  const SearchLimits& limits_;
  fft::Workers& workers_;
  const std::function<void()>& tick_;
  std::priority_queue<Candidate> waiting_;
  std::map<Key, std::vector<Option>> options_;
  std::map<Key, std::uint64_t> bytes_;
  Found found_;
};

}  // namespace

std::vector<int> kept_depths(int most) {
  std::vector<int> depths;
  for (int d = 1; d <= most; d += std::max(1, d / 8)) depths.push_back(d);
  return depths;
}

std::vector<int> kept_sides(int height, int width) {
  std::set<int> sides;
  for (const int extent : {height, width})
    for (int n = 1; n <= extent; n++) sides.insert(ceil_div(extent, n));
  return {sides.begin(), sides.end()};
}

bool batch_fits(int batch, int runs, std::uint64_t blocks) {
  if (runs % batch == 0) return true;
  const int together = batch / runs;
  return batch % runs == 0 && std::has_single_bit(unsigned(together)) && std::uint64_t(together) <= blocks;
}

std::int64_t runs_of(const Network& network, const Plan& plan, const Size& result) {
  const auto runs = std::int64_t(plain_windows(network, plan).elements());
  const auto blocks = std::int64_t(grid_of(network, plan, result).elements());
  return plan.batch <= runs ? blocks * (runs / plan.batch) : ceil_div(blocks, plan.batch / runs);
}

Found search(const Network& network, const Calibration& calibration, const SearchLimits& limits, int count,
             fft::Workers& workers, const std::function<void()>& tick) {
  return Search(network, calibration, limits, workers, tick).run(count);
}

std::uint64_t block_bytes(const Network& network, const Plan& plan, Numbers numbers) {
  const auto blocks = std::uint64_t(blocks_together(network, plan));
  const std::uint64_t in =
      fft::product({block_input(network, plan).elements(), std::uint64_t(network.inputs)});
  const std::uint64_t out =
      fft::product({block_result(network, plan).elements(), std::uint64_t(network.outputs())});
  return fft::sum({fft::product({blocks, fft::sum({in, out}), bytes_of(numbers)}),
                   numbers == Numbers::kFloat32 ? 0 : fft::product({in, sizeof(float)})});
}

std::uint64_t plan_bytes(const Network& network, const Plan& plan, Numbers numbers, fft::Workers& workers) {
  const std::vector<Maps> maps = maps_of(network, plan);
  std::uint64_t most = most_join_bytes(network, plan, maps, numbers);
  for (std::size_t i = 0; i < network.layers.size(); i++)
    most = std::max(most, bytes_of_layer(network.layers[i], plan.layers[i], maps[i], numbers, workers));
  return fft::sum({most, block_bytes(network, plan, numbers), halo_bytes(network, plan, numbers)});
}

double plan_seconds(const Network& network, const Calibration& calibration, const Plan& plan,
                    const Size& result) {
  const std::vector<Maps> maps = maps_of(network, plan);
  return seconds_of(network, calibration, plan, maps, result, [&](std::size_t i) {
    return layer_seconds(calibration, network.layers[i], plan.layers[i], maps[i]);
  });
}

}  // namespace kaiten::volume
