// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "base/parallel.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kaiten {

void parallel(std::size_t n, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex guard;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < n; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(guard);
      error = std::current_exception();
      next = n;
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; t++) others.emplace_back(run);
  run();
  others.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace kaiten
