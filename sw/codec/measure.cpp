// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "codec/measure.h"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace kaiten::codec {

namespace {

// Processor time of this thread: what other programs take in between does not count.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

}  // namespace

Measurement& Measurement::operator+=(const Measurement& other) {
  raw_bytes += other.raw_bytes;
  packed_bytes += other.packed_bytes;
  compress_seconds += other.compress_seconds;
  expand_seconds += other.expand_seconds;
  memcpy_seconds += other.memcpy_seconds;
  return *this;
}

double fastest(const std::function<void()>& call, double seconds) {
  const double start = thread_seconds();
  double best = 0, now = start;
  do {
    const double from = now;
    call();
    now = thread_seconds();
    best = best == 0 ? now - from : std::min(best, now - from);
  } while (now - start < seconds);
  return best;
}

Measurement measure(const Codec& codec, std::span<const std::uint8_t> map, std::size_t window,
                    double seconds) {
  std::vector<std::uint8_t> packed(copy_bound(codec, map.size(), window)), back(map.size());
  Measurement m;
  m.raw_bytes = map.size();
  const auto compress = [&] {
    m.packed_bytes = memcpy_compressed(packed, map, Direction::kCompress, codec, window);
  };
  const auto expand = [&] { memcpy_compressed(back, packed, Direction::kExpand, codec, window); };
  std::memcpy(packed.data(), map.data(), map.size());  // the first touches the memory
  m.memcpy_seconds = fastest([&] { std::memcpy(packed.data(), map.data(), map.size()); }, seconds);
  compress();
  m.compress_seconds = fastest(compress, seconds);
  expand();
  m.expand_seconds = fastest(expand, seconds);
  if (!std::equal(map.begin(), map.end(), back.begin()))
    throw DeviceError(std::string(codec.name()) + " does not give back what it packed");
  return m;
}

}  // namespace kaiten::codec
