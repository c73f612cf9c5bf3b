// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What usual networks leave alone on the smallest configuration: programs of thousands of commands, maps as tall, as wide and as
// deep as its buffers allow, windows of hundreds of cells, and every bit of the stored registers. Every element compared.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "device/csr.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

struct Extreme {
  const char* name;
  int h, w, c;
  std::function<int(test::GraphBuilder&, int)> layers;
  bool keep_on_chip = true;
  int block_pixels = 0;
};

constexpr Activation kNone = Activation::None;

const Extreme kExtremes[] = {
    // commands for each row of each layer
    {"LongProgram", 1023, 1, 4,
     [](auto& g, int t) {
       for (int i = 0; i < 4; i++) t = g.depthwise(g.conv(t, 4, 1, 1, 1, {}, kNone), 1, 1, 1, {}, kNone);
       return t;
     },
     false, 1},
    // commands of hundreds of rows
    {"Tall", 1000, 1, 4,
     [](auto& g, int in) { return g.depthwise(g.conv(in, 4, 1, 1, 1, {}, kNone), 1, 1, 1, {}, kNone); }, true,
     1000},
    // rings of rows go round many times, more than one row a step; VECTOR writes into SB
    {"TallPooling", 900, 3, 4,
     [](auto& g, int in) {
       return g.conv(g.pool(OpKind::MaxPool, in, 4, 2, 3, {}, kNone), 4, 3, 1, 1, {}, kNone);
     }},
    {"Wide", 2, 1000, 4,
     [](auto& g, int in) {
       return g.depthwise(g.conv(in, 4, 1, 1, 1, {}, kNone), 1, 3, 1, {0, 0, 1, 1}, kNone);
     }},
    // rows that fill most of SB, of VB
    {"WideRow", 1, 1000, 4,
     [](auto& g, int in) {
       const int wide = g.conv(g.conv(in, 28, 1, 1, 1, {}, kNone), 16, 1, 1, 1, {}, kNone);
       return g.pool(OpKind::MaxPool, wide, 1, 2, 2, {}, kNone);
     }},
    // rows that come from memory, in most of VB
    {"WideRowsForVector", 5, 1000, 4,
     [](auto& g, int in) { return g.pool(OpKind::MaxPool, in, 3, 1, 1, {}, kNone); }},
    {"DeepConcatenation", 1, 1, 100,
     [](auto& g, int in) {
       const auto half = [&] { return g.conv(in, 1000, 1, 1, 1, {}, kNone); };
       return g.conv(g.concat({half(), half(), half()}), 5, 1, 1, 1, {}, kNone);
     }},
    {"DeepConvolution", 1, 2, 2000, [](auto& g, int in) { return g.conv(in, 9, 1, 1, 1, {}, kNone); }},
    {"ManyKernels", 2, 2, 5, [](auto& g, int in) { return g.conv(in, 1000, 1, 1, 1, {}, kNone); }},
    // rows of more segments than a LOAD can have, through memory
    {"ManySegments", 2, 3, 5,
     [](auto& g, int in) {
       const auto deep = [&] { return g.conv(in, 1500, 1, 1, 1, {}, kNone); };
       return g.element(OpKind::Add, deep(), deep(), kNone);
     },
     false},
    {"DeepDepthwise", 2, 2, 1000,
     [](auto& g, int in) {
       return g.pool(OpKind::MaxPool, g.depthwise(in, 2, 2, 1, {}, kNone), 1, 1, 1, {}, kNone);
     }},
    {"DeepPooling", 2, 2, 1000,
     [](auto& g, int in) {
       const auto half = [&] { return g.pool(OpKind::MaxPool, in, 2, 2, 1, {}, kNone); };
       return g.pool(OpKind::MaxPool, g.concat({half(), half()}), 1, 1, 1, {}, kNone);
     }},
    {"LargeWindow", 32, 34, 4,
     [](auto& g, int in) { return g.pool(OpKind::AveragePool, in, 31, 33, 1, {}, kNone); }},
    {"TallWindow", 255, 5, 4,
     [](auto& g, int in) { return g.pool(OpKind::AveragePool, in, 255, 4, 1, {}, kNone); }},
    {"HalfAsTallWindow", 127, 8, 4,
     [](auto& g, int in) { return g.pool(OpKind::MaxPool, in, 126, 8, 1, {}, kNone); }},
    {"WideWindow", 3, 260, 4,
     [](auto& g, int in) { return g.pool(OpKind::MaxPool, in, 3, 255, 1, {}, kNone); }},
    {"PaddedWideWindow", 3, 250, 4,
     [](auto& g, int in) {
       return g.pool(OpKind::AveragePool, in, 3, 200, 1, {1, 1, 15, 15}, kNone);
     }},
    {"WideMean", 4, 255, 4, [](auto& g, int in) { return g.mean(in); }},
    {"MeanOfRows", 150, 5, 9, [](auto& g, int in) { return g.conv(g.mean(in, 1), 5, 1, 1, 1, {}, kNone); }},
    {"MeanOfColumns", 6, 150, 9,
     [](auto& g, int in) { return g.conv(g.mean(in, 2), 5, 1, 1, 1, {}, kNone); }},
    {"MeanOfEither", 14, 11, 30, [](auto& g, int in) { return g.mean(g.mean(in, 2), 1); }},
    {"LargeKernel", 21, 21, 4, [](auto& g, int in) { return g.conv(in, 4, 19, 19, 1, {}, kNone); }},
    // sums of several passes in all of OB
    {"FullSums", 16, 8, 12,
     [](auto& g, int in) {
       return g.conv(in, 5, 3, 3, 1, {1, 1, 1, 1}, kNone);
     },
     true, 128},
    {"FullyConnected", 5, 6, 30, [](auto& g, int in) { return g.fully_connected(in, 70, kNone); }},
};

