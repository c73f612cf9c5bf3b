// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_vector against plain loops. VB holds random bytes throughout: a command reads a tensor wherever its ring
// happens to lie, so that every channel, padding group and neighbour is different data. The test stands in
// for VB (words two cycles after the request is decided), for the result writer (credits, starts) and for the
// queue, each with random stalls. Arithmetic follows TensorFlow Lite's kernels: zero points are subtracted
// there, cells outside the map are skipped; the command's bias and padding value are derived from that as the
// compiler does.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "Vkt_vector.h"
#include "program/command_fields.h"
#include "tests/rtl/common/kt_pkg.h"
#include "tests/support/model.h"

namespace kaiten {
namespace {

constexpr int kCp = PARAM_Cp, kLanes = 3 * kCp;
constexpr bool kFloat = PARAM_Float, kAverage = PARAM_Average, kTable = PARAM_Table;
constexpr int kVwbRows = PARAM_VwbRows, kZsbDepth = PARAM_ZsbDepth, kVbDepth = 4096;
constexpr int kLatency = 13;  // from the slot that takes the credit to the result
constexpr bool kWideTable = PARAM_WideTable;
constexpr int kTableLatency = kWideTable ? 14 : 16, kTableWords = 32;
constexpr int kTableRoom = kTableWords + 2;  // up to the parameters

int ceil_div(int a, int b) { return (a + b - 1) / b; }
int mod(int a, int b) { return ((a % b) + b) % b; }

struct Random {
  std::mt19937_64 engine{test::seed()};
  int operator()(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); }
  bool chance(int percent) { return (*this)(1, 100) <= percent; }
  std::int8_t byte() { return static_cast<std::int8_t>(engine()); }
  template <class T, std::size_t n>
  T pick(const std::array<T, n>& from) {
    return from[static_cast<std::size_t>((*this)(0, n - 1))];
  }
};

// ---- requantisation, written as in the frameworks

struct Param {
  std::int32_t bias = 0, mult = 1 << 30;
  int shift = 0;
};

struct Finish {
  int zero = 0, low = -128, high = 127, rule = 0;
};

std::int32_t rounded_twice(std::int32_t x, std::int32_t mult, int shift) {
  x = static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << std::max(shift, 0));
  const std::int64_t product = std::int64_t{x} * mult;
  const std::int64_t nudge = product >= 0 ? (1 << 30) : (1 - (1 << 30));
  const auto high = static_cast<std::int32_t>((product + nudge) / (std::int64_t{1} << 31));
  const int right = std::max(-shift, 0);
  const auto mask = static_cast<std::int32_t>((std::int64_t{1} << right) - 1);
  return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0 ? 1 : 0) ? 1 : 0);
}

std::int32_t rounded_once(std::int32_t x, std::int32_t mult, int shift) {
  const __int128 product = (static_cast<__int128>(x) << std::max(shift, 0)) * mult;
  const int n = 31 + std::max(-shift, 0);
  const __int128 size = product < 0 ? -product : product;
  const auto q = static_cast<std::int32_t>((size + (static_cast<__int128>(1) << (n - 1))) >> n);
  return product < 0 ? -q : q;
}

std::int32_t in_float(std::int32_t x, std::int32_t mult, int shift) {
  const float y = static_cast<float>(x) * std::ldexp(static_cast<float>(mult), shift - 31);
  return static_cast<std::int32_t>(std::nearbyint(std::clamp(y, -1.0e6F, 1.0e6F)));
}

std::int32_t by_rule(int rule, std::int32_t x, const Param& p) {
  if (rule == 3) return in_float(x, p.mult, p.shift);
  return rule == 1 ? rounded_once(x, p.mult, p.shift) : rounded_twice(x, p.mult, p.shift);
}

std::int32_t divided(std::int32_t acc, std::int32_t n) {
  return acc >= 0 ? (acc + n / 2) / n : -((-acc + n / 2) / n);
}

std::int8_t finished(std::int32_t y, const Finish& f) {
  return static_cast<std::int8_t>(std::clamp(y + f.zero, f.low, f.high));
}

Param average_param(int cells) {
  int log2 = 0;
  while ((std::int64_t{1} << log2) < cells) ++log2;
  const std::int64_t power = std::int64_t{1} << (31 + log2);
  return {cells, static_cast<std::int32_t>((power + 2 * cells - 1) / (2 * cells)), -log2};
}

// (acc + 128 * cells) / cells, half up, as a product rounded once
Param uint8_average_param(int cells) {
  int bits = 30;
  while ((std::int64_t{1} << bits) / cells < 1 << 30) ++bits;
  return {128 * cells, static_cast<std::int32_t>(((std::int64_t{1} << bits) + cells - 1) / cells), 31 - bits};
}

// ---- memories

struct Memories {
  std::vector<std::int8_t> vb = std::vector<std::int8_t>(9 * kVbDepth * kCp);
  std::vector<std::int8_t> vwb = std::vector<std::int8_t>(kVwbRows * 9 * kCp);
  std::vector<Param> zsb = std::vector<Param>(kZsbDepth);

  const std::int8_t* word(int bank, int addr) const {
    return &vb[(static_cast<std::size_t>(bank) * kVbDepth + addr) * kCp];
  }
  std::int8_t& weight(int row, int word, int channel) {
    return vwb[(static_cast<std::size_t>(row) * 9 + word) * kCp + channel];
  }
};

// A tensor in VB: G groups of CP channels, P words a pixel, a ring of slots.
struct Tensor {
  int height = 0, width = 0, groups = 0, pixel = 0, slots = 0, slot_size = 0, first = 0;
  int mod3_offset = 0;  // of its rows' numbers
  int slot(int row) const { return first + mod(row, slots) * slot_size; }
  int last() const { return first + (slots - 1) * slot_size; }
  std::int8_t at(const Memories& m, int row, int column, int channel) const {
    const int i = column * pixel + channel / kCp;
    return m.word(mod(i + 3 * (row + mod3_offset), 9), slot(row) + i / 9)[channel % kCp];
  }
};

// Fields of out_cmd_t from its lowest bit: name, width, value.
struct OutField {
  int bits;
  std::int64_t value;
};

// A command and what must come out: words of the result pixels in the order tile, row, column; absent groups
// are free.
struct Job {
  int op = 0;
  int latency = kLatency;
  std::array<std::uint32_t, 13> body{};
  int index = 0;
  std::string what;
  struct Word {
    bool exists = false;
    std::array<std::int8_t, kCp> bytes{};
  };
  std::vector<std::array<Word, 3>> pixels;
  std::vector<OutField> out;  // expected
};

