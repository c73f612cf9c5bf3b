// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/bus_beats.h"

#include <gtest/gtest.h>

namespace kaiten {
namespace {

std::int64_t read_beats(const CommandBody& body) { return bus_beats(body, preset("base")).read; }

// 64 bytes a beat, counted by hand.
TEST(BusBeats, CountWholeWordsOfEachRequest) {
  LoadWeightsCommand weights;
  weights.bytes = 64;
  EXPECT_EQ(read_beats(weights), 1);
  weights.offset = 60;
  EXPECT_EQ(read_beats(weights), 2);
  LoadParamsCommand params;
  params.count = 7;  // 63 bytes
  EXPECT_EQ(read_beats(params), 1);
  params.count = 8;
  EXPECT_EQ(read_beats(params), 2);

  // Rows of 30 bytes follow each other: the third one lies in bytes 60 to 89.
  LoadRowsCommand rows;
  rows.rows = 3;
  rows.row_pitch = 30;
  rows.segments = 1;
  rows.columns = 10;
  rows.pixel_bytes = rows.last_pixel_bytes = 3;
  EXPECT_EQ(read_beats(rows), 1 + 1 + 2);
  // Two segments of 64 and 40 bytes.
  rows.rows = 1;
  rows.segments = 2;
  rows.segment_pitch = 64;
  rows.columns = 2;
  rows.pixel_bytes = 32;
  rows.last_pixel_bytes = 20;
  EXPECT_EQ(read_beats(rows), 2);
  // Windows of a row: one request of its bytes.
  rows.segments = 1;
  rows.step_bytes = 6;
  rows.row_bytes = 129;
  EXPECT_EQ(read_beats(rows), 3);

  StoreCommand store;
  store.offset = 32;
  store.rows = 2;
  store.row_pitch = 128;
  store.segments = 1;
  store.columns = 2;
  store.pixel_bytes = store.last_pixel_bytes = 32;  // bytes 32 to 95
  const BusBeats b = bus_beats(store, preset("base"));
  EXPECT_EQ(b.read, 0);
  EXPECT_EQ(b.written, 4);
  EXPECT_EQ(bus_beats(CommandBody(ConvCommand{}), preset("base")).read, 0);
}

// At most 16 beats each, none across 4096 bytes.
TEST(BusBeats, Bursts) {
  const Config& base = preset("base");
  LoadWeightsCommand weights;
  weights.bytes = 5000;
  EXPECT_EQ(read_bursts(weights, base), 4 + 1);
  weights.offset = 1000;  // 49 beats to the end of the page, 30 behind it
  EXPECT_EQ(read_bursts(weights, base), 4 + 2);
  weights.zvc_beats = 17;
  weights.offset = 0;
  EXPECT_EQ(read_bursts(weights, base), 2);
  LoadRowsCommand rows;
  rows.rows = 3;
  rows.row_pitch = 1024;
  rows.segments = 1;
  rows.columns = 125;
  rows.pixel_bytes = rows.last_pixel_bytes = 8;
  EXPECT_EQ(read_bursts(rows, base), 3);
  EXPECT_EQ(read_bursts(StoreCommand{}, base), 0);
}

}  // namespace
}  // namespace kaiten
