// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

namespace kaiten::fft {

namespace {

std::uint64_t whole_pieces(std::uint64_t bytes) {
  return (bytes + Arena::kPiece - 1) / Arena::kPiece * Arena::kPiece;
}

}  // namespace

Arena::~Arena() {
  if (base_ != nullptr) munmap(base_, size_);
}

bool Arena::reserve() {
  if (base_ != nullptr || size_ == 0) return base_ != nullptr;
  // One piece more: the range begins at a multiple.
  void* range = mmap(nullptr, size_ + kPiece, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    size_ = 0;  // a limit of addresses: there is no arena
    return false;
  }
  const auto at = reinterpret_cast<std::uintptr_t>(range);
  const std::uintptr_t lead = (kPiece - at % kPiece) % kPiece;
  base_ = static_cast<char*>(range) + lead;
  if (lead > 0) munmap(range, lead);
  munmap(base_ + size_, kPiece - lead);
  madvise(base_, size_, MADV_HUGEPAGE);
  return true;
}

Arena::Ranges::iterator Arena::find(std::uint64_t bytes) {
  auto first = free_.begin();
  std::uint64_t end = 0;
  for (auto f = free_.begin(); f != free_.end(); ++f) {
    if (f->first != end) first = f;
    end = f->first + f->second.bytes;
    if (end - first->first >= bytes) return first;
  }
  return free_.end();
}

void* Arena::take(std::uint64_t bytes) {
  const std::uint64_t wanted = whole_pieces(bytes);
  auto found = find(wanted);
  if (found == free_.end()) {
    // What is free at the end, and new addresses.
    std::uint64_t begin = top_;
    for (auto f = free_.end();
         f != free_.begin() && std::prev(f)->first + std::prev(f)->second.bytes == begin;) {
      --f;
      begin = f->first;
    }
    if (!reserve() || wanted > size_ - begin) return nullptr;
    add(top_, {begin + wanted - top_, false});
    top_ = begin + wanted;
    found = find(wanted);
  }
  const std::uint64_t offset = found->first;
  for (std::uint64_t left = wanted; left > 0;) {
    const auto [at, range] = *found;
    found = free_.erase(found);
    const std::uint64_t part = std::min(left, range.bytes);
    if (range.kept) kept_ -= part;
    if (range.bytes > part) free_[at + part] = {range.bytes - part, range.kept};
    left -= part;
  }
  return base_ + offset;
}

// Joined with its neighbours of the same kind.
void Arena::add(std::uint64_t offset, Free range) {
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && offset + range.bytes == after->first && after->second.kept == range.kept) {
    range.bytes += after->second.bytes;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second.bytes == offset && before->second.kept == range.kept) {
      before->second.bytes += range.bytes;
      return;
    }
  }
  free_[offset] = range;
}

bool Arena::give_back(void* data, std::uint64_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(data), base = reinterpret_cast<std::uintptr_t>(base_);
  if (base_ == nullptr || at < base || at >= base + size_) return false;
  const std::uint64_t whole = whole_pieces(bytes);
  kept_ += whole;
  add(at - base, {whole, true});
  return true;
}

void Arena::keep_at_most(std::uint64_t bytes) {
  for (auto f = free_.end(); f != free_.begin() && kept_ > bytes;) {
    --f;
    if (!f->second.kept) continue;
    // Its end, or all of it.
    const std::uint64_t drop = std::min(f->second.bytes, whole_pieces(kept_ - bytes));
    const std::uint64_t offset = f->first + f->second.bytes - drop;
    madvise(base_ + offset, drop, MADV_DONTNEED);
    kept_ -= drop;
    f->second.bytes -= drop;
    if (f->second.bytes == 0) free_.erase(f);
    add(offset, {drop, false});
    f = free_.lower_bound(offset);
  }
}

}  // namespace kaiten::fft
