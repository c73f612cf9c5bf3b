// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Large pieces of memory, cut from one range of addresses, which keeps its pages: new pages are cleared by the system, which
/// costs more than many a transform. Pieces that are given back join their neighbours, so that others of any size take their
/// place.
#ifndef KAITEN_FFT_ARENA_H
#define KAITEN_FFT_ARENA_H

#include <cstdint>
#include <map>

namespace kaiten::fft {

/// Not thread-safe: one caller at a time.
class Arena {
 public:
  /// All pieces are multiples of this and begin at one: the large pages of x86-64 and most others.
  static constexpr std::uint64_t kPiece = std::uint64_t(1) << 21;

  /// `bytes` of addresses, not of memory, are set aside with the first piece.
  explicit Arena(std::uint64_t bytes) : size_(bytes / kPiece * kPiece) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Uninitialised, rounded up to whole pieces, at the lowest addresses that suffice; null where there are none.
  void* take(std::uint64_t bytes);
  /// What take() gave for as many bytes; false where it did not.
  bool give_back(void* data, std::uint64_t bytes);

  /// Bytes of pages that are kept and in no piece.
  std::uint64_t kept() const { return kept_; }
  /// Gives the system kept pages, those at the highest addresses first, until `bytes` of them are left or fewer.
  void keep_at_most(std::uint64_t bytes);

 private:
  /// A range that is not taken. Neighbours are of different kinds.
  struct Free {
    std::uint64_t bytes = 0;
    bool kept = false;  ///< with its pages
  };
  using Ranges = std::map<std::uint64_t, Free>;  ///< by offset

  /// The first of the ranges side by side that hold so many bytes.
  Ranges::iterator find(std::uint64_t bytes);
  void add(std::uint64_t offset, Free range);
  bool reserve();

  std::uint64_t size_;
  char* base_ = nullptr;
  std::uint64_t top_ = 0;  ///< nothing beyond was ever used
  std::uint64_t kept_ = 0;
  Ranges free_;
};

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_ARENA_H
