// A network of two-by-two switches over the lanes of a beat, set by zvc_routes. Upwards through the stages it moves the
// marked lanes side by side (Scatter = 0); downwards, with the same settings, it moves them back (Scatter = 1). It only
// ever permutes the lanes, so nothing is lost whatever the settings are, and one direction undoes the other.
module zvc_switches #(
  parameter int unsigned Lanes   = 16,  // power of two
  parameter int unsigned ElemW   = 8,
  parameter bit          Scatter = 1'b0,
  localparam int unsigned LaneW  = $clog2(Lanes)
) (
  input  logic                          en_i,  // low: the output is anything (idle, for the simulation)
  input  logic [LaneW-1:0][Lanes/2-1:0] route_i,
  input  logic [ElemW-1:0]              elem_i[Lanes],
  output logic [ElemW-1:0]              elem_o[Lanes]
);

  always_comb begin
    automatic logic [ElemW-1:0] now [Lanes];
    automatic logic [ElemW-1:0] next[Lanes];
    now  = '{default: 'x};
    next = '{default: 'x};
    if (en_i) begin
      now = elem_i;
      for (int unsigned step = 0; step < LaneW; step++) begin
        automatic int unsigned s = Scatter ? LaneW - 1 - step : step;
        for (int unsigned i = 0; i < Lanes; i++) begin
          automatic logic [LaneW-2:0] at = (LaneW - 1)'(((i >> (s + 1)) << s) + (i & ((1 << s) - 1)));  // its switch
          next[i] = route_i[s][at] ? now[i^(1<<s)] : now[i];
        end
        now = next;
      end
    end
    elem_o = now;
  end

endmodule
