#include "compile/compiler.h"

#include <algorithm>
#include <deque>

#include "compile/hazard.h"
#include "compile/lower.h"
#include "compile/place.h"
#include "compile/schedule.h"
#include "graph/error.h"

namespace kaiten {

namespace {

// Chunks of weights that may be loaded ahead of the one in use.
constexpr std::size_t kChunksAhead = 3;
// The wait counts of a command have 20 bits.
constexpr std::size_t kMaxCommands = std::size_t(1) << 20;
// Of the schedule's model of the queues, in cycles.
constexpr std::int64_t kLoadLatency = 20;
constexpr std::int64_t kEngineLatency = 20;  // beyond the rows of the array
constexpr std::int64_t kStoreLatency = 60;
constexpr std::int64_t kLoadStart = 4;
constexpr int kMaxParamsOfLoad = kMaxLoadBytes / kRequantBytes;

// Consecutive pieces of a memory, given back in the order they were taken; a piece never runs over the
// memory's end.
class Fifo {
 public:
  explicit Fifo(int capacity) : capacity_(capacity) {}

  bool take(int size, int& at) {
    if (size == 0) {
      at = 0;
      return true;
    }
    if (live_.empty()) {
      at = head_ + size <= capacity_ ? head_ : 0;
    } else if (head_ > live_.front().first) {
      if (head_ + size <= capacity_) {
        at = head_;
      } else if (size <= live_.front().first) {
        at = 0;
      } else {
        return false;
      }
    } else {
      if (head_ + size > live_.front().first) return false;
      at = head_;
    }
    if (at + size > capacity_) return false;
    live_.emplace_back(at, size);
    head_ = at + size;
    return true;
  }
  void give_back(int size) {
    if (size > 0) live_.pop_front();
  }
  // Undoes the last take.
  void undo(int size) {
    if (size == 0) return;
    head_ = live_.back().first;
    live_.pop_back();
  }

 private:
  int capacity_;
  int head_ = 0;
  std::deque<std::pair<int, int>> live_;  // first, size
};

// Tiles of one operator whose weights and parameters are loaded together.
struct Chunk {
  std::size_t position = 0;  // of the operator in the lowering
  int op = 0;                // and its number in the graph
  int tile_begin = 0;
  int tile_end = 0;
  int rows = 0;    // of WB or VWB
  int words = 0;   // of the ZSB
  int row_at = 0;  // where they are
  int word_at = 0;
};

class Emitter {
 public:
  Emitter(const Graph& graph, const Config& config, const Lowering& lowering, const Plan& plan)
      : graph_(graph),
        config_(config),
        lowering_(lowering),
        plan_(plan),
        weight_rows_{Fifo(config.wb_rows), Fifo(config.vwb_rows)},
        param_words_{Fifo(config.zsb_array), Fifo(config.zsb_vector)} {
    loaded_.resize(lowering.storages.size());
  }

  Program run() {
    program_.config = config_;
    make_chunks();
    for (std::size_t c = 0; c < chunks_.size(); c++) {
      load_chunks(c + 1, true);
      body(c);
      const Chunk& k = chunks_[c];
      weight_rows_[engine_index(k)].give_back(k.rows);
      param_words_[engine_index(k)].give_back(k.words);
    }
    finish();
    return std::move(program_);
  }

 private:
  const LoweredOp& op_of(const Chunk& c) const { return lowering_.ops[c.position]; }
  std::size_t engine_index(const Chunk& c) const { return op_of(c).engine == Engine::kConv ? 0 : 1; }

  // --- commands
  // -----------------------------------------------------------------------------------------------------

  void emit(CommandBody body, const CommandMeta& meta, const std::vector<Access>& accesses,
            std::int64_t latency) {
    if (program_.commands.size() == kMaxCommands) {
      throw InputError("limit: programs of " + std::to_string(kMaxCommands) +
                       " commands, found: more, in layer '" + graph_.ops[std::size_t(meta.op)].name + "'");
    }
    Command c;
    c.body = std::move(body);
    c.wait = hazards_.add(c.queue(), accesses);
    program_.commands.push_back(std::move(c));
    program_.meta.push_back(meta);
    costs_.push_back({meta.cycles, latency});
  }

