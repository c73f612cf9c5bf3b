// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/arrivals.h"

#include <algorithm>
#include <variant>

#include "base/arithmetic.h"

namespace kaiten {

namespace {

bool all_on_device(const Program& program) {
  return program.images == 1 && std::none_of(program.layers.begin(), program.layers.end(),
                                             [](const LayerInfo& layer) { return layer.on_host; });
}

// From the command's offset to the last byte it reads of a row.
std::int64_t row_bytes(const LoadRowsCommand& c) {
  return c.step_bytes > 0 ? c.row_bytes : (c.segments - 1) * c.segment_pitch + c.columns * c.last_pixel_bytes;
}

}  // namespace

int wait_for_rows(Program& program, const Graph& graph) {
  if (!all_on_device(program) || graph.inputs.size() != 1 || program.inputs.size() != 1) return 0;
  const MemoryTensor& input = program.inputs.front();
  const MemoryLayout& map = input.layout;
  const Tensor& tensor = graph.tensors[std::size_t(graph.inputs.front())];
  if (input.tensor != graph.inputs.front() || map.height > kMostRows ||
      std::uint64_t(map.bytes()) != tensor.bytes())
    return 0;
  for (Command& c : program.commands) {
    const auto* load = std::get_if<LoadRowsCommand>(&c.body);
    if (load == nullptr || load->base != map.base) continue;
    const std::int64_t end =
        load->offset - map.offset + (load->rows - 1) * load->row_pitch + row_bytes(*load);
    c.arrived = std::uint32_t(std::clamp<std::int64_t>(ceil_div(end, map.row_pitch), 1, map.height));
  }
  return waits_for_rows(program) ? map.height : 0;
}

bool waits_for_rows(const Program& program) {
  return std::any_of(program.commands.begin(), program.commands.end(),
                     [](const Command& c) { return c.arrived > 0; });
}

std::vector<int> rows_stored(const Program& program, const Graph& graph) {
  if (!all_on_device(program) || graph.outputs.size() != 1 || program.outputs.size() != 1) return {};
  const MemoryOutput& output = program.outputs.front();
  if (output.tensor != graph.outputs.front() || output.parts.size() != 1) return {};
  const MemoryLayout& map = output.parts.front().layout;
  // The last STORE of each row.
  std::vector<int> last(std::size_t(map.height), 0);
  int stores = 0;
  for (const Command& c : program.commands) {
    const auto* store = std::get_if<StoreCommand>(&c.body);
    if (store == nullptr) continue;
    stores++;
    if (store->base != map.base) continue;
    const std::int64_t first = (store->offset - map.offset) / map.row_pitch;
    for (std::int64_t row = first; row < std::min<std::int64_t>(first + store->rows, map.height); row++)
      last[std::size_t(row)] = stores;
  }
  if (std::count(last.begin(), last.end(), 0) > 0) return {};
  std::vector<int> rows(std::size_t(stores) + 1, 0);
  int row = 0;
  for (int n = 0; n <= stores; n++) {
    while (row < map.height && last[std::size_t(row)] <= n) row++;
    rows[std::size_t(n)] = row;
  }
  return rows;
}

}  // namespace kaiten
