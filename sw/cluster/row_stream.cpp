// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/row_stream.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "cluster/fabric.h"
#include "compile/emit/cycle_model.h"
#include "program/arrivals.h"

namespace kaiten::cluster {

int RowStream::group() const { return int(ceil_div(std::uint64_t(kPacketBytes), row_bytes)); }

int RowStream::group_end(int first_row) const { return std::min(first_row + group(), rows); }

Int8Values RowStream::rows_of(const Int8Values& map, int first_row) const {
  const auto at = [&](int row) { return map.begin() + std::ptrdiff_t(std::uint64_t(row) * row_bytes); };
  return {at(first_row), at(group_end(first_row))};
}

RowStream stream_input(Program& first, Program& again, const Graph& graph, int told) {
  const auto place = [](const Program& p) {
    return p.inputs.size() == 1 ? p.inputs.front().layout.offset : std::int64_t(-1);
  };
  if (place(first) != place(again) || place(again) < 0) return {};
  if (told > 0 && again.inputs.front().layout.height != told) return {};
  Program* const programs[] = {&first, &again};
  int rows = 0;
  for (Program* p : programs) {
    rows = wait_for_rows(*p, graph);
    if (rows == 0) return {};
  }
  return {rows, std::uint64_t(again.inputs.front().layout.row_pitch), 0};
}

RowTimes arrivals(const Topology& topology, Endpoint source, Endpoint target, const RowStream& stream,
                  const RowTimes& made) {
  const bool of_chip = source != Endpoint(topology.chips.size());
  UpLink up(of_chip ? topology.chips[std::size_t(source)].bytes_per_cycle : 1);
  std::vector<Packet> packets;
  for (int row = 0; row < stream.rows; row = stream.group_end(row)) {
    const int end = stream.group_end(row);
    const auto at = std::uint64_t(made[std::size_t(end)]);
    for (std::uint64_t left = std::uint64_t(end - row) * stream.row_bytes; left > 0;) {
      const auto size = std::uint32_t(std::min<std::uint64_t>(left, kPacketBytes));
      left -= size;
      packets.push_back(
          {of_chip ? up.depart(at, size) : at, source, target, size, std::uint64_t(end), left == 0});
    }
  }
  RowTimes out(std::size_t(stream.rows) + 1, 0);
  Fabric fabric(topology);
  int row = 1;
  for (const Delivery& d : fabric.advance(packets, std::uint64_t(-1))) {
    if (!d.packet.last) continue;
    for (; row <= int(d.packet.message); row++) out[std::size_t(row)] = std::int64_t(d.time);
  }
  return out;
}

int rows_to_start(const Program& program, const RowTimes& arrived) {
  std::int64_t earliest = 0;
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const std::uint32_t rows = program.commands[i].arrived;
    if (rows > 0) earliest = std::max(earliest, arrived[rows] - program.meta[i].start);
  }
  const auto found = std::lower_bound(arrived.begin() + 1, arrived.end(), earliest);
  return int(std::min(found, arrived.end() - 1) - arrived.begin());
}

StreamedRun streamed_run(const Program& program, const Graph& graph, std::int64_t start,
                         const RowTimes& arrived) {
  RowTimes told(arrived.size());
  std::transform(arrived.begin(), arrived.end(), told.begin(),
                 [&](std::int64_t t) { return std::max<std::int64_t>(t - start, 0); });
  const std::vector<CommandTime> times = command_times(program, told);
  StreamedRun run;
  for (const CommandTime& t : times) run.complete = std::max(run.complete, start + t.complete);
  const std::vector<int> stored = rows_stored(program, graph);
  if (stored.empty()) return run;
  run.stored.assign(std::size_t(stored.back()) + 1, start);
  std::size_t row = 1, stores = 0;
  for (std::size_t i = 0; i < times.size(); i++) {
    if (program.commands[i].queue() != Queue::kStore) continue;
    const std::int64_t asked = align_up(times[i].complete, std::int64_t(kPollCycles));
    for (stores++; row <= std::size_t(stored[stores]); row++)
      run.stored[row] = std::min(start + asked, run.complete);
  }
  return run;
}

}  // namespace kaiten::cluster
