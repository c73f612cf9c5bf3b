// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Error stop and soft reset of the whole machine, with protocol monitors on every port: whatever the engines and the bus
// are doing, the bus comes to rest without breaking a rule, and the next program runs exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "device/csr.h"
#include "sim/sim_device.h"
#include "tests/rtl/control/program.h"
#include "tests/support/seed.h"

namespace kaiten::test {
namespace {

constexpr std::uint64_t kInput = 0x10000, kOutput = 0x20000, kParams = 0x30000, kProgram = 0x40000;
constexpr int kColumns = 300, kChannels = 12,
              kPixelWords = 4;  // three words of four channels, four words apart

template <class Kind>
Command encode(Kind kind, std::array<std::uint32_t, kQueues> waits) {
  Command c;
  Kind::fields(kind, [&](const char*, std::int64_t value, int first, int bits, FieldKind field) {
    const bool word = field == FieldKind::kWord;
    c.set(first, bits, static_cast<std::uint64_t>(word ? value / 9 << 4 | value % 9 : value));
  });
  c.set(0, 4, static_cast<std::uint64_t>(Kind::kOpcode));
  for (int q = 0; q < kQueues; ++q) c.set_wait(q, waits[q]);
  return c;
}

// Rows of the input through VB and the vector engine (maximum over one cell: a copy) to the output, one after the other.
// A STORE with more columns than its feeder never ends.
std::vector<Command> copy_program(int rows, int stuck_row = -1, int columns = kColumns) {
  std::vector<Command> program;
  LoadParamsCommand params;
  params.base = 2;
  params.count = 1;
  params.to_vector = 1;
  program.push_back(encode(params, {}));
  for (int row = 0; row < rows; ++row) {
    const auto n = static_cast<std::uint32_t>(row);
    LoadRowsCommand load;
    load.base = 0;
    load.offset = row * columns * kChannels;
    load.rows = load.segments = 1;
    load.pixel_bytes = load.last_pixel_bytes = kChannels;
    load.columns = columns;
    load.pixel = load.segment_groups = kPixelWords;
    load.slot_size = (columns * kPixelWords + 8) / 9;
    load.to_vb = 1;
    program.push_back(encode(load, {0, 0, n, 0}));
    StoreCommand store;
    store.base = 1;
    store.offset = load.offset;
    store.rows = store.segments = 1;
    store.columns = columns + (row == stuck_row);
    store.pixel_bytes = store.last_pixel_bytes = kChannels;
    store.from_vector = 1;
    program.push_back(encode(store, {}));
    WindowCommand window;
    window.in_slot_size = load.slot_size;
    window.in_pixel = kPixelWords;
    window.in_width = window.columns = columns;
    window.in_height = window.rows = window.tiles = 1;
    window.kind = 1;
    window.kernel_rows = window.kernel_columns = window.stride = 1;
    window.out_groups = 3;
    window.out_pixel = kPixelWords;
    window.to_store = 1;
    window.low = -128;
    window.high = 127;
    program.push_back(encode(window, {n + 2, 0, 0, 0}));
  }
  return program;
}

class SoftReset : public testing::TestWithParam<bool> {
 protected:
  SoftReset() : random_(seed()) {
    sim::SimOptions options;
    options.debug = GetParam();
    options.memory.bytes = 1 << 20;
    options.memory.seed = random_();
    options.memory.read_latency = 1 + pick(random_, 40);
    options.memory.write_latency = 1 + pick(random_, 40);
    options.memory.stall_ar = options.memory.stall_aw = options.memory.stall_w = pick(random_, 80);
    options.memory.stall_r = options.memory.stall_b = pick(random_, 40);
    device_ = sim::make_sim_device("nano", options);
    base_ = device_->memory_base();
    const auto address = [&](int i, std::uint64_t at) {
      device_->write_register(csr::kBaseLo(i), static_cast<std::uint32_t>(base_ + at));
      device_->write_register(csr::kBaseHi(i), static_cast<std::uint32_t>((base_ + at) >> 32));
    };
    address(0, kInput);
    address(1, kOutput);
    address(2, kParams);
    // bias 0, multiplier 2^30, shift 1: times one
    const std::array<std::uint8_t, 9> one{0, 0, 0, 0, 0, 0, 0, 0x40, 1};
    device_->write_memory(base_ + kParams, one);
  }

  void start(const std::vector<Command>& program) {
    std::vector<std::uint8_t> bytes;
    for (const Command& c : program)
      for (std::uint32_t w : c.words)
        for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(w >> (8 * i)));
    device_->write_memory(base_ + kProgram, bytes);
    device_->write_register(csr::kProgramLo, static_cast<std::uint32_t>(base_ + kProgram));
    device_->write_register(csr::kProgramHi, static_cast<std::uint32_t>((base_ + kProgram) >> 32));
    device_->write_register(csr::kCommandCount, static_cast<std::uint32_t>(program.size()));
    device_->write_register(csr::kWatchdog, 20000);
    device_->write_register(csr::kIrqStatus, 3);
    device_->write_register(csr::kControl, csr::kControlStart.mask() | csr::kControlIrqEnable.mask());
  }

