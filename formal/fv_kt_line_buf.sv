// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Line buffer: every tap of every window is the cell that was last read into its column and row, or a pad value; no word
// read for a cell outside the map is ever seen. One place (column of the ring, row), picked at power-up, is followed
// against a plain account of the reads: a 3x3 read fills column col_i, with stride 2 also the next one (behind column 3 comes
// column 0), a wide one columns 0 to 2. All inputs are free, so reads may come in any order: that windows see the
// columns of the map in order is the sequencer's part.
module fv_kt_line_buf #(
  parameter int unsigned Cp = 1
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic [7:0]      push_pad_i,
  input logic            push_i,
  input logic            wide_i,
  input logic            two_i,
  input logic [1:0]      col_i,
  input logic            outside_i[3],
  input logic [Cp*8-1:0] word_i[9],
  input logic [7:0]      win_pad_i,
  input logic            win_wide_i,
  input logic [1:0]      win_col_i,
  input logic [2:0]      edge_i,
  input logic [1:0]      pick_col_i,
  input logic [1:0]      pick_row_i
);
  logic signed [7:0] act[Cp*9];
  kt_line_buf #(
    .Cp(Cp)
  ) dut (
    .clk_i,
    .push_pad_i,
    .push_i,
    .wide_i,
    .two_i,
    .col_i,
    .outside_i,
    .word_i,
    .win_pad_i,
    .win_wide_i,
    .win_col_i,
    .edge_i,
    .act_o(act)
  );
  `include "fv_reset.svh"

  // ---- the place and what was read into it last
  logic [1:0]      col_q, row;
  logic [1:0]      row_q;
  logic            known_q;
  logic [Cp*8-1:0] cell_q;
  always_ff @(posedge clk_i) begin
    if (!past_ok_q) begin
      col_q <= pick_col_i;
      row_q <= pick_row_i;
    end
  end
  assign row = (row_q == 2'd3) ? 2'd0 : row_q;

  logic            hits;
  logic [Cp*8-1:0] cell_;
  always_comb begin
    hits  = 1'b0;
    cell_ = '0;
    if (wide_i) begin
      if (col_q != 2'd3) begin
        hits  = 1'b1;
        cell_ = word_i[3*4'(col_q)+4'(row)];
      end
    end else if (two_i && col_q == 2'(col_i + 2'd1)) begin
      hits  = 1'b1;
      cell_ = word_i[4'd3+4'(row)];
    end else if (col_q == col_i) begin
      hits  = 1'b1;
      cell_ = word_i[4'(row)];
    end
    if (outside_i[row]) cell_ = {Cp{push_pad_i}};
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_q <= 1'b0;
    else if (past_ok_q && push_i && hits) known_q <= 1'b1;
    if (push_i && hits) cell_q <= cell_;
  end

  // ---- every window column that shows the place, and every one that shows none
  logic [2:0] shows;
  for (genvar c = 0; c < 3; c++) begin : g_column
    logic [Cp*8-1:0] tap;
    for (genvar k = 0; k < int'(Cp); k++) begin : g_channel
      assign tap[8*k+:8] = act[(3*c+32'(row))*Cp+k];
    end
    assign shows[c] = !edge_i[c] && col_q == (win_wide_i ? 2'(c) : 2'(win_col_i + 2'(c)));
    `FV_ASSERT(a_cell, !(past_ok_q && known_q && shows[c]) || tap == cell_q)
    `FV_ASSERT(a_edge, !edge_i[c] || tap == {Cp{win_pad_i}})
  end
  `FV_ASSERT(i_place, !(past_ok_q && known_q) || dut.ring_q[row][col_q] == cell_q)

  `FV_COVER(c_wrap, known_q && push_i && two_i && !wide_i && col_i == 2'd3 && col_q == 2'd0 && shows[2])
  `FV_COVER(c_wide, known_q && push_i && wide_i && shows[1] && row == 2'd2 && !outside_i[2])
endmodule
