// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "sim/axi_memory.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>

#include "base/error.h"

namespace kaiten::sim {

AxiMemory::AxiMemory(const AxiMemoryOptions& options) : options_(options), random_(options.seed) {
  if (options.storage == nullptr) {
    // calloc leaves untouched pages unmapped: hundreds of MiB cost nothing until used
    own_.reset(static_cast<uint8_t*>(std::calloc(std::max<size_t>(options.bytes, 1), 1)));
    if (!own_) throw std::bad_alloc();
  }
  memory_ = own_ ? own_.get() : options.storage;
  reads_.reserve(options.max_reads + 1);
  writes_.reserve(options.max_writes + 1);
  set_options(options);
}

void AxiMemory::set_options(const AxiMemoryOptions& options) {
  if (options.base != options_.base || options.bytes != options_.bytes)
    throw DeviceError("AxiMemory: base and size cannot change");
  options_ = options;
  options_.read_latency = std::max(1u, options_.read_latency);
  options_.write_latency = std::max(1u, options_.write_latency);
  random_ = Random(options.seed);
  stalls_ = (options.stall_ar | options.stall_r | options.stall_aw | options.stall_w | options.stall_b) != 0;
  const unsigned width = std::max(r_.data_bytes, w_.data_bytes);
  if (options.bytes_per_cycle != 0 && !(options.bytes_per_cycle >= AxiMemoryOptions::kLeastBytesPerCycle &&
                                        options.bytes_per_cycle <= AxiMemoryOptions::kMostBytesPerCycle))
    throw DeviceError("AxiMemory: bytes_per_cycle out of range");
  rate_ = static_cast<int64_t>(options.bytes_per_cycle * static_cast<double>(kOne));
  // Unused bandwidth is lost, but for what a beat needs and the fraction that has to carry over.
  cap_ = std::max<int64_t>(rate_, int64_t{width} * kOne) + rate_;
  credit_ = {cap_, cap_};
  quiet_ = false;
}

void AxiMemory::connect(const AxiReadPort& port) {
  r_ = port;
  set_options(options_);
  drive_idle();
}

void AxiMemory::connect(const AxiWritePort& port) {
  if (port.data_bytes > sizeof(Beat::data)) throw DeviceError("AxiMemory: bus of more than 64 bytes");
  w_ = port;
  set_options(options_);
  drive_idle();
}

void AxiMemory::drive_idle() {
  if (r_.ar_valid) *r_.ar_ready = *r_.r_valid = *r_.r_id = *r_.r_resp = *r_.r_last = 0;
  if (w_.aw_valid) {
    *w_.aw_ready = *w_.w_ready = *w_.b_valid = *w_.b_resp = 0;
    if (w_.b_id) *w_.b_id = 0;
  }
  quiet_ = false;
}

void AxiMemory::reset() {
  reads_.clear();
  writes_.clear();
  early_.clear();
  responses_.clear();
  r_on_ = b_on_ = r_taken_ = b_taken_ = event_ = false;
  drive_idle();
}

std::span<uint8_t> AxiMemory::at(uint64_t address, size_t bytes) {
  const uint64_t offset = address - options_.base;
  if (address < options_.base || offset > options_.bytes || bytes > options_.bytes - offset)
    throw DeviceError("memory access outside the simulated memory: address " + std::to_string(address) +
                      ", " + std::to_string(bytes) + " bytes");
  return {memory_ + offset, bytes};
}

std::span<const uint8_t> AxiMemory::at(uint64_t address, size_t bytes) const {
  return const_cast<AxiMemory*>(this)->at(address, bytes);
}

void AxiMemory::fail_range(uint64_t first, uint64_t last, uint8_t resp, bool reads, bool writes) {
  failures_.push_back({first, last, resp, reads, writes});
}
void AxiMemory::fail_read_beat(uint64_t n, uint8_t resp) { fail_reads_.emplace_back(read_number_ + n, resp); }
void AxiMemory::fail_write_burst(uint64_t n, uint8_t resp) {
  fail_writes_.emplace_back(write_number_ + n, resp);
}
void AxiMemory::clear_failures() {
  failures_.clear();
  fail_reads_.clear();
  fail_writes_.clear();
}

uint8_t AxiMemory::range_response(uint64_t address, bool write) const {
  const unsigned bytes = write ? w_.data_bytes : r_.data_bytes;
  const uint64_t offset = address - options_.base;
  if (address < options_.base || offset >= options_.bytes || options_.bytes - offset < bytes)
    return kRespDecerr;
  for (const Failure& f : failures_)
    if ((write ? f.writes : f.reads) && address <= f.last && address + bytes > f.first) return f.resp;
  return kRespOkay;
}

static uint8_t numbered(const std::vector<std::pair<uint64_t, uint8_t>>& list, uint64_t number,
                        uint8_t resp) {
  for (const auto& [n, code] : list)
    if (n == number) return code;
  return resp;
}

void AxiMemory::accept_read() {
  const unsigned bytes = r_.data_bytes;
  if ((1u << *r_.ar_size) != bytes || *r_.ar_burst != 1)
    throw DeviceError("AxiMemory: read burst that is not INCR of full-width beats");
  reads_.push_back(
      {r_.ar_addr.get() & ~uint64_t{bytes - 1}, cycle_ + options_.read_latency, *r_.ar_len + 1u, *r_.ar_id});
  counters_.read_bursts++;
  counters_.most_reads = std::max<unsigned>(counters_.most_reads, reads_.size());
}

void AxiMemory::accept_write_address() {
  const unsigned bytes = w_.data_bytes;
  if ((1u << *w_.aw_size) != bytes || *w_.aw_burst != 1)
    throw DeviceError("AxiMemory: write burst that is not INCR of full-width beats");
  writes_.push_back({w_.aw_addr.get() & ~uint64_t{bytes - 1}, *w_.aw_len + 1u, *w_.aw_id, kRespOkay});
  counters_.write_bursts++;
  counters_.most_writes = std::max<unsigned>(counters_.most_writes, writes_.size() + responses_.size());
  while (!early_.empty() && !writes_.empty()) {
    apply(early_.front().data.data(), early_.front().strobes);
    early_.pop_front();
  }
}

void AxiMemory::accept_write_data() {
  const uint64_t strobes = w_.w_strb.get();
  counters_.write_beats++;
  counters_.write_bytes += std::popcount(strobes);
  if (rate_) credit_[options_.separate_directions] -= int64_t{w_.data_bytes} * kOne;
  read_last_ = false;
  if (!writes_.empty()) {
    apply(reinterpret_cast<const uint8_t*>(w_.w_data), strobes);
  } else {
    early_.emplace_back();
    early_.back().strobes = strobes;
    std::memcpy(early_.back().data.data(), w_.w_data, w_.data_bytes);
  }
}

// One data beat of the oldest open burst.
void AxiMemory::apply(const uint8_t* data, uint64_t strobes) {
  Write& burst = writes_.front();
  const unsigned bytes = w_.data_bytes;
  const uint8_t resp = range_response(burst.address, true);
  if (resp != kRespOkay) {
    if (burst.resp == kRespOkay) burst.resp = resp;
  } else {
    uint8_t* to = memory_ + (burst.address - options_.base);
    const uint64_t all = (bytes == 64) ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1;
    if (strobes == all) {
      std::memcpy(to, data, bytes);
    } else {
      for (unsigned i = 0; i < bytes; i++)
        if (strobes >> i & 1) to[i] = data[i];
    }
  }
  burst.address += bytes;
  if (--burst.beats == 0) {
    burst.resp = numbered(fail_writes_, write_number_++, burst.resp);
    responses_.push_back({cycle_ + options_.write_latency, burst.id, burst.resp});
    writes_.erase(writes_.begin());
  }
}

bool AxiMemory::accept() {
  bool any = false;
  if (r_.ar_valid) {
    if (*r_.r_valid & *r_.r_ready) r_taken_ = any = true;
    if (*r_.ar_valid & *r_.ar_ready) {
      any = true;
      accept_read();
    }
  }
  if (w_.aw_valid) {
    if (*w_.b_valid & *w_.b_ready) b_taken_ = any = true;
    if (*w_.aw_valid & *w_.aw_ready) {
      any = true;
      accept_write_address();
    }
    if (*w_.w_valid & *w_.w_ready) {
      any = true;
      accept_write_data();
    }
  }
  return any;
}

void AxiMemory::charge(size_t bytes, bool write) {
  if (rate_ == 0) return;
  refill();
  credit_[write && options_.separate_directions] -= static_cast<int64_t>(bytes) * kOne;
  quiet_ = false;
}

void AxiMemory::refill() {
  // More cycles than fill the account are worth no more.
  const int64_t missing = cap_ - std::min(credit_[0], credit_[1]);
  const auto enough = static_cast<uint64_t>(missing / rate_ + 1);
  const int64_t gain = static_cast<int64_t>(std::min(cycle_ - credit_cycle_, enough)) * rate_;
  for (int64_t& c : credit_) c = std::min(cap_, c + gain);
  credit_cycle_ = cycle_;
}

// Chooses the burst that gives the next beat and puts it on the bus.
bool AxiMemory::put_read_beat() {
  size_t pick = 0;
  if (options_.shuffle_ids) {
    uint64_t seen[4] = {};
    unsigned candidates = 0;
    for (size_t i = 0; i < reads_.size(); i++) {
      const uint8_t id = reads_[i].id;
      if (seen[id >> 6] >> (id & 63) & 1) continue;
      seen[id >> 6] |= uint64_t{1} << (id & 63);
      if (reads_[i].ready <= cycle_ + 1 && random_.below(++candidates) == 0) pick = i;
    }
    if (candidates == 0) return false;
  } else if (reads_[0].ready > cycle_ + 1) {
    return false;
  }
  Read& burst = reads_[pick];
  const unsigned bytes = r_.data_bytes;
  uint8_t resp = range_response(burst.address, false);
  if (resp == kRespDecerr) {
    std::memset(r_.r_data, 0xDE, bytes);
  } else {
    std::memcpy(r_.r_data, memory_ + (burst.address - options_.base), bytes);
  }
  resp = numbered(fail_reads_, read_number_++, resp);
  *r_.r_resp = resp;
  *r_.r_id = burst.id;
  *r_.r_last = burst.beats == 1;
  counters_.read_beats++;
  counters_.read_beats_of_id[burst.id]++;
  burst.address += bytes;
  if (--burst.beats == 0) reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(pick));
  return true;
}

