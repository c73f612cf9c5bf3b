// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The area model against accelerators whose area is known by construction and against those that were mapped, and the space of
// accelerators against the configurations there are.
#include "explore/area.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "explore/space.h"

namespace kaiten::explore {
namespace {

Config config(int kp, int cp, int bus_bits) {
  Axes axes;
  axes.kp = {kp};
  axes.cp = {cp};
  axes.bus_bits = {bus_bits};
  const std::vector<Candidate> all = candidates(axes);
  return all.empty() ? Config{} : all.front().config;
}

Mapped made(int kp, int cp, int bus_bits) {
  Mapped m;
  m.family = "xc7";
  m.config = config(kp, cp, bus_bits);
  m.blocks["u_conv"] = {100.0 + 20.0 * kp + 3.0 * kp * cp, 2 + 9.0 * kp * cp + 4.0 * kp, 0};
  m.blocks["u_load"] = {50.0 + 7.0 * m.config.axi_bytes + 11.0 * cp, 3, 0};
  m.whole = {m.blocks["u_conv"].lut + m.blocks["u_load"].lut, m.blocks["u_conv"].dsp + 3, 0};
  return m;
}

TEST(Area, FindsTheFactorsOfWhatIsASumOfTerms) {
  const std::vector<Mapped> some = {made(8, 4, 128),  made(16, 4, 256), made(16, 8, 256),
                                    made(32, 8, 512), made(8, 8, 512),  made(16, 16, 512)};
  const AreaModel model(some, family("xc7"));
  for (const auto& [kp, cp, bus] : {std::tuple{64, 16, 512}, {48, 16, 512}, {8, 4, 512}}) {
    const Resources area = model.area(config(kp, cp, bus));
    const Mapped truth = made(kp, cp, bus);
    EXPECT_NEAR(area.lut, truth.whole.lut, 1.01) << kp << " x " << cp;
    EXPECT_NEAR(area.dsp, truth.whole.dsp, 1.01) << kp << " x " << cp;
  }
  // No factor is negative: what a term seems to spare is not believed.
  std::vector<Mapped> falling = {made(8, 4, 128), made(16, 4, 128)};
  falling[1].blocks["u_load"].lut = falling[0].blocks["u_load"].lut / 2;
  const double small = AreaModel(falling, family("xc7")).area(config(8, 4, 128)).lut;
  EXPECT_GE(AreaModel(falling, family("xc7")).area(config(8, 8, 512)).lut, small);
}

// Another family is a factor of xc7, block by block.
TEST(Area, FindsTheFactorsOfAnotherFamily) {
  std::vector<Mapped> all = {made(8, 4, 128),  made(16, 4, 256), made(16, 8, 256),
                             made(32, 8, 512), made(8, 8, 512),  made(16, 16, 512)};
  for (std::size_t i = 0; i < all.size(); i++) all[i].config.name = std::to_string(i);
  for (const std::size_t i : {1U, 4U}) {
    Mapped m = all[i];
    m.family = "ecp5";
    m.blocks["u_conv"].lut *= 2, m.blocks["u_load"].lut *= 1.5, m.blocks["u_conv"].dsp *= 0.5;
    all.push_back(m);
  }
  const Mapped truth = made(64, 16, 512);
  const Resources area = AreaModel(all, family("ecp5")).area(config(64, 16, 512));
  EXPECT_NEAR(area.lut, 2 * truth.blocks.at("u_conv").lut + 1.5 * truth.blocks.at("u_load").lut, 1.01);
  EXPECT_NEAR(area.dsp, 0.5 * truth.blocks.at("u_conv").dsp + truth.blocks.at("u_load").dsp, 1.01);
  EXPECT_EQ(leave_one_out(all, family("ecp5")).size(), 2U);
  EXPECT_THROW(AreaModel(all, family("cyclonev")), InputError);
  EXPECT_THROW(family("virtex2"), InputError);
}

// As yosys mapped memories of a single kt_ram_1r1w (synth_xilinx -family xcup -uram).
TEST(Area, UltraRams) {
  const Family& xcup = family("xcup");
  const auto of = [&](int width, int depth) {
    const Resources r = memory_blocks(xcup, depth, width);
    return std::pair(r.ram, r.uram);
  };
  using Pair = std::pair<double, double>;
  EXPECT_EQ(of(72, 1024), Pair(2, 0));
  EXPECT_EQ(of(72, 2048), Pair(0, 1));
  EXPECT_EQ(of(72, 4096), Pair(0, 1));
  EXPECT_EQ(of(64, 8192), Pair(0, 2));
  EXPECT_EQ(of(32, 2048), Pair(2, 0));
  EXPECT_EQ(of(32, 4096), Pair(0, 1));
  EXPECT_EQ(of(32, 8192), Pair(0, 1));
  EXPECT_EQ(of(576, 4608), Pair(0, 16));
  EXPECT_EQ(of(288, 9216), Pair(0, 12));
  EXPECT_EQ(of(144, 1024), Pair(4, 0));
  EXPECT_EQ(of(144, 1536), Pair(6, 0));
  EXPECT_EQ(of(72, 12288), Pair(0, 3));
  EXPECT_EQ(of(36, 2048), Pair(2, 0));
  EXPECT_EQ(of(36, 16384), Pair(0, 2));
  EXPECT_EQ(of(18, 4096), Pair(2, 0));
  EXPECT_EQ(of(18, 8192), Pair(0, 1));
}

// Where there are too few UltraRAMs, the rest is RAM blocks, and as few of them as can be.
TEST(Area, FewUltraRams) {
  const AreaModel model(mapped_accelerators(), family("xcup"));
  Axes axes;
  axes.kp = {16}, axes.cp = {8}, axes.bus_bits = {256}, axes.wb_kib = {2304}, axes.sb_kib = {576},
  axes.vb_kib = {576};
  const Config c = candidates(axes).front().config;
  const Resources all = model.area(c);
  ASSERT_GT(all.uram, 60);
  double ram = all.ram;
  for (const double most : {all.uram, all.uram - 1, all.uram / 2, 10.0, 0.5}) {
    const Resources some = model.area(c, most);
    EXPECT_LE(some.uram, most);
    EXPECT_GE(some.ram, ram);
    EXPECT_GE(some.ram, all.ram + 4 * (all.uram - some.uram));
    EXPECT_EQ(some.lut, all.lut);
    ram = some.ram;
  }
  EXPECT_EQ(ram, AreaModel(mapped_accelerators(), family("xc7")).area(c).ram);  // no UltraRAM: as in xc7
}

TEST(Area, BlockMemories) {
  const auto ram_blocks = [](int depth, int width) { return memory_blocks(family("xc7"), depth, width).ram; };
  EXPECT_EQ(ram_blocks(64, 576), 0);    // LUTs
  EXPECT_EQ(ram_blocks(512, 36), 0.5);  // a RAMB18
  EXPECT_EQ(ram_blocks(512, 72), 1);
  EXPECT_EQ(ram_blocks(1024, 32), 1);
  EXPECT_EQ(ram_blocks(504, 288), 4);
  EXPECT_EQ(ram_blocks(4096, 9), 1);
  EXPECT_EQ(ram_blocks(4097, 9), 1.5);
  for (int depth = 100; depth < 20000; depth = depth * 3 / 2) {
    for (int width = 8; width < 600; width += 24) {
      const double blocks = ram_blocks(depth, width);
      EXPECT_GE(blocks * 36864, double(depth) * width);  // bits
      EXPECT_GE(ram_blocks(depth + 1, width), blocks);
      EXPECT_GE(ram_blocks(depth, width + 1), blocks);
    }
  }
}

// RAM blocks are not fitted: those of everything that was mapped come out of the sizes of the memories.
TEST(Area, RamBlocksOfWhatWasMapped) {
  const std::vector<Mapped> mapped = mapped_accelerators();
  ASSERT_GE(mapped.size(), 3U);
  for (const Mapped& m : mapped) {
    const Resources r = AreaModel(mapped, family(m.family)).area(m.config);
    EXPECT_EQ(r.ram, m.whole.ram) << m.family << " " << m.config.name;
    EXPECT_EQ(r.uram, m.whole.uram) << m.family << " " << m.config.name;
  }
}

// What the page says of the model: left out, no mapped accelerator may be further off. A worse model, or an RTL that has
// changed since, fails here.
TEST(Area, ErrorOfTheModel) {
  for (const Family& f : families()) {
    const std::vector<Residual> residuals = leave_one_out(mapped_accelerators(), f);
    ASSERT_FALSE(residuals.empty()) << f.name;
    const Resources worst = worst_error(residuals);
    EXPECT_LT(worst.lut, 0.12) << f.name;
    EXPECT_LT(worst.dsp, f.name == "xc7" ? 0.03 : 0.04) << f.name;
    EXPECT_GT(worst.lut, 0.0);  // it is no copy of what was mapped
  }
}

TEST(Space, TheConfigurationsAreAllowed) {
  for (const Config& c : presets()) EXPECT_EQ(refusal_of(c), "") << c.name;
  const std::vector<Mapped> mapped = mapped_accelerators();
  for (const Mapped& m : mapped) EXPECT_EQ(refusal_of(m.config), "") << m.config.name;
}

TEST(Space, WhatTheRtlRefuses) {
  const Config good = config(8, 4, 128);
  const auto refused = [&](auto change) {
    Config c = good;
    change(c);
    return !refusal_of(c).empty();
  };
  EXPECT_TRUE(refused([](Config& c) { c.cp = 6; }));                            // gen_check_cp
  EXPECT_TRUE(refused([](Config& c) { c.kp = c.cp = 12, c.axi_bytes = 64; }));  // counted in bits of CP
  EXPECT_TRUE(refused([](Config& c) { c.kp = 6, c.stage_rows = 2; }));          // gen_check_kp: no multiple
  EXPECT_TRUE(refused([](Config& c) { c.kp = 40; }));                           // more than 9 CP
  EXPECT_TRUE(refused([](Config& c) { c.kp = 20, c.axi_bytes = 64; }));         // gen_check_two
  EXPECT_TRUE(refused([](Config& c) { c.stage_rows = 3; }));                    // gen_check_stage
  EXPECT_TRUE(refused([](Config& c) { c.stage_rows = 8; }));                    // gen_check_stages
  EXPECT_TRUE(refused([](Config& c) { c.wb_rows += 1; }));
  EXPECT_TRUE(refused([](Config& c) { c.zsb_array += 1; }));
  EXPECT_TRUE(refused([](Config& c) { c.axi_bytes = 8; }));  // gen_check_width of the fetch
  EXPECT_TRUE(refused([](Config& c) { c.kp = c.cp = 8; }));  // of kt_store_pack
  EXPECT_FALSE(refused([](Config&) {}));
}

TEST(Space, EveryCombinationOnce) {
  Axes axes;
  axes.kp = {8, 16};
  axes.cp = {4};
  axes.bus_bits = {128, 256};
  axes.wb_kib = {72, 288};
  axes.pb_percent = {0, 50};
  const std::vector<Candidate> all = candidates(axes);
  EXPECT_EQ(axes.combinations(), 2U * 2 * 2 * 2 * 2 * 2);
  EXPECT_EQ(all.size(), axes.combinations());  // all are allowed
  for (const Candidate& c : all) {
    EXPECT_EQ(c.pb_rows % c.config.kp, 0);
    EXPECT_LE(c.pb_rows, c.config.wb_rows / 2);
    EXPECT_LE(c.config.wb_rows * 9 * c.config.cp, 288 * 1024);
  }
  axes.wb_kib = {288, 288};  // the same twice
  EXPECT_EQ(candidates(axes).size(), axes.combinations() / 2);
}

}  // namespace
}  // namespace kaiten::explore
