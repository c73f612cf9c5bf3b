// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Row cursor: n rows below the row it was set to, r, it stands in slot (s + n) mod slots of each ring, s the number of r's
// slot, and its bank offset is 3 (r + n) mod 9. Rings are any of 1 to 8 slots, their sizes, places and the row any.
module fv_kt_row_cursor
  import kt_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input logic       set_i,
  input logic       next_i,
  input logic [2:0] sb_last_i,    // number of the last slot
  input logic [2:0] vb_last_i,
  input logic [2:0] sb_number_i,  // of the slot that the cursor is set to
  input logic [2:0] vb_number_i,
  input addr_t      sb_first_i,
  input addr_t      vb_first_i,
  input addr_t      sb_size_i,
  input addr_t      vb_size_i,
  input logic [7:0] row_i
);
  `include "fv_reset.svh"

  // ---- rings stay from one set to the next
  logic       here_q;
  logic [2:0] sb_last_q, vb_last_q;
  addr_t      sb_first_q, vb_first_q, sb_size_q, vb_size_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) here_q <= 1'b0;
    else if (set_i) here_q <= 1'b1;
    if (set_i) begin
      {sb_last_q, vb_last_q}   <= {sb_last_i, vb_last_i};
      {sb_first_q, vb_first_q} <= {sb_first_i, vb_first_i};
      {sb_size_q, vb_size_q}   <= {sb_size_i, vb_size_i};
    end
  end

  function automatic addr_t slot(addr_t first, addr_t size, logic [2:0] number);
    return first + (number[0] ? size : '0) + (number[1] ? size << 1 : '0) + (number[2] ? size << 2 : '0);
  endfunction
  function automatic ring_t ring(addr_t first, addr_t size, logic [2:0] last);
    return '{first: first, last: slot(first, size, last), size: size};
  endfunction
  // slots differ: a ring lies in a memory of 2^16 addresses
  function automatic logic legal(addr_t first, addr_t size, logic [2:0] last);
    return size != '0 && 20'(first) + 20'(size) * 20'd8 <= 20'h10000 && last <= 3'd7;
  endfunction
  `FV_ASSUME(m_rings, !set_i || (legal(sb_first_i, sb_size_i, sb_last_i) && legal(vb_first_i, vb_size_i, vb_last_i) &&
             sb_number_i <= sb_last_i && vb_number_i <= vb_last_i))

  addr_t      sb_slot, vb_slot;
  logic [3:0] bank_offset;
  kt_row_cursor dut (
    .clk_i,
    .set_i,
    .sb_slot_i    (slot(sb_first_i, sb_size_i, sb_number_i)),
    .vb_slot_i    (slot(vb_first_i, vb_size_i, vb_number_i)),
    .row_mod3_i   (2'(row_i % 8'd3)),
    .next_i,
    .sb_ring_i    (ring(sb_first_q, sb_size_q, sb_last_q)),
    .vb_ring_i    (ring(vb_first_q, vb_size_q, vb_last_q)),
    .sb_slot_o    (sb_slot),
    .vb_slot_o    (vb_slot),
    .bank_offset_o(bank_offset)
  );

  // ---- the row, counted, and the numbers of its slots
  logic [7:0] row_q;
  logic [2:0] sb_number_q, vb_number_q;
  always_ff @(posedge clk_i) begin
    if (set_i) begin
      row_q       <= row_i;
      sb_number_q <= sb_number_i;
      vb_number_q <= vb_number_i;
    end else if (next_i) begin
      row_q       <= (row_q == 8'd251) ? 8'd0 : row_q + 8'd1;  // 252 is a multiple of 3
      sb_number_q <= (sb_number_q == sb_last_q) ? 3'd0 : sb_number_q + 3'd1;
      vb_number_q <= (vb_number_q == vb_last_q) ? 3'd0 : vb_number_q + 3'd1;
    end
  end
  `FV_ASSUME(m_row, row_i < 8'd252)

  `FV_ASSERT(a_sb, !here_q || sb_slot == slot(sb_first_q, sb_size_q, sb_number_q))
  `FV_ASSERT(a_vb, !here_q || vb_slot == slot(vb_first_q, vb_size_q, vb_number_q))
  `FV_ASSERT(a_bank, !here_q || 32'(bank_offset) == 3 * 32'(row_q) % 9)
  `FV_ASSERT(i_legal, !here_q || (legal(sb_first_q, sb_size_q, sb_last_q) && legal(vb_first_q, vb_size_q, vb_last_q) &&
             sb_number_q <= sb_last_q && vb_number_q <= vb_last_q && row_q < 8'd252))

  `FV_COVER(c_wraps, here_q && past_ok_q && next_i && sb_number_q == sb_last_q && sb_last_q == 3'd2 && vb_number_q == 3'd3 &&
            row_q % 8'd3 == 8'd2 && sb_slot != sb_first_q)
endmodule
