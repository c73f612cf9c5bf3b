// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Dependence closures: how many rows of each map a span must keep on chip. Columns alike, in the transposed network: a span
/// keeps whichever take less (Occam, section III-A).
///
/// Paper: the rows under one output row of the span, walking back (Occam, section III-C). Rolling: rows are
/// made one by one when they are needed, so that a map keeps what its consumers' windows cover, and what waits
/// for the slower branch of a residual edge. Both depend on where a span ends, not on where it begins.
#ifndef KAITEN_PLAN_CLOSURE_H
#define KAITEN_PLAN_CLOSURE_H

#include <memory>
#include <string_view>
#include <vector>

#include "plan/network.h"

namespace kaiten::plan {

/// Rule for the rows that are kept: see above.
enum class Closure : std::uint8_t { kRolling, kPaper };

std::string_view name_of(Closure closure);  ///< "rolling", "paper"

/// A network with what is asked of it again and again. Immutable: any number of threads.
class Dataflow {
 public:
  /// The network must outlive it, unchanged.
  explicit Dataflow(const Network& network);

  const Network& network() const { return network_; }  ///< as given
  /// Edges from a map, layers in ascending order.
  const std::vector<Consumer>& consumers(int map) const { return consumers_[std::size_t(map)]; }
  /// By map.
  const std::vector<std::vector<Consumer>>& consumers() const { return consumers_; }
  /// More than one layer reads map `map`.
  bool fans_out(int map) const { return consumers(map).size() > 1; }
  /// Every layer reads the map before it and no other, residual edges apart.
  bool is_chain() const { return chain_; }
  /// Longest delay in rows of `map` over the paths from it to the output of `layer`, which adds it: all rows but one where the
  /// edge drifts; 0 without an edge.
  int residual_lag(int map, int layer) const;
  /// The residual edge from `map` to `layer` and the ways between them step over different numbers of rows: they drift
  /// apart from the first row to the last.
  bool drifts(int map, int layer) const;
  /// Of the transposed network; null where every map and window is square, so that it is the same.
  const Dataflow* across() const { return across_.get(); }

 private:
  struct Residual {
    int layer = 0;
    int lag = 0;
    bool drifts = false;
  };
  enum class Sides : std::uint8_t { kBoth, kOne };
  Dataflow(const Network& network, Sides sides);
  Residual residual(int map, int layer) const;
  const Residual* find_residual(int map, int layer) const;

  const Network& network_;
  bool chain_ = true;
  std::vector<std::vector<Consumer>> consumers_;
  std::vector<std::vector<Residual>> residuals_;  ///< per map
  std::unique_ptr<const Network> transposed_;     ///< what across_ is of
  std::unique_ptr<const Dataflow> across_;
};

/// Rows kept of the maps of spans that end with map `end`, for ever earlier begins. Not thread-safe: one thread at a
/// time.
class ClosureRows {
 public:
  /// The dataflow must outlive it.
  ClosureRows(const Dataflow& dataflow, Closure closure, int end);
  /// Of the map before the last one asked for: call with end - 1, end - 2, ... in this order.
  int rows(int map);

 private:
  int paper_rows(int map);
  int rolling_rows(int map);
  int branch_rows(int map);

  const Dataflow& dataflow_;
  const Network& network_;
  Closure closure_;
  int end_;
  std::vector<std::int64_t> first_;  ///< paper: first row kept, counted from the end's row 0; by map
  std::vector<int> kept_;            ///< by map, from end down
  std::vector<int> dominator_;       ///< nearest later map that every path to the end passes; by map
};

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_CLOSURE_H
