// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Arbitrary commands on the simulated hardware: a run ends, well or with an error, within the watchdog's time, keeps the rules
// of the bus (the monitors throw otherwise), and the device works afterwards. The input is a list of changes to a sound
// program: two bytes of position, one of value.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "compile/compiler.h"
#include "device/driver.h"
#include "sim/axi_monitor.h"
#include "sim/sim_device.h"
#include "tests/support/graph_builder.h"

namespace {

using namespace kaiten;

constexpr std::uint32_t kWatchdog = 2'000;  // cycles; the longest command of the network takes less

// Every engine and every kind of load in a few short commands; all maps go through memory, packed.
Graph every_engine() {
  test::GraphBuilder g(5);
  const int in = g.input(6, 9, 5);
  const int a = g.conv(in, 9, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  const int b = g.depthwise(a, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  const int c = g.add(a, b, Activation::None);
  const int d = g.pool(OpKind::MaxPool, c, 2, 2, 2, {}, Activation::None);
  g.output(g.fully_connected(g.mean(d), 7, Activation::None));
  return g.graph;
}

struct Bench {
  Graph graph = every_engine();
  std::unique_ptr<sim::SimDevice> device;
  Program program = compile(graph, preset("nano"), {.keep_on_chip = false, .compress = Compress::kOn});
  std::vector<Int8Values> inputs, outputs;

  Bench() {
    sim::SimOptions options;
    options.memory.bytes = std::size_t(1) << 16;
    options.memory.base = 0x40000000;
    device = sim::make_sim_device("nano", options);
    for (int i : graph.inputs)
      inputs.emplace_back(std::size_t(graph.tensors[std::size_t(i)].elements()), std::int8_t(3));
    outputs = driver().run(inputs);
  }

  Driver driver() {
    Driver d(*device, graph, program, {});
    d.set_watchdog(kWatchdog);
    return d;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Bench bench;
  Driver driver = bench.driver();
  driver.write_inputs(bench.inputs);
  const std::size_t bytes = bench.program.commands.size() * std::size_t(kCommandBytes);
  for (std::size_t at = 0; at + 3 <= size; at += 3) {
    const std::size_t position = (data[at] | std::size_t(data[at + 1]) << 8) % bytes;
    bench.device->write_memory(bench.device->memory_base() + position, std::span(data + at + 2, 1));
  }
  try {
    driver.execute();
  } catch (const sim::ProtocolViolation& e) {
    std::fprintf(stderr, "%s\n", e.what());
    __builtin_trap();
  } catch (const DeviceError&) {
  }
  // Sound again, as if nothing had happened.
  static unsigned calls = 0;
  if (calls++ % 16 == 0 && bench.driver().run(bench.inputs) != bench.outputs) __builtin_trap();
  return 0;
}
