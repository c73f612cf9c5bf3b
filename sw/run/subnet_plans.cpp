// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/subnet_plans.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "compile/emit/cycle_model.h"

namespace kaiten {

namespace {

// Shares of the rows for PB that are tried, in eighths.
constexpr int kParts = 8;
constexpr int kTried[] = {8, 6, 4, 2, 1};

double total(const SubNetPlans::Plan& plan) {
  return std::accumulate(plan.costs.begin(), plan.costs.end(), 0.0,
                         [](double sum, const serve::Cost& c) { return sum + c.cycles; });
}

}  // namespace

std::int64_t announced_weights(const Program& program) {
  std::int64_t bytes = 0;
  for (const CommandMeta& m : program.meta) {
    if (m.kind == CommandMeta::Bytes::kWeights) bytes += m.read_bytes;
  }
  return bytes;
}

SubNetPlans::SubNetPlans(const supernet::Family& family, Graph whole, const Models& models, Options options)
    : family_(family),
      whole_(std::move(whole)),
      options_(std::move(options)),
      config_(preset(options_.config)),
      models_(family.subnets.size()) {
  if (!config_.resident) throw InputError("configuration '" + config_.name + "' keeps no SubGraph in PB");
  parallel(models_.size(), options_.threads, [&](std::size_t i) { models_[i] = models(family_.subnets[i]); });
  layers_ = resident_layers(whole_, config_);
  nothing_ = costed({});
}

Program SubNetPlans::timed(Program program) const {
  limit_bandwidth(program, options_.bytes_per_cycle);
  return program;
}

Program SubNetPlans::program(std::size_t subnet, const ResidentWeights& resident) const {
  CompileOptions options;
  options.cancellation_check = options_.cancellation_check;
  if (resident.rows > 0) options.resident = &resident;
  return timed(compile(models_[subnet], config_, options));
}

Program SubNetPlans::loader(const ResidentWeights& resident) const {
  return timed(load_resident(whole_, config_, resident));
}

serve::Cost SubNetPlans::cost(const Program& program) const {
  serve::Cost cost;
  cost.cycles = double(program.modelled_cycles);
  cost.weight_bytes = announced_weights(program);
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const CommandMeta& m = program.meta[i];
    switch (program.commands[i].queue()) {
      case Queue::kConv:
        cost.array_cycles += m.cycles;
        break;
      case Queue::kVector:
        cost.vector_cycles += m.cycles;
        break;
      case Queue::kLoad:
      case Queue::kStore:
        cost.bus_cycles += double(m.cycles);
    }
    if (m.kind == CommandMeta::Bytes::kActivations) cost.other_bytes += m.bytes_read() + m.bytes_written();
  }
  return cost;
}

SubNetPlans::Plan SubNetPlans::costed(ResidentWeights resident) const {
  Plan plan;
  plan.costs.resize(models_.size());
  // One thread: plans() has several at work already, each on a SubGraph.
  const int threads = resident.rows == 0 ? options_.threads : 1;
  parallel(models_.size(), threads, [&](std::size_t i) { plan.costs[i] = cost(program(i, resident)); });
  if (resident.rows > 0) plan.load_cycles = loader(resident).modelled_cycles;
  plan.resident = std::move(resident);
  return plan;
}

std::vector<ResidentWish> SubNetPlans::wishes(const supernet::Encoding& subgraph) const {
  const std::vector<supernet::Slot>& slots = family_.net.slots;
  std::vector<std::size_t> order(subgraph.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return slots[a].pixels < slots[b].pixels; });
  serve::Accelerator grain;
  grain.kp = config_.kp;
  grain.cp = config_.cp;
  std::vector<ResidentWish> all;
  for (const std::size_t i : order) {
    if (!layers_.contains(slots[i].name)) continue;
    const supernet::Extent e = serve::useful(grain, family_, i, subgraph[i]);
    if (e.kernels > 0) all.push_back({slots[i].name, e.kernels, e.channels});
  }
  return all;
}

ResidentWeights SubNetPlans::placed(std::span<const ResidentWish> wishes, int rows) const {
  return place_resident(whole_, config_, wishes, rows, NoRoom::kLeaveOut);
}

SubNetPlans::Plan SubNetPlans::restored(const supernet::Encoding& subgraph, Plan plan) const {
  if (plan.most_rows > 0) plan.resident = placed(wishes(subgraph), plan.most_rows);
  return plan;
}

bool SubNetPlans::never_slower(const Plan& plan) const {
  for (std::size_t i = 0; i < plan.costs.size(); i++) {
    if (plan.costs[i].cycles > nothing_.costs[i].cycles) return false;
  }
  return true;
}

SubNetPlans::Plan SubNetPlans::plan(const supernet::Encoding& subgraph) const {
  const std::vector<ResidentWish> all = wishes(subgraph);
  Plan best = nothing_;
  int rows = -1;  // of the plan before
  for (const int part : kTried) {
    const int most = options_.pb_rows * part / kParts;
    ResidentWeights resident = placed(all, most);
    if (resident.rows == 0) break;
    if (resident.rows == rows) continue;
    rows = resident.rows;
    Plan plan;
    try {
      plan = costed(std::move(resident));
    } catch (const InputError&) {
      continue;  // what is left of WB does not hold a tile of every layer
    }
    plan.most_rows = most;
    if (!never_slower(plan)) continue;
    if (total(plan) >= total(best)) {
      if (best.resident.rows > 0) break;  // smaller parts save less
      continue;
    }
    best = std::move(plan);
  }
  return best;
}

std::vector<SubNetPlans::Plan> SubNetPlans::plans(std::span<const supernet::Encoding> subgraphs) const {
  std::vector<Plan> all(subgraphs.size());
  parallel(all.size(), options_.threads, [&](std::size_t i) { all[i] = plan(subgraphs[i]); });
  return all;
}

}  // namespace kaiten
