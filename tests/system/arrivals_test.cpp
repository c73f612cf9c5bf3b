// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Programs that start before their input is there: its rows come one by one at random times, and what stands in their place
// before is random. Of the output, each row that the completed STOREs announce is the reference executor's then. A row that
// never comes ends the run with its number.

#include "program/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/support/seed.h"
#include "tests/system/random_network.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

#ifdef KAITEN_LONG
constexpr int kNetworks = 300;
#else
constexpr int kNetworks = 12;
#endif

class Arrivals : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    random_.seed(test::seed());
    device_ = test::make_device(GetParam(), test::seed(), {});
  }

  // A network whose program may start before its input is there.
  struct Case {
    Graph graph;
    Program program;
    int rows = 0;
  };
  Case draw() {
    for (;;) {
      Case c{test::random_network(random_(), 20, 20, 6).graph, {}, 0};
      CompileOptions options;
      options.keep_on_chip = random_() % 3 != 0;
      if (!refusals(c.graph, preset(GetParam()), options).empty()) continue;
      c.program = compile(c.graph, preset(GetParam()), options);
      c.rows = wait_for_rows(c.program, c.graph);
      if (c.rows > 1) return c;
    }
  }

  // In the place of rows first .. end - 1 of the input: the rows, or garbage.
  void put(const Driver& driver, const Program& program, const Int8Values& values, int first, int end,
           bool garbage) {
    const MemoryLayout& map = program.inputs.front().layout;
    std::vector<std::uint8_t> bytes(std::size_t((end - first) * map.row_pitch));
    for (std::size_t i = 0; i < bytes.size(); i++)
      bytes[i] = std::uint8_t(garbage ? int(random_()) : values[std::size_t(first * map.row_pitch) + i]);
    device_->write_memory(driver.inputs_at() + std::uint64_t(map.offset + first * map.row_pitch), bytes);
  }

  std::mt19937_64 random_;
  std::unique_ptr<sim::SimDevice> device_;
};

TEST_P(Arrivals, RowsComeWhileItRuns) {
  int told = 0;  // networks whose output is told row by row
  for (int n = 0; n < kNetworks; n++) {
    const Case c = draw();
    SCOPED_TRACE("network " + std::to_string(n));
    test::draw_timing(*device_, random_);
    const std::vector<Int8Values> inputs = test::draw_inputs(c.graph, random_);
    const auto expected = run_reference(c.graph, inputs)[std::size_t(c.graph.outputs.front())];
    Driver driver(*device_, c.graph, c.program, RoundingStyle::LiteRt);
    put(driver, c.program, inputs.front(), 0, c.rows, true);
    int there = int(random_() % std::uint64_t(c.rows + 1));
    put(driver, c.program, inputs.front(), 0, there, false);
    driver.begin_rows(there);
    const std::vector<int> stored = rows_stored(c.program, c.graph);
    told += !stored.empty();
    int seen = 0;
    driver.start();
    const int pace = 1 + int(random_() % 3000);
    while (!driver.advance(std::uint64_t(1 + random_() % std::uint64_t(pace)))) {
      if (!stored.empty()) {
        const int end = stored[driver.stored()];
        const Int8Values rows = driver.read_output_rows(seen, end - seen);
        const auto from =
            expected.begin() + std::ptrdiff_t(expected.size() / std::size_t(stored.back())) * seen;
        ASSERT_TRUE(std::equal(rows.begin(), rows.end(), from)) << "rows " << seen << " to " << end;
        seen = end;
      }
      if (there == c.rows) continue;
      const int more = 1 + int(random_() % std::uint64_t(c.rows - there));
      put(driver, c.program, inputs.front(), there, there + more, false);
      driver.arrived(there += more);
    }
    EXPECT_EQ(driver.read_outputs().front(), expected);
  }
  EXPECT_GE(told, kNetworks / 4);
}

TEST_P(Arrivals, ARowThatNeverComes) {
  const Case c = draw();
  const std::vector<Int8Values> inputs = test::draw_inputs(c.graph, random_);
  Driver driver(*device_, c.graph, c.program, RoundingStyle::LiteRt);
  driver.set_watchdog(20'000);
  driver.write_inputs(inputs);
  driver.begin_rows(c.rows - 1);
  try {
    driver.execute();
    ADD_FAILURE() << "it ended";
  } catch (const DeviceError& e) {
    const std::string error = e.what();
    EXPECT_EQ(error.rfind("the hardware stopped: timeout: no command was completed for too long", 0), 0U)
        << error;
    EXPECT_NE(error.find("(load_rows)"), std::string::npos) << error;
    EXPECT_NE(error.find("waits for row " + std::to_string(c.rows) + " of its input, " +
                         std::to_string(c.rows - 1) + " have arrived"),
              std::string::npos)
        << error;
  }
  EXPECT_EQ(driver.run(inputs).front(), run_reference(c.graph, inputs)[std::size_t(c.graph.outputs.front())]);
}

INSTANTIATE_TEST_SUITE_P(Configurations, Arrivals, testing::Values("micro", "nano"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kaiten
