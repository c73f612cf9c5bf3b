// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/memory.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>

#include "fft/arena.h"

namespace kaiten::fft {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

constexpr std::align_val_t kAligned{kAlignment};

// Addresses for arrays of so much memory, in pieces that do not always fit each other.
std::uint64_t addresses_for(std::uint64_t limit) { return 2 * std::min(limit, Memory::physical_bytes()); }

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

Memory::Memory(std::uint64_t limit) : limit_(limit), arena_(std::make_unique<Arena>(addresses_for(limit))) {}

Memory::~Memory() = default;

std::uint64_t Memory::physical_bytes() {
  return product({std::uint64_t(sysconf(_SC_PHYS_PAGES)), std::uint64_t(sysconf(_SC_PAGESIZE))});
}

void Memory::require(const std::string& what, std::uint64_t bytes) const {
  const std::uint64_t used = used_;
  if (sum({used, bytes}) > limit_) throw OutOfMemory(what, bytes, limit_ - std::min(used, limit_));
}

std::uint64_t Memory::kept() {
  const std::lock_guard lock(arena_mutex_);
  return arena_->kept();
}

// Of the arena; null where it has no room. What is kept makes room where the limit asks for it.
void* Memory::take(std::uint64_t bytes) {
  const std::lock_guard lock(arena_mutex_);
  if (void* data = arena_->take(bytes); data != nullptr) {
    const std::uint64_t used = used_ + bytes;
    if (used + arena_->kept() > limit_) arena_->keep_at_most(limit_ - std::min(limit_, used));
    return data;
  }
  arena_->keep_at_most(0);
  return nullptr;
}

void* Memory::allocate(std::uint64_t bytes) {
  require("an array", bytes);
  void* data = bytes >= Arena::kPiece ? take(bytes) : nullptr;
  if (data == nullptr) {
    data = ::operator new(bytes, kAligned, std::nothrow);
    if (data == nullptr) throw OutOfMemory("an array", bytes, limit_);
  }
  const std::uint64_t now = used_ += bytes;
  std::uint64_t before = peak_;
  while (before < now && !peak_.compare_exchange_weak(before, now)) {
  }
  return data;
}

void Memory::release(void* data, std::uint64_t bytes) {
  used_ -= bytes;
  if (bytes >= Arena::kPiece) {
    const std::lock_guard lock(arena_mutex_);
    if (arena_->give_back(data, bytes)) return;
  }
  ::operator delete(data, kAligned);
}

}  // namespace kaiten::fft
