// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/serve_subnets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/ranks.h"
#include "cli/terminal.h"
#include "generate/networks.h"
#include "import/import.h"

namespace kaiten::cli {

namespace {

// The largest SubNets: every other's weights that PB can hold are a part of theirs, for all sizes of image.
constexpr std::pair<const char*, const char*> kWhole[] = {
    {"ofa-resnet50", "22222:222222:2222,2222,222222,2222"},
    {"ofa-mobilenetv3", "44444:66666666666666666666:7"},
};
constexpr int kWholeImage = 64;

Graph model(const std::string& supernet, const std::string& text, int image) {
  const std::string name = supernet + "/" + text;
  return require_graph(import_tflite(generate::make_network(name, image, 1), name));
}

Graph whole(const std::string& supernet) {
  require_models(supernet);
  const auto* found = std::find_if(std::begin(kWhole), std::end(kWhole),
                                   [&](const auto& entry) { return entry.first == supernet; });
  return model(supernet, found->second, kWholeImage);
}

// A plan for other ranks, and back, without its weights, which SubNetPlans::restored() places again.
std::string text_of(const SubNetPlans::Plan& plan) {
  auto costs = nlohmann::json::array();
  for (const serve::Cost& c : plan.costs)
    costs.push_back({c.array_cycles, c.vector_cycles, c.bus_cycles, c.cycles, c.weight_bytes, c.other_bytes});
  return nlohmann::json{plan.most_rows, plan.load_cycles, costs}.dump();
}

SubNetPlans::Plan plan_of(const std::string& text) {
  const auto j = nlohmann::json::parse(text);
  SubNetPlans::Plan plan;
  plan.most_rows = j[0];
  plan.load_cycles = j[1];
  for (const auto& c : j[2]) plan.costs.push_back({c[0], c[1], c[2], c[3], c[4], c[5]});
  return plan;
}

}  // namespace

void require_models(const std::string& supernet) {
  const bool known = std::any_of(std::begin(kWhole), std::end(kWhole),
                                 [&](const auto& entry) { return entry.first == supernet; });
  if (!known)
    throw InputError(
        "--rtl, --costs compiler: limit: SuperNets ofa-resnet50 and ofa-mobilenetv3, whose models kaiten "
        "makes itself, found: " +
        supernet);
}

ServedSubNets::ServedSubNets(Options options, std::vector<serve::Candidate> candidates,
                             const serve::Accelerator& a)
    : options_(std::move(options)),
      family_(supernet::family(options_.supernet)),
      candidates_(std::move(candidates)),
      accelerator_(a),
      plans_(family_, whole(options_.supernet),
             [this](const supernet::SubNet& s) { return model(options_.supernet, s.text, options_.image); },
             {.config = a.name,
              .pb_rows = int(a.pb_bytes / (9 * a.cp)),
              .bytes_per_cycle = a.bus_bytes,
              .threads = threads_of_rank(),
              .cancellation_check = check_interrupt}) {}

std::vector<SubNetPlans::Plan> ServedSubNets::shared_plans(
    const std::vector<supernet::Encoding>& subgraphs) const {
  cluster::Exchange* const ranks = other_ranks();
  if (ranks == nullptr) return plans_.plans(subgraphs);
  const std::vector<std::string> told =
      shared_by(*ranks, subgraphs.size(), [&](const std::vector<std::size_t>& places) {
        std::vector<std::string> texts;
        for (const SubNetPlans::Plan& plan : plans_.plans(picked(subgraphs, places)))
          texts.push_back(text_of(plan));
        return texts;
      });
  std::vector<SubNetPlans::Plan> plans;
  for (std::size_t i = 0; i < told.size(); i++)
    plans.push_back(plans_.restored(subgraphs[i], plan_of(told[i])));
  return plans;
}

serve::Table ServedSubNets::table() {
  std::vector<supernet::Encoding> subgraphs;
  for (const serve::Candidate& c : candidates_) subgraphs.push_back(c.encoding);
  std::vector<SubNetPlans::Plan> plans = shared_plans(subgraphs);
  std::map<supernet::Encoding, const SubNetPlans::Plan*> by_subgraph = {
      {supernet::Encoding(family_.net.slots.size()), &plans_.nothing()}};
  for (std::size_t i = 0; i < plans.size(); i++) by_subgraph.emplace(subgraphs[i], &plans[i]);
  std::map<supernet::Encoding, std::size_t> by_subnet;
  for (std::size_t i = 0; i < family_.subnets.size(); i++) by_subnet.emplace(family_.subnets[i].encoding, i);
  const serve::Costs costs = [&](const supernet::Encoding& subnet, const supernet::Encoding& subgraph) {
    return by_subgraph.at(subgraph)->costs[by_subnet.at(subnet)];
  };
  const std::string origin = fmt::format(
      "compiler's cycle model of {} at {:g} MHz, {:g} bytes a cycle, PB of at most {} bytes, images of {} "
      "pixels",
      accelerator_.name, accelerator_.megahertz, accelerator_.bus_bytes, accelerator_.pb_bytes,
      options_.image);
  serve::Table table = serve::fill(family_, candidates_, accelerator_, costs, origin);
  for (std::size_t i = 0; i < plans.size(); i++) {
    table.subgraphs[i + 1].load_ms = double(plans[i].load_cycles) / accelerator_.megahertz / 1e3;
    table.subgraphs[i + 1].bytes = double(plans[i].resident.bytes());
    planned_.emplace(i + 1, std::move(plans[i]));
  }
  return table;
}

const SubNetPlans::Plan& ServedSubNets::plan(std::size_t column) {
  if (column == 0) return plans_.nothing();
  const auto known = planned_.find(column);
  if (known != planned_.end()) return known->second;
  return planned_.emplace(column, plans_.plan(candidates_[column - 1].encoding)).first->second;
}

SubNetRunner& ServedSubNets::runner() {
  if (!runner_) {
    runner_ = std::make_unique<SubNetRunner>(
        plans_, SubNetRunner::Options{.bytes_per_cycle = accelerator_.bus_bytes, .seed = options_.seed});
  }
  return *runner_;
}

serve::Taken ServedSubNets::taken(const SubNetRunner::Result& r) {
  report_.exact = report_.exact && r.exact;
  report_.bytes_equal_predicted = report_.bytes_equal_predicted && r.weight_bytes == r.predicted_bytes;
  report_.cycles += r.cycles;
  return {double(r.cycles) / accelerator_.megahertz / 1e3, double(r.weight_bytes)};
}

serve::Executor ServedSubNets::executor() {
  return {[this](std::size_t subnet) { return taken(runner().run(subnet)); },
          [this](std::size_t column) { return taken(runner().load(plan(column).resident)); }};
}

ServeReport::SpotCheck ServedSubNets::spot_check(std::size_t entries) {
  const std::size_t columns = candidates_.size() + 1, rows = family_.subnets.size();
  std::vector<std::size_t> all(columns * rows);  // column by column: each SubGraph is loaded once
  for (std::size_t i = 0; i < all.size(); i++) all[i] = i;
  std::mt19937_64 random(options_.seed);
  std::vector<std::size_t> some;
  std::sample(all.begin(), all.end(), std::back_inserter(some), entries, random);
  ServeReport::SpotCheck check;
  ProgressLine progress;
  std::size_t loaded = columns;
  for (const std::size_t entry : some) {
    check_interrupt();
    const std::size_t column = entry / rows, row = entry % rows;
    if (column != loaded) taken(runner().load(plan(column).resident));
    loaded = column;
    const SubNetRunner::Result result = runner().run(row);
    taken(result);
    const double error = plan(column).costs[row].cycles / double(result.cycles) - 1;
    if (std::abs(error) > std::abs(check.worst)) check.worst = error;
    check.mean += std::abs(error) / double(some.size());
    check.entries++;
    progress.show(fmt::format("{} of {} entries on the RTL", check.entries, some.size()),
                  double(check.entries) / double(some.size()));
  }
  check.exact = report_.exact && report_.bytes_equal_predicted;
  return check;
}

}  // namespace kaiten::cli