template <class Command>
std::array<std::uint32_t, 13> pack(Command& command) {
  std::array<std::uint32_t, 13> body{};
  Command::fields(command, [&](const char* name, std::int64_t value, int first, int bits, FieldKind kind) {
    if (kind == FieldKind::kWord) value = value / 9 * 16 + value % 9;
    EXPECT_TRUE(kind == FieldKind::kSigned || (value >> bits) == 0) << name << " = " << value;
    for (int b = 0; b < bits; ++b) {
      const int at = first - kHeaderBits + b;
      if (value >> b & 1) body[static_cast<std::size_t>(at / 32)] |= 1u << (at % 32);
    }
  });
  return body;
}

template <class Command>
std::vector<OutField> out_fields(const Command& c, int index) {
  auto word = [](std::int64_t w) { return w / 9 * 16 + w % 9; };
  const int two = 0;  // columns at once: the array only
  return {{24, index},
          {1, two},
          {1, c.to_store},
          {1, c.to_vb},
          {1, c.to_sb},
          {16, c.vb_slot},
          {16, c.out_slot_size},
          {16, c.vb_last},
          {16, c.vb_first},
          {16, c.sb_slot},
          {16, c.out_slot_size},
          {16, c.sb_last},
          {16, c.sb_first},
          {2, c.out_row_mod3},
          {18, word(c.out_pixel)},
          {18, word(c.out_first)},
          {10, c.out_group},
          {10, c.out_groups},
          {10, c.tiles},
          {10, c.rows},
          {10, c.columns}};
}

// ---- the engine with VB, result writer and queue around it

class Bench {
 public:
  int credit_percent = 100;  // chance of a cycle to give back a credit
  int start_percent = 100;   // chance of a cycle to offer the next command, and of the writer to be ready
  int depth = 64;            // of the result FIFO

  explicit Bench(Random& rng, const Memories& memories) : rng_(rng), memories_(memories) {
    m_->rst_ni = 0;
    m_->cmd_valid_i = m_->vwb_we_i = m_->zsb_we_i = m_->out_ready_i = m_->out_credit_i = 0;
    m_.tick();
    m_.tick();
    m_->rst_ni = 1;
  }

  void load_memories() {
    for (int row = 0; row < kVwbRows; ++row) {
      m_->vwb_we_i = 1;
      m_->vwb_addr_i = static_cast<std::uint16_t>(row);
      std::memcpy(&m_->vwb_data_i, &memories_.vwb[static_cast<std::size_t>(row) * 9 * kCp], 9 * kCp);
      m_.tick();
    }
    m_->vwb_we_i = 0;
    for (int i = 0; i < kZsbDepth; ++i) {
      const Param& p = memories_.zsb[static_cast<std::size_t>(i)];
      m_->zsb_we_i = 1;
      m_->zsb_addr_i = static_cast<std::uint16_t>(i);
      m_->zsb_data_i[0] = static_cast<std::uint32_t>(p.bias);
      m_->zsb_data_i[1] = static_cast<std::uint32_t>(p.mult);
      m_->zsb_data_i[2] = static_cast<std::uint8_t>(p.shift);
      m_.tick();
    }
    m_->zsb_we_i = 0;
  }

  // Runs the jobs, in order, back to back; returns the cycles from the first start to the last result.
  std::uint64_t run(const std::vector<Job>& jobs) {
    std::size_t started = 0, checked = 0, pixel = 0;
    std::size_t taking = 0, taken = 0;  // job whose results are taken, and how many
    std::uint64_t first = 0;
    int credits = depth, held = 0;  // held: results in the FIFO
    std::deque<std::uint64_t> takes;
    const std::uint64_t limit = m_.cycles() + 4'000'000;
    active_ = 0;
    while (checked < jobs.size()) {
      if (m_.cycles() > limit) {
        ADD_FAILURE() << "hangs in " << jobs[checked].what;
        break;
      }
      // inputs of this cycle
      const bool offer = started < jobs.size() && rng_.chance(start_percent);
      m_->cmd_valid_i = offer;
      if (offer) {
        const Job& job = jobs[started];
        test::set_command(m_->cmd_i, static_cast<std::uint32_t>(job.index), static_cast<int>(job.op),
                          job.body);
      }
      m_->out_ready_i = started < checked + 2 && rng_.chance(start_percent);
      m_->out_credit_i = credits > 0;
      m_.eval();
      EXPECT_EQ(m_->out_start_o, m_->cmd_valid_i && m_->cmd_ready_o);
      if (m_->out_start_o) {
        if (!started) first = m_.cycles();
        check_out(jobs[started]);
        ++started;
      }
      if (m_->out_take_o) {
        EXPECT_GT(credits, 0) << "a result without a credit, " << jobs[checked].what;
        --credits;
        takes.push_back(m_.cycles() + static_cast<std::uint64_t>(jobs[taking].latency));
        if (++taken == jobs[taking].pixels.size()) ++taking, taken = 0;
      }
      active_ += m_->active_o;
      const auto words = read_banks(checked < jobs.size() ? jobs[checked].what : "");
      m_.tick();
      for (std::size_t t = 0; t < 9; ++t) set_word(m_->word_i[t], words[t].data());
      if (m_->out_valid_o) {
        if (takes.empty() || m_.cycles() != takes.front()) {
          ADD_FAILURE() << "a result at the wrong time, " << jobs[checked].what;
          break;
        }
        takes.pop_front();
        ++held;
        check_pixel(jobs[checked], pixel++);
        if (testing::Test::HasFailure()) break;
        if (pixel == jobs[checked].pixels.size()) {
          pixel = 0;
          ++checked;
        }
      }
      EXPECT_LE(held, depth);
      if (held && rng_.chance(credit_percent)) {
        --held;
        ++credits;
      }
    }
    m_->cmd_valid_i = 0;
    const std::uint64_t cycles = m_.cycles() - first;
    for (int i = 0; i < 40; ++i) {
      m_.eval();
      EXPECT_FALSE(m_->out_take_o || m_->active_o) << "work after the last result";
      m_.tick();
      EXPECT_FALSE(m_->out_valid_o) << "a result too many";
    }
    return cycles;
  }
  std::uint64_t active() const { return active_; }

 private:
  using Word = std::array<std::int8_t, kCp>;

  template <class Port>
  static void set_word(Port& port, const std::int8_t* bytes) {
    std::memcpy(&port, bytes, kCp);
  }

