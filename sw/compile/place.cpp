#include "compile/place.h"

#include <algorithm>
#include <map>

#include "graph/error.h"

namespace kaiten {

namespace {

// Small commands let the engines work on neighbouring layers at the same time, but passes of fewer pixels
// than the array has rows cannot hide the loading of weights, and every command costs a few cycles: measured
// best on ResNet-8 and the demo network.
constexpr int kMinBlockPixels = 16;
// Memory regions start at multiples of this, whatever the bus.
constexpr std::int64_t kRegionAlign = 64;

// First fit over the addresses of a buffer.
class Addresses {
 public:
  explicit Addresses(int depth) : depth_(depth) {}

  std::optional<int> take(int size) {
    int at = 0;
    auto it = used_.begin();
    for (; it != used_.end() && it->first < at + size; ++it) at = it->second;
    if (at + size > depth_) return std::nullopt;
    used_.insert(it, {at, at + size});
    return at;
  }
  void give_back(int first) {
    used_.erase(std::find_if(used_.begin(), used_.end(), [&](const auto& u) { return u.first == first; }));
  }

 private:
  int depth_;
  std::vector<std::pair<int, int>> used_;  // sorted
};

class Placer {
 public:
  Placer(const Graph& graph, const Lowering& lowering, const Config& config, bool keep, int block_pixels)
      : graph_(graph), lowering_(lowering), config_(config), block_pixels_(block_pixels) {
    const std::size_t n = lowering.storages.size();
    uses_.resize(n);
    denied_.assign(n, {!keep, !keep});
    for (std::size_t i = 0; i < lowering.ops.size(); i++) {
      const LoweredOp& op = lowering.ops[i];
      if (op.engine == Engine::kHost) continue;
      for (int s : op.inputs) {
        Uses& u = uses_[std::size_t(s)];
        if (op.flatten) {
          u.flattened = true;
        } else {
          u.last[std::size_t(buffer_of(op.engine))] = int(i);
        }
      }
    }
  }

  Plan run() {
    while (!attempt()) {
    }
    assign_memory();
    return std::move(plan_);
  }

 private:
  struct Uses {
    std::array<int, kBuffers> last{-1, -1};  // position of the last operator that reads it
    bool flattened = false;                  // a fully connected layer reads its bytes from memory

    bool any() const { return flattened || last[0] >= 0 || last[1] >= 0; }
  };

  // One walk over the operators. False when a tensor was denied its place and the walk must start again.
  bool attempt() {
    plan_ = {};
    plan_.storages.resize(lowering_.storages.size());
    plan_.ops.resize(lowering_.ops.size());
    Addresses space[kBuffers] = {Addresses(config_.sb_depth), Addresses(config_.vb_depth)};
    for (std::size_t position = 0; position < lowering_.ops.size(); position++) {
      const LoweredOp& op = lowering_.ops[position];
      if (op.engine == Engine::kHost) continue;
      const Buffer buffer = buffer_of(op.engine);
      Addresses& own = space[std::size_t(buffer)];
      OpPlan& p = plan_.ops[position];
      p.chunk_tiles = chunk_tiles(op);
      p.block_rows = preferred_rows(op);
      std::vector<int> rings;  // to be given back after the operator
      const int slot_size = RowLayout(op.in.c, op.in.w, config_.cp).slot_size;
      for (std::size_t i = 0; i < op.inputs.size(); i++) {
        const int s = op.inputs[i];
        StoragePlan& sp = plan_.storages[std::size_t(s)];
        std::optional<Ring>& whole = sp.whole[std::size_t(buffer)];
        if (!op.flatten && !whole && lowering_.storages[std::size_t(s)].is_input)
          keep_whole(s, buffer, slot_size, op.in.h, own);
        if (!op.flatten && whole) {
          p.rings.push_back(*whole);
          p.streamed.push_back(false);
          continue;
        }
        if (i > 0 && op.inputs[0] == s) {
          p.rings.push_back(p.rings[0]);
          p.streamed.push_back(true);
          continue;
        }
        const std::optional<Ring> ring = stream_ring(op, slot_size, p, own);
        if (!ring) {
          make_room(op, buffer, slot_size);
          return false;
        }
        rings.push_back(ring->first);
        p.rings.push_back(*ring);
        p.streamed.push_back(true);
        sp.in_memory = true;
      }
      place_output(op, space);
      for (int first : rings) own.give_back(first);
      release(int(position), space);
    }
    return true;
  }

