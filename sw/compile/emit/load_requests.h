// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What LOADs ask memory for, which answers in the order in which it was asked. The read master (rtl/axi/kt_axi_rd.sv) asks for
// a burst a cycle and has at most 32 under way, so the fetch of commands, which goes first at the port, waits for these and not for
// all of a long LOAD. Times in cycles.
#ifndef KAITEN_COMPILE_EMIT_LOAD_REQUESTS_H
#define KAITEN_COMPILE_EMIT_LOAD_REQUESTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kaiten {

// A LOAD's.
struct LoadRequest {
  std::int64_t at = 0;
  std::int64_t begin = 0, end = 0;  // of its beats
  std::int64_t bursts = 1;

  // When the first n bursts are there.
  std::int64_t got(std::int64_t n) const { return begin + (end - begin) * n / bursts; }
};

// In order of all times. Calls with a time come in order of it.
class LoadRequests {
 public:
  explicit LoadRequests(std::size_t number) { all_.reserve(number); }

  void add(const LoadRequest& r) { all_.push_back(r); }
  // How many were made until then.
  std::size_t made(std::int64_t until);
  // When the first n have come.
  std::int64_t end_of(std::size_t n) const { return n == 0 ? 0 : all_[n - 1].end; }
  // When the bursts of the first n that are asked for until then have come.
  std::int64_t asked_until(std::size_t n, std::int64_t until);
  // From when on another burst may be asked for.
  std::int64_t room_for_burst() const;

 private:
  std::vector<LoadRequest> all_;
  std::size_t made_ = 0, coming_ = 0;
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_LOAD_REQUESTS_H
