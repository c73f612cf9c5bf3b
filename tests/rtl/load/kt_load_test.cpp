// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// LOAD against a plain model: random chains of all three commands, random stalls on the memory and at the buffers.
// The model writes what docs/formats/commands.md says into buffers of its own; the contents must agree at the end of a chain,
// and when a command reports done, all its words must have been written.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "Vkt_load.h"
#include "tests/rtl/load_store/load_store_test.h"
#include "tests/support/model.h"

namespace kaiten::test {
namespace {

constexpr int kKp = PARAM_Kp, kCp = PARAM_Cp, kBus = PARAM_AxiW / 8, kWbRows = PARAM_WbRows;
constexpr int kLw = std::min(9, kBus / kCp);
constexpr int kRowBytes = 9 * kCp;
constexpr int kAddresses = 16384;  // of a bank, a ZSB, VWB
constexpr int kSinks = 6;
enum Sink { kSb, kVb, kWb, kVwb, kZsbArray, kZsbVector };

// All memories LOAD writes: address (SB, VB: 9 * address + bank) to bytes, and the number of words written.
struct Buffers {
  std::map<int, std::vector<std::uint8_t>> word[kSinks];
  std::int64_t count[kSinks] = {};

  void write(Sink sink, int address, std::vector<std::uint8_t> bytes) {
    word[sink][address] = std::move(bytes);
    count[sink]++;
  }
};

struct Command {
  Opcode op;
  Body body;
  int requests = 0;
  std::int64_t bytes = 0;
  std::array<std::int64_t, kSinks> count_after{};  // words written when it is done
};

struct Request {
  std::uint64_t address;
  std::int64_t bytes;
};

struct Stalls {
  int command = 0, request = 0, beat = 0, grant = 0;  // percent
  int latency = 0;                                    // cycles from request to first beat
};

class Load {
 public:
  explicit Load(std::uint64_t seed) : rng_(seed), salt_(seed), model_(seed) {
    for (int i = 0; i < 8; i++) base_[i] = pick(rng_, 0, (1LL << 38) - 1);
    auto& top = model_.top();
    for (int i = 0; i < 8; i++) top.base_i[i] = base_[i];
    split_ = static_cast<int>(pick(rng_, kWbRows / 4, kWbRows * 3 / 4));
    top.wb_split_i = split_;
    top.rst_ni = 0;
    top.cmd_valid_i = 0;
    top.rsp_valid_i = 0;
    top.req_ready_i = 0;
    top.sb_grant_i = 0;
    top.vb_grant_i = 0;
    for (int i = 0; i < 3; i++) model_.tick();
    top.rst_ni = 1;
  }

  Rng& rng() { return rng_; }

  // ---- commands: added to the chain and applied to the model
  void add(const LoadRowsCommand& c) {
    Command& out = append(c);
    for (int r = 0; r < c.rows; r++) {
      std::int64_t slots = (c.sb_last - c.sb_first) / c.slot_size + 1;
      const std::int64_t sb = c.sb_first + ((c.sb_slot - c.sb_first) / c.slot_size + r) % slots * c.slot_size;
      slots = (c.vb_last - c.vb_first) / c.slot_size + 1;
      const std::int64_t vb = c.vb_first + ((c.vb_slot - c.vb_first) / c.slot_size + r) % slots * c.slot_size;
      for (int s = 0; s < c.segments; s++) {
        const std::int64_t pixel_bytes = s == c.segments - 1 ? c.last_pixel_bytes : c.pixel_bytes;
        const std::uint64_t at = base_[c.base] + c.offset + r * c.row_pitch + s * c.segment_pitch;
        const std::int64_t row_bytes = c.step_bytes ? c.row_bytes : c.columns * pixel_bytes;
        expect_request(out, at, row_bytes);
        for (int x = 0; x < c.columns; x++) {
          const std::int64_t first = c.step_bytes ? x * c.step_bytes - c.lead_bytes : x * pixel_bytes;
          for (std::int64_t w = 0; w * kCp < pixel_bytes; w++) {
            std::vector<std::uint8_t> bytes(kCp, static_cast<std::uint8_t>(c.fill));
            for (int b = 0; b < kCp && w * kCp + b < pixel_bytes; b++) {
              const std::int64_t byte = first + w * kCp + b;
              if (byte >= 0 && byte < row_bytes) bytes[b] = memory_byte(at + byte, salt_);
            }
            const std::int64_t i = c.first + s * c.segment_groups + w + x * c.pixel;
            const int bank = static_cast<int>((i + 3 * (c.row_mod3 + r)) % 9);
            if (c.to_sb) expected_.write(kSb, static_cast<int>(sb + i / 9) * 9 + bank, bytes);
            if (c.to_vb) expected_.write(kVb, static_cast<int>(vb + i / 9) * 9 + bank, bytes);
          }
        }
      }
    }
    close(out);
  }

