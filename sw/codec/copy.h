// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Compressed copies of whole buffers, in the spirit of the cDMA paper's cudaMemcpyCompressed (section V-E): a
/// copy that packs or expands on its way and tells the packed size. At once, or queued: then the caller goes
/// on and gets the size, or the error, through a future or a callback.
///
/// A buffer is cut into windows that are packed one by one (the paper: 4 KiB, and found the size to matter
/// little). The packed form is dense: for every window its packed size, 16 bits little-endian, 0 where it is
/// stored raw because packing would not make it smaller; then the windows. It grows by no more than this
/// table.
#ifndef KAITEN_CODEC_COPY_H
#define KAITEN_CODEC_COPY_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "codec/codec.h"

namespace kaiten::codec {

constexpr std::size_t kDefaultWindow = 4096;  ///< bytes packed at a time
constexpr std::size_t kMaxWindow = 65536;     ///< bytes: packed sizes have 16 bits

/// Of a copy: raw to packed, or packed to raw.
enum class Direction { kCompress, kExpand };

/// Bytes that the destination of a compressing copy must hold. More than it can need: packers write a little ahead.
/// Throws InputError for a window outside 1 to kMaxWindow.
std::size_t copy_bound(const Codec& codec, std::size_t raw_bytes, std::size_t window = kDefaultWindow);

/// kCompress: packs all of `from` into `to`, which holds copy_bound(). kExpand: fills all of `to` from the
/// beginning of `from`. Both return the packed size. `window` is 1 to kMaxWindow, a multiple of the codec's
/// element, and the same in both directions; `to` and `from` do not overlap. Throws InputError where a size
/// does not fit, CorruptStream "window N: ..." for what the packer cannot have made. Any number of threads may
/// copy at once.
std::size_t memcpy_compressed(std::span<std::uint8_t> to, std::span<const std::uint8_t> from,
                              Direction direction, const Codec& codec, std::size_t window = kDefaultWindow);

/// Copies of one codec, done in order by a thread of its own. Thread-safe: any thread may call any member; the
/// destructor finishes what is queued. Buffers belong to the queue until their copy is done.
class CopyQueue {
 public:
  /// Gets the packed size, or the exception that a copy ended with; called on the queue's thread, before the
  /// next copy starts. Must not throw, and must not wait for later copies.
  using Done = std::function<void(std::size_t packed_bytes, std::exception_ptr error)>;

  /// Starts the thread. `window` as for memcpy_compressed(); throws InputError for others.
  explicit CopyQueue(std::shared_ptr<const Codec> codec, std::size_t window = kDefaultWindow);
  CopyQueue(const CopyQueue&) = delete;
  CopyQueue& operator=(const CopyQueue&) = delete;
  ~CopyQueue();

  /// Queues a copy as by memcpy_compressed(); the future gets its packed size or its exception.
  std::future<std::size_t> copy(std::span<std::uint8_t> to, std::span<const std::uint8_t> from,
                                Direction direction);
  /// Queues a copy; `done` gets its packed size or its exception.
  void copy(std::span<std::uint8_t> to, std::span<const std::uint8_t> from, Direction direction, Done done);
  /// Until everything queued before has been copied and its callback has returned.
  void wait();

 private:
  void work();

  std::shared_ptr<const Codec> codec_;
  std::size_t window_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t queued_ = 0, finished_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_COPY_H
