// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// STORE against a plain model: random chains of commands fed by either result stream, random stalls everywhere. The
// test answers the write master's client port; the bytes that reach memory must be exactly the model's.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "Vkt_store.h"
#include "tests/rtl/load_store/load_store_test.h"
#include "tests/support/model.h"

namespace kaiten::test {
namespace {

constexpr int kKp = PARAM_Kp, kCp = PARAM_Cp, kBus = PARAM_AxiW / 8;
constexpr int kWords = kKp / kCp;

struct Stalls {
  int command = 0, array = 0, vector = 0, request = 0, data = 0, response = 0;  // percent
};

class Store {
 public:
  explicit Store(std::uint64_t seed) : rng_(seed), model_(seed) {
    auto& top = model_.top();
    for (int i = 0; i < 8; i++)
      top.base_i[i] = base_[i] = (std::uint64_t{1} << 37) * i + pick(rng_, 0, 1 << 20);
    top.rst_ni = 0;
    top.cmd_valid_i = 0;
    top.conv_valid_i = 0;
    top.vector_valid_i = 0;
    top.req_ready_i = 0;
    top.data_ready_i = 0;
    top.wr_done_i = 0;
    top.wr_error_i = 0;
    for (int i = 0; i < 3; i++) model_.tick();
    top.rst_ni = 1;
  }

  Rng& rng() { return rng_; }

  // Adds a command and the results that feed it. Random bytes everywhere, also behind the ones that count.
  void add(StoreCommand c) {
    // Every command writes to memory of its own: what overlaps is the compiler's matter.
    c.offset += next_;
    next_ += (c.segments - 1) * c.segment_pitch + c.rows * c.row_pitch + 64 + pick(rng_, 0, 64);
    const int words = c.from_vector ? 3 : kWords;
    for (int s = 0; s < c.segments; s++) {
      const std::int64_t pixel_bytes = s == c.segments - 1 ? c.last_pixel_bytes : c.pixel_bytes;
      for (int r = 0; r < c.rows; r++) {
        std::uint64_t at = base_[c.base] + c.offset + s * c.segment_pitch + r * c.row_pitch;
        requests_.push_back({at, c.columns * pixel_bytes, commands(), pixels_});
        expected_bytes_ += c.columns * pixel_bytes;
        for (int x = 0; x < c.columns; x++) {
          std::vector<std::uint8_t> pixel(words * kCp);
          for (auto& b : pixel) b = static_cast<std::uint8_t>(rng_());
          for (int b = 0; b < pixel_bytes; b++) expected_[at++] = pixel[b];
          (c.from_vector ? vector_ : array_).push_back(std::move(pixel));
          pixels_++;
        }
      }
    }
    commands_.push_back({body_of(c), static_cast<std::int64_t>(requests_.size())});
  }

  std::int64_t commands() const { return static_cast<std::int64_t>(commands_.size()); }
  std::int64_t requests() const { return static_cast<std::int64_t>(requests_.size()); }
  int command_of_request(std::int64_t n) const { return static_cast<int>(requests_[n].command); }
  void fail_request(std::int64_t n) { failing_.insert({n, true}); }
  const std::vector<int>& errors() const { return errors_; }

