// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Program images: what the compiler's side writes, the C reader reads; what is damaged it refuses, or it lies inside the image
// and the memory all the same.
#include "device/program_image.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "compile/compiler.h"
#include "device/driver.h"
#include "firmware/kaiten.h"
#include "firmware/kaiten_registers.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

constexpr std::size_t kHeaderWords = 22;    // before the names
constexpr std::size_t kDescriptors = 1024;  // bytes that hold all tables of the network below

Graph network() {
  test::GraphBuilder g(3);
  const int in = g.input(6, 9, 5);
  const int a = g.conv(in, 9, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  g.output(g.concat({a, g.depthwise(a, 3, 3, 1, {1, 1, 1, 1}, Activation::None)}));
  return g.graph;
}

Program compiled() { return compile(network(), preset("nano")); }

void set_word(std::vector<std::uint8_t>& image, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; i++) image[at + i] = std::uint8_t(value >> 8 * i);
}

// Makes the checksum right again.
void seal(std::vector<std::uint8_t>& image) {
  set_word(image, 12, std::uint32_t(image.size()));
  set_word(image, 8, std::uint32_t(crc32_z(0, image.data() + 12, image.size() - 12)));
}

std::string fault(const std::vector<std::uint8_t>& image) {
  kaiten_image read{};
  const kaiten_fault said = kaiten_image_open(&read, image.data(), std::uint32_t(image.size()));
  return said == nullptr ? "" : said;
}

// An accelerator that has what images ask for, and memory of the size that they ask for; notes what goes beyond.
struct Memory {
  std::uint64_t bytes = 0;
  bool beyond = false;

  void touch(std::uint64_t address, std::uint32_t count) {
    beyond = beyond || address > bytes || count > bytes - address;
  }
};

// Loads an image and moves all of its tensors; true where nothing left the memory.
bool stays_inside(const std::vector<std::uint8_t>& image) {
  kaiten_device k{};
  Memory memory;
  kaiten_port port{};
  port.context = &memory;
  port.read_register = [](void*, std::uint32_t at) { return at == KAITEN_ID ? KAITEN_ID_VALUE : 0U; };
  port.write_register = [](void*, std::uint32_t, std::uint32_t) {};
  port.write_memory = [](void* m, std::uint64_t at, const void* data, std::uint32_t bytes) {
    static_cast<Memory*>(m)->touch(at, bytes);
    std::vector<std::uint8_t> all(bytes);
    if (bytes > 0) std::memcpy(all.data(), data, bytes);  // for the sanitizer: the source exists
  };
  port.read_memory = [](void* m, std::uint64_t at, void* data, std::uint32_t bytes) {
    static_cast<Memory*>(m)->touch(at, bytes);
    if (bytes > 0) std::memset(data, 0, bytes);
  };
  EXPECT_EQ(kaiten_open(&k, &port), KAITEN_OK);
  kaiten_image read{};
  if (kaiten_image_open(&read, image.data(), std::uint32_t(image.size())) != nullptr) return true;
  memory.bytes = kaiten_memory_needed(&read);
  const kaiten_result loaded = kaiten_load(&k, image.data(), std::uint32_t(image.size()), 0, memory.bytes);
  if (loaded != KAITEN_OK) return true;
  for (const kaiten_direction direction : {KAITEN_INPUT, KAITEN_OUTPUT}) {
    for (std::uint32_t i = 0; i < k.image.tensors[direction]; i++) {
      const std::uint32_t bytes = kaiten_image_tensor(&k.image, direction, i).bytes;
      if (bytes > 1U << 24) continue;
      std::vector<std::int8_t> values(bytes);
      const std::uint32_t last = k.image.batch - 1;
      if (direction == KAITEN_INPUT)
        kaiten_write_input(&k, i, last, values.data());
      else
        kaiten_read_output(&k, i, last, values.data());
    }
  }
  return !memory.beyond;
}

TEST(ProgramImage, SaysWhatTheProgramIs) {
  const Graph graph = network();
  const Program program = compiled();
  const std::vector<std::uint8_t> image = program_image(program, graph);
  kaiten_image read{};
  ASSERT_EQ(kaiten_image_open(&read, image.data(), std::uint32_t(image.size())), nullptr);
  EXPECT_STREQ(read.config, "nano");
  EXPECT_STREQ(read.name, "test");
  EXPECT_EQ(read.commands, program.command_blocks());
  EXPECT_EQ(
      std::memcmp(image.data() + read.commands_at, program.command_bytes().data(), read.commands * 64UL), 0);
  EXPECT_EQ(read.region_bytes[0], program.constants.size());
  EXPECT_EQ(std::memcmp(image.data() + read.constants_at, program.constants.data(), program.constants.size()),
            0);
  EXPECT_EQ(read.modelled_cycles, std::uint64_t(program.modelled_cycles));
  EXPECT_EQ(kaiten_memory_needed(&read), memory_needed(program));
  ASSERT_EQ(read.tensors[KAITEN_INPUT], 1U);
  const kaiten_tensor in = kaiten_image_tensor(&read, KAITEN_INPUT, 0);
  const Tensor& tensor = graph.tensors[std::size_t(graph.inputs[0])];
  EXPECT_EQ(in.name, tensor.name);
  EXPECT_EQ(in.rank, 4U);
  EXPECT_EQ(in.shape[1] * 100 + in.shape[2] * 10 + in.shape[3], 695U);
  EXPECT_EQ(in.scale, tensor.quantization.scale[0]);
  EXPECT_EQ(in.zero_point, tensor.zero_point());
  EXPECT_EQ(in.bytes, 6U * 9 * 5);
  EXPECT_TRUE(stays_inside(image));
}