void PrintTo(const Extreme& e, std::ostream* out) { *out << e.name; }

class Extremes : public testing::TestWithParam<Extreme> {
 protected:
  static void SetUpTestSuite() { device_ = test::make_device("nano", test::seed()); }
  static void TearDownTestSuite() { device_.reset(); }
  static inline std::unique_ptr<sim::SimDevice> device_;
};

TEST_P(Extremes, EveryElement) {
  const Extreme& e = GetParam();
  std::mt19937_64 random(test::seed() * 6151 + std::uint64_t(e.h * 31 + e.c));
  test::GraphBuilder g(random());
  g.output(e.layers(g, g.input(e.h, e.w, e.c)));
  CompileOptions options;
  options.keep_on_chip = e.keep_on_chip;
  options.block_pixels = e.block_pixels;
  test::run_on(*device_, g.graph, preset("nano"), options, test::draw_inputs(g.graph, random));
}

INSTANTIATE_TEST_SUITE_P(Nano, Extremes, testing::ValuesIn(kExtremes),
                         [](const auto& info) { return std::string(info.param.name); });

// Factors of 1 and more, one power of two after the other, until a sum shifted left by them leaves the requantiser's 32 bits:
// what the compiler takes is exact, the rest it refuses.
using Layer = std::function<int(test::GraphBuilder&, int)>;

struct Factored {
  const char* name;
  Layer layer;
};

void PrintTo(const Factored& f, std::ostream* out) { *out << f.name; }

class Factors : public testing::TestWithParam<Factored> {};