  void add(const LoadWeightsCommand& c) {
    Command& out = append(c);
    const std::uint64_t first = base_[c.base] + c.offset;
    std::uint64_t at = first;
    for (int p = 0; p < c.passes; p++) {
      const bool last = (c.first_pass + p) % c.tile_passes == c.tile_passes - 1;
      const std::int64_t n = last ? c.last_row_bytes : kRowBytes;
      for (int k = 0; k < c.rows; k++) {
        std::vector<std::uint8_t> row(kRowBytes, static_cast<std::uint8_t>(c.fill));
        std::int64_t left = n;
        for (int t = 0; t < 9; t++) {
          const std::int64_t word = last && t >= c.last_full_words ? c.last_word_bytes : kCp;
          for (int b = 0; b < word && left > 0; b++, left--) row[t * kCp + b] = memory_byte(at++, salt_);
        }
        std::int64_t address = c.row + p * c.pass_pitch + k;
        if (!c.to_vwb) {
          while (address >= kWbRows) address -= kWbRows - split_;
        }
        expected_.write(c.to_vwb ? kVwb : kWb, static_cast<int>(address), row);
      }
    }
    ASSERT_EQ(static_cast<std::int64_t>(at - first), c.bytes);
    expect_request(out, first, c.bytes);
    close(out);
  }

  void add(const LoadParamsCommand& c) {
    Command& out = append(c);
    std::uint64_t at = base_[c.base] + c.offset;
    expect_request(out, at, 9 * c.count);
    for (int i = 0; i < c.count; i++) {
      std::vector<std::uint8_t> bytes(9);
      for (auto& b : bytes) b = memory_byte(at++, salt_);
      expected_.write(c.to_vector ? kZsbVector : kZsbArray, static_cast<int>(c.index) + i, bytes);
    }
    close(out);
  }

  int split() const { return split_; }
  std::int64_t commands() const { return static_cast<std::int64_t>(commands_.size()); }

  // The n-th request from the start gets an error response on one of its beats.
  void fail_request(std::int64_t n) { failing_.insert({n, true}); }
  std::int64_t requests() const { return static_cast<std::int64_t>(requests_.size()); }
  int command_of_request(std::int64_t n) const { return owner_[n]; }
  const std::vector<int>& errors() const { return errors_; }

