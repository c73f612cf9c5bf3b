// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/compiler.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "base/error.h"
#include "compile/compile_lowering.h"
#include "compile/emit/emit.h"
#include "compile/lower/lower.h"
#include "compile/lower/order.h"
#include "compile/resident.h"
#include "compile/spans/place.h"
#include "compile/spans/spans.h"

namespace kaiten {

namespace {

// Blocks that rings may have beyond what their rows need.
constexpr int kMaxSlack = 3;
// When gaps between rings keep a plan from fitting, the next plan leaves so many more of a buffer's addresses
// free.
constexpr int kReserveParts = 16;

// A plan, and the order of its commands once they are made.
struct Attempt {
  const Lowering* lowering;
  SpanPlan plan;
  Placement placement;
  std::unique_ptr<Emitter> emitter;
  std::int64_t bytes = 0;  // weights, parameters, activations
  std::size_t number = 0;  // of those that fit, in the order they are tried

  bool better_than(const Attempt& o, Optimise optimise) const {
    const std::int64_t cycles = emitter->modelled_cycles(), others = o.emitter->modelled_cycles();
    if (optimise == Optimise::kTime)
      return std::tie(cycles, bytes, number) < std::tie(others, o.bytes, o.number);
    return std::tie(bytes, cycles, number) < std::tie(o.bytes, others, o.number);
  }
};

// A plan for some images again and again, until it was done for `images`.
SpanPlan repeated(SpanPlan plan, int images) {
  const std::vector<Span> once = plan.spans;
  for (int first = plan.images; first < images; first += plan.images) {
    for (Span span : once) {
      span.first_image = first;
      span.images = std::min(plan.images, images - first);
      plan.spans.push_back(std::move(span));
    }
  }
  plan.bytes = plan.bytes / plan.images * images;
  plan.images = images;
  return plan;
}

// What is tried: small blocks and larger ones, rings with room for producers to be ahead and without; where time
// counts, spans by their estimated time, and every operator alone, too.
std::vector<SpanOptions> variants(const Config& config, const CompileOptions& options) {
  SpanOptions o;
  o.cancellation_check = options.cancellation_check;
  o.keep_on_chip = options.keep_on_chip;
  o.block_pixels = options.block_pixels;
  o.reserve = options.reserve;
  o.cuts = options.cuts;
  std::vector<SpanOptions> all{o};
  if (!options.keep_on_chip) return all;
  for (const int slack : {1, 0}) {
    for (const int pixels : {0, 6 * config.stages(), 8 * config.stages(), 16 * config.stages()}) {
      if ((slack == 1 && pixels == 0) || (options.block_pixels > 0 && pixels != 0)) continue;
      SpanOptions v = o;
      v.slack_blocks = slack;
      if (pixels > 0) v.block_pixels = pixels;
      all.push_back(v);
    }
  }
  if (options.optimise == Optimise::kTime) {
    for (std::size_t i = 0, n = all.size(); i < n; i++) {
      all.push_back(all[i]);
      all.back().time_first = true;
    }
    all.push_back(o);
    all.back().keep_on_chip = false;
  }
  return all;
}

// The best of all attempts, with everything it refers to.
class Choice {
 public:
  // The lowering has no refusals.
  Choice(const Graph& graph, const Config& config, const CompileOptions& options, WeightResidency residency,
         Lowering lowering, PlansTried tried = PlansTried::kThatMayBeBest)
      : graph_(graph),
        config_(config),
        planned_(without_resident(config, options.resident)),
        options_(options),
        residency_(residency),
        tried_(tried),
        compression_(compression_of(graph, options.compress, options.known_values)) {
    Lowering other = lowering;
    other.ops = long_operands_last(lowering);
    const bool same = std::equal(other.ops.begin(), other.ops.end(), lowering.ops.begin(), lowering.ops.end(),
                                 [](const LoweredOp& a, const LoweredOp& b) { return a.op == b.op; });
    if (same || options.order != OperatorOrder::kLongOperandsLast) orders_.push_back(std::move(lowering));
    if (!same && options.order != OperatorOrder::kGraph) orders_.push_back(std::move(other));

    // All images of a batch share each span's weights. Where maps then go through memory, fewer may be
    // better.
    for (int together = options.images;; together = ceil_div(together, 2)) {
      try_all(together);
      const bool least = best_ && best_->placement.activation_bytes == 0;  // no other moves fewer
      if (together == 1 || (least && options.optimise == Optimise::kBytes)) break;
    }
    if (!best_) throw InputError(*error_);
  }

