// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// From reset to the last write: programs on the netlist of a small chip, one after the other, whose inputs, weights, parameters,
// flip-flops and memories are free, and a bus that stalls wherever it may.
// usage: e2e NETWORK[,NETWORK...] FOLDER [STALLS [LATENCY]]      scripts/e2e.py makes FOLDER and says what the networks are
// STALLS: at most so many in all, or `any`; default 0. LATENCY: cycles that the memory takes beside them, default 1. Exit code 0: what the chip writes equals the specification; 1: it does
// not, for values and a bus that are named; 3: neither was shown.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/formal/symbolic/explorer.h"
#include "tests/formal/symbolic/network.h"

namespace kaiten::symbolic {
namespace {

constexpr int kCases = 64;       // compared with the reference executor
constexpr unsigned kSeeds = 12;  // tried for a counterexample
constexpr int kProven = 0, kWrong = 1, kOpen = 3;

struct Setting {
  std::vector<Network> networks;
  Netlist chip, lane, operand;
  int stalls = 0;
  unsigned latency = 1;

  Setting(const std::string& names, const std::string& folder, int most_stalls, unsigned memory_latency)
      // the limit of the watchdog is 0: nobody looks at its count
      : chip(folder + "/chip.json", Chip::observed(), {"u_watchdog.cycles_q"}),
        lane(folder + "/lane.json", {"data_o"}),
        operand(folder + "/operand.json", {"sum_o"}),
        stalls(most_stalls),
        latency(memory_latency) {
    std::string name;
    for (const char c : names + ",") {
      if (c != ',') {
        name += c;
        continue;
      }
      networks.emplace_back(name, unsigned(networks.size()));
      name.clear();
    }
  }
  SharedModules shared() const { return {lane, operand}; }
};

// Writes the registers, up to the one that starts the run.
void prepare(Chip& chip, const Network& network) {
  chip.write_registers(network.registers());
  while (chip.registers_left() > 1) {
    chip.cycle(0);
    if (chip.cycles() > kPatience * 4) throw RunError("registers are not written");
  }
}

// What the literals are for random values beside what the reference executor makes of them: the address of a difference, 0: none.
std::uint64_t compare_cases(const Network& network, const Nodes& nodes, Contents& contents,
                            const SymbolicBytes& bytes) {
  std::mt19937_64 random(1);
  std::vector<Literal> roots;
  for (const auto& [address, byte] : bytes) roots.insert(roots.end(), byte.begin(), byte.end());
  for (int n = 0; n < kCases; n++) {
    const KnownBytes values = network.random_values(random);
    std::map<std::uint32_t, bool> bits;
    for (const auto& [address, value] : values)
      for (unsigned i = 0; i < 8; i++) bits[contents.get(address)[i] >> 1] = (value >> i & 1) != 0;
    const auto found = nodes.evaluate(roots, [&](std::uint32_t node) {
      const auto bit = bits.find(node);
      return bit == bits.end() ? (random() & 1) != 0 : bit->second;
    });
    const KnownBytes right = network.reference(values);
    std::size_t at = 0;
    for (const auto& [address, byte] : bytes) {
      unsigned value = 0;
      for (unsigned i = 0; i < 8; i++) value |= unsigned(found[at++]) << i;
      const auto is = right.find(address);
      if (right.size() != bytes.size() || is == right.end() || is->second != value) return address;
    }
  }
  return 0;
}

// The same with known values and a bus that stalls at random, where it may: what is wrong, empty: nothing.
std::string counterexample(const Setting& setting, unsigned seed) {
  std::mt19937_64 random(seed);
  Nodes nodes;
  Contents contents([&](const std::string&) { return Literal(random() & 1); });
  for (const Network& network : setting.networks) {
    network.place(contents, [&] { return Literal(random() & 1); });
    for (const auto& [address, value] : network.random_values(random))
      contents.put(address, std::span(&value, 1));
  }
  try {
    Chip chip(setting.chip, nodes, contents, setting.latency);
    SymbolicBytes expected;
    for (const Network& network : setting.networks) {
      prepare(chip, network);
      const int start = chip.cycles();
      do {
        unsigned stalls = 0;
        if (setting.stalls != 0 && seed % 3 != 0)
          for (unsigned bit = 1; bit < 64; bit *= 2) stalls |= random() % (1 + seed % 3) != 0 ? bit : 0;
        chip.cycle(stalls);
        if (chip.cycles() > start + kPatience)
          return "no interrupt after " + std::to_string(kPatience) + " cycles";
      } while (!chip.registers_written() || !chip.interrupt());
      if (!chip.idle()) return "an interrupt before the last answer";
      expected.merge(network.expected(nodes, contents, setting.shared()));
      if (const std::uint64_t at = difference(expected, chip.written()); at != 0) {
        char text[64];
        std::snprintf(text, sizeof text, "the byte at %llx differs", static_cast<unsigned long long>(at));
        return text;
      }
    }
  } catch (const RunError& e) {
    return e.what();
  }
  return "";
}

// Empty: proven; else what is open.
std::string open_question(const Setting& setting) {
  Nodes nodes;
  std::map<std::uint32_t, std::string> holders;
  Contents contents([&](const std::string& holder) {
    const Literal l = nodes.variable();
    holders[l >> 1] = holder;
    return l;
  });
  for (const Network& network : setting.networks) network.place(contents, [&] { return nodes.variable(); });
  try {
    Explorer explorer(setting.stalls);
    std::vector<Explorer::At> ends{{Chip(setting.chip, nodes, contents, setting.latency), 0}};
    SymbolicBytes expected;
    for (const Network& network : setting.networks) {
      const SymbolicBytes own = network.expected(nodes, contents, setting.shared());
      if (const std::uint64_t at = compare_cases(network, nodes, contents, own); at != 0) {
        std::printf("the specification is not the reference executor's at %llx\n",
                    static_cast<unsigned long long>(at));
        std::exit(kWrong);
      }
      expected.insert(own.begin(), own.end());
      for (Explorer::At& end : ends) prepare(end.chip, network);
      ends = explorer.explore(ends, expected, &network != &setting.networks.back());
      std::printf("%zu commands, %zu bytes written, %zu last states\n", network.program().commands.size(),
                  own.size(), explorer.last_states());
    }
    std::printf("%zu states, %zu cycles computed, %zu nodes, %zu products\n", explorer.states(),
                explorer.cycles(), nodes.size(), nodes.products());
  } catch (const RunError& e) {
    std::map<std::string, int> blamed;
    for (const std::uint32_t node : nodes.support(e.unknown)) blamed[holders[node]]++;
    std::string text = e.what();
    int most = 8;
    for (const auto& [holder, bits] : blamed)
      if (most-- > 0)
        text +=
            "\n  " + std::to_string(bits) + " bits of " + (holder.empty() ? "the program's data" : holder);
    return text;
  }
  return "";
}

int prove(const Setting& setting) {
  const std::string open = open_question(setting);
  if (open.empty()) {
    std::printf("PROVEN: all bytes that the chip writes, and that it writes no others\n");
    return kProven;
  }
  std::printf("open: %s\n", open.c_str());
  for (unsigned seed = 0; seed < kSeeds; seed++) {
    const std::string wrong = counterexample(setting, seed);
    if (wrong.empty()) continue;
    std::printf("WRONG with values and stalls of seed %u: %s\n", seed, wrong.c_str());
    return kWrong;
  }
  return kOpen;
}

}  // namespace
}  // namespace kaiten::symbolic

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    std::fprintf(stderr, "usage: e2e NETWORK[,NETWORK...] FOLDER [STALLS [LATENCY]]\n");
    return 2;
  }
  try {
    const int stalls = argc < 4 ? 0 : std::string_view(argv[3]) == "any" ? -1 : std::atoi(argv[3]);
    return kaiten::symbolic::prove(
        kaiten::symbolic::Setting(argv[1], argv[2], stalls, argc < 5 ? 1 : unsigned(std::atoi(argv[4]))));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "e2e: %s\n", e.what());
    return 2;
  }
}
