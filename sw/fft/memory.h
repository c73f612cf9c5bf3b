// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Where all arrays of this library come from: aligned memory that is counted, so that a layer's need can be
/// stated in advance (convolution.h), compared with what was really allocated, and refused with the number of bytes
/// when there is less.
#ifndef KAITEN_FFT_MEMORY_H
#define KAITEN_FFT_MEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace kaiten::fft {

class Arena;

/// Every array begins at a multiple of this and takes a multiple of it.
constexpr std::size_t kAlignment = 64;

/// Of sizes in bytes or elements: 2^64 - 1 instead of wrapping around.
std::uint64_t product(std::initializer_list<std::uint64_t> factors);
/// Likewise.
std::uint64_t sum(std::initializer_list<std::uint64_t> terms);
/// Bytes that an array of so many elements takes: a multiple of kAlignment.
std::uint64_t array_bytes(std::uint64_t elements, std::size_t element_bytes);

/// An allocation, or what require() asks for, exceeds the limit of a Memory or what the system has.
class OutOfMemory : public std::runtime_error {
 public:
  /// `needed` bytes for `what`, where there are `limit`: the message says so.
  OutOfMemory(const std::string& what, std::uint64_t needed, std::uint64_t limit);
  std::uint64_t needed() const { return needed_; }  ///< bytes

 private:
  std::uint64_t needed_;
};

/// Allocates and counts bytes. Thread-safe: any number of threads may use one; it must outlive its arrays. The pages of
/// large arrays that are released are kept for the next ones: never more in all than the limit.
class Memory {
 public:
  /// `limit` in bytes; by default all physical memory.
  explicit Memory(std::uint64_t limit = physical_bytes());
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  static std::uint64_t physical_bytes();  ///< of this computer

  std::uint64_t limit() const { return limit_; }  ///< bytes
  std::uint64_t used() const { return used_; }    ///< bytes allocated now, arrays kept for reuse not counted
  std::uint64_t peak() const { return peak_; }    ///< most bytes used at a time, since reset_peak()
  std::uint64_t kept();                           ///< bytes of pages kept for reuse
  void reset_peak() { peak_ = used_.load(); }     ///< to used()

  /// Throws OutOfMemory unless `bytes` more are to be had; `what` begins the message.
  void require(const std::string& what, std::uint64_t bytes) const;

  /// Uninitialised, aligned to kAlignment, not null; throws OutOfMemory. `bytes` is what array_bytes() gives.
  void* allocate(std::uint64_t bytes);
  /// Gives back what allocate() returned for as many bytes.
  void release(void* data, std::uint64_t bytes);

 private:
  void* take(std::uint64_t bytes);

  std::uint64_t limit_;
  std::atomic<std::uint64_t> used_ = 0;
  std::atomic<std::uint64_t> peak_ = 0;
  std::mutex arena_mutex_;
  std::unique_ptr<Arena> arena_;
};

/// An array of plain numbers, uninitialised when made; can be moved, not copied. No bounds checks. Threads may share
/// one as they may a std::vector.
template <typename T>
class Array {
 public:
  Array() = default;  ///< empty
  /// `size` elements from `memory`, which must outlive the array. Throws OutOfMemory.
  Array(Memory& memory, std::uint64_t size)
      : memory_(&memory),
        size_(size),
        data_(static_cast<T*>(memory.allocate(array_bytes(size, sizeof(T))))) {}
  Array(Array&& other) noexcept { swap(other); }  ///< leaves `other` empty
  /// Releases what this array had and leaves `other` empty.
  Array& operator=(Array&& other) noexcept {
    Array moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) memory_->release(data_, array_bytes(size_, sizeof(T)));
  }

  T* data() { return data_; }                                    ///< first element
  const T* data() const { return data_; }                        ///< first element
  std::size_t size() const { return size_; }                     ///< elements
  T* begin() { return data_; }                                   ///< first element
  T* end() { return data_ + size_; }                             ///< after the last one
  const T* begin() const { return data_; }                       ///< first element
  const T* end() const { return data_ + size_; }                 ///< after the last one
  T& operator[](std::size_t i) { return data_[i]; }              ///< i < size(), not checked
  const T& operator[](std::size_t i) const { return data_[i]; }  ///< i < size(), not checked

 private:
  void swap(Array& other) {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }

  Memory* memory_ = nullptr;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_MEMORY_H
