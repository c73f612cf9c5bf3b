// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "swap/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "swap/search.h"

namespace kaiten::swap {

namespace {

constexpr std::size_t kStaggered = 8;  // values of b that are tried
constexpr int kSimulations = 4000;     // after so many no further set of maps is searched

template <class Wanted>
Plan plan_of(const Scenario& scenario, const Wanted& wanted) {
  Plan plan;
  for (int d = 0; d < int(scenario.training.size()); d++) {
    const Training& t = scenario.training[std::size_t(d)];
    plan.devices.emplace_back();
    for (int m = 0; m < int(t.maps.size()); m++) {
      if (can_swap(t, m) && wanted(d, m)) plan.devices.back().push_back(just_in_time(t, m));
    }
  }
  return plan;
}

Plan nothing(const Scenario& scenario) {
  return plan_of(scenario, [](int, int) { return false; });
}

// vDNN's trigger: one layer ahead.
Plan one_ahead(const Scenario& scenario, Plan plan) {
  for (std::size_t d = 0; d < plan.devices.size(); d++) {
    const int last = int(scenario.training[d].steps.size()) - 1;
    for (Swap& s : plan.devices[d]) s.trigger = std::min(last, s.trigger + 1);
  }
  return plan;
}

Choice simulated(const Scenario& scenario, Plan plan, std::string note = {}) {
  Result result = simulate(scenario, plan);
  return {std::move(plan), std::move(result), std::move(note)};
}

bool better(const Choice& a, const Choice& b) {
  return a.result.fits() && (!b.result.fits() || a.result.seconds < b.result.seconds);
}

Choice vdnn(const Scenario& scenario, bool convolutions) {
  const Plan plan = plan_of(scenario, [&](int d, int m) {
    return !convolutions || scenario.training[std::size_t(d)].maps[std::size_t(m)].feeds_convolution;
  });
  return simulated(scenario, one_ahead(scenario, plan));
}

Choice dynamic(const Scenario& scenario) {
  Choice best = simulated(scenario, nothing(scenario), "nothing swapped");
  for (bool convolutions : {true, false}) {
    Choice other = vdnn(scenario, convolutions);
    other.note = convolutions ? "inputs of convolutions" : "all maps";
    if (better(other, best)) best = std::move(other);
  }
  return best;
}

Plan staggered_plan(const Scenario& scenario, int b) {
  std::vector<std::vector<int>> layers;
  layers.reserve(scenario.training.size());
  for (int d = 0; d < int(scenario.training.size()); d++)
    layers.push_back(
        staggered_layers(scenario.machine, d, int(scenario.training[std::size_t(d)].steps.size()), b));
  return plan_of(scenario, [&](int d, int m) {
    const auto& own = layers[std::size_t(d)];
    return std::find(own.begin(), own.end(),
                     scenario.training[std::size_t(d)].maps[std::size_t(m)].producer) != own.end();
  });
}

int most_layers(const Scenario& scenario) {
  int most = 0;
  for (const Training& t : scenario.training) most = std::max(most, int(t.steps.size()));
  return most;
}

// The smallest b for which the batch fits and the next ones that do: plans just in time.
std::vector<Choice> staggered_choices(const Scenario& scenario, std::size_t most) {
  std::vector<Choice> out;
  const int a = most_layers(scenario);
  for (int b = 1; b <= a && out.size() < most; b++) {
    Choice c =
        simulated(scenario, staggered_plan(scenario, b), fmt::format("a = {}, b = {}, x = {}", a, b, a / b));
    if (c.result.fits()) out.push_back(std::move(c));
  }
  return out;
}

Choice staggered(const Scenario& scenario, bool search) {
  Choice plain = simulated(scenario, nothing(scenario), "b = 0");
  if (plain.result.fits()) return plain;
  Choice best = std::move(plain);
  int simulations = 0;
  for (Choice& c : staggered_choices(scenario, search ? kStaggered : 1)) {
    if (search && simulations < kSimulations)
      c = simulated(scenario, paper_triggers(scenario, c.plan, &simulations), c.note);
    if (better(c, best)) best = std::move(c);
  }
  return best;
}

// Maps in descending order of bytes and time away, as many as it takes.
Plan fewest(const Scenario& scenario) {
  std::vector<std::vector<int>> order;
  for (const Training& t : scenario.training) {
    std::vector<int> maps;
    for (int m = 0; m < int(t.maps.size()); m++) {
      if (can_swap(t, m)) maps.push_back(m);
    }
    std::stable_sort(maps.begin(), maps.end(), [&](int a, int b) {
      const HeldMap &x = t.maps[std::size_t(a)], &y = t.maps[std::size_t(b)];
      return x.bytes > y.bytes || (x.bytes == y.bytes && x.last_forward < y.last_forward);
    });
    order.push_back(maps);
  }
  for (std::size_t count = 1;; count++) {
    bool more = false;
    Plan plan = plan_of(scenario, [&](int d, int m) {
      const auto& maps = order[std::size_t(d)];
      more = more || count < maps.size();
      return std::find(maps.begin(), maps.begin() + std::ptrdiff_t(std::min(count, maps.size())), m) !=
             maps.begin() + std::ptrdiff_t(std::min(count, maps.size()));
    });
    if (!more || simulate(scenario, plan).fits()) return plan;
  }
}

Choice best(const Scenario& scenario, bool search) {
  Choice found = simulated(scenario, nothing(scenario), "nothing swapped");
  if (found.result.fits()) return found;
  std::vector<std::pair<Plan, std::string>> sets{{fewest(scenario), "the largest maps"}};
  for (Choice& c : staggered_choices(scenario, kStaggered))
    sets.emplace_back(std::move(c.plan), "staggered, " + c.note);
  sets.emplace_back(plan_of(scenario, [](int, int) { return true; }), "all maps");
  int simulations = 0;
  for (auto& [plan, note] : sets) {
    Choice other = simulated(scenario, plan, note);
    if (search && simulations < kSimulations && other.result.fits()) {
      const Found triggers = search_triggers(scenario, plan, {});
      simulations += triggers.simulations;
      other = simulated(scenario, triggers.plan,
                        fmt::format("{}; {} plans tried{}", note, triggers.simulations,
                                    triggers.exact ? ", all there are" : ""));
    }
    if (better(other, found)) found = std::move(other);
  }
  return found;
}

}  // namespace

const std::vector<std::pair<std::string, Policy>>& policies() {
  static const std::vector<std::pair<std::string, Policy>> all{
      {"none", Policy::kNone},          {"vdnn-all", Policy::kVdnnAll},
      {"vdnn-conv", Policy::kVdnnConv}, {"vdnn-dynamic", Policy::kVdnnDynamic},
      {"grappler", Policy::kGrappler},  {"staggered", Policy::kStaggered},
      {"best", Policy::kBest}};
  return all;
}

bool can_swap(const Training& t, int map) {
  const HeldMap& m = t.maps[std::size_t(map)];
  return m.first_backward >= 0 && m.first_backward + 1 < int(t.steps.size());
}

Swap just_in_time(const Training& t, int map) { return {map, t.maps[std::size_t(map)].first_backward}; }

std::vector<int> staggered_layers(const Machine& machine, int device, int layers, int b) {
  int i = 0;
  for (int d = 0; d < device; d++)
    i += machine.devices[std::size_t(d)].of_switch == machine.devices[std::size_t(device)].of_switch ? 1 : 0;
  const int x = std::max(1, layers / b);
  std::vector<int> out;
  for (int j = 0; j < b && i % x + j * x < layers; j++) out.push_back(i % x + j * x);
  return out;
}

Choice choose(const Scenario& scenario, Policy policy, bool search) {
  switch (policy) {
    case Policy::kNone:
      return simulated(scenario, nothing(scenario));
    case Policy::kVdnnAll:
      return vdnn(scenario, false);
    case Policy::kVdnnConv:
      return vdnn(scenario, true);
    case Policy::kVdnnDynamic:
      return dynamic(scenario);
    case Policy::kGrappler:
      return simulated(scenario, grappler_plan(scenario));
    case Policy::kStaggered:
      return staggered(scenario, search);
    case Policy::kBest:
      return best(scenario, search);
  }
  return {};
}

int largest_batch(const std::function<Scenario(int)>& scenario, Policy policy, int growth, int most) {
  int last = 0;
  for (int batch = growth; batch <= most && choose(scenario(batch), policy, false).result.fits();
       batch += growth)
    last = batch;
  return last;
}

}  // namespace kaiten::swap
