// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "compile/compiler.h"
#include "observe/layer_clock.h"
#include "report/axes.h"
#include "report/make_report.h"
#include "report/page.h"
#include "report/run_report.h"
#include "report/table.h"
#include "tests/support/graph_builder.h"

namespace kaiten {
namespace {

using test::GraphBuilder;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string l; std::getline(in, l);) all.push_back(l);
  return all;
}

TEST(Table, FitsTheWidth) {
  Table t({{"name", false, 0, true},
           {"cycles", true, 0, false},
           {"extra", false, 1, false},
           {"more", false, 2, false}});
  t.add({"a_rather_long_name_of_a_layer", "1,234", "nothing", "something"});
  t.add({"b", "5", "x", "y"});
  const std::string wide = t.text();
  EXPECT_EQ(lines(wide)[1], "a_rather_long_name_of_a_layer   1,234  nothing  something");
  for (std::size_t width : {60U, 50U, 40U, 30U, 24U}) {
    for (const std::string& l : lines(t.text(width))) {
      EXPECT_LE(l.size(), width) << l;
      EXPECT_TRUE(l.empty() || l.back() != ' ');
    }
  }
  // The least important column goes first; the end of a name stays.
  const std::string narrow = t.text(40);
  EXPECT_EQ(narrow.find("extra"), std::string::npos) << narrow;
  EXPECT_NE(t.text(24).find("_layer"), std::string::npos) << t.text(24);
  EXPECT_NE(t.text(24).find("1,234"), std::string::npos);
}

// However small its range, an axis has three numbers; they lie in it.
TEST(Axes, HaveNumbers) {
  const Scale wide{1, 1e6, 0, 500};
  for (const auto& [low, high] :
       {std::pair(62'971.0, 124'332.0), {189.0, 222.0}, {864.0, 1944.0}, {0.3, 0.9}, {5.0, 5e5}}) {
    static std::vector<double> ticks;
    ticks.clear();
    const auto note = [](double v) {
      ticks.push_back(v);
      return std::string("t");
    };
    axes({low, high, 0, 500}, wide, "x", "y", note);
    EXPECT_GE(ticks.size(), 3U) << low;
    EXPECT_LE(ticks.size(), 10U) << low;
    for (const double v : ticks) EXPECT_TRUE(v >= low && v <= high) << v;
  }
}

TEST(Page, LetsLongNamesWrapAtSlashes) {
  html::Table table({"name", "#GB/s"});
  table.add({"a/b<c", "1/2"});
  EXPECT_NE(table.text().find("<td>a/<wbr>b&lt;c</td>"), std::string::npos);
  EXPECT_NE(table.text().find(">1/2</td>"), std::string::npos);
}

TEST(Table, GroupsDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

std::uint32_t flag(const std::string& name) {
  for (std::size_t i = 0; i < std::size(csr::kCounters); i++) {
    if (name == csr::kCounters[i].name) return std::uint32_t(1) << i;
  }
  ADD_FAILURE() << name;
  return 0;
}

Program two_layers(Graph& graph) {
  GraphBuilder g(1);
  const int in = g.input(4, 4, 4);
  g.output(
      g.pool(OpKind::MaxPool, g.conv(in, 8, 1, 1, 1, {}, Activation::None), 2, 2, 2, {}, Activation::None));
  graph = g.graph;
  return compile(graph, preset("nano"));
}

TEST(LayerClock, EveryCycleHasALayer) {
  Graph graph;
  const Program p = two_layers(graph);
  LayerClock clock(p);
  const std::uint32_t cycle = flag("cycles");
  const int delay = p.config.kp + 9 + 10, vector_delay = 12;  // from window to result; chains of nine taps
  for (int i = 0; i < 30; i++) clock.events(cycle | flag("conv_wait_load"));
  for (int i = 0; i < 50; i++) clock.events(cycle | flag("array_busy") | flag("vector_wait_conv"));
  for (int i = 0; i < delay; i++) clock.events(cycle | flag("vector_wait_conv"));
  std::uint64_t total = std::uint64_t(30 + 50 + delay);
  for (std::size_t i = 0; i < p.commands.size(); i++) {
    if (p.commands[i].queue() == Queue::kConv) clock.last_result(std::uint32_t(i));
  }
  for (int i = 0; i < 20; i++) clock.events(cycle | flag("vector_busy"));
  for (int i = 0; i < vector_delay; i++) clock.events(cycle);
  total += std::uint64_t(20 + vector_delay);
  for (std::size_t i = 0; i < p.commands.size(); i++) {
    if (p.commands[i].queue() == Queue::kVector) clock.last_result(std::uint32_t(i));
  }
  for (int i = 0; i < 7; i++) clock.events(cycle);
  total += 7;
  const auto times = clock.finish();
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].cycles + times[1].cycles, total);
  EXPECT_EQ(times[0].busy_cycles, 50U);
  EXPECT_EQ(times[0].waits[std::size_t(Wait::kWeights)], 30U);  // with parameters more bytes than its rows
  EXPECT_EQ(times[1].cycles, std::uint64_t(20 + vector_delay + 7));
  EXPECT_EQ(times[1].busy_cycles, 20U);
  EXPECT_EQ(limited_by(true, times[0]), "array");
  EXPECT_EQ(limited_by(false, times[1]), "vector");
  LayerTime waiting;
  waiting.cycles = 10;
  waiting.waits[std::size_t(Wait::kCommands)] = 9;
  waiting.busy_cycles = 1;
  EXPECT_EQ(limited_by(true, waiting), "commands");
}

