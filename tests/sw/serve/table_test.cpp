// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Tables, the model that fills them, SubGraphs to choose from, streams: files in and out, borders, what never may happen.
#include "serve/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "serve/model.h"
#include "serve/stream.h"

namespace kaiten::serve {
namespace {

using supernet::Encoding;
using supernet::Slot;

constexpr std::int64_t kPb = 1728 * 1024;
const Accelerator kBase{"base", 32, 8, 64, 100, kPb};

Table filled(std::string_view name, std::size_t count, int threads = 1) {
  const supernet::Family family = supernet::family(name);
  const Costs costs = [&](const Encoding& s, const Encoding& g) {
    return analytic_cost(kBase, family.net, s, g);
  };
  return fill(family, candidates(family, kBase, count, 1), kBase, costs, "analytic model", threads);
}

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "was taken";
  return "";
}

// Layers small enough to count by hand: KP 4, CP 2, bus of 2 bytes a cycle.
TEST(Model, CountsCyclesByItsRules) {
  const Accelerator a{"a", 4, 2, 2, 100, 1000};
  const auto cost = [&](Slot slot, supernet::Extent has, supernet::Extent held) {
    const supernet::SuperNet net{
        "n", 0, {{"first", 1, 0, false, false, {1, 1}}, slot}};  // costs 0.5 cycles to fetch
    return analytic_cost(a, net, {{1, 1}, has}, {{}, held});
  };
  const double rest = 0.5 + 500;  // the first layer's byte, the result
  // 3x3, 5 kernels of 3 channels: 2 x 2 tiles of 10 pixels; 135 bytes take longer.
  Cost c = cost({"c", 3, 10, false, false, {}}, {5, 3}, {});
  EXPECT_EQ(c.array_cycles, 40);
  EXPECT_EQ(c.weight_bytes, 1 + 135);
  EXPECT_EQ(c.cycles, rest + 67.5);
  // 4 kernels of 3 channels held: 27 bytes are left.
  c = cost({"c", 3, 10, false, false, {}}, {5, 3}, {4, 3});
  EXPECT_EQ(c.weight_bytes, 1 + 27);
  EXPECT_EQ(c.cycles, rest + 40);
  // What is held beyond the SubNet does not help, in neither direction.
  EXPECT_EQ(cost({"c", 3, 10, false, false, {}}, {5, 3}, {9, 2}).weight_bytes, 1 + 135 - 5 * 2 * 9);
  // 5x5 takes three groups of nine.
  EXPECT_EQ(cost({"c", 5, 10, false, false, {}}, {5, 3}, {}).array_cycles, 40 * 3);
  // 1x1: nine times as many channels a tile.
  EXPECT_EQ(cost({"c", 1, 10, false, false, {}}, {4, 18}, {}).array_cycles, 10);
  EXPECT_EQ(cost({"c", 1, 10, false, false, {}}, {4, 19}, {}).array_cycles, 20);
  // Depthwise: three groups of two channels a slot, 1, 4 and 9 slots.
  for (const auto& [kernel, slots] : {std::pair{3, 1}, {5, 4}, {7, 9}}) {
    c = cost({"c", kernel, 10, true, false, {}}, {7, 1}, {});
    EXPECT_EQ(c.vector_cycles, 2 * 10 * slots);
    EXPECT_EQ(c.weight_bytes, 1 + 7 * kernel * kernel);
  }
}

// A larger SubGraph never costs time or bytes; bytes are those of the SubNet less those of the intersection.
TEST(Model, PbNeverCostsTime) {
  for (const char* name : {"ofa-resnet50", "ofa-mobilenetv3"}) {
    const supernet::Family family = supernet::family(name);
    const std::vector<Candidate> some = candidates(family, kBase, 40, 3);
    const Table t = filled(name, 40);
    for (std::size_t i = 0; i < t.subnets.size(); i++) {
      for (std::size_t j = 0; j < t.subgraphs.size(); j++) EXPECT_LE(t.latency(i, j), t.latency(i, 0));
      const Encoding& s = family.subnets[i].encoding;
      for (const Candidate& c : some) {
        EXPECT_EQ(analytic_cost(kBase, family.net, s, c.encoding).weight_bytes,
                  supernet::weight_bytes(family.net, s) -
                      supernet::weight_bytes(family.net, supernet::intersection(s, c.encoding)));
      }
    }
  }
}

// Tiles of 32 kernels, passes of 72 channels (1x1) or 8 (3x3); a SubNet's last ones may be smaller.
TEST(Candidates, WholeTilesAndPasses) {
  supernet::Family family;
  family.net.slots = {{.name = "a", .kernel = 1}, {.name = "b", .kernel = 3}};
  family.subnets = {{.encoding = {{40, 100}, {40, 20}}}, {.encoding = {{100, 200}, {100, 60}}}};
  const auto cut = [&](std::size_t slot, int kernels, int channels) {
    return useful(kBase, family, slot, {kernels, channels});
  };
  EXPECT_EQ(cut(0, 70, 150), (supernet::Extent{64, 144}));
  EXPECT_EQ(cut(0, 63, 143), (supernet::Extent{40, 100}));
  EXPECT_EQ(cut(0, 100, 200), (supernet::Extent{100, 200}));
  EXPECT_EQ(cut(0, 31, 200), supernet::Extent{});
  EXPECT_EQ(cut(0, 100, 71), supernet::Extent{});
  EXPECT_EQ(cut(1, 70, 30), (supernet::Extent{64, 24}));
  EXPECT_EQ(cut(1, 70, 21), (supernet::Extent{64, 20}));
}

TEST(Candidates, FitPbAndDiffer) {
  for (const std::string_view name : supernet::family_names()) {
    const supernet::Family family = supernet::family(name);
    for (const std::size_t count : {1U, 10U, 40U, 500U}) {
      const std::vector<Candidate> found = candidates(family, kBase, count, 1);
      EXPECT_EQ(found.size(), count) << name;
      std::set<Encoding> encodings;
      std::set<std::string> names;
      std::int64_t least = kPb;
      for (const Candidate& c : found) {
        const std::int64_t bytes = supernet::weight_bytes(family.net, c.encoding);
        EXPECT_LE(bytes, kPb) << c.name;
        least = std::min(least, bytes);
        encodings.insert(c.encoding);
        names.insert(c.name);
        for (std::size_t i = 0; i < c.encoding.size(); i++)
          ASSERT_EQ(c.encoding[i], useful(kBase, family, i, c.encoding[i])) << c.name;
        bool within = false;
        for (const supernet::SubNet& s : family.subnets)
          within |= supernet::intersection(s.encoding, c.encoding) == c.encoding;
        EXPECT_TRUE(within) << c.name << " is of no SubNet";
      }
      EXPECT_EQ(encodings.size(), found.size());
      EXPECT_EQ(names.size(), found.size());
      EXPECT_GT(least, kPb * 95 / 100) << name;
    }
  }
}

TEST(TableFiles, JsonComesBackAsItWas) {
  const Table t = filled("ofa-mobilenetv3", 20);
  const Table back = table_of_json(table_json(t), "t.json");
  EXPECT_EQ(table_json(back), table_json(t));
  EXPECT_EQ(back.latency_ms, t.latency_ms);
  EXPECT_EQ(back.weight_bytes, t.weight_bytes);
  EXPECT_EQ(back.subgraphs[5].code, t.subgraphs[5].code);
  EXPECT_EQ(table_json(filled("ofa-mobilenetv3", 20, 3)), table_json(t)) << "threads change the table";
}

TEST(TableFiles, CsvIsRead) {
  const Table t = table_of_csv("subnet,accuracy,none,G\r\nA, 70.5,2,1\n\nB,71,4,3\n", "t.csv");
  EXPECT_EQ(t.subnets[1].name, "B");
  EXPECT_EQ(t.subnets[0].accuracy, 70.5);
  EXPECT_EQ(t.latency(1, 0), 4);
  EXPECT_EQ(t.latency(0, 1), 1);
  EXPECT_EQ(t.nothing(), 0U);
  EXPECT_FALSE(t.coded());
}

TEST(TableFiles, BadOnesAreRefusedInOneLine) {
  const std::string head = "subnet,accuracy,none,G\n";
  const std::pair<std::string, const char*> bad[] = {
      {"", "t.csv:0: expected the heading"},
      {head, "SubNets: limit: 1 to 65536, found 0"},
      {"subnet,accuracy\nA,70\n", "expected the heading"},
      {head + "A,70,1\n", "t.csv:2: limit: 4 fields, found 3"},
      {head + "A,70,,1\n", "t.csv:2: expected a number for 'none', found ''"},
      {head + "A,70,nan,1\n", "found 'nan'"},
      {head + "A,70,inf,1\n", "found 'inf'"},
      {head + "A,70,-1,1\n", "latency of SubNet 'A' with SubGraph 'none': limit: 0 to"},
      {head + "A,70,0,1\n", "limit: above 0"},
      {head + "A,101,1,1\n", "accuracy of SubNet 'A': limit: 0 to 100, found 101"},
      {head + "A,70,1,1\nA,71,1,1\n", "SubNet 'A' occurs twice"},
      {"subnet,accuracy,G,G\nA,70,1,1\n", "SubGraph 'G' occurs twice"},
      {head + ",70,1,1\n", "without a name"},
  };
  for (const auto& [text, expected] : bad) {
    const std::string line = refusal([&text = text] { table_of_csv(text, "t.csv"); });
    EXPECT_NE(line.find(expected), std::string::npos) << line;
  }
}

TEST(TableFiles, BadJsonIsRefusedInOneLine) {
  const std::string good =
      R"({"schema_version":1,"supernet":"s","origin":"o","accuracies":"a","subnets":[{"name":"A","accuracy":70,"code":[1,2]}],)"
      R"("subgraphs":[{"name":"none","load_ms":0,"bytes":0,"code":[0,0]}],"latency_ms":[[3]],"weight_bytes":[[5]],"other_bytes":[7]})";
  EXPECT_EQ(table_of_json(good, "t").latency(0, 0), 3);
  const std::tuple<const char*, const char*, const char*> changes[] = {
      {"\"latency_ms\":[[3]]", "\"latency_ms\":[[null]]", "expected a number for 'latency_ms', found null"},
      {"\"latency_ms\":[[3]]", "\"latency_ms\":[[3,4]]", "latency_ms: limit: 1 entries a row, found 2"},
      {"\"latency_ms\":[[3]]", "\"latency_ms\":[]", "latency_ms: limit: 1 entries, found 0"},
      {"\"latency_ms\":[[3]]", "\"latency_ms\":[[-3]]", "limit: 0 to"},
      {"\"latency_ms\":[[3]]", "\"latency_ms\":[[1e999]]", "t"},
      {"\"weight_bytes\":[[5]]", "\"weight_bytes\":[[-5]]", "weight_bytes of SubNet 'A'"},
      {"\"code\":[0,0]", "\"code\":[0]", "code of SubGraph 'none': limit: 2 numbers"},
      {"\"code\":[1,2]", "\"code\":[1,2.5]", "code: limit: whole numbers"},
      {"\"code\":[1,2]", "\"code\":[1,-2]", "code: limit: whole numbers"},
      {"\"schema_version\":1", "\"schema_version\":2", "schema_version: limit: 1, found 2"},
      {"\"origin\":\"o\"", "\"orgin\":\"o\"", "unknown name 'orgin'"},
      {"\"origin\":\"o\",", "", "expected 'origin'"},
  };
  for (const auto& [from, to, expected] : changes) {
    std::string text = good;
    text.replace(text.find(from), std::string(from).size(), to);
    const std::string line = refusal([&] { table_of_json(text, "t"); });
    EXPECT_NE(line.find(expected), std::string::npos) << line;
  }
}

TEST(Streams, ArrivalsHaveTheirRateAndShape) {
  for (const Arrivals arrivals : {Arrivals::kPoisson, Arrivals::kBursty, Arrivals::kDiurnal}) {
    constexpr std::size_t kQueries = 200000;
    const StreamOptions o{.arrivals = arrivals,
                          .queries = kQueries,
                          .rate = kQueries / 86400.0,
                          .low = {70, 1},
                          .high = {80, 2}};
    const Stream s = draw_stream(o);
    ASSERT_EQ(s.size(), kQueries);
    EXPECT_NEAR(s.arrival_ms.back() / 86400e3, 1, 0.02);
    double variance = 0;
    for (std::size_t i = 1; i < kQueries; i++) {
      ASSERT_GE(s.arrival_ms[i], s.arrival_ms[i - 1]);
      variance += std::pow((s.arrival_ms[i] - s.arrival_ms[i - 1]) / 432 - 1, 2) / kQueries;
    }
    if (arrivals == Arrivals::kPoisson) EXPECT_NEAR(variance, 1, 0.05);
    if (arrivals == Arrivals::kBursty) EXPECT_NEAR(variance, 4, 0.3);  // 1 / shape
    const auto at_noon = std::count_if(s.arrival_ms.begin(), s.arrival_ms.end(),
                                       [](double t) { return t > 10.8e6 * 3 && t < 10.8e6 * 5; });
    // 25 % of the day about its middle; the sine of 80 % adds 0.8 * sin(pi / 4) / pi.
    EXPECT_NEAR(double(at_noon) / kQueries,
                arrivals == Arrivals::kDiurnal ? 0.25 + 0.8 * std::sin(M_PI / 4) / M_PI : 0.25, 0.015);
    EXPECT_EQ(draw_stream(o).arrival_ms, s.arrival_ms);
  }
}

TEST(Streams, ConstraintsFillTheirRangesAndHold) {
  StreamOptions o{.queries = 20000, .low = {70, 1}, .high = {80, 3}};
  const auto changes = [&] {
    const Stream s = draw_stream(o);
    EXPECT_TRUE(s.closed);
    double mean = 0;
    std::size_t n = 0;
    for (std::size_t i = 0; i < s.size(); i++) {
      EXPECT_GE(s.constraints[i].accuracy, 70);
      EXPECT_LE(s.constraints[i].latency_ms, 3);
      mean += s.constraints[i].accuracy / double(s.size());
      n += i > 0 && s.constraints[i].accuracy != s.constraints[i - 1].accuracy ? 1 : 0;
    }
    EXPECT_NEAR(mean, 75, 0.5);
    return double(n);
  };
  EXPECT_EQ(changes(), 19999);
  o.hold = 20;
  EXPECT_NEAR(changes(), 1000, 120);
}

TEST(Streams, CsvIsRead) {
  const Stream s = stream_of_csv("latency_ms,arrival_ms,accuracy\n5,0,70\n6,2.5,71\n", "q.csv", {});
  EXPECT_FALSE(s.closed);
  EXPECT_EQ(s.arrival_ms, (std::vector<double>{0, 2.5}));
  EXPECT_EQ(s.constraints[1].accuracy, 71);
  EXPECT_EQ(s.constraints[1].latency_ms, 6);
  const Stream single = stream_of_csv("accuracy\n70\n", "q.csv", {});
  EXPECT_TRUE(single.closed);
  EXPECT_EQ(single.constraints[0].latency_ms, std::numeric_limits<double>::infinity());
}

// Lines are sorted by their end; a long call that ends last began first.
TEST(Streams, AzureTracesAreReplayedByArrival) {
  const Stream s = stream_of_csv("app,func,end_timestamp,duration\na,f,100.5,0.5\na,g,101,0.25\nb,f,102,3\n",
                                 "azure.csv", {.low = {70, 1}, .high = {80, 3}});
  EXPECT_EQ(s.arrival_ms, (std::vector<double>{0, 1000, 1750}));
  EXPECT_EQ(s.constraints.size(), 3U);
}

TEST(Streams, BadOnesAreRefusedInOneLine) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "no queries"},
      {"arrival_ms,accuracy,latency_ms\n", "no queries"},
      {"arrival_ms,accuracy,deadline\n0,70,5\n", "q.csv:1: unknown column 'deadline'"},
      {"accuracy,accuracy\n70,70\n", "occurs twice"},
      {"arrival_ms,accuracy\n5,70\n4,70\n",
       "q.csv:3: arrival_ms: limit: not before the line above, found '4'"},
      {"arrival_ms,accuracy\n-1,70\n", "arrival_ms: limit: 0 to"},
      {"accuracy\n101\n", "accuracy: limit: 0 to 100, found '101'"},
      {"accuracy\nnan\n", "q.csv:2: expected a number for 'accuracy', found 'nan'"},
      {"accuracy,latency_ms\n70\n", "q.csv:2: limit: 2 fields, found 1"},
      {"app,func,end_timestamp,duration\n", "no queries"},
      {"app,func,end_timestamp,duration\na,b,1,-1\n", "duration: limit: 0 to"},
      {"app,func,end_timestamp,duration\na,b,1\n", "limit: 4 fields, found 3"},
  };
  for (const auto& [text, expected] : bad) {
    const std::string line = refusal([&text = text] { stream_of_csv(text, "q.csv", {}); });
    EXPECT_NE(line.find(expected), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace kaiten::serve
