// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The row of a map that is written next, where both SB and VB keep it: its slot in each ring, and its bank offset. A
// cursor is set to a row and goes down one row at a time; a ring's first slot follows its last one.
module kt_row_cursor
  import kt_pkg::*;
(
  input  logic       clk_i,
  input  logic       set_i,          // to the row with these slots and this number mod 3
  input  addr_t      sb_slot_i,
  input  addr_t      vb_slot_i,
  input  logic [1:0] row_mod3_i,
  input  logic       next_i,         // the row below; set_i goes first
  input  ring_t      sb_ring_i,
  input  ring_t      vb_ring_i,
  output addr_t      sb_slot_o,
  output addr_t      vb_slot_o,
  output logic [3:0] bank_offset_o   // see bank_req
);

  addr_t      sb_slot_q, vb_slot_q;
  logic [1:0] mod3_q;

  always_ff @(posedge clk_i) begin
    if (set_i) begin
      sb_slot_q <= sb_slot_i;
      vb_slot_q <= vb_slot_i;
      mod3_q    <= row_mod3_i;
    end else if (next_i) begin
      sb_slot_q <= next_slot(sb_ring_i, sb_slot_q);
      vb_slot_q <= next_slot(vb_ring_i, vb_slot_q);
      mod3_q    <= add3(mod3_q, 2'd1);
    end
  end

  assign sb_slot_o     = sb_slot_q;
  assign vb_slot_o     = vb_slot_q;
  assign bank_offset_o = row_bank(mod3_q);

endmodule
