// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/program.h"

#include <algorithm>

#include "base/error.h"

namespace kaiten {

std::string_view name_of(Place place) {
  switch (place) {
    case Place::kNothing:
      return "nothing to do";
    case Place::kHost:
      return "host";
    case Place::kArray:
      return "array";
    case Place::kVector:
      return "vector";
  }
  return "?";
}

namespace {

// Of rows first .. end - 1; `start`: where the bytes of each part begin, counted from the base register.
template <class Start>
std::vector<std::int8_t> values_of(const std::vector<MemoryPart>& parts, std::span<const std::uint8_t> memory,
                                   int first, int end, const Start& start) {
  std::vector<std::int8_t> values;
  for (int y = first; y < end; y++) {
    for (int x = 0; x < parts.front().layout.width; x++) {
      for (const MemoryPart& p : parts) {
        const std::int64_t from = start(p);
        for (int c = 0; c < p.channels; c++)
          values.push_back(std::int8_t(memory[std::size_t(p.layout.at(y, x, p.lane + c) - from)]));
      }
    }
  }
  return values;
}

}  // namespace

std::vector<std::int8_t> MemoryOutput::gather(std::span<const std::uint8_t> memory, int image) const {
  return values_of(parts, memory, 0, parts.front().layout.height,
                   [&](const MemoryPart& p) { return -image * p.layout.image_pitch; });
}

std::vector<std::int8_t> MemoryOutput::gather_rows(std::span<const std::uint8_t> memory, int first_row,
                                                   int rows) const {
  return values_of(parts, memory, first_row, first_row + rows,
                   [&](const MemoryPart& p) { return p.layout.offset + first_row * p.layout.row_pitch; });
}

bool Program::sizes_known() const {
  return std::all_of(compressed.begin(), compressed.end(), [](const CompressedMap& map) {
    const auto& sizes = map.layout.packing->sizes;
    return sizes != nullptr && sizes->exact;
  });
}

std::vector<std::uint8_t> Program::command_bytes() const {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(command_blocks() * kCommandBytes);
  for (const Command& c : commands) {
    if (c.extension) {
      const CommandBytes b = encode(*c.extension);
      bytes.insert(bytes.end(), b.begin(), b.end());
    }
    const CommandBytes b = encode(c);
    bytes.insert(bytes.end(), b.begin(), b.end());
  }
  return bytes;
}

std::size_t Program::command_blocks() const {
  std::size_t blocks = 0;
  for (const Command& c : commands) blocks += std::size_t(c.blocks());
  return blocks;
}

void check_rules(const std::vector<Command>& commands) {
  std::array<std::uint32_t, kQueues> before{};
  const StoreCommand* store = nullptr;  // the one immediately before this command
  for (std::size_t i = 0; i < commands.size(); i++) {
    const Command& c = commands[i];
    const auto fail = [&](const std::string& what) {
      throw DeviceError("command " + std::to_string(i) + " (" + std::string(c.name()) + "): " + what);
    };
    for (std::size_t q = 0; q < kQueues; q++) {
      // The producer of the last STORE is this command: waiting for that STORE would never end.
      const std::uint32_t allowed = before[q] - (store != nullptr && q == std::size_t(Queue::kStore) ? 1 : 0);
      if (c.wait[q] > allowed) fail("waits for a command that is not earlier");
    }
    if (c.arrived != 0 && c.queue() != Queue::kLoad) fail("waits for rows from outside");
    const auto feeds = [&](bool vector, bool to_store, std::int64_t rows, std::int64_t columns,
                           std::int64_t tiles) {
      if (to_store != (store != nullptr))
        fail(to_store ? "no STORE before it" : "does not feed the STORE before it");
      if (store == nullptr) return;
      if (store->rows != rows || store->columns != columns || store->segments != tiles ||
          (store->from_vector != 0) != vector) {
        fail("its loops are not those of the STORE before it");
      }
      store = nullptr;
    };
    std::visit(
        [&](const auto& b) {
          using Body = std::decay_t<decltype(b)>;
          if constexpr (std::is_same_v<Body, StoreCommand>) {
            if (store != nullptr) fail("follows a STORE");
            store = &b;
          } else if constexpr (Body::kQueue == Queue::kLoad) {
            if (store != nullptr) fail("stands between a STORE and its producer");
          } else {
            feeds(Body::kQueue == Queue::kVector, b.to_store != 0, b.rows, b.columns, b.tiles);
          }
        },
        c.body);
    if (c.extension && !std::holds_alternative<ConvCommand>(c.body)) fail("has a conv command's extension");
    before[std::size_t(c.queue())]++;
  }
  if (store != nullptr) throw DeviceError("the last command is a STORE without a producer");
}

}  // namespace kaiten
