// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Serves queries in simulated time: one accelerator, first come, first served. A query that arrives while another one is
/// served waits; a SubGraph that was decided on is loaded when the query that decided it is done, and the next query waits for
/// it. A program that has queries of its own calls serve() for each.
#ifndef KAITEN_SERVE_SERVER_H
#define KAITEN_SERVE_SERVER_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "serve/scheduler.h"
#include "serve/stream.h"
#include "serve/table.h"

namespace kaiten::serve {

/// What running a SubNet or loading a SubGraph took.
struct Taken {
  double ms = 0;            ///< milliseconds
  double weight_bytes = 0;  ///< read from memory
};

/// Runs what the scheduler decides. Empty: the table says what that takes. A DeviceError, such as a bus error, fails the
/// query, and the stream goes on; what failed has taken the table's time. A SubGraph that could not be loaded is not in PB:
/// run() must not count on it.
struct Executor {
  std::function<Taken(std::size_t subnet)> run = {};     ///< a query, with what is in PB
  std::function<Taken(std::size_t subgraph)> load = {};  ///< into PB
};

/// A query when it is done.
struct Served {
  Constraints asked;                  ///< the query's
  std::optional<std::size_t> subnet;  ///< none: dropped
  std::size_t subgraph = 0;           ///< in PB while it was served
  std::size_t next = 0;               ///< in PB afterwards
  bool failed = false;                ///< the hardware ended it with an error: no result
  bool violated =
      false;  ///< no result, or the policy's constraint was not met: accuracy, or time from arrival to end
  double arrival_ms = 0;                                      ///< of the query
  double start_ms = 0;                                        ///< after its waiting
  double end_ms = 0;                                          ///< its result is there
  double load_ms = 0;                                         ///< from then on, of the next SubGraph
  double weight_bytes = 0;                                    ///< read for it
  double load_bytes = 0;                                      ///< read for the next SubGraph
  double response_ms() const { return end_ms - arrival_ms; }  ///< what the query's sender sees
};

/// Of some values.
struct Spread {
  double mean = 0;  ///< arithmetic
  double p50 = 0;   ///< nearest rank
  double p90 = 0;   ///< nearest rank
  double p99 = 0;   ///< nearest rank
  double max = 0;   ///< the largest
};

/// What has been served.
struct Summary {
  std::uint64_t queries = 0;   ///< that arrived
  std::uint64_t served = 0;    ///< that were neither dropped nor failed
  std::uint64_t failed = 0;    ///< that the hardware ended with an error
  std::string failure;         ///< of the first query or SubGraph that failed; empty: none
  std::uint64_t violated = 0;  ///< whose hard constraint was not met, dropped and failed ones included
  double violation_mean = 0;   ///< by how much, of those served: points of accuracy or milliseconds
  double violation_max = 0;    ///< the most
  Spread latency_ms;           ///< from arrival to end
  double service_ms_mean = 0;  ///< without waiting
  double accuracy_mean = 0;    ///< percent
  double slo_attainment = 0;   ///< share of the queries done within their latency
  std::optional<double>
      hit_ratio;              ///< mean of |SubNet and SubGraph| / |SubGraph| of their codes, Euclidean norms
  double byte_hit_ratio = 0;  ///< share of the weights' bytes that PB had
  double weight_bytes = 0;    ///< read for queries and for loading SubGraphs
  double load_bytes = 0;      ///< of those, for loading
  double other_bytes = 0;     ///< image and result
  std::uint64_t loads = 0;    ///< SubGraphs that went to PB
  double energy_millijoules = 0;  ///< of the bytes in memory alone
  Spread decision_ns;             ///< of the scheduler on this machine
  double end_ms = 0;              ///< the last result
};

/// Serves one stream with one scheduler. The table must outlive it.
class Server {
 public:
  /// `picojoules`: of a byte read from memory. Throws what Scheduler's constructor throws.
  /// The executor loads the first SubGraph at once.
  Server(const Table& table, const SchedulerOptions& options, double picojoules = 0, Executor executor = {});

  /// The next query, arriving at `arrival_ms`, not before the one before it; without it when that one is done.
  /// `planned`: see Scheduler::decide().
  Served serve(const Constraints& query, std::optional<double> arrival_ms = std::nullopt,
               std::optional<std::size_t> planned = std::nullopt);
  /// Of what was served so far.
  Summary summary() const;
  /// In PB now.
  std::size_t subgraph() const { return scheduler_.subgraph(); }

 private:
  std::optional<Taken> taken(const std::function<Taken(std::size_t)>& execute, std::size_t what,
                             const Taken& planned);
  void count(const Served& served);
  void count_bytes(const Served& served);

  const Table& table_;
  SchedulerOptions options_;
  double picojoules_;
  Executor executor_;
  Scheduler scheduler_;
  double free_ms_ = 0;  // the accelerator takes the next query
  double done_ms_ = 0;  // the last result
  Summary sums_;
  double latency_ = 0, accuracy_ = 0, hits_ = 0, needed_ = 0, held_ = 0;
  std::uint64_t in_time_ = 0, over_ = 0;
  std::vector<double> responses_;
  std::vector<float> decisions_;  // nanoseconds
  std::vector<double> hit_of_;    // of a row and a column
};

/// Serves a stream: best_static() and best_sequence() are asked where the options want them. `seen` is called with every query
/// that is done; it may return false to end the stream there.
Summary serve_stream(const Table& table, const SchedulerOptions& options, const Stream& stream,
                     double picojoules, const std::function<bool(const Served&)>& seen,
                     const Executor& executor = {});

}  // namespace kaiten::serve

#endif  // KAITEN_SERVE_SERVER_H
