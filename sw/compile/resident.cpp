// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/resident.h"

#include <algorithm>
#include <map>

#include "base/arithmetic.h"
#include "base/error.h"
#include "compile/emit/command_list.h"
#include "compile/emit/weights.h"
#include "compile/lower/lower.h"

namespace kaiten {

namespace {

// Kernels and channels lie as in the model, so that a prefix of them is one here.
bool plain(const LoweredOp& op) {
  const KernelView& k = op.kernels;
  return op.engine == Engine::kConv && k.data != nullptr && k.groups == 1 && k.multiplier == 0 &&
         k.channel_of.empty() && k.moved_from.empty() && k.kernel_of.empty();
}

// Operators of the array by layer; nullptr where a layer has several.
std::map<std::string, LoweredOp*, std::less<>> by_layer(Lowering& lowering, const Graph& graph) {
  std::map<std::string, LoweredOp*, std::less<>> found;
  for (LoweredOp& op : lowering.ops) {
    if (op.engine != Engine::kConv) continue;
    const auto [at, is_new] = found.try_emplace(graph.ops[std::size_t(op.op)].name, &op);
    if (!is_new) at->second = nullptr;
  }
  return found;
}

// Passes of every kernel tile, and tiles, of which `kept` has all kernels and channels.
int usable_passes(const ArrayTiles& a, const ArrayTiles& kept) {
  int n = 0;
  while (n < std::min(a.passes, kept.passes)) {
    const int there = kept.channels(n), wanted = a.channels(n);
    // Where PB goes on behind the last channel, whole groups are masked.
    const bool masked = n == a.passes - 1 && a.mode != ConvMode::k3x3 && wanted % a.cp == 0;
    if (wanted > there || (wanted < there && !masked)) break;
    n++;
  }
  return n;
}

int usable_tiles(const ArrayTiles& a, const ArrayTiles& kept) {
  int n = 0;
  while (n < std::min(a.tiles, kept.tiles) && a.kernels(n) <= kept.kernels(n)) n++;
  return n;
}

// The kernels and channels that both have are the same bytes.
bool same_bytes(const LoweredOp& op, const ResidentLayer& layer, int tiles, int passes) {
  const ArrayTiles& a = op.array;
  std::vector<std::uint8_t> mine;
  pack_weights(a, op.kernels, {0, tiles, 0}, mine);
  std::size_t at = 0, there = 0;
  for (int tile = 0; tile < tiles; tile++) {
    for (int kernel_tile = 0; kernel_tile < a.kernel_tiles(); kernel_tile++) {
      std::size_t row = there;
      for (int pass = 0; pass < a.passes; pass++) {
        const std::size_t bytes = std::size_t(a.row_bytes(pass));
        for (int k = 0; k < a.kernels(tile); k++, at += bytes) {
          if (pass >= passes) continue;
          const std::size_t from = row + std::size_t(k) * std::size_t(layer.tiles.row_bytes(pass));
          if (!std::equal(mine.begin() + std::ptrdiff_t(at), mine.begin() + std::ptrdiff_t(at + bytes),
                          layer.bytes.begin() + std::ptrdiff_t(from)))
            return false;
        }
        if (pass < layer.tiles.passes) row += std::size_t(layer.tiles.pass_bytes(tile, pass));
      }
      for (int pass = 0; pass < layer.tiles.passes; pass++)
        there += std::size_t(layer.tiles.pass_bytes(tile, pass));
    }
  }
  return true;
}

// Throws InputError unless `op` has what is wished.
void check_wish(const LoweredOp* op, const ResidentWish& wish) {
  const std::string layer = "layer '" + wish.layer + "' in PB: limit: ";
  if (op == nullptr || !plain(*op))
    throw InputError(
        layer + "convolutions on the array that are one operator, channels in order, found: another or none");
  const KernelView& k = op->kernels;
  if (wish.kernels < 1 || wish.kernels > k.out_channels)
    throw InputError(layer + "1 to " + std::to_string(k.out_channels) +
                     " kernels, found: " + std::to_string(wish.kernels));
  if (wish.channels < 1 || wish.channels > op->array.in_channels)
    throw InputError(layer + "1 to " + std::to_string(op->array.in_channels) +
                     " channels, found: " + std::to_string(wish.channels));
}

}  // namespace

std::int64_t ResidentWeights::bytes() const {
  std::int64_t sum = 0;
  for (const ResidentLayer& layer : layers) sum += std::int64_t(layer.bytes.size());
  return sum;
}

std::set<std::string> resident_layers(const Graph& graph, const Config& config) {
  Lowering lowering = lower(graph, config, RoundingStyle::LiteRt);
  std::set<std::string> names;
  for (const auto& [name, op] : by_layer(lowering, graph)) {
    if (op != nullptr && plain(*op)) names.insert(name);
  }
  return names;
}

ResidentWeights place_resident(const Graph& graph, const Config& config, std::span<const ResidentWish> wishes,
                               int rows, NoRoom no_room) {
  if (!config.resident) throw InputError("configuration '" + config.name + "' has no PB");
  Lowering lowering = lower(graph, config, RoundingStyle::LiteRt);
  const auto ops = by_layer(lowering, graph);
  ResidentWeights all;
  for (const ResidentWish& wish : wishes) {
    const auto found = ops.find(wish.layer);
    LoweredOp* op = found == ops.end() ? nullptr : found->second;
    check_wish(op, wish);
    ResidentLayer layer;
    layer.name = wish.layer;
    layer.tiles = op->array;
    layer.tiles.in_channels = wish.channels;
    layer.tiles.out_channels = wish.kernels;
    layer.tiles.passes = ceil_div(wish.channels, layer.tiles.pass_groups() * layer.tiles.cp);
    layer.tiles.tiles = ceil_div(wish.kernels, layer.tiles.kp);
    layer.weight_zero = op->weight_zero;
    layer.row = all.rows;
    const int end = all.rows + layer.tiles.tiles * layer.tiles.rows_of_tile();
    if (end > rows) {
      if (no_room == NoRoom::kLeaveOut) continue;
      throw InputError("PB: limit: " + std::to_string(rows) + " rows of WB, found: " + std::to_string(end) +
                       " with layer '" + wish.layer + "'");
    }
    all.rows = end;
    pack_weights(layer.tiles, op->kernels, {0, layer.tiles.tiles, 0}, layer.bytes);
    all.layers.push_back(std::move(layer));
  }
  return all;
}

Program load_resident(const Graph& graph, const Config& config, const ResidentWeights& resident) {
  CommandList list(graph, config);
  for (const ResidentLayer& layer : resident.layers) {
    const TileRange all{0, layer.tiles.tiles, 0};
    std::int64_t offset =
        list.constant(std::int64_t(layer.bytes.size()), [&layer](std::vector<std::uint8_t>& out) {
          out.insert(out.end(), layer.bytes.begin(), layer.bytes.end());
        });
    for (const ArrayLoad& load : array_loads(layer.tiles, std::span(&all, 1), layer.weight_zero)) {
      LoadWeightsCommand l = load.command;
      l.base = int(Base::kConstants);
      l.offset = offset;
      l.row += layer.row;
      offset += l.bytes;
      Offer offer;
      offer.meta.kind = CommandMeta::Bytes::kWeights;
      offer.meta.read_bytes = l.bytes;
      offer.meta.cycles = std::max(list.bus_cycles(l.bytes), l.passes * l.rows);
      offer.accesses = {{Space::kWb, l.row, l.row + l.passes * l.pass_pitch, true, 0}};
      offer.latency = kLoadLatency;
      offer.body = l;
      list.emit(offer);
    }
  }
  list.schedule();
  Program program = list.finish();
  program.wb_split = resident.rows;
  program.results.resize(graph.tensors.size());
  program.layers.resize(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); i++) program.layers[i].op = int(i);
  return program;
}

