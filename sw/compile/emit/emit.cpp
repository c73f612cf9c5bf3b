// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/emit.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "compile/spans/stripes.h"

namespace kaiten {

namespace {

// A producer so many blocks ahead of its consumer with the earliest deadline lets others go first.
constexpr int kBlocksAhead = 2;

Queue queue_of(const Offer& o) {
  Command c;
  c.body = o.body;
  return c.queue();
}

}  // namespace

Emitter::Emitter(const Graph& graph, const Config& config, const PlacedPlan& placed,
                 const WeightOptions& weights)
    : graph_(graph),
      config_(config),
      lowering_(placed.lowering),
      plan_(placed.plan),
      placement_(placed.placement),
      list_(graph, config),
      weights_(config, lowering_, plan_, list_, weights),
      weight_bytes_(plan_.spans.size()),
      activation_bytes_(plan_.spans.size()) {
  find_spans();
  for (const StorageId s : lowering_.storages.ids()) {
    const std::vector<std::uint8_t>& values = lowering_.storages[s].constant;
    if (values.empty()) continue;
    const Nhwc& shape = lowering_.storages[s].shape;
    PartPlan& part = placement_.parts[s][0];
    part.in_memory = true;
    part.memory = dense_layout(shape.h, shape.w, shape.c, config.cp);
    part.memory.base = int(Base::kConstants);
    part.memory.offset = list_.constant(
        std::int64_t(values.size()),
        [&values](std::vector<std::uint8_t>& out) { out.insert(out.end(), values.begin(), values.end()); });
  }
}

void Emitter::run() {
  for (std::size_t k = 0; k < placement_.spans.size(); k++) run_span(k);
}

bool Emitter::better(const Candidate& a, const Candidate& b) {
  if (a.ahead != b.ahead) return b.ahead;
  if (a.start != b.start) return a.start < b.start;
  return a.node > b.node;
}

void Emitter::find_waits(Candidate& c) const {
  const Offer& last = c.all().back();
  c.queue = queue_of(last);
  c.wait = list_.waits_of(c.queue, all_of(last.accesses));
}

// What a candidate waited for before stays among its waits, though what is emitted now may have waited for that: its
// start is the same.
void Emitter::emit_candidate(const Candidate& c, Candidates& ready, Candidate& weights) {
  for (const Offer& o : c.all()) {
    list_.emit(o);
    const auto queue = std::size_t(queue_of(o));
    const auto wait_for_it = [&](Candidate& other) {
      const Offer& last = other.all().back();
      if (must_wait(other.queue, all_of(last.accesses), Queue(queue), all_of(o.accesses)))
        other.wait[queue] = list_.counts()[queue];
    };
    for (std::optional<Candidate>& other : ready) {
      if (other && &*other != &c) wait_for_it(*other);
    }
    if (weights.weights != nullptr && &weights != &c) wait_for_it(weights);
  }
}

Emitter::Best Emitter::best_of(std::size_t k, Candidates& ready, Candidate& weights) {
  const SpanRows& rows = placement_.spans[k].rows;
  Best best{};
  const Offer* next = weights_.next();
  bool starved = false;
  for (int n = 0; n < rows.flow.nodes(); n++) {
    std::optional<Candidate>& c = ready[std::size_t(n)];
    if (!c && !rows.flow.ready(n)) continue;
    const SpanRows::Node& node = rows.nodes[std::size_t(n)];
    if (!c && node.storage.exists()) {
      c = load(k, n);
      find_waits(*c);
    } else if (!c && weights_.chunk(weights_.chunk_of(k, node.task, rows.flow.next(n).chunk)).loaded) {
      c = block(k, n);
      find_waits(*c);
    } else if (!c) {
      starved = true;
      continue;
    }
    c->ahead = rows.flow.blocks_ahead(n) >= kBlocksAhead;
    c->start = list_.start_after(c->queue, c->wait);
    const Candidate*& b = best[std::size_t(c->queue)];
    if (b == nullptr || better(*c, *b)) b = &*c;
  }
  // Weights go before rows when an operator waits for nothing else, or when the rows are far ahead.
  const Candidate*& load = best[std::size_t(Queue::kLoad)];
  if (next != nullptr && (starved || load == nullptr || load->ahead)) {
    if (weights.weights == nullptr) {
      weights.weights = next;
      find_waits(weights);
    }
    weights.start = list_.start_after(weights.queue, weights.wait);
    load = &weights;
  }
  return best;
}

void Emitter::run_span(std::size_t k) {
  PlacedSpan& span = placement_.spans[k];
  RowFlow& flow = span.rows.flow;
  Candidates ready(std::size_t(flow.nodes()));
  int left = flow.nodes();
  narrow_.clear();
  for (int s = 0, n = plan_.spans[k].stripes; n > 1 && s < n; s++)
    narrow_.push_back(narrowed(only_op(k), stripe_of(only_op(k), s, n)));
  Candidate weights;
  while (left > 0) {
    const Candidate* next = nullptr;
    for (const Candidate* b : best_of(k, ready, weights)) {
      if (b != nullptr &&
          (next == nullptr || b->start < next->start || (b->start == next->start && b->node > next->node))) {
        next = b;
      }
    }
    if (next == nullptr) throw std::logic_error("a span plan that gets stuck");
    const Candidate& c = *next;
    const int n = c.node;
    emit_candidate(c, ready, weights);
    if (c.node < 0) {
      weight_bytes_[weights_.span()] += c.weights->meta.read_bytes;
      weights_.emitted();
      weights.weights = nullptr;
      continue;
    }
    for (const Offer& o : c.offers) activation_bytes_[k] += o.meta.read_bytes + o.meta.written_bytes;
    ready[std::size_t(n)].reset();
    const RowFlow::Block b = flow.next(n);
    flow.advance(n);
    if (flow.done(n)) left--;
    const SpanRows::Node& node = span.rows.nodes[std::size_t(n)];
    const bool last_of_chunk = flow.done(n) || flow.next(n).chunk != b.chunk;
    if (!node.storage.exists() && last_of_chunk) weights_.done(weights_.chunk_of(k, node.task, b.chunk));
  }
}

const LoweredOp& Emitter::op_of(std::size_t k, int n) const {
  const std::size_t task = placement_.spans[k].rows.nodes[std::size_t(n)].task;
  return lowering_.ops[plan_.spans[k].tasks[task].position];
}

const LoweredOp& Emitter::only_op(std::size_t k) const {
  return lowering_.ops[plan_.spans[k].tasks.front().position];
}

Emitter::Candidate Emitter::load(std::size_t k, int n) const {
  const PlacedSpan& span = placement_.spans[k];
  const RowFlow& flow = span.rows.flow;
  const SpanRows::Node& node = span.rows.nodes[std::size_t(n)];
  const RowFlow::Block b = flow.next(n);
  const Storage& storage = lowering_.storages[node.storage];
  std::array<std::optional<Ring>, kBuffers> rings;
  for (int r : flow.node(n).rings) {
    rings[std::size_t(span.rows.rings[std::size_t(r)].buffer)] = span.ring(r, b.image);
  }
  RowSource source;
  source.image = plan_.spans[k].image(b.image);
  source.storage = node.storage;
  source.mod3_offset = storage.mod3_offset;
  source.windows = storage.windows;
  const int stripes = plan_.spans[k].stripes;
  source.rows = storage.rows(stripes > 1 ? widest_input(only_op(k), stripes) : storage.shape.w);
  if (storage.bytes_of.exists()) source.shape_of = part_plan(storage.bytes_of).memory.of_image(source.image);
  // Counted for the first operator that reads it.
  for (int consumer = 0; consumer < flow.nodes() && source.op < 0; consumer++) {
    const auto& inputs = flow.node(consumer).inputs;
    const bool reads = std::any_of(inputs.begin(), inputs.end(), [&](const RowFlow::Input& in) {
      return std::find(in.producers.begin(), in.producers.end(), n) != in.producers.end();
    });
    if (reads) source.op = op_of(k, consumer).op;
  }
  Candidate c;
  c.node = n;
  for (int part : node.parts) {
    source.tensor = storage.parts[std::size_t(part)].tensor;
    source.zero = graph_.tensors[std::size_t(source.tensor)].zero_point();
    source.first_group = storage.parts[std::size_t(part)].group;
    source.memory = placement_.parts[node.storage][std::size_t(part)].memory.of_image(source.image);
    std::vector<RowSource> sources{source};
    if (stripes > 1) {
      const Stripe stripe = stripe_of(only_op(k), b.image % stripes, stripes);
      sources = source.columns(stripe.in_begin, stripe.in_end);
    }
    for (const RowSource& columns : sources) {
      for (const RowSource& s : columns.by_segments()) {
        std::vector<Offer> loads = load_rows(config_, list_, s, rings, b.first_row, b.first_row + b.rows);
        if (c.offers.empty())
          c.offers = std::move(loads);
        else
          std::move(loads.begin(), loads.end(), std::back_inserter(c.offers));
      }
    }
  }
  return c;
}

const PartPlan& Emitter::part_plan(ViewId view) const {
  return placement_.parts[lowering_.views[view].storage][std::size_t(lowering_.parts_of(view).front())];
}

struct Emitter::Block {
  const Span& span;
  const Task& task;
  RowFlow::Block rows;
  const LoweredOp& op;  // as the stripe has it
  Stripe stripe;
  const PartPlan& out;
  MemoryLayout memory;  // of `out` for the image
  std::uint32_t part_of;
};

// All but the tiles of an engine's command: rings, ranges, what it is for.
Offer Emitter::rows_offer(const Block& b, std::size_t k, int n, EngineContext& context) const {
  const PlacedSpan& span = placement_.spans[k];
  const RowFlow& flow = span.rows.flow;
  const int row_end = b.rows.first_row + b.rows.rows;
  Offer o;
  const auto& inputs = flow.node(n).inputs;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const Ring ring = span.ring(inputs[i].ring, b.rows.image);
    context.inputs.push_back(ring);
    const RowUse use{buffer_of(b.op.engine), ring,
                     b.op.first_row_of_input(i, b.op.first_row(b.rows.first_row)),
                     b.op.end_row_of_input(i, b.op.end_row(row_end)), false};
    add_rows(o, use);
  }
  for (int r : flow.node(n).rings) {
    const Buffer buffer = span.rows.rings[std::size_t(r)].buffer;
    const Ring ring = span.ring(r, b.rows.image);
    context.outputs[std::size_t(buffer)] = ring;
    add_rows(o, {buffer, ring, b.rows.first_row, row_end, true}, b.part_of);
  }
  o.meta.op = b.op.op;
  o.meta.tensor = b.op.tensor;
  o.meta.image = b.span.image(b.rows.image);
  o.meta.first_row = b.rows.first_row;
  o.meta.rows = b.rows.rows;
  o.meta.first_column = b.stripe.out_begin;
  o.meta.columns = b.op.out.w;
  o.meta.tile_channels = b.op.tile_channels();
  o.meta.spans = spans_[b.task.position];
  o.latency = kEngineLatency + (b.op.engine == Engine::kConv ? config_.array_depth() : 0);
  return o;
}

