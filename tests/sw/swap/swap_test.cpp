// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The event simulator on chains worked out by hand, its laws (bytes conserved, equal flows, scaling of time), what a
// training step of published networks holds, machines' files, the policies.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "plan/known_tables.h"
#include "swap/fair.h"
#include "swap/policy.h"
#include "swap/search.h"
#include "tests/sw/swap/chain.h"

namespace kaiten::swap {
namespace {

using test::chain;

Plan same(int devices, const std::vector<Swap>& swaps) {
  return {std::vector<std::vector<Swap>>(std::size_t(devices), swaps), {}};
}

TEST(Fair, SharesByHand) {
  // B and C fill link 1; A takes what B leaves of link 0.
  EXPECT_EQ(fair_shares({10, 4}, {{0}, {0, 1}, {1}}), (std::vector<double>{8, 2, 2}));
  EXPECT_EQ(fair_shares({9}, {{0}, {0}, {0}}), (std::vector<double>{3, 3, 3}));
  EXPECT_EQ(fair_shares({9, 2}, {{0}, {0}, {0, 1}}), (std::vector<double>{3.5, 3.5, 2}));
  EXPECT_TRUE(fair_shares({1}, {}).empty());
}

TEST(Simulate, ByHand) {
  // Forward 0 to 3. The map of a, 30 bytes, leaves from 1 to 4 while forward ends at 3 and c's gradient at 5.
  const Scenario s = test::setup(chain({{1, 2, 30}, {}, {}}), 1);
  const Result none = simulate(s, same(1, {}));
  EXPECT_DOUBLE_EQ(none.seconds, 9);
  EXPECT_DOUBLE_EQ(none.devices[0].stall, 0);
  // Just in time: from 5 to 8; b's gradient 8 to 10, a's to 12.
  const Result late = simulate(s, same(1, {{0, 1}}), true);
  EXPECT_DOUBLE_EQ(late.seconds, 12);
  EXPECT_DOUBLE_EQ(late.devices[0].stall, 3);
  EXPECT_DOUBLE_EQ(late.devices[0].compute, 9);
  EXPECT_DOUBLE_EQ(late.pinned_bytes, 30);
  // One layer ahead: asked for at 3, on its way from 4 to 7.
  const Result early = simulate(s, same(1, {{0, 2}}));
  EXPECT_DOUBLE_EQ(early.seconds, 11);
  EXPECT_DOUBLE_EQ(early.devices[0].stall, 2);
  // A fixed cost of each transfer.
  Scenario slow = s;
  slow.machine.transfer_seconds = 0.5;
  EXPECT_DOUBLE_EQ(simulate(slow, same(1, {{0, 1}})).seconds, 12.5);
  EXPECT_DOUBLE_EQ(simulate(slow, same(1, {{0, 2}})).seconds, 12);
  // A device that starts later.
  Plan offset = same(1, {{0, 1}});
  offset.offsets = {2};
  EXPECT_DOUBLE_EQ(simulate(s, offset).seconds, 14);
  EXPECT_DOUBLE_EQ(simulate(s, offset).devices[0].stall, 3);
}

TEST(Simulate, MemoryByHand) {
  // a 30, b 10, c 10 bytes. The gradient of c's output and of b's, 20, are allocated with c's backward pass.
  const Training t = chain({{1, 2, 30}, {}, {}});
  const Result none = simulate(test::setup(t, 1), same(1, {}));
  EXPECT_DOUBLE_EQ(none.devices[0].peak_bytes,
                   30 + 10 + 10 + 20 - 10 + 30 - 10);  // b's pass: c's map and gradient are gone
  // Swapped, a is back at that moment.
  const Result late = simulate(test::setup(t, 1), same(1, {{0, 1}}));
  EXPECT_DOUBLE_EQ(late.devices[0].peak_bytes, 80);
  EXPECT_TRUE(simulate(test::setup(t, 1, 80), same(1, {{0, 1}})).fits());
  const Result out = simulate(test::setup(t, 1, 79), same(1, {{0, 1}}));
  EXPECT_FALSE(out.fits());
  EXPECT_NE(out.failure.find("out of memory on d0"), std::string::npos) << out.failure;
}

TEST(Simulate, TooEarlyIsOutOfMemory) {
  // d's backward pass needs room for its gradients that a's map takes if it is called too early.
  const Training t = chain({{1, 2, 40}, {1, 9, 1}, {1, 9, 1}, {9, 9, 60}});
  const double memory = 130;  // 1 + 1 + 60 and gradients 61, not 40 more
  EXPECT_TRUE(simulate(test::setup(t, 1, memory), same(1, {{0, 1}})).fits());
  EXPECT_TRUE(simulate(test::setup(t, 1, memory), same(1, {{0, 2}})).fits());
  EXPECT_FALSE(simulate(test::setup(t, 1, memory), same(1, {{0, 3}})).fits());
  EXPECT_FALSE(simulate(test::setup(t, 1, memory), same(1, {})).fits());
  // The paper's search: as early as memory allows, then as late as costs nothing.
  const Plan found = paper_triggers(test::setup(t, 1, memory), same(1, {{0, 1}}));
  EXPECT_EQ(found.devices[0][0].trigger, 2);
  Scenario fast = test::setup(t, 1, 1e9);
  EXPECT_EQ(paper_triggers(fast, same(1, {{0, 1}})).devices[0][0].trigger, 2);  // 4 seconds beside 9
}

TEST(Simulate, PinnedMemoryIsLimited) {
  Scenario s = test::setup(chain({{1, 2, 30}, {}, {}}), 2);
  s.machine.host.pinned_bytes = 30;
  const Result one = simulate(s, same(2, {{0, 1}}));
  EXPECT_TRUE(one.fits());  // one map after the other
  EXPECT_DOUBLE_EQ(one.pinned_bytes, 30);
  s.machine.host.pinned_bytes = 29;
  EXPECT_NE(simulate(s, same(2, {{0, 1}})).failure.find("pinned"), std::string::npos);
}

TEST(Simulate, GradientsByHand) {
  // Forward 1, backward 2; the gradient arrives at 4, is summed until 7, the weights are back at 8.
  Scenario s = test::setup(chain({{1, 2, 10, 10}}), 1);
  EXPECT_DOUBLE_EQ(simulate(s, same(1, {})).seconds, 8);
  // Two devices share the uplink: 5; 4 passes: 9; back: 11.
  s = test::setup(chain({{1, 2, 10, 10}}), 2);
  EXPECT_DOUBLE_EQ(simulate(s, same(2, {})).seconds, 11);
  // Two jobs: gradients 5, the CPU does one after the other (8, 11); the first job's weights travel meanwhile.
  s.independent = true;
  const Result jobs = simulate(s, same(2, {}));
  EXPECT_DOUBLE_EQ(jobs.devices[0].finish, 9);
  EXPECT_DOUBLE_EQ(jobs.devices[1].finish, 12);
  // Ring: 2 (n - 1) / n of 10 bytes past the switch, no uplink: 4; then 3 passes over the device's memory.
  s.independent = false;
  s.sum = Sum::kAllReduce;
  EXPECT_DOUBLE_EQ(simulate(s, same(2, {})).seconds, 3 + 1 + 3);
}

TEST(Simulate, EqualFlowsTakeTimesAsLong) {
  const Training t = chain({{0, 0, 100}, {0, 0, 0}, {0, 0, 0}});
  const double one = simulate(test::setup(t, 1), same(1, {{0, 1}})).seconds;
  EXPECT_DOUBLE_EQ(one, 20);
  for (int n = 2; n <= 5; n++)
    EXPECT_DOUBLE_EQ(simulate(test::setup(t, n), same(n, {{0, 1}})).seconds, n * one);
}

TEST(Simulate, ConservesBytesAndScales) {
  const auto network = plan::known_table("vgg16");
  ASSERT_TRUE(network);
  Scenario s{*known_machine("p100x4"), {}, Sum::kHost, false};
  for (const Device& d : s.machine.devices)
    s.training.push_back(training_of(*network, d, {100, 32, s.machine.map_overhead, false, false, {}}));
  const Choice all = choose(s, Policy::kVdnnAll);
  ASSERT_TRUE(all.result.fits()) << all.result.failure;
  double swapped = 0;
  for (const Swap& w : all.plan.devices[0]) swapped += s.training[0].maps[std::size_t(w.map)].wire_bytes;
  std::map<std::string, double> link;
  for (const LinkResult& l : all.result.links) link[l.name] = l.bytes;
  const double weights = s.training[0].weight_bytes;
  for (const DeviceResult& d : all.result.devices) {
    EXPECT_DOUBLE_EQ(d.out_bytes, swapped);
    EXPECT_DOUBLE_EQ(d.in_bytes, swapped);
  }
  for (const char* way : {".up", ".down"}) {
    EXPECT_NEAR(link[std::string("gpu0") + way], swapped + weights, 1);
    EXPECT_NEAR(link[std::string("switch1") + way], 2 * (swapped + weights), 1);
  }
  EXPECT_NEAR(link["host.memory"], 8 * (swapped + weights), 10);

  const Result before = simulate(s, all.plan, true);
  Scenario scaled = s;
  const double k = 8;
  for (Training& t : scaled.training) {
    for (Step& step : t.steps) {
      step.forward_seconds *= k;
      step.backward_seconds *= k;
    }
  }
  Machine& m = scaled.machine;
  m.transfer_seconds *= k;
  m.host.memory_bytes_per_second /= k;
  m.host.sum_bytes_per_second /= k;
  for (Switch& w : m.switches) w.uplink_bytes_per_second /= k;
  for (Device& d : m.devices) d.link_bytes_per_second /= k;
  const Result after = simulate(scaled, all.plan, true);
  EXPECT_DOUBLE_EQ(after.seconds, k * before.seconds);
  ASSERT_EQ(after.timeline.size(), before.timeline.size());
  for (std::size_t i = 0; i < after.timeline.size(); i++)
    EXPECT_EQ(after.timeline[i].name, before.timeline[i].name);
}

TEST(Training, PublishedNetworks) {
  // Weights without biases: Simonyan and Zisserman, table 2, have 138 M; Inception-v3's published model 23,817,352 trainable
  // ones, less 17,216 shifts of normalisations and 1,000 biases.
  Device device;
  device.operations_per_second = device.memory_bytes_per_second = 1e12;
  const auto vgg = plan::known_table("vgg16"), inception = plan::known_table("inception_v3");
  ASSERT_TRUE(vgg && inception);
  const Training v = training_of(*vgg, device, {2, 32, 1, false, false, {}});
  EXPECT_EQ(v.weight_bytes, 4 * 138344128.0);
  const double outputs = 2 * 3211264.0 + 802816 + 2 * 1605632.0 + 401408 + 3 * 802816.0 + 200704 +
                         3 * 401408.0 + 100352 + 3 * 100352.0 + 25088 + 2 * 4096;
  EXPECT_EQ(v.held_bytes(), 2 * 4 * outputs);
  const Training i = training_of(*inception, device, {1, 32, 1, true, false, {}});
  EXPECT_EQ(i.weight_bytes, 4 * 23799136.0);
  EXPECT_NEAR(double(inception->macs()), 5.71e9, 0.02e9);
  EXPECT_GT(training_of(*inception, device, {1, 32, 1, true, true, {}}).held_bytes(), 1.5 * i.held_bytes());
  EXPECT_FALSE(plan::known_table("vgg17"));
}

TEST(Training, NeedsOfTheGradients) {
  const auto network = plan::known_table("resnet50");
  ASSERT_TRUE(network);
  Device device;
  device.operations_per_second = device.memory_bytes_per_second = 1e12;
  const Training t =
      training_of(*network, device, {1, 32, 1, true, false, std::vector<double>(network->layers.size(), 2)});
  for (const HeldMap& m : t.maps) {
    EXPECT_LE(m.producer, m.last_forward) << m.name;
    if (m.first_backward >= 0) {
      EXPECT_GE(m.first_backward, m.last_backward) << m.name;
      EXPECT_GE(m.last_backward, m.producer) << m.name;
    }
    EXPECT_DOUBLE_EQ(m.wire_bytes, m.bytes / 2) << m.name;
  }
  // Every gradient that is allocated is freed.
  double gradients = 0;
  for (const Step& s : t.steps) gradients += s.gradient_bytes - s.gradient_freed;
  EXPECT_DOUBLE_EQ(gradients, 0);
}

TEST(Policies, StaggeringByThePapersRule) {
  const Machine m = *known_machine("p100x4");
  // a = 21, b = 10, x = 2; the third device is the first of its switch.
  EXPECT_EQ(staggered_layers(m, 0, 21, 10), (std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}));
  EXPECT_EQ(staggered_layers(m, 1, 21, 10), (std::vector<int>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19}));
  EXPECT_EQ(staggered_layers(m, 2, 21, 10), staggered_layers(m, 0, 21, 10));
  EXPECT_EQ(staggered_layers(m, 1, 21, 21).size(), 21U);  // x = 1: all devices, all layers
  for (int a = 1; a <= 40; a++) {
    for (int b = 1; b <= a; b++) {
      const auto own = staggered_layers(m, 1, a, b);
      EXPECT_EQ(int(own.size()), b);
      EXPECT_LT(own.back(), a);
    }
  }
}

