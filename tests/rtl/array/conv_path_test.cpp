// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Random layers through the convolution path (SB -> line buffer -> array with OB -> requantiser -> result writer), every
// output compared with a plain integer model: as written to the second buffer and as handed to STORE.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "Vconv_path.h"
#include "program/command_fields.h"
#include "sim/coverage_file.h"
#include "tests/support/seed.h"
#include "verilated.h"

namespace kaiten {
namespace {

constexpr int kStageRows = PARAM_StageRows;
constexpr int kKp = PARAM_Kp, kCp = PARAM_Cp, kSbDepth = PARAM_SbDepth, kWbRows = PARAM_WbRows,
              kObPixels = PARAM_ObPixels;
constexpr int kZsbDepth = PARAM_ZsbDepth;
constexpr int kWords = kKp / kCp;
constexpr bool kTwoPixels = PARAM_TwoPixels;
constexpr int kTables = 3, kTableWords = 32;

int ceil_div(int a, int b) { return (a + b - 1) / b; }
int mod(int a, int b) { return ((a % b) + b) % b; }

struct Random {
  std::mt19937_64 engine;
  int operator()(int lo, int hi) {
    return lo + static_cast<int>(engine() % static_cast<uint64_t>(hi - lo + 1));
  }
  int8_t byte() { return static_cast<int8_t>(engine()); }
};

struct Channel {
  int32_t bias, mult;
  int shift;
};

// A convolution. Tensors are [row][column][channel] of stored int8 values.
struct Layer {
  int kernel_h = 3, kernel_w = 3, stride = 1, column_stride = 1;
  int mode = 0;  // 3x3, 1x1, column
  int height = 0, width = 0, in_channels = 0, out_channels = 0;
  int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int zero_in = 0, zero_weights = 0, zero_out = 0, low = -128, high = 127;
  bool single = false;
  bool two_pixels = false;          // in a window of the last pass
  std::vector<int8_t> in, weights;  // weights [out][row][column][in]
  std::vector<Channel> channels;
  int out_height() const { return (height + pad_top + pad_bottom - kernel_h) / stride + 1; }
  int kernel_tile_height() const { return mode == 1 ? 1 : 3; }
  int kernel_tile_width() const { return mode == 0 ? 3 : 1; }
  int pass_groups() const {
    return 9 / (kernel_tile_height() * kernel_tile_width());
  }  // channel groups of a pass
  // Of the last pass of two pixels, else 0.
  int pair_groups() const { return two_pixels ? (ceil_div(in_channels, kCp) - 1) % pass_groups() + 1 : 0; }
  int kernel_tile_rows() const { return ceil_div(kernel_h, kernel_tile_height()); }
  int kernel_tile_columns() const { return ceil_div(kernel_w, kernel_tile_width()); }
  int terms() const { return kernel_h * kernel_w * in_channels; }
  // Stored weight at any tap of the kernel tiles, the zero point beyond the kernel and its channels.
  int8_t weight(int out, int row, int column, int in) const {
    if (row >= kernel_h || column >= kernel_w || out >= out_channels || in >= in_channels)
      return static_cast<int8_t>(zero_weights);
    return weights[((static_cast<size_t>(out) * kernel_h + row) * kernel_w + column) * in_channels + in];
  }
  int out_width() const { return (width + pad_left + pad_right - kernel_w) / column_stride + 1; }
};

// TensorFlow Lite's reference requantisation (two roundings), and one rounding of the exact product.
int32_t requantise(int32_t x, const Channel& c, bool single) {
  const int left = std::max(c.shift, 0), right = std::max(-c.shift, 0);
  if (single) {
    const __int128 p = static_cast<__int128>(int64_t{x} << left) * c.mult, half = static_cast<__int128>(1)
                                                                                  << (30 + right);
    const __int128 a = p < 0 ? -p : p, q = (a + half) >> (31 + right);
    return static_cast<int32_t>(p < 0 ? -q : q);
  }
  const int64_t ab = int64_t{static_cast<int32_t>(static_cast<uint32_t>(x) << left)} * c.mult;
  const int64_t nudge = ab >= 0 ? (1 << 30) : (1 - (1 << 30));
  const int32_t high = static_cast<int32_t>((ab + nudge) / (int64_t{1} << 31));
  const int32_t mask = static_cast<int32_t>((int64_t{1} << right) - 1);
  const int32_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return (high >> right) + ((high & mask) > threshold ? 1 : 0);
}

std::vector<int8_t> reference(const Layer& l) {
  const int oh = l.out_height(), ow = l.out_width();
  std::vector<int8_t> out;
  for (int y = 0; y < oh; y++)
    for (int x = 0; x < ow; x++)
      for (int o = 0; o < l.out_channels; o++) {
        int32_t acc = l.channels[o].bias;
        for (int r = 0; r < l.kernel_h; r++)
          for (int c = 0; c < l.kernel_w; c++) {
            const int iy = y * l.stride - l.pad_top + r, ix = x * l.column_stride - l.pad_left + c;
            if (iy < 0 || iy >= l.height || ix < 0 || ix >= l.width) continue;
            const int8_t* a = &l.in[(static_cast<size_t>(iy) * l.width + ix) * l.in_channels];
            const int8_t* w =
                &l.weights[((static_cast<size_t>(o) * l.kernel_h + r) * l.kernel_w + c) * l.in_channels];
            for (int i = 0; i < l.in_channels; i++) acc += (a[i] - l.zero_in) * (w[i] - l.zero_weights);
          }
        out.push_back(static_cast<int8_t>(
            std::clamp(requantise(acc, l.channels[o], l.single) + l.zero_out, l.low, l.high)));
      }
  return out;
}

// Words from one pixel to the next: never a multiple of 3, and `words` of two pixels that are `columns` apart lie in different
// banks.
int pixel_words(int groups, int words, int columns) {
  int pixel = groups % 3 == 0 ? groups + 1 : groups;
  while (pixel % 3 == 0 || columns * pixel % 9 < words || columns * pixel % 9 > 9 - words) pixel++;
  return pixel;
}

// A tensor in a streaming buffer: G groups of CP channels, P words a pixel.
struct Rows {
  int groups, pixel, slots, slot_size, first;
  Rows(int channels, int width, int slots_, int first_, int words, int columns)
      : groups(ceil_div(channels, kCp)),
        pixel(pixel_words(groups, words, columns)),
        slots(slots_),
        slot_size(ceil_div(width * pixel, 9)),
        first(first_) {}
  int slot(int row) const { return first + mod(row, slots) * slot_size; }
  int bank(int row, int word) const { return mod(word + 3 * row, 9); }
  int addr(int row, int word) const { return slot(row) + word / 9; }
  int end() const { return first + slots * slot_size; }
};

class Core {
 public:
  int stall_percent = 0;
  uint64_t cycles = 0, active = 0, done = 0, running = 0;  // running: cycles with a command
  std::deque<std::vector<int8_t>> stored;