  // The words of the request now at rd_req_o; what no access asks for is garbage.
  std::array<Word, 9> read_banks(const std::string& what) {
    std::array<Word, 9> words;
    std::set<int> banks;
    for (std::size_t t = 0; t < 9; ++t) {
      const std::uint32_t req = m_->rd_req_o[t];
      const bool en = req >> 20 & 1;
      const int bank = static_cast<int>(req >> 16 & 15), addr = static_cast<int>(req & 0xffff);
      if (en) {
        EXPECT_LT(bank, 9) << what;
        EXPECT_TRUE(banks.insert(bank).second) << "two accesses meet in bank " << bank << ", " << what;
        std::memcpy(words[t].data(), memories_.word(std::min(bank, 8), addr % kVbDepth), kCp);
      } else {
        for (auto& b : words[t]) b = rng_.byte();
      }
    }
    return words;
  }

  void check_out(const Job& job) {
    int at = 0;
    for (std::size_t f = 0; f < job.out.size(); ++f) {
      std::uint32_t value = 0;
      for (int b = 0; b < job.out[f].bits; ++b, ++at) {
        value |= (m_->out_cmd_o[static_cast<std::size_t>(at / 32)] >> (at % 32) & 1) << b;
      }
      EXPECT_EQ(value, static_cast<std::uint32_t>(job.out[f].value))
          << "out_cmd_o field " << f << ", " << job.what;
    }
  }

  void check_pixel(const Job& job, std::size_t pixel) {
    for (std::size_t g = 0; g < 3; ++g) {
      const auto& want = job.pixels[pixel][g];
      if (!want.exists) continue;
      std::array<std::int8_t, kCp> got;
      std::memcpy(got.data(), &m_->out_word_o[g], kCp);
      EXPECT_EQ(got, want.bytes) << "pixel " << pixel << " word " << g << " of " << job.what;
    }
  }

  Random& rng_;
  const Memories& memories_;
  test::Model<Vkt_vector> m_;
  std::uint64_t active_ = 0;
};

// ---- commands

struct Window {
  int kind = 0;  // 0 depthwise, 1 maximum, 2 average
  int kernel_rows = 3, kernel_columns = 3, stride = 1;
  int top_row = -1, pad_left = 1, rows = 1, columns = 1;
  int group = 0, tiles = 1;  // channel range
  int zero_in = 0;           // what padding stands for
  int weight_zero = 0;
  bool uint8 = false;          // average: of values less 128, by rule single
  bool count_padding = false;  // average: cells outside the map count too
  bool look_up = false;        // through a table
  Finish finish;
  Tensor in;
};

class Maker {
 public:
  Maker(Random& rng, Memories& memories) : rng_(rng), memories_(memories) {}

  int vwb_used = 0, zsb_used = 0;  // bump allocation within a batch
  using Table = std::array<std::int8_t, 256>;
  // A table before a command's other ZSB words, with a gap or none between them; the identity where there is none.
  template <class Command>
  Table table(bool look_up, Command& c, Job& job) {
    Table t;
    for (int i = 0; i < 256; ++i)
      t[static_cast<std::size_t>(i)] = look_up ? rng_.byte() : static_cast<std::int8_t>(i - 128);
    if (!look_up) return t;
    c.look_up = 1;
    c.table_word = zsb_used;
    job.latency = kTableLatency;
    for (std::size_t w = 0; w < kTableWords; ++w) {
      Param& p = memories_.zsb[static_cast<std::size_t>(zsb_used++)];
      std::memcpy(&p.bias, &t[8 * w], 4);
      std::memcpy(&p.mult, &t[8 * w + 4], 4);
      p.shift = rng_(-128, 127);
    }
    zsb_used += rng_(0, kTableRoom - kTableWords);
    return t;
  }
  static std::int8_t through(const Table& t, std::int8_t value) {
    return t[static_cast<std::size_t>(value + 128)];
  }
  bool look_up_ = false;  // of the next addition
  void reset() {
    vwb_used = rng_(0, 3);
    zsb_used = rng_(0, 3);
  }

  Finish finish(int rule) {
    Finish f;
    f.rule = rule == 3 && !kFloat ? 0 : rule;
    f.zero = rng_.chance(40) ? rng_.pick(std::array{-128, 127, 0}) : rng_(-128, 127);
    if (rng_.chance(30)) {
      f.low = rng_(-128, 127);
      f.high = rng_(f.low, 127);
    }
    return f;
  }

  // A tensor somewhere in VB with room for `slots` rows; false if it does not fit.
  bool place(Tensor& t, int groups, int slots) {
    t.groups = groups;
    t.pixel = groups % 3 == 0 ? groups + 1 : groups;
    t.slots = slots;
    t.slot_size = ceil_div(t.width * t.pixel, 9);
    const int room = kVbDepth - t.slots * t.slot_size;
    if (room < 0 || t.slot_size >= 1 << 14 || t.pixel / 9 > 255) return false;
    t.first = rng_(0, room);
    return true;
  }

  template <class Command>
  void output_side(Command& c, Job& job, int groups, int group, const Finish& f) {
    c.out_groups = groups;
    c.out_group = c.out_first = group;
    c.out_pixel = groups % 3 == 0 ? groups + 1 : groups;
    c.out_row_mod3 = rng_(0, 2);
    c.out_slot_size = rng_(0, 16383);
    for (auto* p : {&c.sb_first, &c.sb_last, &c.sb_slot, &c.vb_first, &c.vb_last, &c.vb_slot})
      *p = rng_(0, 16383);
    c.to_sb = rng_(0, 1);
    c.to_vb = rng_(0, 1);
    c.to_store = rng_(0, 1);
    c.zero = f.zero;
    c.low = f.low;
    c.high = f.high;
    c.rule = f.rule;
    job.index = rng_(0, (1 << 24) - 1);
    job.out = out_fields(c, job.index);
    job.body = pack(c);
  }

