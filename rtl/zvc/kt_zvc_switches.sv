// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A network of two-by-two switches over the lanes of a beat, set by kt_zvc_routes. Upwards through the stages it moves
// the marked lanes side by side (Scatter = 0); downwards, with the same settings, it moves them back (Scatter = 1). It
// only ever permutes the lanes, so nothing is lost whatever the settings are, and one direction undoes the other.
module kt_zvc_switches #(
  parameter int unsigned Lanes   = 16,  // power of two
  parameter int unsigned ElemW   = 8,
  parameter bit          Scatter = 1'b0,
  localparam int unsigned LaneW  = $clog2(Lanes)
) (
  input  logic                          en_i,  // low: the output is anything (idle, for the simulation)
  input  logic [LaneW-1:0][Lanes-1:0] route_i,
  input  logic [ElemW-1:0]              elem_i[Lanes],
  output logic [ElemW-1:0]              elem_o[Lanes]
);

  // Two stages at a time: one four-to-one multiplexer a bit, which is what a six-input LUT holds. `last` is the later
  // of the two stages, `other` the earlier one; where their number is odd, the last step has only `last`.
  always_comb begin
    automatic logic [ElemW-1:0] now [Lanes];
    automatic logic [ElemW-1:0] next[Lanes];
    now  = '{default: 'x};
    next = '{default: 'x};
    if (en_i) begin
      now = elem_i;
      for (int unsigned step = 0; step < LaneW; step += 2) begin
        automatic bit          single = step + 1 == LaneW;
        automatic int unsigned other  = Scatter ? LaneW - 1 - step : step;
        automatic int unsigned last   = single ? other : Scatter ? other - 1 : other + 1;
        automatic logic [Lanes-1:0] last_route  = route_i[last];
        automatic logic [Lanes-1:0] other_route = single ? '0 : route_i[other];
        for (int unsigned i = 0; i < Lanes; i++) begin
          automatic int unsigned far   = i ^ (1 << last);
          automatic logic        swap  = last_route[i];
          automatic logic        early = other_route[swap?far:i];
          next[i] = early ? (swap ? now[far^(1<<other)] : now[i^(1<<other)]) : (swap ? now[far] : now[i]);
        end
        now = next;
      end
    end
    elem_o = now;
  end

endmodule
