// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of the compressor and of the expander share: Bench takes segments with add() and compares everything in
// run(in_stall, out_stall), stalls in percent of the cycles.
#ifndef KAITEN_TESTS_RTL_ZVC_ZVC_BENCH_H
#define KAITEN_TESTS_RTL_ZVC_ZVC_BENCH_H

#include <gtest/gtest.h>

#include <utility>

#include "Vzvc_blocks.h"
#include "tests/rtl/zvc/zvc_model.h"
#include "tests/support/model.h"
#include "tests/support/seed.h"

namespace kaiten::test {

inline void reset(Model<Vzvc_blocks>& model) {
  auto& top = model.top();
  top.rst_ni = 0;
  top.raw_valid_i = 0;
  top.packed_ready_i = 0;
  top.unit_valid_i = 0;
  top.beat_ready_i = 0;
  for (int i = 0; i < 3; i++) model.tick();
  top.rst_ni = 1;
}

// Calls test(bench, in_stall, out_stall) with a new bench for each pair of stalls.
template <typename Bench, typename Test>
void under_any_stalls(const Test& test) {
  for (const auto& [in_stall, out_stall] :
       {std::pair{0, 0}, {50, 0}, {0, 50}, {30, 30}, {90, 10}, {10, 90}}) {
    SCOPED_TRACE(testing::Message() << in_stall << " % " << out_stall << " %");
    Bench bench(seed() + static_cast<unsigned>(in_stall * 100 + out_stall));
    test(bench, in_stall, out_stall);
  }
}

template <typename Bench>
void random_segments_under_any_stalls() {
  under_any_stalls<Bench>([](Bench& bench, int in_stall, int out_stall) {
    for (int i = 0; i < 150; i++) bench.add(random_segment(bench.rng()));
    bench.run(in_stall, out_stall);
  });
}

// Every length up to a few groups: all zero, all kept, half of each.
template <typename Bench>
void segments_of_every_length() {
  Bench bench(seed());
  for (int elements = 1; elements <= 4 * kLanes; elements++) {
    for (const int density : {0, 100, 50})
      bench.add(random_segment(bench.rng(), static_cast<std::size_t>(elements), density));
  }
  bench.run(0, 0);
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_RTL_ZVC_ZVC_BENCH_H
