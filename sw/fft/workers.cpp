// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/workers.h"

#include <utility>

namespace kaiten::fft {

Workers::Workers(int threads) {
  for (int worker = 1; worker < threads; worker++) threads_.emplace_back([this, worker] { serve(worker); });
}

Workers::~Workers() {
  stop_ = true;
  round_++;
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::work(int worker) {
  for (std::int64_t index = next_++; index < tasks_; index = next_++) {
    try {
      (*task_)(index, worker);
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
      next_ = tasks_;
    }
  }
}

void Workers::serve(int worker) {
  std::uint32_t seen = 0;
  for (;;) {
    round_.wait(seen);
    seen++;
    if (stop_) return;
    work(worker);
    if (--busy_ == 0) busy_.notify_one();
  }
}

void Workers::each(std::int64_t tasks, const Task& task) {
  if (threads_.empty() || tasks <= 1) {
    for (std::int64_t index = 0; index < tasks; index++) task(index, 0);
    return;
  }
  const std::lock_guard lock(caller_);
  task_ = &task;
  tasks_ = tasks;
  next_ = 0;
  busy_ = int(threads_.size());
  round_++;
  round_.notify_all();
  work(0);
  for (int busy = busy_; busy != 0; busy = busy_) busy_.wait(busy);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace kaiten::fft
