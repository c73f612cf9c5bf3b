// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Clock gate. With KT_CLK_GATES defined a latch-and gate: en_i counts in the cycle before the edge and must be settled
// while the clock is low. Without it (FPGA synthesis, formal, debug models) the clock passes: whatever is gated must
// hold its state by itself when its enable is low, so both give the same behaviour; tests compare them cycle by cycle.
module kt_clk_gate (
  input  logic clk_i,
  input  logic en_i,
  output logic clk_o
);

`ifdef KT_CLK_GATES
  logic en_q;
  always_latch if (!clk_i) en_q = en_i;
  assign clk_o = clk_i & en_q;
`else
  logic unused_en;
  assign unused_en = en_i;
  assign clk_o     = clk_i;
`endif

endmodule
