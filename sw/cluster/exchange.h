// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Ranks: processes (or threads) that simulate a share of a cluster's chips each, and tell each other after every window what
// has left. Rank 0 has the host, too.
#ifndef KAITEN_CLUSTER_EXCHANGE_H
#define KAITEN_CLUSTER_EXCHANGE_H

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cluster/mail.h"

namespace kaiten::cluster {

class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  // What every rank gives, by rank; waits for all of them. Throws DeviceError where one is gone.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
  // This rank is done. One that is destroyed before ends the others, too.
  virtual void finish() {}
};

// What a rank tells of a window.
struct Bulletin {
  Mail mail;
  bool done = false;  // rank 0: the host has all outputs
};

// As bytes, with a checksum, and back. decode() throws DeviceError naming the rank where they are damaged.
std::string encode(const Bulletin& bulletin);
Bulletin decode_bulletin(std::string_view bytes, int rank);
// Likewise of bytes, and of values that are copied as they lie in memory.
std::string encode_bytes(std::string_view bytes);
std::string decode_bytes(std::string_view message, int rank);

template <class T>
std::string encode_values(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return encode_bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}
template <class T>
std::vector<T> decode_values(std::string_view message, int rank) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::string bytes = decode_bytes(message, rank);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_EXCHANGE_H