  static void add_rows(std::vector<Access>& accesses, Buffer buffer, const Ring& ring, int begin, int end,
                       bool write, std::uint32_t part_of = 0) {
    if (begin >= end) return;
    const Space space = buffer == Buffer::kSb ? Space::kSb : Space::kVb;
    const auto add = [&](int slot, int slots) {
      accesses.push_back({space, ring.first + slot * ring.slot_size,
                          ring.first + (slot + slots) * ring.slot_size, write, part_of});
    };
    if (end - begin >= ring.slots) return add(0, ring.slots);
    const int slot = begin % ring.slots;
    const int straight = std::min(end - begin, ring.slots - slot);
    add(slot, straight);
    if (straight < end - begin) add(0, end - begin - straight);
  }

  static Access memory_rows(const MemoryLayout& m, int begin, int end, bool write,
                            std::uint32_t part_of = 0) {
    return {memory_space(m.base), m.offset + begin * m.row_pitch, m.offset + end * m.row_pitch, write,
            part_of};
  }

  // --- weights and parameters
  // ---------------------------------------------------------------------------------------

  void make_chunks() {
    for (std::size_t i = 0; i < lowering_.ops.size(); i++) {
      const LoweredOp& op = lowering_.ops[i];
      if (op.engine == Engine::kHost) continue;
      const int step = plan_.ops[std::size_t(op.op)].chunk_tiles;
      for (int tile = 0; tile < op.tiles(); tile += step) {
        Chunk c;
        c.position = i;
        c.op = op.op;
        c.tile_begin = tile;
        c.tile_end = std::min(tile + step, op.tiles());
        c.rows = (c.tile_end - tile) * op.weight_rows_of_tile();
        // Whole tiles, also where channels end earlier: the hardware reads a word for every lane.
        c.words = op.params_per_tile() ? (c.tile_end - tile) * op.tile_channels() : int(op.params.size());
        chunks_.push_back(c);
      }
    }
  }

  // Loads chunks up to `end` as far as they fit; the last one must when it is needed now.
  void load_chunks(std::size_t end, bool now) {
    for (; next_chunk_ < std::min(end, chunks_.size()); next_chunk_++) {
      Chunk& c = chunks_[next_chunk_];
      Fifo& rows = weight_rows_[engine_index(c)];
      Fifo& words = param_words_[engine_index(c)];
      const bool rows_fit = rows.take(c.rows, c.row_at);
      if (!rows_fit || !words.take(c.words, c.word_at)) {
        if (rows_fit) rows.undo(c.rows);
        if (!now) return;
        const Op& o = graph_.ops[std::size_t(c.op)];
        throw InputError(
            "layer '" + o.name + "' (" + std::string(name_of(o.kind)) + "): limit: " +
            std::to_string(op_of(c).engine == Engine::kConv ? config_.zsb_array : config_.zsb_vector) +
            " requantisation words, found: " + std::to_string(c.words));
      }
      load_params(c);
      load_weights(c);
    }
  }

  std::int64_t append_region() {
    auto& bytes = program_.constants;
    bytes.resize((bytes.size() + std::size_t(config_.axi_bytes) - 1) / std::size_t(config_.axi_bytes) *
                 std::size_t(config_.axi_bytes));
    return std::int64_t(bytes.size());
  }

  std::int64_t bus_cycles(std::int64_t bytes) const {
    return kLoadStart + (bytes + config_.axi_bytes - 1) / config_.axi_bytes;
  }