  Program program() { return checked(*best_->emitter); }
  // The same plan for later runs.
  Program again() {
    const std::unique_ptr<Emitter> emitter = emitted(*best_, WeightResidency::kAlreadyPinned);
    emitter->schedule();
    return checked(*emitter);
  }

 private:
  // All plans are made before the first one gets commands, which take most of the time: where bytes decide, only those of
  // fewest bytes need them.
  void try_all(int together) {
    std::vector<std::unique_ptr<Attempt>> attempts;
    SpanMemo memo;
    for (const Lowering& order : orders_) {
      placed_.clear();
      for (SpanOptions o : variants(config_, options_)) {
        o.images = together;
        if (options_.cancellation_check) options_.cancellation_check();
        unless_refused([&] {
          if (auto a = placed(order, o, memo)) attempts.push_back(std::move(a));
        });
      }
      memo.order++;
    }
    std::stable_sort(attempts.begin(), attempts.end(),
                     [](const auto& a, const auto& b) { return a->bytes < b->bytes; });
    for (std::unique_ptr<Attempt>& a : attempts) {
      if (options_.cancellation_check) options_.cancellation_check();
      unless_refused([&] {
        if (moves_more(*a) || !schedule(*a)) return;
        if (!best_ || a->better_than(*best_, options_.optimise)) best_ = std::move(a);
      });
      a.reset();
    }
  }

  // Rows that wait longer, or larger blocks, may not fit: another attempt stands.
  void unless_refused(const std::function<void()>& attempt) {
    try {
      attempt();
    } catch (const InputError& e) {
      if (!error_) error_ = e;
    }
  }

  // `memo`: of other attempts at the same lowering. Null: its plan was one of theirs.
  std::unique_ptr<Attempt> placed(const Lowering& lowering, SpanOptions o, SpanMemo& memo) {
    auto a = std::make_unique<Attempt>();
    a->lowering = &lowering;
    for (;;) {
      a->plan = repeated(plan_spans(graph_, lowering, planned_, o, memo), options_.images);
      if (std::find(placed_.begin(), placed_.end(), a->plan) != placed_.end()) return nullptr;
      Buffer too_small = Buffer::kSb;
      auto placement = place(lowering, config_, a->plan, compression_, kMaxSlack, too_small);
      if (placement) {
        a->placement = std::move(*placement);
        a->number = fitting_++;
        a->bytes = a->plan.bytes + weight_bytes(*a);
        placed_.push_back(a->plan);
        return a;
      }
      const int depth = too_small == Buffer::kSb ? config_.sb_depth : config_.vb_depth;
      o.reserve[std::size_t(too_small)] += std::max(1, depth / kReserveParts);
    }
  }

  // False where it takes more cycles than the best, and moves no fewer bytes.
  bool schedule(Attempt& a) const {
    a.emitter = emitted(a, residency_);
    if (a.emitter->activation_bytes() != a.plan.bytes)
      throw std::logic_error("a span plan of other bytes than were emitted");
    if (a.plan.bytes + a.emitter->weight_bytes() != a.bytes)
      throw std::logic_error("weights of other bytes than were emitted");
    const bool bounded = best_ && tried_ == PlansTried::kThatMayBeBest &&
                         (options_.optimise == Optimise::kTime || a.bytes >= best_->bytes);
    return a.emitter->schedule(bounded ? best_->emitter->modelled_cycles()
                                       : std::numeric_limits<std::int64_t>::max());
  }

