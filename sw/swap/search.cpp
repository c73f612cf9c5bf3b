// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "swap/search.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace kaiten::swap {

namespace {

constexpr double kSame = 1e-9;  // relative: times that rounding alone tells apart

struct Place {
  std::size_t device = 0, swap = 0;
};

int need_of(const Scenario& scenario, const Plan& plan, const Place& p) {
  return scenario.training[p.device].maps[std::size_t(plan.devices[p.device][p.swap].map)].first_backward;
}

// In order of need, device by device.
std::vector<Place> places(const Scenario& scenario, const Plan& plan) {
  std::vector<Place> out;
  for (std::size_t d = 0; d < plan.devices.size(); d++) {
    for (std::size_t s = 0; s < plan.devices[d].size(); s++) out.push_back({d, s});
  }
  std::stable_sort(out.begin(), out.end(), [&](const Place& a, const Place& b) {
    return need_of(scenario, plan, a) > need_of(scenario, plan, b);
  });
  return out;
}

int last_layer(const Scenario& scenario, std::size_t device) {
  return int(scenario.training[device].steps.size()) - 1;
}

// From a layer that is good towards another, the last that is before one is not: layer by layer, over long ways by halves.
template <class Good>
int last_good(int from, int to, const Good& good) {
  constexpr int kLong = 32;
  const int way = to < from ? -1 : 1;
  if (std::abs(to - from) <= kLong) {
    while (from != to && good(from + way)) from += way;
    return from;
  }
  int bad = to + way;
  while (std::abs(bad - from) > 1) {
    const int middle = from + (bad - from) / 2;
    (good(middle) ? from : bad) = middle;
  }
  return from;
}

class Search {
 public:
  Search(const Scenario& scenario, const SearchOptions& options)
      : setup_(scenario), o_(options), least_(least_seconds(scenario)), offsets_(start_offsets(scenario)) {}

  Found run(const Plan& plan) {
    const std::vector<Place> order = places(setup_, plan);
    Plan start = plan;
    start.offsets.assign(plan.devices.size(), 0);
    for (const Place& p : order) trigger(start, p) = need_of(setup_, plan, p);
    descend(start, order);
    if (found_.seconds < std::numeric_limits<double>::infinity()) {
      Plan paper = paper_triggers(setup_, start);
      paper.offsets = start.offsets;
      descend(paper, order);
    }
    for (const Place& p : order)
      trigger(start, p) = std::min(last_layer(setup_, p.device), trigger(start, p) + 1);
    descend(start, order);
    double plans = std::pow(double(offsets_.size()), double(plan.devices.size() - 1));
    for (const Place& p : order) plans *= last_layer(setup_, p.device) - need_of(setup_, plan, p) + 1;
    if (!found_.exact && plans <= o_.exhaustive) {
      all(start, order, 0);
      found_.exact = true;
    }
    return found_;
  }

 private:
  static int& trigger(Plan& plan, const Place& p) { return plan.devices[p.device][p.swap].trigger; }

  double seconds(const Plan& plan) {
    const Result r = simulate(setup_, plan);
    found_.simulations++;
    const double s = r.fits() ? r.seconds : std::numeric_limits<double>::infinity();
    if (s < found_.seconds) {
      found_.seconds = s;
      found_.plan = plan;
      found_.exact = s <= least_ * (1 + kSame);
    }
    return s;
  }
  bool over() const { return found_.exact || found_.simulations >= o_.budget; }

  // Takes `value` to the one of `values` that is fastest; true if another than before.
  template <class T>
  bool improve(Plan& plan, T& value, const std::vector<T>& values, double& now) {
    const T before = value;
    T best = before;
    for (const T& v : values) {
      if (v == before || over()) continue;
      value = v;
      const double s = seconds(plan);
      if (s < now) {
        now = s;
        best = v;
      }
    }
    value = best;
    return best != before;
  }

  void descend(Plan plan, const std::vector<Place>& order) {
    double now = seconds(plan);
    for (bool better = true; better && !over();) {
      better = false;
      for (const Place& p : order) {
        std::vector<int> layers;
        for (int l = need_of(setup_, plan, p); l <= last_layer(setup_, p.device); l++) layers.push_back(l);
        better = improve(plan, trigger(plan, p), layers, now) || better;
      }
      for (std::size_t d = 1; d < plan.devices.size(); d++)
        better = improve(plan, plan.offsets[d], offsets_, now) || better;
    }
  }

  void all(Plan& plan, const std::vector<Place>& order, std::size_t at) {
    if (found_.exact) return;
    if (at < order.size()) {
      const Place& p = order[at];
      for (int l = need_of(setup_, plan, p); l <= last_layer(setup_, p.device); l++) {
        trigger(plan, p) = l;
        all(plan, order, at + 1);
      }
      return;
    }
    const std::size_t device = at - order.size() + 1;
    if (device >= plan.devices.size()) {
      seconds(plan);
      return;
    }
    for (double o : offsets_) {
      plan.offsets[device] = o;
      all(plan, order, at + 1);
    }
  }

  const Scenario& setup_;
  const SearchOptions& o_;
  double least_;
  std::vector<double> offsets_;
  Found found_{{}, std::numeric_limits<double>::infinity(), 0, false};
};

}  // namespace

Plan paper_triggers(const Scenario& scenario, Plan plan, int* simulations) {
  const std::vector<Place> order = places(scenario, plan);
  const auto run = [&] {
    if (simulations != nullptr) ++*simulations;
    return simulate(scenario, plan);
  };
  for (const Place& p : order) {
    int& trigger = plan.devices[p.device][p.swap].trigger;
    trigger = last_good(trigger, last_layer(scenario, p.device), [&](int layer) {
      trigger = layer;
      return run().fits();
    });
  }
  const double most = run().seconds * (1 + kSame);
  for (const Place& p : order) {
    int& trigger = plan.devices[p.device][p.swap].trigger;
    trigger = last_good(trigger, need_of(scenario, plan, p), [&](int layer) {
      trigger = layer;
      const Result later = run();
      return later.fits() && later.seconds <= most;
    });
  }
  return plan;
}

std::vector<double> start_offsets(const Scenario& scenario) {
  std::vector<double> out{0};
  const std::vector<Step>& steps = scenario.training.front().steps;
  for (std::size_t i = 0; i < 2 && i < steps.size(); i++)
    out.push_back(out.back() + steps[i].forward_seconds);
  return out;
}

double least_seconds(const Scenario& scenario) {
  double least = 0;
  for (std::size_t d = 0; d < scenario.training.size(); d++) {
    const Training& t = scenario.training[d];
    double own = 0;
    for (const Step& s : t.steps) own += s.forward_seconds + s.backward_seconds;
    if (scenario.sum == Sum::kHost && t.weight_bytes > 0) {
      const double n = scenario.independent ? 1 : double(scenario.training.size());
      own += (n + 2) * t.weight_bytes / scenario.machine.host.sum_bytes_per_second +
             t.weight_bytes / scenario.machine.devices[d].link_bytes_per_second;
    }
    least = std::max(least, own);
  }
  return least;
}

Found search_triggers(const Scenario& scenario, const Plan& plan, const SearchOptions& options) {
  return Search(scenario, options).run(plan);
}

}  // namespace kaiten::swap
