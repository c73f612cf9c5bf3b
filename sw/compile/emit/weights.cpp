// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/weights.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/arithmetic.h"

namespace kaiten {

namespace {

constexpr std::int64_t kBeatsAhead = 1;
constexpr int kMaxParamsOfLoad = kMaxLoadBytes / kRequantBytes;

// What is loaded of tiles [begin, end): of the first ones what PB lacks.
std::vector<TileRange> loaded(const LoweredOp& op, int begin, int end) {
  const int some = std::clamp(op.resident.tiles, begin, end);
  std::vector<TileRange> ranges;
  if (begin < some && op.resident.passes < op.array.passes)
    ranges.push_back({begin, some, op.resident.passes});
  if (some < end) ranges.push_back({some, end, 0});
  return ranges;
}

}  // namespace

std::vector<ArrayLoad> array_loads(const ArrayTiles& a, std::span<const TileRange> ranges, int weight_zero) {
  std::vector<ArrayLoad> loads;
  int first = 0;  // row of the range
  for (const TileRange& range : ranges) {
    const int passes = a.passes - range.first_pass;
    for (const WeightLoad& w : split_weights(a, range)) {
      const int first_pass = w.first_pass - range.first_pass;
      const int kernel_tile = (w.tile - range.begin) * a.kernel_tiles() + w.kernel_tile;
      ArrayLoad load;
      LoadWeightsCommand& l = load.command;
      l.bytes = w.bytes;
      l.row = first + (kernel_tile * passes + first_pass) * a.kp;
      l.passes = w.passes;
      l.rows = a.kernels(w.tile);
      l.pass_pitch = a.kp;
      l.last_row_bytes = a.row_bytes(a.passes - 1);
      l.last_full_words = a.last_full_words();
      l.last_word_bytes = a.last_word_bytes();
      l.tile_passes = passes;
      l.first_pass = first_pass;
      l.fill = weight_zero;
      load.tile = w.tile;
      loads.push_back(load);
    }
    first += (range.end - range.begin) * a.kernel_tiles() * passes * a.kp;
  }
  return loads;
}

WeightLoader::WeightLoader(const Config& config, const Lowering& lowering, const SpanPlan& plan,
                           CommandList& list, const WeightOptions& options)
    : config_(config),
      lowering_(lowering),
      list_(list),
      residency_(options.residency),
      compress_(config.zvc_beats > 0 ? options.compress : Compress::kOff),
      whole_{RingMemory(config.wb_rows), RingMemory(config.vwb_rows)},
      rows_{RingMemory(config.wb_rows, options.resident_rows), RingMemory(config.vwb_rows)},
      words_{RingMemory(config.zsb_array), RingMemory(config.zsb_vector)},
      owners_(weight_owners(lowering.ops)) {
  for (const Span& span : plan.spans) {
    first_.emplace_back();
    for (const Task& t : span.tasks) {
      first_.back().push_back(chunks_.size());
      const LoweredOp& op = lowering.ops[t.position];
      for (int tile = t.tile_begin; tile < t.tile_end; tile += t.chunk_tiles) {
        Chunk c;
        c.span = first_.size() - 1;
        c.op = t.position;
        c.tile_begin = tile;
        c.tile_end = std::min(tile + t.chunk_tiles, t.tile_end);
        c.rows = op.weight_rows(tile, c.tile_end);
        // Whole tiles, also where channels end earlier: the hardware reads a word for every lane.
        c.words = op.param_words(c.tile_end - tile);
        chunks_.push_back(c);
      }
    }
  }
  share(plan);
  if (residency_ != WeightResidency::kReload) pin(plan);
}

// Within a span: what lies there for one operator lies there for the others.
void WeightLoader::share(const SpanPlan& plan) {
  for (std::size_t k = 0; k < plan.spans.size(); k++) {
    std::map<std::size_t, std::size_t> first;  // of an operator's weights: the chunk
    for (std::size_t t = 0; t < plan.spans[k].tasks.size(); t++) {
      const std::size_t i = first_[k][t];
      chunks_[i].owner = i;
      const Task& task = plan.spans[k].tasks[t];
      for (std::size_t other = i + 1; other < i + std::size_t(task.chunks()); other++)
        chunks_[other].owner = other;
      if (task.chunks() != 1 || task.tile_begin != 0 || task.tile_end != lowering_.ops[task.position].tiles())
        continue;
      const auto [at, is_new] = first.try_emplace(owners_[task.position], i);
      if (is_new) continue;
      chunks_[i].owner = at->second;
      chunks_[at->second].users++;
    }
  }
}

// WB: everything if it fits, else as many chunks as leave a ring in which every span has its rows. VWB is a
// ring as a whole: everything or nothing. Spans that come again for other images find what stays.
void WeightLoader::pin(const SpanPlan& plan) {
  std::size_t once = 0;  // chunks until the spans come again
  while (once < chunks_.size() && plan.spans[chunks_[once].span].first_image == 0) once++;
  int total[2] = {0, 0};
  std::vector<int> of_span(plan.spans.size());
  for (std::size_t i = 0; i < once; i++) {
    const Chunk& c = chunks_[i];
    if (c.shared(i)) continue;
    total[engine(c)] += c.rows;
    if (is_array(c)) of_span[c.span] += c.rows;
  }
  const bool all[2] = {total[0] <= config_.wb_rows, total[1] <= config_.vwb_rows};
  const int ring =
      of_span.empty() ? 0 : *std::max_element(of_span.begin(), of_span.end());  // no spans: all on the host
  const int room[2] = {all[0] ? config_.wb_rows : std::max(0, config_.wb_rows - ring),
                       all[1] ? config_.vwb_rows : 0};
  int pinned[2] = {0, 0};
  for (std::size_t i = 0; i < chunks_.size(); i++) {
    Chunk& c = chunks_[i];
    if (i >= once) {
      const Chunk& same = chunks_[i % once];
      c.pinned = c.there = same.pinned;
      c.row_at = same.row_at;
      continue;
    }
    int& at = pinned[engine(c)];
    if (c.shared(i) || c.rows == 0 || at + c.rows > room[engine(c)]) continue;
    c.pinned = true;
    c.there = residency_ == WeightResidency::kAlreadyPinned;
    c.row_at = at;
    at += c.rows;
  }
  if (!all[0]) rows_[0] = RingMemory(config_.wb_rows, pinned[0]);
}

const Offer* WeightLoader::next() {
  while (loads_.empty()) {
    if (next_ == chunks_.size()) return nullptr;
    Chunk& c = chunks_[next_];
    if (begun_) {
      c.loaded = true;
      begun_ = false;
      next_++;
      continue;
    }
    if (c.shared(next_)) {
      const Chunk& owner = chunks_[c.owner];
      c.pinned = owner.pinned;
      c.row_at = owner.row_at;
      c.table_at = owner.table_at;
      c.word_at = owner.word_at;
      c.loaded = true;
      next_++;
      continue;
    }
    RingMemory& rows = rows_[engine(c)];
    RingMemory& words = words_[engine(c)];
    if ((!c.pinned && !rows.fits(c.rows)) || !words.fits(c.words)) return nullptr;
    if (!c.pinned) c.row_at = rows.take(c.rows);
    c.table_at = words.take(c.words);
    c.word_at = words.after(c.table_at, lowering_.ops[c.op].table_words());
    params(c);
    if (!c.there) weights(c);
    begun_ = true;
  }
  return &loads_.front();
}

void WeightLoader::emitted() {
  loads_.pop_front();
  if (loads_.empty()) {
    chunks_[next_++].loaded = true;
    begun_ = false;
  }
}

void WeightLoader::done(std::size_t chunk) {
  Chunk& owner = chunks_[chunks_[chunk].owner];
  if (--owner.users == 0) owner.done = true;
  const std::size_t e = engine(owner);
  // In the order they were taken.
  for (std::size_t& i = oldest_[e]; i < chunks_.size(); i++) {
    const Chunk& c = chunks_[i];
    if (engine(c) != e || c.shared(i)) continue;
    if (!c.done) break;
    if (!c.pinned) rows_[e].give_back(c.rows);
    words_[e].give_back(c.words);
  }
}

std::int64_t WeightLoader::constant(std::array<std::int64_t, 4> name, std::int64_t bytes,
                                    std::function<void(std::vector<std::uint8_t>&)> fill) {
  const auto [at, is_new] = constants_.try_emplace(name, 0);
  if (is_new) at->second = list_.constant(bytes, std::move(fill));
  return at->second;
}

std::vector<WeightLoader::Source> WeightLoader::sources(
    const Chunk& c, const std::vector<std::int64_t>& bytes,
    std::function<void(std::vector<std::uint8_t>&)> fill) {
  std::vector<Source> all;
  if (compress_ == Compress::kOff) {
    std::int64_t offset =
        constant({1, owner_of(c), c.tile_begin, c.tile_end},
                 std::accumulate(bytes.begin(), bytes.end(), std::int64_t(0)), std::move(fill));
    for (const std::int64_t n : bytes) {
      all.push_back({offset, 0});
      offset += n;
    }
    return all;
  }
  // Where a ring ends says what the LOADs of vector weights are.
  const std::array<std::int64_t, 4> name{is_array(c) ? -1 : c.row_at, owner_of(c), c.tile_begin, c.tile_end};
  if (const auto known = packed_.find(name); known != packed_.end()) return known->second;
  std::vector<std::uint8_t> raw;
  fill(raw);
  // Raw ones stand side by side, compressed ones begin at beats.
  const std::size_t width = std::size_t(config_.axi_bytes);
  std::vector<std::uint8_t> memory;
  std::span<const std::uint8_t> rest = raw;
  for (const std::int64_t n : bytes) {
    const auto segment = rest.first(std::size_t(n));
    rest = rest.subspan(std::size_t(n));
    const std::vector<std::uint8_t> packed =
        packed_weights(config_, compress_, lowering_.ops[c.op].weight_zero, segment);
    if (!packed.empty()) memory.resize(align_up(memory.size(), width));
    all.push_back({std::int64_t(memory.size()), std::int64_t(packed.size() / width)});
    const auto added = packed.empty() ? segment : std::span<const std::uint8_t>(packed);
    memory.insert(memory.end(), added.begin(), added.end());
  }
  const std::int64_t size = std::int64_t(memory.size());
  const std::int64_t base =
      list_.constant(size, [memory = std::move(memory)](std::vector<std::uint8_t>& out) {
        out.insert(out.end(), memory.begin(), memory.end());
      });
  for (Source& s : all) s.offset += base;
  packed_.emplace(name, all);
  return all;
}

void WeightLoader::add_access(Accesses& accesses, Space space, int at, int n, const RingMemory& ring,
                              bool write) {
  const int straight = std::min(n, ring.end() - at);
  accesses.push_back({space, at, at + straight, write, 0});
  if (straight < n) accesses.push_back({space, ring.base(), ring.base() + n - straight, write, 0});
}

Chunk WeightLoader::part(const Chunk& c, int tile_begin, int tile_end) const {
  const LoweredOp& op = lowering_.ops[c.op];
  Chunk some = c;
  some.tile_begin = tile_begin;
  some.tile_end = tile_end;
  some.row_at = rows_of(c).after(c.row_at, op.weight_rows(c.tile_begin, tile_begin));
  some.rows = op.weight_rows(tile_begin, tile_end);
  if (op.params_per_tile()) {
    some.word_at = words_[engine(c)].after(c.word_at, (tile_begin - c.tile_begin) * op.tile_channels());
  }
  return some;
}

void WeightLoader::add_reads(Accesses& accesses, const Chunk& c) const {
  const bool array = is_array(c);
  add_access(accesses, array ? Space::kWb : Space::kVwb, c.row_at, c.rows, rows_of(c), false);
  add_access(accesses, array ? Space::kZsbArray : Space::kZsbVector, c.table_at, c.words, words_[engine(c)],
             false);
}

std::span<const RequantParams> WeightLoader::params_of(const Chunk& c) const {
  const LoweredOp& op = lowering_.ops[c.op];
  const std::span<const RequantParams> all = op.params;
  if (!op.params_per_tile()) return all;
  const int first = c.tile_begin * op.tile_channels();
  const int words = c.words - op.table_words();
  return all.subspan(std::size_t(first), std::size_t(std::min(words, int(all.size()) - first)));
}

std::int64_t WeightLoader::bytes() const {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < chunks_.size(); i++) {
    const Chunk& c = chunks_[i];
    if (c.shared(i)) continue;
    bytes += std::int64_t(params_of(c).size() + lowering_.ops[c.op].table.size()) * kRequantBytes;
    if (c.there) continue;
    if (!is_array(c)) {
      bytes += std::int64_t(c.rows) * 9 * config_.cp;
      continue;
    }
    const LoweredOp& op = lowering_.ops[c.op];
    for (const TileRange& range : loaded(op, c.tile_begin, c.tile_end))
      bytes += weight_bytes(op.array, range);
  }
  return bytes;
}