  // Results of all tiles; value(channel, row, column) for channels that exist.
  void results(Job& job, int tiles, int rows, int columns, int group, int groups,
               const std::function<std::int8_t(int, int, int)>& value) {
    for (int tile = 0; tile < tiles; ++tile)
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) {
          auto& pixel = job.pixels.emplace_back();
          for (int g = 0; g < 3; ++g) {
            const int in_group = group + 3 * tile + g;
            if (in_group >= groups) continue;
            pixel[static_cast<std::size_t>(g)].exists = true;
            for (int c = 0; c < kCp; ++c) pixel[g].bytes[c] = value(in_group * kCp + c, y, x);
          }
        }
  }

  // False if the command does not fit the memories of this batch.
  bool window(const Window& w, Job& job) {
    const int kernel_tiles = ceil_div(w.kernel_rows, 3), cells = w.kernel_rows * w.kernel_columns;
    WindowCommand c;
    const int first_channel = w.group * kCp;
    std::vector<Param> params;         // of the first channel on, or by cells outside
    std::vector<std::int32_t> biases;  // depthwise: before the zero point is folded in
    int max_outside = 0;
    if (w.kind == 0) {
      const int rows = w.tiles * kernel_tiles * w.kernel_columns;
      if (vwb_used + rows > kVwbRows) return false;
      c.weights = vwb_used;
      vwb_used += rows;
    } else if (w.kind == 2 && (w.finish.rule == 2 || w.uint8)) {
      auto outside = [](int at, int size, int limit) {
        return std::max(0, -at) + std::max(0, at + size - limit);
      };
      for (int y = 0; y < w.rows; ++y)
        for (int x = 0; x < w.columns; ++x)
          max_outside = std::max(
              max_outside, outside(w.top_row + y * w.stride, w.kernel_rows, w.in.height) * w.kernel_columns +
                               outside(x * w.stride - w.pad_left, w.kernel_columns, w.in.width));
    }
    const int words = w.kind == 0 ? w.tiles * kLanes : max_outside + 1;
    if (zsb_used + words + (w.look_up ? kTableRoom : 0) > kZsbDepth) return false;
    const Table table = this->table(w.look_up, c, job);
    c.params = zsb_used;
    const int first_word = zsb_used;
    zsb_used += words;

    if (w.kind == 0) {
      for (int i = 0; i < words; ++i) {
        Param p;
        p.mult = rng_((1 << 30), 0x7fffffff);
        if (w.finish.rule == 3) p.mult &= ~127;  // 24 bits
        int log2 = 0;
        while (1 << log2 < cells) ++log2;
        p.shift = -(6 + log2 / 2 + rng_(-1, 2));
        biases.push_back(rng_(-20000, 20000));
        std::int32_t sum = 0;
        const int tile = i / kLanes, g = i % kLanes / kCp, ch = i % kCp;
        for (int ky = 0; ky < 3 * kernel_tiles; ++ky)
          for (int kx = 0; kx < w.kernel_columns; ++kx) {
            const int row =
                static_cast<int>(c.weights) + (tile * kernel_tiles + ky / 3) * w.kernel_columns + kx;
            std::int8_t& weight = memories_.weight(row, 3 * (ky % 3) + g, ch);
            weight = ky < w.kernel_rows ? rng_.byte() : static_cast<std::int8_t>(w.weight_zero);
            if (ky < w.kernel_rows) sum += weight - w.weight_zero;
          }
        p.bias = biases.back() - w.zero_in * sum;
        params.push_back(p);
      }
    } else if (w.kind == 1) {
      params.push_back({0, 1 << 30, 1});
    } else if (w.finish.rule == 2 || w.uint8) {
      for (int i = 0; i < words; ++i) {
        const int inside = w.count_padding ? cells
                                           : (w.kernel_rows - i / w.kernel_columns) *
                                                 (w.kernel_columns - i % w.kernel_columns);
        params.push_back(w.uint8 ? uint8_average_param(std::max(inside, 1))
                                 : average_param(std::max(inside, 1)));
      }
    } else {
      params.push_back({rng_(-1000, 1000), rng_(1 << 30, 0x7fffffff), -rng_(0, 8)});  // MEAN
      if (w.finish.rule == 3) params.back().mult &= ~127;
    }
    std::copy(params.begin(), params.end(), memories_.zsb.begin() + first_word);

    job.op = static_cast<int>(Opcode::kWindow);
    c.in_first = w.in.first;
    c.in_last = w.in.last();
    c.in_slot_size = w.in.slot_size;
    c.in_slot = w.in.slot(w.top_row);
    c.in_pixel = w.in.pixel;
    c.in_group = w.group;
    c.in_width = w.in.width;
    c.in_height = w.in.height;
    c.top_row = w.top_row;
    c.top_mod3 = mod(w.top_row, 3);
    c.kind = w.kind;
    c.kernel_rows = w.kernel_rows;
    c.kernel_columns = w.kernel_columns;
    c.stride = w.stride;
    c.pad_left = w.pad_left;
    c.pad_value = w.zero_in;
    c.weight_zero = w.weight_zero;
    c.columns = w.columns;
    c.rows = w.rows;
    c.tiles = w.tiles;
    output_side(c, job, w.in.groups, w.group, w.finish);
    job.what = "kind " + std::to_string(w.kind) + " kernel " + std::to_string(w.kernel_rows) + "x" +
               std::to_string(w.kernel_columns) + " stride " + std::to_string(w.stride) + " map " +
               std::to_string(w.in.height) + "x" + std::to_string(w.in.width) + "x" +
               std::to_string(w.in.groups) + " top " + std::to_string(w.top_row) + " left " +
               std::to_string(-w.pad_left) + " results " + std::to_string(w.rows) + "x" +
               std::to_string(w.columns) + " tiles " + std::to_string(w.tiles) + " group " +
               std::to_string(w.group);

    results(job, w.tiles, w.rows, w.columns, w.group, w.in.groups, [&](int channel, int y, int x) {
      return through(table, [&] {
        const int top = w.top_row + y * w.stride, left = x * w.stride - w.pad_left;
        std::int32_t acc = 0, most = -128, inside = 0;
        const int lane = channel - first_channel, tile = lane / kLanes, g = lane % kLanes / kCp,
                  ch = lane % kCp;
        for (int ky = 0; ky < w.kernel_rows; ++ky)
          for (int kx = 0; kx < w.kernel_columns; ++kx) {
            const int iy = top + ky, ix = left + kx;
            if (iy < 0 || iy >= w.in.height || ix < 0 || ix >= w.in.width) {
              most = std::max(most, w.zero_in);
              if (w.count_padding) acc += w.zero_in, ++inside;
              continue;
            }
            const std::int32_t a = w.in.at(memories_, iy, ix, channel);
            ++inside;
            most = std::max(most, a);
            if (w.kind == 2) {
              acc += a;
            } else if (w.kind == 0) {
              const int row =
                  static_cast<int>(c.weights) + (tile * kernel_tiles + ky / 3) * w.kernel_columns + kx;
              acc += (a - w.zero_in) * (memories_.weight(row, 3 * (ky % 3) + g, ch) - w.weight_zero);
            }
          }
        if (w.kind == 1) return finished(most, w.finish);
        if (w.uint8)
          return finished((acc + 128 * inside + inside / 2) / inside, w.finish);  // as TensorFlow Lite does
        if (w.kind == 2 && w.finish.rule == 2) return finished(divided(acc, inside), w.finish);
        const Param& p = params[w.kind == 0 ? static_cast<std::size_t>(lane) : 0];
        acc += w.kind == 0 ? biases[static_cast<std::size_t>(lane)] : p.bias;
        return finished(by_rule(w.finish.rule, acc, p), w.finish);
      }());
    });
    return true;
  }

  // Rows of the operands from `top` on.
  static void input_side(AddCommand& c, const Tensor& first, const Tensor& second, int top, int rows,
                         int group, int tiles) {
    c.in_first = first.first;
    c.in_last = first.last();
    c.in_slot_size = first.slot_size;
    c.in_slot = first.slot(top);
    c.in_pixel = first.pixel;
    c.in_group = group;
    c.top_mod3 = mod(top + first.mod3_offset, 3);
    c.in2_mod3 = mod(top + second.mod3_offset, 3);
    c.in2_first = second.first;
    c.in2_last = second.last();
    c.in2_slot = second.slot(top);
    c.columns = first.width;
    c.rows = rows;
    c.tiles = tiles;
  }

  // a[0] + a[1] + ..., each `step` words behind the one before in a pixel, the first in a ring of its own.
  bool add_many(std::size_t operands, int step, const Tensor& first, const Tensor& others, int top, int rows,
                int group, int tiles, int groups, const Finish& f, Job& job) {
    if (zsb_used + 5 + kTableRoom > kZsbDepth) return false;
    std::vector<int> zeros;
    std::vector<Param> p;
    for (std::size_t k = 0; k < operands; ++k) {
      zeros.push_back(rng_.chance(50) ? rng_.pick(std::array{-128, 127}) : rng_(-128, 127));
      p.push_back({-zeros.back(), rng_(1 << 30, 0x7fffffff), -rng_(0, 6) - 1});
    }
    if (rng_.chance(30)) {  // coarse operands, as in add()
      for (Param& q : p) q.shift = -rng_(18, 24);
      p.push_back({0, 1 << 30, 1});
    } else {
      p.push_back({0, rng_(1 << 30, 0x7fffffff), -rng_(17, 20)});
    }
    if (f.rule == 3) p.back().mult &= ~127;  // 24 bits
    AddCommand c;
    const Table table = this->table(look_up_, c, job);
    c.params = zsb_used;
    std::copy(p.begin(), p.end(), memories_.zsb.begin() + zsb_used);
    zsb_used += static_cast<int>(p.size());
    job.op = static_cast<int>(Opcode::kAdd);
    input_side(c, first, others, top, rows, group, tiles);
    c.more_operands = static_cast<int>(operands) - 2;
    c.operand_step = step;
    output_side(c, job, groups, group, f);
    job.what = "sum of " + std::to_string(operands) + ", step " + std::to_string(step) + ", " +
               std::to_string(rows) + "x" + std::to_string(first.width) + "x" + std::to_string(groups) +
               " tiles " + std::to_string(tiles);
    results(job, tiles, rows, first.width, group, groups, [&](int channel, int y, int x) {
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < operands; ++k) {
        const Tensor& from = k == 0 ? first : others;
        const int value = from.at(memories_, top + y, x, channel + static_cast<int>(k) * step * kCp);
        sum += rounded_twice((value - zeros[k]) * (1 << 20), p[k].mult, p[k].shift);
      }
      return through(table, finished(by_rule(f.rule, sum, p.back()), f));
    });
    return true;
  }

  // kind as in the command: 0 a + b, 1 a - b, 2 a * b, 3 b - a. broadcast: b is one pixel of row 0.
  bool add(int kind, bool broadcast, const Tensor& a, const Tensor& b, int top, int rows, int group,
           int tiles, const Finish& f, Job& job) {
    if (zsb_used + 3 + kTableRoom > kZsbDepth) return false;
    const int zero_a = rng_.chance(50) ? rng_.pick(std::array{-128, 127}) : rng_(-128, 127);
    const int zero_b = rng_.chance(50) ? rng_.pick(std::array{-128, 127}) : rng_(-128, 127);
    // scales s1, s2 against 2 * max(s1, s2): one multiplier is exactly a half
    std::array<Param, 3> p{Param{-zero_a, 1 << 30, 0},
                           Param{-zero_b, rng_(1 << 30, 0x7fffffff), -rng_(0, 6) - 1},
                           Param{0, rng_(1 << 30, 0x7fffffff), -rng_(17, 20)}};
    if (rng_.chance(
            30)) {  // the roundings of the operands themselves: coarse operands, a sum that is passed on
      for (int i = 0; i < 2; ++i)
        p[i].mult = rng_.chance(50) ? 1 << 30 : rng_(1 << 30, 0x7fffffff), p[i].shift = -rng_(18, 24);
      p[2] = {0, 1 << 30, 1};
    }
    if (kind == 2) {  // any product, spread over the output
      p[0] = {-zero_a, rng_(1 << 30, 0x7fffffff), -rng_(0, 31)};
      p[1] = {-zero_b, rng_(1 << 30, 0x7fffffff), -rng_(0, 31)};
      p[2] = {0, rng_(1 << 30, 0x7fffffff), -rng_(0, 9)};
      if (f.rule == 3) p[2].mult &= ~127;  // 24 bits
    } else if (rng_.chance(50)) {
      std::swap(p[0].mult, p[1].mult), std::swap(p[0].shift, p[1].shift);
    }
    AddCommand c;
    const Table table = this->table(look_up_, c, job);
    c.params = zsb_used;
    std::copy(p.begin(), p.end(), memories_.zsb.begin() + zsb_used);
    zsb_used += 3;
    job.op = static_cast<int>(Opcode::kAdd);
    input_side(c, a, b, top, rows, group, tiles);
    if (broadcast) c.in2_slot = b.first, c.in2_mod3 = mod(b.mod3_offset, 3);
    c.pair = PARAM_AddPair && !broadcast && a.mod3_offset != b.mod3_offset && rng_.chance(pair_percent);
    c.kind = kind;
    c.broadcast = broadcast;
    output_side(c, job, a.groups, group, f);
    job.what = "add of kind " + std::to_string(kind) + (broadcast ? ", broadcast, " : ", ") +
               std::to_string(rows) + "x" + std::to_string(a.width) + "x" + std::to_string(a.groups) +
               " tiles " + std::to_string(tiles);
    results(job, tiles, rows, a.width, group, a.groups, [&](int channel, int y, int x) {
      const std::int32_t va = (a.at(memories_, top + y, x, channel) - zero_a) * (1 << 20);
      const int second = broadcast ? b.at(memories_, 0, 0, channel) : b.at(memories_, top + y, x, channel);
      const std::int32_t vb = (second - zero_b) * (1 << 20);
      if (kind == 2) return through(table, finished(by_rule(f.rule, (va >> 20) * (vb >> 20), p[2]), f));
      const std::int32_t sa = rounded_twice(va, p[0].mult, p[0].shift),
                         sb = rounded_twice(vb, p[1].mult, p[1].shift);
      const std::int32_t sum = kind == 0 ? sa + sb : kind == 1 ? sa - sb : sb - sa;
      return through(table, finished(by_rule(f.rule, sum, p[2]), f));
    });
    return true;
  }

  // ---- random ones

  bool random_window(Job& job) {
    Window w;
    w.look_up = kTable && rng_.chance(30);
    w.kind = rng_(0, kAverage ? 2 : 1);
    const int shape = rng_(0, 9);
    if (shape < 5) {
      w.kernel_rows = rng_(1, 3);
      w.kernel_columns = rng_(1, 3);
      w.stride = rng_(1, 2);
    } else if (shape < 8) {
      w.kernel_rows = rng_(1, 10);
      w.kernel_columns = rng_(1, 10);
      w.stride = rng_(1, 4);
    } else {
      w.kernel_rows = rng_(1, 20);
      w.kernel_columns = rng_(1, 20);
      w.stride = rng_(1, 15);
    }
    const int large = rng_(0, 39);  // few are: high, wide or of many channels
    w.in.height = large == 0 ? rng_(200, 900) : rng_(1, large < 3 ? 3 : 24);
    w.in.width = large == 1 ? rng_(200, 900) : rng_(1, large < 3 ? 3 : 24);
    // Windows may reach over every edge; pooling needs a cell inside.
    const bool free = w.kind == 0 || rng_.chance(20);
    const int reach_rows = free && w.kind != 2 ? w.kernel_rows + 2 : w.kernel_rows - 1;
    const int reach_columns = free && w.kind != 2 ? w.kernel_columns + 2 : w.kernel_columns - 1;
    w.pad_left = std::min({rng_(0, reach_columns), 15, w.kind == 2 ? w.in.width + w.kernel_columns - 1 : 15});
    const int pad_top = rng_(0, reach_rows);
    auto results_in = [&](int pad, int size,
                          int reach) {  // the last window starts at most `reach - kernel` columns behind
      return std::max(
          1, (size + pad - (w.kind == 2 ? 1 : 0) + (free && w.kind != 2 ? reach : 0)) / w.stride + 1);
    };
    w.columns = std::min(large == 1 ? 900 : 40, rng_(1, results_in(w.pad_left, w.in.width, 3)));
    const int all_rows = results_in(pad_top, w.in.height, 3);
    const int first_row = rng_(0, all_rows - 1);
    w.rows = std::min(rng_(1, all_rows - first_row), large == 0 ? 900 : 12);
    w.top_row = first_row * w.stride - pad_top;
    if (w.kind == 2) {  // every window must hold a cell
      while (w.columns > 1 && (w.columns - 1) * w.stride - w.pad_left >= w.in.width) --w.columns;
      while (w.rows > 1 && w.top_row + (w.rows - 1) * w.stride >= w.in.height) --w.rows;
      if (w.top_row >= w.in.height || w.top_row + w.kernel_rows <= 0 || w.kernel_columns <= w.pad_left)
        return false;
    }
    const int groups = large == 2 ? rng_(100, 300) : rng_(1, 9);
    w.group = rng_(0, groups - 1);
    w.tiles = rng_(1, ceil_div(groups - w.group, 3));
    w.count_padding = w.kind == 2 && rng_.chance(30);
    w.zero_in = w.kind == 1 && rng_.chance(70) ? -128 : rng_.pick(std::array{-128, 127, rng_(-128, 127)});
    if (w.kind == 2 && !w.count_padding) w.zero_in = 0;
    if (w.kind == 2 && large > 1 && rng_.chance(20)) {  // MEAN: all cells inside
      w.count_padding = false;
      w.zero_in = 0;
      w.pad_left = 0;
      w.top_row = 0;
      w.rows = w.columns = 1;
      w.kernel_rows = w.in.height;
      w.kernel_columns = w.in.width;
      w.finish = finish(rng_.pick(std::array{0, 0, 3}));
    } else {
      w.finish = finish(w.kind == 2 ? 2 : w.kind == 0 ? rng_.pick(std::array{0, 0, 0, 1, 3}) : 0);
      if (w.kind == 0 && rng_.chance(40)) w.weight_zero = rng_.pick(std::array{-128, 127, rng_(-128, 127)});
      w.uint8 = w.kind == 2 && rng_.chance(40);
      if (w.uint8) {
        w.finish.rule = 1;
        w.finish.zero = -128;
      }
    }
    // the ring holds at least the rows that are read
    const int from = std::max(0, w.top_row);
    const int to = std::min(w.in.height, w.top_row + (w.rows - 1) * w.stride + w.kernel_rows);
    if (!place(w.in, groups, std::max(1, to - from) + rng_(0, 3))) return false;
    return window(w, job);
  }

  // Kernels that are streamed tile by tile where the engine can, any padding and edge, rows up to the longest.
  bool random_large(Job& job) {
    Window w;
    w.look_up = kTable && rng_.chance(20);
    w.kind = rng_.chance(80) ? 0 : rng_(0, kAverage ? 2 : 1);
    w.kernel_rows = rng_(1, 9);
    w.kernel_columns = rng_(w.kernel_rows > 3 ? 2 : 4, 9);
    w.stride = rng_.pick(std::array{1, 1, 1, 2});
    const bool wide = rng_.chance(10);
    w.in.height = rng_(1, 16);
    w.in.width = wide ? rng_(100, 140) : rng_(1, 30);
    w.pad_left = rng_(0, w.kernel_columns - 1);
    const int pad_top = rng_(0, w.kernel_rows - 1);
    const int most = (w.in.width + w.pad_left - 1) / w.stride + 1;  // windows that begin inside the map
    w.columns = wide ? most : rng_(std::min(most, 3), most);
    w.rows = std::min(rng_(1, (w.in.height + pad_top - 1) / w.stride + 1), 4);
    w.top_row = rng_(0, 2) - pad_top;
    while (w.rows > 1 && w.top_row + (w.rows - 1) * w.stride >= w.in.height) --w.rows;
    if (w.top_row >= w.in.height || w.top_row + w.kernel_rows <= 0) return false;
    const int groups = rng_(1, 7);
    w.group = rng_(0, groups - 1);
    w.tiles = rng_(1, ceil_div(groups - w.group, 3));
    w.zero_in = w.kind == 2 ? 0 : rng_.pick(std::array{-128, 127, rng_(-128, 127)});
    w.finish = finish(w.kind == 2 ? 2 : 0);
    if (w.kind == 0 && rng_.chance(40)) w.weight_zero = rng_.pick(std::array{-128, 127, rng_(-128, 127)});
    const int from = std::max(0, w.top_row);
    const int to = std::min(w.in.height, w.top_row + (w.rows - 1) * w.stride + w.kernel_rows);
    if (!place(w.in, groups, std::max(1, to - from) + rng_(0, 3))) return false;
    return window(w, job);
  }

  int pair_percent = 80;  // of the additions that may take their operands in pairs

  bool random_add(Job& job) {
    Tensor a, b;
    a.width = b.width = rng_(1, 24);
    const int top = rng_(0, 20), rows = rng_(1, 8), groups = rng_(1, 9), group = rng_(0, groups - 1);
    look_up_ = kTable && rng_.chance(30);
    const int kind = rng_(0, 3);
    const bool broadcast = rng_.chance(40);
    if (broadcast) b.width = 1;
    if (!place(a, groups, rows + rng_(0, 2)) || !place(b, groups, broadcast ? 1 : rows + rng_(0, 2)))
      return false;
    a.mod3_offset = rng_(0, 2);
    b.mod3_offset = rng_(0, 2);
    const int rule = kind == 2 ? rng_.pick(std::array{0, 0, 1, 3}) : 0;
    return add(kind, broadcast, a, b, top, rows, group, rng_(1, ceil_div(groups - group, 3)), finish(rule),
               job);
  }

  // Operands side by side in one map, or the first in a map of its own.
  bool random_sum(Job& job) {
    Tensor all, first;
    all.width = rng_(1, 16);
    const int operands = rng_(2, 4), groups = rng_(1, 7), step = groups + rng_(0, 2);
    const int top = rng_(0, 20), rows = rng_(1, 6), group = rng_(0, groups - 1);
    look_up_ = kTable && rng_.chance(30);
    if (!place(all, operands * step, rows + rng_(0, 2))) return false;
    first = all;
    if (rng_.chance(30)) first.first = rng_(0, kVbDepth - all.slots * all.slot_size);
    return add_many(static_cast<std::size_t>(operands), step, first, all, top, rows, group,
                    rng_(1, ceil_div(groups - group, 3)), groups, finish(rng_.pick(std::array{0, 3})), job);
  }

  bool random(Job& job) {
    return rng_.chance(15)   ? random_sum(job)
           : rng_.chance(25) ? random_add(job)
           : rng_.chance(20) ? random_large(job)
                             : random_window(job);
  }

 private:
  Random& rng_;
  Memories& memories_;
};