  explicit Core(uint64_t seed) : rng_{std::mt19937_64(seed)} {
    context_.randReset(kaiten::sim::kInitialState);
    context_.randSeed(static_cast<int>(seed % 1000000) + 1);
    top_ = std::make_unique<Vconv_path>(&context_);
    top_->cmd_peek_i = top_->cmd_valid_i = top_->sb_we_i = top_->wb_we_i = top_->zsb_we_i = 0;
    top_->clk_i = top_->rst_ni = 0;
    tick();
    tick();
    top_->rst_ni = 1;
    top_->eval();
    done = active = 0;  // what unreset state counted
    stored.clear();
  }
  ~Core() { kaiten::sim::save_coverage(context_); }
  void tick() {
    const bool ready = stall_percent == 0 || rng_(0, 99) >= stall_percent;
    if (top_->st_valid_o && ready_) {
      std::vector<int8_t> pixel(kKp);
      std::memcpy(pixel.data(), &top_->st_data_o, kKp);
      stored.push_back(pixel);
    }
    done += top_->done_o;
    top_->st_ready_i = ready_next_;
    top_->clk_i = 1;
    top_->eval();
    ready_ = ready_next_;  // registered in the wrapper
    ready_next_ = ready;
    top_->clk_i = 0;
    top_->eval();
    cycles++;
    active += top_->active_o;
    running += done < issued_;
  }
  void write_sb(int bank, int addr, const int8_t* word) {
    top_->sb_we_i = 1;
    top_->mem_bank_i = static_cast<uint8_t>(bank);
    top_->mem_addr_i = static_cast<uint16_t>(addr);
    std::memcpy(&top_->mem_data_i, word, kCp);
    tick();
    top_->sb_we_i = 0;
  }
  void write_wb(int row, const int8_t* bytes) {
    top_->wb_we_i = 1;
    top_->mem_addr_i = static_cast<uint16_t>(row);
    std::memcpy(&top_->mem_data_i, bytes, 9 * kCp);
    tick();
    top_->wb_we_i = 0;
  }
  void write_zsb(int addr, const Channel& c) {
    uint8_t bytes[12] = {};
    std::memcpy(bytes, &c.bias, 4);
    std::memcpy(bytes + 4, &c.mult, 4);
    bytes[8] = static_cast<uint8_t>(c.shift);
    top_->zsb_we_i = 1;
    top_->mem_addr_i = static_cast<uint16_t>(addr);
    std::memcpy(&top_->zsb_data_i, bytes, 12);
    tick();
    top_->zsb_we_i = 0;
  }
  void set_split(int split) { top_->wb_split_i = static_cast<uint16_t>(split); }
  void issue(const ConvCommand& command, const ExtendConvCommand& extension) {
    const auto pack = [](const auto& fields) {
      std::array<uint8_t, kCommandBytes> bytes{};
      std::decay_t<decltype(fields)>::fields(
          fields, [&](const char* name, int64_t value, int first, int bits, FieldKind kind) {
            if (kind == FieldKind::kWord) value = value / 9 * 16 + value % 9;
            EXPECT_TRUE(kind == FieldKind::kSigned || (value >> bits) == 0) << name << " = " << value;
            for (int b = 0; b < bits; b++)
              if (value >> b & 1)
                bytes[(first - kHeaderBits + b) / 8] |= static_cast<uint8_t>(1 << (first + b) % 8);
          });
      return bytes;
    };
    while (!top_->cmd_ready_o) tick();
    std::memcpy(&top_->cmd_i, pack(command).data(), (512 - kHeaderBits) / 8);
    std::memcpy(&top_->extension_i, pack(extension).data(), sizeof top_->extension_i);
    top_->cmd_peek_i = 1;
    top_->cmd_valid_i = rng_(0, 1) == 1;
    const bool later = !top_->cmd_valid_i;
    tick();
    top_->cmd_peek_i = top_->cmd_valid_i = 0;
    if (later) {  // the weight loader runs ahead of the other waits
      for (int i = rng_(0, 3 * kKp); i > 0; i--) tick();
      top_->cmd_valid_i = 1;
      tick();
      top_->cmd_valid_i = 0;
    }
    issued_++;
  }
  void wait_done() {
    for (int limit = 2'000'000; done < issued_; limit--) {
      ASSERT_GT(limit, 0) << "the path hangs";
      tick();
    }
    tick();
    tick();
  }
  void read_out(int bank, int addr, int8_t* word) {
    top_->out_bank_i = static_cast<uint8_t>(bank);
    top_->out_addr_i = static_cast<uint16_t>(addr);
    for (int i = 0; i < 3; i++) tick();
    std::memcpy(word, &top_->out_data_o, kCp);
  }

