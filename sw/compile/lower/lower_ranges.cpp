// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Windows whose rows do not fit the vector buffer: they and what makes their input go by ranges of channels.
#include <algorithm>
#include <numeric>
#include <utility>

#include "compile/lower/lower_operators.h"

namespace kaiten {

namespace {

// Whole tiles.
int channels_of_range(const LoweredOp& made, int ranges) {
  return ceil_div(made.tiles(), ranges) * made.tile_channels();
}

// Channels [first, first + channels) of what an operator makes.
LoweredOp range_of(LoweringBuilder& b, const LoweredOp& whole, int first, int channels) {
  const Config& config = b.config();
  LoweredOp l = whole;
  l.first_channel = first;
  l.out.c = channels;
  if (whole.engine == Engine::kAdd) {
    for (ViewId& v : l.inputs) v = b.maps().slice(v, first, first + channels);
    l.in.c = l.lanes = channels;
    l.vector = VectorTiles(channels, 1, 1, config.cp);
    return l;
  }
  l.array = ArrayTiles(whole.array.mode, {l.kernel_rows, l.kernel_columns, l.lanes, channels}, config.kp,
                       config.cp);
  l.params = {whole.params.begin() + first, whole.params.begin() + first + channels};
  l.kernels.kernel_of.resize(std::size_t(channels));
  for (int o = 0; o < channels; o++) {
    const std::vector<int>& of = whole.kernels.kernel_of;
    l.kernels.kernel_of[std::size_t(o)] = of.empty() ? first + o : of[std::size_t(first + o)];
  }
  return l;
}

}  // namespace

int channel_ranges(LoweringBuilder& b, const Op& op, ViewId v) {
  if (!has_vector_windows(op) || b.only_consumer(op.inputs[0]) != &op || b.has_border(op.inputs[0])) return 1;
  const LoweredOp* made = b.producer_by_ranges(v);
  if (made == nullptr) return 1;
  const Config& config = b.config();
  const int rows =
      op.kind == OpKind::Mean ? mean_window(b.graph(), op)[0] : std::min(op.window.extent_h(), made->out.h);
  const auto addresses = [&](int channels) {
    return rows * RowLayout(ceil_div(channels, config.cp), made->out.w).slot_size;
  };
  // Results and rows ahead need some room too.
  if (addresses(made->out.c) <= config.vb_depth / 4 * 3) return 1;
  int ranges = 2;
  while (ranges < made->tiles() && addresses(channels_of_range(*made, ranges)) > config.vb_depth / 2)
    ranges++;
  return ranges;
}

void lower_by_ranges(LoweringBuilder& b, const Op& op, ViewId v, int ranges) {
  const LoweredOp whole = b.take_producer(v);
  const int step = channels_of_range(whole, ranges);
  ViewId map;
  ChannelMap channels;
  for (int first = 0; first < whole.out.c; first += step) {
    LoweredOp range = range_of(b, whole, first, std::min(step, whole.out.c - first));
    const int made = range.out.c;
    LoweredOp l = b.begin({b.add(std::move(range))}, op.output, first);
    l.out.c = made;
    l.channel_of.resize(std::size_t(made));
    std::iota(l.channel_of.begin(), l.channel_of.end(), first);
    require_shape(b.context(), l.in);
    lower_on_engine(b, op, l);
    const ViewId part = b.end(std::move(l));
    if (!map.exists()) {
      map = part;
    } else {
      b.maps().join(map, part);
    }
    channels.append(b.channels(part), 0, b.config().cp);
  }
  b.set_view(op.output, b.maps().add_view({b.maps().view(map).storage, channels}));
}

}  // namespace kaiten
