// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// SushiSched: which SubNet serves a query, and which SubGraph PB holds afterwards. Algorithm 1 of the SUSHI paper; where the
/// paper is silent, the options say what is chosen.
///
/// A SubNet is its code s, the kernels and channels of its layers; every q queries the SubGraph whose code g is nearest to
/// the mean code of the last `window` SubNets goes to PB. The scan of the columns is exact and takes one addition a column:
/// of the squared distance |mean - g|^2 = |mean|^2 - 2 mean.g + |g|^2 the first term is the same for all columns, and mean.g
/// is a sum of products s.g that are known before, in whole numbers.
#ifndef KAITEN_SERVE_SCHEDULER_H
#define KAITEN_SERVE_SCHEDULER_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "serve/table.h"

namespace kaiten::serve {

/// Which constraint of a query is hard.
enum class Policy {
  kAccuracy,  ///< least latency among the SubNets of at least this accuracy
  kLatency,   ///< highest accuracy among the SubNets of at most this latency
};

/// What decides on PB's content.
enum class Caching {
  kNearest,  ///< Algorithm 1: every q queries the SubGraph nearest to the mean SubNet
  kSaved,  ///< every q queries the SubGraph with which the last `window` SubNets had taken least time, its loading included
  kNone,   ///< PB stays empty
  kStatic,    ///< the one SubGraph that suits the whole stream best: see best_static()
  kUnaware,   ///< the first SubGraph stays, and SubNets are chosen as if PB were empty
  kPerQuery,  ///< Algorithm 1 with q = window = 1
  kPlanned,   ///< given: see best_sequence()
};

/// What to do with a query that no SubNet can serve.
enum class Infeasible {
  kNearest,  ///< serve it with the SubNet that comes closest: the most accurate, or the fastest
  kDrop,     ///< do not serve it
};

/// How a scheduler decides.
struct SchedulerOptions {
  Policy policy = Policy::kAccuracy;             ///< which constraint is hard
  Caching caching = Caching::kNearest;           ///< what goes to PB
  Infeasible infeasible = Infeasible::kNearest;  ///< for queries out of reach
  int q = 8;                                     ///< queries between decisions on PB, at least 1
  int window = 0;                                ///< SubNets in the mean; 0: as many as q
  std::optional<std::size_t> first;              ///< column in PB at the start; without it a random one
  std::uint64_t seed = 1;                        ///< of the random one
};

/// What a query asks for.
struct Constraints {
  double accuracy = 0;    ///< percent, at least
  double latency_ms = 0;  ///< at most
};

/// What is decided on a query.
struct Decision {
  std::optional<std::size_t> subnet;  ///< none: dropped
  std::size_t subgraph = 0;           ///< in PB while it is served
  std::size_t next = 0;               ///< in PB afterwards
  bool feasible = false;              ///< the hard constraint can be met
};

/// One stream's scheduler. The table must outlive it.
class Scheduler {
 public:
  /// Throws InputError where the table lacks what the options need: codes, or the column Table::kNothing.
  Scheduler(const Table& table, const SchedulerOptions& options);

  /// The next query. `planned`: what PB holds afterwards, for Caching::kPlanned alone.
  Decision decide(const Constraints& query, std::optional<std::size_t> planned = std::nullopt);
  /// The SubNet that serves a query with a SubGraph in PB, and whether the hard constraint can be met.
  Decision choose(const Constraints& query, std::size_t subgraph) const;
  /// In PB now.
  std::size_t subgraph() const { return subgraph_; }

 private:
  struct Choice {
    double limit = 0;          // accuracy of a row, or latency
    std::uint32_t subnet = 0;  // the best of those that are within
  };

  void index_columns();
  void index_distances();
  void remember(std::size_t subnet);
  std::size_t best_column() const;

  const Table& table_;
  SchedulerOptions options_;
  std::size_t subgraph_ = 0;
  std::vector<Choice> choices_;       // for each column, a row's worth, by rising limit
  std::vector<std::int64_t> scores_;  // of a row and a column: what a served SubNet adds to the column's sum
  std::vector<std::int64_t>
      constant_;                       // of a column: its square, a SubNet in the window each; or its loading
  std::vector<std::int64_t> sums_;     // of a column over the window
  std::vector<std::uint32_t> window_;  // rows, a ring
  std::size_t at_ = 0;                 // the oldest of a full ring
  std::size_t held_ = 0;               // rows in the ring
  int since_ = 0;                      // queries since the last decision on PB
};

/// The column with which the stream's SubNets take least time under the accuracy policy, or are most accurate, then fastest,
/// under the latency policy.
std::size_t best_static(const Table& table, const SchedulerOptions& options,
                        const std::vector<Constraints>& stream);

/// What PB should hold.
struct KnownPlan {
  std::size_t first = 0;           ///< at the start
  std::vector<std::size_t> after;  ///< each query
};

/// The best sequence of columns for a stream that is known, by dynamic programming: changed only after every q-th query, with
/// the loading of a SubGraph charged; the first column, unless the options give it, is free as that of best_static() is. Best
/// as there. Throws InputError for a stream that is too long for its memory, a gibibyte.
KnownPlan best_sequence(const Table& table, const SchedulerOptions& options,
                        const std::vector<Constraints>& stream);

}  // namespace kaiten::serve

#endif  // KAITEN_SERVE_SCHEDULER_H
