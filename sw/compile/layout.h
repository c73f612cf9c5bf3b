// Where bytes lie: tensors in SB and VB, tensors in memory, packed weights and requantisation parameters. The
// text behind every rule is docs/architecture.md, sections "Tensors in SB and VB" to "Requantisation".
#ifndef KAITEN_COMPILE_LAYOUT_H
#define KAITEN_COMPILE_LAYOUT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/quantize.h"

namespace kaiten {

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
// a mod b in 0..b-1, also for negative a.
constexpr int positive_mod(int a, int b) { return ((a % b) + b) % b; }

enum class Buffer : std::uint8_t { kSb, kVb };
constexpr int kBuffers = 2;

// Rows of one shape in a streaming buffer, whatever ring they are in.
struct RowLayout {
  int groups = 0;     // G, words of a pixel that exist
  int pixel = 0;      // P, words from one pixel to the next
  int width = 0;      // columns
  int slot_size = 0;  // addresses of a row

  RowLayout() = default;
  RowLayout(int groups, int width);
  bool operator==(const RowLayout&) const = default;
};

// Consecutive rows of a map, kept circularly in `slots` slots of a buffer.
struct Ring {
  static constexpr int kRowsApart = -1;
  int first = 0;  // address of slot 0
  int slots = 0;
  int slot_size = 0;
  int row0 = 0;  // slot of row 0; counted over all images, it may lie beyond the last
  int map =
      0;  // whose rows these are, apart from those of other times; kRowsApart: parts of several rows share a slot

  // Number of the slot of a row; rows outside the map have one too.
  int index(int row) const { return positive_mod(row0 + row, slots); }
  // Its address.
  int slot(int row) const { return first + index(row) * slot_size; }
  int last() const { return first + (slots - 1) * slot_size; }
  int end() const { return first + slots * slot_size; }
};

// Bank of a word of an absolute row, and its address beyond the row's slot.
constexpr int bank_of(int row, int word) { return positive_mod(word + 3 * row, 9); }
constexpr int address_of(int word) { return word / 9; }

// What the segments of a map take, as values it is known to have pack.
struct SegmentSizes {
  std::vector<std::uint8_t> units;  // [image][row][segment]: what its size surface will be
  bool exact = true;  // false: lanes behind the channels may hold something else than was counted
};

// A map in memory whose segments are compressed where that is shorter (docs/zvc.md).
struct Packing {
  std::int64_t surface = 0;  // of row 0, from the same base register: a byte a segment, [row][segment]
  int zero = 0;              // the value that is left out
  int image = 0;
  std::shared_ptr<const SegmentSizes> sizes = {};  // none: nothing is known
};

// A tensor in memory: [row][segment][column][bytes of the segment's channels]. Offsets count from a base
// register.
struct MemoryLayout {
  int base = 0;
  std::int64_t offset = 0;
  int height = 0;
  int width = 0;
  int channels = 0;
  int segments = 1;
  int segment_groups = 0;  // words of CP bytes in every segment but the last
  int pixel_bytes = 0;     // of every segment but the last
  int last_pixel_bytes = 0;
  std::int64_t segment_pitch = 0;
  std::int64_t row_pitch = 0;
  std::int64_t image_pitch = 0;  // from an image of a batch to the next; 0: all have the same bytes
  std::optional<Packing> packing = {};

  std::int64_t bytes() const { return row_pitch * height; }  // of an image
  std::int64_t surface_bytes() const { return std::int64_t(height) * segments; }
  MemoryLayout of_image(int image) const {
    MemoryLayout m = *this;
    m.offset += image * image_pitch;
    if (!packing) return m;
    m.packing->image = image;
    if (image_pitch != 0) m.packing->surface += image * surface_bytes();
    return m;
  }
  // Place of a row's size surface.
  std::int64_t surface(int row) const { return packing->surface + std::int64_t(row) * segments; }
  // Bytes of a segment of a row.
  std::int64_t segment_bytes(int segment) const {
    return std::int64_t(width) * (segment + 1 == segments ? last_pixel_bytes : pixel_bytes);
  }
  // Byte of a channel, counted from the base register.
  std::int64_t at(int row, int column, int channel) const;
};

// Dense NHWC bytes, as tensors of the host are.
MemoryLayout dense_layout(int height, int width, int channels, int cp);
// As a producer with segments of `segment_groups` words stores it; segments start at multiples of `align`
// bytes.
MemoryLayout spilled_layout(int height, int width, int channels, int segment_groups, int cp, int align);

// How an image in dense memory is presented row-flattened: a pixel is what a kernel row has in front of an
// output column, `bytes` bytes from column * step - lead of the row on; `fill` stands for what lies outside.
struct ImageWindows {
  int width = 0;  // of the image
  int channels = 0;
  int columns = 0;  // output columns
  int bytes = 0;
  int step = 0;
  int lead = 0;
  int fill = 0;
  int skip = 0;  // bytes of a row in front of the first window

  // What LOAD reads of a row.
  int row_bytes() const { return std::min(width * channels - skip, (columns - 1) * step - lead + bytes); }
};

// Pixels of a segment that LOAD writes in one cycle, with P = `pixel` words from one to the next: the words,
// as many as a request has, must lie in different banks, and only pixels of one word may end inside it.
int pixels_together(const MemoryLayout& m, int pixel, int cp, int load_words);

// Kernels of a convolution in the order of the model: OHWI, or 1HWO for a depthwise convolution (multiplier >
// 0).
struct KernelView {
  const std::uint8_t* data = nullptr;
  int out_channels = 0;
  int rows = 1;  // taps of the model; dilated, they lie apart
  int columns = 1;
  int in_channels = 0;
  int multiplier = 0;           // depthwise as a dense convolution: output o sees input o / multiplier only
  int groups = 1;               // group g of the outputs sees group g of the inputs
  std::vector<int> channel_of;  // of every lane of the input, -1 in gaps; empty: lanes are channels
  std::vector<int> moved_from;  // no data: output o is input moved_from[o], below 0 none
  std::vector<int> kernel_of;   // of every output; empty: kernels stand in the order of the outputs
  int dilation_rows = 1;
  int dilation_columns = 1;
  int zero_point = 0;  // of the weights