  std::int64_t run(const Stalls& stalls) {
    auto& top = model_.top();
    std::int64_t cycles = 0, quiet = 0;
    while (done_ < commands()) {
      if (issued_ < commands() && !top.cmd_valid_i && !percent(rng_, stalls.command)) {
        top.cmd_valid_i = 1;
        set_command(top.cmd_i, indices_.draw(rng_, issued_), static_cast<int>(Opcode::kStore),
                    commands_[issued_].body);
      }
      feed(top.conv_valid_i, top.conv_word_i, array_, stalls.array);
      feed(top.vector_valid_i, top.vector_word_i, vector_, stalls.vector);
      top.req_ready_i = !percent(rng_, stalls.request);
      top.data_ready_i = beats_.size() < 32 && !percent(rng_, stalls.data);
      top.wr_done_i = 0;
      top.wr_error_i = 0;
      if (answered_ < written_ && !percent(rng_, stalls.response)) {
        top.wr_error_i = failing_.count(answered_) != 0;
        top.wr_done_i = 1;
        answered_++;
      }
      model_.eval();

      const bool command = top.cmd_valid_i && top.cmd_ready_o;
      const bool array = top.conv_valid_i && top.conv_ready_o,
                 vector = top.vector_valid_i && top.vector_ready_o;
      EXPECT_FALSE(array && vector);
      if (top.req_valid_o && top.req_ready_i) {
        EXPECT_LT(asked_, requests());
        if (asked_ == requests()) return cycles;
        EXPECT_EQ(top.req_addr_o, requests_[asked_].address);
        EXPECT_EQ(top.req_bytes_o, requests_[asked_].bytes);
        EXPECT_GT(taken_, requests_[asked_].first_pixel) << "a request without data";
        EXPECT_TRUE(top.written_o);
        written_bytes_ += top.written_bytes_o;
        asked_++;
      }
      if (top.data_valid_o && top.data_ready_i) {
        beats_.emplace_back();
        get_bytes(top.data_o, beats_.back().data(), kBus);
      }
      write();
      if (const EngineError error(top.error_o); error.bus) errors_.push_back(indices_.command(error.index));
      EXPECT_TRUE(top.busy_o || done_ == issued_);
      if (top.done_o) {
        EXPECT_LT(done_, issued_);
        // The answer of this cycle is not yet known to the device.
        EXPECT_GE(answered_ - top.wr_done_i, commands_[done_].requests_after);
        done_++;
      }
      const bool progress = command || array || vector || top.done_o;
      model_.tick();
      cycles++;
      if (command) {
        issued_++;
        top.cmd_valid_i = 0;
      }
      taken_ += array + vector;
      if (array) pop(top.conv_valid_i, array_);
      if (vector) pop(top.vector_valid_i, vector_);
      quiet = progress ? 0 : quiet + 1;
      if (quiet > 5000) {
        ADD_FAILURE() << "no progress, command " << done_;
        break;
      }
    }
    EXPECT_EQ(answered_, requests());
    EXPECT_TRUE(beats_.empty());
    EXPECT_FALSE(top.data_valid_o);
    return cycles;
  }

  void compare() {
    EXPECT_TRUE(memory_ == expected_);
    EXPECT_EQ(written_bytes_, expected_bytes_);
    memory_.clear();
    expected_.clear();
    next_ = 0;
  }

 private:
  using Pixels = std::deque<std::vector<std::uint8_t>>;

  struct Command {
    Body body;
    std::int64_t requests_after;
  };
  struct Request {
    std::uint64_t address;
    std::int64_t bytes;
    std::int64_t command;
    std::int64_t first_pixel;
  };

  template <class Words>
  void feed(CData& valid, Words& words, const Pixels& pixels, int stall) {
    if (valid || pixels.empty() || percent(rng_, stall)) return;
    valid = 1;
    for (std::size_t w = 0; w * kCp < pixels.front().size(); w++) {
      set_bytes(words[w], pixels.front().data() + w * kCp, kCp);
    }
  }
  void pop(CData& valid, Pixels& pixels) {
    valid = 0;
    pixels.pop_front();
  }

  // The beats of the oldest request that is complete go to memory.
  void write() {
    while (written_ < asked_) {
      const Request& r = requests_[written_];
      const std::uint64_t first = r.address / kBus, last = (r.address + r.bytes - 1) / kBus;
      if (beat_at_ == 0) beat_at_ = first;
      if (beats_.empty()) return;
      for (int lane = 0; lane < kBus; lane++) {
        const std::uint64_t a = beat_at_ * kBus + lane;
        if (a >= r.address && a < r.address + r.bytes) memory_[a] = beats_.front()[lane];
      }
      beats_.pop_front();
      beat_at_ = beat_at_ == last ? 0 : beat_at_ + 1;
      if (beat_at_ == 0) written_++;
    }
  }

  Rng rng_;
  Model<Vkt_store> model_;
  std::uint64_t base_[8];
  std::int64_t next_ = 0;

