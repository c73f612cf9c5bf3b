// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "cluster/fabric.h"
#include "compile/compiler.h"
#include "graph/part.h"
#include "plan/stap.h"
#include "program/arrivals.h"

namespace kaiten::cluster {

namespace {

// What register accesses around a run take (device/driver.h).
constexpr std::int64_t kStartCycles = 50;
constexpr std::int64_t kFinishCycles = 10;
constexpr double kControlCycles = kStartCycles + kFinishCycles;
constexpr int kMostRounds = 200;  // until one is found
constexpr int kRounds = 12;       // of planning with exact times

std::uint64_t bytes_of(const Graph& graph, const std::vector<int>& tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), std::uint64_t(0), [&](std::uint64_t sum, int t) {
    return sum + graph.tensors[std::size_t(t)].bytes();
  });
}

double weights_read(const Program& program) {
  double bytes = 0;
  for (const CommandMeta& m : program.meta) {
    if (m.kind == CommandMeta::Bytes::kWeights) bytes += double(m.bytes_read());
  }
  return bytes;
}

// How good a way of cutting is.
struct Score {
  double reloaded = std::numeric_limits<double>::infinity();  // bytes of weights
  double period = std::numeric_limits<double>::infinity();
};

// Finds stages: positions of cuts first, by times that the model of the whole network suggests, then by those of the parts'
// own programs where they are known, until the best cut consists of such.
class Planner {
 public:
  Planner(const Graph& graph, const Topology& topology, const PipelineOptions& options)
      : graph_(graph),
        topology_(topology),
        options_(options),
        config_(preset(topology.chips.front().config)) {
    compile_options_.rounding = options.rounding;
    compile_options_.cancellation_check = options.cancellation_check;
    ends_ = cuts_of(graph);
    ends_.push_back(int(graph.ops.size()) - 1);
  }

  Pipeline run() {
    keep_cuts_between_commands();
    const PossibleStage& whole = possible_stage(0, ends_.size());
    std::optional<Pipeline> data, stap;
    if (options_.mode != Mode::kStap) data = made({{0, ends_.size()}});
    if (options_.mode != Mode::kData) {
      if (ends_.size() > 1 && chips() > 1) {
        guess_times(whole);
        stap = best_cut();
      } else if (options_.mode == Mode::kStap) {
        throw InputError(
            chips() > 1 ? "the network cannot be cut into stages: nowhere does one int8 tensor alone cross"
                        : "--mode stap: limit: 2 chips, found 1");
      }
    }
    if (!data) return std::move(*stap);
    if (!stap) return std::move(*data);
    return stap->period < data->period ? std::move(*stap) : std::move(*data);
  }

 private:
  // A stage that may be chosen: of candidates first .. end - 1, the operators after candidate first - 1.
  struct PossibleStage {
    Graph graph;
    std::vector<int> ops;
    KeptPrograms programs;
    std::string refusal;  // where it does not compile by itself: no stage
  };
  using Range = std::pair<std::size_t, std::size_t>;

  bool better(const Score& a, const Score& b) const {
    const std::pair by_bytes(a.reloaded, b.reloaded), by_time(a.period, b.period);
    const auto& [first, second] =
        options_.optimise == Optimise::kBytes ? std::pair(by_bytes, by_time) : std::pair(by_time, by_bytes);
    return first.first != first.second ? first.first < first.second : second.first < second.second;
  }

  int chips() const { return int(topology_.chips.size()); }

  const PossibleStage& possible_stage(std::size_t first, std::size_t end) {
    const auto found = possible_stages_.find({first, end});
    if (found != possible_stages_.end()) return found->second;
    PossibleStage p;
    p.ops.resize(std::size_t(ends_[end - 1] + 1 - (first == 0 ? 0 : ends_[first - 1] + 1)));
    std::iota(p.ops.begin(), p.ops.end(), first == 0 ? 0 : ends_[first - 1] + 1);
    p.graph = part_of(graph_, p.ops);
    try {
      p.programs = compile_kept(p.graph, config_, compile_options_);
    } catch (const InputError& e) {
      p.refusal = e.what();
    }
    return possible_stages_.emplace(Range{first, end}, std::move(p)).first->second;
  }