TEST(Policies, OnVgg) {
  const auto network = plan::known_table("vgg16");
  const Machine m = *known_machine("p100x2");
  const auto setup = [&](int batch) {
    Scenario s{m, {}, Sum::kHost, false};
    for (const Device& d : m.devices)
      s.training.push_back(training_of(*network, d, {batch, 32, m.map_overhead, false, false, {}}));
    return s;
  };
  const Scenario s = setup(140);
  EXPECT_FALSE(choose(s, Policy::kNone).result.fits());
  double best = 1e9;
  for (Policy p :
       {Policy::kVdnnAll, Policy::kVdnnConv, Policy::kVdnnDynamic, Policy::kGrappler, Policy::kStaggered}) {
    const Choice c = choose(s, p);
    ASSERT_TRUE(c.result.fits());
    EXPECT_GE(c.result.seconds, least_seconds(s));
    best = std::min(best, c.result.seconds);
  }
  EXPECT_LE(choose(s, Policy::kBest).result.seconds, best);
  EXPECT_EQ(largest_batch(setup, Policy::kNone, 10, 1000), 120);
  EXPECT_GT(largest_batch(setup, Policy::kStaggered, 10, 1000), 150);
  EXPECT_EQ(largest_batch(setup, Policy::kNone, 500, 1000), 0);
}