  void load_params(const Chunk& c) {
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
      l.offset = append_region();
      l.count = std::int64_t(part.size());
      l.to_vector = vector;
      l.index = c.word_at + std::int64_t(at);
      pack_params(part, program_.constants);
      CommandMeta m;
      m.op = c.op;
      m.first_channel = first + int(at);
      m.kind = CommandMeta::Bytes::kParameters;
      m.read_bytes = std::int64_t(part.size()) * kRequantBytes;
      m.cycles = bus_cycles(m.read_bytes) + std::int64_t(part.size());
      emit(l, m, {{vector ? Space::kZsbVector : Space::kZsbArray, l.index, l.index + l.count, true, 0}},
           kLoadLatency);
    }
  }

  void load_weights(const Chunk& c) {
    const LoweredOp& op = op_of(c);
    if (c.rows == 0) return;
    std::int64_t offset = append_region();
    const auto load = [&](LoadWeightsCommand l, int rows, int first_tile) {
      l.base = int(Base::kConstants);
      l.offset = offset;
      offset += l.bytes;
      CommandMeta m;
      m.op = c.op;
      m.first_channel = first_tile * op.tile_channels();
      m.kind = CommandMeta::Bytes::kWeights;
      m.read_bytes = l.bytes;
      m.cycles = std::max(bus_cycles(l.bytes), std::int64_t(l.passes * l.rows));
      emit(l, m, {{l.to_vwb ? Space::kVwb : Space::kWb, l.row, l.row + rows, true, 0}}, kLoadLatency);
    };
    if (op.engine == Engine::kConv) {
      const ArrayTiles& a = op.array;
      pack_weights(a, op.kernels, c.tile_begin, c.tile_end, program_.constants);
      for (const WeightLoad& w : split_weights(a, c.tile_begin, c.tile_end)) {
        LoadWeightsCommand l;
        l.bytes = w.bytes;
        l.row =
            c.row_at + (((w.tile - c.tile_begin) * a.pieces() + w.piece) * a.passes + w.first_pass) * a.kp;
        l.passes = w.passes;
        l.rows = a.kernels(w.tile);
        l.pass_pitch = a.kp;
        l.spread = !a.one_by_one;
        l.row_bytes = a.row_bytes(0);
        l.last_row_bytes = a.row_bytes(a.passes - 1);
        l.tile_passes = a.passes;
        l.first_pass = w.first_pass;
        load(l, w.passes * a.kp, w.tile);
      }
      return;
    }
    const VectorTiles& v = op.vector;
    pack_vector_weights(v, op.depthwise, c.tile_begin, c.tile_end, program_.constants);
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
      l.row_bytes = l.last_row_bytes = row_bytes;
      l.tile_passes = rows;
      load(l, rows, c.tile_begin + row / v.rows_of_tile());
    }
  }

  // --- rows
  // ---------------------------------------------------------------------------------------------------------