TEST(ProgramImage, AsksForTheOptionsThatItsCommandsUse) {
  test::GraphBuilder g(3);
  const int in = g.input(6, 9, 5);
  g.output(g.depthwise(in, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
  const std::vector<std::uint8_t> image = program_image(compile(g.graph, preset("nano")), g.graph);
  kaiten_image read{};
  ASSERT_EQ(kaiten_image_open(&read, image.data(), std::uint32_t(image.size())), nullptr);
  bool found = false;
  for (std::uint32_t i = 0; i < read.requirements; i++) {
    const kaiten_requirement r = kaiten_image_requirement(&read, i);
    if (r.offset != KAITEN_OPTIONS) continue;
    found = true;
    EXPECT_EQ(r.mask, r.value);
    const std::uint32_t kinds =
        (r.value & KAITEN_OPTIONS_WINDOW_KINDS_MASK) >> KAITEN_OPTIONS_WINDOW_KINDS_LOW;
    EXPECT_EQ(kinds, 1U) << "depthwise and nothing else";
    EXPECT_EQ(r.value & (KAITEN_OPTIONS_ELEMENT_KINDS_MASK | KAITEN_OPTIONS_CONV_MODES_MASK), 0U);
  }
  EXPECT_TRUE(found);
}

TEST(ProgramImage, IsRefusedWithAnyByteChanged) {
  const std::vector<std::uint8_t> image = program_image(compiled(), network());
  for (std::size_t at = 0; at < image.size(); at += at < kDescriptors ? 1 : 97) {
    std::vector<std::uint8_t> damaged = image;
    damaged[at] ^= 0x10;
    EXPECT_NE(fault(damaged), "") << at;
  }
}

TEST(ProgramImage, IsRefusedWhereItEndsEarly) {
  const std::vector<std::uint8_t> image = program_image(compiled(), network());
  for (std::size_t size = 0; size < image.size(); size += 61)
    EXPECT_NE(fault({image.begin(), image.begin() + std::ptrdiff_t(size)}), "") << size;
}

TEST(ProgramImage, IsRefusedOfAnotherFormat) {
  std::vector<std::uint8_t> image = program_image(compiled(), network());
  set_word(image, 4, 2);
  seal(image);
  EXPECT_EQ(fault(image), "a version of the format that this driver does not know");
  image[0] = 'k';
  EXPECT_EQ(fault(image), "not a program image");
}

// Words of the header and the tables with values at the borders, the checksum made right: refused, or harmless.
TEST(ProgramImage, NeverLeadsOutOfTheMemory) {
  const std::vector<std::uint8_t> image = program_image(compiled(), network());
  ASSERT_GT(image.size(), kDescriptors);
  std::mt19937_64 random(test::seed());
  const std::uint32_t size = std::uint32_t(image.size());
  const std::uint32_t values[] = {0,           1,         2,         3,          64,
                                  0xff,        0xffff,    0xff'ffff, 0x100'0000, 0x7fff'ffff,
                                  0xffff'ffff, size - 64, size,      size + 64};
  const auto check = [&](std::vector<std::uint8_t> damaged, std::size_t at) {
    set_word(damaged, 0, KAITEN_IMAGE_MAGIC);
    set_word(damaged, 4, KAITEN_IMAGE_VERSION);
    seal(damaged);
    EXPECT_TRUE(stays_inside(damaged)) << "word " << at;
  };
  for (std::size_t word = 4; word < kDescriptors / 4; word++) {
    for (const std::uint32_t value : values) {
      std::vector<std::uint8_t> damaged = image;
      set_word(damaged, 4 * word, value);
      check(damaged, word);
    }
  }
  for (int i = 0; i < 1000; i++) {
    std::vector<std::uint8_t> damaged = image;
    for (int n = 0; n < 3; n++)
      set_word(damaged, 4 * (4 + random() % (kDescriptors / 4 - 4)), values[random() % std::size(values)]);
    set_word(damaged, 4 * (4 + random() % (kHeaderWords - 4)), std::uint32_t(random() % (2 * image.size())));
    check(damaged, 0);
  }
}

TEST(ProgramImage, IsNotMadeOfNothing) {
  test::GraphBuilder g(1);
  const int in = g.input(2, 2, 1);
  g.output(g.softmax(g.reshape(in, {1, 4})));
  EXPECT_THROW(program_image(compile(g.graph, preset("nano")), g.graph), InputError);
}

}  // namespace
}  // namespace kaiten
