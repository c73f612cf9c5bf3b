// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/spans.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "compile/lower/limits.h"
#include "compile/spans/block_rows.h"
#include "compile/spans/shared_weights.h"
#include "compile/spans/span_cost.h"
#include "compile/spans/span_kinds.h"
#include "compile/spans/stripes.h"

namespace kaiten {

namespace {

// Tensors that cross a cut: up to so many, every combination of held and spilled is tried, else all or none, and beyond what a
// mask has bits for none.
constexpr std::size_t kMaxChoices = 5;
constexpr std::size_t kMaxHeld = 32;
// Of the time estimate, in cycles: from a task's first window to its first row in the next buffer.
constexpr std::int64_t kFillCycles = 100;

class Planner {
 public:
  Planner(const Graph& graph, const Lowering& lowering, const Config& config, const SpanOptions& options,
          SpanMemo& memo)
      : graph_(graph),
        lowering_(lowering),
        config_(config),
        options_(options),
        memo_(memo),
        uses_(find_uses(lowering, config)),
        kinds_(find_kinds(lowering, uses_, memo.kinds)),
        cost_(lowering, uses_, options.images, options.slack_blocks),
        cycles_(lowering.ops.size()),
        shared_(lowering, config) {
    for (std::size_t at = 0; at < lowering.ops.size(); at++) {
      if (on_device(lowering.ops[at].engine)) order_.push_back(at);
    }
    find_crossings();
  }

  SpanPlan run() {
    const std::size_t n = order_.size();
    best_.assign(n + 1, {});
    for (std::size_t p = 0; p <= n; p++) best_[p].assign(masks_[p].size(), {});
    best_[0][0].cost = Cost{0, 0};
    for (std::size_t p = 0; p < n; p++) {
      if (options_.cancellation_check) options_.cancellation_check();
      if (std::none_of(best_[p].begin(), best_[p].end(), [](const Entry& e) { return e.cost.has_value(); }))
        continue;
      for (std::size_t q = p + 1; q <= n; q++) {
        const bool cut = forced_cut(q);
        if (options_.cuts.empty() || cut) {
          if (!extend(p, q)) break;
        }
        if (!options_.keep_on_chip || cut) break;
      }
    }
    if (!best_[n][0].cost) refuse();
    return collect();
  }

 private:
  struct Cost {
    std::int64_t bytes;
    std::int64_t cycles;
    auto operator<=>(const Cost&) const = default;
  };
  bool less(const Cost& a, const Cost& b) const {
    return options_.time_first ? std::tie(a.cycles, a.bytes) < std::tie(b.cycles, b.bytes) : a < b;
  }
  // From a cut to another, and which of the storages that cross them are held there.
  struct Step {
    std::size_t p;
    std::uint32_t in;
    std::size_t q;
    std::uint32_t out;
  };
  struct Entry {
    std::optional<Cost> cost;
    std::int64_t weights = 0;  // bytes among these, of operators that could share them
    std::size_t from = 0;
    std::uint32_t from_mask = 0;
    std::shared_ptr<const std::vector<Span>> spans;  // of the step
  };

  void find_crossings() {
    crossing_.resize(order_.size() + 1);
    for (const StorageId s : uses_.ids()) {
      const Uses& u = uses_[s];
      if (u.first_producer == kNone || (u.consumers[0].empty() && u.consumers[1].empty())) continue;
      std::size_t last = 0;
      for (const auto& c : u.consumers) {
        if (!c.empty()) last = std::max(last, c.back());
      }
      for (std::size_t p = 1; p < order_.size(); p++) {
        if (u.made_before(order_[p]) && last >= order_[p]) crossing_[p].push_back(s);
      }
    }
    for (std::size_t p = 0; p < crossing_.size(); p++) masks_.push_back(choices(p));
  }

  bool forced_cut(std::size_t q) const {
    if (options_.cuts.empty()) return false;
    return q == order_.size() ||
           std::binary_search(options_.cuts.begin(), options_.cuts.end(), lowering_.ops[order_[q - 1]].op);
  }