  // Rows [begin, end) of a storage from memory into a ring. A flattened map is one row of one pixel.
  void load_rows(const LoweredOp& op, int storage, const Ring& ring, int begin, int end) {
    MemoryLayout m = plan_.storages[std::size_t(storage)].memory;
    if (op.flatten) {
      const std::int64_t offset = m.offset;
      const int base = m.base;
      m = dense_layout(1, 1, op.in.c, config_.cp);
      m.offset = offset;
      m.base = base;
    }
    const RowLayout rows(op.in.c, op.in.w, config_.cp);
    const std::int64_t row_payload =
        std::int64_t(m.width) * ((m.segments - 1) * std::int64_t(m.pixel_bytes) + m.last_pixel_bytes);
    const int step = int(std::clamp<std::int64_t>(kMaxLoadBytes / row_payload, 1, end - begin));
    for (int row = begin; row < end; row += step) {
      const int n = std::min(step, end - row);
      LoadRowsCommand l;
      l.base = m.base;
      l.offset = m.offset + row * m.row_pitch;
      l.row_pitch = n > 1 ? m.row_pitch : 0;
      l.segment_pitch = m.segments > 1 ? m.segment_pitch : 0;
      l.rows = n;
      l.segments = m.segments;
      l.segment_groups = m.segments > 1 ? m.segment_groups : 0;
      l.pixel_bytes = m.pixel_bytes;
      l.last_pixel_bytes = m.last_pixel_bytes;
      l.columns = m.width;
      l.pixel = rows.width > 1 ? rows.pixel : 0;  // a single pixel may be longer than the field
      l.row_mod3 = row % 3;
      l.slot_size = rows.slot_size;
      std::vector<Access> accesses;
      const Buffer buffer = buffer_of(op.engine);
      if (buffer == Buffer::kSb) {
        l.to_sb = 1;
        l.sb_first = ring.first;
        l.sb_last = ring.last();
        l.sb_slot = ring.slot(row);
      } else {
        l.to_vb = 1;
        l.vb_first = ring.first;
        l.vb_last = ring.last();
        l.vb_slot = ring.slot(row);
      }
      add_rows(accesses, buffer, ring, row, row + n, true);
      if (m.base != int(Base::kInputs)) {
        const MemoryLayout& whole = plan_.storages[std::size_t(storage)].memory;
        accesses.push_back(op.flatten ? memory_rows(whole, 0, whole.height, false)
                                      : memory_rows(m, row, row + n, false));
      }
      CommandMeta meta;
      meta.op = op.op;
      meta.tensor = lowering_.storages[std::size_t(storage)].tensor;
      meta.first_row = row;
      meta.rows = n;
      meta.columns = m.width;
      meta.kind = CommandMeta::Bytes::kActivations;
      meta.read_bytes = row_payload * n;
      // A pixel takes at least a cycle, whatever its length.
      meta.cycles = std::max(bus_cycles(meta.read_bytes), std::int64_t(n) * m.width * m.segments);
      emit(l, meta, accesses, kLoadLatency);
    }
  }

  // How far the rows of a ring have been loaded: in loaded_ for rings that live as long as their tensor.
  void need_rows(const LoweredOp& op, std::size_t input, int end) {
    const OpPlan& p = plan_.ops[std::size_t(op.op)];
    const int storage = op.inputs[input];
    if (p.streamed[input]) {
      if (input > 0 && op.inputs[0] == storage) return;  // both operands from one ring
      int& to = streamed_to_[input];
      if (to >= end) return;
      load_rows(op, storage, p.rings[input], to, end);
      to = end;
    } else if (lowering_.storages[std::size_t(storage)].is_input) {
      int& to = loaded_[std::size_t(storage)][std::size_t(buffer_of(op.engine))];
      if (to >= end) return;
      load_rows(op, storage, p.rings[input], to, end);
      to = end;
    }
  }

  // --- layers
  // -------------------------------------------------------------------------------------------------------

  // Input, output and finishing fields that CONV, Window and Add have in common.
  template <class Body>
  void fill_common(const LoweredOp& op, const Ring& in, int first_input_row, int out_row, int rows,
                   const Chunk& c, Body& b) const {
    const RowLayout in_rows(op.in.c, op.in.w, config_.cp);
    const RowLayout out_rows(op.out.c, op.out.w, config_.cp);
    b.in_first = in.first;
    b.in_last = in.last();
    b.in_slot_size = in.slot_size;
    b.in_slot = in.slot(first_input_row);
    b.in_pixel = in_rows.width > 1 ? in_rows.pixel : 0;
    b.top_mod3 = positive_mod(first_input_row, 3);
    b.columns = op.out.w;
    b.rows = rows;
    b.tiles = c.tile_end - c.tile_begin;
    b.params = c.word_at;
    const int group = c.tile_begin * op.tile_channels() / config_.cp;
    b.out_groups = out_rows.groups;
    b.out_group = group;
    b.out_first = group;
    b.out_pixel = out_rows.width > 1 ? out_rows.pixel : 0;
    b.out_row_mod3 = out_row % 3;
    b.out_slot_size = out_rows.slot_size;
    const StoragePlan& sp = plan_.storages[std::size_t(op.output)];
    if (const auto& ring = sp.whole[std::size_t(Buffer::kSb)]) {
      b.to_sb = 1;
      b.sb_first = ring->first;
      b.sb_last = ring->last();
      b.sb_slot = ring->slot(out_row);
    }
    if (const auto& ring = sp.whole[std::size_t(Buffer::kVb)]) {
      b.to_vb = 1;
      b.vb_first = ring->first;
      b.vb_last = ring->last();
      b.vb_slot = ring->slot(out_row);
    }
    b.to_store = sp.in_memory;
    b.zero = op.zero;
    b.low = op.low;
    b.high = op.high;
    b.rule = int(op.rule);
  }