 private:
  Random rng_;
  VerilatedContext context_;
  std::unique_ptr<Vconv_path> top_;
  bool ready_ = false, ready_next_ = true;
  uint64_t issued_ = 0;
};

struct Split {
  int rows, tiles;  // per command
  int slots;        // input ring
  int in_base, out_base, wb_base, wb_split, params;
  int resident;  // passes of a kernel tile in PB, below wb_split, at this row and with rows between kernel tiles
  int resident_base, resident_pitch;
  bool chained;  // issue all commands before reading results (everything must fit)
  bool to_vb, to_store;
  bool look_up;  // results of some commands go through tables
};

using Table = std::array<int8_t, 256>;  // by value + 128

class LayerRun {
 public:
  LayerRun(Core& core, const Layer& l, const Split& s, Random& rng)
      : core_(core),
        l_(l),
        s_(s),
        rng_(rng),
        in_(l.in_channels, l.width, s.slots, s.in_base, l.pair_groups(), l.column_stride),
        out_(l.out_channels, l.out_width(), s.chained ? l.out_height() : s.rows, s.out_base,
             l.two_pixels && rng(0, 1) ? std::min(kWords, ceil_div(l.out_channels, kCp)) : 0, 1),
        channel_passes_(ceil_div(in_.groups, l.pass_groups())),
        passes_(channel_passes_ * l.kernel_tile_rows() * l.kernel_tile_columns()),
        tiles_(ceil_div(l.out_channels, kKp)) {
    for (Table& table : tables_)
      for (int8_t& entry : table) entry = rng_.byte();
    while (s_.look_up && int(table_of_.size()) < ceil_div(tiles_, s_.tiles))
      table_of_.push_back(rng_(-1, kTables - 1));
  }

  bool fits() const {
    return in_.end() <= kSbDepth && out_.end() <= kSbDepth &&
           tiles_ * passes_ * kKp <= kWbRows - s_.wb_split && s_.resident <= channel_passes_ &&
           (s_.resident == 0 || resident_row(tiles_ * kernel_tiles(), 0) <= s_.wb_split) &&
           (s_.params % kKp == 0 ? 0 : s_.params) + tiles_ * kKp + (s_.look_up ? kTables * kTableWords : 0) <=
               kZsbDepth &&
           in_.pixel * l_.column_stride < 9 * 255 && l_.pad_left * in_.pixel < 9 * 128;
  }

