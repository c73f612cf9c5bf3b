// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Streams of queries: read from CSV, replayed from a trace of functions, or drawn at random. The same seed gives the same
/// stream on every machine.
#ifndef KAITEN_SERVE_STREAM_H
#define KAITEN_SERVE_STREAM_H

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "serve/scheduler.h"

namespace kaiten::serve {

/// Queries in the order they arrive in.
struct Stream {
  std::string origin;   ///< for reports
  bool closed = false;  ///< each query arrives when the one before it is done; arrival_ms is empty then
  std::vector<double> arrival_ms;        ///< from 0 on, never falling
  std::vector<Constraints> constraints;  ///< one a query

  std::size_t size() const { return constraints.size(); }  ///< queries
};

/// How arrivals are drawn.
enum class Arrivals {
  kUniform,  ///< none: a single stream, each query when the one before it is done
  kPoisson,  ///< independent of each other
  kBursty,   ///< gaps of a gamma distribution of shape 1/4: most are short, few are long
  kDiurnal,  ///< Poisson whose rate swings by 80 % about its mean, once in 24 hours, least at the start
};

/// How a stream is drawn.
struct StreamOptions {
  Arrivals arrivals = Arrivals::kUniform;  ///< when queries come
  std::size_t queries = 0;                 ///< how many
  double rate = 0;                         ///< queries a second in the mean, above 0; not for kUniform
  Constraints low;                         ///< each constraint is drawn uniformly from here
  Constraints high;                        ///< to here
  double hold = 1;         ///< queries for which constraints stay in the mean, at least 1: locality
  std::uint64_t seed = 1;  ///< of all that is drawn
};

/// The constraints that the table can meet in part: from its least to its largest accuracy and latency.
void range_of(const Table& table, Constraints& low, Constraints& high);

/// Draws a stream.
Stream draw_stream(const StreamOptions& options);

/// CSV with a heading of arrival_ms, accuracy and latency_ms in any order; without arrival_ms it is a single stream, without
/// accuracy or latency_ms that is no constraint. Or the Azure Functions trace of 2021 (heading app,func,end_timestamp,
/// duration; seconds): a query arrives at end_timestamp - duration, the first at 0, in the order of arrival, and its
/// constraints are drawn as `drawn` says. Throws InputError with file and line for anything else: unknown columns, numbers
/// out of range, falling arrivals, no queries.
Stream stream_of_csv(std::string_view text, const std::string& file, const StreamOptions& drawn);

}  // namespace kaiten::serve

#endif  // KAITEN_SERVE_STREAM_H