  std::size_t begin_of(std::size_t p) const { return p < order_.size() ? order_[p] : lowering_.ops.size(); }

  // Resident weights of operators [p, q); nothing where they do not fit together.
  std::optional<std::vector<Task>> resident(std::size_t p, std::size_t q, int shrink) const {
    std::vector<Task> tasks;
    int rows[2] = {0, 0}, words[2] = {0, 0};
    for (std::size_t i = p; i < q; i++) {
      const LoweredOp& op = lowering_.ops[order_[i]];
      const std::size_t e = op.engine == Engine::kConv ? 0 : 1;
      if (shared_.brings(p, i)) {
        rows[e] += op.weight_rows(0, op.tiles());
        words[e] += op.param_words(op.tiles());
      }
      const int preferred = block_rows(op, config_, options_.block_pixels);
      tasks.push_back({order_[i], 0, op.tiles(), op.tiles(), shrunk_rows(op, config_, preferred, shrink)});
    }
    if (rows[0] > config_.wb_rows || rows[1] > config_.vwb_rows || words[0] > config_.zsb_array ||
        words[1] > config_.zsb_vector) {
      return std::nullopt;
    }
    return tasks;
  }

  // Tiles of an operator whose weights and parameters fill a part of the memories at most.
  int part_of_tiles(const LoweredOp& op, int part) const {
    const bool array = op.engine == Engine::kConv;
    const int rows = op.weight_rows_of_tile();
    const int words = op.params_per_tile() ? op.tile_channels() : 0;
    int tiles = op.tiles();
    if (rows > 0)
      tiles = std::min(tiles, std::max(1, (array ? config_.wb_rows : config_.vwb_rows) / part / rows));
    const int zsb = (array ? config_.zsb_array : config_.zsb_vector) / part - op.table_words();
    if (words > 0) tiles = std::min(tiles, std::max(1, zsb / words));
    return tiles;
  }

  // Steps from cut p to cut q with every choice of what is held. False: no use to try a later q.
  bool extend(std::size_t p, std::size_t q) {
    const std::size_t first = order_[p], end = begin_of(q);
    for (std::size_t i = p; i < q; i++) {
      const LoweredOp& op = lowering_.ops[order_[i]];
      // What is read as another shape must have been stored by an earlier span.
      for (const ViewId v : op.inputs) {
        const ViewId bytes = lowering_.storage_of(v).bytes_of;
        if (bytes.exists() && part_of(bytes).producer >= first) return false;
      }
    }
    if (q == p + 1) {
      if (too_wide(lowering_.ops[first], 1) || !extend_whole(p)) extend_in_stripes(p);
      return true;
    }
    for (std::size_t i = p; i < q; i++) {
      if (too_wide(lowering_.ops[order_[i]], 1)) return false;
    }
    // Smaller blocks need fewer rows: where some choice does not fit with the preferred ones.
    for (int shrink = 0; shrink <= kMostShrink; shrink++) {
      const auto tasks = resident(p, q, shrink);
      if (!tasks) return false;
      if (step(p, q, *tasks, 0, false)) break;
    }
    // A longer span only needs more weights and rows than this one with everything around it spilled.
    if (!least_fits_) return false;
    return end - first < kLongestSpan;
  }

  // A span of one operator. False where it does not fit, whatever is around it.
  bool extend_whole(std::size_t p) {
    const std::size_t q = p + 1, first = order_[p];
    const LoweredOp& op = lowering_.ops[first];
    const int chunk = part_of_tiles(op, 4);
    const int preferred = block_rows(op, config_, options_.block_pixels);
    // Weights that follow each other need both maps whole; else all at once; else rows are read again.
    bool all = false, fits = false;
    const auto attempt = [&](const std::vector<Task>& tasks, int extra, bool again) {
      all = step(p, q, tasks, extra, again);
      fits |= least_fits_;
    };
    if (chunk < op.tiles()) attempt({{first, 0, op.tiles(), chunk, preferred}}, 0, false);
    for (int shrink = 0; !all && preferred >> shrink > 0; shrink++) {
      if (const auto tasks = resident(p, q, shrink)) attempt(*tasks, 1, false);
      const int part = part_of_tiles(op, 2);
      if (!all && part < op.tiles()) attempt({{first, 0, op.tiles(), part, preferred >> shrink}}, 1, true);
    }
    return fits;
  }