  void run() {
    load_weights();
    const int oh = l_.out_height();
    want_ = reference(l_);
    core_.stored.clear();
    if (s_.chained) load_rows(l_.height - 1);
    for (int y = 0; y < oh; y += s_.rows) {
      const int rows = std::min(s_.rows, oh - y);
      if (!s_.chained) load_rows((y + rows - 1) * l_.stride - l_.pad_top + l_.kernel_h - 1);
      for (int tile = 0; tile < tiles_; tile += s_.tiles)
        core_.issue(command(y, rows, tile), extension(tile));
      if (s_.chained) continue;
      core_.wait_done();
      if (s_.to_vb) check_buffer(y, rows);
    }
    core_.wait_done();
    if (s_.chained && s_.to_vb) check_buffer(0, oh);
    if (s_.to_store) check_stored();
    EXPECT_EQ(core_.stored.size(), 0u);
  }

 private:
  int wb_row(int row) const { return row < kWbRows ? row : row - kWbRows + s_.wb_split; }
  int kernel_tiles() const { return passes_ / channel_passes_; }
  // In PB: of a kernel tile, counted over all tiles.
  int resident_row(int kernel_tile, int pass) const {
    return s_.resident_base + kernel_tile * s_.resident_pitch + pass * kKp;
  }
  // Channel groups of a kernel tile's last pass; the words of others hold anything where PB has that pass.
  int last_groups() const { return in_.groups - (channel_passes_ - 1) * l_.pass_groups(); }
  bool masked() const {
    return l_.mode != 0 && s_.resident == channel_passes_ && last_groups() < l_.pass_groups();
  }

  // WB row of output channel k of (tile, pass): nine words; lanes without a channel get the zero point.
  void load_weights() {
    core_.set_split(s_.wb_split);
    int addr = s_.wb_base;
    for (int tile = 0; tile < tiles_; tile++)
      for (int pass = 0; pass < passes_; pass++)
        for (int k = 0; k < kKp; k++) {
          int8_t bytes[9 * kCp] = {};
          const int o = tile * kKp + k;
          const int group = pass % channel_passes_, kernel_tile = pass / channel_passes_;
          const int top = l_.kernel_tile_height() * (kernel_tile / l_.kernel_tile_columns());
          const int left = l_.kernel_tile_width() * (kernel_tile % l_.kernel_tile_columns());
          for (int t = 0; t < 9; t++) {  // rows, then columns or channel groups
            const int row = t % l_.kernel_tile_height(), next = t / l_.kernel_tile_height();
            const int g = group * l_.pass_groups() + (l_.mode == 0 ? 0 : next);
            for (int c = 0; c < kCp; c++)
              bytes[t * kCp + c] =
                  masked() && g >= in_.groups
                      ? rng_.byte()
                      : l_.weight(o, top + row, left + (l_.mode == 0 ? next : 0), g * kCp + c);
          }
          if (group < s_.resident) {
            core_.write_wb(resident_row(tile * kernel_tiles() + kernel_tile, group) + k, bytes);
          } else {
            core_.write_wb(wb_row(addr++), bytes);
          }
        }
    const size_t n = static_cast<size_t>(l_.terms());
    for (int o = 0; o < l_.out_channels; o++) {
      Channel c = l_.channels[o];
      int32_t sum = 0;
      for (size_t i = 0; i < n; i++) sum += l_.weights[o * n + i] - l_.zero_weights;
      c.bias -= l_.zero_in * sum;
      core_.write_zsb((s_.params + o) % kZsbDepth, c);
    }
    for (int t = 0; s_.look_up && t < kTables; t++) load_table(t);
  }

  // Behind the parameters: eight entries a word.
  int table_word(int t) const { return (s_.params + tiles_ * kKp + t * kTableWords) % kZsbDepth; }
  void load_table(int t) {
    for (int w = 0; w < kTableWords; w++) {
      Channel c{};
      std::memcpy(&c.bias, &tables_[size_t(t)][size_t(8 * w)], 4);
      std::memcpy(&c.mult, &tables_[size_t(t)][size_t(8 * w + 4)], 4);
      core_.write_zsb((table_word(t) + w) % kZsbDepth, c);
    }
  }
  // Of the command that makes this tile; -1: none.
  int table_of(int tile) const { return s_.look_up ? table_of_[size_t(tile / s_.tiles)] : -1; }

