// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "serve/scheduler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/error.h"

namespace kaiten::serve {

namespace {

constexpr double kNanoseconds = 1e6;  // in a millisecond

bool reads_codes(Caching c) { return c == Caching::kNearest || c == Caching::kPerQuery; }
bool keeps_sums(Caching c) { return reads_codes(c) || c == Caching::kSaved; }

std::size_t first_column(const Table& t, const SchedulerOptions& o) {
  const std::optional<std::size_t> nothing = t.nothing();
  if (o.caching == Caching::kNone) return *nothing;
  if (o.first) return *o.first;
  if (t.subgraphs.size() == 1) return 0;
  // Any column but that of the empty PB.
  std::mt19937_64 random(o.seed);
  std::size_t column = random() % (t.subgraphs.size() - (nothing ? 1 : 0));
  if (nothing && column >= *nothing) column++;
  return column;
}

}  // namespace

Scheduler::Scheduler(const Table& table, const SchedulerOptions& options) : table_(table), options_(options) {
  if (options_.caching == Caching::kPerQuery) options_.q = options_.window = 1;
  if (options_.window == 0) options_.window = options_.q;
  if (options_.q < 1 || options_.window < 1)
    throw InputError("queries between decisions, and their window: limit: at least 1");
  if ((options_.caching == Caching::kNone || options_.caching == Caching::kUnaware) && !table.nothing())
    throw InputError("the table has no SubGraph '" + std::string(Table::kNothing) +
                     "', which this scheduler reads");
  if (reads_codes(options_.caching) && !table.coded())
    throw InputError("the table has no codes of SubNets, to which this scheduler finds the nearest SubGraph");
  if (options_.first && *options_.first >= table.subgraphs.size())
    throw InputError("the table has no such first SubGraph");
  subgraph_ = first_column(table, options_);
  index_columns();
  if (keeps_sums(options_.caching)) index_distances();
}

// Rows by rising limit, each with the best row of those that a query with this limit may take.
void Scheduler::index_columns() {
  const std::size_t rows = table_.subnets.size(), columns = table_.subgraphs.size();
  const bool by_accuracy = options_.policy == Policy::kAccuracy;
  choices_.resize(rows * columns);
  std::vector<std::uint32_t> order(rows);
  for (std::size_t column = 0; column < columns; column++) {
    const auto accuracy = [&](std::uint32_t row) { return table_.subnets[row].accuracy; };
    const auto latency = [&](std::uint32_t row) { return table_.latency(row, column); };
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
      if (accuracy(a) != accuracy(b) && (!by_accuracy || latency(a) == latency(b)))
        return accuracy(a) > accuracy(b);
      return latency(a) != latency(b) ? latency(a) < latency(b) : a < b;
    };
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return by_accuracy ? accuracy(a) < accuracy(b) : latency(a) < latency(b);
    });
    Choice* const choices = &choices_[column * rows];
    for (std::size_t n = 0; n < rows; n++) {
      // At most a latency: those before; at least an accuracy: those behind, so from the end.
      const std::size_t i = by_accuracy ? rows - 1 - n : n;
      choices[i] = {by_accuracy ? accuracy(order[i]) : latency(order[i]), order[i]};
      if (n == 0) continue;
      const std::uint32_t other = choices[by_accuracy ? i + 1 : i - 1].subnet;
      if (better(other, order[i])) choices[i].subnet = other;
    }
  }
}

void Scheduler::index_distances() {
  const std::size_t rows = table_.subnets.size(), columns = table_.subgraphs.size();
  scores_.resize(rows * columns);
  constant_.assign(columns, 0);
  sums_.assign(columns, 0);
  window_.assign(std::size_t(options_.window), 0);
  for (std::size_t column = 0; column < columns; column++) {
    const std::vector<int>& g = table_.subgraphs[column].code;
    for (const int n : g) constant_[column] += std::int64_t(n) * n;
    if (options_.caching == Caching::kSaved)
      constant_[column] = std::llround(table_.subgraphs[column].load_ms * kNanoseconds);
    for (std::size_t row = 0; row < rows; row++) {
      std::int64_t& score = scores_[row * columns + column];
      if (options_.caching == Caching::kSaved) {
        score = std::llround(table_.latency(row, column) * kNanoseconds);
        continue;
      }
      const std::vector<int>& s = table_.subnets[row].code;
      for (std::size_t i = 0; i < g.size(); i++) score -= 2 * std::int64_t(s[i]) * g[i];
    }
  }
}

Decision Scheduler::choose(const Constraints& query, std::size_t subgraph) const {
  const std::size_t rows = table_.subnets.size();
  const Choice* const first = &choices_[subgraph * rows];
  const Choice* const last = first + rows;
  Decision d{.subnet = std::nullopt, .subgraph = subgraph, .next = subgraph, .feasible = true};
  if (options_.policy == Policy::kAccuracy) {
    const double highest = (last - 1)->limit;
    d.feasible = query.accuracy <= highest;
    const Choice* const found =
        std::lower_bound(first, last, std::min(query.accuracy, highest),
                         [](const Choice& c, double accuracy) { return c.limit < accuracy; });
    d.subnet = found->subnet;
  } else {
    const double lowest = first->limit;
    d.feasible = query.latency_ms >= lowest;
    const Choice* const found =
        std::upper_bound(first, last, std::max(query.latency_ms, lowest),
                         [](double latency, const Choice& c) { return latency < c.limit; });
    d.subnet = (found - 1)->subnet;
  }
  if (!d.feasible && options_.infeasible == Infeasible::kDrop) d.subnet.reset();
  return d;
}

void Scheduler::remember(std::size_t subnet) {
  const std::size_t columns = sums_.size();
  const std::int64_t* const in = &scores_[subnet * columns];
  if (held_ < window_.size()) {
    for (std::size_t j = 0; j < columns; j++) sums_[j] += in[j];
    held_++;
  } else {
    const std::int64_t* const out = &scores_[window_[at_] * columns];
    if (in != out) {
      for (std::size_t j = 0; j < columns; j++) sums_[j] += in[j] - out[j];
    }
  }
  window_[at_] = std::uint32_t(subnet);
  at_ = at_ + 1 == window_.size() ? 0 : at_ + 1;
}

// The least sum; ties are broken by the column in PB, then by the first.
std::size_t Scheduler::best_column() const {
  const bool saved = options_.caching == Caching::kSaved;
  const std::int64_t times = saved ? 1 : std::int64_t(held_);
  std::size_t best = subgraph_;
  std::int64_t least = sums_[subgraph_] + (saved ? 0 : times * constant_[subgraph_]);  // it is loaded
  for (std::size_t j = 0; j < sums_.size(); j++) {
    const std::int64_t value = sums_[j] + times * constant_[j];
    if (value < least) {
      least = value;
      best = j;
    }
  }
  return best;
}

Decision Scheduler::decide(const Constraints& query, std::optional<std::size_t> planned) {
  Decision d = choose(query, options_.caching == Caching::kUnaware ? *table_.nothing() : subgraph_);
  d.subgraph = subgraph_;
  if (d.subnet && keeps_sums(options_.caching)) {
    remember(*d.subnet);
    if (++since_ >= options_.q) {
      since_ = 0;
      subgraph_ = best_column();
    }
  }
  if (planned) subgraph_ = *planned;
  d.next = subgraph_;
  return d;
}

}  // namespace kaiten::serve