  std::deque<Command> commands_;
  std::vector<Request> requests_;
  Pixels array_, vector_;
  std::map<std::int64_t, bool> failing_;
  CommandIndices indices_;
  std::vector<int> errors_;
  std::int64_t pixels_ = 0, taken_ = 0;                  // results added, taken by the device
  std::int64_t issued_ = 0, done_ = 0;                   // commands
  std::int64_t asked_ = 0, written_ = 0, answered_ = 0;  // requests
  std::uint64_t beat_at_ = 0;                            // next beat of the request being written, 0: none
  std::deque<std::array<std::uint8_t, kBus>> beats_;
  std::int64_t written_bytes_ = 0, expected_bytes_ = 0;
  std::map<std::uint64_t, std::uint8_t> memory_, expected_;
};

StoreCommand random_store(Rng& rng) {
  StoreCommand c;
  c.from_vector = percent(rng, 50);
  const std::int64_t most = c.from_vector ? 3 * kCp : kKp;
  c.pixel_bytes = percent(rng, 70) ? most : pick(rng, 1, most);
  c.last_pixel_bytes = percent(rng, 40) ? most : pick(rng, 1, most);
  c.segments = pick(rng, 1, 4);
  const std::int64_t large = pick(rng, 0, 99);  // few commands are
  c.rows = pick(rng, 1, large == 0 ? 1023 : 5);
  c.columns = percent(rng, 20) ? 1 : pick(rng, 1, large == 0 ? 2 : large < 3 ? 1023 : 20);
  const std::int64_t gap = large < 10 ? 1 << 21 : 70;
  const std::int64_t row = c.columns * std::max(c.pixel_bytes, c.last_pixel_bytes);
  if (percent(rng, 50)) {  // [row][segment]
    c.segment_pitch = row + (percent(rng, 50) ? pick(rng, 0, gap) : 0);
    c.row_pitch = c.segments * c.segment_pitch + pick(rng, 0, 70);
  } else {  // [segment][row]
    c.row_pitch = row + (percent(rng, 50) ? pick(rng, 0, c.rows > 5 ? 70 : gap) : 0);
    c.segment_pitch = c.rows * c.row_pitch + pick(rng, 0, 70);
  }
  c.base = pick(rng, 0, 7);
  c.offset = percent(rng, 50) ? 0 : pick(rng, 0, 200);
  return c;
}

Stalls random_stalls(Rng& rng) {
  const auto some = [&] { return percent(rng, 40) ? 0 : static_cast<int>(pick(rng, 0, 80)); };
  return {some(), some(), some(), some(), some(), some()};
}

TEST(KtStore, RandomChains) {
  for (int device = 0; device < 5; device++) {
    Store store(seed() * 100 + device);
    for (int chain = 0; chain < 20; chain++) {
      const int n = static_cast<int>(pick(store.rng(), 1, 12));
      for (int i = 0; i < n; i++) store.add(random_store(store.rng()));
      store.run(random_stalls(store.rng()));
      store.compare();
      if (testing::Test::HasFailure()) FAIL() << "device " << device << " chain " << chain;
    }
    EXPECT_TRUE(store.errors().empty());
  }
}

TEST(KtStore, ErrorNamesItsCommand) {
  Store store(seed() + 3);
  std::vector<int> expected;
  for (int chain = 0; chain < 20; chain++) {
    const std::int64_t first = store.requests();
    for (int i = 0; i < 6; i++) store.add(random_store(store.rng()));
    const std::int64_t n = pick(store.rng(), first, store.requests() - 1);
    store.fail_request(n);
    expected.push_back(store.command_of_request(n));
    store.run(random_stalls(store.rng()));
    store.compare();
  }
  EXPECT_EQ(store.errors(), expected);
}

// Without stalls a result pixel a cycle; a command costs three cycles more.
TEST(KtStore, OnePixelACycle) {
  for (const int from_vector : {0, 1}) {
    Store store(seed());
    std::int64_t pixels = 0;
    for (int i = 0; i < 10; i++) {
      StoreCommand c;
      c.from_vector = from_vector;
      c.pixel_bytes = c.last_pixel_bytes = from_vector ? 3 * kCp : kKp;
      c.segments = 3;
      c.rows = 4;
      c.columns = 14;
      c.segment_pitch = c.columns * c.pixel_bytes;
      c.row_pitch = 3 * c.segment_pitch;
      store.add(c);
      pixels += c.segments * c.rows * c.columns;
    }
    const std::int64_t cycles = store.run({});
    store.compare();
    std::printf("%s: %lld pixels in %lld cycles\n", from_vector ? "vector" : "array",
                static_cast<long long>(pixels), static_cast<long long>(cycles));
    // unaligned rows may straddle at both ends
    EXPECT_LE(cycles, pixels * 1.02 + 10 * 3 + 10 * 12 + 20);
  }
}

}  // namespace
}  // namespace kaiten::test
