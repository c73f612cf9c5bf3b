// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A fixed number of threads that share the tasks of a loop.
#ifndef KAITEN_FFT_WORKERS_H
#define KAITEN_FFT_WORKERS_H

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kaiten::fft {

/// Threads of a loop, ended by the destructor. each() may be called from any thread.
class Workers {
 public:
  /// The calling thread is one of them: `threads` - 1 are started; less than 1 counts as 1.
  explicit Workers(int threads = 1);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return int(threads_.size()) + 1; }  ///< threads, the calling one included

  /// What each() calls: index below its `tasks`, worker in 0 .. count() - 1.
  using Task = std::function<void(std::int64_t index, int worker)>;
  /// Calls task(index, worker) once for every index below `tasks`, and returns when all are done. Rethrows the first
  /// exception of a task; tasks that have not begun are then left out. Calls from several threads wait for each
  /// other, but a single task, or the tasks of a single worker, run at once as worker 0. A task must not call it.
  void each(std::int64_t tasks, const Task& task);

 private:
  void work(int worker);
  void serve(int worker);

  std::vector<std::thread> threads_;
  std::mutex caller_;
  /// The loop under way. A round begins when `round_` changes and ends when `busy_` is 0.
  const Task* task_ = nullptr;
  std::int64_t tasks_ = 0;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::uint32_t> round_ = 0;
  std::atomic<int> busy_ = 0;
  bool stop_ = false;
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_WORKERS_H