TEST_P(Factors, ExactOrRefused) {
  sim::SimOptions options;
  options.debug = true;  // with kt_requant_lane, whose shifts lose nothing
  const auto device = test::make_device("nano", test::seed(), options);
  int taken = 0, refused = 0;
  for (int power = 0; power < 30; power++) {
    std::mt19937_64 random(test::seed() * 3 + std::uint64_t(power));
    test::GraphBuilder g(random());
    const int in = g.input(5, 6, 9);
    g.output(GetParam().layer(g, in));
    g.graph.tensors[std::size_t(g.graph.outputs.front())].quantization.scale = {std::ldexp(0.0013F, -power)};
    SCOPED_TRACE("output scale 0.0013 / 2^" + std::to_string(power));
    if (!refusals(g.graph, preset("nano"), {}).empty()) {
      refused++;
      continue;
    }
    EXPECT_EQ(refused, 0) << "taken, though a smaller factor was refused";
    test::run_on(*device, g.graph, preset("nano"), {}, test::draw_inputs(g.graph, random));
    taken++;
  }
  EXPECT_GT(taken, 4);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Nano, Factors,
    testing::Values(
        Factored{"Convolution", Layer([](auto& g, int in) { return g.conv(in, 5, 3, 3, 1, {}, kNone); })},
        Factored{"Depthwise", Layer([](auto& g, int in) { return g.depthwise(in, 3, 3, 1, {}, kNone); })},
        Factored{"Mean", Layer([](auto& g, int in) { return g.mean(in); })},
        Factored{"Add", Layer([](auto& g, int in) { return g.add(in, in, kNone); })},
        Factored{"Sub", Layer([](auto& g, int in) { return g.element(OpKind::Sub, in, in, kNone); })},
        Factored{"Mul", Layer([](auto& g, int in) { return g.element(OpKind::Mul, in, in, kNone); })},
        Factored{"Quantize", Layer([](auto& g, int in) { return g.quantize(in); })}),
    [](const auto& info) { return std::string(info.param.name); });

// Memory around the middle of all addresses: what a program reads and writes lies on both sides, so that every bit of an
// address changes both ways.
TEST(Addresses, AroundTheMiddle) {
  std::mt19937_64 random(test::seed());
  test::GraphBuilder g(random());
  const int in = g.input(26, 26, 6);  // maps of more than a page, each with its sizes behind it
  const int conv = g.conv(in, 9, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  g.output(g.add(conv, g.depthwise(conv, 3, 3, 1, {1, 1, 1, 1}, kNone), kNone));
  CompileOptions options;
  options.keep_on_chip = false;
  options.compress = Compress::kOn;
  const auto inputs = test::draw_inputs(g.graph, random);
  // The middle, by and by, in all of what the program uses.
  constexpr std::uint64_t kPage = 4096;
  std::uint64_t pages = 1;
  for (std::uint64_t page = 0; page < pages; page += std::max<std::uint64_t>(1, pages / 12)) {
    sim::SimOptions simulated;
    simulated.memory.bytes = std::size_t(1) << 20;
    simulated.memory.base = (std::uint64_t(1) << 39) - (page + 1) * kPage;
    const auto device = sim::make_sim_device("nano", simulated);
    test::Session session(*device, g.graph, preset("nano"), options);
    session.run(inputs);
    pages = memory_needed(session.program()) / kPage;
  }
}

// Ones, zeros and random values in every bit of what is stored, the bits of other registers unchanged, whenever they are
// read.
TEST(Registers, EveryStoredBit) {
  std::mt19937_64 random(test::seed());
  const auto device = test::make_device("nano", random());
  struct Stored {
    std::uint32_t address, bits;
  };
  // a program starts at a multiple of 64
  std::vector<Stored> registers{{csr::kWatchdog, ~0U},
                                {csr::kProgramLo, ~63U},
                                {csr::kProgramHi, 0xff},
                                {csr::kCommandCount, 0xffffff},
                                {csr::kWbSplit, 0xffff}};
  for (std::uint32_t i = 0; i < 8; i++) {
    registers.push_back({csr::kBaseLo(i), ~0U});
    registers.push_back({csr::kBaseHi(i), 0xff});
  }
  const std::function<std::uint32_t()> ones = [] { return ~0U; }, zeros = [] { return 0U; },
                                       any = [&] { return std::uint32_t(random()); };
  for (const auto& value : {ones, zeros, ones, any, any, any}) {
    std::vector<std::uint32_t> written;
    for (const auto& r : registers) {
      written.push_back(value() & r.bits);
      device->write_register(r.address, written.back());
      device->step(random() % 3);
    }
    for (std::size_t i = 0; i < registers.size(); i++) {
      device->step(random() % 3);
      EXPECT_EQ(device->read_register(registers[i].address), written[i])
          << "register " << registers[i].address;
    }
  }
}

}  // namespace
}  // namespace kaiten