  void keep_whole(int storage, Buffer buffer, int slot_size, int rows, Addresses& space) {
    if (denied_[std::size_t(storage)][std::size_t(buffer)]) return;
    if (const auto first = space.take(slot_size * rows)) {
      plan_.storages[std::size_t(storage)].whole[std::size_t(buffer)] = Ring{*first, rows, slot_size};
      live_[std::size_t(buffer)].push_back(storage);
    }
  }

  void place_output(const LoweredOp& op, Addresses* space) {
    const Uses& u = uses_[std::size_t(op.output)];
    StoragePlan& sp = plan_.storages[std::size_t(op.output)];
    const int slot_size = RowLayout(op.out.c, op.out.w, config_.cp).slot_size;
    bool used = false;
    for (int b = 0; b < kBuffers; b++) {
      if (u.last[std::size_t(b)] < 0) continue;
      used = true;
      keep_whole(op.output, Buffer(b), slot_size, op.out.h, space[b]);
      if (!sp.whole[std::size_t(b)]) sp.in_memory = true;
    }
    const bool fetched =
        std::find(lowering_.fetched.begin(), lowering_.fetched.end(), op.output) != lowering_.fetched.end();
    if (!used || u.flattened || fetched) sp.in_memory = true;
  }

  void release(int op, Addresses* space) {
    for (int b = 0; b < kBuffers; b++) {
      std::erase_if(live_[std::size_t(b)], [&](int s) {
        if (uses_[std::size_t(s)].last[std::size_t(b)] != op) return false;
        space[b].give_back(plan_.storages[std::size_t(s)].whole[std::size_t(b)]->first);
        return true;
      });
    }
    if (op + 1 == int(lowering_.ops.size())) live_ = {};
  }

  // Denies the largest tensor in the buffer its place; throws when there is none.
  void make_room(const LoweredOp& op, Buffer buffer, int slot_size) {
    auto& live = live_[std::size_t(buffer)];
    if (live.empty()) {
      const int depth = buffer == Buffer::kSb ? config_.sb_depth : config_.vb_depth;
      const Op& o = graph_.ops[std::size_t(op.op)];
      throw InputError(
          "layer '" + o.name + "' (" + std::string(name_of(o.kind)) + "): limit: " + std::to_string(depth) +
          " addresses of " + (buffer == Buffer::kSb ? "SB" : "VB") +
          ", found: " + std::to_string(std::min(op.kernel_rows, op.in.h) * int(op.inputs.size())) +
          " rows of " + std::to_string(slot_size) + " addresses");
    }
    const auto size = [&](int s) {
      const Ring& r = *plan_.storages[std::size_t(s)].whole[std::size_t(buffer)];
      return r.slots * r.slot_size;
    };
    const int largest =
        *std::max_element(live.begin(), live.end(), [&](int a, int b) { return size(a) < size(b); });
    denied_[std::size_t(largest)][std::size_t(buffer)] = true;
    live_ = {};
  }

  // Output rows of a command: enough pixels, even blocks, inside OB.
  int preferred_rows(const LoweredOp& op) const {
    const int pixels = block_pixels_ > 0 ? block_pixels_ : std::max(kMinBlockPixels, config_.kp * 3 / 2);
    int rows = ceil_div(pixels, op.out.w);
    if (op.engine == Engine::kConv) rows = std::min(rows, config_.ob_pixels / op.out.w);
    rows = std::clamp(rows, 1, op.out.h);
    return ceil_div(op.out.h, ceil_div(op.out.h, rows));
  }

  // Input rows under `rows` output rows.
  static int rows_under(const LoweredOp& op, int rows) {
    return std::min(op.in.h, (rows - 1) * op.stride + op.kernel_rows);
  }