  CommandBody engine_command(const LoweredOp& op, const Chunk& c, int row, int rows) const {
    const OpPlan& p = plan_.ops[std::size_t(op.op)];
    const int top = row * op.stride - op.pad_top;
    const RowLayout in_rows(op.in.c, op.in.w, config_.cp);
    if (op.engine == Engine::kConv) {
      ConvCommand b;
      fill_common(op, p.rings[0], top, row, rows, c, b);
      b.in_step = in_rows.width > 1 ? op.stride * in_rows.pixel : 0;
      b.in_width = op.in.w;
      b.in_height = op.in.h;
      b.top_row = top;
      b.mode = op.array.one_by_one;
      b.stride = op.stride;
      b.pad_left = op.pad_left;
      b.pad_value = op.pad_value;
      b.passes = op.array.passes;
      b.more_piece_rows = op.array.piece_rows - 1;
      b.more_piece_columns = op.array.piece_columns - 1;
      b.weights = c.row_at;
      return b;
    }
    if (op.engine == Engine::kWindow) {
      WindowCommand b;
      fill_common(op, p.rings[0], top, row, rows, c, b);
      b.in_group = 3 * c.tile_begin;
      b.in_width = op.in.w;
      b.in_height = op.in.h;
      b.top_row = top;
      b.kind = int(op.window);
      b.kernel_rows = op.kernel_rows;
      b.kernel_columns = op.kernel_columns;
      b.stride = op.stride;
      b.pad_left = op.pad_left;
      b.pad_value = op.pad_value;
      b.weights = c.row_at;
      return b;
    }
    AddCommand b;
    fill_common(op, p.rings[0], top, row, rows, c, b);
    b.in_group = 3 * c.tile_begin;
    b.in2_first = p.rings[1].first;
    b.in2_last = p.rings[1].last();
    b.in2_slot = p.rings[1].slot(top);
    return b;
  }

  void store(const LoweredOp& op, const Chunk& c, int row, int rows, std::uint32_t part_of) {
    const MemoryLayout& m = plan_.storages[std::size_t(op.output)].memory;
    StoreCommand s;
    s.base = m.base;
    s.offset = m.offset + row * m.row_pitch + c.tile_begin * m.segment_pitch;
    s.row_pitch = rows > 1 ? m.row_pitch : 0;
    s.segments = c.tile_end - c.tile_begin;
    s.segment_pitch = s.segments > 1 ? m.segment_pitch : 0;
    s.rows = rows;
    s.columns = op.out.w;
    s.pixel_bytes = m.pixel_bytes;
    s.last_pixel_bytes = c.tile_end == op.tiles() ? m.last_pixel_bytes : m.pixel_bytes;
    s.from_vector = op.engine != Engine::kConv;
    CommandMeta meta;
    meta.op = op.op;
    meta.tensor = lowering_.storages[std::size_t(op.output)].tensor;
    meta.first_row = row;
    meta.rows = rows;
    meta.columns = op.out.w;
    meta.first_channel = c.tile_begin * op.tile_channels();
    meta.kind = CommandMeta::Bytes::kActivations;
    meta.written_bytes =
        std::int64_t(rows) * op.out.w * ((s.segments - 1) * s.pixel_bytes + s.last_pixel_bytes);
    emit(s, meta, {memory_rows(m, row, row + rows, true, part_of)}, kStoreLatency);
  }

