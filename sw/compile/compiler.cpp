#include "compile/compiler.h"

#include <algorithm>
#include <set>

#include "compile/command_list.h"
#include "compile/engine_commands.h"
#include "compile/lower.h"
#include "compile/order.h"
#include "compile/place.h"
#include "compile/rows.h"
#include "compile/weights.h"
#include "graph/error.h"

namespace kaiten {

namespace {

// Chunks of weights that may be loaded ahead of the one in use.
constexpr std::size_t kChunksAhead = 3;

class Emitter {
 public:
  Emitter(const Graph& graph, const Config& config, const Lowering& lowering, const Plan& plan)
      : graph_(graph),
        config_(config),
        lowering_(lowering),
        plan_(plan),
        list_(graph, config),
        weights_(graph, config, lowering, plan, list_),
        rows_(config, lowering, plan, list_) {}

  Program run() {
    for (std::size_t c = 0; c < weights_.chunks().size(); c++) {
      weights_.load(c + 1, true);
      body(c);
      weights_.give_back(weights_.chunks()[c]);
    }
    finish();
    return std::move(list_.program);
  }

 private:
  void body(std::size_t chunk) {
    const Chunk& c = weights_.chunks()[chunk];
    const LoweredOp& op = lowering_.ops[c.op];
    const OpPlan& p = plan_.ops[c.op];
    const StoragePlan& out = plan_.storages[std::size_t(op.output)];
    const EngineContext context{config_, p, out};
    const std::uint32_t part_of = std::uint32_t(op.output) + 1;
    if (c.tile_begin == 0) rows_.start(c.op);
    rows_.start_chunk(c.op);
    const bool array = op.engine == Engine::kConv;
    for (int row = 0; row < op.out.h; row += p.block_rows) {
      const int rows = std::min(p.block_rows, op.out.h - row);
      const int in_begin = op.first_row(row);
      const int in_end = op.end_row(row + rows);
      rows_.need(c.op, in_begin, in_end);
      CommandMeta meta;
      meta.op = op.op;
      meta.tensor = lowering_.storages[std::size_t(op.output)].tensor;
      meta.first_row = row;
      meta.rows = rows;
      meta.columns = op.out.w;
      meta.first_channel = c.tile_begin * op.tile_channels();
      if (out.in_memory) {
        const StoreCommand s = store_command(context, op, c, row, rows);
        CommandMeta stored = meta;
        stored.kind = CommandMeta::Bytes::kActivations;
        stored.written_bytes =
            std::int64_t(rows) * op.out.w * ((s.segments - 1) * s.pixel_bytes + s.last_pixel_bytes);
        const Access access = memory_rows(out.memory, row, row + rows, true, part_of);
        list_.emit(s, stored, {&access, 1}, kStoreLatency);
      }
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
      meta.tiles = c.tile_end - c.tile_begin;
      meta.tile_channels = op.tile_channels();
      meta.cycles = op.cycles(meta.tiles, rows);
      list_.emit(engine_command(context, op, c, row, rows), meta, accesses,
                 kEngineLatency + (array ? config_.kp : 0));
      // A next layer of the other engine may start beside this one; what later ones need comes after the
      // rows.
      const auto& chunks = weights_.chunks();
      if (row == 0 && chunk + 1 < chunks.size() &&
          weights_.engine_index(chunks[chunk + 1]) != weights_.engine_index(c)) {
        weights_.load(chunk + 2, false);
      }
      if (row + rows == op.out.h) weights_.load(chunk + 1 + kChunksAhead, false);
    }
  }

  void finish() {
    list_.schedule();
    Program& program = list_.program;
    program.activation_bytes = plan_.activation_bytes;
    program.input_bytes = plan_.input_bytes;
    program.output_bytes = plan_.output_bytes;
    std::set<int> written;  // reshapes of an input have its memory
    for (std::size_t i = 0; i < lowering_.storages.size(); i++) {
      const Storage& s = lowering_.storages[i];
      const MemoryLayout& memory = plan_.storages[i].memory;
      if (s.is_input && memory.base == int(Base::kInputs) && written.insert(s.origin).second)
        program.inputs.push_back({s.origin, memory});
    }
    for (int storage : lowering_.fetched) {
      program.outputs.push_back(
          {lowering_.storages[std::size_t(storage)].tensor, plan_.storages[std::size_t(storage)].memory});
    }
    for (const LoweredOp& op : lowering_.ops) {
      const Op& o = graph_.ops[std::size_t(op.op)];
      LayerInfo info;
      info.op = op.op;
      info.on_host = op.engine == Engine::kHost;
      if (op.engine == Engine::kConv) info.array_macs = macs(graph_, o);
      if (op.engine == Engine::kWindow) info.vector_macs = macs(graph_, o);
      // What is left of other operators without an engine is a change of shape.
      const Storage& made = lowering_.storages[std::size_t(op.output)];
      if (info.on_host && o.kind != OpKind::Reshape && (made.on_host || made.origin == o.output)) {
        program.notes.push_back("layer '" + o.name + "' (" + std::string(name_of(o.kind)) +
                                 ") runs on the host");
      }
      program.layers.push_back(info);
    }
    std::sort(program.layers.begin(), program.layers.end(),
              [](const LayerInfo& a, const LayerInfo& b) { return a.op < b.op; });
  }

  const Graph& graph_;
  const Config& config_;
  const Lowering& lowering_;
  const Plan& plan_;
  CommandList list_;
  WeightLoader weights_;
  RowLoader rows_;
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
