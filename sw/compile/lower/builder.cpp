// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compile/lower/balance_engines.h"
#include "compile/lower/limits.h"
#include "compile/lower/pair_operands.h"
#include "compile/lower/pair_pixels.h"

namespace kaiten {

LoweringBuilder::LoweringBuilder(const Graph& graph, const Config& config, RoundingStyle style)
    : graph_(graph), config_(config), style_(style), maps_(config, result_), functions_(graph) {
  result_.cp = config.cp;
  result_.view_of.assign(graph.tensors.size(), ViewId());
  for (const int tensor : graph.inputs) set_view(tensor, maps_.add_input(tensor, nhwc(tensor), tensor));
}

void LoweringBuilder::begin_operator(int op) {
  current_ = op;
  before_current_ = result_.ops.size();
}

void LoweringBuilder::refuse(const Op& op, const std::string& reason) {
  result_.refusals.push_back({current_, reason});
  result_.ops.resize(before_current_);
  if (!view_of(op.output).exists()) set_view(op.output, maps_.add_refused(op.output, nhwc(op.output)));
}

Lowering LoweringBuilder::finish() {
  for (int tensor : graph_.outputs) fetch(tensor);
  balance_engines(context(), result_);
  result_.find_all_parts();
  if (config_.add_pair) pair_operands(result_);
  if (config_.two_pixels) pair_pixels(result_, config_);
  return std::move(result_);
}

ViewId LoweringBuilder::map_of(int t) {
  const ViewId v = view_of(t);
  const Nhwc want = nhwc(t);
  if (maps_.shape(v) == want || has_border(t)) return v;
  const auto known = reshaped_.try_emplace(t).first;
  if (!known->second.exists()) known->second = reshaped(v, want);
  return known->second;
}

ViewId LoweringBuilder::device_map_of(int t) {
  require_on_device(t);
  return map_of(t);
}

Padding LoweringBuilder::border_of(int t) const {
  const auto border = border_.find(t);
  return border != border_.end() ? border->second : Padding{};
}

LoweredOp LoweringBuilder::begin(std::vector<ViewId> inputs, int t, int first_channel) {
  LoweredOp l;
  l.op = current_;
  l.inputs = std::move(inputs);
  l.tensor = t;
  l.first_channel = first_channel;
  l.in = maps_.shape(l.inputs[0]);
  l.lanes = channels(l.inputs[0]).lanes(config_.cp);
  l.channel_of = channels(l.inputs[0]).channel_of(config_.cp);
  l.out = nhwc(t);
  return l;
}

ViewId LoweringBuilder::end(LoweredOp l) {
  require_options(config_, l);
  ChannelMap made(l.out.c);
  if (l.engine != Engine::kConv) {
    made = channels(l.inputs[0]);
    made.move(-made.begin());
  }
  require_shape(context(), {l.out.n, l.out.h, l.out.w, made.lanes(config_.cp)});
  l.output = maps_.add(l.tensor, l.out, made);
  result_.ops.push_back(std::move(l));
  return result_.ops.back().output;
}

ViewId LoweringBuilder::add(LoweredOp l) {
  require_options(config_, l);
  l.output = maps_.add(l.tensor, l.out, ChannelMap(l.out.c));
  result_.ops.push_back(std::move(l));
  return result_.ops.back().output;
}

void LoweringBuilder::add_without_commands(const Op& op, Engine engine) {
  LoweredOp l;
  l.op = current_;
  l.engine = engine;
  for (int t : op.inputs) {
    if (!tensor(t).is_constant()) l.inputs.push_back(view_of(t));
  }
  l.tensor = op.output;
  l.output = view_of(op.output);
  l.out = nhwc(op.output);
  result_.ops.push_back(std::move(l));
}

void LoweringBuilder::add_view(const Op& op, ViewId v) {
  set_view(op.output, v);
  add_without_commands(op, maps_.storage(v).is_input ? Engine::kHost : Engine::kNone);
}

std::size_t LoweringBuilder::position_of_producer(ViewId v) const {
  std::size_t at = 0;
  while (at < result_.ops.size() && (!on_device(result_.ops[at].engine) || result_.ops[at].output != v)) at++;
  return at;
}

const LoweredOp* LoweringBuilder::producer_by_ranges(ViewId v) const {
  const std::size_t at = position_of_producer(v);
  if (at == result_.ops.size()) return nullptr;
  const LoweredOp& l = result_.ops[at];
  const bool by_ranges = l.kernels.data != nullptr || (l.engine == Engine::kAdd && l.channel_of.empty());
  return by_ranges ? &l : nullptr;
}

LoweredOp LoweringBuilder::take_producer(ViewId v) {
  const auto at = result_.ops.begin() + std::ptrdiff_t(position_of_producer(v));
  LoweredOp l = std::move(*at);
  result_.ops.erase(at);
  return l;
}

int LoweringBuilder::tile_channels(ViewId view) const {
  const View& v = maps_.view(view);
  for (const LoweredOp& o : result_.ops) {
    if (!on_device(o.engine)) continue;
    const View& made = maps_.view(o.output);
    if (made.storage == v.storage && made.channels.begin() == v.channels.begin()) return o.tile_channels();
  }
  return 0;
}

ViewId LoweringBuilder::copy(ViewId v, int t, int first_channel, const ValueTable* table) {
  LoweredOp l = begin({v}, t, first_channel);
  l.out = l.in;
  lower_copy(context(), table, l);
  return end(std::move(l));
}

ViewId LoweringBuilder::move(ViewId v, int t, const std::vector<int>& from) {
  LoweredOp l = begin({v}, t);
  l.out.h = l.in.h;
  l.out.w = l.in.w;
  lower_move(context(), from, l);
  return end(std::move(l));
}

ViewId LoweringBuilder::move(ViewId v, int t, int first) {
  std::vector<int> from(std::size_t(nhwc(t).c));
  std::iota(from.begin(), from.end(), first);
  return move(v, t, from);
}

void LoweringBuilder::fetch(int t) {
  const Storage& s = storage_of(t);
  if (s.is_input || s.on_host || s.refused) return;
  for (const Lowering::Fetched& f : result_.fetched) {
    if (f.tensor == t) return;
  }
  result_.fetched.push_back({t, view_of(t)});
}

void LoweringBuilder::require_on_device(int t) {
  require(!storage_of(t).on_host, "operators on the host at the end of the network only",
          "its input comes from the host");
}

const Op* LoweringBuilder::only_consumer(int t) const {
  if (std::find(graph_.outputs.begin(), graph_.outputs.end(), t) != graph_.outputs.end()) return nullptr;
  const Op* consumer = nullptr;
  for (const Op& op : graph_.ops) {
    for (int in : op.inputs) {
      if (in != t) continue;
      if (consumer != nullptr) return nullptr;
      consumer = &op;
    }
  }
  return consumer != nullptr && !consumer->on_host ? consumer : nullptr;
}

void require_groups(const std::string& what, int groups) {
  require(groups <= kMaxGroups, at_most(what, kMaxGroups), std::to_string(groups));
}

}  // namespace kaiten
