// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// SuperNets as data: sizes as published (models/supernets), prefixes, the space's borders, the accuracy model.
#include "supernet/supernet.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "supernet/choice.h"
#include "supernet/families.h"

namespace kaiten::supernet {
namespace {

constexpr const char* kSmallestResNet = "00000:000000:0000,0000,000000,0000";
constexpr const char* kLargestResNet = "22222:222222:2222,2222,222222,2222";

double megabytes(const SuperNet& net, const Encoding& e, bool classifier) {
  return std::round(double(weight_bytes(net, e, classifier)) / 1e3) / 1e3;
}

TEST(SuperNetSizes, ResNet50HasThePublishedOnes) {
  const SuperNet net = resnet50_supernet(224);
  const Encoding small = encode(parse_resnet50(kSmallestResNet)),
                 large = encode(parse_resnet50(kLargestResNet));
  EXPECT_EQ(megabytes(net, small, false), 5.187);
  EXPECT_EQ(megabytes(net, large, false), 45.990);
  EXPECT_EQ(megabytes(net, small, true), 6.515);
  EXPECT_EQ(weight_bytes(net, large), 45989856 + 2048000);
}

TEST(SuperNetSizes, MobileNetV3HasThePublishedOnes) {
  const SuperNet net = mobilenet_v3_supernet(224);
  const Encoding small = encode(parse_mobilenet_v3("22222:33333333333333333333:3"));
  const Encoding large = encode(parse_mobilenet_v3("44444:66666666666666666666:7"));
  EXPECT_EQ(megabytes(net, small, false), 2.116);
  EXPECT_EQ(megabytes(net, large, false), 6.333);
  EXPECT_EQ(megabytes(net, small, true), 3.396);
  EXPECT_EQ(megabytes(net, large, true), 7.613);
}

// The sizes that the SUSHI paper prints of its SubNets, 7.58 to 27.47 MB, and the members between them.
TEST(SuperNetSizes, FamiliesHaveThePublishedOnes) {
  const Family resnet = family("ofa-resnet50"), mobile = family("ofa-mobilenetv3");
  const std::vector<double> r = {7.577, 10.203, 13.271, 17.676, 22.079, 27.466};
  const std::vector<double> m = {2.984, 3.231, 3.664, 3.791, 4.177, 4.513, 4.708};
  ASSERT_EQ(resnet.subnets.size(), r.size());
  ASSERT_EQ(mobile.subnets.size(), m.size());
  for (std::size_t i = 0; i < r.size(); i++)
    EXPECT_EQ(megabytes(resnet.net, resnet.subnets[i].encoding, false), r[i]);
  for (std::size_t i = 0; i < m.size(); i++)
    EXPECT_EQ(megabytes(mobile.net, mobile.subnets[i].encoding, false), m[i]);
  EXPECT_EQ(std::round(double(macs(resnet.net, resnet.subnets[0].encoding)) / 1e6), 1219);
  EXPECT_EQ(std::round(double(macs(resnet.net, resnet.subnets[5].encoding)) / 1e6), 3020);
  Encoding shared_r = resnet.subnets[0].encoding, shared_m = mobile.subnets[0].encoding;
  for (const SubNet& s : resnet.subnets) shared_r = intersection(shared_r, s.encoding);
  for (const SubNet& s : mobile.subnets) shared_m = intersection(shared_m, s.encoding);
  EXPECT_EQ(megabytes(resnet.net, shared_r, false), 7.553);
  EXPECT_EQ(megabytes(mobile.net, shared_m, false), 2.935);
}

TEST(SuperNetPrefixes, EverySubNetLiesWithinTheSuperNet) {
  for (const std::string_view name : family_names()) {
    const Family f = family(name);
    Encoding most;
    for (const Slot& slot : f.net.slots) most.push_back(slot.most);
    for (const SubNet& s : f.subnets) {
      EXPECT_EQ(intersection(s.encoding, most), s.encoding) << s.name;
      EXPECT_EQ(intersection(s.encoding, s.encoding), s.encoding) << s.name;
    }
  }
}

TEST(SuperNetPrefixes, KernelsOfAnotherSizeAreNotShared) {
  const SuperNet net = mobilenet_v3_supernet(224);
  const Encoding three = encode(parse_mobilenet_v3("22222:33333333333333333333:3"));
  const Encoding seven = encode(parse_mobilenet_v3("22222:33333333333333333333:7"));
  const Encoding both = intersection(three, seven);
  for (std::size_t i = 0; i < net.slots.size(); i++) {
    const bool elastic = net.slots[i].depthwise && net.slots[i].name != "stem.depthwise";
    EXPECT_EQ(both[i].kernels == 0, elastic || three[i].kernels == 0) << net.slots[i].name;
  }
}

TEST(CompOfa, Has243DifferentSubNets) {
  const Family f = family("compofa");
  std::set<std::string> texts;
  std::set<Encoding> encodings;
  for (const SubNet& s : f.subnets) {
    texts.insert(s.text);
    encodings.insert(s.encoding);
    EXPECT_EQ(encode(parse_mobilenet_v3(s.text)), s.encoding);
    EXPECT_GT(s.accuracy, 73) << s.name;
    EXPECT_LT(s.accuracy, 78) << s.name;
  }
  EXPECT_EQ(texts.size(), 243U);
  EXPECT_EQ(encodings.size(), 243U);
}

// Fitted to the even rows, asked for the odd ones.
TEST(AccuracyModel, ForetellsRowsItHasNotSeen) {
  const std::vector<Measured> rows = measured_mobilenet_v3();
  ASSERT_EQ(rows.size(), 1000U);
  std::vector<Measured> even, odd;
  for (std::size_t i = 0; i < rows.size(); i++) (i % 2 == 0 ? even : odd).push_back(rows[i]);
  const AccuracyModel model(even);
  double mean = 0, error = 0, spread = 0;
  for (const Measured& row : odd) mean += row.top1 / double(odd.size());
  for (const Measured& row : odd) {
    error += std::pow(model.top1(row.choice) - row.top1, 2) / double(odd.size());
    spread += std::pow(mean - row.top1, 2) / double(odd.size());
  }
  EXPECT_LT(std::sqrt(error), 0.15);
  EXPECT_LT(error, 0.1 * spread);
}

TEST(SubNetText, WhatIsOutsideTheSpaceIsNamed) {
  const std::pair<const char*, const char*> bad[] = {
      {"10000:000000:0000,0000,000000,0000", "character 1 of depth: limit: one of 02, found '1'"},
      {"00003:000000:0000,0000,000000,0000", "character 5 of depth: limit: one of 012, found '3'"},
      {"00000:00000:0000,0000,000000,0000", "width: limit: 6 characters, found 5"},
      {"00000:000000:0000,0000,000000", "expand: limit: 4 stages, found 3"},
      {"00000:000000:0---,0000,000000,0000", "character 2 of expand of stage 1"},
      {"00000:000000", "found 2 fields"},
      {"", "found 1 fields"},
  };
  for (const auto& [text, expected] : bad) {
    try {
      parse_resnet50(text);
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(parse_mobilenet_v3("12222:33333333333333333333:7"), InputError);
  EXPECT_THROW(parse_mobilenet_v3("22222:35333333333333333333:7"), InputError);
  EXPECT_THROW(parse_mobilenet_v3("22222:33333333333333333333:4"), InputError);
  EXPECT_THROW(parse_mobilenet_v3("22222:33333333333333333333:77"), InputError);
  EXPECT_THROW(family("ofa-resnet51"), InputError);
}

}  // namespace
}  // namespace kaiten::supernet
