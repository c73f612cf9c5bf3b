// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// From reset to the last write: a program on the netlist of a small chip, with free inputs, weights and parameters.
// usage: e2e NETWORK FOLDER     (chip.json, lane.json; scripts/e2e.py makes them)
// Exit code 0: what the chip writes equals the specification; 1: it does not, with values; 3: neither was shown.
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "tests/formal/symbolic/network.h"

namespace kaiten::symbolic {
namespace {

constexpr int kPatience = 5000;  // cycles
constexpr int kCases = 64;
constexpr int kProven = 0, kWrong = 1, kOpen = 3;

std::map<std::uint64_t, Byte> run(Chip& chip) {
  while (!chip.registers_written() || !chip.interrupt() || !chip.idle()) {
    chip.cycle(0);
    if (chip.cycles() > kPatience) throw RunError("no interrupt after " + std::to_string(chip.cycles()) + " cycles");
  }
  return chip.written();
}

// The first address at which they differ.
std::optional<std::uint64_t> difference(const std::map<std::uint64_t, Byte>& a, const std::map<std::uint64_t, Byte>& b) {
  for (const auto* map : {&a, &b})
    for (const auto& [address, byte] : *map) {
      const auto x = a.find(address), y = b.find(address);
      if (x == a.end() || y == b.end() || x->second != y->second) return address;
    }
  return std::nullopt;
}

// The reference executor beside what the literals are for random values: the address of a difference.
std::optional<std::uint64_t> compare_cases(const Network& network, const Nodes& nodes, Contents& contents,
                                           const std::map<std::uint64_t, Byte>& bytes) {
  std::mt19937_64 random(1);
  for (int n = 0; n < kCases; n++) {
    const auto values = network.random_values(random);
    std::map<std::uint32_t, bool> bits;
    for (const auto& [address, value] : values)
      for (unsigned i = 0; i < 8; i++) bits[contents.get(address)[i] >> 1] = (value >> i & 1) != 0;
    std::vector<Literal> roots;
    for (const auto& [address, byte] : bytes) roots.insert(roots.end(), byte.begin(), byte.end());
    const auto found = nodes.evaluate(roots, [&](std::uint32_t node) {
      const auto bit = bits.find(node);
      return bit == bits.end() ? (random() & 1) != 0 : bit->second;
    });
    const auto right = network.reference(values);
    if (right.size() != bytes.size()) return 0;
    std::size_t at = 0;
    for (const auto& [address, byte] : bytes) {
      unsigned value = 0;
      for (unsigned i = 0; i < 8; i++) value |= unsigned(found[at++]) << i;
      const auto is = right.find(address);
      if (is == right.end() || is->second != value) return address;
    }
  }
  return std::nullopt;
}

// The same with known values only: what is wrong, empty: nothing.
std::string concrete(const Network& network, const Netlist& netlist, const SharedModules& shared, unsigned seed) {
  std::mt19937_64 random(seed);
  Nodes nodes;
  Contents contents([&](const std::string&) { return Literal(random() & 1); });
  network.place(contents, [&] { return Literal(random() & 1); });
  for (const auto& [address, value] : network.random_values(random)) contents.put(address, std::span(&value, 1));
  try {
    Chip chip(netlist, nodes, contents);
    chip.write_registers(network.registers());
    const auto written = run(chip);
    if (const auto at = difference(network.expected(nodes, contents, shared), written))
      return "the byte at " + std::to_string(*at) + " differs";
  } catch (const RunError& e) {
    return e.what();
  }
  return "";
}

int prove(const std::string& name, const std::string& folder) {
  const Network network(name);
  const Netlist netlist(folder + "/chip.json", Chip::observed());
  const Netlist lane(folder + "/lane.json", {"data_o"});
  const SharedModules shared{lane};
  std::string open;
  try {
    Nodes nodes;
    std::map<std::uint32_t, std::string> names;
    Contents contents([&](const std::string& n) { if (getenv("ZERO")) return kFalse; Literal l = nodes.variable(); names[l >> 1] = n; return l; });
    auto blame = [&](Literal l) { std::map<std::string,int> m; for (auto v : nodes.support(l)) m[names[v]]++; for (auto& [n, c] : m) std::printf("  %s %d\n", n.c_str(), c); };
    network.place(contents, [&] { return nodes.variable(); });
    Chip chip(netlist, nodes, contents);
    chip.write_registers(network.registers());
    std::map<std::uint64_t, Byte> written; try { written = run(chip); } catch (RunError& e) { blame(e.unknown); throw; }
    std::printf("%zu commands, interrupt within %d cycles, %zu nodes\n", network.program().commands.size(), chip.cycles(), nodes.size());
    const auto expected = network.expected(nodes, contents, shared);
    std::printf("%zu nodes with the specification, %zu products\n", nodes.size(), nodes.products());
    if (const auto at = compare_cases(network, nodes, contents, expected)) {
      std::printf("the specification is not the reference executor's at %llx\n", (unsigned long long)*at);
      return kWrong;
    }
    if (const auto at = difference(expected, written)) {
      char text[64];
      std::snprintf(text, sizeof text, "the byte at %llx is not the specification's node", (unsigned long long)*at);
      open = text;
    }
  } catch (const RunError& e) {
    open = e.what();
  }
  if (open.empty()) {
    std::printf("PROVEN: all bytes that the chip writes, and no others\n");
    return kProven;
  }
  std::printf("open: %s\n", open.c_str());
  for (unsigned seed = 1; seed <= 4; seed++) {
    const std::string wrong = concrete(network, netlist, shared, seed);
    if (wrong.empty()) continue;
    std::printf("WRONG with values of seed %u: %s\n", seed, wrong.c_str());
    return kWrong;
  }
  return kOpen;
}

}  // namespace
}  // namespace kaiten::symbolic

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: e2e NETWORK FOLDER\n");
    return 2;
  }
  try {
    return kaiten::symbolic::prove(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "e2e: %s\n", e.what());
    return 2;
  }
}
