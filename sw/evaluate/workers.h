// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Work on many items in child processes, each a copy of this one as it stands: what was compiled before is there in all of
// them, and nothing needs locks.
#ifndef KAITEN_EVALUATE_WORKERS_H
#define KAITEN_EVALUATE_WORKERS_H

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace kaiten {

constexpr int kMostWorkers = 256;

// Calls work(item) in `workers` processes, each item once, worker w taking items w, w + workers, ... of the list; done(item,
// answer) here, in any order across workers, and cancellation_check here now and then. What either throws, and an InputError or DeviceError of
// the work, ends all processes and goes on from here. No other thread may run when it is called.
void in_processes(int workers, std::span<const std::size_t> items,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const std::string&)>& done,
                  const std::function<void()>& cancellation_check);

}  // namespace kaiten

#endif  // KAITEN_EVALUATE_WORKERS_H
