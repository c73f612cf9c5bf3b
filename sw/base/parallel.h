// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Independent pieces of work on several threads.
#ifndef KAITEN_BASE_PARALLEL_H
#define KAITEN_BASE_PARALLEL_H

#include <cstddef>
#include <functional>

namespace kaiten {

// Calls work(i) for every i below n, in any order, from `threads` threads, the caller's among them. After an exception no
// further i is begun, and it comes out.
void parallel(std::size_t n, int threads, const std::function<void(std::size_t)>& work);

}  // namespace kaiten

#endif  // KAITEN_BASE_PARALLEL_H