  void body(std::size_t chunk) {
    const Chunk& c = chunks_[chunk];
    const LoweredOp& op = op_of(c);
    const OpPlan& p = plan_.ops[std::size_t(op.op)];
    const StoragePlan& out = plan_.storages[std::size_t(op.output)];
    const std::uint32_t part_of = std::uint32_t(op.output) + 1;
    if (c.tile_begin == 0) streamed_to_.assign(op.inputs.size(), 0);
    for (std::size_t i = 0; i < op.inputs.size(); i++) {
      // A ring that does not hold the whole map starts again for every chunk.
      if (p.streamed[i] && p.rings[i].slots < op.in.h) streamed_to_[i] = 0;
    }
    const bool array = op.engine == Engine::kConv;
    for (int row = 0; row < op.out.h; row += p.block_rows) {
      const int rows = std::min(p.block_rows, op.out.h - row);
      const int in_begin = op.first_row(row);
      const int in_end = op.end_row(row + rows);
      for (std::size_t i = 0; i < op.inputs.size(); i++) {
        // Rows above the window are skipped, if there are any (stride larger than the kernel).
        if (p.streamed[i] && p.rings[i].slots < op.in.h)
          streamed_to_[i] = std::max(streamed_to_[i], in_begin);
        need_rows(op, i, in_end);
      }
      if (out.in_memory) store(op, c, row, rows, part_of);

      std::vector<Access> accesses;
      for (const Ring& ring : p.rings)
        add_rows(accesses, buffer_of(op.engine), ring, in_begin, in_end, false);
      for (int b = 0; b < kBuffers; b++) {
        if (out.whole[std::size_t(b)]) {
          add_rows(accesses, Buffer(b), *out.whole[std::size_t(b)], row, row + rows, true, part_of);
        }
      }
      accesses.push_back({array ? Space::kWb : Space::kVwb, c.row_at, c.row_at + c.rows, false, 0});
      accesses.push_back(
          {array ? Space::kZsbArray : Space::kZsbVector, c.word_at, c.word_at + c.words, false, 0});
      CommandMeta meta;
      meta.op = op.op;
      meta.tensor = lowering_.storages[std::size_t(op.output)].tensor;
      meta.first_row = row;
      meta.rows = rows;
      meta.columns = op.out.w;
      meta.first_channel = c.tile_begin * op.tile_channels();
      meta.tiles = c.tile_end - c.tile_begin;
      meta.tile_channels = op.tile_channels();
      meta.cycles = op.cycles(meta.tiles, rows);
      emit(engine_command(op, c, row, rows), meta, accesses, kEngineLatency + (array ? config_.kp : 0));
      // A next layer of the other engine may start beside this one; what later ones need comes after the
      // rows.
      if (row == 0 && chunk + 1 < chunks_.size() && engine_index(chunks_[chunk + 1]) != engine_index(c)) {
        load_chunks(chunk + 2, false);
      }
      if (row + rows == op.out.h) load_chunks(chunk + 1 + kChunksAhead, false);
    }
  }

  // --- the end
  // ------------------------------------------------------------------------------------------------------

