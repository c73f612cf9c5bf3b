// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Weights that stay in PB while SubNets of one SuperNet follow each other: every SubNet takes what is its own of them and
// loads the rest, whatever ran before; results are exact, and the bytes that are not read are those of the passes that PB
// holds.

#include "compile/resident.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "generate/networks.h"
#include "import/import.h"
#include "supernet/families.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

#ifdef KAITEN_LONG
constexpr int kSize = 96;  // pixels of the image
constexpr std::size_t kNets = 6;
constexpr int kSubGraphs = 8;
constexpr int kQueries = 25;  // of a SubGraph
#else
constexpr int kSize = 64;
constexpr std::size_t kNets = 3;
constexpr int kSubGraphs = 2;
constexpr int kQueries = 3;
#endif
constexpr std::uint64_t kMemoryBytes = std::uint64_t(1) << 26;

struct Space {
  std::string family;
  std::string largest;  // SubNet
};

void PrintTo(const Space& s, std::ostream* out) { *out << s.family; }

struct SubNet {
  std::string text;
  Graph graph;
  std::map<std::string, supernet::Extent> extents;  // by layer
};

SubNet subnet(const std::string& family, const std::string& text) {
  SubNet s;
  s.text = text;
  s.graph = require_graph(import_tflite(generate::make_network(family + "/" + text, kSize, 1), text));
  const bool resnet = family == "ofa-resnet50";
  const supernet::SuperNet net =
      resnet ? supernet::resnet50_supernet(kSize) : supernet::mobilenet_v3_supernet(kSize);
  const supernet::Encoding encoding = resnet ? supernet::encode(supernet::parse_resnet50(text))
                                             : supernet::encode(supernet::parse_mobilenet_v3(text));
  for (std::size_t i = 0; i < net.slots.size(); i++) s.extents[net.slots[i].name] = encoding[i];
  return s;
}

// Of layers in random order what two SubNets have in common, or any of it.
std::vector<ResidentWish> draw_wishes(const SubNet& largest, const std::vector<SubNet>& nets,
                                      std::mt19937_64& random) {
  std::vector<ResidentWish> wishes;
  std::vector<std::string> layers;
  for (const auto& [name, most] : largest.extents) layers.push_back(name);
  std::shuffle(layers.begin(), layers.end(), random);
  const SubNet& a = nets[random() % nets.size()];
  const SubNet& b = nets[random() % nets.size()];
  for (const std::string& name : layers) {
    // The stem's first layer has windows for channels; depthwise layers are not on the array.
    if (name.starts_with("stem") || name.find("depthwise") != std::string::npos) continue;
    supernet::Extent e{std::min(a.extents.at(name).kernels, b.extents.at(name).kernels),
                       std::min(a.extents.at(name).channels, b.extents.at(name).channels)};
    if (e.kernels == 0) continue;
    if (random() % 4 == 0) e.kernels = 1 + int(random() % std::uint64_t(e.kernels));
    if (random() % 4 == 0) e.channels = 8 + int(random() % std::uint64_t(e.channels)) / 8 * 8;
    wishes.push_back({name, e.kernels, std::min(e.channels, largest.extents.at(name).channels)});
  }
  return wishes;
}

// Bytes of a 1x1 or 3x3 layer in PB, counted weight by weight: those in tiles and passes of which PB has all that the SubNet
// needs.
std::int64_t kept_bytes(const Config& c, int kernel, supernet::Extent net, supernet::Extent pb) {
  const int pass = kernel == 1 ? 9 * c.cp : c.cp;
  std::int64_t bytes = 0;
  for (int k = 0; k < net.kernels; k += c.kp) {
    if (std::min(k + c.kp, net.kernels) > pb.kernels) break;
    for (int i = 0; i < net.channels; i += pass) {
      const int end = std::min(i + pass, net.channels);
      if (end > pb.channels) break;
      // a pass of 3x3 taps is one group: it cannot be masked
      if (kernel == 3 && end - i < std::min(i + pass, pb.channels) - i) break;
      bytes += std::int64_t(std::min(k + c.kp, net.kernels) - k) * (end - i) * kernel * kernel;
    }
  }
  return bytes;
}

std::int64_t weight_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (const CommandMeta& m : program.meta) {
    if (m.kind == CommandMeta::Bytes::kWeights) bytes += m.read_bytes;
  }
  return bytes;
}

class Resident : public testing::TestWithParam<Space> {};

TEST_P(Resident, SubNetsShareWeights) {
  const std::string family = GetParam().family;
  std::mt19937_64 random(test::seed());
  const Config& config = preset("base");
  const SubNet largest = subnet(family, GetParam().largest);
  std::vector<SubNet> nets;
  for (const supernet::SubNet& s : supernet::family(family).subnets) {
    if (nets.size() < kNets) nets.push_back(subnet(family, s.text));
  }
  sim::SimOptions memory;
  memory.memory.bytes = kMemoryBytes;
  memory.memory.seed = random();
  const auto device = sim::make_sim_device("base", memory);
  for (int subgraph = 0; subgraph < kSubGraphs; subgraph++) {
    const int rows = int(config.wb_rows / 8 * (2 + random() % 4));
    const std::vector<ResidentWish> wishes = draw_wishes(largest, nets, random);
    const ResidentWeights resident = place_resident(largest.graph, config, wishes, rows, NoRoom::kLeaveOut);
    ASSERT_FALSE(resident.layers.empty());
    Driver loader(*device, largest.graph, load_resident(largest.graph, config, resident),
                  RoundingStyle::LiteRt);
    loader.execute();
    EXPECT_EQ(std::int64_t(loader.read_counters()["read_weights"]), resident.bytes());

    std::int64_t saved = 0;
    for (int query = 0; query < kQueries; query++) {
      const SubNet& net = nets[random() % nets.size()];
      SCOPED_TRACE(net.text);
      CompileOptions options;
      const std::int64_t all = weight_bytes(compile(net.graph, config, options));
      std::int64_t kept = 0;
      for (const ResidentLayer& l : resident.layers) {
        const int kernel = l.name.ends_with("conv2") ? 3 : 1;
        kept +=
            kept_bytes(config, kernel, net.extents.at(l.name), {l.tiles.out_channels, l.tiles.in_channels});
      }
      options.resident = &resident;
      test::Session session(*device, net.graph, config, options);
      const auto result = session.run(test::draw_inputs(net.graph, random));
      EXPECT_EQ(std::int64_t(result.counters["read_weights"]), all - kept);
      saved += kept;
      std::printf("%lld of %lld bytes of weights read, %llu cycles\n", static_cast<long long>(all - kept),
                  static_cast<long long>(all), static_cast<unsigned long long>(result.cycles()));
    }
    EXPECT_GT(saved, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Resident,
                         testing::Values(Space{"ofa-resnet50", "22222:222222:2222,2222,222222,2222"},
                                         Space{"ofa-mobilenetv3", "44444:66666666666666666666:7"}),
                         [](const auto& info) { return info.index == 0 ? "ResNet50" : "MobileNetV3"; });

}  // namespace
}  // namespace kaiten
