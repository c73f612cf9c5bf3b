// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "codec/copy.h"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.h"

namespace kaiten::codec {

namespace {

std::size_t windows_of(std::size_t raw_bytes, std::size_t window) {
  if (window < 1 || window > kMaxWindow) {
    throw InputError("window: expected 1 to " + std::to_string(kMaxWindow) + " bytes, found " +
                     std::to_string(window));
  }
  return ceil_div(raw_bytes, window);
}

std::size_t compress(std::span<std::uint8_t> to, std::span<const std::uint8_t> from, const Codec& codec,
                     std::size_t window) {
  if (const std::size_t needed = copy_bound(codec, from.size(), window); to.size() < needed) {
    throw InputError("the destination has " + std::to_string(to.size()) + " bytes, needed are " +
                     std::to_string(needed));
  }
  std::size_t out = 2 * windows_of(from.size(), window);
  for (std::size_t at = 0, index = 0; at < from.size(); at += window, index++) {
    const std::span<const std::uint8_t> raw = from.subspan(at, std::min(window, from.size() - at));
    std::size_t bytes = codec.pack(raw, to.subspan(out));
    const bool packed = bytes < raw.size();
    if (!packed) {
      std::memcpy(&to[out], raw.data(), raw.size());
      bytes = raw.size();
    }
    to[2 * index] = packed ? std::uint8_t(bytes) : std::uint8_t(0);
    to[2 * index + 1] = packed ? std::uint8_t(bytes >> 8) : std::uint8_t(0);
    out += bytes;
  }
  return out;
}

std::size_t expand(std::span<std::uint8_t> to, std::span<const std::uint8_t> from, const Codec& codec,
                   std::size_t window) {
  std::size_t in = 2 * windows_of(to.size(), window);
  if (from.size() < in) {
    throw CorruptStream("the stream has " + std::to_string(from.size()) +
                        " bytes, the sizes of its windows " + std::to_string(in));
  }
  for (std::size_t at = 0, index = 0; at < to.size(); at += window, index++) {
    const std::span<std::uint8_t> raw = to.subspan(at, std::min(window, to.size() - at));
    const std::size_t size = from[2 * index] | std::size_t(from[2 * index + 1]) << 8;
    const std::size_t bytes = size == 0 ? raw.size() : size;
    const auto fail = [&](const std::string& what) {
      throw CorruptStream("window " + std::to_string(index) + ": " + what);
    };
    if (size >= raw.size())
      fail(std::to_string(size) + " packed bytes, raw it has " + std::to_string(raw.size()));
    if (from.size() - in < bytes) fail("the stream ends");
    if (size == 0) {
      std::memcpy(raw.data(), &from[in], bytes);
    } else {
      try {
        codec.expand(from.subspan(in, bytes), raw);
      } catch (const CorruptStream& e) {
        fail(e.what());
      }
    }
    in += bytes;
  }
  return in;
}

}  // namespace

std::size_t copy_bound(const Codec& codec, std::size_t raw_bytes, std::size_t window) {
  return 2 * windows_of(raw_bytes, window) + raw_bytes + codec.max_packed_bytes(window);
}

std::size_t memcpy_compressed(std::span<std::uint8_t> to, std::span<const std::uint8_t> from,
                              Direction direction, const Codec& codec, std::size_t window) {
  return direction == Direction::kCompress ? compress(to, from, codec, window)
                                           : expand(to, from, codec, window);
}

CopyQueue::CopyQueue(std::shared_ptr<const Codec> codec, std::size_t window)
    : codec_(std::move(codec)), window_(window) {
  windows_of(0, window);  // here rather than in every copy
  thread_ = std::thread([this] { work(); });
}

CopyQueue::~CopyQueue() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::future<std::size_t> CopyQueue::copy(std::span<std::uint8_t> to, std::span<const std::uint8_t> from,
                                         Direction direction) {
  auto size = std::make_shared<std::promise<std::size_t>>();
  std::future<std::size_t> result = size->get_future();
  copy(to, from, direction, [size](std::size_t packed_bytes, const std::exception_ptr& error) {
    if (error) {
      size->set_exception(error);
    } else {
      size->set_value(packed_bytes);
    }
  });
  return result;
}

void CopyQueue::copy(std::span<std::uint8_t> to, std::span<const std::uint8_t> from, Direction direction,
                     Done done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back([this, to, from, direction, done = std::move(done)] {
      std::size_t bytes = 0;
      std::exception_ptr error;
      try {
        bytes = memcpy_compressed(to, from, direction, *codec_, window_);
      } catch (...) {
        error = std::current_exception();
      }
      done(bytes, error);
    });
    queued_++;
  }
  changed_.notify_all();
}

void CopyQueue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, all = queued_] { return finished_ >= all; });
}

void CopyQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    {
      const std::function<void()> next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      next();
    }
    lock.lock();
    finished_++;
    changed_.notify_all();
  }
}

}  // namespace kaiten::codec