// The array works in cycles 60 to 99, the vector engine from 90 on; the last results reach memory in cycle
// 159.
TEST(LayerClock, ModelledCyclesHaveALayerToo) {
  Graph graph;
  Program p = two_layers(graph);
  p.commands.clear();
  p.meta.clear();
  const auto add = [&](CommandBody body, int op, std::int64_t cycles, std::int64_t complete) {
    p.commands.push_back({{}, std::move(body)});
    p.meta.push_back({});
    p.meta.back().op = op;
    p.meta.back().cycles = cycles;
    p.meta.back().complete = complete;
  };
  const auto cycles = [](const std::vector<LayerTime>& all) {
    std::vector<std::uint64_t> each;
    for (const LayerTime& t : all) each.push_back(t.cycles);
    return each;
  };
  add(LoadRowsCommand{}, 0, 10, 30);
  add(ConvCommand{}, 0, 40, 100);
  add(StoreCommand{}, 1, 0, 160);
  add(WindowCommand{}, 1, 60, 150);
  p.modelled_cycles = 160;
  p.meta[1].start = 33;  // three cycles behind the LOAD it waits for
  p.commands[1].wait = {1, 0, 0, 0};
  auto times = modelled_layer_times(p);
  EXPECT_EQ(cycles(times), (std::vector<std::uint64_t>{100, 60}));
  EXPECT_EQ(times[0].busy_cycles, 40U);
  EXPECT_EQ(times[0].waits[std::size_t(Wait::kWeights)], 33U);  // it loads as many bytes of rows: none
  EXPECT_EQ(times[0].waits[std::size_t(Wait::kLatency)], 27U);
  EXPECT_EQ(times[1].busy_cycles, 50U);
  EXPECT_EQ(times[1].engine_cycles, 60U);
  EXPECT_EQ(times[1].waits[std::size_t(Wait::kLatency)], 10U);
  EXPECT_EQ(limited_by(true, times[0]), "array");
  p.commands[1].wait = {};  // it came late
  EXPECT_EQ(modelled_layer_times(p)[0].waits[std::size_t(Wait::kCommands)], 33U);
  add(ConvCommand{}, 0, 5, 158);  // begins behind the vector engine's end
  EXPECT_EQ(cycles(modelled_layer_times(p)), (std::vector<std::uint64_t>{110, 50}));
  p.commands.clear();
  p.meta.clear();
  EXPECT_EQ(cycles(modelled_layer_times(p)), (std::vector<std::uint64_t>{0, 0}));
}

