// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What chips and host tell each other: maps, credits for buffers that are free again, and what chips that spill ask for.
#ifndef KAITEN_CLUSTER_MAIL_H
#define KAITEN_CLUSTER_MAIL_H

#include <cstdint>
#include <vector>

#include "cluster/fabric.h"
#include "graph/values.h"

namespace kaiten::cluster {

// Images that a chip may hold at its input, and at its output: one is worked on while the other travels.
inline constexpr int kBuffers = 2;
inline constexpr std::uint32_t kCreditBytes = 16;

struct Message {
  enum class Kind : std::uint8_t {
    kImage,   // maps for the receiver to work on
    kRows,    // rows of the only one of them
    kCredit,  // a buffer is free; of a host that keeps maps: it has this one
    kSpill,   // a map for the host to keep
    kFetch,   // for the host: send it back, as kImage
    kDone,    // a chip has nothing more to do
  };

  Kind kind = Kind::kImage;
  Endpoint source = 0, target = 0;
  int image = 0;             // kCredit of a buffer: that may be sent now; of kept maps: the map
  std::uint64_t number = 0;  // unique: the source's, above its own count
  // kImage, kSpill: of the boundary, in the order of the receiver's inputs, or of all images; kRows: the rows
  std::vector<Int8Values> maps = {};
  int first_row = 0;  // kRows
};

// Bytes that the message takes on links.
std::uint64_t bytes_of(const Message& message);
// Its packets, none of which has left.
std::vector<Packet> packets_of(const Message& message);

// What leaves in a window: packets, and the messages whose last packets are among them.
struct Mail {
  std::vector<Message> messages;
  std::vector<Packet> packets;
};

// What an endpoint has sent, each packet with the cycle in which it leaves, until it has left.
class Outbox {
 public:
  // `departure` makes of a packet the cycle in which it leaves.
  template <class Departure>
  void add(Message message, const Departure& departure) {
    for (Packet p : packets_of(message)) {
      p.time = departure(p);
      packets_.push_back(p);
    }
    messages_.push_back(std::move(message));
  }
  // What leaves before `until`, by time.
  Mail take(std::uint64_t until);

 private:
  std::vector<Packet> packets_;
  std::vector<Message> messages_;
};

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_MAIL_H