void WeightLoader::params(const Chunk& c) {
  const LoweredOp& op = lowering_.ops[c.op];
  const int first = op.params_per_tile() ? c.tile_begin * op.tile_channels() : 0;
  load_words(c, op.table, c.table_at, {2, owner_of(c), 0, 0});
  load_words(c, params_of(c), c.word_at, {0, owner_of(c), first, 0});
}

void WeightLoader::load_words(const Chunk& c, std::span<const RequantParams> words, int word_at,
                              std::array<std::int64_t, 4> name) {
  const LoweredOp& op = lowering_.ops[c.op];
  const RingMemory& ring = words_[engine(c)];
  const std::int64_t first = name[2];
  for (int at = 0; at < int(words.size());) {
    LoadParamsCommand l;
    l.base = int(Base::kConstants);
    l.index = ring.after(word_at, at);
    l.count = std::min({int(words.size()) - at, kMaxParamsOfLoad, ring.end() - int(l.index)});
    l.to_vector = !is_array(c);
    const auto part = words.subspan(std::size_t(at), std::size_t(l.count));
    Offer offer;
    offer.meta.op = op.op;
    offer.meta.first_channel = int(first) + at;
    offer.meta.kind = CommandMeta::Bytes::kParameters;
    offer.meta.read_bytes = l.count * kRequantBytes;
    // ZSB takes a word a cycle.
    offer.meta.cycles = std::max(list_.bus_cycles(offer.meta.read_bytes), std::int64_t(l.count));
    name[2] = first + at;
    name[3] = l.count;
    l.offset = constant(name, offer.meta.read_bytes,
                        [part](std::vector<std::uint8_t>& out) { pack_params(part, out); });
    add_access(offer.accesses, is_array(c) ? Space::kZsbArray : Space::kZsbVector, int(l.index), int(l.count),
               ring, true);
    offer.latency = kLoadLatency;
    at += int(l.count);
    offer.body = l;
    loads_.push_back(std::move(offer));
  }
}

