// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Beats of the bus that commands cost: each request of a LOAD or STORE touches the words of the bus in which
// its bytes lie.
#ifndef KAITEN_PROGRAM_BUS_BEATS_H
#define KAITEN_PROGRAM_BUS_BEATS_H

#include <cstdint>

#include "program/command.h"
#include "program/config.h"
#include "program/program.h"

namespace kaiten {

struct BusBeats {
  std::int64_t read = 0;
  std::int64_t written = 0;
};

// What a command moves, without compression of maps; base registers point to words of the bus, as the driver
// lays them out.
BusBeats bus_beats(const CommandBody& body, const Config& config);
// The same, with it: as many beats as are expected (CommandMeta::packed), and the size surface.
BusBeats bus_beats(const CommandBody& body, const CommandMeta& meta, const Config& config);
// Bursts in which a LOAD asks for its raw beats: within a page each, of kBurstBeats at most (rtl/axi/kt_axi_rd.sv).
inline constexpr std::int64_t kBurstBeats = 16;
std::int64_t read_bursts(const CommandBody& body, const Config& config);
// Of a run, the commands' own beats included.
BusBeats bus_beats(const Program& program);

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_BUS_BEATS_H