class VectorEngine : public testing::Test {
 protected:
  VectorEngine() {
    for (auto& b : memories_.vb) b = rng_.byte();
    for (auto& b : memories_.vwb) b = rng_.byte();
    for (auto& p : memories_.zsb) p = {rng_(-9999, 9999), rng_(1 << 30, 0x7fffffff), rng_(-20, 0)};
  }

  void run_batches(int batches, const std::function<bool(Maker&, Job&)>& make) {
    Bench bench(rng_, memories_);
    int jobs_run = 0;
    for (int batch = 0; batch < batches && !HasFailure(); ++batch) {
      Maker maker(rng_, memories_);
      maker.reset();
      std::vector<Job> jobs;
      for (int tries = 0; tries < 14; ++tries) {
        Job job;
        if (make(maker, job)) jobs.push_back(std::move(job));
      }
      if (jobs.empty()) continue;
      bench.load_memories();
      bench.credit_percent = rng_.pick(std::array{100, 100, 70, 20});
      bench.start_percent = rng_.pick(std::array{100, 100, 50, 3});
      bench.depth = rng_.pick(std::array{64, 64, 13, 1});
      bench.run(jobs);
      jobs_run += static_cast<int>(jobs.size());
    }
    if (!HasFailure()) {
      EXPECT_GE(jobs_run, batches);
    }
  }