  // Cycles break ties only: a plan of more bytes than the best needs no commands.
  bool moves_more(const Attempt& a) const {
    return best_ && options_.optimise == Optimise::kBytes && tried_ == PlansTried::kThatMayBeBest &&
           a.bytes > best_->bytes;
  }

  std::int64_t weight_bytes(const Attempt& a) const {
    CommandList none(graph_, config_);
    return WeightLoader(config_, *a.lowering, a.plan, none, weight_options(residency_)).bytes();
  }

  WeightOptions weight_options(WeightResidency residency) const {
    return {residency, options_.compress, config_.wb_rows - planned_.wb_rows};
  }

  std::unique_ptr<Emitter> emitted(const Attempt& a, WeightResidency residency) const {
    auto emitter = std::make_unique<Emitter>(graph_, config_, PlacedPlan{*a.lowering, a.plan, a.placement},
                                             weight_options(residency));
    emitter->run();
    return emitter;
  }

  Program checked(Emitter& emitter) const {
    Program program = emitter.finish(options_.constants);
    check_rules(program.commands);
    return program;
  }

  const Graph& graph_;
  const Config& config_;
  const Config planned_;  // without the rows of PB
  const CompileOptions& options_;
  WeightResidency residency_;
  PlansTried tried_;
  Compression compression_;
  std::vector<Lowering> orders_;
  std::vector<SpanPlan> placed_;  // of the lowering that is tried
  std::size_t fitting_ = 0;
  std::unique_ptr<Attempt> best_;
  std::optional<InputError> error_;  // of the first attempt that failed
};

std::vector<std::string> reasons_of(const Lowering& lowering) {
  std::vector<std::string> reasons;
  for (const Lowering::Refusal& r : lowering.refusals) reasons.push_back(r.reason);
  return reasons;
}

}  // namespace

Lowering lower_for(const Graph& graph, const Config& config, const CompileOptions& options) {
  Lowering lowering = lower(graph, without_resident(config, options.resident), options.rounding);
  if (options.resident != nullptr) use_resident(lowering, graph, *options.resident);
  if (options.compress != Compress::kOff) finish_last_words(lowering);
  return lowering;
}

std::string first_of(const std::vector<std::string>& refusals) {
  return refusals.front() + (refusals.size() > 1 ? " (and " + std::to_string(refusals.size() - 1) +
                                                       " more; inspect lists them all)"
                                                 : "");
}

Lowering lower_or_throw(const Graph& graph, const Config& config, const CompileOptions& options) {
  Lowering lowering = lower_for(graph, config, options);
  if (!lowering.refusals.empty()) throw InputError(first_of(reasons_of(lowering)));
  return lowering;
}

Program compile_lowering(const Graph& graph, const Config& config, Lowering lowering,
                         const CompileOptions& options, PlansTried tried) {
  return Choice(graph, config, options, WeightResidency::kReload, std::move(lowering), tried).program();
}

Program compile(const Graph& graph, const Config& config, const CompileOptions& options) {
  return compile_lowering(graph, config, lower_or_throw(graph, config, options), options);
}

KeptPrograms compile_kept(const Graph& graph, const Config& config, const CompileOptions& options) {
  Choice choice(graph, config, options, WeightResidency::kPinOnLoad, lower_or_throw(graph, config, options));
  KeptPrograms programs;
  programs.first = choice.program();
  programs.again = choice.again();
  return programs;
}

Compiled try_compile(const Graph& graph, const Config& config, const CompileOptions& options) {
  Lowering lowering = lower_for(graph, config, options);
  if (!lowering.refusals.empty()) return {std::nullopt, reasons_of(lowering)};
  try {
    return {Choice(graph, config, options, WeightResidency::kReload, std::move(lowering)).program(), {}};
  } catch (const InputError& e) {
    return {std::nullopt, {e.what()}};
  } catch (const DeviceError& e) {
    return {std::nullopt, {e.what()}};
  }
}

std::vector<std::string> refusals(const Graph& graph, const Config& config, const CompileOptions& options) {
  return try_compile(graph, config, options).refusals;
}

}  // namespace kaiten
