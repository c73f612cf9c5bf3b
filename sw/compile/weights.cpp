#include "compile/weights.h"

#include <algorithm>

#include "graph/error.h"

namespace kaiten {

namespace {

constexpr int kMaxParamsOfLoad = kMaxLoadBytes / kRequantBytes;

}  // namespace

WeightLoader::WeightLoader(const Graph& graph, const Config& config, const Lowering& lowering,
                           const Plan& plan, CommandList& list)
    : graph_(graph),
      config_(config),
      lowering_(lowering),
      list_(list),
      weight_rows_{Fifo(config.wb_rows), Fifo(config.vwb_rows)},
      param_words_{Fifo(config.zsb_array), Fifo(config.zsb_vector)} {
  make_chunks(plan);
}

void WeightLoader::give_back(const Chunk& c) {
  weight_rows_[engine_index(c)].give_back(c.rows);
  param_words_[engine_index(c)].give_back(c.words);
}

void WeightLoader::make_chunks(const Plan& plan) {
  for (std::size_t i = 0; i < lowering_.ops.size(); i++) {
    const LoweredOp& op = lowering_.ops[i];
    if (op.engine == Engine::kHost) continue;
    const int step = plan.ops[i].chunk_tiles;
    for (int tile = 0; tile < op.tiles(); tile += step) {
      Chunk c;
      c.op = i;
      c.tile_begin = tile;
      c.tile_end = std::min(tile + step, op.tiles());
      c.rows = (c.tile_end - tile) * op.weight_rows_of_tile();
      // Whole tiles, also where channels end earlier: the hardware reads a word for every lane.
      c.words = op.params_per_tile() ? (c.tile_end - tile) * op.tile_channels() : int(op.params.size());
      chunks_.push_back(c);
    }
  }
}

void WeightLoader::load(std::size_t end, bool now) {
  for (; next_chunk_ < std::min(end, chunks_.size()); next_chunk_++) {
    Chunk& c = chunks_[next_chunk_];
    Fifo& rows = weight_rows_[engine_index(c)];
    Fifo& words = param_words_[engine_index(c)];
    const bool rows_fit = rows.take(c.rows, c.row_at);
    if (!rows_fit || !words.take(c.words, c.word_at)) {
      if (rows_fit) rows.undo(c.rows);
      if (!now) return;
      const Op& o = graph_.ops[std::size_t(op_of(c).op)];
      throw InputError(
          "layer '" + o.name + "' (" + std::string(name_of(o.kind)) + "): limit: " +
          std::to_string(op_of(c).engine == Engine::kConv ? config_.zsb_array : config_.zsb_vector) +
          " requantisation words, found: " + std::to_string(c.words));
    }
    load_params(c);
    load_weights(c);
  }
}

void WeightLoader::load_params(const Chunk& c) {
  const LoweredOp& op = op_of(c);
  const bool vector = op.engine != Engine::kConv;
  std::span<const RequantWord> words = op.params;
  int first = 0;
  if (op.params_per_tile()) {
    first = c.tile_begin * op.tile_channels();
    words = words.subspan(std::size_t(first), std::size_t(std::min(c.words, int(words.size()) - first)));
  }
  for (std::size_t at = 0; at < words.size(); at += std::size_t(kMaxParamsOfLoad)) {
    const auto part = words.subspan(at, std::min(words.size() - at, std::size_t(kMaxParamsOfLoad)));
    LoadParamsCommand l;
    l.base = int(Base::kConstants);
    l.offset = list_.append_region();
    l.count = std::int64_t(part.size());
    l.to_vector = vector;
    l.index = c.word_at + std::int64_t(at);
    pack_params(part, list_.program.constants);
    CommandMeta m;
    m.op = op.op;
    m.first_channel = first + int(at);
    m.kind = CommandMeta::Bytes::kParameters;
    m.read_bytes = std::int64_t(part.size()) * kRequantBytes;
    m.cycles = list_.bus_cycles(m.read_bytes) + std::int64_t(part.size());
    const Access access{vector ? Space::kZsbVector : Space::kZsbArray, l.index, l.index + l.count, true, 0};
    list_.emit(l, m, {&access, 1}, kLoadLatency);
  }
}

void WeightLoader::load_weights(const Chunk& c) {
  const LoweredOp& op = op_of(c);
  if (c.rows == 0) return;
  std::int64_t offset = list_.append_region();
  const auto load = [&](LoadWeightsCommand l, int rows, int first_tile) {
    l.base = int(Base::kConstants);
    l.offset = offset;
    offset += l.bytes;
    CommandMeta m;
    m.op = op.op;
    m.first_channel = first_tile * op.tile_channels();
    m.kind = CommandMeta::Bytes::kWeights;
    m.read_bytes = l.bytes;
    m.cycles = std::max(list_.bus_cycles(l.bytes), std::int64_t(l.passes * l.rows));
    const Access access{l.to_vwb ? Space::kVwb : Space::kWb, l.row, l.row + rows, true, 0};
    list_.emit(l, m, {&access, 1}, kLoadLatency);
  };
  if (op.engine == Engine::kConv) {
    const ArrayTiles& a = op.array;
    pack_weights(a, op.kernels, c.tile_begin, c.tile_end, list_.program.constants);
    for (const WeightLoad& w : split_weights(a, c.tile_begin, c.tile_end)) {
      LoadWeightsCommand l;
      l.bytes = w.bytes;
      l.row =
          c.row_at + (((w.tile - c.tile_begin) * a.pieces() + w.piece) * a.passes + w.first_pass) * a.kp;
      l.passes = w.passes;
      l.rows = a.kernels(w.tile);
      l.pass_pitch = a.kp;
      l.last_row_bytes = a.row_bytes(a.passes - 1) * (a.one_by_one ? 1 : 9);
      l.last_full_words = a.one_by_one ? 9 : 0;
      l.last_word_bytes = a.one_by_one ? 0 : a.row_bytes(a.passes - 1);
      l.tile_passes = a.passes;
      l.first_pass = w.first_pass;
      load(l, w.passes * a.kp, w.tile);
    }
    return;
  }
  const VectorTiles& v = op.vector;
  pack_vector_weights(v, op.depthwise, c.tile_begin, c.tile_end, list_.program.constants);
  const int row_bytes = 9 * config_.cp;
  const int rows_of_load = kMaxLoadBytes / row_bytes;
  for (int row = 0; row < c.rows; row += rows_of_load) {
    const int rows = std::min(rows_of_load, c.rows - row);
    LoadWeightsCommand l;
    l.bytes = rows * row_bytes;
    l.to_vwb = 1;
    l.row = c.row_at + row;
    l.passes = rows;
    l.rows = 1;
    l.pass_pitch = 1;
    l.last_row_bytes = row_bytes;
    l.last_full_words = 9;
    l.tile_passes = rows;
    load(l, rows, c.tile_begin + row / v.rows_of_tile());
  }
}

}  // namespace kaiten