  // The same in as few column stripes as fit; its maps go through memory.
  void extend_in_stripes(std::size_t p) {
    const std::size_t first = order_[p];
    const LoweredOp& op = lowering_.ops[first];
    // Reads and writes the same rows: they are concatenated.
    for (const ViewId v : op.inputs) {
      if (storage_of(v) == storage_of(op.output)) return;
    }
    const bool resident_weights = resident(p, p + 1, 0).has_value();
    const int tiles = resident_weights ? op.tiles() : part_of_tiles(op, 2);
    for (int stripes = 2; can_stripe(op, stripes); stripes++) {
      if (too_wide(op, stripes)) continue;
      LoweredOp narrow = narrowed(op, stripe_of(op, stripes - 1, stripes));
      narrow.out.w = widest_output(op, stripes);
      const int preferred = block_rows(narrow, config_, options_.block_pixels);
      for (int rows = preferred; rows > 0; rows /= 2) {
        step(p, p + 1, {{first, 0, op.tiles(), tiles, rows}}, 1, !resident_weights, stripes);
        if (least_fits_) return;
      }
    }
  }

  // Columns beyond what commands and OB hold.
  bool too_wide(const LoweredOp& op, int stripes) const {
    const int in = stripes == 1 ? op.in.w : widest_input(op, stripes);
    const int out = widest_output(op, stripes);
    return in > kMaxColumns || out > kMaxColumns || (op.engine == Engine::kConv && out > config_.ob_pixels);
  }

  // However its rows fit, the steps from p to q move more than those to q that are known: most spans need not be looked at.
  bool moves_too_much(std::size_t p, std::size_t q, std::int64_t weights) const {
    if (options_.time_first) return false;
    bool more = true;
    each_choice(p, q, [&](const Step& step) {
      const std::optional<Cost>& known = best(q, step.out).cost;
      more &= known &&
              best(p, step.in).cost->bytes + options_.images * cost_.with(step.in, step.out).bytes + weights >
                  known->bytes;
    });
    return more;
  }

  // Steps from p to q of which each holds a storage at both ends or at none.
  template <class Use>
  void each_choice(std::size_t p, std::size_t q, Use use) const {
    for (const std::uint32_t in : masks_[p]) {
      if (!best(p, in).cost) continue;
      for (const std::uint32_t out : masks_[q]) {
        if (const Step step{p, in, q, out}; agree(step)) use(step);
      }
    }
  }

  // One span, or with `again` one for each chunk of its only task. True when every choice fits, or none needs to.
  bool step(std::size_t p, std::size_t q, const std::vector<Task>& tasks, int extra, bool again,
            int stripes = 1) {
    const auto made = std::make_shared<std::vector<Span>>();
    std::vector<Span>& spans = *made;
    if (again) {
      for (int t = 0; t < tasks[0].tile_end; t += tasks[0].chunk_tiles) {
        Task part = tasks[0];
        part.tile_begin = t;
        part.tile_end = std::min(t + part.chunk_tiles, part.tile_end);
        spans.push_back({{part}, 0, options_.images, stripes});
      }
    } else {
      spans.push_back({tasks, 0, options_.images, stripes});
    }
    look_at(p, q, spans.front(), int(spans.size()));
    const std::int64_t weights = shared_.bytes(p, q);
    if (tasks.size() > 1 && moves_too_much(p, q, weights)) return least_fits_ = true;
    if (!surely_fits(p, q, spans.front())) cost_.measure(shape_of(spans.front()));
    const std::int64_t cycles = estimate(p, tasks);
    bool all = true;
    least_fits_ = room_for(cost_.spilled().used);
    each_choice(p, q, [&](const Step& step) {
      const auto cost = bytes_of(step);
      if (!cost) {
        all = false;
        return;
      }
      const Entry& before = best(p, step.in);
      const Cost total{before.cost->bytes + *cost + weights, before.cost->cycles + cycles + extra};
      Entry& e = best(q, step.out);
      if (!e.cost || less(total, *e.cost)) e = {total, before.weights + weights, p, step.in, made};
    });
    return all;
  }