  // Runs until everything added so far is done. Returns the cycles it took.
  std::int64_t run(const Stalls& stalls) {
    auto& top = model_.top();
    std::int64_t cycles = 0, quiet = 0;
    while (done_ < commands() || cycles == 0) {
      // inputs
      if (issued_ < commands() && !top.cmd_valid_i && !percent(rng_, stalls.command)) {
        top.cmd_valid_i = 1;
        set_command(top.cmd_i, indices_.draw(rng_, issued_), static_cast<int>(commands_[issued_].op),
                    commands_[issued_].body);
      }
      top.req_ready_i = pending_.size() < 8 && !percent(rng_, stalls.request);
      if (!top.rsp_valid_i && !pending_.empty() && pending_.front().ready <= cycles_ &&
          !percent(rng_, stalls.beat)) {
        put_beat();
      }
      top.sb_grant_i = !percent(rng_, stalls.grant);
      top.vb_grant_i = !percent(rng_, stalls.grant);
      model_.eval();

      // what happens at the edge
      const bool command = top.cmd_valid_i && top.cmd_ready_o;
      const bool beat = top.rsp_valid_i && top.rsp_ready_o;
      if (top.req_valid_o && top.req_ready_i) take_request(stalls.latency);
      if (top.sb_valid_o && top.sb_grant_i) write_buffer(kSb, top.sb_req_o);
      if (top.vb_valid_o && top.vb_grant_i) write_buffer(kVb, top.vb_req_o);
      EXPECT_LE(top.wb_en_o + top.vwb_en_o + top.zsb_conv_en_o + top.zsb_vector_en_o, 1);
      if (top.wb_en_o || top.vwb_en_o) {
        std::vector<std::uint8_t> row(kRowBytes);
        get_bytes(top.weights_o, row.data(), kRowBytes);
        got_.write(top.wb_en_o ? kWb : kVwb, top.weights_addr_o, row);
      }
      if (top.zsb_conv_en_o || top.zsb_vector_en_o) {
        std::vector<std::uint8_t> word(9);
        get_bytes(top.param_o, word.data(), 9);
        got_.write(top.zsb_conv_en_o ? kZsbArray : kZsbVector, top.param_addr_o, word);
      }
      const EngineError error(top.error_o);
      EXPECT_FALSE(error.illegal);
      if (error.bus) errors_.push_back(indices_.command(error.index));
      EXPECT_TRUE(top.busy_o || done_ == issued_);
      if (top.done_o) {
        EXPECT_LT(done_, issued_);
        for (int s = 0; s < kSinks; s++)
          EXPECT_GE(got_.count[s], commands_[done_].count_after[s]) << "sink " << s;
        done_++;
      }
      const bool progress = command || beat || top.done_o;
      model_.tick();
      cycles_++;
      cycles++;
      if (command) {
        issued_++;
        top.cmd_valid_i = 0;
      }
      if (beat) top.rsp_valid_i = 0;
      quiet = progress ? 0 : quiet + 1;
      if (quiet > 20000) {
        ADD_FAILURE() << "no progress, command " << done_;
        break;
      }
    }
    EXPECT_EQ(taken_requests_, requests());
    EXPECT_TRUE(pending_.empty());
    return cycles;
  }

  void compare() {
    for (int s = 0; s < kSinks; s++) {
      EXPECT_EQ(got_.count[s], expected_.count[s]) << "sink " << s;
      EXPECT_TRUE(got_.word[s] == expected_.word[s]) << "sink " << s;
    }
    for (int i = 0; i < 3; i++) EXPECT_EQ(read_bytes_[i], expected_bytes_[i]) << "kind " << i;
    // words of a chain go, so that comparing stays quick
    for (int s = 0; s < kSinks; s++) {
      got_.word[s].clear();
      expected_.word[s].clear();
    }
  }

 private:
  struct Pending {
    Request request;
    std::int64_t number;
    std::uint64_t at;    // next byte
    std::int64_t ready;  // cycle of its first beat
    std::int64_t bad;    // this many bytes from the end lies the byte whose beat fails; -1: none
  };

  template <class C>
  Command& append(const C& c) {
    commands_.push_back({C::kOpcode, body_of(c)});
    return commands_.back();
  }
  void expect_request(Command& c, std::uint64_t address, std::int64_t bytes) {
    requests_.push_back({address, bytes});
    owner_.push_back(static_cast<int>(commands_.size()) - 1);
    c.bytes += bytes;
    expected_bytes_[static_cast<int>(c.op) - 1] += bytes;
  }
  void close(Command& c) {
    for (int s = 0; s < kSinks; s++) c.count_after[s] = expected_.count[s];
  }

  void take_request(int latency) {
    auto& top = model_.top();
    ASSERT_LT(taken_requests_, requests());
    const Request& r = requests_[taken_requests_];
    EXPECT_EQ(top.req_addr_o, r.address) << "request " << taken_requests_;
    EXPECT_EQ(top.req_bytes_o, r.bytes) << "request " << taken_requests_;
    EXPECT_EQ(top.read_rows_o + top.read_weights_o + top.read_params_o, 1);
    read_bytes_[top.read_rows_o ? 0 : top.read_weights_o ? 1 : 2] += top.read_bytes_o;
    const std::int64_t bad = failing_.count(taken_requests_) ? pick(rng_, 1, r.bytes) : -1;
    pending_.push_back({r, taken_requests_, r.address, cycles_ + 1 + latency, bad});
    taken_requests_++;
  }

