// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Where all arrays of this library come from: aligned memory that is counted, so that a layer's need can be
/// stated in advance (layer.h), compared with what was really allocated, and refused with the number of bytes
/// when there is less.
#ifndef KAITEN_FFT_MEMORY_H
#define KAITEN_FFT_MEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace kaiten::fft {

/// Every array begins at a multiple of this and takes a multiple of it.
constexpr std::size_t kAlignment = 64;

/// Sizes in bytes and elements that stay at the largest value instead of wrapping around.
std::uint64_t product(std::initializer_list<std::uint64_t> factors);
std::uint64_t sum(std::initializer_list<std::uint64_t> terms);
/// What an array of so many elements takes.
std::uint64_t array_bytes(std::uint64_t elements, std::size_t element_bytes);

class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(const std::string& what, std::uint64_t needed, std::uint64_t limit);
  std::uint64_t needed() const { return needed_; }

 private:
  std::uint64_t needed_;
};

/// Counts bytes; any number of threads may use one. Large arrays that are released are kept for the next of
/// the same size, because new pages cost more than many a transform: never more in all than the peak, or the
/// limit.
class Memory {
 public:
  /// Without a limit of its own: the computer's physical memory.
  explicit Memory(std::uint64_t limit = physical_bytes());
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  static std::uint64_t physical_bytes();

  std::uint64_t limit() const { return limit_; }
  std::uint64_t used() const { return used_; }
  std::uint64_t peak() const { return peak_; }
  std::uint64_t kept();
  void reset_peak() { peak_ = used_.load(); }

  /// Throws OutOfMemory unless `bytes` more are to be had; `what` begins the message.
  void require(const std::string& what, std::uint64_t bytes) const;

  /// Uninitialised; throws OutOfMemory.
  void* allocate(std::uint64_t bytes);
  void release(void* data, std::uint64_t bytes);

 private:
  void* take_kept(std::uint64_t bytes);
  void free_kept();

  std::uint64_t limit_;
  std::atomic<std::uint64_t> used_ = 0;
  std::atomic<std::uint64_t> peak_ = 0;
  std::mutex kept_mutex_;
  std::uint64_t kept_bytes_ = 0;
  std::multimap<std::uint64_t, void*> kept_;  ///< by size
};

/// An array of plain numbers, uninitialised when made.
template <typename T>
class Array {
 public:
  Array() = default;
  Array(Memory& memory, std::uint64_t size)
      : memory_(&memory),
        size_(size),
        data_(static_cast<T*>(memory.allocate(array_bytes(size, sizeof(T))))) {}
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) memory_->release(data_, array_bytes(size_, sizeof(T)));
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

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
