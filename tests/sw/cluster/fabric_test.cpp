// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Links and switches: times worked out by hand, and none that depends on how packets are handed over. Topologies from files.
#include "cluster/fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "cluster/exchange.h"

namespace kaiten::cluster {
namespace {

// Chips 0, 1 at a switch, 2 at another; latency 10 cycles.
Topology two_switches() {
  Topology t;
  t.latency = 10;
  t.host_bytes_per_cycle = 64;
  t.uplinks = {8, 16};
  t.chips = {{"a", "nano", 0, 4, 1 << 20}, {"b", "nano", 0, 16, 1 << 20}, {"c", "nano", 1, 16, 1 << 20}};
  return t;
}
constexpr Endpoint kHost = 3;

TEST(Fabric, TimesOfOnePacket) {
  const Topology t = two_switches();
  // 64 bytes: a link's cycles and its latency, link after link.
  EXPECT_EQ(Fabric::time_of(t, 0, 1, 64), 16 + 10 + 4 + 10);
  EXPECT_EQ(Fabric::time_of(t, 1, 0, 64), 4 + 10 + 16 + 10);
  EXPECT_EQ(Fabric::time_of(t, 0, 2, 64), 16 + 10 + 8 + 10 + 4 + 10 + 4 + 10);
  EXPECT_EQ(Fabric::time_of(t, 1, kHost, 64), 4 + 10 + 8 + 10 + 1 + 10);
  EXPECT_EQ(Fabric::time_of(t, kHost, 2, 64), 1 + 10 + 4 + 10 + 4 + 10);
  // Packets follow each other: the slowest link counts for all of them, the others for one.
  EXPECT_EQ(Fabric::time_of(t, 1, 0, 4 * kPacketBytes), 64 + 10 + 4 * 256 + 10);
}

TEST(Fabric, PacketsShareALink) {
  const Topology t = two_switches();
  Fabric fabric(t);
  // Both are at the switch in cycle 10: the first endpoint's goes first.
  const std::vector<Delivery> there =
      fabric.advance({{0, 1, kHost, 64, 7, true}, {0, 0, kHost, 64, 8, true}}, 1000);
  ASSERT_EQ(there.size(), 2U);
  EXPECT_EQ(there[0].packet.source, 0);
  EXPECT_EQ(there[0].time, 10 + 8 + 10 + 1 + 10U);
  EXPECT_EQ(there[1].time, 10 + 8 + 8 + 10 + 1 + 10U);
  // The chips' own links, the uplink, the host's memory.
  EXPECT_EQ(fabric.link_bytes(), 2 * 3 * 64U);
  EXPECT_TRUE(fabric.idle());
}

TEST(Fabric, DirectionsDoNotShare) {
  Fabric fabric(two_switches());
  const std::vector<Delivery> there =
      fabric.advance({{0, 2, kHost, 64, 1, true}, {10, kHost, 2, 64, 2, true}}, 1000);
  ASSERT_EQ(there.size(), 2U);
  EXPECT_EQ(there[0].time + there[1].time, (10 + 4 + 10 + 1 + 10) + (10 + 1 + 10 + 4 + 10 + 4 + 10U));
}

// Windows of any length up to the latency give the same deliveries, each after the window that it was found in.
TEST(Fabric, WindowsDoNotMatter) {
  const Topology t = two_switches();
  for (int seed = 0; seed < 20; seed++) {
    std::mt19937 random{unsigned(seed)};
    std::vector<Packet> packets;
    for (std::uint64_t i = 0; i < 200; i++) {
      const Endpoint from = Endpoint(random() % 4), to = Endpoint((unsigned(from) + 1 + random() % 3) % 4);
      packets.push_back({random() % 300, from, to, std::uint32_t(1 + random() % kPacketBytes), i, true});
    }
    std::stable_sort(packets.begin(), packets.end(), [](const Packet& a, const Packet& b) {
      return std::pair(a.time, a.source) < std::pair(b.time, b.source);
    });
    Fabric whole(t);
    const std::vector<Delivery> expected = whole.advance(packets, 1'000'000);
    ASSERT_EQ(expected.size(), packets.size());
    for (std::uint64_t width : {1, 3, 10}) {
      Fabric fabric(t);
      std::vector<Delivery> found;
      std::size_t next = 0;
      for (std::uint64_t until = width; found.size() < packets.size(); until += width) {
        std::vector<Packet> now;
        while (next < packets.size() && packets[next].time < until) now.push_back(packets[next++]);
        for (const Delivery& d : fabric.advance(now, until)) {
          EXPECT_GE(d.time, until);
          found.push_back(d);
        }
      }
      const auto order = [](const Delivery& a, const Delivery& b) {
        return std::pair(a.time, a.packet.message) < std::pair(b.time, b.packet.message);
      };
      std::vector<Delivery> wanted = expected;
      std::sort(wanted.begin(), wanted.end(), order);
      std::sort(found.begin(), found.end(), order);
      for (std::size_t i = 0; i < found.size(); i++) {
        EXPECT_EQ(found[i].time, wanted[i].time);
        EXPECT_EQ(found[i].packet.message, wanted[i].packet.message);
      }
    }
  }
}

TEST(Bulletins, ReadWhatWasWritten) {
  Bulletin b;
  b.done = true;
  b.mail.packets = {{17, 2, 3, 64, 5, true}};
  b.mail.messages = {{Message::Kind::kRows, 2, 3, 9, 5, {{1, -2, 3}, {}}, 7}};
  const std::string bytes = encode(b);
  const Bulletin read = decode_bulletin(bytes, 1);
  EXPECT_TRUE(read.done);
  ASSERT_EQ(read.mail.packets.size(), 1U);
  EXPECT_EQ(read.mail.packets[0].time, 17U);
  EXPECT_EQ(read.mail.messages.at(0).maps, b.mail.messages[0].maps);
  EXPECT_EQ(read.mail.messages[0].image, 9);
  EXPECT_EQ(read.mail.messages[0].first_row, 7);
}

TEST(Bulletins, DamageIsNoticed) {
  Bulletin b;
  b.mail.messages = {{Message::Kind::kImage, 2, 3, 9, 5, {{1, -2, 3}}}};
  const std::string bytes = encode(b);
  for (std::size_t i = 0; i < bytes.size(); i++) {
    std::string damaged = bytes;
    damaged[i] = char(damaged[i] ^ 16);
    try {
      decode_bulletin(damaged, 3);
      ADD_FAILURE() << "byte " << i;
    } catch (const DeviceError& e) {
      EXPECT_STREQ(e.what(), "rank 3: its message is damaged");
    }
  }
  EXPECT_THROW(decode_bulletin(bytes.substr(0, 3), 3), DeviceError);
  EXPECT_THROW(decode_bulletin("", 3), DeviceError);
}

TEST(Topologies, FromMachines) {
  const std::string good =
      R"({"host": {"memory_gbps": 12.8, "pinned_bytes": 1e9}, "switches": [{"name": "s", "uplink_gbps": 1.6}],
          "devices": [{"name": "g", "switch": "s", "link_gbps": 0.8, "memory_bytes": 1e9, "config": "nano"},
                      {"name": "h", "switch": "s", "link_gbps": 80, "memory_bytes": 1e9, "tflops": 1, "memory_gbps": 9}],
          "latency_cycles": 500, "clock_mhz": 100})";
  const Topology t = topology_of(swap::read_machine(good, "t.json"), 0, "unit");
  EXPECT_EQ(t.latency, 500U);
  EXPECT_EQ(t.host_bytes_per_cycle, 128);
  EXPECT_EQ(t.uplinks, std::vector<double>{16});
  ASSERT_EQ(t.chips.size(), 2U);
  EXPECT_EQ(t.chips[0].config, "nano");
  EXPECT_EQ(t.chips[0].bytes_per_cycle, 8);
  EXPECT_EQ(t.chips[1].config, "unit");
  EXPECT_EQ(t.chips[1].bytes_per_cycle, 16);  // of its memory
  EXPECT_EQ(topology_of(swap::read_machine(good, "t.json"), 1, "unit").chips.size(), 1U);
  EXPECT_THROW(topology_of(swap::read_machine(good, "t.json"), 3, "unit"), InputError);
  EXPECT_THROW(topology_of(swap::read_machine(good, "t.json"), 2, "huge"), InputError);
  std::string bad = good;
  EXPECT_THROW(topology_of(swap::read_machine(bad.replace(bad.find("500"), 3, "0"), "t.json"), 0, "unit"),
               InputError);
}

}  // namespace
}  // namespace kaiten::cluster
