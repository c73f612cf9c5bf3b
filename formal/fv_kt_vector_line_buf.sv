// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Line buffer of the vector engine: every cell of every column is that of the last push into it, or what stands for a cell off the
// map or a row that the kernel does not have. One cell, picked at power-up, is watched; pushes are free.
module fv_kt_vector_line_buf
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp = 2,
  localparam int unsigned Cells = 9 * Cp
) (
  input logic            clk_i,
  input logic            rst_ni,
  input vec_push_t       push_i,
  input logic [Cp*8-1:0] word_i[9],
  input logic [1:0]      pick_column_i,
  input logic [3:0]      pick_word_i,  // 3 * row + group
  input logic [3:0]      pick_byte_i
);
  logic signed [7:0] column[4][Cells];
  kt_vector_line_buf #(
    .Cp(Cp)
  ) dut (
    .clk_i,
    .push_i,
    .word_i,
    .column0_o(column[0]),
    .column1_o(column[1]),
    .column2_o(column[2]),
    .column3_o(column[3])
  );
  `include "fv_reset.svh"

  logic [1:0] column_q;
  logic [3:0] word_q, byte_q;
  logic       known_q;
  logic [7:0] value_q;
  wire [1:0]  row = 2'(word_q / 4'd3);
  wire        there = word_q < 4'd9 && 32'(byte_q) < Cp;
  wire        hit = past_ok_q && there && push_i.valid && push_i.column == column_q;
  always_ff @(posedge clk_i) begin
    if (!past_ok_q) begin
      column_q <= pick_column_i;
      word_q   <= pick_word_i;
      byte_q   <= pick_byte_i;
    end
    if (hit) begin
      value_q <= push_i.missing[row] ? push_i.neutral : push_i.off_map[row] ? push_i.pad_value : word_i[word_q][8*byte_q+:8];
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= 1'b0;
    else if (hit) known_q <= 1'b1;
  end
  `FV_ASSERT(a_cell, !known_q || column[column_q][32'(word_q)*Cp+32'(byte_q)] == value_q)
  `FV_ASSERT(i_pick, !known_q || there)

  `FV_COVER(c_missing, known_q && hit && push_i.missing == 3'b100 && push_i.off_map == 3'b101 && word_q == 4'd8 && value_q == 8'h77)
endmodule