TEST(RunReport, HasTheKeysOfTheInterface) {
  Graph graph;
  const Program p = two_layers(graph);
  Counters counters;
  for (std::size_t i = 0; i < Counters::kCount; i++) counters.values[i] = 100 + i;
  std::vector<LayerTime> times(2);
  times[0].cycles = times[0].engine_cycles = times[0].busy_cycles = 60;
  times[1].cycles = 40;
  RunReport r = make_report(graph, p, counters, times);
  r.exact = true;
  r.seconds = 0.5;
  r.loop_cycles = 1000;
  r.outputs.push_back({"logits", "1x10", "int8", {{3, 7, "three"}}});
  const auto j = nlohmann::json::parse(to_json(r));
  EXPECT_EQ(j["schema_version"], 1);
  for (const char* key : {"model", "config", "exact", "cycles", "predicted_cycles", "macs",
                          "array_utilization", "mac_utilization", "seconds", "khz", "bytes", "bus_bytes",
                          "predicted_bytes", "predicted_bus_bytes", "stalls", "zvc", "layers", "outputs"}) {
    EXPECT_TRUE(j.contains(key)) << key;
  }
  EXPECT_EQ(j["khz"], 2.0);
  EXPECT_EQ(j["exact"], true);
  EXPECT_EQ(j["cycles"], 100);
  EXPECT_EQ(j["macs"], 4 * 4 * 4 * 8);
  EXPECT_DOUBLE_EQ(j["array_utilization"], 512.0 / (100 * 144));
  EXPECT_DOUBLE_EQ(j["mac_utilization"], 512.0 / (100 * (144 + 108)));
  EXPECT_EQ(j["predicted_bytes"]["read"]["commands"], p.commands.size() * 64);
  EXPECT_EQ(j["predicted_bytes"]["read"]["activations"], 64);
  EXPECT_EQ(j["predicted_bytes"]["read"]["weights"], 32);
  EXPECT_EQ(j["layers"].size(), 2U);
  EXPECT_EQ(j["predicted_cycles"], p.modelled_cycles);
  EXPECT_EQ(j["layers"][0]["predicted_cycles"].get<int>() + j["layers"][1]["predicted_cycles"].get<int>(),
            p.modelled_cycles);
  for (const char* key : {"name", "op", "shape_in", "shape_out", "macs", "cycles", "predicted_cycles",
                          "utilization", "limited_by", "bytes_read", "bytes_written"}) {
    EXPECT_TRUE(j["layers"][0].contains(key)) << key;
  }
  EXPECT_EQ(j["outputs"][0]["top5"][0]["label"], "three");
  EXPECT_EQ(lines(to_text(r, 80)).back(),
            "DONE, nothing compared: test has no operator for the accelerator nano");
  r.checked = 3;
  EXPECT_EQ(lines(to_text(r, 80)).back().substr(0, 4), "PASS");
  r.exact = false;
  r.difference = "layer 'x'";
  EXPECT_EQ(lines(to_text(r, 0)).back(), "FAIL test on nano: layer 'x'");
}

TEST(RunReport, TellsBytesThatWereNotPredicted) {
  RunReport r;
  r.bytes = r.predicted = r.uncompressed = {10, 20, 30, 40, 50};
  EXPECT_EQ(bytes_difference(r), "");
  r.zvc_read_raw = r.zvc.read_raw = 18;  // 18 of the 40 came as 7, 30 of the 50 go as 12
  r.zvc.read_packed = 7;
  r.zvc_written_raw = r.zvc.written_raw = 30;
  r.zvc.written_packed = 12;
  r.bytes.activations = 19;
  r.bytes.written = 32;
  EXPECT_EQ(bytes_difference(r), "");
  r.zvc.read_packed = 8;
  EXPECT_EQ(bytes_difference(r), "activations read: the device counted 29 bytes, the compiler predicts 30");
  r.zvc = {};
  r.zvc_read_raw = r.zvc_written_raw = 0;
  r.bytes = r.uncompressed;
  r.bytes.written = 51;
  EXPECT_EQ(bytes_difference(r),
            "activations written: the device counted 51 bytes, the compiler predicts 50");
  r.predicted.weights = 9;
  EXPECT_EQ(bytes_difference(r), "weights read: the device counted 10 bytes, the compiler predicts 9");
  r.bytes = r.uncompressed = r.predicted;
  r.bus.read = 128;
  EXPECT_EQ(bytes_difference(r), "");
  r.exactly_predicted = true;
  r.predicted_bus.read = 64;
  EXPECT_EQ(bytes_difference(r),
            "whole words of the bus read: the device counted 128 bytes, the compiler predicts 64");
}

TEST(RunReport, FindsTheLargestClasses) {
  Tensor t;
  t.name = "logits";
  t.shape = {1, 6};
  const OutputReport o = output_report(t, {1, 5, -3, 5, 0, 2}, {"a", "b"});
  ASSERT_EQ(o.top5.size(), 5U);
  EXPECT_EQ(o.top5[0].index, 1);
  EXPECT_EQ(o.top5[0].label, "b");
  EXPECT_EQ(o.top5[1].index, 3);
  EXPECT_EQ(o.top5[1].label, "");
  EXPECT_EQ(o.top5[4].index, 4);
  t.shape = {1, 2, 3, 1};
  EXPECT_TRUE(output_report(t, {1, 5, -3, 5, 0, 2}, {}).top5.empty());
}

TEST(RunReport, FindsTheLargestClassesOfFloatOutputs) {
  Tensor t;
  t.name = "scores";
  t.type = t.model_type = ElementType::Float32;
  t.shape = {1, 3, 1, 1};
  const OutputReport o = output_report(t, bytes_of(std::vector<float>{0.25F, NAN, 0.75F}), {});
  ASSERT_EQ(o.top5.size(), 3U);
  EXPECT_EQ(o.top5[0].index, 2);
  EXPECT_EQ(o.top5[0].value, 0.75);
  EXPECT_EQ(o.top5[2].index, 1);  // not a number comes last
  EXPECT_EQ(o.type, "float32");
}

}  // namespace
}  // namespace kaiten
