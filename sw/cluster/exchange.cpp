// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/exchange.h"

#include <boost/crc.hpp>
#include <cstring>
#include <type_traits>

#include "base/error.h"

namespace kaiten::cluster {

namespace {

std::uint32_t checksum(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

// Ranks run on machines of one kind: values are copied as they lie in memory.
class Writer {
 public:
  template <class T>
  void value(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof(v));
  }
  void values(const Int8Values& v) {
    value(std::uint64_t(v.size()));
    bytes_.append(reinterpret_cast<const char*>(v.data()), v.size());
  }
  std::string finish() {
    value(checksum(bytes_));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

class Reader {
 public:
  Reader(std::string_view bytes, int rank) : bytes_(bytes), rank_(rank) {
    std::uint32_t sum = 0;
    if (bytes.size() < sizeof(sum)) damaged();
    std::memcpy(&sum, bytes.data() + bytes.size() - sizeof(sum), sizeof(sum));
    bytes_.remove_suffix(sizeof(sum));
    if (sum != checksum(bytes_)) damaged();
  }
  template <class T>
  T value() {
    T v{};
    std::memcpy(&v, take(sizeof(v)), sizeof(v));
    return v;
  }
  Int8Values values() {
    const auto size = value<std::uint64_t>();
    const char* from = take(size);
    return {from, from + size};
  }

 private:
  [[noreturn]] void damaged() const {
    throw DeviceError("rank " + std::to_string(rank_) + ": its message is damaged");
  }
  const char* take(std::uint64_t size) {
    if (size > bytes_.size()) damaged();
    const char* at = bytes_.data();
    bytes_.remove_prefix(size);
    return at;
  }

  std::string_view bytes_;
  int rank_;
};

}  // namespace

std::string encode(const Bulletin& bulletin) {
  Writer w;
  w.value(bulletin.done);
  w.value(std::uint64_t(bulletin.mail.packets.size()));
  for (const Packet& p : bulletin.mail.packets) w.value(p);
  w.value(std::uint64_t(bulletin.mail.messages.size()));
  for (const Message& m : bulletin.mail.messages) {
    w.value(m.kind);
    w.value(m.source);
    w.value(m.target);
    w.value(m.image);
    w.value(m.number);
    w.value(m.first_row);
    w.value(std::uint64_t(m.maps.size()));
    for (const Int8Values& map : m.maps) w.values(map);
  }
  return w.finish();
}

Bulletin decode_bulletin(std::string_view bytes, int rank) {
  Reader r(bytes, rank);
  Bulletin b;
  b.done = r.value<bool>();
  for (auto n = r.value<std::uint64_t>(); n > 0; n--) b.mail.packets.push_back(r.value<Packet>());
  for (auto n = r.value<std::uint64_t>(); n > 0; n--) {
    Message m;
    m.kind = r.value<Message::Kind>();
    m.source = r.value<Endpoint>();
    m.target = r.value<Endpoint>();
    m.image = r.value<int>();
    m.number = r.value<std::uint64_t>();
    m.first_row = r.value<int>();
    for (auto maps = r.value<std::uint64_t>(); maps > 0; maps--) m.maps.push_back(r.values());
    b.mail.messages.push_back(std::move(m));
  }
  return b;
}

std::string encode_bytes(std::string_view bytes) {
  Writer w;
  w.values({bytes.begin(), bytes.end()});
  return w.finish();
}

std::string decode_bytes(std::string_view message, int rank) {
  const Int8Values values = Reader(message, rank).values();
  return {values.begin(), values.end()};
}

}  // namespace kaiten::cluster