TEST(Machines, Files) {
  EXPECT_EQ(known_machine_names(), (std::vector<std::string>{"titanxp", "p100x2", "p100x4"}));
  EXPECT_FALSE(known_machine("p100x3"));
  const std::string good =
      R"({"host": {"memory_gbps": 50, "pinned_bytes": 1e9}, "switches": [{"name": "s", "uplink_gbps": 16}],
          "devices": [{"name": "g", "switch": "s", "link_gbps": 8, "memory_bytes": 1e9, "tflops": 2, "memory_gbps": 100, "config": "base",
                       "networks": {"VGG-16": {"efficiency": 0.5}}}], "latency_cycles": 500, "clock_mhz": 100})";
  const Machine m = read_machine(good, "m.json");
  EXPECT_EQ(m.devices[0].link_bytes_per_second, 8e9);
  EXPECT_EQ(m.devices[0].of_network("VGG-16").efficiency, 0.5);
  EXPECT_EQ(m.devices[0].of_network("x").efficiency, 1);
  EXPECT_DOUBLE_EQ(m.transfer_seconds, 5e-6);
  EXPECT_EQ(m.devices[0].operations_per_second, 2e12);
  const auto replaced = [&](const std::string& what, const std::string& by) {
    std::string text = good;
    return text.replace(text.find(what), what.size(), by);
  };
  // An accelerator's speed is its configuration's: 2 * 32 * 8 * 9 operations and 64 bytes a cycle.
  const Machine configured = read_machine(replaced("\"tflops\": 2, \"memory_gbps\": 100, ", ""), "m.json");
  EXPECT_DOUBLE_EQ(configured.devices[0].operations_per_second, 4608 * 1e8);
  EXPECT_DOUBLE_EQ(configured.devices[0].memory_bytes_per_second, 64 * 1e8);
  for (const std::string& bad :
       {replaced("\"switch\": \"s\"", "\"switch\": \"t\""), replaced("50", "0"),
        replaced("\"uplink_gbps\": 16", "\"uplink_gbps\": \"x\""),
        replaced("\"config\": \"base\"", "\"config\": \"huge\""),
        replaced("\"tflops\": 2, \"memory_gbps\": 100, \"config\": \"base\"", "\"memory_gbps\": 100"),
        replaced("config", "colour"), replaced("[{\"name\": \"g\"", "[3, {\"name\": \"g\""),
        replaced("{\"efficiency\": 0.5}", "{\"efficiency\": -1}"),
        replaced("[{\"name\": \"s\", \"uplink_gbps\": 16}]", "[]"), std::string("{}"), std::string("[]"),
        std::string("")})
    EXPECT_THROW(read_machine(bad, "m.json"), InputError) << bad;
}

}  // namespace
}  // namespace kaiten::swap