  void look_at(std::size_t p, std::size_t q, const Span& span, int rounds) {
    cost_.look_at(span, begin_of(q), crossing_[p], crossing_[q], rounds);
  }

  // Every choice does, by the bound: then nobody needs to follow the rows.
  bool surely_fits(std::size_t p, std::size_t q, const Span& span) {
    if (span.tasks.size() == 1) return false;
    cost_.bound(span);
    bool all = room_for(cost_.spilled().used);
    each_choice(p, q, [&](const Step& step) { all = all && bytes_of(step).has_value(); });
    return all;
  }

  // Of the span that cost_ looks at.
  const SpanShape& shape_of(const Span& span) {
    std::vector<int> key{span.images, span.stripes, span.stripes > 1 ? memo_.order : 0};
    key.reserve(3 + span.tasks.size() * 5);
    for (const Task& t : span.tasks) {
      const int kind = span.stripes > 1 ? -1 - int(t.position) : kinds_[t.position];
      key.insert(key.end(), {kind, t.tile_begin, t.tile_end, t.chunk_tiles, t.block_rows});
    }
    const auto [it, is_new] = memo_.shapes.try_emplace(std::move(key));
    if (is_new) {
      SpanRows rows = span_rows(lowering_, uses_, span, {});
      it->second.slots = std::move(rows.flow).slots_needed();
      it->second.rings = std::move(rows.rings);
      for (SpanRows::Ring& ring : it->second.rings) ring.storage = cost_.storages().place(ring.storage);
    }
    return it->second;
  }

  // What may be held at a cut, ascending: none first.
  std::vector<std::uint32_t> choices(std::size_t q) const {
    if (!options_.keep_on_chip || crossing_[q].size() > kMaxHeld) return {0};
    const auto all = std::uint32_t((std::uint64_t(1) << crossing_[q].size()) - 1);
    if (crossing_[q].size() > kMaxChoices) return {0, all};
    std::vector<std::uint32_t> c;
    for (std::uint32_t m = 0; m <= all; m++) c.push_back(m);
    return c;
  }

  static bool held_in(const std::vector<StorageId>& crossing, std::uint32_t mask, StorageId storage) {
    const auto at = std::find(crossing.begin(), crossing.end(), storage);
    return mask != 0 && at != crossing.end() && ((mask >> (at - crossing.begin())) & 1U) != 0;
  }

  // Where the masks of a cut have this one: all there are, or none and all.
  std::size_t place_of(std::size_t q, std::uint32_t mask) const {
    return std::min<std::size_t>(mask, masks_[q].size() - 1);
  }
  Entry& best(std::size_t q, std::uint32_t mask) { return best_[q][place_of(q, mask)]; }
  const Entry& best(std::size_t q, std::uint32_t mask) const { return best_[q][place_of(q, mask)]; }

  // A tensor keeps its fate over all the cuts it crosses.
  bool agree(const Step& step) const {
    const std::vector<StorageId>&before = crossing_[step.p], &after = crossing_[step.q];
    for (const StorageId s : before) {
      if (std::find(after.begin(), after.end(), s) == after.end()) continue;
      if (held_in(before, step.in, s) != held_in(after, step.out, s)) return false;
    }
    return true;
  }

  // Bytes moved, or nothing where the rows do not fit.
  std::optional<std::int64_t> bytes_of(const Step& step) const {
    const SpanNeeds needs = cost_.with(step.in, step.out);
    if (!needs.possible || !room_for(needs.used)) return std::nullopt;
    return options_.images * needs.bytes;
  }

  // Addresses of SB and VB that rings take.
  static std::array<std::int64_t, kBuffers> addresses(const std::vector<SpanRows::Ring>& rings,
                                                      const std::vector<int>& slots, int slack_blocks) {
    std::array<std::int64_t, kBuffers> used{};
    for (std::size_t r = 0; r < rings.size(); r++) {
      used[std::size_t(rings[r].buffer)] +=
          std::int64_t(rings[r].slots(slots[r], slack_blocks)) * rings[r].slot_size;
    }
    return used;
  }