  void put_beat() {
    auto& top = model_.top();
    Pending& p = pending_.front();
    const std::uint64_t end = p.request.address + p.request.bytes;
    const int offset = static_cast<int>(p.at % kBus);
    const std::uint64_t beat_end = std::min(p.at - offset + kBus, end);
    std::array<std::uint8_t, kBus> data;
    for (auto& b : data) b = static_cast<std::uint8_t>(rng_());  // lanes outside hold anything
    for (std::uint64_t a = p.at; a < beat_end; a++) data[a % kBus] = memory_byte(a, salt_);
    set_bytes(top.rsp_data_i, data.data(), kBus);
    top.rsp_offset_i = offset;
    const std::uint64_t bad = end - p.bad;
    top.rsp_error_i = p.bad >= 0 && bad >= p.at && bad < beat_end;
    top.rsp_last_i = beat_end == end;
    top.rsp_valid_i = 1;
    p.at = beat_end;
    if (beat_end == end) pending_.pop_front();
  }

  template <class Requests>
  void write_buffer(Sink sink, const Requests& requests) {
    auto& top = model_.top();
    unsigned banks = 0;
    for (int w = 0; w < kLw; w++) {
      const unsigned req = requests[w];
      if (!(req >> 20 & 1)) continue;
      const int bank = req >> 16 & 15, address = req & 0xffff;
      EXPECT_LT(bank, 9);
      EXPECT_EQ(banks >> bank & 1, 0u) << "two words for one bank";
      banks |= 1u << bank;
      std::vector<std::uint8_t> bytes(kCp);
      get_bytes(top.word_o[w], bytes.data(), kCp);
      got_.write(sink, address * 9 + bank, bytes);
    }
    EXPECT_NE(banks, 0u);
  }

  Rng rng_;
  std::uint64_t salt_;
  Model<Vkt_load> model_;
  std::uint64_t base_[8];
  int split_;