  Random rng_;
  Memories memories_;
};

TEST_F(VectorEngine, RunsRandomCommandsBackToBack) {
  run_batches(60, [](Maker& make, Job& job) { return make.random(job); });
}

TEST_F(VectorEngine, RunsOneCommandAtATime) {
  run_batches(20, [first = true](Maker& make, Job& job) mutable {
    first = make.random(job);
    return first;
  });
}

TEST_F(VectorEngine, RunsLargeWindows) {
  run_batches(40, [](Maker& make, Job& job) { return make.random_large(job); });
}

// Depthwise windows of 5x5 and 7x7: a slot for each kernel tile of 3x3 and column of the map that it reads, commands
// chained; without LargeWindows one for three rows of each column of the kernel.
TEST_F(VectorEngine, KeepsThePaceOfLargeWindows) {
  Bench bench(rng_, memories_);
  auto cycles_of = [&](int kernel, int size, int stride, int rows_per_command) {
    Maker make(rng_, memories_);
    std::vector<Job> jobs;
    Window w;
    w.kernel_rows = w.kernel_columns = kernel;
    w.stride = stride;
    w.pad_left = kernel / 2;
    w.in.height = w.in.width = size;
    w.columns = ceil_div(size, stride);
    w.tiles = 2;
    EXPECT_TRUE(make.place(w.in, 6, std::min(size, rows_per_command * stride + kernel)));
    std::size_t results = 0;
    for (int y = 0; y < ceil_div(size, stride); y += rows_per_command) {
      Job job;
      make.vwb_used = make.zsb_used = 0;
      w.rows = std::min(rows_per_command, ceil_div(size, stride) - y);
      w.top_row = y * stride - kernel / 2;
      make.window(w, job);
      for (auto& pixel : job.pixels)
        for (auto& word : pixel) word.exists = false;
      results += job.pixels.size();
      jobs.push_back(std::move(job));
    }
    const std::uint64_t cycles = bench.run(jobs);
    std::printf("%dx%d on %dx%d stride %d, %zu commands: %zu results, %llu cycles, %.2f a result\n", kernel,
                kernel, size, size, stride, jobs.size(), results, static_cast<unsigned long long>(cycles),
                static_cast<double>(cycles) / static_cast<double>(results));
    return cycles;
  };
  for (const int kernel : {5, 7}) {
    const auto tiles = static_cast<unsigned>(ceil_div(kernel, 3) * ceil_div(kernel, 3));
    const auto slots = PARAM_LargeWindows ? tiles : static_cast<unsigned>(ceil_div(kernel, 3) * kernel);
    for (const int size : {7, 14, 28}) {
      const auto results = static_cast<unsigned>(2 * size * size);
      EXPECT_LE(cycles_of(kernel, size, 1, size), results * slots + kLanes + 30);
      EXPECT_LE(cycles_of(kernel, size, 1, 7),
                results * slots + kLanes + 30 + static_cast<unsigned>(size / 7 * 7));
      EXPECT_LE(cycles_of(kernel, size, 2, size),
                ceil_div(size, 2) * 2u *
                        (PARAM_LargeWindows ? tiles * (static_cast<unsigned>(size) + 2)
                                            : slots * static_cast<unsigned>(ceil_div(size, 2))) +
                    kLanes + 60);
    }
  }
}