  void finish() {
    const auto [order, cycles] = schedule(program_.commands, costs_);
    program_.modelled_cycles = cycles;
    std::vector<Command> commands;
    std::vector<CommandMeta> meta;
    commands.reserve(order.size());
    meta.reserve(order.size());
    for (std::size_t i : order) {
      commands.push_back(std::move(program_.commands[i]));
      meta.push_back(program_.meta[i]);
    }
    program_.commands = std::move(commands);
    program_.meta = std::move(meta);
    program_.activation_bytes = plan_.activation_bytes;
    program_.input_bytes = plan_.input_bytes;
    program_.output_bytes = plan_.output_bytes;
    for (std::size_t i = 0; i < graph_.inputs.size(); i++) {
      const int storage = lowering_.storage_of[std::size_t(graph_.inputs[i])];
      program_.inputs.push_back({graph_.inputs[i], plan_.storages[std::size_t(storage)].memory});
    }
    for (int storage : lowering_.fetched) {
      program_.outputs.push_back(
          {lowering_.storages[std::size_t(storage)].tensor, plan_.storages[std::size_t(storage)].memory});
    }
    for (const LoweredOp& op : lowering_.ops) {
      const Op& o = graph_.ops[std::size_t(op.op)];
      LayerInfo info;
      info.op = op.op;
      info.on_host = op.engine == Engine::kHost;
      if (op.engine == Engine::kConv) info.array_macs = macs(graph_, o);
      if (op.engine == Engine::kWindow) info.vector_macs = macs(graph_, o);
      const bool computed = op.output >= 0 && lowering_.storages[std::size_t(op.output)].on_host;
      if (info.on_host && computed && o.kind != OpKind::Reshape) {
        program_.notes.push_back("layer '" + o.name + "' (" + std::string(name_of(o.kind)) +
                                 ") runs on the host");
      }
      program_.layers.push_back(info);
    }
    std::sort(program_.layers.begin(), program_.layers.end(),
              [](const LayerInfo& a, const LayerInfo& b) { return a.op < b.op; });
  }

  const Graph& graph_;
  const Config& config_;
  const Lowering& lowering_;
  const Plan& plan_;
  Program program_;
  std::vector<ScheduledCost> costs_;
  HazardTracker hazards_;
  std::vector<Chunk> chunks_;
  std::size_t next_chunk_ = 0;
  Fifo weight_rows_[2];                            // WB, VWB
  Fifo param_words_[2];                            // the array's ZSB, the vector engine's
  std::vector<std::array<int, kBuffers>> loaded_;  // rows of inputs that stay in a buffer
  std::vector<int> streamed_to_;                   // rows of the current operator's rings
};

}  // namespace

Program compile(const Graph& graph, const Config& config, const CompileOptions& options) {
  Lowering lowering = lower(graph, config, options.rounding);
  if (!lowering.refusals.empty()) {
    std::string text = lowering.refusals.front();
    if (lowering.refusals.size() > 1) {
      text += " (and " + std::to_string(lowering.refusals.size() - 1) + " more; inspect lists them all)";
    }
    throw InputError(text);
  }
  const auto build = [&] {
    const Plan plan = place(graph, lowering, config, options.keep_on_chip, options.block_pixels);
    return Emitter(graph, config, lowering, plan).run();
  };
  std::vector<LoweredOp> other = long_operands_last(lowering);
  const bool same = std::equal(other.begin(), other.end(), lowering.ops.begin(), lowering.ops.end(),
                               [](const LoweredOp& a, const LoweredOp& b) { return a.op == b.op; });
  Program program;
  if (same || options.order != OperatorOrder::kLongOperandsLast) program = build();
  if (!same && options.order != OperatorOrder::kGraph) {
    lowering.ops = std::move(other);
    if (options.order == OperatorOrder::kLongOperandsLast) {
      program = build();
    } else {
      try {
        Program reordered = build();
        if (reordered.modelled_cycles < program.modelled_cycles) program = std::move(reordered);
      } catch (const InputError&) {
        // Rows that wait longer may not fit: the first order stands.
      }
    }
  }
  check_rules(program.commands);
  return program;
}

std::vector<std::string> refusals(const Graph& graph, const Config& config, const CompileOptions& options) {
  Lowering lowering = lower(graph, config, options.rounding);
  if (!lowering.refusals.empty()) return std::move(lowering.refusals);
  try {
    compile(graph, config, options);
  } catch (const InputError& e) {
    return {e.what()};
  } catch (const DeviceError& e) {
    return {e.what()};
  }
  return {};
}

}  // namespace kaiten
