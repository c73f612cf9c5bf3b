// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The requantiser as hardware is mapped from it, against kt_spec_pkg.sv: one lane at full widths, rule `Rule`, all sums and
// parameters that a command may have. Rule `float`, which rounds twice, is tested (kt_requant_exhaustive_test). No solver
// multiplies 32 by 31 bits, so the claim is a chain, a link a task, in which what is claimed by one is assumed by the next:
//   summed    what is multiplied is the sum and bias, or that of an average (a_factor)
//   lemmas    products of the factors' halves add up to the product of the factors, which is that of the sizes with the sign
//   small     the four products have no more bits than the block has room for (a_small)
//   kept      whatever they are, the block keeps their sum, nudged by the factor's sign (a_nudge, a_10 to a_11, a_kept)
//   rounded   whatever that sum's size is, the block rounds and clamps it as kt_spec_pkg does (a_result), shift by shift
module fv_kt_requant_lane
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_spec_pkg::*;
#(
  parameter int unsigned Rule = RuleDouble,
  parameter int unsigned Part = 0,  // summed, lemmas, small, kept, rounded
  parameter int From = -31,  // shifts of the last
  parameter int To = (Rule == RuleAverage) ? 0 : 30
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               valid_i,
  input logic signed [31:0] acc_i,
  input requant_params_t    word_i,
  input kt_spec_pkg::store_t store_i,
  // of the lemma
  input logic signed [63:0] x0_i,
  input logic signed [63:0] x1_i,
  input logic signed [63:0] m0_i,
  input logic signed [63:0] m1_i
);
  // ---- a value a cycle, or none: what comes with it, stage by stage
  typedef struct packed {
    logic               valid;
    logic signed [31:0] acc;
    requant_params_t    word;
    kt_spec_pkg::store_t store;
  } value_t;
  value_t at0, at1, at_q[5:2], out_q;
  assign at0 = '{valid: valid_i, acc: acc_i, word: word_i, store: store_i};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at1 <= '0;
      for (int unsigned s = 2; s <= 5; s++) at_q[s] <= '0;
      out_q <= '0;
    end else begin
      at1     <= at0;
      at_q[2] <= at1;
      for (int unsigned s = 3; s <= 5; s++) at_q[s] <= at_q[s-1];
      out_q <= at_q[5];
    end
  end

  logic signed [7:0] data;
  kt_requant_lane dut (
    .clk_i,
    .valid_i({at_q[5].valid, at_q[4].valid, at_q[3].valid, at_q[2].valid, at1.valid, at0.valid}),
    .acc_i,
    .bias_i (word_i.bias),
    .mult_i (word_i.mult),
    .shift_i(word_i.shift),
    .zero_i (store_i.zero),
    .low_i  (store_i.low),
    .high_i (store_i.high),
    .rule_i (2'(Rule)),
    .data_o (data)
  );
  `include "fv_reset.svh"

  // ---- what is multiplied
  function automatic whole_t factor_of(value_t v);
    whole_t sum;
    sum = whole_t'(v.acc) + whole_t'(v.word.bias);
    if (Rule == RuleAverage) return signed_as(whole_t'(v.acc), size_t'(2 * whole_t'(abs(whole_t'(v.acc))) + whole_t'(v.word.bias)));
    return sum;
  endfunction
  function automatic logic fits(whole_t x);
    return x == whole_t'($signed(x[31:0]));
  endfunction
  function automatic logic legal(value_t v);
    whole_t shifted;
    shifted = (v.word.shift > 0) ? factor_of(v) <<< v.word.shift[4:0] : factor_of(v);
    return v.word.mult >= 0 && v.word.shift >= -8'sd31 && v.word.shift <= ((Rule == RuleAverage) ? 8'sd0 : 8'sd30) &&
           v.store.low <= v.store.high && fits(factor_of(v)) && fits(shifted) && (Rule != RuleAverage || v.word.bias >= 0) &&
           v.store.rule == 2'(Rule);
  endfunction
  `FV_ASSUME(m_legal, !valid_i || legal(at0))

  logic factor_ok;
  assign factor_ok = !at_q[2].valid || (whole_t'(dut.x_q) == factor_of(at_q[2]) && dut.mult1_q == at_q[2].word.mult[30:0]);

  // ---- four products, as the block forms them: with the lower half of mult, and a cycle later with the upper one
  logic signed [17:0] x0, x1, m0, upper_x0, upper_x1, m1;
  logic signed [47:0] p00, p10, p01, p11;
  assign x0  = {1'b0, dut.x_q[16:0]};
  assign x1  = 18'($signed(dut.x_q[31:17]));
  assign m0  = {1'b0, dut.mult1_q[16:0]};
  assign p00 = 48'(x0 * m0);
  assign p10 = 48'(x1 * m0);
  assign upper_x0 = {1'b0, dut.x2_q[16:0]};
  assign upper_x1 = 18'($signed(dut.x2_q[31:17]));
  assign m1       = {4'd0, dut.mult2_q};
  assign p01      = 48'(upper_x0 * m1);
  assign p11      = 48'(upper_x1 * m1);
  logic small_ok;
  assign small_ok = p00[47:34] == '0 && p01[47:31] == '0 && p10 == 48'($signed(p10[31:0])) && p11 == 48'($signed(p11[28:0]));
  logic upper_ok;
  assign upper_ok = !at_q[3].valid || (whole_t'(dut.x2_q) == factor_of(at_q[3]) && dut.mult2_q == at_q[3].word.mult[30:17]);

  // ---- their sum with the nudge, addition by addition; a cycle later what the block keeps of it
  logic signed [63:0] with_10, with_10_q, with_01, with_11, kept_q;
  logic               negative_q;
  assign with_10 = 64'($signed({dut.p1, dut.p0[16:0]}));
  assign with_01 = 64'($signed({dut.p2, dut.p0_q}));
  assign with_11 = 64'($signed({dut.p3, dut.p2[16:0], dut.p0_q}));
  always_ff @(posedge clk_i) begin
    with_10_q  <= with_10;
    kept_q     <= with_11;
    negative_q <= factor_of(at_q[3]) < 0;
  end
  // double: half of a right shift's unit, by the sign; single, average: one less for what is negative
  function automatic whole_t nudge_of(logic minus, logic signed [7:0] shift);
    if (Rule == RuleDouble) return (shift >= 0) ? 0 : minus ? -whole_t'(2 ** 30) : whole_t'(2 ** 30);
    return minus ? -1 : 0;
  endfunction
  function automatic logic is_kept(whole_t product);
    return dut.p_q == 63'(product + nudge_of(negative_q, at_q[4].word.shift));
  endfunction

  // ---- the result, of the product that was there two cycles before; its size is any up to 2^31 times 2^31 - 1
  logic [63:0] size_q, size5_q, size6_q;
  always_ff @(posedge clk_i) begin
    size_q  <= 64'(dut.x_q);  // in the task, which cuts it, any number
    size5_q <= size_q;
    size6_q <= size5_q;
  end
  // of a factor that is shifted left first, which must fit as well
  localparam logic [63:0] Most = 64'h4000_0000_0000_0000 - 64'h8000_0000;
  wire small_size = size_q <= ((at_q[4].word.shift > 0) ? Most >> at_q[4].word.shift[4:0] : Most);
  wire kept_ok = !at_q[4].valid || is_kept(negative_q ? -whole_t'(size_q) : whole_t'(size_q));
  wire negative_ok = !at_q[4].valid || negative_q == (factor_of(at_q[4]) < 0);
  // the specification shifts the factor before it multiplies; an average's product is that of magnitudes
  function automatic logic signed [7:0] expected(size_t size, value_t v, int shift);
    requant_params_t word;
    whole_t          p;
    word       = v.word;
    word.shift = 8'(shift);
    p          = (Rule != RuleAverage && factor_of(v) < 0) ? -whole_t'(size) : whole_t'(size);
    if (shift > 0) p = p <<< shift;
    return stored(rounded(2'(Rule), p, v.acc, word), v.store);
  endfunction

  if (Part == 0) begin : g_summed
    `FV_ASSERT(a_factor, factor_ok)
    `FV_ASSERT(a_upper, upper_ok)
  end else if (Part == 1) begin : g_lemmas
    `FV_ASSERT(a_distributed, (x0_i + (x1_i <<< 17)) * (m0_i + (m1_i <<< 17)) ==
               x0_i * m0_i + ((x1_i * m0_i) <<< 17) + ((x0_i * m1_i) <<< 17) + ((x1_i * m1_i) <<< 34))
    `FV_ASSERT(a_sign, (-x0_i) * m0_i == -(x0_i * m0_i))
    `FV_ASSERT(a_halves, dut.x_q == (32'($signed(dut.x_q[31:17])) <<< 17) + 32'($signed({1'b0, dut.x_q[16:0]})))
  end else if (Part == 2) begin : g_small
    `FV_ASSERT(a_small, small_ok)
  end else if (Part == 3) begin : g_kept
    `FV_ASSUME(m_small, small_ok)
    `FV_ASSUME(m_factor, factor_ok)
    `FV_ASSUME(m_upper, upper_ok)
    `FV_ASSERT(a_nudge, !at_q[2].valid || dut.p0 == p00 + 48'(nudge_of(factor_of(at_q[2]) < 0, at_q[2].word.shift)))
    `FV_ASSERT(a_10, with_10 == 64'(dut.p0) + (64'(p10) <<< 17))
    `FV_ASSERT(a_held, !at_q[3].valid || 64'($signed({dut.p1_q, dut.p0_q})) == with_10_q)
    `FV_ASSERT(a_01, !at_q[3].valid || with_01 == with_10_q + (64'(p01) <<< 17))
    `FV_ASSERT(a_11, with_11 == with_01 + (64'(p11) <<< 34))
    `FV_ASSERT(a_kept, !at_q[4].valid || dut.p_q == kept_q[62:0])
    `FV_ASSERT(a_negative, negative_ok)
  end else begin : g_rounded
    `FV_ASSUME(m_size, small_size)
    `FV_ASSUME(m_kept, kept_ok)
    `FV_ASSUME(m_negative, negative_ok)
    for (genvar s = From; s <= To; s++) begin : g_shift
      `FV_ASSERT(a_result, !out_q.valid || out_q.word.shift != 8'(s) || data == expected(size6_q, out_q, s))
    end
  end

  // ---- what travels beside the value
  for (genvar s = 2; s <= 5; s++) begin : g_legal
    `FV_ASSERT(i_legal, !at_q[s].valid || legal(at_q[s]))
  end
  `FV_ASSERT(i_out_legal, !out_q.valid || legal(out_q))
  `FV_ASSERT(i_at1_legal, !at1.valid || legal(at1))
  `FV_ASSERT(i_sum, !at1.valid || (whole_t'(dut.sum_q) == factor_of(at1) && dut.mult0_q == at1.word.mult[30:0]))
  `FV_ASSERT(i_zeroth, !at1.valid || (dut.n0_q == 6'(31 - at1.word.shift) && dut.rule0_q == 2'(Rule) &&
             dut.zero0_q == at1.store.zero && dut.low0_q == at1.store.low && dut.high0_q == at1.store.high))
  `FV_ASSERT(i_first, !at_q[2].valid || (dut.n1_q == 6'(31 - at_q[2].word.shift) && dut.rule1_q == 2'(Rule) &&
             dut.c_sign_q == (dut.x_q[31] && (Rule != 32'(RuleDouble) || dut.n1_q[5]) && Rule != 32'(RuleFloat)) &&
             dut.c_30_q == (Rule == 32'(RuleDouble) ? dut.n1_q[5] : dut.c_sign_q) &&
             dut.c_low_q == (dut.c_sign_q && Rule != 32'(RuleDouble)) &&
             dut.zero1_q == at_q[2].store.zero && dut.low1_q == at_q[2].store.low && dut.high1_q == at_q[2].store.high))
  `FV_ASSERT(i_second, !at_q[3].valid || (dut.n2_q == 6'(31 - at_q[3].word.shift) && dut.rule2_q == 2'(Rule) &&
             dut.zero2_q == at_q[3].store.zero && dut.low2_q == at_q[3].store.low && dut.high2_q == at_q[3].store.high))
  `FV_ASSERT(i_third, !at_q[4].valid || (dut.n3_q == 6'(31 - at_q[4].word.shift) && dut.rule3_q == 2'(Rule) &&
             dut.zero3_q == at_q[4].store.zero && dut.low3_q == at_q[4].store.low && dut.high3_q == at_q[4].store.high))
  `FV_ASSERT(i_fourth, !at_q[5].valid || (dut.rule4_q == 2'(Rule) && dut.zero4_q == at_q[5].store.zero &&
             dut.low4_q == at_q[5].store.low && dut.high4_q == at_q[5].store.high))

  `FV_COVER(c_result, out_q.valid && out_q.word.shift == -8'sd5 && data > out_q.store.low && data < out_q.store.high && data == -8'sd77 &&
            at_q[5].valid && at_q[4].valid)
endmodule
