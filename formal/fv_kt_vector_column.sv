// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Column of the vector engine's window: its cells are those of the line buffer's column that the step names or, outside the map, padding
// in the kernel's rows and what changes nothing in the others; they are multiplied with the weights that were current or
// became so with them, less the zero point; the three of a lane are added, or the largest is taken.
// One lane, picked at power-up; any steps, weights at any time. With KT_FAST_SIM the same of what fast simulators run.
module fv_kt_vector_column
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp     = 1,
  parameter int unsigned Column = 2,
  localparam int unsigned Lanes  = 3 * Cp,
  localparam int unsigned LanesP = array_size(Lanes),
  localparam int unsigned Cells  = array_size(9 * Cp)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input vec_token_t        window_i,
  input vec_token_t        product_i,
  input logic signed [7:0] column_i[4][Cells],
  input logic              shadow_we_i,
  input logic              row_we_i,
  input logic signed [7:0] weight_i[Cells],
  input logic [7:0]        zero_i,
  input logic [1:0]        pick_i
);
  logic signed [7:0]  cells[Cells];
  logic signed [31:0] sum[LanesP];
  kt_vector_column #(
    .Cp    (Cp),
    .Column(Column)
  ) dut (
    .clk_i,
    .window_i,
    .product_i,
    .column0_i(column_i[0]),
    .column1_i(column_i[1]),
    .column2_i(column_i[2]),
    .column3_i(column_i[3]),
    .shadow_we_i,
    .row_we_i,
    .weight_i,
    .zero_i,
    .cell_o   (cells),
    .sum_o    (sum)
  );
  `include "fv_reset.svh"

  // ---- the picked lane: its cells, weights and zero point, those that come next too; row 0 is the uppermost
  typedef logic signed [7:0] rows_t[3];
  logic [1:0] lane_q;
  always_ff @(posedge clk_i) if (!past_ok_q) lane_q <= pick_i;
  `FV_ASSUME(m_lane, !past_ok_q || 32'(lane_q) < Lanes)

  logic              full_q, given_q, weighed_q;  // something stands there
  rows_t             cell_q, next_q, weight_q;
  logic signed [7:0] next_zero_q, zero_q;
  wire               takes = window_i.valid && window_i.columns[Column];
  wire [1:0]         from  = 2'(32'(window_i.left) + Column);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q    <= 1'b0;
      given_q   <= 1'b0;
      weighed_q <= 1'b0;
    end else begin
      full_q  <= full_q || takes;
      given_q <= given_q || shadow_we_i;
      if (row_we_i || (window_i.swap && window_i.kind == KindAverage)) weighed_q <= 1'b1;
      else if (window_i.swap_weights) weighed_q <= given_q;
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned r = 0; r < 3; r++) begin
      if (takes) begin
        if (!window_i.off_map[Column]) cell_q[r] <= column_i[from][r*Lanes+32'(lane_q)];
        else if (window_i.rows[r]) cell_q[r] <= window_i.pad_value;
        else cell_q[r] <= (window_i.kind == KindMaximum) ? -8'sd128 : 8'sd0;
      end
      if (shadow_we_i) next_q[r] <= weight_i[r*Lanes+32'(lane_q)];
      if (row_we_i) weight_q[r] <= weight_i[r*Lanes+32'(lane_q)];
      else if (window_i.swap && window_i.kind == KindAverage) weight_q[r] <= 8'sd1;
      else if (window_i.swap_weights) weight_q[r] <= next_q[r];
    end
    if (shadow_we_i) next_zero_q <= zero_i;
    if (row_we_i) zero_q <= zero_i;
    else if (window_i.swap && window_i.kind == KindAverage) zero_q <= '0;
    else if (window_i.swap_weights) zero_q <= next_zero_q;
  end

  for (genvar r = 0; r < 3; r++) begin : g_row
    `FV_ASSERT(a_cell, !full_q || cells[r*Lanes+32'(lane_q)] == cell_q[r])
    `FV_ASSERT(a_weight, !weighed_q || dut.weight_q[r*Lanes+32'(lane_q)] == weight_q[r])
    `FV_ASSERT(i_next, !given_q || dut.shadow_q[r*Lanes+32'(lane_q)] == next_q[r])
  end
  `FV_ASSERT(a_zero, !weighed_q || dut.zero_q == zero_q)
  `FV_ASSERT(i_next_zero, !given_q || dut.shadow_zero_q == next_zero_q)

  // ---- what the cells and weights that stand there come to, in every lane. A prover cannot multiply: the factors are formed as the
  // block forms them, and are the numbers they should be (a_factors).
  logic               largest_q, added_q;
  logic signed [31:0] want_q[Lanes];
  wire                works = product_i.valid && product_i.columns[Column];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      largest_q <= 1'b0;
      added_q   <= 1'b0;
    end else begin
      largest_q <= works && product_i.kind == KindMaximum;
      added_q   <= works && (product_i.kind == KindDepthwise || product_i.kind == KindAverage);
    end
  end
  for (genvar l = 0; l < int'(Lanes); l++) begin : g_lane
    logic signed [31:0] value[3], factor[3], most;
    for (genvar r = 0; r < 3; r++) begin : g_factor
      wire logic signed [7:0] here   = dut.cell_q[r*Lanes+l];
      wire logic signed [7:0] weight = dut.weight_q[r*Lanes+l];
`ifdef KT_FAST_SIM
      assign value[r]  = (32'(unsigned'(here)) ^ 32'h80) - 32'h80;
      assign factor[r] = (32'(unsigned'(weight)) ^ 32'h80) - (32'h80 + 32'(signed'(dut.zero_q)));
`else
      assign value[r]  = 32'(here);
      assign factor[r] = 32'(signed'(9'(weight) - 9'(signed'(dut.zero_q))));
`endif
      `FV_ASSERT(a_factors, value[r] == 32'(here) && factor[r] == 32'(weight) - 32'(signed'(dut.zero_q)))
    end
    always_comb begin
      most = (value[0] > value[1]) ? value[0] : value[1];
      if (value[2] > most) most = value[2];
    end
    always_ff @(posedge clk_i) begin
      want_q[l] <= (product_i.kind == KindMaximum) ? most : value[0] * factor[0] + value[1] * factor[1] + value[2] * factor[2];
    end
    `FV_ASSERT(a_sum, !added_q || sum[l] == want_q[l])
    `FV_ASSERT(a_largest, !largest_q || sum[l] == want_q[l])
  end

  `FV_COVER(c_swapped, added_q && zero_q == -8'sd3 && next_zero_q != zero_q && want_q[1] == 32'sd77 && lane_q == 2'd1)
  `FV_COVER(c_padded, largest_q && want_q[0] == -32'sd5 && cell_q[2] == -8'sd128)
endmodule
