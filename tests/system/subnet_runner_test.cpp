// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Queries of SubNets on the accelerator with a SubGraph in PB, when the bus fails: that query or loading is refused with one
// line, and all that follow are exact and read the bytes that their programs announce, PB's part of the weights included.

#include "run/subnet_runner.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "generate/networks.h"
#include "import/import.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

constexpr int kImage = 64;
constexpr std::uint8_t kSlaveError = 2;
constexpr const char* kLargest = "44444:66666666666666666666:7";

Graph model(const std::string& text) {
  return require_graph(import_tflite(generate::make_network("ofa-mobilenetv3/" + text, kImage, 1), text));
}

void expect_exact(const SubNetRunner::Result& result) {
  EXPECT_TRUE(result.exact);
  EXPECT_EQ(result.weight_bytes, result.predicted_bytes);
}

// Whether the bus error of the n-th read from now on came out.
template <class Work>
bool fails(SubNetRunner& runner, std::uint64_t beat, const Work& work) {
  runner.device().memory().fail_read_beat(beat, kSlaveError);
  bool failed = false;
  try {
    work();
  } catch (const DeviceError& e) {
    failed = true;
    EXPECT_EQ(std::string(e.what()).rfind("the hardware stopped: bus error", 0), 0U) << e.what();
  }
  runner.device().memory().clear_failures();
  return failed;
}

TEST(SubNetRunner, ABusErrorFailsOneQuery) {
  std::mt19937_64 random(test::seed());
  supernet::Family family = supernet::family("ofa-mobilenetv3");
  family.subnets.resize(2);
  SubNetPlans::Options options;
  options.pb_rows = preset("base").wb_rows / 2;
  options.bytes_per_cycle = 8;
  const SubNetPlans plans(
      family, model(kLargest), [](const supernet::SubNet& s) { return model(s.text); }, options);
  const SubNetPlans::Plan plan =
      plans.plan(supernet::intersection(family.subnets[0].encoding, family.subnets[1].encoding));
  ASSERT_GT(plan.resident.rows, 0);
  SubNetRunner runner(plans, {.bytes_per_cycle = 8, .seed = random()});
  expect_exact(runner.load(plan.resident));
  const std::int64_t kept = runner.run(0).weight_bytes;
  for (int i = 0; i < 2; i++) {
    const std::size_t subnet = random() % 2;
    EXPECT_TRUE(fails(runner, random() % 2000, [&] { runner.run(subnet); }));
    expect_exact(runner.run(1 - subnet));
    const SubNetRunner::Result again = runner.run(0);
    expect_exact(again);
    EXPECT_EQ(again.weight_bytes, kept);  // PB has its part still
  }
  // A loading that fails is done again before the next query.
  EXPECT_TRUE(fails(runner, 200, [&] { runner.load(plan.resident); }));
  expect_exact(runner.run(0));
  EXPECT_EQ(runner.run(0).weight_bytes, kept);
}

}  // namespace
}  // namespace kaiten