  // The zero point where an output does not see an input, in gaps, between dilated taps and beyond the kernel; `in` is a lane.
  std::uint8_t at(int out, int row, int column, int in) const;
  // Where the channels from `in` on follow each other in the model, nullptr where they do not.
  const std::uint8_t* run(int out, int row, int column, int in) const;
};

// What the nine words of a DPE are, as in the command field `mode`: 3x3 taps of one channel group, one tap of
// nine groups, or three taps below each other of three groups.
enum class ArrayMode : std::uint8_t { k3x3 = 0, k1x1 = 1, kColumn = 2 };

// How the array sees a convolution's kernels: tiles of kp outputs, pieces of the taps of a DPE, passes of
// input channels.
struct ArrayTiles {
  ArrayMode mode = ArrayMode::k3x3;
  int kp = 0;
  int cp = 0;
  int in_channels = 0;
  int out_channels = 0;
  int piece_rows = 1;
  int piece_columns = 1;
  int passes = 0;  // of a piece
  int tiles = 0;

  ArrayTiles() = default;
  ArrayTiles(ArrayMode mode, int kernel_rows, int kernel_columns, int in_channels, int out_channels, int kp,
             int cp);
  int pieces() const { return piece_rows * piece_columns; }
  int rows_of_piece() const { return passes * kp; }  // WB rows
  int rows_of_tile() const { return pieces() * rows_of_piece(); }
  int kernels(int tile) const { return std::min(kp, out_channels - tile * kp); }  // that exist
  int piece_height() const { return mode == ArrayMode::k1x1 ? 1 : 3; }            // taps
  int piece_width() const { return mode == ArrayMode::k3x3 ? 3 : 1; }
  int pass_groups() const { return 9 / (piece_height() * piece_width()); }
  int channels(int pass) const {
    return std::min(pass_groups() * cp, in_channels - pass * pass_groups() * cp);
  }
  // Bytes of a WB row in memory.
  int row_bytes(int pass) const { return piece_height() * piece_width() * channels(pass); }
  int pass_bytes(int tile, int pass) const { return kernels(tile) * row_bytes(pass); }
  // Of a row of a piece's last pass: words of cp bytes, and bytes of those behind them.
  int last_full_words() const { return channels(passes - 1) / cp * piece_height() * piece_width(); }
  int last_word_bytes() const { return channels(passes - 1) % cp; }
};

// One LOAD of weights: `passes` passes from `first_pass` of `piece` of `tile` on, possibly over several whole
// pieces and tiles.
struct WeightLoad {
  int tile = 0;
  int piece = 0;
  int first_pass = 0;
  int passes = 0;
  int bytes = 0;
};

constexpr int kMaxLoadBytes = 16384;

// Splits tiles [begin, end) into loads of at most kMaxLoadBytes.
std::vector<WeightLoad> split_weights(const ArrayTiles& tiles, int begin, int end);
// Appends the compact bytes of tiles [begin, end): tile, pass, kernel, bytes of the WB row without missing
// channels.
void pack_weights(const ArrayTiles& tiles, const KernelView& kernels, int begin, int end,
                  std::vector<std::uint8_t>& out);

// How the vector engine sees a depthwise convolution: VWB rows (tile, piece, column) of 9 * cp bytes.
struct VectorTiles {
  int cp = 0;
  int channels = 0;
  int kernel_rows = 0;
  int kernel_columns = 0;
  int pieces = 0;
  int tiles = 0;

  VectorTiles() = default;
  // `channels`: lanes of a pixel, gaps included.
  VectorTiles(int channels, int kernel_rows, int kernel_columns, int cp);
  int rows_of_tile() const { return pieces * kernel_columns; }
};

// Kernels of a depthwise convolution, 1HWO.
struct DepthwiseView {
  const std::uint8_t* data = nullptr;
  int channels = 0;
  int rows = 1;
  int columns = 1;
  std::vector<int> channel_of;  // of every lane, -1 in gaps; empty: lanes are channels
  int dilation_rows = 1;
  int dilation_columns = 1;
  int zero_point = 0;  // of the weights

  // The zero point in gaps, between dilated taps and beyond the kernel.
  std::uint8_t at(int row, int column, int lane) const;
};

// Appends the VWB rows of tiles [begin, end).
void pack_vector_weights(const VectorTiles& tiles, const DepthwiseView& weights, int begin, int end,
                         std::vector<std::uint8_t>& out);

// A word of a ZSB.
struct RequantWord {
  std::int32_t bias = 0;
  std::int32_t multiplier = 0;
  int shift = 0;

  bool operator==(const RequantWord&) const = default;
};

constexpr int kRequantBytes = 9;

void pack_params(std::span<const RequantWord> words, std::vector<std::uint8_t>& out);

// A table as ZSB words: eight entries in bias and multiplier of each, little endian.
std::vector<RequantWord> table_words(const ValueTable& table);

// y = x through rule Double.
constexpr RequantWord kIdentityWord{0, 1 << 30, 1};
// sum / cells through rule Average, exact for cells < 2^21.
RequantWord average_word(int cells);
// (sum + 128 * cells) / cells, the average of uint8 values that are stored less 128, through rule Single: half up,
// exact for cells < 2^21. The output's 128 are its zero point.
RequantWord average_word_uint8(int cells);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LAYOUT_H
