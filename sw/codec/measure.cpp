#include "codec/measure.h"

#include <algorithm>
#include <chrono>

namespace kaiten::codec {

Measurement& Measurement::operator+=(const Measurement& other) {
  raw_bytes += other.raw_bytes;
  packed_bytes += other.packed_bytes;
  compress_seconds += other.compress_seconds;
  expand_seconds += other.expand_seconds;
  return *this;
}

double fastest(const std::function<void()>& call, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double best = 0, all = 0;
  do {
    const auto from = Clock::now();
    call();
    const auto to = Clock::now();
    const double time = std::chrono::duration<double>(to - from).count();
    best = best == 0 ? time : std::min(best, time);
    all = std::chrono::duration<double>(to - start).count();
  } while (all < seconds);
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
  compress();  // the first touches the memory
  m.compress_seconds = fastest(compress, seconds);
  expand();
  m.expand_seconds = fastest(expand, seconds);
  if (!std::equal(map.begin(), map.end(), back.begin()))
    throw DeviceError(std::string(codec.name()) + " does not give back what it packed");
  return m;
}

}  // namespace kaiten::codec
