// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "sim/axi_monitor.h"

#include <algorithm>
#include <sstream>

namespace kaiten::sim {

const char* name(AxiRule rule) {
  switch (rule) {
    case AxiRule::kValidDropped:
      return "VALID dropped before READY";
    case AxiRule::kPayloadChanged:
      return "payload changed before READY";
    case AxiRule::kBurstType:
      return "burst type is not INCR";
    case AxiRule::kBurstSize:
      return "beat size is not the bus width";
    case AxiRule::kBurstLength:
      return "burst is too long";
    case AxiRule::kUnaligned:
      return "address is not aligned to the bus";
    case AxiRule::kPage:
      return "burst crosses a 4 KiB line";
    case AxiRule::kIdentifier:
      return "unknown ID";
    case AxiRule::kOutstanding:
      return "too many outstanding bursts";
    case AxiRule::kLast:
      return "LAST in the wrong place";
    case AxiRule::kNoRequest:
      return "response without a request";
    case AxiRule::kResponse:
      return "illegal response code";
    case AxiRule::kStrobe:
      return "write beat without strobes";
    case AxiRule::kReset:
      return "VALID high in reset";
    case AxiRule::kUnfinished:
      return "bursts not finished";
  }
  return "?";
}

std::string ProtocolError::text() const {
  std::ostringstream s;
  s << "AXI protocol error on " << port << ' ' << channel << " in cycle " << cycle << ": " << name(rule)
    << " (0x" << std::hex << value << ')';
  return s.str();
}

void ProtocolLog::add(const ProtocolError& error) {
  count_++;
  if (errors_.size() < 1000) errors_.push_back(error);
  if (throw_) throw ProtocolViolation(error);
}

void ProtocolLog::check() const {
  if (!errors_.empty()) throw ProtocolViolation(errors_.front());
}

namespace {

// The rules of an address that is offered for the first time; calls fail(rule, value).
template <class Fail>
void check_address(const AxiMonitorOptions& o, unsigned bytes, const AxiAddress& a, Fail fail) {
  const unsigned beats = a.len + 1u;
  if (a.burst != 1) fail(AxiRule::kBurstType, a.burst);
  if ((1u << a.size) != bytes) fail(AxiRule::kBurstSize, a.size);
  if (beats > o.max_beats) fail(AxiRule::kBurstLength, beats);
  if (a.address % bytes != 0) fail(AxiRule::kUnaligned, a.address);
  if ((a.address & 4095 & ~uint64_t{bytes - 1}) + uint64_t{beats} * bytes > 4096)
    fail(AxiRule::kPage, a.address);
  if (a.id >= o.ids) fail(AxiRule::kIdentifier, a.id);
}

// The rule of one that waits.
template <class Fail>
void check_unchanged(const AxiAddress& offered, const AxiAddress& now, Fail fail) {
  if (offered.address != now.address) fail(AxiRule::kPayloadChanged, 0);
  if (offered.id != now.id) fail(AxiRule::kPayloadChanged, 1);
  if (offered.len != now.len) fail(AxiRule::kPayloadChanged, 2);
  if (offered.size != now.size) fail(AxiRule::kPayloadChanged, 3);
  if (offered.burst != now.burst) fail(AxiRule::kPayloadChanged, 4);
}

// The rules of an address channel at an edge at which VALID is high or an address waits. True: the address is taken.
template <class Fail>
bool takes_address(const AxiMonitorOptions& o, unsigned bytes, bool valid, bool ready, const AxiAddress& now,
                   AxiAddressChannel& channel, Fail fail) {
  if (!valid) {
    fail(AxiRule::kValidDropped, 0);
    channel.waits = false;
    return false;
  }
  if (channel.waits) {
    check_unchanged(channel.offered, now, fail);
  } else {
    check_address(o, bytes, now, fail);
  }
  channel.waits = !ready;
  if (channel.waits) channel.offered = now;
  return ready;
}

}  // namespace

// ---- AXI4 read

AxiReadMonitor::AxiReadMonitor(const AxiReadPort& port, const AxiMonitorOptions& options, ProtocolLog& log)
    : p_(port), options_(options), log_(log) {}

void AxiReadMonitor::fail(uint64_t cycle, const char* channel, AxiRule rule, uint64_t value) {
  log_.add({cycle, options_.name, channel, rule, value});
}

void AxiReadMonitor::sample_in_reset(uint64_t cycle) {
  if (*p_.ar_valid) fail(cycle, "AR", AxiRule::kReset, 0);
  if (*p_.r_valid) fail(cycle, "R", AxiRule::kReset, 0);
  for (auto& q : beats_) q.clear();
  got_.fill(0);
  waits_ = ar_.waits = r_waits_ = false;
  open_ = 0;
}

void AxiReadMonitor::finish(uint64_t cycle) {
  if (open_) fail(cycle, "R", AxiRule::kUnfinished, open_);
}

void AxiReadMonitor::busy_sample(uint64_t cycle) {
  // R first: a beat may only answer an address taken at an earlier edge.
  sample_data(cycle);
  sample_address(cycle);
  waits_ = ar_.waits | r_waits_;
}

void AxiReadMonitor::sample_data(uint64_t cycle) {
  if (*p_.r_valid) {
    const uint8_t id = *p_.r_id;
    if (r_waits_) {
      if (r_.id != id) fail(cycle, "R", AxiRule::kPayloadChanged, 0);
      if (r_.resp != *p_.r_resp) fail(cycle, "R", AxiRule::kPayloadChanged, 1);
      if (r_.last != *p_.r_last) fail(cycle, "R", AxiRule::kPayloadChanged, 2);
      if (std::memcmp(r_.data.data(), p_.r_data, p_.data_bytes) != 0)
        fail(cycle, "R", AxiRule::kPayloadChanged, 3);
    } else {
      if (beats_[id].empty()) {
        fail(cycle, "R", AxiRule::kNoRequest, id);
      } else if ((*p_.r_last != 0) != (got_[id] + 1 == beats_[id].front())) {
        fail(cycle, "R", AxiRule::kLast, got_[id] + 1);
      }
      if (*p_.r_resp == 1) fail(cycle, "R", AxiRule::kResponse, *p_.r_resp);
    }
    r_waits_ = !*p_.r_ready;
    if (r_waits_) {
      r_.id = id;
      r_.resp = *p_.r_resp;
      r_.last = *p_.r_last;
      std::memcpy(r_.data.data(), p_.r_data, p_.data_bytes);
    } else if (!beats_[id].empty() && ++got_[id] >= beats_[id].front()) {
      // The address says when a burst ends: one wrong LAST is one error.
      beats_[id].pop_front();
      got_[id] = 0;
      open_--;
    }
  } else if (r_waits_) {
    fail(cycle, "R", AxiRule::kValidDropped, 0);
    r_waits_ = false;
  }
}

void AxiReadMonitor::sample_address(uint64_t cycle) {
  if (!*p_.ar_valid && !ar_.waits) return;
  const AxiAddress now{p_.ar_addr.get(), *p_.ar_id, *p_.ar_len, *p_.ar_size, *p_.ar_burst};
  const auto fail_here = [&](AxiRule rule, uint64_t value) { fail(cycle, "AR", rule, value); };
  if (!takes_address(options_, p_.data_bytes, *p_.ar_valid, *p_.ar_ready, now, ar_, fail_here)) return;
  beats_[now.id].push_back(now.len + 1u);
  if (++open_ > options_.outstanding) fail(cycle, "AR", AxiRule::kOutstanding, open_);
}

// ---- AXI4 write

AxiWriteMonitor::AxiWriteMonitor(const AxiWritePort& port, const AxiMonitorOptions& options, ProtocolLog& log)
    : p_(port), options_(options), log_(log) {}

void AxiWriteMonitor::fail(uint64_t cycle, const char* channel, AxiRule rule, uint64_t value) {
  log_.add({cycle, options_.name, channel, rule, value});
}

void AxiWriteMonitor::sample_in_reset(uint64_t cycle) {
  if (*p_.aw_valid) fail(cycle, "AW", AxiRule::kReset, 0);
  if (*p_.w_valid) fail(cycle, "W", AxiRule::kReset, 0);
  if (*p_.b_valid) fail(cycle, "B", AxiRule::kReset, 0);
  addresses_.clear();
  data_.clear();
  answerable_.fill(0);
  waits_ = aw_.waits = w_waits_ = b_waits_ = false;
  got_ = open_ = 0;
}

void AxiWriteMonitor::finish(uint64_t cycle) {
  if (open_) fail(cycle, "B", AxiRule::kUnfinished, open_);
  if (got_ || !data_.empty()) fail(cycle, "W", AxiRule::kUnfinished, data_.size() + (got_ != 0));
}

void AxiWriteMonitor::busy_sample(uint64_t cycle) {
  // B first: a response may only answer a burst whose address and last beat were taken at earlier edges.
  sample_response(cycle);
  sample_address(cycle);
  sample_data(cycle);
  waits_ = aw_.waits | w_waits_ | b_waits_;
}

void AxiWriteMonitor::sample_response(uint64_t cycle) {
  if (*p_.b_valid) {
    const uint8_t id = p_.b_id ? *p_.b_id : 0, resp = *p_.b_resp;
    if (b_waits_) {
      if (b_.id != id) fail(cycle, "B", AxiRule::kPayloadChanged, 0);
      if (b_.resp != resp) fail(cycle, "B", AxiRule::kPayloadChanged, 1);
    } else {
      if (answerable_[id] == 0) fail(cycle, "B", AxiRule::kNoRequest, id);
      if (resp == 1) fail(cycle, "B", AxiRule::kResponse, resp);
    }
    b_waits_ = !*p_.b_ready;
    if (b_waits_) {
      b_ = {id, resp};
    } else if (answerable_[id] != 0) {
      answerable_[id]--;
      open_--;
    }
  } else if (b_waits_) {
    fail(cycle, "B", AxiRule::kValidDropped, 0);
    b_waits_ = false;
  }
}

void AxiWriteMonitor::sample_address(uint64_t cycle) {
  if (!*p_.aw_valid && !aw_.waits) return;
  const AxiAddress now{p_.aw_addr.get(), *p_.aw_id, *p_.aw_len, *p_.aw_size, *p_.aw_burst};
  const auto fail_here = [&](AxiRule rule, uint64_t value) { fail(cycle, "AW", rule, value); };
  if (!takes_address(options_, p_.data_bytes, *p_.aw_valid, *p_.aw_ready, now, aw_, fail_here)) return;
  if (++open_ > options_.outstanding) fail(cycle, "AW", AxiRule::kOutstanding, open_);
  if (!data_.empty()) {  // its data were here first
    if (data_.front() != now.len + 1u) fail(cycle, "W", AxiRule::kLast, data_.front());
    data_.pop_front();
    answerable_[now.id]++;
  } else {
    if (addresses_.empty() && got_ > now.len + 1u) fail(cycle, "W", AxiRule::kLast, got_);
    addresses_.push_back({now.len + 1u, now.id});
  }
}

void AxiWriteMonitor::sample_data(uint64_t cycle) {
  if (*p_.w_valid) {
    const uint64_t strobes = p_.w_strb.get();
    const uint8_t last = *p_.w_last != 0;
    if (w_waits_) {
      if (w_.strobes != strobes) fail(cycle, "W", AxiRule::kPayloadChanged, 0);
      if (w_.last != last) fail(cycle, "W", AxiRule::kPayloadChanged, 1);
      if (std::memcmp(w_.data.data(), p_.w_data, p_.data_bytes) != 0)
        fail(cycle, "W", AxiRule::kPayloadChanged, 2);
    } else if (strobes == 0) {
      fail(cycle, "W", AxiRule::kStrobe, 0);
    }
    w_waits_ = !*p_.w_ready;
    if (w_waits_) {
      w_.strobes = strobes;
      w_.last = last;
      std::memcpy(w_.data.data(), p_.w_data, p_.data_bytes);
    } else {
      got_++;
      if (!addresses_.empty()) {
        // The address says when a burst ends: one wrong LAST is one error.
        const bool end = got_ >= addresses_.front().beats;
        if (end != (last != 0)) fail(cycle, "W", AxiRule::kLast, got_);
        if (end) {
          answerable_[addresses_.front().id]++;
          addresses_.pop_front();
          got_ = 0;
        }
      } else if (last) {
        data_.push_back(got_);
        got_ = 0;
      } else if (got_ >= options_.max_beats) {
        fail(cycle, "W", AxiRule::kLast, got_);
      }
    }
  } else if (w_waits_) {
    fail(cycle, "W", AxiRule::kValidDropped, 0);
    w_waits_ = false;
  }
}

// ---- AXI4-Lite

AxiLiteMonitor::AxiLiteMonitor(const AxiLitePort& port, const AxiMonitorOptions& options, ProtocolLog& log)
    : p_(port), options_(options), log_(log) {}

void AxiLiteMonitor::fail(uint64_t cycle, const char* channel, AxiRule rule, uint64_t value) {
  log_.add({cycle, options_.name, channel, rule, value});
}

void AxiLiteMonitor::sample_in_reset(uint64_t cycle) {
  const struct {
    const uint8_t* valid;
    const char* channel;
  } channels[] = {
      {p_.aw_valid, "AW"}, {p_.w_valid, "W"}, {p_.b_valid, "B"}, {p_.ar_valid, "AR"}, {p_.r_valid, "R"}};
  for (const auto& c : channels)
    if (*c.valid) fail(cycle, c.channel, AxiRule::kReset, 0);
  aw_ = w_ = b_ = ar_ = r_ = {};
  addresses_ = data_ = reads_ = 0;
  waits_ = false;
}

void AxiLiteMonitor::finish(uint64_t cycle) {
  if (addresses_ || data_) fail(cycle, "B", AxiRule::kUnfinished, std::max(addresses_, data_));
  if (reads_) fail(cycle, "R", AxiRule::kUnfinished, reads_);
}

void AxiLiteMonitor::hold(uint64_t cycle, const char* channel, Held& held, bool valid, bool ready, uint64_t a,
                          uint64_t b) {
  if (held.waits) {
    if (!valid) {
      fail(cycle, channel, AxiRule::kValidDropped, 0);
    } else {
      if (held.payload[0] != a) fail(cycle, channel, AxiRule::kPayloadChanged, 0);
      if (held.payload[1] != b) fail(cycle, channel, AxiRule::kPayloadChanged, 1);
    }
  }
  held = {valid && !ready, {a, b}};
}

void AxiLiteMonitor::busy_sample(uint64_t cycle) {
  const bool b_new = *p_.b_valid && !b_.waits, r_new = *p_.r_valid && !r_.waits;
  const bool aw_new = *p_.aw_valid && !aw_.waits, w_new = *p_.w_valid && !w_.waits,
             ar_new = *p_.ar_valid && !ar_.waits;
  const uint64_t strobes = p_.w_strb ? p_.w_strb.get() : 1;

  if (b_new && (addresses_ == 0 || data_ == 0)) fail(cycle, "B", AxiRule::kNoRequest, 0);
  if (b_new && *p_.b_resp == 1) fail(cycle, "B", AxiRule::kResponse, *p_.b_resp);
  if (r_new && reads_ == 0) fail(cycle, "R", AxiRule::kNoRequest, 0);
  if (r_new && *p_.r_resp == 1) fail(cycle, "R", AxiRule::kResponse, *p_.r_resp);
  if (aw_new && p_.aw_addr.get() % p_.data_bytes) fail(cycle, "AW", AxiRule::kUnaligned, p_.aw_addr.get());
  if (ar_new && p_.ar_addr.get() % p_.data_bytes) fail(cycle, "AR", AxiRule::kUnaligned, p_.ar_addr.get());
  if (w_new && strobes == 0) fail(cycle, "W", AxiRule::kStrobe, 0);

  hold(cycle, "AW", aw_, *p_.aw_valid, *p_.aw_ready, p_.aw_addr.get(), 0);
  hold(cycle, "W", w_, *p_.w_valid, *p_.w_ready, p_.w_data.get(), strobes);
  hold(cycle, "B", b_, *p_.b_valid, *p_.b_ready, *p_.b_resp, 0);
  hold(cycle, "AR", ar_, *p_.ar_valid, *p_.ar_ready, p_.ar_addr.get(), 0);
  hold(cycle, "R", r_, *p_.r_valid, *p_.r_ready, p_.r_data.get(), *p_.r_resp);

  if (*p_.b_valid && *p_.b_ready && addresses_ && data_) addresses_--, data_--;
  if (*p_.r_valid && *p_.r_ready && reads_) reads_--;
  if (*p_.aw_valid && *p_.aw_ready && ++addresses_ > options_.outstanding)
    fail(cycle, "AW", AxiRule::kOutstanding, addresses_);
  if (*p_.w_valid && *p_.w_ready) data_++;
  if (*p_.ar_valid && *p_.ar_ready && ++reads_ > options_.outstanding)
    fail(cycle, "AR", AxiRule::kOutstanding, reads_);
  waits_ = aw_.waits | w_.waits | b_.waits | ar_.waits | r_.waits;
}

}  // namespace kaiten::sim