// 3x3 depthwise, stride 1, and Add: one slot a result, two where operands do not come in pairs; commands chained.
TEST_F(VectorEngine, KeepsItsPace) {
  Bench bench(rng_, memories_);
  auto cycles_of = [&](int height, int width, int channels, int stride, int rows_per_command, bool add) {
    Maker make(rng_, memories_);
    std::vector<Job> jobs;
    const int groups = ceil_div(channels, kCp), tiles = ceil_div(groups, 3);
    Window w;
    w.stride = stride;
    w.in.height = height;
    w.in.width = width;
    w.columns = ceil_div(width, stride);
    w.tiles = tiles;
    // a ring of few rows is enough: the test reads whatever is there
    EXPECT_TRUE(make.place(w.in, groups, std::min(height, rows_per_command * stride + 3)));
    Tensor other = w.in;
    if (add) {
      EXPECT_TRUE(make.place(other, groups, w.in.slots));
      other.mod3_offset = 1;
      make.pair_percent = 100;
    }
    std::size_t results = 0;
    for (int y = 0; y < ceil_div(height, stride); y += rows_per_command) {
      Job job;
      make.vwb_used = make.zsb_used = 0;
      w.rows = std::min(rows_per_command, ceil_div(height, stride) - y);
      w.top_row = y * stride - 1;
      if (add) {
        make.add(0, false, w.in, other, y, w.rows, 0, tiles, {}, job);
        for (auto& pixel : job.pixels)
          for (auto& word : pixel)
            word.exists = false;  // commands share parameters here: only the pace counts
      } else {
        make.window(w, job);
        for (auto& pixel : job.pixels)
          for (auto& word : pixel) word.exists = false;
      }
      results += job.pixels.size();
      jobs.push_back(std::move(job));
    }
    const std::uint64_t cycles = bench.run(jobs);
    std::printf("%s %dx%dx%d stride %d, %zu commands: %zu results, %llu cycles, active %.1f %%\n",
                add ? "add" : "depthwise 3x3", height, width, channels, stride, jobs.size(), results,
                static_cast<unsigned long long>(cycles),
                100.0 * static_cast<double>(bench.active()) / static_cast<double>(cycles));
    return cycles;
  };
  // results, the pipeline, the first parameters, and two idle slots a command
  const int channels = std::min(96, 24 * kCp);  // as the memory holds
  const std::uint64_t results = 28 * 28 * ceil_div(channels, kLanes);
  EXPECT_LE(cycles_of(28, 28, channels, 1, 28, false), results + kLanes + 30);
  EXPECT_LE(cycles_of(28, 28, channels, 1, 4, false), results + kLanes + 30 + 7 * 5);
  EXPECT_LE(cycles_of(7, 7, 8 * kLanes, 1, 7, false), 49u * 8 + kLanes + 30);
  EXPECT_LE(cycles_of(28, 28, channels, 2, 14, false), results / 2 + kLanes + 60);
  EXPECT_LE(cycles_of(28, 28, channels, 1, 4, true), (PARAM_AddPair ? 1 : 2) * results + 30 + 7 * 3);
}