// Of the bytes, compressed or not, on their way into rows: a beat or a row a cycle, so a pass takes the more of both;
// while rows are short a beat comes in ahead.
std::int64_t WeightLoader::gearbox_cycles(const LoadWeightsCommand& l) const {
  const std::int64_t last_of_tile = (l.first_pass + l.passes) / l.tile_passes - l.first_pass / l.tile_passes;
  const auto beats = [&](std::int64_t row_bytes, std::int64_t passes) {
    return ceil_div(passes * l.rows * std::max(row_bytes, std::int64_t(config_.axi_bytes)),
                    std::int64_t(config_.axi_bytes));
  };
  const std::int64_t ahead = l.last_row_bytes < config_.axi_bytes ? kBeatsAhead * last_of_tile : 0;
  return beats(9 * config_.cp, l.passes - last_of_tile) + beats(l.last_row_bytes, last_of_tile) - ahead;
}

void WeightLoader::weights(const Chunk& c) {
  if (c.rows == 0) return;  // no weights, or all of them in PB
  const LoweredOp& op = lowering_.ops[c.op];
  const RingMemory& ring = rows_of(c);
  const auto add = [&](LoadWeightsCommand l, const Source& source, int rows, int first_tile) {
    l.base = int(Base::kConstants);
    l.offset = source.offset;
    l.zvc_beats = source.beats;
    if (source.beats > 0) l.fill = op.weight_zero;
    Offer offer;
    offer.meta.op = op.op;
    offer.meta.first_channel = first_tile * op.tile_channels();
    offer.meta.kind = CommandMeta::Bytes::kWeights;
    offer.meta.read_bytes = l.bytes;
    if (source.beats > 0) offer.meta.packed = {source.beats * config_.axi_bytes, source.beats};
    offer.meta.cycles = std::max(list_.bus_cycles(l.bytes), gearbox_cycles(l));
    add_access(offer.accesses, l.to_vwb ? Space::kVwb : Space::kWb, int(l.row), rows, ring, true);
    offer.latency = kLoadLatency;
    offer.body = l;
    loads_.push_back(std::move(offer));
  };
  const int begin = c.tile_begin, end = c.tile_end;
  std::vector<std::int64_t> bytes;
  if (is_array(c)) {
    const std::vector<ArrayLoad> loads = array_loads(op.array, loaded(op, begin, end), op.weight_zero);
    for (const ArrayLoad& w : loads) bytes.push_back(w.command.bytes);
    const std::vector<Source> from = sources(c, bytes, [&op, begin, end](std::vector<std::uint8_t>& out) {
      for (const TileRange& range : loaded(op, begin, end)) pack_weights(op.array, op.kernels, range, out);
    });
    for (std::size_t i = 0; i < loads.size(); i++) {
      LoadWeightsCommand l = loads[i].command;
      const int rows = int(l.passes * l.pass_pitch);
      l.row = ring.after(c.row_at, int(l.row));
      add(l, from[i], rows, loads[i].tile);
    }
    return;
  }
  const int row_bytes = 9 * config_.cp;
  std::vector<LoadWeightsCommand> loads;
  for (int at = 0; at < c.rows;) {
    LoadWeightsCommand l;
    l.row = ring.after(c.row_at, at);
    const int rows = std::min({kMaxLoadBytes / row_bytes, c.rows - at, ring.end() - int(l.row)});
    l.bytes = rows * row_bytes;
    l.to_vwb = 1;
    l.passes = rows;
    l.rows = 1;
    l.pass_pitch = 1;
    l.last_row_bytes = row_bytes;
    l.last_full_words = 9;
    l.tile_passes = rows;
    bytes.push_back(l.bytes);
    loads.push_back(l);
    at += rows;
  }
  const std::vector<Source> from = sources(c, bytes, [&op, begin, end](std::vector<std::uint8_t>& out) {
    pack_vector_weights(op.vector, op.depthwise, begin, end, out);
  });
  int at = 0;
  for (std::size_t i = 0; i < loads.size(); i++) {
    const int rows = int(loads[i].passes);
    add(loads[i], from[i], rows, begin + at / op.vector.rows_of_tile());
    at += rows;
  }
}

}  // namespace kaiten
