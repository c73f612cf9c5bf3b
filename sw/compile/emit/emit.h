// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The order of commands: list scheduling of a placed span plan on the command list's clock. Of all operators
// of a span whose rows and weights are there, the one whose command can start first is next, ties
// are broken by depth, deepest first; LOADs of rows and weights go beside them.
#ifndef KAITEN_COMPILE_EMIT_EMIT_H
#define KAITEN_COMPILE_EMIT_EMIT_H

#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "compile/emit/command_list.h"
#include "compile/emit/engine_commands.h"
#include "compile/emit/rows.h"
#include "compile/emit/weights.h"
#include "compile/spans/place.h"
#include "compile/spans/spans.h"

namespace kaiten {

// Operators, the spans they run in, and where the rows of those lie: all that the order of commands starts from.
struct PlacedPlan {
  const Lowering& lowering;
  const SpanPlan& plan;
  const Placement& placement;
};

class Emitter {
 public:
  // Keeps a copy of the placement; all else must outlive the emitter.
  Emitter(const Graph& graph, const Config& config, const PlacedPlan& placed, const WeightOptions& weights);

  // The commands, and what they move; then their order in the list, and its time.
  void run();
  // False where no order would be complete by cycle `most`: then there is none.
  bool schedule(std::int64_t most = std::numeric_limits<std::int64_t>::max()) { return list_.schedule(most); }
  std::int64_t modelled_cycles() const { return list_.modelled_cycles(); }
  // Activations to and from memory, and what is loaded beside them.
  std::int64_t activation_bytes() const { return list_.activation_bytes(); }
  std::int64_t weight_bytes() const {
    return std::accumulate(weight_bytes_.begin(), weight_bytes_.end(), std::int64_t(0));
  }
  Program finish(bool constants);

 private:
  // A command that could be next, with the STORE before it or the LOADs after it.
  struct Candidate {
    std::vector<Offer> offers;
    const Offer* weights = nullptr;  // instead of them
    Queue queue{};                   // of the last one
    Counts wait{};                   // of it, as far as they set its start
    std::int64_t start = 0;
    int node = -1;  // of the flow; -1: weights
    bool ahead = false;

    std::span<const Offer> all() const { return weights != nullptr ? std::span(weights, 1) : offers; }
  };
  // Of a span, in the order of its nodes; kept until the node has advanced.
  using Candidates = std::vector<std::optional<Candidate>>;

  void run_span(std::size_t k);
  Candidate load(std::size_t k, int node) const;
  // A block of rows of an operator.
  struct Block;
  Candidate block(std::size_t k, int node) const;
  Offer rows_offer(const Block& b, std::size_t k, int node, EngineContext& context) const;
  Offer store_offer(const Block& b, const Chunk& tiles, const EngineContext& context,
                    const CommandMeta& meta) const;
  std::vector<Chunk> tiles_of_commands(const Block& b, const Chunk& chunk) const;
  void find_waits(Candidate& c) const;
  // Emits a candidate; the others wait for it where they must.
  void emit_candidate(const Candidate& c, Candidates& ready, Candidate& weights);
  // The operator of a node that is a task.
  const LoweredOp& op_of(std::size_t k, int node) const;
  // Of a span in stripes.
  const LoweredOp& only_op(std::size_t k) const;
  std::vector<SpanInfo> span_infos() const;
  const PartPlan& part_plan(ViewId view) const;
  void find_spans();
  MemoryOutput output_of(const Lowering::Fetched& f) const;
  void note_layer(const LoweredOp& op, Program& program) const;
  // For a queue: whichever suits better.
  static bool better(const Candidate& a, const Candidate& b);
  // The nodes that are ready, timed, and the weights; of them the best for LOAD, CONV and VECTOR: a STORE goes with its producer.
  using Best = std::array<const Candidate*, kQueues>;
  Best best_of(std::size_t k, Candidates& ready, Candidate& weights);

  const Graph& graph_;
  const Config& config_;
  const Lowering& lowering_;
  const SpanPlan& plan_;
  Placement placement_;
  CommandList list_;
  WeightLoader weights_;
  std::vector<std::int64_t> weight_bytes_;      // of each span, parameters too
  std::vector<std::int64_t> activation_bytes_;  // loaded and stored by each span
  std::vector<LoweredOp> narrow_;               // of the span that is emitted, its stripes
  std::vector<int> spans_;  // of every operator of the lowering, position in channel_spans_ or -1
  std::vector<std::vector<ChannelSpan>> channel_spans_;
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_EMIT_H