// The STORE of some tiles' results, before the command that makes them.
Offer Emitter::store_offer(const Block& b, const Chunk& tiles, const EngineContext& context,
                           const CommandMeta& meta) const {
  const int row = b.rows.first_row, rows = b.rows.rows;
  const StoreCommand s = store_command(context, b.op, tiles, row, rows);
  Offer store;
  store.meta = meta;
  store.meta.kind = CommandMeta::Bytes::kActivations;
  store.meta.written_bytes =
      std::int64_t(rows) * b.op.out.w * ((s.segments - 1) * s.pixel_bytes + s.last_pixel_bytes);
  store.accesses = {memory_rows(b.memory, row, row + rows, true, b.part_of)};
  if (b.memory.packing) {
    store.meta.packed = moved(config_, b.memory, {row, row + rows, tiles.tile_begin, tiles.tile_end});
    store.accesses.push_back(surface_rows(b.memory, row, row + rows, true, b.part_of));
  }
  store.latency = kStoreLatency;
  store.body = s;
  return store;
}

// The tiles of a chunk by command: the columns of a stripe begin elsewhere in a shorter last segment, and commands whose
// weights lie in PB in part have other tiles than those without.
std::vector<Chunk> Emitter::tiles_of_commands(const Block& b, const Chunk& chunk) const {
  const bool shorter = b.out.in_memory && b.memory.last_pixel_bytes != b.memory.pixel_bytes;
  const int last = b.op.tiles() - 1;
  std::vector<int> ends{chunk.tile_end};
  if (b.span.stripes > 1 && shorter && chunk.tile_end > last) ends.push_back(last);
  ends.push_back(b.op.resident.tiles);
  std::sort(ends.begin(), ends.end());
  std::vector<Chunk> parts;
  int begin = chunk.tile_begin;
  for (const int end : ends) {
    if (end <= begin || end > chunk.tile_end) continue;
    const bool whole = begin == chunk.tile_begin && end == chunk.tile_end;
    parts.push_back(whole ? chunk : weights_.part(chunk, begin, end));
    begin = end;
  }
  return parts;
}

