#include "compile/command_list.h"

#include <algorithm>

#include "graph/error.h"

namespace kaiten {

namespace {

// The wait counts of a command have 20 bits.
constexpr std::size_t kMaxCommands = std::size_t(1) << 20;

}  // namespace

void CommandList::emit(CommandBody body, const CommandMeta& meta, std::span<const Access> accesses,
                       std::int64_t latency) {
  if (program.commands.size() == kMaxCommands) {
    throw InputError("limit: programs of " + std::to_string(kMaxCommands) +
                     " commands, found: more, in layer '" + graph_.ops[std::size_t(meta.op)].name + "'");
  }
  Command c;
  c.body = std::move(body);
  c.wait = hazards_.add(c.queue(), accesses);
  program.commands.push_back(std::move(c));
  program.meta.push_back(meta);
  costs_.push_back({meta.cycles, latency});
}

std::int64_t CommandList::append_region() {
  auto& bytes = program.constants;
  const std::size_t align = std::size_t(program.config.axi_bytes);
  bytes.resize((bytes.size() + align - 1) / align * align);
  return std::int64_t(bytes.size());
}

std::int64_t CommandList::bus_cycles(std::int64_t bytes) const {
  return kLoadStart + (bytes + program.config.axi_bytes - 1) / program.config.axi_bytes;
}

void CommandList::schedule() {
  const auto [order, cycles] = kaiten::schedule(program.commands, costs_);
  program.modelled_cycles = cycles;
  std::vector<Command> commands;
  std::vector<CommandMeta> meta;
  commands.reserve(order.size());
  meta.reserve(order.size());
  for (std::size_t i : order) {
    commands.push_back(std::move(program.commands[i]));
    meta.push_back(program.meta[i]);
  }
  program.commands = std::move(commands);
  program.meta = std::move(meta);
}

void add_rows(std::vector<Access>& accesses, Buffer buffer, const Ring& ring, int begin, int end,
                     bool write, std::uint32_t part_of) {
  if (begin >= end) return;
  const Space space = buffer == Buffer::kSb ? Space::kSb : Space::kVb;
  const auto add = [&](int slot, int slots) {
    accesses.push_back({space, ring.first + slot * ring.slot_size,
                        ring.first + (slot + slots) * ring.slot_size, write, part_of});
  };
  if (end - begin >= ring.slots) return add(0, ring.slots);
  const int slot = begin % ring.slots;
  const int straight = std::min(end - begin, ring.slots - slot);
  add(slot, straight);
  if (straight < end - begin) add(0, end - begin - straight);
}

Access memory_rows(const MemoryLayout& m, int begin, int end, bool write,
                          std::uint32_t part_of) {
  return {memory_space(m.base), m.offset + begin * m.row_pitch, m.offset + end * m.row_pitch, write,
          part_of};
}

}  // namespace kaiten
