// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Requantiser at full widths: the result of one lane, `Lane`, against kt_spec_pkg.sv, for rule `Rule`; every lane's validity, rule and parameters are free in each cycle. The proof has two halves, because no
// solver multiplies 32 by 31 bits: from the inputs to the multiplier (a_x), and from the exact product to the result
// (a_result). Between them stands a product that the harness forms of the same factors (i_product). Rule `float`, which rounds
// twice, is proved for products of up to 36 bits: all right shifts, results of up to 32. (kt_requant_exhaustive_test forms products,
// and has results in the whole range.) Definitions round magnitudes; the block works on two's complement throughout.
module fv_kt_requant
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_spec_pkg::*;
#(
  parameter logic [1:0]  Rule  = RuleDouble,
  parameter int unsigned Lanes = 2,
  parameter int unsigned Lane  = 1,
  parameter int unsigned Bits  = 62  // of the product's magnitude
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic [Lanes-1:0]   valid_i,
  input logic signed [31:0] acc_i  [Lanes],
  input logic signed [31:0] bias_i [Lanes],
  input logic signed [31:0] mult_i [Lanes],
  input logic signed [7:0]  shift_i[Lanes],
  input logic signed [7:0]  zero_i [Lanes],
  input logic signed [7:0]  low_i  [Lanes],
  input logic signed [7:0]  high_i [Lanes],
  input logic [1:0]         rule_i [Lanes],
  input logic               float_i
);
  logic [Lanes-1:0]  valid;
  logic signed [7:0] data[Lanes];
  kt_requant #(
    .Lanes(Lanes)
  ) dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .acc_i,
    .bias_i,
    .mult_i,
    .shift_i,
    .zero_i,
    .low_i,
    .high_i,
    .rule_i,
    .float_i,
    .valid_o(valid),
    .data_o (data)
  );
  `include "fv_reset.svh"

  typedef struct packed {
    logic signed [31:0] acc, bias, mult;
    logic signed [7:0]  shift, zero, low, high;
  } in_t;

  function automatic requant_params_t word_of(in_t in);
    return '{shift: in.shift, mult: in.mult, bias: in.bias};
  endfunction

  // what is multiplied, and what becomes of the rounded product
  function automatic whole_t factor_of(in_t in);
    return factor(Rule, in.acc, word_of(in));
  endfunction
  function automatic logic signed [7:0] result_of(whole_t y, in_t in);
    return stored(y, '{rule: Rule, zero: in.zero, low: in.low, high: in.high});
  endfunction

  // ---- the lane's values, cycle by cycle
  in_t    in, in1_q, in2_q, in3_q, in4_q, in5_q, in6_q;
  logic   here, here1_q, here2_q, here3_q, here4_q, here5_q, here6_q;
  whole_t product_q, y3_q, y4_q, y5_q, y6_q;  // the product, and what it rounds to
  assign here = valid_i[Lane] && rule_i[Lane] == Rule;
  assign in   = '{acc: acc_i[Lane], bias: bias_i[Lane], mult: mult_i[Lane], shift: shift_i[Lane], zero: zero_i[Lane],
                  low: low_i[Lane], high: high_i[Lane]};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {here1_q, here2_q, here3_q, here4_q, here5_q, here6_q} <= '0;
    else {here1_q, here2_q, here3_q, here4_q, here5_q, here6_q} <= {here, here1_q, here2_q, here3_q, here4_q, here5_q};
  end
  always_ff @(posedge clk_i) begin
    in1_q      <= in;
    in2_q      <= in1_q;
    in3_q      <= in2_q;
    in4_q      <= in3_q;
    in5_q      <= in4_q;
    in6_q      <= in5_q;
    product_q  <= 64'(dut.x_q[Lane]) * 64'(dut.mult1_q[Lane]);
    y3_q       <= rounded(Rule, product_q, in2_q.acc, word_of(in2_q));
    y4_q       <= y3_q;
    y5_q       <= y4_q;
    y6_q       <= y5_q;
  end

  // ---- environment: what the compiler sees to
  function automatic logic fits(whole_t x);
    return x == whole_t'(signed'(x[31:0]));
  endfunction
  logic some_float;
  always_comb begin
    some_float = 1'b0;
    for (int unsigned l = 0; l < Lanes; l++) if (valid_i[l] && rule_i[l] == RuleFloat) some_float = 1'b1;
  end
  `FV_ASSUME(m_float, float_i || !some_float)
  `FV_ASSUME(m_shift, !here || (in.shift >= -31 && in.shift <= ((Rule == RuleAverage) ? 0 : 31)))
  `FV_ASSUME(m_factors, !here || (in.mult >= 0 && fits(whole_t'(in.acc) + whole_t'(in.bias)) && fits(factor_of(in))))
  if (Rule == RuleAverage) begin : g_average
    `FV_ASSUME(m_cells, !here || in.bias >= 0)
  end
  // a product of 32 by 31 bits is within this: arithmetic that would cost the solver hours
  localparam whole_t Most = whole_t'(64'h4000_0000_0000_0000 - 64'h8000_0000);
  `FV_ASSUME(m_product, product_q <= Most && product_q >= -Most && (abs(product_q) >> Bits) == '0 && (Rule != RuleAverage || product_q >= 0))

  // ---- claims
  `FV_ASSERT(a_x, !here1_q || (whole_t'(dut.x_q[Lane]) == factor_of(in1_q) && dut.mult1_q[Lane] == in1_q.mult))
  `FV_ASSERT(i_product, !here2_q || (dut.whole_q[Lane] == product_q[62:31] && dut.fraction_q[Lane] == {1'b0, product_q[30:0]}))
  if (Rule == RuleFloat) begin : g_upper  // nothing is left for stage 4 to round
    `FV_ASSERT(i_upper, !here3_q || whole_t'(dut.upper_q[Lane]) == y3_q)
  end
  `FV_ASSERT(i_result, !here4_q || dut.data_q[Lane] == result_of(y4_q, in4_q))
  `FV_ASSERT(i_late, !here5_q || dut.late_q[Lane] == result_of(y5_q, in5_q))
  `FV_ASSERT(a_valid, !here6_q || valid[Lane])
  `FV_ASSERT(a_result, !here6_q || data[Lane] == result_of(y6_q, in6_q))

  // ---- what travels beside them
  `FV_ASSERT(i_valid, here1_q <= dut.valid1_q[Lane] && here2_q <= dut.valid2_q[Lane] && here3_q <= dut.valid3_q[Lane] && here4_q <= dut.valid4_q[Lane] && here5_q <= dut.valid5_q[Lane])
  `FV_ASSERT(i_rules, (!here1_q || dut.rule1_q[Lane] == Rule) && (!here2_q || dut.rule2_q[Lane] == Rule))
  `FV_ASSERT(i_finish1, !here1_q || {dut.zero1_q[Lane], dut.low1_q[Lane], dut.high1_q[Lane]} == {in1_q.zero, in1_q.low, in1_q.high})
  `FV_ASSERT(i_finish2, !here2_q || {dut.zero2_q[Lane], dut.low2_q[Lane], dut.high2_q[Lane]} == {in2_q.zero, in2_q.low, in2_q.high})
  function automatic logic [7:0] right_of(in_t i);
    return (i.shift < 0) ? -i.shift : 8'd0;
  endfunction
  `FV_ASSERT(i_right, (!here1_q || dut.right1_q[Lane] == right_of(in1_q)) && (!here2_q || dut.right2_q[Lane] == right_of(in2_q)))
  `FV_ASSERT(i_shift, !here2_q || (in2_q.shift >= -31 && in2_q.shift <= 31))
  `FV_ASSERT(i_float, Rule != RuleFloat || ((!here1_q || dut.float1_q) && (!here2_q || dut.float2_q)))
  if (Rule == RuleAverage) begin : g_sign
    `FV_ASSERT(i_sign, (!here1_q || dut.gen_sign.neg1_q[Lane] == in1_q.acc[31]) && (!here2_q || dut.gen_sign.neg2_q[Lane] == in2_q.acc[31]))
  end else begin : g_no_sign
    `FV_ASSERT(i_sign, (!here1_q || !dut.gen_sign.neg1_q[Lane]) && (!here2_q || !dut.gen_sign.neg2_q[Lane]))
  end

  `FV_COVER(c_negative, here5_q && data[Lane] == -8'sd77 && in5_q.shift == -8'sd5 && in5_q.low < -8'sd100 && in5_q.mult[30])
  `FV_COVER(c_clamped, here5_q && here4_q && data[Lane] == in5_q.high && in5_q.high == 8'sd5 && in5_q.zero == 8'sd3)
endmodule
