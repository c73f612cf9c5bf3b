// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The area model against accelerators whose area is known by construction and against those that were mapped, and the space of
// accelerators against the configurations there are.
#include "explore/area.h"

#include <gtest/gtest.h>

#include <cmath>

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
  m.config = config(kp, cp, bus_bits);
  m.blocks["u_conv"] = {100.0 + 20.0 * kp + 3.0 * kp * cp, 2 + 9.0 * kp * cp + 4.0 * kp, 0};
  m.blocks["u_load"] = {50.0 + 7.0 * m.config.axi_bytes + 11.0 * cp, 3, 0};
  m.whole = {m.blocks["u_conv"].lut + m.blocks["u_load"].lut, m.blocks["u_conv"].dsp + 3, 0};
  return m;
}

TEST(Area, FindsTheFactorsOfWhatIsASumOfTerms) {
  const std::vector<Mapped> some = {made(8, 4, 128),  made(16, 4, 256), made(16, 8, 256),
                                    made(32, 8, 512), made(8, 8, 512),  made(16, 16, 512)};
  const AreaModel model(some);
  for (const auto& [kp, cp, bus] : {std::tuple{64, 16, 512}, {48, 16, 512}, {8, 4, 512}}) {
    const Resources area = model.area(config(kp, cp, bus));
    const Mapped truth = made(kp, cp, bus);
    EXPECT_NEAR(area.lut, truth.whole.lut, 1.01) << kp << " x " << cp;
    EXPECT_NEAR(area.dsp, truth.whole.dsp, 1.01) << kp << " x " << cp;
  }
  // No factor is negative: what a term seems to spare is not believed.
  std::vector<Mapped> falling = {made(8, 4, 128), made(16, 4, 128)};
  falling[1].blocks["u_load"].lut = falling[0].blocks["u_load"].lut / 2;
  const double small = AreaModel(falling).area(config(8, 4, 128)).lut;
  EXPECT_GE(AreaModel(falling).area(config(8, 8, 512)).lut, small);
}

TEST(Area, BlockMemories) {
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
  for (const Residual& r : leave_one_out(mapped)) EXPECT_EQ(r.predicted.ram, r.mapped.ram) << r.name;
}

// What the page says of the model: left out, no mapped accelerator may be further off. A worse model, or an RTL that has
// changed since, fails here.
TEST(Area, ErrorOfTheModel) {
  const std::vector<Residual> residuals = leave_one_out(mapped_accelerators());
  const Resources worst = worst_error(residuals);
  EXPECT_LT(worst.lut, 0.12);
  EXPECT_LT(worst.dsp, 0.03);
  EXPECT_GT(worst.lut, 0.0);  // it is no copy of what was mapped
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