  std::size_t candidate_of(int op) const {
    return std::size_t(std::lower_bound(ends_.begin(), ends_.end(), op) - ends_.begin());
  }

  // A stage has something to do on its chip: parts without commands, as views and the host's, belong to the one after, the
  // last ones to the one before.
  void keep_cuts_between_commands() {
    if (const std::string& refusal = possible_stage(0, ends_.size()).refusal; !refusal.empty())
      throw InputError(refusal);
    const Program& program = possible_stage(0, ends_.size()).programs.again;
    if (program.commands.empty())
      throw InputError("limit: networks with work for the accelerator, found: all of it runs on the host");
    std::set<std::size_t> busy;
    for (const CommandMeta& m : program.meta) {
      if (m.op >= 0) busy.insert(candidate_of(m.op));
    }
    std::vector<int> ends;
    std::transform(busy.begin(), busy.end(), std::back_inserter(ends),
                   [&](std::size_t i) { return ends_[i]; });
    ends.back() = ends_.back();
    auto whole = possible_stages_.extract({0, ends_.size()});
    ends_ = std::move(ends);
    whole.key() = {0, ends_.size()};
    possible_stages_.insert(std::move(whole));
  }

  // Cycles until each candidate's last operator is done, of the whole network's program; its weights.
  void guess_times(const PossibleStage& whole) {
    const Program& program = whole.programs.again;
    done_.assign(ends_.size(), 0);
    weights_.assign(ends_.size(), 0);
    for (std::size_t i = 0; i < program.meta.size(); i++) {
      const CommandMeta& m = program.meta[i];
      if (m.op < 0) continue;
      const std::size_t at = candidate_of(m.op);
      done_[at] = std::max(done_[at], double(m.complete));
    }
    std::partial_sum(done_.begin(), done_.end(), done_.begin(),
                     [](double a, double b) { return std::max(a, b); });
    for (const CommandMeta& m : whole.programs.first.meta) {
      if (m.op < 0 || m.kind != CommandMeta::Bytes::kWeights) continue;
      weights_[candidate_of(m.op)] += double(m.read_bytes);
    }
    std::partial_sum(weights_.begin(), weights_.end(), weights_.begin());
  }

  // Weights that a stage reloads for each image, and its cycles.
  Score cost(std::size_t first, std::size_t end) const {
    const auto found = possible_stages_.find({first, end});
    if (found != possible_stages_.end() && !found->second.refusal.empty()) return {};
    if (found != possible_stages_.end())
      return {weights_read(found->second.programs.again),
              double(found->second.programs.again.modelled_cycles)};
    const auto of = [&](const std::vector<double>& sums) {
      return sums[end - 1] - (first == 0 ? 0 : sums[first - 1]);
    };
    const double room = double(config_.wb_rows) * 9 * config_.cp;
    return {std::max(0.0, of(weights_) - room), of(done_)};
  }

  // The best cut of all candidates into `stages` (0: at least two) by cost().
  std::vector<Range> cut(int stages) const {
    const std::size_t n = ends_.size();
    const int most = chips();
    struct Entry {
      Score score;
      std::size_t from = 0;
      int replicas = 0;
    };
    // [stages][chips][candidates]
    const int most_stages = std::min({stages > 0 ? stages : most, most, int(n)});
    std::vector<std::vector<std::vector<Entry>>> best(
        std::size_t(most_stages) + 1,
        std::vector<std::vector<Entry>>(std::size_t(most) + 1, std::vector<Entry>(n + 1)));
    best[0][0][0].score = {0, 0};
    for (int s = 1; s <= most_stages; s++) {
      for (int c = s; c <= most; c++) {
        for (std::size_t end = std::size_t(s); end <= n; end++) {
          Entry& entry = best[std::size_t(s)][std::size_t(c)][end];
          for (std::size_t from = std::size_t(s) - 1; from < end; from++) {
            const Score own = cost(from, end);
            for (int r = 1; r <= c - s + 1; r++) {
              const Score& before = best[std::size_t(s) - 1][std::size_t(c - r)][from].score;
              if (std::isinf(before.period) || std::isinf(own.period))
                continue;  // no way of cutting comes here
              const Score score{before.reloaded + own.reloaded, std::max(before.period, own.period / r)};
              if (better(score, entry.score)) entry = {score, from, r};
            }
          }
        }
      }
    }
    const Entry* chosen = nullptr;
    std::size_t s = 0, c = 0;
    for (int i = stages > 0 ? stages : 2; i <= most_stages; i++) {
      for (int j = i; j <= most; j++) {
        const Entry& e = best[std::size_t(i)][std::size_t(j)][n];
        if (chosen == nullptr || better(e.score, chosen->score))
          chosen = &e, s = std::size_t(i), c = std::size_t(j);
      }
    }
    std::vector<Range> out;
    if (chosen == nullptr || std::isinf(chosen->score.period)) return out;
    for (std::size_t end = n; s > 0; s--) {
      const Entry& e = best[s][c][end];
      out.insert(out.begin(), {e.from, end});
      c -= std::size_t(e.replicas);
      end = e.from;
    }
    return out;
  }