  std::deque<Command> commands_;
  std::vector<Request> requests_;
  std::vector<int> owner_;  // command of a request
  std::map<std::int64_t, bool> failing_;
  std::int64_t issued_ = 0, done_ = 0, taken_requests_ = 0, cycles_ = 0;
  std::deque<Pending> pending_;
  CommandIndices indices_;
  std::vector<int> errors_;
  std::int64_t read_bytes_[3] = {}, expected_bytes_[3] = {};  // rows, weights, parameters
  Buffers expected_, got_;
};

// ---- random commands
std::int64_t random_offset(Rng& rng) {
  return percent(rng, 50) ? pick(rng, 0, 1 << 20) : pick(rng, 0, 1 << 10) * kBus;
}

// As many pixels together as their words lie in different banks, or fewer.
std::int64_t random_more_pixels(Rng& rng, std::int64_t words, std::int64_t pixel) {
  std::int64_t pixels = 0;
  bool banks[9] = {}, distinct = true;
  for (; distinct && (pixels + 1) * words <= kLw && pixels < 8; pixels += distinct) {
    for (std::int64_t w = 0; w < words; w++) {
      bool& taken = banks[(pixels * pixel + w) % 9];
      distinct = distinct && !taken;
      taken = true;
    }
  }
  return pixels < 2 ? 0 : percent(rng, 70) ? pixels - 1 : pick(rng, 0, pixels - 1);
}

void random_place(Rng& rng, LoadRowsCommand& c);

// Windows of a row, which may begin before it and end behind it.
LoadRowsCommand random_image(Rng& rng) {
  LoadRowsCommand c;
  const std::int64_t channels = pick(rng, 1, 4), width = pick(rng, 1, percent(rng, 5) ? 1000 : 40);
  const std::int64_t kernel = pick(rng, 1, std::min<std::int64_t>(kRowBytes / channels, 11));
  const std::int64_t stride = pick(rng, 1, kernel), pad = pick(rng, 0, kernel - 1);
  c.segments = 1;
  c.segment_groups = 0;
  c.last_pixel_bytes = kernel * channels;
  c.pixel_bytes = percent(rng, 50) ? c.last_pixel_bytes : 0;
  c.step_bytes = stride * channels;
  c.lead_bytes = pad * channels;
  c.columns = pick(rng, 1, (width - 1 + pad) / stride + 1);
  c.row_bytes = std::min(width, (c.columns - 1) * stride - pad + kernel) * channels;
  if (c.row_bytes <= 0) return random_image(rng);
  c.fill = pick(rng, -128, 127);
  c.segment_pitch = pick(rng, 0, 100);
  c.row_pitch = c.row_bytes + (percent(rng, 50) ? pick(rng, 0, 100) : 0);
  random_place(rng, c);
  return c;
}

LoadRowsCommand random_rows(Rng& rng, int most_columns = 30) {
  if (percent(rng, 30)) return random_image(rng);
  LoadRowsCommand c;
  const bool dense = percent(rng, 40);  // host tensor: one segment of any length
  const bool wide = percent(rng, 5);    // pixels of many words, and segments
  if (wide) most_columns = 2;
  std::int64_t groups = pick(rng, 1, wide ? 1500 : percent(rng, 10) ? 40 : 8);
  if (dense && percent(rng, 50)) groups = 1;
  std::int64_t channels = groups * kCp - (dense && percent(rng, 70) ? pick(rng, 0, kCp - 1) : 0);
  std::int64_t segment = dense ? groups : pick(rng, 1, groups);
  if (percent(rng, 20)) segment = 3;
  segment = std::max(segment, (groups + 254) / 255);  // at most 255 of them
  c.segments = dense ? 1 : (groups + segment - 1) / segment;
  c.segment_groups = segment;
  c.pixel_bytes = dense ? channels : segment * kCp;
  c.last_pixel_bytes = channels - (c.segments - 1) * c.pixel_bytes;
  c.fill = percent(rng, 50) ? 0 : pick(rng, -128, 127);
  c.columns = pick(rng, 1, !wide && percent(rng, 3) ? 1023 : most_columns);
  c.segment_pitch = c.columns * c.pixel_bytes + (percent(rng, 50) ? pick(rng, 0, 100) : 0);
  c.row_pitch = c.segments * c.segment_pitch + (percent(rng, 50) ? pick(rng, 0, 100) : 0);
  random_place(rng, c);
  const std::int64_t words = ((c.segments > 1 ? c.pixel_bytes : c.last_pixel_bytes) + kCp - 1) / kCp;
  if (c.last_pixel_bytes % kCp == 0 || words == 1) c.more_pixels = random_more_pixels(rng, words, c.pixel);
  return c;
}

// Where the rows come from and go to.
void random_place(Rng& rng, LoadRowsCommand& c) {
  std::int64_t groups = (c.segments - 1) * c.segment_groups + (c.last_pixel_bytes + kCp - 1) / kCp;
  c.first = percent(rng, 30) ? pick(rng, 0, c.columns < 3 ? 800 : 30) : 0;
  groups += c.first;
  c.pixel = groups % 3 ? groups : groups + 1;
  c.row_mod3 = pick(rng, 0, 2);
  c.slot_size = (c.columns * c.pixel + 8) / 9;
  const std::int64_t most = kAddresses / c.slot_size - 1;  // slots
  c.rows = pick(rng, 1, std::clamp<std::int64_t>(most, 1, 4));
  const auto ring = [&](std::int64_t& first, std::int64_t& last, std::int64_t& slot) {
    const std::int64_t slots =
        std::max<std::int64_t>(c.rows, pick(rng, 1, std::clamp<std::int64_t>(most, 1, 6)));
    first = pick(rng, 0, kAddresses - 1 - slots * c.slot_size);
    last = first + (slots - 1) * c.slot_size;
    slot = first + pick(rng, 0, slots - 1) * c.slot_size;
  };
  ring(c.sb_first, c.sb_last, c.sb_slot);
  ring(c.vb_first, c.vb_last, c.vb_slot);
  const std::int64_t mask = pick(rng, 1, 3);
  c.to_sb = mask & 1;
  c.to_vb = mask >> 1;
  c.base = pick(rng, 0, 7);
  c.offset = random_offset(rng);
}

LoadWeightsCommand random_weights(Rng& rng, int split) {
  LoadWeightsCommand c;
  c.to_vwb = percent(rng, 30);
  const std::int64_t tail = pick(rng, 1, kCp);  // bytes of a last channel group
  if (c.to_vwb || percent(rng, 30)) {           // contiguous
    c.last_row_bytes = percent(rng, 40) ? kRowBytes : pick(rng, 1, kRowBytes);
    c.last_full_words = 9;
  } else if (percent(rng, 50)) {  // 3x3
    c.last_word_bytes = tail;
    c.last_row_bytes = 9 * tail;
  } else {  // column
    c.last_full_words = 3 * pick(rng, 0, 2);
    c.last_word_bytes = tail;
    c.last_row_bytes = c.last_full_words * kCp + 3 * tail;
  }
  c.fill = percent(rng, 50) ? 0 : pick(rng, -128, 127);
  c.rows = percent(rng, 60) ? kKp : pick(rng, 1, kKp);
  c.pass_pitch = kKp;
  c.tile_passes = pick(rng, 1, percent(rng, 10) ? 4095 : 5);
  c.first_pass = pick(rng, 0, c.tile_passes - 1);
  c.passes = pick(rng, 1, std::max(1, std::min(8, 16384 / (kRowBytes * kKp))));
  for (int p = 0; p < c.passes; p++) {
    const bool last = (c.first_pass + p) % c.tile_passes == c.tile_passes - 1;
    c.bytes += c.rows * (last ? c.last_row_bytes : kRowBytes);
  }
  const std::int64_t span = c.passes * c.pass_pitch;
  if (c.to_vwb)
    c.row = pick(rng, 0, kAddresses - 1);
  else if (percent(rng, 30))
    c.row = pick(rng, 0, split - span);
  else if (percent(rng, 50))
    c.row = pick(rng, kWbRows - span, kWbRows - 1);  // over the end
  else
    c.row = pick(rng, split, kWbRows - 1);
  c.base = pick(rng, 0, 7);
  c.offset = random_offset(rng);
  return c;
}

LoadParamsCommand random_params(Rng& rng) {
  LoadParamsCommand c;
  c.count = pick(rng, 1, percent(rng, 10) ? 300 : 40);
  c.to_vector = percent(rng, 50);
  c.index = pick(rng, 0, kAddresses - 1 - c.count);
  c.base = pick(rng, 0, 7);
  c.offset = random_offset(rng);
  return c;
}

Stalls random_stalls(Rng& rng) {
  const auto some = [&] { return percent(rng, 40) ? 0 : static_cast<int>(pick(rng, 0, 80)); };
  return {some(), some(), some(), some(), percent(rng, 50) ? 0 : static_cast<int>(pick(rng, 0, 100))};
}

void add_random(Load& load, int commands) {
  for (int i = 0; i < commands; i++) {
    switch (pick(load.rng(), 0, 2)) {
      case 0:
        load.add(random_rows(load.rng()));
        break;
      case 1:
        load.add(random_weights(load.rng(), load.split()));
        break;
      default:
        load.add(random_params(load.rng()));
        break;
    }
  }
}

TEST(KtLoad, RandomChains) {
  for (int device = 0; device < 4; device++) {
    Load load(seed() * 100 + device);
    for (int chain = 0; chain < 40; chain++) {
      add_random(load, static_cast<int>(pick(load.rng(), 1, 20)));
      load.run(random_stalls(load.rng()));
      load.compare();
      if (testing::Test::HasFailure()) FAIL() << "device " << device << " chain " << chain;
    }
    EXPECT_TRUE(load.errors().empty());
  }
}

// An error response stops nothing here; it is reported once, with the command whose beat it came with.
TEST(KtLoad, ErrorNamesItsCommand) {
  Load load(seed() + 7);
  std::vector<int> expected;
  for (int chain = 0; chain < 20; chain++) {
    const std::int64_t first = load.requests();
    add_random(load, 10);
    const std::int64_t n = pick(load.rng(), first, load.requests() - 1);
    load.fail_request(n);
    expected.push_back(load.command_of_request(n));
    load.run(random_stalls(load.rng()));
    load.compare();
  }
  EXPECT_EQ(load.errors(), expected);
}

// ---- speed without stalls: cycles close to what the bus or the buffers allow
TEST(KtLoad, FullRowsAtBusSpeed) {
  Load load(seed());
  std::int64_t bytes = 0;
  for (int i = 0; i < 8; i++) {
    LoadWeightsCommand c;
    c.rows = c.pass_pitch = kKp;
    c.last_row_bytes = kRowBytes;
    c.last_full_words = i & 1 ? 0 : 9;
    c.last_word_bytes = kCp;
    c.tile_passes = c.passes = 16384 / (kRowBytes * kKp);
    c.bytes = c.passes * kKp * kRowBytes;
    c.row = 0;
    c.offset = 1000 * i + 13;
    bytes += c.bytes;
    load.add(c);
  }
  const std::int64_t cycles = load.run({});
  load.compare();
  std::printf("weights: %lld bytes in %lld cycles, %.2f bytes a cycle of %d\n", static_cast<long long>(bytes),
              static_cast<long long>(cycles), static_cast<double>(bytes) / cycles, kBus);
  EXPECT_LE(cycles, bytes / kBus * 1.02 + 30);
}

// Rows of `channels` channels in segments of `segment_bytes`, unstalled.
std::int64_t cycles_of_rows(int columns, int channels, int segment_bytes, int more_pixels) {
  Load load(seed());
  for (int i = 0; i < 8; i++) {
    LoadRowsCommand c;
    const std::int64_t groups = (channels + kCp - 1) / kCp;
    c.rows = 7;
    c.columns = columns;
    c.segments = (channels + segment_bytes - 1) / segment_bytes;
    c.segment_groups = segment_bytes / kCp;
    c.pixel_bytes = segment_bytes;
    c.last_pixel_bytes = channels - (c.segments - 1) * segment_bytes;
    c.pixel = groups % 3 ? groups : groups + 1;
    c.more_pixels = more_pixels;
    c.slot_size = (c.columns * c.pixel + 8) / 9;
    c.sb_last = 6 * c.slot_size;
    c.vb_last = 6 * c.slot_size;
    c.to_sb = c.to_vb = 1;
    c.segment_pitch = c.columns * segment_bytes;
    c.row_pitch = c.segments * c.segment_pitch;
    c.offset = static_cast<std::int64_t>(i) * 4096;
    load.add(c);
  }
  const std::int64_t cycles = load.run({});
  load.compare();
  std::printf("%d x 7 rows of %d columns, %d bytes a pixel, %d a segment, %d pixels together: %lld cycles\n",
              8, columns, channels, segment_bytes, more_pixels + 1, static_cast<long long>(cycles));
  return cycles;
}

TEST(KtLoad, OneSliceACycle) {
  for (const int segment_bytes : {kLw * kCp, kCp}) {
    // bases are random: a request whose start is not aligned touches one beat more
    EXPECT_LE(cycles_of_rows(28, 4 * segment_bytes, segment_bytes, 0),
              8 * 7 * 4 * 28 * 1.02 + 8 * 7 * 4 + 30);
  }
}

// An image of three channels: as many pixels a cycle as a request has words.
TEST(KtLoad, SeveralPixelsACycle) {
  const int rows = 8 * 7, together = std::min(kLw, 8), narrow = std::min(3, kCp);
  EXPECT_LE(cycles_of_rows(96, narrow, narrow, together - 1), rows * (96 / together + 1) + 30);
  EXPECT_LE(cycles_of_rows(96, 2 * kCp, 2 * kCp, together / 2 - 1), rows * (96 / (together / 2) + 1) + 30);
}

// Rows of a 3x3 kernel with three channels, or as many as there are: 9 * 3 bytes each, a row a cycle.
TEST(KtLoad, NarrowRowsOneACycle) {
  Load load(seed());
  LoadWeightsCommand c;
  c.rows = c.pass_pitch = kKp;
  c.last_word_bytes = std::min(3, kCp);
  c.last_row_bytes = 9 * c.last_word_bytes;
  c.tile_passes = 1;
  c.passes = 16384 / (kRowBytes * kKp);
  c.bytes = c.passes * c.rows * c.last_row_bytes;
  load.add(c);
  const std::int64_t cycles = load.run({});
  load.compare();
  EXPECT_LE(cycles, std::max<std::int64_t>(c.passes * c.rows, c.bytes / kBus) * 1.02 + 30);
}

}  // namespace
}  // namespace kaiten::test
