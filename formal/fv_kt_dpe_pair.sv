// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// A chain of two rows that share their multipliers is one of two of kt_dpe_row_pipelined: all weights, loads and swaps are
// free. A prover cannot multiply, so activations are 0 and -128 here, which make the longest sums, or (Ones) 0 and 1; that
// multipliers multiply, and that rows add their chains, is tested (dpe_rows_test, conv_path_test).
module fv_kt_dpe_pair
  import kt_array_pkg::*;
#(
  parameter int unsigned Chain       = 8,
  parameter int unsigned MultiplierW = 25,
  parameter bit          Ones        = 0
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               act_i[Chain],  // whether an activation is -128, or 1
  input logic [Chain-1:0]   swap_i,
  input logic [Chain-1:0]   load_i,
  input logic signed [7:0]  weight_i[2][Chain],
  input logic signed [31:0] extra_i
);
  `include "fv_reset.svh"

  logic signed [7:0] act[Chain];
  pair_weight_t      pair[Chain];
  for (genvar i = 0; i < int'(Chain); i++) begin : g_in
    assign act[i]  = Ones ? {7'd0, act_i[i]} : {act_i[i], 7'd0};
    assign pair[i] = pair_weight(weight_i[0][i], weight_i[1][i]);
  end

  logic signed [31:0] sum[2], ref_sum[2], unused_second[2], unused_ref_second[2];  // ref: of kt_dpe_row_pipelined
  kt_dpe_pair #(
    .Taps       (Chain),
    .Chain      (Chain),
    .MultiplierW(MultiplierW)
  ) dut (
    .clk_i,
    .act_i   (act),
    .swap_i,
    .load_i,
    .weight_i(pair),
    .extra_i,
    .two_i   (1'b0),
    .sum_o   (sum),
    .second_o(unused_second)
  );
  for (genvar r = 0; r < 2; r++) begin : g_row
    kt_dpe_row_pipelined #(
      .Taps (Chain),
      .Chain(Chain)
    ) row (
      .clk_i,
      .act_i   (act),
      .swap_i,
      .load_i,
      .weight_i(weight_i[r]),
      .extra_i,
      .two_i   (1'b0),
      .sum_o   (ref_sum[r]),
      .second_o(unused_ref_second[r])
    );
  end

  // ---- rows begin with any weights: known are those that came with a load and were swapped in, and the sums of such
  logic [Chain-1:0] loaded_q, known_q, summed_q;
  logic             out_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q <= '0;
      known_q  <= '0;
      summed_q <= '0;
      out_q    <= 1'b0;
    end else begin
      loaded_q <= loaded_q | load_i;
      known_q  <= known_q | (loaded_q & swap_i);
      for (int unsigned k = 0; k < Chain; k++) summed_q[k] <= known_q[k] && (k == 0 || summed_q[(k == 0) ? 0 : k-1]);
      out_q    <= summed_q[Chain-1];
    end
  end

  `FV_ASSERT(a_lower, !out_q || sum[0] == ref_sum[0])
  `FV_ASSERT(a_upper, !out_q || sum[1] == ref_sum[1])

  // ---- invariants
  localparam int unsigned Shift  = MultiplierW - 9;
  localparam int unsigned SumW   = 16 + $clog2(Chain);
  localparam int unsigned Carry  = pair_carry(Chain, Shift);
  localparam logic signed [63:0] Offset = (64'sd1 <<< (Shift + Carry - 1)) - 64'sd1;
  `FV_ASSERT(i_order, (known_q & ~loaded_q) == '0 && (summed_q & ~known_q) == '0 && (summed_q & ~Chain'({summed_q, 1'b1})) == '0)
  for (genvar k = 0; k < int'(Chain); k++) begin : g_tap
    logic signed [7:0]      lower_shadow, upper_shadow, lower, upper;
    logic signed [SumW-1:0] lower_sum, upper_sum;
    assign lower_shadow = g_row[0].row.gen_chain[0].gen_tap[k].shadow_q;
    assign upper_shadow = g_row[1].row.gen_chain[0].gen_tap[k].shadow_q;
    assign lower        = g_row[0].row.gen_chain[0].gen_tap[k].weight_q;
    assign upper        = g_row[1].row.gen_chain[0].gen_tap[k].weight_q;
    assign lower_sum    = g_row[0].row.gen_chain[0].gen_tap[k].sum_q;
    assign upper_sum    = g_row[1].row.gen_chain[0].gen_tap[k].sum_q;
    `FV_ASSERT(i_shadow, !loaded_q[k] || dut.gen_chain[0].gen_tap[k].shadow_q == pair_weight(lower_shadow, upper_shadow))
    `FV_ASSERT(i_both, !known_q[k] || 64'(dut.gen_chain[0].gen_tap[k].both_q) == (64'(upper) <<< Shift) + 64'(lower))
    `FV_ASSERT(i_bound, !summed_q[k] || (32'(lower_sum) <= 32'sd16384 * (k + 1) && 32'(lower_sum) >= -32'sd16256 * (k + 1)
                                         && 32'(upper_sum) <= 32'sd16384 * (k + 1) && 32'(upper_sum) >= -32'sd16256 * (k + 1)))
    `FV_ASSERT(i_sum, !summed_q[k] || 64'(dut.gen_chain[0].gen_tap[k].sum_q)
                                      == (64'(upper_sum) <<< Shift) + 64'(lower_sum) + Offset)
    if (Carry != 0) begin : g_carry
      `FV_ASSERT(i_carried, !known_q[k] || dut.gen_chain[0].gen_carry.gen_tap[k].weight_q == upper[Carry-1:0])
      `FV_ASSERT(i_last, !summed_q[k] || dut.gen_chain[0].gen_carry.gen_tap[k].sum_q == upper_sum[Carry-1:0])
    end
  end

  `FV_COVER(c_sum, out_q && sum[0] != '0 && sum[1] != sum[0])
endmodule