Emitter::Candidate Emitter::block(std::size_t k, int n) const {
  const PlacedSpan& span = placement_.spans[k];
  const RowFlow& flow = span.rows.flow;
  const RowFlow::Block rows = flow.next(n);
  const Span& planned = plan_.spans[k];
  const std::size_t task = span.rows.nodes[std::size_t(n)].task;
  const LoweredOp& whole = op_of(k, n);
  Stripe stripe{0, whole.out.w, 0, whole.in.w};
  if (planned.stripes > 1) stripe = stripe_of(whole, rows.image % planned.stripes, planned.stripes);
  const LoweredOp& op = planned.stripes > 1 ? narrow_[std::size_t(rows.image % planned.stripes)] : whole;
  const PartPlan& out = part_plan(op.output);
  const Block b{planned,
                planned.tasks[task],
                rows,
                op,
                stripe,
                out,
                out.memory.of_image(planned.image(rows.image)),
                std::uint32_t(lowering_.views[op.output].storage.index()) + 1};
  const Chunk& chunk = weights_.chunk(weights_.chunk_of(k, task, rows.chunk));

  EngineContext context{config_, lowering_, {}, {}, nullptr};
  Offer offer = rows_offer(b, k, n, context);
  weights_.add_reads(offer.accesses, chunk);
  Candidate c;
  c.node = n;
  const std::vector<Chunk> parts = tiles_of_commands(b, chunk);
  c.offers.reserve(2 * parts.size());
  for (const Chunk& tiles : parts) {
    offer.meta.first_channel = tiles.tile_begin * op.tile_channels();
    MemoryLayout columns = b.memory;
    if (out.in_memory) {
      const bool last = tiles.tile_begin == op.tiles() - 1;
      columns.offset +=
          std::int64_t(stripe.out_begin) * (last ? columns.last_pixel_bytes : columns.pixel_bytes);
      context.memory = &columns;
      c.offers.push_back(store_offer(b, tiles, context, offer.meta));
    }
    Offer& engine = c.offers.emplace_back(offer);
    engine.meta.tiles = tiles.tile_end - tiles.tile_begin;
    engine.meta.cycles = op.cycles(engine.meta.tiles, rows.rows, out.in_memory);
    engine.body = engine_command(context, op, tiles, rows.first_row, rows.rows);
    engine.extension = extension_of(op, tiles);
  }
  return c;
}

