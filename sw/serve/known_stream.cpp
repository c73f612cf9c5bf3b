// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What would have been best for a stream that is known.

#include <algorithm>

#include "base/error.h"
#include "serve/scheduler.h"

namespace kaiten::serve {

namespace {

// What serving costs: milliseconds; under the latency policy a hundredth of a point of accuracy outweighs any latency.
class Price {
 public:
  Price(const Table& table, const SchedulerOptions& options)
      : table_(table), options_(planned(options)), scheduler_(table, options_) {
    for (const double ms : table.latency_ms) longest_ = std::max(longest_, ms);
  }

  double operator()(const Constraints& query, std::size_t column) const {
    const Decision d = scheduler_.choose(query, column);
    if (!d.subnet) return 0;
    const double ms = table_.latency(*d.subnet, column);
    if (options_.policy == Policy::kAccuracy) return ms;
    constexpr double kHundredths = 100;
    return kHundredths * (100 - table_.subnets[*d.subnet].accuracy) * longest_ + ms;
  }

 private:
  static SchedulerOptions planned(SchedulerOptions o) {
    o.caching = Caching::kPlanned;
    return o;
  }

  const Table& table_;
  SchedulerOptions options_;
  Scheduler scheduler_;
  double longest_ = 0;
};

}  // namespace

std::size_t best_static(const Table& table, const SchedulerOptions& options,
                        const std::vector<Constraints>& stream) {
  const Price price(table, options);
  std::size_t best = 0;
  double least = 0;
  for (std::size_t column = 0; column < table.subgraphs.size(); column++) {
    double sum = 0;
    for (const Constraints& query : stream) sum += price(query, column);
    if (column == 0 || sum < least) {
      least = sum;
      best = column;
    }
  }
  return best;
}

KnownPlan best_sequence(const Table& table, const SchedulerOptions& options,
                        const std::vector<Constraints>& stream) {
  const Price price(table, options);
  const std::size_t columns = table.subgraphs.size(), q = std::size_t(options.q),
                    blocks = (stream.size() + q - 1) / q;
  constexpr std::uint32_t kStay = 0xffffffff;
  constexpr std::size_t kMostSteps = std::size_t(1) << 28;  // a gibibyte
  if (blocks > kMostSteps / columns) {
    throw InputError("the best sequence of SubGraphs: limit: " + std::to_string(kMostSteps) +
                     " choices times columns, found " + std::to_string(blocks) + " times " +
                     std::to_string(columns));
  }
  // from[b * columns + j]: the column before block b when it is served with column j.
  std::vector<std::uint32_t> from(blocks * columns, kStay);
  std::vector<double> cost(columns, 0);
  for (std::size_t block = 0; block < blocks; block++) {
    const auto least = std::size_t(std::min_element(cost.begin(), cost.end()) - cost.begin());
    const double before = cost[least];
    for (std::size_t j = 0; j < columns; j++) {
      const double loaded = before + table.subgraphs[j].load_ms;
      if (block > 0 && loaded < cost[j]) {
        cost[j] = loaded;
        from[block * columns + j] = std::uint32_t(least);
      }
      const std::size_t end = std::min(stream.size(), (block + 1) * q);
      for (std::size_t i = block * q; i < end; i++) cost[j] += price(stream[i], j);
    }
    if (block == 0 && options.first) {  // PB holds what it holds
      const double served = cost[*options.first];
      std::fill(cost.begin(), cost.end(), 1e300);
      cost[*options.first] = served;
    }
  }
  KnownPlan plan;
  std::vector<std::size_t>& sequence = plan.after;
  sequence.resize(stream.size());
  auto column = std::size_t(std::min_element(cost.begin(), cost.end()) - cost.begin());
  for (std::size_t block = blocks; block-- > 0;) {
    // After each of the block's queries but the last the column stays; what follows the last was set by the block after it.
    for (std::size_t i = block * q; i < std::min(stream.size(), (block + 1) * q) - 1; i++)
      sequence[i] = column;
    if (block + 1 == blocks) sequence.back() = column;
    const std::uint32_t other = from[block * columns + column];
    if (block > 0) {
      sequence[block * q - 1] = column;
      if (other != kStay) column = other;
    }
  }
  plan.first = column;
  return plan;
}

}  // namespace kaiten::serve
