// Weights and requantisation parameters on their way into the machine: cut into chunks, each loaded as early as
// its memories have room.
#ifndef KAITEN_COMPILE_WEIGHTS_H
#define KAITEN_COMPILE_WEIGHTS_H

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "compile/command_list.h"
#include "compile/lower.h"
#include "compile/place.h"

namespace kaiten {

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
  std::size_t op = 0;  // position in the lowering
  int tile_begin = 0;
  int tile_end = 0;
  int rows = 0;    // of WB or VWB
  int words = 0;   // of the ZSB
  int row_at = 0;  // where they are
  int word_at = 0;
};

class WeightLoader {
 public:
  WeightLoader(const Graph& graph, const Config& config, const Lowering& lowering, const Plan& plan,
               CommandList& list);

  // Chunks in the order the engines use them.
  const std::vector<Chunk>& chunks() const { return chunks_; }
  const LoweredOp& op_of(const Chunk& c) const { return lowering_.ops[c.op]; }
  // 0: of the array, 1: of the vector engine.
  std::size_t engine_index(const Chunk& c) const { return op_of(c).engine == Engine::kConv ? 0 : 1; }

  // Loads chunks up to `end` as far as they fit; the last one must when it is needed now.
  void load(std::size_t end, bool now);
  // The engines are done with the oldest chunk of its engine.
  void give_back(const Chunk& c);

 private:
  void make_chunks(const Plan& plan);
  void load_params(const Chunk& c);
  void load_weights(const Chunk& c);

  const Graph& graph_;
  const Config& config_;
  const Lowering& lowering_;
  CommandList& list_;
  std::vector<Chunk> chunks_;
  std::size_t next_chunk_ = 0;
  Fifo weight_rows_[2];  // WB, VWB
  Fifo param_words_[2];  // the array's ZSB, the vector engine's
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_WEIGHTS_H