std::vector<SpanInfo> Emitter::span_infos() const {
  std::vector<SpanInfo> infos;
  for (std::size_t k = 0; k < plan_.spans.size(); k++) {
    const std::vector<Task>& tasks = plan_.spans[k].tasks;
    const PlacedSpan& placed = placement_.spans[k];
    const LoweredOp& last = lowering_.ops[tasks.back().position];
    SpanInfo info;
    info.first_op = lowering_.ops[tasks.front().position].op;
    info.last_op = last.op;
    for (const Task& t : tasks) {
      info.ops.push_back(lowering_.ops[t.position].op);
      info.streamed |= t.chunks() > 1;
    }
    for (std::size_t i = 0; i < placed.rings.size(); i++) {
      const Ring& r = placed.rings[i];
      const SpanRows::Ring& of = placed.rows.rings[i];
      const std::int64_t bytes = std::int64_t(r.slots) * r.slot_size * 9 * config_.cp;
      const std::vector<Part>& parts = lowering_.storages[of.storage].parts;
      info.kept.push_back(
          {parts.empty() ? kNoTensor : parts.front().tensor, of.buffer == Buffer::kVb, r.slots, bytes});
      info.rows_bytes += bytes;
    }
    info.weights_bytes = weight_bytes_[k];
    info.activation_bytes = activation_bytes_[k];
    if (plan_.held[lowering_.views[last.output].storage]) {
      info.boundary = SpanInfo::Boundary::kHeld;
    } else if (k + 1 < plan_.spans.size() && plan_.stored[tasks.back().position]) {
      info.boundary = SpanInfo::Boundary::kSpilled;
    }
    infos.push_back(info);
  }
  return infos;
}

