// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The lowering of a graph while it is made: what all operators need to become operators of the engines. Knows no
// operator itself; lower_operators.h has a function for each of them.
#ifndef KAITEN_COMPILE_LOWER_BUILDER_H
#define KAITEN_COMPILE_LOWER_BUILDER_H

#include <map>
#include <string>
#include <vector>

#include "compile/lower/lower_engines.h"
#include "compile/lower/lowered.h"
#include "compile/lower/maps.h"
#include "compile/lower/value_functions.h"
#include "graph/graph.h"
#include "graph/quantize.h"
#include "program/config.h"

namespace kaiten {

class LoweringBuilder {
 public:
  // Both must outlive the builder. Every input of the graph has a map.
  LoweringBuilder(const Graph& graph, const Config& config, RoundingStyle style);

  // What follows belongs to this operator of the graph.
  void begin_operator(int op);
  // It cannot run: only a map for its result stays, so that the operators after it can be examined.
  void refuse(const Op& op, const std::string& reason);
  // Once.
  Lowering finish();

  const Graph& graph() const { return graph_; }
  const Config& config() const { return config_; }
  LowerContext context() const { return {graph_, config_, style_}; }
  const Tensor& tensor(int t) const { return graph_.tensors[std::size_t(t)]; }
  Nhwc nhwc(int t) const { return tensor(t).nhwc(); }

  const ValueFunctions& functions() const { return functions_; }
  Maps& maps() { return maps_; }
  const ChannelMap& channels(ViewId v) const { return maps_.view(v).channels; }
  ViewId view_of(int t) const { return result_.view_of[std::size_t(t)]; }
  void set_view(int t, ViewId view) { result_.view_of[std::size_t(t)] = view; }
  const Storage& storage_of(int t) { return maps_.storage(view_of(t)); }
  // The tensor's map in its own shape.
  ViewId map_of(int t);
  // The same, of a tensor that the host does not make.
  ViewId device_map_of(int t);
  // A view as another shape of its bytes.
  ViewId reshaped(ViewId v, const Nhwc& shape) { return maps_.reshaped(v, shape, tile_channels(v)); }
  // The border that the consumer of a tensor adds to its view; none: all zeros.
  Padding border_of(int t) const;
  bool has_border(int t) const { return border_.contains(t); }
  void set_border(int t, const Padding& pad) { border_[t] = pad; }

  // An operator of the device that reads these views and makes channels of a tensor, from first_channel on.
  LoweredOp begin(std::vector<ViewId> inputs, int t, int first_channel = 0);
  // Its results have a map of their own: the vector engine leaves channels on their lanes, the array puts them
  // together.
  ViewId end(LoweredOp l);
  // Nothing to do on the device: a view of what exists, or work of the host.
  void add_without_commands(const Op& op, Engine engine);
  // The same for a view of an existing map, which may be one that the host writes.
  void add_view(const Op& op, ViewId v);
  // The convolution or the operator of elements that makes a view, which may run by ranges of channels; nullptr: none.
  const LoweredOp* producer_by_ranges(ViewId v) const;
  // Takes it out again.
  LoweredOp take_producer(ViewId v);
  // Puts in an operator whose results are dense.
  ViewId add(LoweredOp l);

  // The same values, or what a table makes of them, in a map of their own, on the lanes they have.
  ViewId copy(ViewId v, int t, int first_channel, const ValueTable* table = nullptr);
  // Channel o of the result is channel from[o] of a view.
  ViewId move(ViewId v, int t, const std::vector<int>& from);
  // Channels of a view from `first` on, put together.
  ViewId move(ViewId v, int t, int first);

  // The host must read this tensor from the device's memory.
  void fetch(int t);
  // Throws where the host makes a tensor.
  void require_on_device(int t);
  // The only operator that reads a tensor, once, on the device; nullptr for outputs of the graph.
  const Op* only_consumer(int t) const;

 private:
  // Channels of the tile of the operator that makes a view.
  int tile_channels(ViewId view) const;
  std::size_t position_of_producer(ViewId v) const;

  const Graph& graph_;
  const Config& config_;
  RoundingStyle style_;
  Lowering result_;
  Maps maps_;
  ValueFunctions functions_;
  int current_ = 0;                 // operator of the graph
  std::size_t before_current_ = 0;  // lowered operators before it
  std::map<int, Padding> border_;   // tensors that are their view with a border, which their consumer adds
  std::map<int, ViewId> reshaped_;  // tensors whose map has another shape than they: their own one
};

// Throws Unsupported where a map would have more words of channels than fit a command's fields.
void require_groups(const std::string& what, int groups);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_BUILDER_H