  // A ring for rows from memory, with room for the rows of the next command where possible.
  std::optional<Ring> stream_ring(const LoweredOp& op, int slot_size, OpPlan& p, Addresses& space) {
    const auto take = [&](int rows) -> std::optional<Ring> {
      if (const auto first = space.take(rows * slot_size)) return Ring{*first, rows, slot_size};
      return std::nullopt;
    };
    if (p.chunk_tiles < op.tiles()) {  // all rows are read once for each chunk of weights: better keep them
      if (auto ring = take(op.in.h)) return ring;
    }
    // Rings of several inputs share the block size: a later one may make it smaller, never larger.
    for (int rows = p.block_rows; rows >= 1; rows--) {
      p.block_rows = rows;
      if (auto ring = take(std::min(op.in.h, rows_under(op, rows) + rows * op.stride))) return ring;
    }
    return take(rows_under(op, 1));
  }

  // Tiles whose weights and parameters are loaded together: all, or as many as half of the memories holds, so
  // that the next ones can be loaded meanwhile.
  int chunk_tiles(const LoweredOp& op) const {
    const bool array = op.engine == Engine::kConv;
    const int rows = op.weight_rows_of_tile();
    const int words = op.params_per_tile() ? op.tile_channels() : 0;
    const int row_capacity = array ? config_.wb_rows : config_.vwb_rows;
    const int word_capacity = array ? config_.zsb_array : config_.zsb_vector;
    int tiles = op.tiles();
    if (rows > 0) tiles = std::min(tiles, std::max(1, row_capacity / 2 / rows));
    if (words > 0) tiles = std::min(tiles, std::max(1, word_capacity / 2 / words));
    return tiles;
  }

  void assign_memory() {
    const auto region = [&](std::int64_t& total, std::int64_t bytes) {
      const std::int64_t at = (total + kRegionAlign - 1) / kRegionAlign * kRegionAlign;
      total = at + bytes;
      return at;
    };
    std::map<int, std::int64_t> offset_of;  // of inputs, by origin
    for (std::size_t i = 0; i < lowering_.storages.size(); i++) {
      const Storage& s = lowering_.storages[i];
      if (!s.is_input || !uses_[i].any()) continue;
      StoragePlan& sp = plan_.storages[i];
      sp.memory = dense_layout(s.shape.h, s.shape.w, s.shape.c, config_.cp);
      sp.memory.base = 2;
      const auto [offset, is_new] = offset_of.try_emplace(s.origin, 0);
      if (is_new) offset->second = region(plan_.input_bytes, std::int64_t(s.shape.elements()));
      sp.memory.offset = offset->second;
    }
    for (const LoweredOp& op : lowering_.ops) {
      if (op.engine == Engine::kHost) continue;
      StoragePlan& sp = plan_.storages[std::size_t(op.output)];
      if (!sp.in_memory) continue;
      const int groups = op.engine == Engine::kConv ? config_.kp / config_.cp : 3;
      const int align = uses_[std::size_t(op.output)].flattened ? 1 : config_.axi_bytes;
      sp.memory = spilled_layout(op.out.h, op.out.w, op.out.c, groups, config_.cp, align);
      const bool fetched =
          std::find(lowering_.fetched.begin(), lowering_.fetched.end(), op.output) != lowering_.fetched.end();
      sp.memory.base = fetched ? 3 : 1;
      sp.memory.offset = region(fetched ? plan_.output_bytes : plan_.activation_bytes, sp.memory.bytes());
    }
  }

  const Graph& graph_;
  const Lowering& lowering_;
  const Config& config_;
  int block_pixels_;
  std::vector<Uses> uses_;
  std::vector<std::array<bool, kBuffers>> denied_;
  std::array<std::vector<int>, kBuffers> live_;  // storages kept whole, now
  Plan plan_;
};

}  // namespace

Plan place(const Graph& graph, const Lowering& lowering, const Config& config, bool keep_on_chip,
           int block_pixels) {
  return Placer(graph, lowering, config, keep_on_chip, block_pixels).run();
}

}  // namespace kaiten
