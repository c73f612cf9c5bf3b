// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The driver reads what a device has, and refuses programs that need more. The device is a table of registers.
#include "device/driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"
#include "compile/compiler.h"
#include "device/csr.h"
#include "tests/support/graph_builder.h"

namespace kaiten {
namespace {

class RegisterDevice : public Device {
 public:
  explicit RegisterDevice(const Config& c) : memory_(std::size_t(1) << 20) {
    registers_ = {{csr::kId, csr::kIdValue},
                  {csr::kKp, c.kp},
                  {csr::kCp, c.cp},
                  {csr::kStageRows, c.stage_rows},
                  {csr::kAxiBytes, c.axi_bytes},
                  {csr::kWbRows, c.wb_rows},
                  {csr::kVwbRows, c.vwb_rows},
                  {csr::kSbDepth, c.sb_depth},
                  {csr::kVbDepth, c.vb_depth},
                  {csr::kObPixels, c.ob_pixels},
                  {csr::kZsbArray, c.zsb_array},
                  {csr::kZsbVector, c.zsb_vector},
                  {csr::kZvcBeats, c.zvc_beats},
                  {csr::kOptions, 0xf10f8707U | csr::kOptionsLargeWindows.put(c.large_windows) |
                                      csr::kOptionsConvTables.put(c.conv_table) |
                                      csr::kOptionsFeatures.put(
                                          std::uint32_t(c.add_pair) << int(csr::FeatureBit::kPair) |
                                          std::uint32_t(c.two_pixels) << int(csr::FeatureBit::kTwoPixels) |
                                          std::uint32_t(c.resident) << int(csr::FeatureBit::kResident))}};
  }

  // Leaves out one value.
  void without(csr::Field field, int value) { registers_[csr::kOptions] &= ~field.put(1U << value); }

  std::uint32_t read_register(std::uint32_t address) override { return registers_[address]; }
  void write_register(std::uint32_t, std::uint32_t) override {}
  std::uint64_t memory_base() const override { return 0; }
  std::uint64_t memory_bytes() const override { return memory_.size(); }
  void write_memory(std::uint64_t address, std::span<const std::uint8_t> data) override {
    std::copy(data.begin(), data.end(), memory_.begin() + std::ptrdiff_t(address));
    written_ += data.size();
  }
  void read_memory(std::uint64_t, std::span<std::uint8_t>) override {}
  bool wait_interrupt(std::uint64_t) override { return true; }

  std::size_t written() const { return written_; }

 private:
  std::map<std::uint32_t, std::uint32_t> registers_;
  std::vector<std::uint8_t> memory_;
  std::size_t written_ = 0;
};

// A network of a 3x3 convolution, a maximum, a difference and a table, all by rule double.
Graph network() {
  test::GraphBuilder b(1);
  const int in = b.input(8, 8, 8);
  const int conv = b.conv(in, 8, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  const int pool = b.pool(OpKind::MaxPool, conv, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  b.output(b.table(b.element(OpKind::Sub, pool, conv, Activation::None), Function::Tanh));
  return b.graph;
}

// What the driver says of that network, empty if nothing.
std::string verdict(RegisterDevice& device) {
  const Graph graph = network();
  try {
    Driver(device, graph, compile(graph, preset("nano")), RoundingStyle::LiteRt);
  } catch (const DeviceError& e) {
    EXPECT_EQ(device.written(), 0U) << "loaded in spite of it";
    return e.what();
  }
  EXPECT_GT(device.written(), 0U);
  return "";
}

std::string without(csr::Field field, int value) {
  RegisterDevice device(preset("nano"));
  device.without(field, value);
  return verdict(device);
}

TEST(Driver, TakesAProgramThatTheDeviceCanRun) {
  RegisterDevice device(preset("nano"));
  EXPECT_EQ(verdict(device), "");
}

TEST(Driver, TakesAProgramThatDoesNotNeedWhatIsMissing) {
  EXPECT_EQ(without(csr::kOptionsConvModes, int(ConvMode::k1x1)), "");
  EXPECT_EQ(without(csr::kOptionsWindowKinds, int(WindowKind::kAverage)), "");
  EXPECT_EQ(without(csr::kOptionsElementKinds, int(ElementKind::kProduct)), "");
  EXPECT_EQ(without(csr::kOptionsRules, int(Rounding::Float)), "");
}

void expect_refused(const std::string& text, const std::string& command, const std::string& reason) {
  EXPECT_EQ(text.rfind("command ", 0), 0U) << text;
  EXPECT_NE(text.find(" (" + command + ") of layer '"), std::string::npos) << text;
  const std::string end = "' needs " + reason;
  EXPECT_TRUE(text.ends_with(end)) << text;
}

TEST(Driver, RefusesAProgramThatNeedsMoreThanTheDeviceHas) {
  expect_refused(without(csr::kOptionsConvModes, int(ConvMode::k3x3)), "conv",
                 "mode 3x3, the device has 1x1, 3x1");
  expect_refused(without(csr::kOptionsWindowKinds, int(WindowKind::kMaximum)), "window",
                 "kind maximum, the device has depthwise, average");
  expect_refused(without(csr::kOptionsElementKinds, int(ElementKind::kSub)), "add",
                 "kind sub, the device has sum, product, reverse_sub");
  expect_refused(without(csr::kOptionsRules, int(Rounding::Double)), "conv",
                 "rule double, the device has single, average, float");
  expect_refused(without(csr::kOptionsTables, 0), "window", "tables");
}

TEST(Driver, RefusesAProgramOfAnotherConfiguration) {
  RegisterDevice device(preset("base"));
  EXPECT_EQ(verdict(device), "the program was made for configuration 'nano', the device is 'base'");
}

}  // namespace
}  // namespace kaiten
