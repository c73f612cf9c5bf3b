// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Places of a ring of Slots entries: one comes in at the tail, any number leaves at the head at once. The entries stay
// with the owner, who pushes only while level_o < Slots and drops no more than level_o.
module kt_ring #(
  parameter int unsigned Slots = 4,  // power of two, so that an index cannot leave the ring
  localparam int unsigned SlotW = $clog2(Slots)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic [SlotW:0]   drop_i,
  output logic [SlotW-1:0] head_o,   // the oldest entry
  output logic [SlotW-1:0] tail_o,   // where the next one goes
  output logic [SlotW:0]   level_o
);

  if (Slots < 2 || Slots != 1 << SlotW) begin : gen_check
    $error("kt_ring: Slots must be a power of two");
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_o  <= '0;
      tail_o  <= '0;
      level_o <= '0;
    end else begin
      head_o  <= head_o + SlotW'(drop_i);
      tail_o  <= tail_o + SlotW'(push_i);
      level_o <= level_o + (SlotW + 1)'(push_i) - drop_i;
    end
  end

endmodule