Program Emitter::finish(bool constants) {
  Program program = list_.finish(constants);
  program.images = plan_.images;
  program.notes = graph_.notes;
  program.wb_split = weights_.wb_split();
  program.activation_bytes = placement_.activation_bytes;
  program.input_bytes = placement_.input_bytes;
  program.output_bytes = placement_.output_bytes;
  std::set<int> written;  // reshapes of an input have its memory
  for (const StorageId i : lowering_.storages.ids()) {
    const Storage& s = lowering_.storages[i];
    if (!s.is_input) continue;
    const PartPlan& part = placement_.parts[i][0];
    if (part.in_memory && written.insert(s.origin).second) program.inputs.push_back({s.origin, part.memory});
  }
  for (const Lowering::Fetched& f : lowering_.fetched) program.outputs.push_back(output_of(f));
  program.channel_spans = std::move(channel_spans_);
  program.results.resize(graph_.tensors.size());
  program.layers.resize(graph_.ops.size());
  for (std::size_t i = 0; i < graph_.ops.size(); i++) program.layers[i].op = int(i);
  for (const LoweredOp& op : lowering_.ops) note_layer(op, program);
  for (std::size_t at = 0; at < lowering_.ops.size(); at++) {
    const LoweredOp& op = lowering_.ops[at];
    if (!on_device(op.engine) || !plan_.stored[at]) continue;
    const MemoryLayout& map = part_plan(op.output).memory;
    if (!map.packing) continue;
    for (int image = 0; image < plan_.images; image++)
      program.compressed.push_back({op.tensor, op.op, map.of_image(image)});
  }
  program.spans = span_infos();
  return program;
}

// How an operator's results map to channels, where it is not one by one.
void Emitter::find_spans() {
  for (const LoweredOp& op : lowering_.ops) {
    spans_.push_back(-1);
    if (!on_device(op.engine)) continue;
    const bool whole = op.first_channel == 0 && op.out.c == graph_.tensors[std::size_t(op.tensor)].nhwc().c;
    if (whole && (op.engine == Engine::kConv || op.channel_of.empty())) continue;
    spans_.back() = int(channel_spans_.size());
    channel_spans_.push_back(lowering_.views[op.output].channels.spans(config_.cp, op.first_channel));
  }
}

MemoryOutput Emitter::output_of(const Lowering::Fetched& f) const {
  MemoryOutput o{f.tensor, {}};
  const View& view = lowering_.views[f.view];
  const std::vector<Part>& parts = lowering_.storage_of(f.view).parts;
  for (const Segment& segment : view.channels.segments()) {
    // A segment may run over several parts that follow each other without a gap.
    int left = segment.channels;
    int lane = segment.group * config_.cp;
    for (std::size_t i = 0; i < parts.size() && left > 0; i++) {
      const int begin = parts[i].group * config_.cp;
      const int end = begin + parts[i].groups * config_.cp;
      if (lane < begin || lane >= end) continue;
      const int n = std::min(left, end - lane);
      o.parts.push_back({placement_.parts[view.storage][i].memory, lane - begin, n});
      lane += n;
      left -= n;
    }
  }
  return o;
}

void Emitter::note_layer(const LoweredOp& op, Program& program) const {
  const Op& o = graph_.ops[std::size_t(op.op)];
  LayerInfo& info = program.layers[std::size_t(op.op)];
  switch (op.engine) {
    case Engine::kNone:
      return;
    case Engine::kHost: {
      info.on_host = true;
      // Other operators without an engine are changes of shape.
      const Storage& made = lowering_.storage_of(op.output);
      if (o.kind != OpKind::Reshape && (made.on_host || made.origin == o.output)) {
        info.place = Place::kHost;
        program.notes.push_back("layer '" + o.name + "' (" + std::string(name_of(o.kind)) +
                                ") runs on the host");
      }
      return;
    }
    case Engine::kConv:
      info.place = Place::kArray;
      info.array_macs = macs(graph_, o);
      break;
    default:
      info.place = Place::kVector;
      if (info.array_macs == 0) info.vector_macs = macs(graph_, o);
  }
  program.results[std::size_t(op.tensor)] += op.out.elements();
}

}  // namespace kaiten