  Pipeline best_cut() {
    if (options_.stages > std::min(chips(), int(ends_.size())))
      throw InputError(fmt::format("--stages: limit: {} chips and {} parts of the network, found {}", chips(),
                                   ends_.size(), options_.stages));
    std::optional<Pipeline> best;
    std::string refusal;
    for (int round = 0; round < kRounds || (!best && round < kMostRounds); round++) {
      const std::vector<Range> ranges = cut(options_.stages);
      if (ranges.empty()) break;
      const auto known = [&](const Range& r) { return possible_stages_.contains(r); };
      if (best && std::all_of(ranges.begin(), ranges.end(), known)) break;
      const auto refused = std::find_if(ranges.begin(), ranges.end(), [&](const Range& r) {
        return !possible_stage(r.first, r.second).refusal.empty();
      });
      if (refused != ranges.end()) {
        refusal = possible_stage(refused->first, refused->second).refusal;
        continue;
      }
      Pipeline p = made(ranges);
      if (!best || better({p.reloaded, p.period}, {best->reloaded, best->period})) best = std::move(p);
    }
    if (!best) throw InputError("the network cannot be cut into such stages: " + refusal);
    return std::move(*best);
  }

  Pipeline made(const std::vector<Range>& ranges) {
    Pipeline p;
    p.data = ranges.size() == 1;
    std::vector<double> times;
    for (const auto& [first, end] : ranges) {
      const PossibleStage& stage = possible_stage(first, end);
      p.stages.push_back({stage.ops, stage.graph, stage.programs.first, stage.programs.again, {}});
      times.push_back(double(stage.programs.again.modelled_cycles) + kControlCycles);
      p.reloaded += weights_read(stage.programs.again);
    }
    const plan::Pipeline replicated = plan::replicate_for_chips(times, chips());
    Endpoint next = 0;
    for (std::size_t s = 0; s < p.stages.size(); s++) {
      for (int r = 0; r < replicated.replicas[s]; r++) p.stages[s].chips.push_back(next++);
    }
    p.period = std::max(replicated.period, busiest_link(p));
    p.latency = latency_of(p);
    return p;
  }

  // Of an image alone. Decides, too, which boundaries cross by rows and with how many a chip starts.
  double latency_of(Pipeline& p) const {
    Endpoint before = chips();
    std::int64_t at = 0;  // the sender has the whole map
    RowTimes made;        // when it has its rows; empty: it tells of the whole map only
    for (std::size_t s = 0; s < p.stages.size(); s++) {
      Stage& stage = p.stages[s];
      const Endpoint chip = stage.chips.front();
      const bool by_rows =
          s == 0 || (!made.empty() && !rows_stored(p.stages[s - 1].first, p.stages[s - 1].graph).empty());
      if (options_.rows && by_rows)
        stage.input = stream_input(stage.first, stage.again, stage.graph, s == 0 ? 0 : int(made.size()) - 1);
      RowTimes arrived;
      if (stage.input.rows > 0) {
        if (s == 0) made.assign(std::size_t(stage.input.rows) + 1, 0);
        arrived = arrivals(topology_, before, chip, stage.input, made);
        stage.input.start = rows_to_start(stage.again, arrived);
        at = arrived[std::size_t(stage.input.start)];
      } else {
        at += std::int64_t(Fabric::time_of(topology_, before, chip, stage.input_bytes()));
        arrived.assign(std::size_t(kMostRows) + 1, 0);
      }
      const StreamedRun run = streamed_run(stage.again, stage.graph, at + kStartCycles, arrived);
      at = run.complete + kFinishCycles;
      made = run.stored;
      before = chip;
    }
    return double(at) + double(Fabric::time_of(topology_, before, chips(), p.stages.back().output_bytes()));
  }