  bool room_for(const std::array<std::int64_t, kBuffers>& used) const {
    return used[0] <= config_.sb_depth - options_.reserve[0] &&
           used[1] <= config_.vb_depth - options_.reserve[1];
  }

  StorageId storage_of(ViewId view) const { return lowering_.views[view].storage; }
  // The part that an operator writes.
  const Uses::Part& part_of(ViewId view) const {
    return uses_[storage_of(view)].parts[std::size_t(lowering_.parts_of(view).front())];
  }

  // Tasks of operators from p on.
  std::int64_t estimate(std::size_t p, const std::vector<Task>& tasks) const {
    std::int64_t engine[2] = {0, 0}, bytes = 0;
    for (std::size_t i = 0; i < tasks.size(); i++) {
      const Task& t = tasks[i];
      const LoweredOp& op = lowering_.ops[t.position];
      engine[op.engine == Engine::kConv ? 0 : 1] += options_.images * cycles_of(t, t.block_rows);
      if (!shared_.brings(p, p + i)) continue;
      bytes += std::int64_t(op.weight_rows(0, op.tiles())) * 9 * config_.cp;
    }
    // The first rows go from task to task; weights of a span that leaves no room for them wait for its end.
    const std::int64_t beyond =
        std::max<std::int64_t>(0, bytes - std::int64_t(config_.wb_rows) * 9 * config_.cp / 2);
    return std::max({engine[0], engine[1], bytes / config_.axi_bytes}) +
           kFillCycles * std::int64_t(tasks.size()) + (tasks.size() > 1 ? beyond / config_.axi_bytes : 0);
  }

  SpanPlan collect() const {
    SpanPlan plan;
    plan.images = options_.images;
    plan.held.assign(uses_.size(), false);
    plan.stored.assign(lowering_.ops.size(), false);
    std::vector<const Entry*> steps;
    std::size_t q = order_.size();
    plan.bytes = best_[q][0].cost->bytes - best_[q][0].weights;
    std::uint32_t mask = 0;
    while (q > 0) {
      const Entry& e = best(q, mask);
      steps.push_back(&e);
      for (const StorageId s : crossing_[q]) {
        if (held_in(crossing_[q], mask, s)) plan.held[s] = true;
      }
      for (std::size_t i = e.from; i < q; i++) {
        const ViewId view = lowering_.ops[order_[i]].output;
        if (cost_.in_memory(view, plan.held[storage_of(view)], begin_of(q))) plan.stored[order_[i]] = true;
      }
      q = e.from;
      mask = e.from_mask;
    }
    for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
      plan.spans.insert(plan.spans.end(), (*it)->spans->begin(), (*it)->spans->end());
    }
    for (Span& span : plan.spans) {
      if (span.stripes == 1) grow_blocks(span, plan);
    }
    return plan;
  }

  // Blocks that were made smaller so that a span fits get their size back where there is room, those that
  // gain most first.
  void grow_blocks(Span& span, const SpanPlan& plan) const {
    struct Gain {
      std::int64_t cycles;
      std::size_t task;
      int rows;
    };
    std::vector<Gain> gains;
    for (std::size_t i = 0; i < span.tasks.size(); i++) {
      const Task& t = span.tasks[i];
      const LoweredOp& op = lowering_.ops[t.position];
      const int preferred = block_rows(op, config_, options_.block_pixels);
      for (int rows = preferred; rows > t.block_rows; rows /= 2) {
        gains.push_back({cycles_of(t, t.block_rows) - cycles_of(t, rows), i, rows});
      }
    }
    std::stable_sort(gains.begin(), gains.end(),
                     [](const Gain& a, const Gain& b) { return a.cycles > b.cycles; });
    for (const Gain& g : gains) {
      int& rows = span.tasks[g.task].block_rows;
      if (rows >= g.rows) continue;
      const int before = std::exchange(rows, g.rows);
      if (!fits(span, plan)) rows = before;
    }
  }