  std::uint32_t status() { return device_->read_register(csr::kStatus); }

  void soft_reset() {
    device_->write_register(csr::kControl, csr::kControlSoftReset.mask());
    for (int i = 0; i < 2000; ++i) {
      if (!csr::kStatusResetting.get(status())) return;
    }
    FAIL() << "the bus does not come to rest";
  }

  void expect_copies(int rows) {
    std::vector<std::uint8_t> input(static_cast<std::size_t>(rows * kColumns * kChannels));
    for (auto& byte : input) byte = static_cast<std::uint8_t>(random_());
    device_->write_memory(base_ + kInput, input);
    start(copy_program(rows));
    ASSERT_TRUE(device_->wait_interrupt(500000));
    ASSERT_EQ(status(), csr::kStatusDone.mask());
    std::vector<std::uint8_t> output(input.size());
    device_->read_memory(base_ + kOutput, output);
    ASSERT_EQ(output, input);
    // All results go to memory: only LOAD writes into SB and VB.
    for (const char* none : {"array_busy", "vector_conflict", "load_conflict"})
      EXPECT_EQ(counter(none), 0u) << none;
    EXPECT_EQ(counter("array_no_command"), counter("cycles"));
    EXPECT_EQ(counter("vector_busy"), static_cast<std::uint32_t>(rows * kColumns));
  }

  std::uint32_t counter(std::string_view name) {
    const auto* found = std::ranges::find(csr::kCounters, name, &csr::Counter::name);
    return device_->read_register(found->offset);
  }

  Random random_;
  std::unique_ptr<sim::SimDevice> device_;
  std::uint64_t base_ = 0;
};

TEST_P(SoftReset, ProgramCopies) { expect_copies(5); }

TEST_P(SoftReset, AfterAStoreThatNeverEnds) {
  for (int row : {0, 2}) {
    start(copy_program(5, row));
    ASSERT_TRUE(device_->wait_interrupt(500000));
    EXPECT_EQ(status(), csr::kStatusError.mask());
    EXPECT_EQ(device_->read_register(csr::kErrorCause),
              static_cast<std::uint32_t>(csr::ErrorCause::kTimeout));
    EXPECT_EQ(device_->read_register(csr::kErrorIndex),
              14u);  // its missing pixel comes from the next row, and so on
    soft_reset();
    EXPECT_EQ(status(), 0u);
    expect_copies(3);
    if (HasFatalFailure()) return;
  }
}

// Thousands of commands before the one at fault: the numbers of commands are right in all the bits such a program has.
// Responses come so late that STORE's queue is full of commands that wait for them.
TEST_P(SoftReset, AfterALongProgramThatNeverEnds) {
  constexpr int kRows = 2730;
  sim::AxiMemoryOptions memory = device_->memory().options();
  memory.write_latency = 800;
  device_->memory().set_options(memory);
  start(copy_program(kRows, kRows - 1, 1));
  ASSERT_TRUE(device_->wait_interrupt(2'000'000));
  EXPECT_EQ(status(), csr::kStatusError.mask());
  EXPECT_EQ(device_->read_register(csr::kErrorCause), static_cast<std::uint32_t>(csr::ErrorCause::kTimeout));
  EXPECT_EQ(device_->read_register(csr::kErrorIndex), 3U * kRows - 1);
  EXPECT_EQ(device_->read_register(csr::kCompletedLoad), 1U + kRows);
  EXPECT_EQ(device_->read_register(csr::kCompletedStore), kRows - 1U);
  soft_reset();
  EXPECT_EQ(status(), 0u);
  expect_copies(3);
}

TEST_P(SoftReset, AtAnyMoment) {
  for (int round = 0; round < 60; ++round) {
    sim::AxiMemoryOptions memory = device_->memory().options();
    memory.data_first = round % 2;
    memory.seed = random_();
    device_->memory().set_options(memory);
    start(copy_program(6));
    device_->step(static_cast<std::uint64_t>(pick(random_, 3000)));
    soft_reset();
    ASSERT_EQ(status(), 0u);
    if (round % 4 == 3) expect_copies(1 + pick(random_, 3));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

// The fast model gates the clocks of engines without work, the debug model starts from a random state.
INSTANTIATE_TEST_SUITE_P(Nano, SoftReset, testing::Bool(),
                         [](const auto& param) { return param.param ? "debug" : "fast"; });

}  // namespace
}  // namespace kaiten::test
