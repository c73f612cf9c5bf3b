// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Independent pieces of work on several threads.
#ifndef KAITEN_BASE_PARALLEL_H
#define KAITEN_BASE_PARALLEL_H

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kaiten {

// Threads that stay, for many short rounds of work. One caller at a time.
class Workers {
 public:
  // The caller's is one of `threads`.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls work(i) for every i below n, in any order. After an exception no further i is begun, and it comes out.
  void run(std::size_t n, const std::function<void(std::size_t)>& work);

 private:
  void take();
  void follow();

  std::vector<std::jthread> others_;
  std::atomic<unsigned> round_ = 0;  // another number: there is work, or the end
  std::atomic<int> at_work_ = 0;     // of the others
  std::atomic<bool> over_ = false;
  std::atomic<std::size_t> next_ = 0;
  std::size_t n_ = 0;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::mutex guard_;
  std::exception_ptr error_;
};

// The same once.
void parallel(std::size_t n, int threads, const std::function<void(std::size_t)>& work);

}  // namespace kaiten

#endif  // KAITEN_BASE_PARALLEL_H