  // Bring input rows up to `last` into the ring; channels that do not exist hold garbage.
  void load_rows(int last) {
    for (; next_row_ <= std::min(last, l_.height - 1); next_row_++)
      for (int i = 0; i < l_.width * in_.pixel; i++) {
        int8_t word[kCp];
        for (int c = 0; c < kCp; c++) {
          const int channel = i % in_.pixel * kCp + c;
          word[c] = channel < l_.in_channels
                        ? l_.in[(static_cast<size_t>(next_row_) * l_.width + i / in_.pixel) * l_.in_channels +
                                channel]
                        : rng_.byte();
        }
        core_.write_sb(in_.bank(next_row_, i), in_.addr(next_row_, i), word);
      }
  }

  int want(int y, int x, int c) const {
    const int value = want_[(static_cast<size_t>(y) * l_.out_width() + x) * l_.out_channels + c];
    const int t = table_of(c / kKp);
    return t < 0 ? value : tables_[size_t(t)][size_t(value + 128)];
  }

  void check_buffer(int y, int rows) {
    for (int r = y; r < y + rows; r++)
      for (int x = 0; x < l_.out_width(); x++)
        for (int g = 0; g < out_.groups; g++) {
          int8_t word[kCp];
          const int i = x * out_.pixel + g;
          core_.read_out(out_.bank(r, i), out_.addr(r, i), word);
          for (int c = 0; c < kCp && g * kCp + c < l_.out_channels; c++)
            ASSERT_EQ(word[c], want(r, x, g * kCp + c))
                << "buffer, row " << r << " column " << x << " channel " << g * kCp + c;
        }
  }

  void check_stored() {
    for (int y = 0; y < l_.out_height(); y += s_.rows)
      for (int tile = 0; tile < tiles_; tile++)
        for (int r = y; r < std::min(y + s_.rows, l_.out_height()); r++)
          for (int x = 0; x < l_.out_width(); x++) {
            ASSERT_FALSE(core_.stored.empty());
            const auto pixel = core_.stored.front();
            core_.stored.pop_front();
            for (int k = 0; k < kKp && tile * kKp + k < l_.out_channels; k++)
              ASSERT_EQ(pixel[k], want(r, x, tile * kKp + k)) << "STORE, row " << r << " column " << x;
          }
  }

  ConvCommand command(int y, int rows, int tile) {
    const int top = y * l_.stride - l_.pad_top, ow = l_.out_width();
    ConvCommand c;
    c.in_first = in_.first, c.in_last = in_.slot(in_.slots - 1), c.in_slot_size = in_.slot_size,
    c.in_slot = in_.slot(top);
    c.in_pixel = in_.pixel, c.in_step = l_.column_stride * in_.pixel;
    c.pair_groups = l_.pair_groups();
    if (l_.mode != 0) c.in_group = mod(-l_.pad_left * in_.pixel, 9 * 256);
    c.in_width = l_.width, c.in_height = l_.height, c.top_row = top, c.top_mod3 = mod(top, 3);
    c.mode = l_.mode, c.stride = l_.stride, c.column_stride = l_.column_stride, c.pad_left = l_.pad_left,
    c.pad_value = l_.zero_in, c.weight_zero = l_.zero_weights;
    c.columns = ow, c.rows = rows, c.tiles = std::min(s_.tiles, tiles_ - tile), c.passes = channel_passes_;
    c.more_kernel_tile_rows = l_.kernel_tile_rows() - 1,
    c.more_kernel_tile_columns = l_.kernel_tile_columns() - 1;
    c.weights = wb_row(s_.wb_base + tile * kernel_tiles() * (channel_passes_ - s_.resident) * kKp),
    c.params = (s_.params + tile * kKp) % kZsbDepth;
    c.out_groups = out_.groups, c.out_group = c.out_first = tile * kWords, c.out_pixel = out_.pixel;
    c.out_row_mod3 = mod(y, 3), c.out_slot_size = out_.slot_size;
    c.vb_first = out_.first, c.vb_last = out_.slot(out_.slots - 1), c.vb_slot = out_.slot(y);
    c.to_vb = s_.to_vb, c.to_store = s_.to_store;
    c.zero = l_.zero_out, c.low = l_.low, c.high = l_.high, c.rule = l_.single ? 1 : 0;
    return c;
  }

  ExtendConvCommand extension(int tile) const {
    ExtendConvCommand e;
    e.look_up = table_of(tile) >= 0;
    if (e.look_up) e.table_word = table_word(table_of(tile));
    if (s_.resident == 0) return e;
    e.resident = resident_row(tile * kernel_tiles(), 0), e.resident_pitch = s_.resident_pitch;
    e.resident_passes = s_.resident, e.last_groups = masked() ? last_groups() : 0;
    return e;
  }

