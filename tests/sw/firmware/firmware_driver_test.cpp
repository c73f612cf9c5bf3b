// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The C driver on the simulated accelerator, with images as `kaiten compile` writes them: answers of LiteRT, values of the
// reference, every kind of failure, and a sound run after each.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "compile/compiler.h"
#include "device/program_image.h"
#include "firmware/kaiten.h"
#include "firmware/kaiten_registers.h"
#include "reference/reference.h"
#include "sim/sim_device.h"
#include "tests/support/demo_network.h"
#include "tests/support/graph_builder.h"

namespace kaiten {
namespace {

constexpr std::uint64_t kMemory = 0x4000'0000;
constexpr std::uint32_t kMemoryBytes = 1U << 18;
constexpr std::uint64_t kProgram = kMemory + 0x2000;

// What a system gives to the driver: here a simulated accelerator whose time passes while the driver waits.
struct System {
  std::unique_ptr<sim::SimDevice> device;
  kaiten_device k{};
  kaiten_wait how = KAITEN_INTERRUPT;
  int patience = 1'000'000;  // calls of wait()
  int synchronised = 0;
  kaiten_port port{};

  System() {
    sim::SimOptions options;
    options.memory.base = kMemory;
    options.memory.bytes = kMemoryBytes;
    options.memory.read_latency = 20;
    device = sim::make_sim_device("nano", options);
    port.context = this;
    port.read_register = [](void* s, std::uint32_t at) { return self(s).device->read_register(at); };
    port.write_register = [](void* s, std::uint32_t at, std::uint32_t value) {
      self(s).device->write_register(at, value);
    };
    port.write_memory = [](void* s, std::uint64_t at, const void* data, std::uint32_t bytes) {
      self(s).device->write_memory(at, {static_cast<const std::uint8_t*>(data), bytes});
    };
    port.read_memory = [](void* s, std::uint64_t at, void* data, std::uint32_t bytes) {
      self(s).device->read_memory(at, {static_cast<std::uint8_t*>(data), bytes});
    };
    port.synchronise = [](void* s) { self(s).synchronised++; };
    port.wait = [](void* s) {
      System& system = self(s);
      if (system.patience-- <= 0) return false;
      if (system.how == KAITEN_POLL)
        system.device->step(50);
      else if (system.device->wait_interrupt(1000))
        kaiten_interrupt(&system.k);
      return true;
    };
  }
  static System& self(void* context) { return *static_cast<System*>(context); }

  kaiten_result load(const std::vector<std::uint8_t>& image) {
    return kaiten_load(&k, image.data(), std::uint32_t(image.size()), kProgram,
                       kMemory + kMemoryBytes - kProgram);
  }
  kaiten_result run(kaiten_wait wait) {
    how = wait;
    return kaiten_run(&k, wait);
  }
};

class FirmwareDriver : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(kaiten_open(&system_.k, &system_.port), KAITEN_OK);
    const Graph graph = test::demo_network();
    image_ = program_image(compile(graph, preset("nano")), graph);
  }

  void expect_demo(std::size_t image, kaiten_wait how) {
    system_.patience = 1'000'000;
    ASSERT_EQ(kaiten_write_input(&system_.k, 0, 0, test::demo_images().at(image).data()), KAITEN_OK);
    ASSERT_EQ(system_.run(how), KAITEN_OK);
    Int8Values logits(test::kDemoClasses);
    ASSERT_EQ(kaiten_read_output(&system_.k, 0, 0, logits.data()), KAITEN_OK);
    EXPECT_EQ(logits, test::demo_goldens().at(image).logits);
  }

  System system_;
  std::vector<std::uint8_t> image_;
};

TEST_F(FirmwareDriver, GivesLiteRtsAnswersByInterruptAndByPolling) {
  ASSERT_EQ(system_.load(image_), KAITEN_OK);
  EXPECT_STREQ(system_.k.image.config, "nano");
  expect_demo(0, KAITEN_INTERRUPT);
  EXPECT_GT(kaiten_counter(&system_.k, KAITEN_COUNTERS_CYCLES),
            kaiten_counter(&system_.k, KAITEN_COUNTERS_ARRAY_BUSY));
  EXPECT_GT(kaiten_counter(&system_.k, KAITEN_COUNTERS_ARRAY_BUSY), 0U);
  EXPECT_EQ(system_.synchronised, 2);
  expect_demo(3, KAITEN_POLL);
}

