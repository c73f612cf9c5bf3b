// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/formal/symbolic/chip.h"

#include <algorithm>

namespace kaiten::symbolic {
namespace {

constexpr unsigned kBeat = 16;  // bytes
constexpr std::size_t kMostReads = 64;

}  // namespace

void Contents::put(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t b : bytes) {
    Byte byte;
    for (std::size_t i = 0; i < 8; i++) byte[i] = Literal(b >> i & 1);
    bytes_[address++] = byte;
  }
}

const Byte& Contents::get(std::uint64_t address) {
  const auto [at, added] = bytes_.try_emplace(address);
  if (added)
    for (Literal& l : at->second) l = unknown_("memory");
  return at->second;
}

std::vector<std::string> Chip::observed() {
  return {"irq_o",          "csr_aw_ready_o", "csr_w_ready_o",  "csr_b_valid_o", "csr_b_resp_o",
          "axi_ar_valid_o", "axi_ar_id_o",    "axi_ar_addr_o",  "axi_ar_len_o",  "axi_ar_size_o",
          "axi_ar_burst_o", "axi_r_ready_o",  "axi_aw_valid_o", "axi_aw_addr_o", "axi_aw_len_o",
          "axi_aw_size_o",  "axi_aw_burst_o", "axi_w_valid_o",  "axi_w_data_o",  "axi_w_strb_o",
          "axi_w_last_o",   "axi_b_ready_o"};
}

Chip::Chip(const Netlist& netlist, Nodes& nodes, Contents& contents, unsigned latency)
    : simulation_(netlist, nodes, contents.unknown()), contents_(&contents), latency_(latency) {
  for (std::size_t i = 0; i < 8 * kBeat; i++) junk_.push_back(contents.unknown()("idle data lines"));
  put("rst_ni", 0);
  for (const char* port : {"csr_ar_valid_i", "csr_ar_addr_i", "csr_r_ready_i"}) put(port, 0);
  put("csr_w_strb_i", 15);
  for (int i = 0; i < 2; i++) {
    give(0);
    simulation_.settle();
    simulation_.clock();
  }
  put("rst_ni", 1);
}

void Chip::write_registers(std::vector<std::pair<std::uint32_t, std::uint32_t>> writes) {
  writes_ = std::move(writes);
  next_write_ = 0;
}

void Chip::fail(const std::string& what) const {
  throw RunError("cycle " + std::to_string(cycles_) + ": " + what);
}

std::uint64_t Chip::number(const std::string& port) const {
  const Word word = simulation_.get(port);
  if (const auto n = known(word)) return *n;
  const auto bit = std::find_if_not(word.begin(), word.end(), is_constant);
  throw RunError("cycle " + std::to_string(cycles_) + ": " + port + " depends on data", *bit);
}

void Chip::put(const std::string& port, std::uint64_t n) {
  simulation_.set(port, constant(n, simulation_.get(port).size()));
}

Byte Chip::byte(std::uint64_t address) {
  const auto own = written_.find(address);
  return own == written_.end() ? contents_->get(address) : own->second;
}

// 1 + place of the read whose beat is on the lines, 0: none. Reads with the same ID keep their order.
std::size_t Chip::offered(unsigned stalls) const {
  if (offer_ != 0) return offer_;
  if (reads_.empty() || (stalls & kStallR) != 0) return 0;
  std::size_t first = reads_[0].wait == 0 ? 1 : 0, other = 0;
  for (std::size_t i = 1; i < reads_.size() && other == 0; i++)
    if (reads_[i].id != reads_[0].id) other = reads_[i].wait == 0 ? i + 1 : 0;
  return (stalls & kOtherRead) != 0 && other != 0 ? other : first;
}

unsigned Chip::offers() const {
  unsigned some = 0;
  if (offer_ == 0 && offered(0) != 0) {
    some |= kStallR;
    if (offered(kOtherRead) != offered(0)) some |= kOtherRead;
  }
  if (answer_due() && !answer_offered_) some |= kStallB;
  return some;
}

// A cycle has passed.
void Chip::wait() {
  for (Read& r : reads_)
    if (r.wait > 0) r.wait--;
  for (unsigned& a : answers_)
    if (a > 0) a--;
}

// The inputs of this cycle.
void Chip::give(unsigned stalls) {
  const bool writing = next_write_ < writes_.size();
  put("csr_aw_valid_i", writing && !address_taken_);
  put("csr_aw_addr_i", writing ? writes_[next_write_].first : 0);
  put("csr_w_valid_i", writing && !data_taken_);
  put("csr_w_data_i", writing ? writes_[next_write_].second : 0);
  put("csr_b_ready_i", 1);
  put("axi_ar_ready_i", (stalls & kStallAr) == 0 && reads_.size() < kMostReads);
  put("axi_aw_ready_i", (stalls & kStallAw) == 0);
  put("axi_w_ready_i", (stalls & kStallW) == 0);
  offer_ = offered(stalls);
  put("axi_r_valid_i", offer_ != 0);
  if (offer_ != 0) {
    const Read& r = reads_[offer_ - 1];
    Word data;
    for (unsigned i = 0; i < kBeat; i++) {
      const Byte b = byte(r.address / kBeat * kBeat + i);
      data.insert(data.end(), b.begin(), b.end());
    }
    simulation_.set("axi_r_data_i", data);
    put("axi_r_id_i", r.id);
    put("axi_r_resp_i", 0);
    put("axi_r_last_i", r.left == 0);
  } else {
    simulation_.set("axi_r_data_i", junk_);
    simulation_.set("axi_r_id_i", Bits(junk_).first(1));
    simulation_.set("axi_r_resp_i", Bits(junk_).subspan(1, 2));
    simulation_.set("axi_r_last_i", Bits(junk_).subspan(3, 1));
  }
  answer_offered_ = answer_offered_ || (answer_due() && (stalls & kStallB) == 0);
  put("axi_b_valid_i", answer_offered_);
  simulation_.set("axi_b_resp_i", answer_offered_ ? Bits(constant(0, 2)) : Bits(junk_).first(2));
}

