// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/load_requests.h"

#include <algorithm>

namespace kaiten {

namespace {

// Bursts between their request and their last beat.
constexpr std::int64_t kBurstsAhead = 32;
constexpr std::int64_t kToBurst = 1;  // from a LOAD's request to its first burst

}  // namespace

std::size_t LoadRequests::made(std::int64_t until) {
  while (made_ < all_.size() && all_[made_].at <= until) made_++;
  return made_;
}

std::int64_t LoadRequests::asked_until(std::size_t n, std::int64_t until) {
  while (coming_ < n && all_[coming_].end <= until) coming_++;
  std::int64_t left = kBurstsAhead;
  for (std::size_t i = coming_; i < n; i++) {
    const LoadRequest& r = all_[i];
    const std::int64_t issued = std::clamp<std::int64_t>(until - r.at - kToBurst, 0, r.bursts);
    std::int64_t there = 0;
    if (until > r.begin) there = std::min((until - r.begin) * r.bursts / (r.end - r.begin), issued);
    if (issued - there >= left) return r.got(there + left);
    if (issued < r.bursts) return issued > 0 ? r.got(issued) : end_of(i);
    left -= r.bursts - there;
  }
  return end_of(n);
}

std::int64_t LoadRequests::room_for_burst() const {
  std::int64_t left = kBurstsAhead;
  for (auto r = all_.rbegin(); r != all_.rend(); r++) {
    if (r->bursts >= left) return r->got(r->bursts - left + 1);
    left -= r->bursts;
  }
  return 0;
}

}  // namespace kaiten
