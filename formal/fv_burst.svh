// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What every burst on the bus keeps to; in a module with AddrW, BeatW, LaneW, Lanes and MaxBeats.
  // A burst {beat address, len} keeps inside a page and the bound.
  function automatic logic burst_ok(logic [BeatW+7:0] b);
    logic [AddrW-1:0] first, last;
    first = {b[BeatW+7:8], {LaneW{1'b0}}};
    last  = first + AddrW'(32'(b[7:0]) * Lanes);
    return b[7:0] < 8'(MaxBeats) && first[AddrW-1:12] == last[AddrW-1:12] && last >= first;
  endfunction