// `cycle_` is still the number of the edge just passed; what is driven here is seen one later.
void AxiMemory::drive() {
  const bool bounded = rate_ != 0;
  if (bounded) refill();
  int64_t& write_credit = credit_[options_.separate_directions];
  const int64_t write_cost = int64_t{w_.data_bytes} * kOne;
  if (r_.ar_valid) {
    if (r_taken_) r_on_ = r_taken_ = false;
    if (!r_on_ && !reads_.empty() && !random_.percent(options_.stall_r)) {
      const int64_t cost = int64_t{r_.data_bytes} * kOne;
      // Directions that share the bandwidth take turns.
      const bool leave = bounded && !options_.separate_directions && read_last_ && w_.aw_valid && *w_.w_valid;
      if (!bounded || credit_[0] >= cost + (leave ? write_cost : 0)) {
        r_on_ = put_read_beat();
        if (r_on_ && bounded) {
          credit_[0] -= cost;
          read_last_ = true;
        }
      }
    }
    *r_.r_valid = r_on_;
    *r_.ar_ready = reads_.size() < options_.max_reads && !random_.percent(options_.stall_ar);
  }
  if (w_.aw_valid) {
    if (b_taken_) {
      b_on_ = b_taken_ = false;
      responses_.pop_front();
    }
    if (!b_on_ && !responses_.empty() && responses_.front().ready <= cycle_ + 1 &&
        !random_.percent(options_.stall_b)) {
      b_on_ = true;
      if (w_.b_id) *w_.b_id = responses_.front().id;
      *w_.b_resp = responses_.front().resp;
    }
    *w_.b_valid = b_on_;
    const bool room = writes_.size() + responses_.size() < options_.max_writes;
    *w_.aw_ready = room && (!options_.data_first || !early_.empty()) && !random_.percent(options_.stall_aw);
    *w_.w_ready =
        early_.size() < 64 && (!bounded || write_credit >= write_cost) && !random_.percent(options_.stall_w);
  }
  quiet_ = !stalls_ && idle() && (!bounded || !w_.aw_valid || *w_.w_ready);
}

}  // namespace kaiten::sim
