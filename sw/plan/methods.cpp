// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/methods.h"

#include <algorithm>

#include "base/error.h"
#include "plan/fusion.h"

namespace kaiten::plan {

namespace {

bool fits(const Dataflow& dataflow, const PaperOptions& options, int begin, int end) {
  SpanWalk walk(dataflow, options, end);
  while (walk.begin() > begin) {
    walk.next();
    if (!walk.feasible()) return false;
  }
  return true;
}

// Grow each span until it does not fit or its output is read twice.
std::vector<int> greedy_cuts(const Dataflow& dataflow, const PaperOptions& options) {
  const int n = dataflow.network().layer_count();
  std::vector<int> cuts{0};
  while (cuts.back() < n) {
    int end = cuts.back() + 1;
    while (end < n && !dataflow.fans_out(end) && fits(dataflow, options, cuts.back(), end + 1)) end++;
    cuts.push_back(end);
  }
  return cuts;
}

// Whole blocks, the best way; a block that does not fit is cut inside.
std::vector<int> residual_cuts(const Dataflow& dataflow, const PaperOptions& options) {
  std::vector<bool> allowed = clean_cuts(dataflow);
  const int n = dataflow.network().layer_count();
  for (int begin = 0, end = 1; end <= n; end++) {
    if (end < n && !allowed[std::size_t(end)]) continue;
    if (!fits(dataflow, options, begin, end)) {
      for (int p = begin + 1; p < end; p++) allowed[std::size_t(p)] = true;
    }
    begin = end;
  }
  return best_cuts(dataflow, options, allowed).value();
}

Method layer_fusion(const Dataflow& dataflow, PaperOptions options) {
  // Occam's own spans, so that both hold the same weights (section IV).
  options.closure = Closure::kPaper;
  Method m = of_cuts(dataflow, options, best_cuts(dataflow, options).value());
  m.closure.clear();
  m.traffic_bytes = m.penalty_bytes;
  m.macs = 0;
  for (Span& s : m.spans) {
    const int begin = s.first;
    const int end = s.last + 1;
    s.tile = largest_tile(dataflow, options, begin, end);
    const Pyramids p = pyramids(dataflow, begin, end, s.tile);
    s.traffic_bytes +=
        options.batch * (p.input_bytes - dataflow.network().maps[std::size_t(begin)].elements());
    m.macs += options.batch * p.macs;
    m.traffic_bytes += s.traffic_bytes;
    s.kept.clear();
    s.rows_bytes = 0;
  }
  return m;
}

// Read the image, write the output: no partition does less. As one span, whatever it needs.
Method bound(const Dataflow& dataflow, PaperOptions options) {
  options.residual_penalty = false;
  return of_cuts(dataflow, options, {0, dataflow.network().layer_count()});
}

}  // namespace

std::string_view name_of(MethodKind kind) {
  constexpr std::string_view kNames[] = {"optimal",  "per-layer",    "greedy",
                                         "residual", "layer-fusion", "bound"};
  return kNames[std::size_t(kind)];
}

std::optional<MethodKind> method_of(std::string_view name) {
  for (MethodKind k : kMethodKinds) {
    if (name_of(k) == name) return k;
  }
  return std::nullopt;
}

Method run_method(MethodKind kind, const Dataflow& dataflow, const PaperOptions& options) {
  require_layers_fit(dataflow, options);
  Method m;
  switch (kind) {
    case MethodKind::kOptimal:
      m = of_cuts(dataflow, options, best_cuts(dataflow, options).value());
      break;
    case MethodKind::kPerLayer: {
      std::vector<int> cuts;
      for (int p = 0; p <= dataflow.network().layer_count(); p++) cuts.push_back(p);
      m = of_cuts(dataflow, options, cuts);
      m.closure.clear();
      break;
    }
    case MethodKind::kGreedy:
      m = of_cuts(dataflow, options, greedy_cuts(dataflow, options));
      break;
    case MethodKind::kResidual:
      m = of_cuts(dataflow, options, residual_cuts(dataflow, options));
      break;
    case MethodKind::kLayerFusion:
      m = layer_fusion(dataflow, options);
      break;
    case MethodKind::kBound:
      m = bound(dataflow, options);
      m.closure.clear();
      break;
  }
  m.name = name_of(kind);
  return m;
}

std::vector<bool> clean_cuts(const Dataflow& dataflow) {
  const int n = dataflow.network().layer_count();
  std::vector<int> crossings(std::size_t(n) + 2, 0);
  for (int a = 0; a <= n; a++) {
    for (const Consumer& c : dataflow.consumers(a)) {
      crossings[std::size_t(a) + 1]++;  // cuts p with a < p <= c.layer
      crossings[std::size_t(c.layer) + 1]--;
    }
  }
  std::vector<bool> clean(std::size_t(n) + 1);
  int open = 0;
  for (int p = 0; p <= n; p++) {
    open += crossings[std::size_t(p)];
    clean[std::size_t(p)] = open == 0;
  }
  return clean;
}

}  // namespace kaiten::plan
