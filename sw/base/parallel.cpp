// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/parallel.h"

#include <utility>

namespace kaiten {

Workers::Workers(int threads) {
  for (int t = 1; t < threads; t++) others_.emplace_back([this] { follow(); });
}

Workers::~Workers() {
  over_ = true;
  round_++;
  round_.notify_all();
  others_.clear();  // joined while what they look at is there
}

void Workers::take() {
  try {
    for (std::size_t i = next_++; i < n_; i = next_++) (*work_)(i);
  } catch (...) {
    const std::lock_guard lock(guard_);
    error_ = std::current_exception();
    next_ = n_;
  }
}

void Workers::follow() {
  for (unsigned seen = 0;;) {
    round_.wait(seen);
    seen = round_;
    if (over_) return;
    take();
    if (--at_work_ == 0) at_work_.notify_one();
  }
}

void Workers::run(std::size_t n, const std::function<void(std::size_t)>& work) {
  n_ = n;
  work_ = &work;
  next_ = 0;
  if (n > 1 && !others_.empty()) {
    at_work_ = int(others_.size());
    round_++;
    round_.notify_all();
  }
  take();
  for (int left = at_work_; left != 0; left = at_work_) at_work_.wait(left);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void parallel(std::size_t n, int threads, const std::function<void(std::size_t)>& work) {
  Workers(threads).run(n, work);
}

}  // namespace kaiten