  Core& core_;
  const Layer& l_;
  Split s_;
  Random& rng_;
  Rows in_, out_;
  int channel_passes_, passes_, tiles_, next_row_ = 0;  // passes of a kernel tile, of a tile
  std::vector<int8_t> want_;
  std::array<Table, kTables> tables_{};
  std::vector<int> table_of_;  // of the commands of a row of blocks
};

void fill(Layer& l, Random& rng) {
  l.in.resize(static_cast<size_t>(l.height) * l.width * l.in_channels);
  l.weights.resize(static_cast<size_t>(l.out_channels) * l.terms());
  l.channels.resize(l.out_channels);
  for (auto& v : l.in) v = rng.byte();
  for (auto& v : l.weights) v = rng.byte();
  const int right = std::max(0, 11 - __builtin_clz(l.terms()));
  for (auto& c : l.channels) {
    c.bias = rng(-20000, 20000);
    c.mult = rng(0, 3) == 0 ? 1 << 30
                            : rng(1 << 30, 2147483647);  // powers of two give ties of the second rounding
    c.shift = rng(0, 7) == 0 ? rng(1, 2) : -std::clamp(rng(6, 11) + right, 0, 31);
    if (rng(0, 63) == 0) c.mult = 0;
  }
  const int zeros[] = {-128, 127, rng(-128, 127)};
  l.zero_in = zeros[rng(0, 2)];
  l.zero_out = zeros[rng(0, 2)];
  if (rng(0, 1)) l.zero_weights = rng(0, 2) ? rng(-30, 30) : zeros[rng(0, 2)];
  l.low = rng(0, 1) ? l.zero_out : -128;
  l.high = rng(0, 3) ? 127 : std::max(l.low, rng(0, 127));
  l.single = rng(0, 3) == 0;
}

int same_padding(int size, int kernel, int stride) {
  return std::max(0, (ceil_div(size, stride) - 1) * stride + kernel - size);
}

// Kernel 1x1 in its own mode, or 3x3.
void small_kernel(Layer& l, Random& rng) {
  l.mode = rng(0, 1);
  l.kernel_h = l.kernel_w = l.mode == 1 ? 1 : 3;
  l.width = rng(0, 3) ? rng(1, 20) : rng(21, 56);
  l.height = rng(1, l.width > 20 ? 10 : 16);
  l.in_channels = rng(1, l.mode == 1 ? 25 * kCp : 6 * kCp);
  if (rng(0, 3) == 0) l.in_channels = rng(1, kCp);  // one pass: tiles follow each other quickly
  if (l.mode == 0 && rng(0, 1)) l.pad_top = l.pad_left = l.pad_bottom = l.pad_right = 1;  // PyTorch
}

// Any kernel, often larger than the map; pads up to 15, also such that windows, rows of windows and whole kernel tiles lie
// outside the map.
void large_kernel(Layer& l, Random& rng) {
  l.mode = rng(0, 2);
  const int most = rng(0, 2) ? 6 : 16;
  l.kernel_h = rng(1, most), l.kernel_w = rng(1, most);
  if (rng(0, 5) == 0) (rng(0, 1) ? l.kernel_h : l.kernel_w) = 1;
  l.width = rng(0, 2) ? rng(1, 12) : rng(13, 40);
  l.height = rng(1, l.width > 20 ? 6 : 12);
  l.in_channels = rng(0, 1) ? rng(1, kCp) : rng(1, most == 6 ? 4 * kCp : 2 * kCp);
  const int pads = rng(0, 3) ? most - 1 : 15;
  l.pad_left = rng(0, std::min(pads, rng(0, 3) ? l.kernel_w - 1 : 15)),
  l.pad_right = rng(0, std::min(pads, l.kernel_w + 2));
  l.pad_top = rng(0, std::min(pads, l.kernel_h)), l.pad_bottom = rng(0, std::min(pads, l.kernel_h));
  if (l.mode == 0 && rng(0, 7) == 0) {  // up to sixteen kernel tiles beside each other
    l.kernel_h = rng(1, 3), l.kernel_w = rng(17, 48);
    l.in_channels = rng(1, kCp);
    l.pad_left = rng(0, std::min(31, l.kernel_w)), l.pad_right = rng(0, 10);
    l.pad_top = l.pad_bottom = 0;
  }
}

// Two pixels at once.
void pair_layer(Layer& l, Random& rng) {
  l.two_pixels = true;
  l.mode = 1, l.kernel_h = l.kernel_w = 1;
  l.pad_top = l.pad_left = l.pad_bottom = l.pad_right = 0;
  l.stride = rng(0, 3) ? 1 : rng(1, 3), l.column_stride = rng(0, 3) ? 1 : 1 << rng(0, 2);
  const int passes = rng(0, 1) ? 1 : rng(2, 3);
  const int least = passes > 1 ? 2 * l.column_stride + 1 : 1;  // columns: three windows at least
  l.width = std::max(least, rng(0, 3) ? rng(1, 20) : rng(21, 56));
  l.height = rng(1, l.width > 20 ? 10 : 16);
  l.in_channels = ((passes - 1) * 9 + rng(0, 3)) * kCp + rng(1, kCp);
}

// Makes few layers large, each in another way.
void large_layer(Layer& l, Random& rng) {
  switch (rng(0, 99)) {
    case 0:
      l.width = std::min(1000, rng(40, 85) * l.column_stride + l.kernel_w);
      l.in_channels = rng(1, 3 * kCp);
      break;
    case 1:
      l.mode = 0, l.kernel_h = l.kernel_w = 3, l.column_stride = rng(1, 2);
      l.height = l.width = rng(3, 4);
      l.in_channels = rng(129 * kCp, 400 * kCp), l.out_channels = rng(1, kKp);
      break;
    case 2:
      l.height = l.kernel_h, l.width = l.kernel_w;
      l.in_channels = rng(1, kCp), l.out_channels = rng(1, 235 * kKp);
      break;
    default:
      break;
  }
}

Layer random_layer(Random& rng) {
  Layer l;
  l.stride = l.column_stride = rng(1, 2);
  if (rng(0, 2) == 0) {
    small_kernel(l, rng);
  } else {
    large_kernel(l, rng);
  }
  // rows any, columns any where a read is a whole window
  if (rng(0, 2) == 0) l.stride = rng(0, 3) ? rng(1, 5) : rng(1, 15);
  if (rng(0, 2) == 0) l.column_stride = l.mode == 0 ? rng(1, 2) : rng(0, 3) ? rng(1, 5) : rng(1, 15);
  if (l.pad_left == 0 && rng(0, 2) == 0) {  // TensorFlow SAME
    const int ph = same_padding(l.height, l.kernel_h, l.stride),
              pw = same_padding(l.width, l.kernel_w, l.column_stride);
    l.pad_top = ph / 2, l.pad_bottom = ph - ph / 2, l.pad_left = pw / 2, l.pad_right = pw - pw / 2;
  }
  // at least one window
  l.height = std::max(l.height, l.kernel_h - l.pad_top - l.pad_bottom);
  l.width = std::max(l.width, l.kernel_w - l.pad_left - l.pad_right);
  l.out_channels = rng(1, kKp <= 8 ? 5 * kKp : 3 * kKp);
  large_layer(l, rng);
  if (kTwoPixels && rng(0, 3) == 0) pair_layer(l, rng);
  fill(l, rng);
  if (l.two_pixels) l.zero_weights = 0;
  return l;
}

TEST(ConvPath, RandomLayers) {
  const uint64_t seed = test::seed();
  Core core(seed);
  int tried = 0;
  for (int number = 0; tried < PARAM_LAYERS; number++) {
    Random rng{std::mt19937_64(seed * 1000003 + static_cast<uint64_t>(number))};
    const Layer l = random_layer(rng);
    const int oh = l.out_height(), ow = l.out_width(), tiles = ceil_div(l.out_channels, kKp);
    Split s{};
    s.rows = rng(0, 3) ? rng(1, std::min(oh, kObPixels / ow)) : 1;  // short passes too, down to one pixel
    s.tiles = rng(1, tiles);
    s.chained = rng(0, 1) == 0;
    s.slots = std::max(s.chained ? l.height + 2 : (s.rows - 1) * l.stride + l.kernel_h + rng(0, 3), l.stride);
    s.in_base = rng(0, 100), s.out_base = rng(0, 100);
    // anywhere, or so that tiles go on at ZSB's beginning
    s.params = rng(0, 1) ? kStageRows * rng(0, 100 / kStageRows) : kZsbDepth - kKp * rng(1, 3);
    s.wb_split = rng(0, 2) ? 0 : kStageRows * rng(1, kWbRows / 2 / kStageRows);
    s.wb_base = kStageRows * rng(s.wb_split / kStageRows, kWbRows / kStageRows - 1);
    if (s.wb_split > 0) {
      const int passes = ceil_div(ceil_div(l.in_channels, kCp), l.pass_groups());
      s.resident = rng(0, 1) ? passes : rng(0, passes);
      s.resident_base = kStageRows * rng(0, s.wb_split / kStageRows / 4);
      s.resident_pitch = kKp * (s.resident + rng(0, 2));
    }
    s.to_store = rng(0, 1) == 0, s.to_vb = !s.to_store || rng(0, 1) == 0;
    core.stall_percent = rng(0, 1) ? rng(0, 90) : 0;
    s.look_up = rng(0, 2) == 0;
    LayerRun run(core, l, s, rng);
    if (!run.fits()) continue;
    tried++;
    SCOPED_TRACE(testing::Message() << "layer " << number << ": " << l.kernel_h << "x" << l.kernel_w << "/"
                                    << l.stride << "," << l.column_stride << " mode " << l.mode << " in "
                                    << l.height << "x" << l.width << "x" << l.in_channels << " out " << oh
                                    << "x" << ow << "x" << l.out_channels << " pads " << l.pad_top << ' '
                                    << l.pad_left << ' ' << l.pad_bottom << ' ' << l.pad_right << " rows "
                                    << s.rows << " tiles " << s.tiles << " slots " << s.slots << " chained "
                                    << s.chained << " two pixels " << l.two_pixels << " resident "
                                    << s.resident << " tables " << s.look_up << " stall "
                                    << core.stall_percent << " zero points " << l.zero_in << ' '
                                    << l.zero_weights);
    run.run();
    if (testing::Test::HasFailure()) return;
  }
}

// Each window that is needed is emitted once, no other is, and rows, passes and kernel tiles follow each other without bubbles.
TEST(ConvPath, EmitsEachWindowOnce) {
  for (const auto& [kernel, mode] : {std::pair{3, 0}, {5, 0}, {7, 0}, {3, 1}, {3, 2}, {5, 2}}) {
    SCOPED_TRACE(testing::Message() << "kernel " << kernel << " mode " << mode);
    Random rng{std::mt19937_64(7)};
    Core core(1);
    Layer l;
    l.kernel_h = l.kernel_w = kernel, l.mode = mode;
    l.height = l.width = 14, l.in_channels = 2 * kCp, l.out_channels = 2 * kKp;
    l.pad_top = l.pad_left = l.pad_bottom = l.pad_right = kernel / 2;
    fill(l, rng);
    Split s{};
    s.rows = 7, s.tiles = 2, s.chained = true, s.slots = 18, s.to_vb = true;
    LayerRun run(core, l, s, rng);
    ASSERT_TRUE(run.fits());
    run.run();
    const int passes = l.kernel_tile_rows() * l.kernel_tile_columns() * ceil_div(2, l.pass_groups());
    EXPECT_EQ(core.active, 14u * 14u * 2u * static_cast<unsigned>(passes));  // one per pixel, pass and tile
    // Two commands, each with the first weights before it and the latency behind it.
    EXPECT_LE(core.running, core.active + 2 * (3 * kKp / kStageRows + 40));
  }
}

// Tables are read while the command before runs: commands that look up follow each other as the others do.
TEST(ConvPath, TablesCostNoTime) {
  uint64_t cycles[2];
  for (const bool look_up : {false, true}) {
    Random rng{std::mt19937_64(7)};
    Core core(1);
    Layer l;
    l.kernel_h = l.kernel_w = 1, l.mode = 1;
    l.height = l.width = 14, l.in_channels = 9 * kCp, l.out_channels = 8 * kKp;
    fill(l, rng);
    Split s{};
    s.rows = 7, s.tiles = 1, s.chained = true, s.slots = 14, s.to_vb = true, s.look_up = look_up;
    LayerRun run(core, l, s, rng);
    ASSERT_TRUE(run.fits());
    run.run();
    cycles[look_up] = core.running;
  }
  EXPECT_LE(cycles[1], cycles[0] + kTableWords + 40);  // the first one has nothing before it
}

// Two pixels at once take half the windows of the last pass, and one more in a row of odd width.
TEST(ConvPath, TwoPixelsTakeOneWindow) {
  if (!kTwoPixels) GTEST_SKIP() << "built without two pixels";
  for (const auto& [width, passes] : {std::pair{1, 1}, {2, 1}, {14, 1}, {15, 1}, {14, 2}, {15, 3}}) {
    SCOPED_TRACE(testing::Message() << "width " << width << " passes " << passes);
    Random rng{std::mt19937_64(7)};
    Core core(1);
    Layer l;
    l.kernel_h = l.kernel_w = 1, l.mode = 1, l.two_pixels = true;
    l.height = 14, l.width = width, l.in_channels = (9 * passes - 6) * kCp, l.out_channels = 2 * kKp;
    fill(l, rng);
    l.zero_weights = 0;
    Split s{};
    s.rows = 7, s.tiles = 2, s.chained = true, s.slots = 18, s.to_vb = true;
    LayerRun run(core, l, s, rng);
    ASSERT_TRUE(run.fits());
    run.run();
    EXPECT_EQ(core.active, 14u * 2u * static_cast<unsigned>((passes - 1) * width + ceil_div(width, 2)));
  }
}

}  // namespace
}  // namespace kaiten
