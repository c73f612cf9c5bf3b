// Operators as the machine sees them. Lowering decides what one operator becomes (windows of the array,
// windows of the vector engine, an addition) and checks the limits of the hardware; it knows nothing of
// memories.
#ifndef KAITEN_COMPILE_LOWER_H
#define KAITEN_COMPILE_LOWER_H

#include <cstdint>
#include <string>
#include <vector>

#include "compile/config.h"
#include "compile/layout.h"
#include "graph/graph.h"
#include "graph/quantize.h"

namespace kaiten {

enum class Engine : std::uint8_t { kHost, kConv, kWindow, kAdd };

// Values of the command field `kind` of a window.
enum class WindowKind : std::uint8_t { kDepthwise = 0, kMaximum = 1, kAverage = 2 };

// Values of the command field `kind` of an Add.
enum class ElementKind : std::uint8_t { kSum = 0, kLess = 1, kProduct = 2, kFrom = 3 };

// The buffer an engine reads.
constexpr Buffer buffer_of(Engine engine) { return engine == Engine::kConv ? Buffer::kSb : Buffer::kVb; }

struct LoweredOp {
  int op = -1;
  Engine engine = Engine::kHost;
  WindowKind window = WindowKind::kDepthwise;
  ElementKind element = ElementKind::kSum;  // kAdd
  bool broadcast = false;                   // kAdd: the second input is one pixel
  std::vector<int> inputs;  // storage tensors, see Storage
  int output = kNoTensor;   // storage tensor
  // Where the map is read as one pixel of height * width * channels channels (fully connected layers on a
  // map).
  bool flatten = false;
  Nhwc in;  // as the engine reads it
  Nhwc out;

  int kernel_rows = 1;
  int kernel_columns = 1;
  int stride = 1;  // 1 where there is one output pixel only
  int pad_top = 0;
  int pad_left = 0;
  int pad_value = 0;

  ArrayTiles array;                         // kConv
  VectorTiles vector;                       // kWindow, kAdd
  KernelView kernels;                       // kConv
  const std::uint8_t* depthwise = nullptr;  // kWindow: 1HWO
  std::vector<RequantWord> params;
  int zero = 0;
  int low = -128;
  int high = 127;
  Rounding rule = Rounding::Double;

  // As the engine reads input i.
  Nhwc shape_of_input(std::size_t i) const { return broadcast && i == 1 ? Nhwc{1, 1, 1, in.c} : in; }
  int tiles() const { return engine == Engine::kConv ? array.tiles : vector.tiles; }
  // Channels, ZSB words and weight rows of one tile; 0 rows where there are no weights, and for maxima,
  // averages and additions the parameters do not depend on the tile.
  int tile_channels() const { return engine == Engine::kConv ? array.kp : 3 * vector.cp; }
  bool params_per_tile() const { return engine == Engine::kConv || depthwise != nullptr; }
  int weight_rows_of_tile() const;
  // Busy cycles of the engine for so many tiles and output rows.
  std::int64_t cycles(int tiles, int rows) const;
  // First and one past the last input row that output rows [begin, end) read.
  int first_row(int begin) const { return std::max(0, begin * stride - pad_top); }
  int end_row(int end) const { return std::min(in.h, (end - 1) * stride - pad_top + kernel_rows); }
  // The same for input i, from those of the first.
  int first_row_of_input(std::size_t i, int first) const { return broadcast && i == 1 ? 0 : first; }
  int end_row_of_input(std::size_t i, int end) const { return broadcast && i == 1 ? 1 : end; }
};

// A tensor that has memory of its own. Reshaped tensors share the storage of what they were made from, unless
// the host writes that before the run: such tensors are dense in memory, so any shape of them is as good as
// the first.
struct Storage {
  int tensor = kNoTensor;  // graph tensor whose values these are
  Nhwc shape;
  // Known before the run: an input of the graph, or what operators on the host make of it.
  bool is_input = false;
  // Known after the run: made by operators on the host from what the device made.
  bool on_host = false;
  int origin = kNoTensor;  // of inputs: the tensor whose bytes the host writes, before any reshape
  std::vector<std::uint8_t> constant = {};  // values of an operand that is no activation, dense

  bool known_before() const { return is_input || !constant.empty(); }  // in memory when the device starts
};

struct Lowering {
  std::vector<LoweredOp> ops;  // one an operator of the graph, in its order
  std::vector<Storage> storages;
  std::vector<int> storage_of;        // graph tensor to storage, -1: constant or unused
  std::vector<int> fetched;           // storages the host reads: graph outputs, inputs of host operators
  std::vector<std::string> refusals;  // why it cannot run; empty when it can
};

Lowering lower(const Graph& graph, const Config& config, RoundingStyle style);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_H