  std::int64_t cycles_of(const Task& t, int rows) const {
    const LoweredOp& op = lowering_.ops[t.position];
    const int tiles = t.tile_end - t.tile_begin;
    Timed& last = cycles_[t.position];
    if (last.tiles != tiles || last.rows != rows)
      last = {tiles, rows, op.cycles(tiles, rows) * ceil_div(op.out.h, rows)};
    return last.cycles;
  }

  bool fits(const Span& span, const SpanPlan& plan) const {
    SpanRows rows = span_rows(lowering_, uses_, span, plan.held);
    return room_for(addresses(rows.rings, std::move(rows.flow).slots_needed(), options_.slack_blocks));
  }

  int maps_read(const LoweredOp& op) const {
    std::set<StorageId> maps;
    for (const ViewId v : op.inputs) maps.insert(storage_of(v));
    return int(maps.size());
  }

  // Tells which layer cannot be reached, and how many bytes are missing for a row of it at a time.
  [[noreturn]] void refuse() {
    std::size_t p = order_.size();
    while (std::none_of(best_[p].begin(), best_[p].end(), [](const Entry& e) { return e.cost.has_value(); }))
      p--;
    const LoweredOp& op = lowering_.ops[order_[p]];
    const Op& o = graph_.ops[std::size_t(op.op)];
    const int slot_size = uses_[storage_of(op.inputs[0])].slot_size;
    const bool sb = buffer_of(op.engine) == Buffer::kSb;
    const int depth = sb ? config_.sb_depth : config_.vb_depth;
    const Span row{{{order_[p], 0, op.tiles(), op.tiles(), 1}}, 0, options_.images};
    look_at(p, p + 1, row, 1);
    const SpanShape& least = shape_of(row);
    const auto used = addresses(least.rings, least.slots, 0);
    const std::int64_t missing = used[sb ? 0 : 1] - depth;
    const std::string layer = "layer '" + o.name + "' (" + std::string(name_of(o.kind)) + "): limit: ";
    if (op.engine == Engine::kConv && op.out.w > config_.ob_pixels && !can_stripe(op, 2)) {
      throw InputError(layer + "output columns at most " + std::to_string(config_.ob_pixels) +
                       ", found: " + std::to_string(op.out.w));
    }
    throw InputError(layer + std::to_string(depth) + " addresses of " + (sb ? "SB" : "VB") +
                     ", found: " + std::to_string(std::min(op.kernel_rows, op.in.h) * maps_read(op)) +
                     " rows of " + std::to_string(slot_size) + " addresses" +
                     (missing > 0 ? ", " + std::to_string(missing * 9 * config_.cp) + " bytes short" : ""));
  }

  static constexpr std::size_t kLongestSpan = 64;
  static constexpr int kMostShrink = 2;

  const Graph& graph_;
  const Lowering& lowering_;
  const Config& config_;
  const SpanOptions& options_;
  SpanMemo& memo_;
  UsesOfStorages uses_;
  std::vector<std::size_t> order_;                 // operators of the device, positions in the lowering
  std::vector<std::vector<StorageId>> crossing_;   // storages that live across the cut before order_[p]
  std::vector<std::vector<std::uint32_t>> masks_;  // of each cut: what may be held
  std::vector<std::vector<Entry>> best_;           // cut, and which of its masks
  std::vector<int> kinds_;                         // of operators
  SpanCost cost_;                                  // of the span looked at last
  // What was asked last of an operator: cycles of so many tiles and rows of a command.
  struct Timed {
    int tiles = 0;
    int rows = 0;
    std::int64_t cycles = 0;
  };
  mutable std::vector<Timed> cycles_;
  SharedWeights shared_;
  bool least_fits_ = false;  // the last span tried, with all around it spilled
};

}  // namespace

SpanPlan plan_spans(const Graph& graph, const Lowering& lowering, const Config& config,
                    const SpanOptions& options, SpanMemo& memo) {
  return Planner(graph, lowering, config, options, memo).run();
}

}  // namespace kaiten