  // Cycles that an image takes of the link with most to do: of a chip's own in either direction, of uplinks and the host's
  // memory.
  double busiest_link(const Pipeline& p) const {
    std::vector<double> up(topology_.uplinks.size(), 0), down = up;
    double most = 0;
    for (std::size_t s = 0; s < p.stages.size(); s++) {
      const Stage& stage = p.stages[s];
      const double replicas = p.replicas(s);
      for (const Endpoint chip : stage.chips) {
        const Chip& c = topology_.chips[std::size_t(chip)];
        const double in = double(stage.input_bytes()) / replicas,
                     out = double(stage.output_bytes()) / replicas;
        most = std::max(most, std::max(in, out) / c.bytes_per_cycle);
        const auto crossing = [&](std::size_t other) {
          const std::vector<Endpoint>& there = p.stages[other].chips;
          return double(std::count_if(
                     there.begin(), there.end(),
                     [&](Endpoint e) { return topology_.chips[std::size_t(e)].of_switch != c.of_switch; })) /
                 double(there.size());
        };
        down[std::size_t(c.of_switch)] += in * (s == 0 ? 1 : crossing(s - 1));
        up[std::size_t(c.of_switch)] += out * (s + 1 == p.stages.size() ? 1 : crossing(s + 1));
      }
    }
    for (std::size_t i = 0; i < up.size(); i++)
      most = std::max(most, std::max(up[i], down[i]) / topology_.uplinks[i]);
    const double host = double(p.stages.front().input_bytes() + p.stages.back().output_bytes());
    return std::max(most, host / topology_.host_bytes_per_cycle);
  }

  const Graph& graph_;
  const Topology& topology_;
  const PipelineOptions& options_;
  const Config& config_;
  CompileOptions compile_options_;
  std::vector<int> ends_;  // last operators of the smallest parts
  std::map<Range, PossibleStage> possible_stages_;
  std::vector<double> done_, weights_;  // by candidate, summed up
};

}  // namespace

std::uint64_t Stage::input_bytes() const { return bytes_of(graph, graph.inputs); }
std::uint64_t Stage::output_bytes() const { return bytes_of(graph, graph.outputs); }

const Stage& Pipeline::stage_of(Endpoint chip) const {
  return *std::find_if(stages.begin(), stages.end(), [&](const Stage& s) {
    return std::find(s.chips.begin(), s.chips.end(), chip) != s.chips.end();
  });
}

std::vector<int> cuts_of(const Graph& graph) {
  // The last reader of each tensor; outputs are read by the user.
  std::map<int, int> last;
  for (std::size_t i = 0; i < graph.ops.size(); i++) {
    for (int t : graph.ops[i].inputs) {
      if (!graph.tensors[std::size_t(t)].is_constant()) last[t] = int(i);
    }
  }
  for (int t : graph.outputs) last[t] = std::numeric_limits<int>::max();
  std::set<int> alive(graph.inputs.begin(), graph.inputs.end());
  std::vector<int> out;
  for (int i = 0; i + 1 < int(graph.ops.size()); i++) {
    const int made = graph.ops[std::size_t(i)].output;
    alive.insert(made);
    std::erase_if(alive, [&](int t) { return !last.contains(t) || last[t] <= i; });
    const Tensor& tensor = graph.tensors[std::size_t(made)];
    if (alive.size() == 1 && *alive.begin() == made && tensor.type == ElementType::Int8) out.push_back(i);
  }
  return out;
}

Pipeline plan_pipeline(const Graph& graph, const Topology& topology, const PipelineOptions& options) {
  for (const Chip& chip : topology.chips) {
    if (chip.config != topology.chips.front().config)
      throw InputError(fmt::format("limit: chips of one configuration, found: {} is '{}', {} is '{}'",
                                   topology.chips.front().name, topology.chips.front().config, chip.name,
                                   chip.config));
  }
  return Planner(graph, topology, options).run();
}

}  // namespace kaiten::cluster