void Chip::take_reads() {
  if (offer_ != 0 && number("axi_r_ready_o") != 0) {
    Read& r = reads_[offer_ - 1];
    r.address = (r.address / kBeat + 1) * kBeat;
    if (r.left-- == 0) reads_.erase(reads_.begin() + std::ptrdiff_t(offer_ - 1));
    offer_ = 0;
  }
  if (number("axi_ar_valid_o") == 0 || simulation_.number("axi_ar_ready_i") == 0) return;
  if (number("axi_ar_burst_o") != 1 || number("axi_ar_size_o") != 4) fail("a read of another kind");
  reads_.push_back(
      {number("axi_ar_addr_o"), unsigned(number("axi_ar_len_o")), unsigned(number("axi_ar_id_o")), latency_});
}

void Chip::take_writes() {
  if (answer_offered_ && number("axi_b_ready_o") != 0) {
    answers_.pop_front();
    answer_offered_ = false;
  }
  if (number("axi_aw_valid_o") != 0 && simulation_.number("axi_aw_ready_i") != 0) {
    if (number("axi_aw_burst_o") != 1 || number("axi_aw_size_o") != 4) fail("a write of another kind");
    addresses_.push_back({number("axi_aw_addr_o"), unsigned(number("axi_aw_len_o"))});
  }
  if (number("axi_w_valid_o") != 0 && simulation_.number("axi_w_ready_i") != 0)
    beats_.push_back({simulation_.get("axi_w_data_o"), number("axi_w_strb_o"), number("axi_w_last_o") != 0});
  commit();
}

// Beats whose address is there.
void Chip::commit() {
  while (!addresses_.empty() && !beats_.empty()) {
    Write& w = addresses_.front();
    const Beat& beat = beats_.front();
    for (unsigned i = 0; i < kBeat; i++) {
      if ((beat.strobes >> i & 1) == 0) continue;
      Byte& b = written_[w.address / kBeat * kBeat + i];
      for (std::size_t k = 0; k < 8; k++) b[k] = beat.data[8 * i + k];
    }
    if (beat.last != (w.left == 0)) fail("last at the wrong beat");
    w.address = (w.address / kBeat + 1) * kBeat;
    if (w.left-- == 0) {
      addresses_.pop_front();
      answers_.push_back(latency_);
    }
    beats_.pop_front();
  }
}

void Chip::cycle(unsigned stalls) {
  give(stalls);
  simulation_.settle();
  if (next_write_ < writes_.size()) {
    address_taken_ = address_taken_ || number("csr_aw_ready_o") != 0;
    data_taken_ = data_taken_ || number("csr_w_ready_o") != 0;
    if (number("csr_b_valid_o") != 0) {
      if (number("csr_b_resp_o") != 0) fail("a register was not written");
      address_taken_ = data_taken_ = false;
      next_write_++;
    }
  }
  interrupt_ = number("irq_o") != 0;
  offered_by_chip_ = 0;
  if (number("axi_ar_valid_o") != 0) offered_by_chip_ |= kStallAr;
  if (number("axi_aw_valid_o") != 0) offered_by_chip_ |= kStallAw;
  if (number("axi_w_valid_o") != 0) offered_by_chip_ |= kStallW;
  take_reads();
  take_writes();
  wait();
  simulation_.clock();
  cycles_++;
}

std::array<std::uint64_t, 2> Chip::state() const {
  std::array<std::uint64_t, 2> s = simulation_.state();
  std::array<std::uint64_t, 2> h{0x9e3779b97f4a7c15ULL, 0xa0761d6478bd642fULL};
  const auto add = [&](std::uint64_t x) {
    h[0] = (h[0] ^ x) * 0xd6e8feb86659fd93ULL;
    h[0] ^= h[0] >> 32;
    h[1] = (h[1] + x) * 0xe7037ed1a0b428dbULL;
    h[1] ^= h[1] >> 29;
  };
  add(next_write_ * 4 + address_taken_ * 2 + data_taken_);
  for (const Read& r : reads_) {
    add(r.address);
    add((r.left * 2 + r.id + 1) | std::uint64_t(r.wait) << 32);
  }
  add(offer_ * 2 + answer_offered_);
  for (const unsigned a : answers_) add(a + 1);
  add(addresses_.size());
  for (const Write& w : addresses_) {
    add(w.address);
    add(w.left);
  }
  for (const Beat& b : beats_) {
    for (const Literal l : b.data) add(l);
    add(b.strobes * 2 + b.last);
  }
  for (const auto& [address, b] : written_) {
    add(address);
    for (const Literal l : b) add(l);
  }
  for (std::size_t i = 0; i < 2; i++) s[i] ^= h[i];
  return s;
}

}  // namespace kaiten::symbolic