Config without_resident(const Config& config, const ResidentWeights* resident) {
  Config less = config;
  if (resident != nullptr) less.wb_rows -= resident->rows;
  return less;
}

void use_resident(Lowering& lowering, const Graph& graph, const ResidentWeights& resident) {
  const auto ops = by_layer(lowering, graph);
  for (const ResidentLayer& layer : resident.layers) {
    const auto found = ops.find(layer.name);
    if (found == ops.end() || found->second == nullptr || !plain(*found->second)) continue;
    LoweredOp& op = *found->second;
    const ArrayTiles& a = op.array;
    const ArrayTiles& kept = layer.tiles;
    const bool alike = a.mode == kept.mode && a.kernel_tile_rows == kept.kernel_tile_rows &&
                       a.kernel_tile_columns == kept.kernel_tile_columns && a.kp == kept.kp &&
                       a.cp == kept.cp && op.weight_zero == layer.weight_zero;
    if (!alike) continue;
    LoweredOp::Resident r;
    r.row = layer.row;
    r.pitch = kept.rows_of_kernel_tile();
    r.tiles = usable_tiles(a, kept);
    r.passes = usable_passes(a, kept);
    if (r.tiles == 0 || r.passes == 0 || !same_bytes(op, layer, r.tiles, r.passes)) continue;
    if (r.passes == a.passes && a.channels(a.passes - 1) < kept.channels(a.passes - 1))
      r.last_groups = a.channels(a.passes - 1) / a.cp;
    op.resident = r;
  }
}

}  // namespace kaiten
