// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>

namespace kaiten::fft {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

// Large arrays begin at a large page and ask for such: touching them first costs a fault for each page.
constexpr std::uint64_t kLargePage = std::uint64_t(1) << 21;

std::align_val_t alignment_of(std::uint64_t bytes) {
  return std::align_val_t(bytes >= kLargePage ? kLargePage : kAlignment);
}

std::string bytes_text(std::uint64_t bytes) {
  return (bytes == kMost ? "2^64 or more" : std::to_string(bytes)) + " bytes";
}

}  // namespace

std::uint64_t product(std::initializer_list<std::uint64_t> factors) {
  std::uint64_t result = 1;
  bool zero = false;
  bool over = false;
  for (std::uint64_t f : factors) {
    zero = zero || f == 0;
    over = __builtin_mul_overflow(result, f, &result) || over;
  }
  return zero ? 0 : over ? kMost : result;
}

std::uint64_t sum(std::initializer_list<std::uint64_t> terms) {
  std::uint64_t result = 0;
  bool over = false;
  for (std::uint64_t t : terms) over = __builtin_add_overflow(result, t, &result) || over;
  return over ? kMost : result;
}

std::uint64_t array_bytes(std::uint64_t elements, std::size_t element_bytes) {
  const std::uint64_t bytes = sum({product({elements, element_bytes}), kAlignment - 1});
  return bytes == kMost ? kMost : bytes / kAlignment * kAlignment;
}

OutOfMemory::OutOfMemory(const std::string& what, std::uint64_t needed, std::uint64_t limit)
    : std::runtime_error(what + " needs " + bytes_text(needed) + ", there are " + bytes_text(limit)),
      needed_(needed) {}

Memory::Memory(std::uint64_t limit) : limit_(limit) {}

std::uint64_t Memory::physical_bytes() {
  return product({std::uint64_t(sysconf(_SC_PHYS_PAGES)), std::uint64_t(sysconf(_SC_PAGESIZE))});
}

void Memory::require(const std::string& what, std::uint64_t bytes) const {
  const std::uint64_t used = used_;
  if (sum({used, bytes}) > limit_) throw OutOfMemory(what, bytes, limit_ - std::min(used, limit_));
}

// One that is kept; null where there is none. Those of other sizes make room.
void* Memory::take_kept(std::uint64_t bytes) {
  const std::lock_guard lock(kept_mutex_);
  if (const auto found = kept_.find(bytes); found != kept_.end()) {
    void* data = found->second;
    kept_.erase(found);
    kept_bytes_ -= bytes;
    return data;
  }
  if (used_ + kept_bytes_ + bytes > limit_) free_kept();
  return nullptr;
}

std::uint64_t Memory::kept() {
  const std::lock_guard lock(kept_mutex_);
  return kept_bytes_;
}

void Memory::free_kept() {
  for (const auto& [bytes, data] : kept_) ::operator delete(data, alignment_of(bytes));
  kept_.clear();
  kept_bytes_ = 0;
}

Memory::~Memory() { free_kept(); }

void* Memory::allocate(std::uint64_t bytes) {
  require("an array", bytes);
  void* data = bytes >= kLargePage ? take_kept(bytes) : nullptr;
  if (data == nullptr) {
    data = ::operator new(bytes, alignment_of(bytes), std::nothrow);
    if (data == nullptr) throw OutOfMemory("an array", bytes, limit_);
    if (bytes >= kLargePage) madvise(data, bytes, MADV_HUGEPAGE);
  }
  const std::uint64_t now = used_ += bytes;
  std::uint64_t before = peak_;
  while (before < now && !peak_.compare_exchange_weak(before, now)) {
  }
  return data;
}

void Memory::release(void* data, std::uint64_t bytes) {
  used_ -= bytes;
  if (bytes < kLargePage) {
    ::operator delete(data, alignment_of(bytes));
    return;
  }
  const std::lock_guard lock(kept_mutex_);
  kept_.emplace(bytes, data);
  kept_bytes_ += bytes;
  while (used_ + kept_bytes_ > peak_) {
    const auto [size, smallest] = *kept_.begin();
    ::operator delete(smallest, alignment_of(size));
    kept_.erase(kept_.begin());
    kept_bytes_ -= size;
  }
}

}  // namespace kaiten::fft
