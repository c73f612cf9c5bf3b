// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Weights and requantisation parameters on their way into the accelerator: cut into chunks in the order of their
// use, loaded as early as their memories have room.
#ifndef KAITEN_COMPILE_EMIT_WEIGHTS_H
#define KAITEN_COMPILE_EMIT_WEIGHTS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "compile/emit/command_list.h"
#include "compile/lower/lowered.h"
#include "compile/spans/compression.h"
#include "compile/spans/spans.h"
#include "program/config.h"

namespace kaiten {

// A memory used as a ring: ranges are taken one after the other, over its end too, and become free in the
// order they were taken.
class RingMemory {
 public:
  // Addresses [base, end) of a memory.
  explicit RingMemory(int end, int base = 0) : base_(base), end_(end) {}

  bool fits(int n) const { return head_ + n - tail_ <= end_ - base_; }
  int take(int n) {  // its address
    const int at = base_ + (end_ > base_ ? int(head_ % (end_ - base_)) : 0);
    head_ += n;
    return at;
  }
  void give_back(int n) { tail_ += n; }
  // `n` addresses after `at`.
  int after(int at, int n) const { return at + n < end_ ? at + n : at + n - (end_ - base_); }
  int end() const { return end_; }
  int base() const { return base_; }

 private:
  int base_;
  int end_;
  std::int64_t head_ = 0;
  std::int64_t tail_ = 0;
};

// Weights over several runs of a program.
enum class WeightResidency : std::uint8_t {
  kReload,         // this run loads all of them
  kPinOnLoad,      // it does, and those that fit PB stay
  kAlreadyPinned,  // an earlier run did: it loads the others
};

struct WeightOptions {
  WeightResidency residency = WeightResidency::kReload;
  Compress compress = Compress::kOff;  // which LOADs read compressed bytes
  int resident_rows = 0;               // of WB that are PB, with kReload
};

// A LOAD of weights of the array; `row` counts from the first of all of them.
struct ArrayLoad {
  LoadWeightsCommand command;
  int tile = 0;  // its first
};
std::vector<ArrayLoad> array_loads(const ArrayTiles& a, std::span<const TileRange> ranges, int weight_zero);

// Tiles of one operator whose weights and parameters are loaded together.
struct Chunk {
  std::size_t span = 0;
  std::size_t op = 0;  // position in the lowering
  int tile_begin = 0;
  int tile_end = 0;
  int rows = 0;    // of WB or VWB, those in PB left out
  int words = 0;   // of the ZSB, those of its table first
  int row_at = 0;  // where they are
  int table_at = 0;
  int word_at = 0;      // behind the table
  bool pinned = false;  // its rows stay from one run to the next
  bool there = false;   // its weights are in them already
  bool loaded = false;  // all its LOADs are emitted
  bool done = false;    // no command uses it any more
  // An earlier chunk of the span that has the same weights and parameters: this one is where that is. Itself: none.
  std::size_t owner = 0;
  int users = 1;  // chunks that have it as owner and are not done

  bool shared(std::size_t number) const { return owner != number; }
};

class WeightLoader {
 public:
  WeightLoader(const Config& config, const Lowering& lowering, const SpanPlan& plan, CommandList& list,
               const WeightOptions& options);

  // Number of the chunk of a span's task.
  std::size_t chunk_of(std::size_t span, std::size_t task, int chunk) const {
    return first_[span][task] + std::size_t(chunk);
  }
  const Chunk& chunk(std::size_t i) const { return chunks_[i]; }
  // What all LOADs read together, before the first one; uncompressed.
  std::int64_t bytes() const;
  // The next LOAD, nullptr when there is no room or nothing left.
  const Offer* next();
  std::size_t span() const { return chunks_[next_].span; }  // it is for
  void emitted();                                           // it was emitted
  void done(std::size_t chunk);
  // Some tiles of a chunk.
  Chunk part(const Chunk& c, int tile_begin, int tile_end) const;
  // What commands that use a chunk read.
  void add_reads(Accesses& accesses, const Chunk& c) const;
  // First WB row of the ring DB; the rows below are PB.
  int wb_split() const { return rows_[0].base(); }

 private:
  bool is_array(const Chunk& c) const { return lowering_.ops[c.op].engine == Engine::kConv; }
  // Whose constants it reads: operators with the same weights have them in memory once.
  std::int64_t owner_of(const Chunk& c) const { return std::int64_t(owners_[c.op]); }
  std::size_t engine(const Chunk& c) const { return is_array(c) ? 0 : 1; }
  std::span<const RequantParams> params_of(const Chunk& c) const;
  void params(const Chunk& c);
  // Loads of ZSB words from word_at on; the name is of their bytes.
  void load_words(const Chunk& c, std::span<const RequantParams> words, int word_at,
                  std::array<std::int64_t, 4> name);
  void weights(const Chunk& c);
  std::int64_t gearbox_cycles(const LoadWeightsCommand& l) const;
  // Chunks that find their weights where another's are.
  void share(const SpanPlan& plan);
  // Gives rows to chunks that are to stay.
  void pin(const SpanPlan& plan);
  // A constant blob, once for all chunks of the same tiles.
  std::int64_t constant(std::array<std::int64_t, 4> name, std::int64_t bytes,
                        std::function<void(std::vector<std::uint8_t>&)> fill);
  // What a LOAD reads: where it is in the constants, and its beats if it is compressed, else 0.
  struct Source {
    std::int64_t offset = 0;
    std::int64_t beats = 0;
  };
  // The weights of a chunk for one LOAD after the other, of so many bytes each.
  std::vector<Source> sources(const Chunk& c, const std::vector<std::int64_t>& bytes,
                              std::function<void(std::vector<std::uint8_t>&)> fill);
  const RingMemory& rows_of(const Chunk& c) const { return c.pinned ? whole_[engine(c)] : rows_[engine(c)]; }
  // Splits [at, at + n) at the end of a memory.
  static void add_access(Accesses& accesses, Space space, int at, int n, const RingMemory& ring, bool write);

  const Config& config_;
  const Lowering& lowering_;
  CommandList& list_;
  std::vector<std::vector<std::size_t>> first_;  // span, task: its first chunk
  std::vector<Chunk> chunks_;
  std::size_t next_ = 0;     // chunk whose LOADs come next
  bool begun_ = false;       // it has its place
  std::deque<Offer> loads_;  // of it, not yet emitted
  WeightResidency residency_;
  Compress compress_;
  std::map<std::array<std::int64_t, 4>, std::int64_t> constants_;  // offsets
  std::map<std::array<std::int64_t, 4>, std::vector<Source>> packed_;
  RingMemory whole_[2];              // WB, VWB
  RingMemory rows_[2];               // what is a ring of them
  RingMemory words_[2];              // the array's ZSB, the vector engine's
  std::vector<std::size_t> owners_;  // weight_owners()
  std::size_t oldest_[2] = {0, 0};   // chunk of each engine that is not given back
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_WEIGHTS_H