TEST_F(FirmwareDriver, TakesTheImageFromAnyAddress) {
  std::vector<std::uint8_t> moved(image_.size() + 3);
  std::memcpy(moved.data() + 3, image_.data(), image_.size());
  ASSERT_EQ(
      kaiten_load(&system_.k, moved.data() + 3, std::uint32_t(image_.size()), kProgram, kMemoryBytes / 2),
      KAITEN_OK);
  expect_demo(1, KAITEN_INTERRUPT);
}

TEST_F(FirmwareDriver, GivesTheReferencesValuesOfSeveralTensorsAndImages) {
  test::GraphBuilder g(7);
  const int a = g.input(9, 7, 3), b = g.input(9, 7, 13);
  const int c = g.conv(a, 13, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  g.output(g.add(c, b, Activation::None));
  g.output(
      g.concat({g.conv(c, 5, 1, 1, 1, {}, Activation::None), g.conv(c, 11, 1, 1, 1, {}, Activation::None)}));
  const int images = 2;
  CompileOptions options;
  options.images = images;
  const std::vector<std::uint8_t> image = program_image(compile(g.graph, preset("nano"), options), g.graph);
  ASSERT_EQ(system_.load(image), KAITEN_OK);
  ASSERT_EQ(system_.k.image.tensors[KAITEN_INPUT], 2U);
  ASSERT_EQ(system_.k.image.tensors[KAITEN_OUTPUT], 2U);
  std::vector<Int8Values> inputs;
  for (int i = 0; i < 2 * images; i++) {
    const Tensor& tensor = g.graph.tensors[std::size_t(g.graph.inputs[std::size_t(i % 2)])];
    inputs.emplace_back(tensor.bytes());
    for (std::int8_t& value : inputs.back()) value = std::int8_t(g.uniform(-128, 127));
    ASSERT_EQ(
        kaiten_write_input(&system_.k, std::uint32_t(i % 2), std::uint32_t(i / 2), inputs.back().data()),
        KAITEN_OK);
  }
  ASSERT_EQ(system_.run(KAITEN_INTERRUPT), KAITEN_OK);
  const std::vector<Int8Values> expected = run_reference_batch(g.graph, images, inputs);
  const std::size_t tensors = expected.size() / images;
  for (std::uint32_t i = 0; i < images; i++) {
    for (std::uint32_t o = 0; o < 2; o++) {
      const Int8Values& wanted = expected[i * tensors + std::size_t(g.graph.outputs[o])];
      const kaiten_tensor tensor = kaiten_image_tensor(&system_.k.image, KAITEN_OUTPUT, o);
      ASSERT_EQ(tensor.bytes, wanted.size());
      Int8Values got(wanted.size());
      ASSERT_EQ(kaiten_read_output(&system_.k, o, i, got.data()), KAITEN_OK);
      EXPECT_EQ(got, wanted) << "output " << o << " of image " << i;
    }
  }
  EXPECT_EQ(kaiten_read_output(&system_.k, 2, 0, nullptr), KAITEN_NO_SUCH_TENSOR);
  EXPECT_EQ(kaiten_write_input(&system_.k, 0, images, nullptr), KAITEN_NO_SUCH_TENSOR);
}

TEST_F(FirmwareDriver, SaysWhereABusErrorWasAndWorksAfterwards) {
  ASSERT_EQ(system_.load(image_), KAITEN_OK);
  sim::AxiMemory& memory = system_.device->memory();
  for (const kaiten_wait how : {KAITEN_INTERRUPT, KAITEN_POLL}) {
    memory.fail_range(system_.k.base[2], system_.k.base[2], sim::kRespSlverr);
    EXPECT_EQ(system_.run(how), KAITEN_STOPPED);
    EXPECT_EQ(system_.k.stop.cause, KAITEN_ERROR_CAUSE_LOAD_READ);
    EXPECT_EQ(system_.k.stop.info, sim::kRespSlverr);
    memory.clear_failures();
    memory.fail_range(system_.k.program, system_.k.program, sim::kRespDecerr);
    EXPECT_EQ(system_.run(how), KAITEN_STOPPED);
    EXPECT_EQ(system_.k.stop.cause, KAITEN_ERROR_CAUSE_FETCH_READ);
    memory.clear_failures();
    expect_demo(0, how);
  }
}

TEST_F(FirmwareDriver, SaysWhichCommandWasIllegal) {
  ASSERT_EQ(system_.load(image_), KAITEN_OK);
  const std::uint64_t third = system_.k.program + 2 * KAITEN_COMMAND_BYTES;
  std::array<std::uint8_t, 1> saved{};
  system_.device->read_memory(third, saved);
  const std::array<std::uint8_t, 1> wrong = {0xff};
  system_.device->write_memory(third, wrong);
  EXPECT_EQ(system_.run(KAITEN_INTERRUPT), KAITEN_STOPPED);
  EXPECT_EQ(system_.k.stop.cause, KAITEN_ERROR_CAUSE_ILLEGAL);
  EXPECT_EQ(system_.k.stop.command, 2U);
  system_.device->write_memory(third, saved);
  expect_demo(0, KAITEN_INTERRUPT);
}

TEST_F(FirmwareDriver, EndsRunsThatTakeTooLong) {
  ASSERT_EQ(system_.load(image_), KAITEN_OK);
  const std::uint32_t watchdog = system_.k.watchdog;
  system_.k.watchdog = 10;
  EXPECT_EQ(system_.run(KAITEN_INTERRUPT), KAITEN_STOPPED);
  EXPECT_EQ(system_.k.stop.cause, KAITEN_ERROR_CAUSE_TIMEOUT);
  system_.k.watchdog = watchdog;
  expect_demo(0, KAITEN_INTERRUPT);
  for (const kaiten_wait how : {KAITEN_INTERRUPT, KAITEN_POLL}) {
    system_.patience = 3;
    EXPECT_EQ(system_.run(how), KAITEN_TIMED_OUT);
    expect_demo(0, how);
  }
}

TEST_F(FirmwareDriver, RefusesWhatDoesNotFit) {
  EXPECT_EQ(system_.run(KAITEN_POLL), KAITEN_NOT_LOADED);
  const Graph graph = test::demo_network();
  EXPECT_EQ(system_.load(program_image(compile(graph, preset("base")), graph)), KAITEN_OTHER_CONFIG);
  EXPECT_EQ(system_.k.requirement.offset, KAITEN_KP);
  EXPECT_EQ(system_.k.requirement.value, std::uint32_t(preset("base").kp));
  EXPECT_EQ(system_.k.found, 4U);
  EXPECT_EQ(system_.run(KAITEN_POLL), KAITEN_NOT_LOADED);
  ASSERT_EQ(system_.load(image_), KAITEN_OK);
  const std::uint64_t needed = kaiten_memory_needed(&system_.k.image);
  const auto load_at = [&](std::uint64_t address, std::uint64_t bytes) {
    return kaiten_load(&system_.k, image_.data(), std::uint32_t(image_.size()), address, bytes);
  };
  EXPECT_EQ(load_at(kProgram, needed - 1), KAITEN_NO_MEMORY);
  EXPECT_EQ(load_at(kProgram + 64, needed), KAITEN_NO_MEMORY);
  EXPECT_EQ(load_at(kProgram, needed), KAITEN_OK);
  image_[image_.size() / 2] ^= 1;
  EXPECT_EQ(system_.load(image_), KAITEN_BAD_IMAGE);
  EXPECT_STREQ(system_.k.image_fault, "damaged: its checksum is wrong");
}

TEST_F(FirmwareDriver, FindsNoAcceleratorWhereThereIsNone) {
  system_.port.read_register = [](void*, std::uint32_t) { return 0xffffffffU; };
  EXPECT_EQ(kaiten_open(&system_.k, &system_.port), KAITEN_NO_DEVICE);
  system_.port.read_register = [](void*, std::uint32_t at) {
    return at == KAITEN_ID ? KAITEN_ID_VALUE : 0xffffffffU;  // its reset never ends, neither
  };
  EXPECT_EQ(kaiten_open(&system_.k, &system_.port), KAITEN_OTHER_VERSION);
  system_.port.read_register = [](void*, std::uint32_t at) {
    return at == KAITEN_ID ? KAITEN_ID_VALUE : at == KAITEN_STATUS ? 0xffffffffU : 0U;
  };
  EXPECT_EQ(kaiten_open(&system_.k, &system_.port), KAITEN_STUCK);
}

}  // namespace
}  // namespace kaiten