// Three slots a result through a narrow table, one through a wide one; loading does not show after the first command.
TEST_F(VectorEngine, KeepsThePaceOfTables) {
  if (!kTable) GTEST_SKIP() << "built without tables";
  Bench bench(rng_, memories_);
  Maker make(rng_, memories_);
  make.vwb_used = make.zsb_used = 0;
  Window w;
  w.kind = 1;
  w.kernel_rows = w.kernel_columns = 1;
  w.top_row = w.pad_left = 0;
  w.look_up = true;
  w.in.height = 1;
  w.in.width = w.columns = 20;
  w.tiles = kWideTable ? 6 : 2;  // 120 slots
  ASSERT_TRUE(make.place(w.in, 3 * w.tiles, 1));
  std::vector<Job> jobs(10);
  for (Job& job : jobs) ASSERT_TRUE(make.window(w, job));
  bench.load_memories();
  const std::uint64_t cycles = bench.run(jobs);
  std::printf("%zu commands of %d results: %llu cycles\n", jobs.size(), 20 * w.tiles,
              static_cast<unsigned long long>(cycles));
  EXPECT_LE(cycles, 10u * (120 + 1) + kTableWords + 30);
}

// A cycle for each operand of a sum, and parameters that load behind the command before.
TEST_F(VectorEngine, KeepsThePaceOfSums) {
  Bench bench(rng_, memories_);
  for (int operands = 2; operands <= 4; ++operands) {
    Maker make(rng_, memories_);
    make.vwb_used = make.zsb_used = 0;
    Tensor all;
    all.width = 20;
    ASSERT_TRUE(make.place(all, 6 * operands, 1));
    std::vector<Job> jobs(6);
    for (Job& job : jobs)
      ASSERT_TRUE(make.add_many(static_cast<std::size_t>(operands), 6, all, all, 0, 1, 0, 2, 6, {}, job));
    bench.load_memories();
    const std::uint64_t cycles = bench.run(jobs);
    EXPECT_LE(cycles, 6u * (40 * static_cast<unsigned>(operands) + 3) + 30) << operands;
  }
}

// Commands of one or two results: a table is filled as soon as the command before the one in use has left it.
TEST_F(VectorEngine, ChangesTablesAtTheLastMoment) {
  if (!kTable) GTEST_SKIP() << "built without tables";
  Bench bench(rng_, memories_);
  for (int batch = 0; batch < 20 && !HasFailure(); ++batch) {
    Maker make(rng_, memories_);
    make.reset();
    std::vector<Job> jobs;
    for (int i = 0; i < 30; ++i) {
      Window w;
      w.kind = 1;
      w.kernel_rows = w.kernel_columns = rng_.pick(std::array{1, 1, 4});
      w.top_row = w.pad_left = 0;
      w.look_up = rng_.chance(85);
      w.in.height = w.kernel_rows;
      w.columns = rng_(1, 2);
      w.in.width = w.columns + w.kernel_columns - 1;
      Job job;
      if (make.place(w.in, 3, w.in.height) && make.window(w, job)) jobs.push_back(std::move(job));
    }
    bench.load_memories();
    bench.run(jobs);
  }
}

}  // namespace
}  // namespace kaiten
