// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "serve/server.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace kaiten::serve {

namespace {

using Clock = std::chrono::steady_clock;

// |min(s, g)| / |g|, 0 where g is nothing: the paper's hit ratio.
std::vector<double> hits(const Table& t) {
  std::vector<double> out;
  for (const TableSubNet& s : t.subnets) {
    for (const TableSubGraph& g : t.subgraphs) {
      double both = 0, all = 0;
      for (std::size_t i = 0; i < g.code.size(); i++) {
        both += std::pow(std::min(s.code[i], g.code[i]), 2);
        all += std::pow(g.code[i], 2);
      }
      out.push_back(all > 0 ? std::sqrt(both / all) : 0);
    }
  }
  return out;
}

template <class T>
Spread spread_of(std::vector<T> values) {
  Spread s;
  if (values.empty()) return s;
  double sum = 0;
  for (const T v : values) sum += double(v);
  s.mean = sum / double(values.size());
  const auto rank = [&](double share) {
    const auto at = values.begin() + std::ptrdiff_t(std::ceil(share * double(values.size())) - 1);
    std::nth_element(values.begin(), at, values.end());
    return double(*at);
  };
  s.p50 = rank(0.5);
  s.p90 = rank(0.9);
  s.p99 = rank(0.99);
  s.max = double(*std::max_element(values.begin(), values.end()));
  return s;
}

}  // namespace

Server::Server(const Table& table, const SchedulerOptions& options, double picojoules, Executor executor)
    : table_(table),
      options_(options),
      picojoules_(picojoules),
      executor_(std::move(executor)),
      scheduler_(table, options) {
  if (table.coded()) hit_of_ = hits(table);
  if (executor_.load) taken(executor_.load, scheduler_.subgraph(), {});
}

// Nothing where the hardware ended it with an error.
std::optional<Taken> Server::taken(const std::function<Taken(std::size_t)>& execute, std::size_t what,
                                   const Taken& planned) {
  if (!execute) return planned;
  try {
    return execute(what);
  } catch (const DeviceError& e) {
    if (sums_.failure.empty()) sums_.failure = e.what();
    return std::nullopt;
  }
}

Served Server::serve(const Constraints& query, std::optional<double> arrival_ms,
                     std::optional<std::size_t> planned) {
  const Clock::time_point before = Clock::now();
  const Decision d = scheduler_.decide(query, planned);
  decisions_.push_back(std::chrono::duration<float, std::nano>(Clock::now() - before).count());

  Served s;
  s.asked = query;
  s.subnet = d.subnet;
  s.subgraph = d.subgraph;
  s.next = d.next;
  s.arrival_ms = arrival_ms.value_or(done_ms_);
  s.start_ms = s.end_ms = std::max(s.arrival_ms, free_ms_);
  if (d.subnet) {
    const Taken planned{table_.latency(*d.subnet, d.subgraph), table_.weights(*d.subnet, d.subgraph)};
    const std::optional<Taken> run = taken(executor_.run, *d.subnet, planned);
    s.failed = !run;
    s.end_ms += run.value_or(planned).ms;
    if (run) s.weight_bytes = run->weight_bytes;
  }
  if (d.next != d.subgraph) {
    const TableSubGraph& next = table_.subgraphs[d.next];
    const Taken planned{next.load_ms, next.bytes};
    const std::optional<Taken> load = taken(executor_.load, d.next, planned);
    s.load_ms = load.value_or(planned).ms;
    if (load) s.load_bytes = load->weight_bytes;
  }
  const bool late = s.response_ms() > query.latency_ms;
  s.violated = !d.subnet || s.failed || (options_.policy == Policy::kAccuracy ? !d.feasible : late);
  if (d.subnet) done_ms_ = s.end_ms;
  free_ms_ = s.end_ms + s.load_ms;
  count(s);
  return s;
}

void Server::count(const Served& s) {
  sums_.queries++;
  sums_.violated += s.violated ? 1 : 0;
  if (s.next != s.subgraph) {
    sums_.loads++;
    sums_.load_bytes += s.load_bytes;
  }
  sums_.failed += s.failed ? 1 : 0;
  if (!s.subnet || s.failed) return;
  sums_.served++;
  const double accuracy = table_.subnets[*s.subnet].accuracy, response = s.response_ms();
  if (s.violated) {
    const double by =
        options_.policy == Policy::kAccuracy ? s.asked.accuracy - accuracy : response - s.asked.latency_ms;
    sums_.violation_mean += by;
    sums_.violation_max = std::max(sums_.violation_max, by);
    over_++;
  }
  in_time_ += response <= s.asked.latency_ms ? 1 : 0;
  latency_ += s.end_ms - s.start_ms;
  accuracy_ += accuracy;
  responses_.push_back(response);
  count_bytes(s);
}

void Server::count_bytes(const Served& s) {
  const double read = s.weight_bytes;
  sums_.weight_bytes += read;
  if (const auto nothing = table_.nothing()) {
    needed_ += table_.weights(*s.subnet, *nothing);
    held_ += table_.weights(*s.subnet, *nothing) - read;
  }
  if (!table_.other_bytes.empty()) sums_.other_bytes += table_.other_bytes[*s.subnet];
  if (!hit_of_.empty()) hits_ += hit_of_[*s.subnet * table_.subgraphs.size() + s.subgraph];
}

Summary Server::summary() const {
  Summary s = sums_;
  const double served = std::max<double>(1, double(s.served));
  s.latency_ms = spread_of(responses_);
  s.decision_ns = spread_of(decisions_);
  s.violation_mean = over_ > 0 ? s.violation_mean / double(over_) : 0;
  s.service_ms_mean = latency_ / served;
  s.accuracy_mean = accuracy_ / served;
  s.slo_attainment = s.queries > 0 ? double(in_time_) / double(s.queries) : 0;
  if (!hit_of_.empty()) s.hit_ratio = hits_ / served;
  s.byte_hit_ratio = needed_ > 0 ? held_ / needed_ : 0;
  s.weight_bytes += s.load_bytes;
  s.energy_millijoules = (s.weight_bytes + s.other_bytes) * picojoules_ * 1e-9;
  s.end_ms = done_ms_;
  return s;
}

Summary serve_stream(const Table& table, const SchedulerOptions& options, const Stream& stream,
                     double picojoules, const std::function<bool(const Served&)>& seen,
                     const Executor& executor) {
  SchedulerOptions o = options;
  KnownPlan plan;
  if (o.caching == Caching::kStatic) o.first = best_static(table, o, stream.constraints);
  if (o.caching == Caching::kPlanned) {
    plan = best_sequence(table, o, stream.constraints);
    o.first = plan.first;
  }
  Server server(table, o, picojoules, executor);
  for (std::size_t i = 0; i < stream.size(); i++) {
    const Served s = server.serve(stream.constraints[i],
                                  stream.closed ? std::nullopt : std::optional(stream.arrival_ms[i]),
                                  plan.after.empty() ? std::nullopt : std::optional(plan.after[i]));
    if (!seen(s)) break;
  }
  return server.summary();
}

}  // namespace kaiten::serve
