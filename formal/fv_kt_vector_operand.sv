// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Operands of additions at full widths, against kt_spec_pkg.sv: one lane, all values, all parameters that a command may have,
// whatever was written before. (Products of two cells are tested, kt_vector_test.) No solver multiplies 9 by 31 bits, so the
// claim is a chain, a link a task, in which what is claimed by one is assumed by the next:
//   lemmas    the block's halves of a factor make the factor, and products of the halves the product of the whole
//   made      what the block keeps is made of these two products (a_made)
//   small     they fit 27 and 23 bits, and each has the sign of the distance (a_small)
//   kept      whatever they are, it is their sum, nudged, over 2^10 (a_kept)
//   rounded   whatever that sum is, the block rounds it as kt_spec_pkg does (a_rounded)
module fv_kt_vector_operand
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_spec_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp   = 1,
  parameter int unsigned Lane = 2,
  parameter int unsigned Part = 0,  // lemmas, made, small, kept, rounded
  localparam int unsigned Lanes  = 3 * Cp,
  localparam int unsigned LanesP = array_size(Lanes),
  localparam int unsigned Cells  = array_size(9 * Cp)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              we_i,
  input logic [1:0]        we_operand_i,
  input requant_params_t   word_i,
  input logic              swap_i,
  input logic              valid_i,
  input logic [1:0]        next_operand_i,
  input logic              pair_i,
  input logic signed [7:0] cell_i[Cells],
  input logic              negate_i,
  input logic              negate_second_i,
  // of the lemma on products
  input logic signed [8:0]  d_i,
  input logic signed [31:0] low_i,
  input logic signed [31:0] high_i
);
  logic               valid1_q, pair1_q;
  logic signed [31:0] sum[LanesP];
  kt_vector_operand #(
    .Cp  (Cp),
    .Pair(1'b1)
  ) dut (
    .clk_i,
    .we_i,
    .we_operand_i,
    .word_i,
    .swap_i,
    .valid_i,
    .next_operand_i,
    .next_element_i  (ElementSum),
    .pair_i,
    .cell_i,
    .valid1_i        (valid1_q),
    .negate1_i       (negate_i),
    .pair1_i         (pair1_q),
    .negate_second1_i(negate_second_i),
    .sum_o           (sum)
  );
  `include "fv_reset.svh"

  logic [1:0] operand_q;  // of this cycle
  always_ff @(posedge clk_i) operand_q <= next_operand_i;

  // ---- parameters, as written
  requant_params_t shadow_q[4], word_q[4];
  always_ff @(posedge clk_i) begin
    if (we_i) shadow_q[we_operand_i] <= word_i;
    if (swap_i) word_q <= shadow_q;
  end
  function automatic logic sound(requant_params_t w);
    return w.bias >= -32'sd127 && w.bias <= 32'sd128 && w.mult >= 0 && w.shift <= 0 && w.shift >= -8'sd31;
  endfunction
  `FV_ASSUME(m_word, !we_i || sound(word_i))
  logic [3:0] written_q, current_q;  // by operand
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {written_q, current_q} <= '0;
    else begin
      if (we_i) written_q[we_operand_i] <= 1'b1;
      if (swap_i) current_q <= written_q;
    end
  end

  // ---- distance times factor, in two halves of the factor
  typedef struct packed {
    logic signed [31:0] low, high;
  } halves_t;
  function automatic logic signed [8:0] distance(logic signed [7:0] x, logic signed [8:0] bias);
    return 9'(x) + bias;
  endfunction
  function automatic halves_t halves_of(logic signed [8:0] d, logic signed [31:0] m);
    logic signed [17:0] low, high;
    low  = {1'b0, m[16:0]};
    high = 18'(m >>> 17);
    return '{low: 32'(d) * 32'(low), high: 32'(d) * 32'(high)};
  endfunction
  function automatic logic signed [40:0] whole_of(halves_t h);
    return 41'(h.low) + (41'(h.high) <<< 17);
  endfunction

  // ---- what comes of the cells, a cycle later
  requant_params_t    first, second;
  logic signed [7:0]  a, b;
  logic               sound1_q;
  requant_params_t    first1_q, second1_q;
  halves_t            p_q, p2_q;  // distance times factor
  logic               negative_q, negative2_q;
  assign first  = word_q[operand_q];
  assign second = word_q[1];
  assign a      = cell_i[Lane];
  assign b      = cell_i[Lanes+Lane];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {valid1_q, sound1_q} <= '0;
    else {valid1_q, sound1_q} <= {valid_i, current_q == '1};
  end
  always_ff @(posedge clk_i) begin
    pair1_q     <= pair_i;
    first1_q    <= first;
    second1_q   <= second;
    p_q         <= halves_of(distance(a, dut.now_q.bias), dut.now_q.mult);
    p2_q        <= halves_of(distance(b, dut.param_q[1].bias), dut.param_q[1].mult);
    negative_q  <= distance(a, dut.now_q.bias) < 0;
    negative2_q <= distance(b, dut.param_q[1].bias) < 0;
  end
  logic here, both;
  assign here = valid1_q && sound1_q;
  assign both = here && pair1_q;

  // as the block adds: the nudge to the first half, what that carries to the second
  function automatic logic signed [31:0] made_of(halves_t h, logic negative, logic [4:0] right);
    logic signed [31:0] p0, p1;
    p0 = h.low + 32'($signed({negative && right != '0, right != '0, 10'd0}));
    p1 = h.high + (p0 >>> 17);
    return {p1[24:0], p0[16:10]};
  endfunction
  // and what that is: the product, nudged where it is divided, of which what is above 2^10 is kept
  function automatic logic signed [31:0] kept_of(halves_t h, logic negative, logic [4:0] right);
    logic signed [41:0] nudge;
    nudge = (right == '0) ? 42'sd0 : negative ? -42'sd1024 : 42'sd1024;
    return 32'((42'(whole_of(h)) + nudge) >>> 10);
  endfunction
  function automatic logic is_small(halves_t h, logic negative);
    return h.low == 32'($signed(h.low[26:0])) && h.high == 32'($signed(h.high[22:0])) &&
           (negative ? h.low <= 0 && h.high <= 0 : h.low >= 0 && h.high >= 0);
  endfunction
  logic made_ok, kept_ok, small_ok;
  assign made_ok = (!here || dut.q_q[Lane] == made_of(p_q, negative_q, 5'(-first1_q.shift))) &&
                   (!both || dut.gen_pair.second_q[Lane] == made_of(p2_q, negative2_q, 5'(-second1_q.shift)));
  assign kept_ok = (!here || dut.q_q[Lane] == kept_of(p_q, negative_q, 5'(-first1_q.shift))) &&
                   (!both || dut.gen_pair.second_q[Lane] == kept_of(p2_q, negative2_q, 5'(-second1_q.shift)));
  assign small_ok = (!here || is_small(p_q, negative_q)) && (!both || is_small(p2_q, negative2_q));

  // ---- what is rounded of it: (distance * 2^20) * factor by RuleDouble
  function automatic logic signed [31:0] scaled(logic signed [40:0] p, int right);
    requant_params_t w;
    w       = '0;
    w.shift = 8'(-right);
    return 32'(rounded(RuleDouble, whole_t'(p) <<< 20, 32'sd0, w));
  endfunction
  function automatic logic signed [31:0] signed_as_told(logic signed [31:0] x, logic negate);
    return negate ? -x : x;
  endfunction

  if (Part == 0) begin : g_lemmas
    `FV_ASSERT(a_halves, word_i.mult == 32'($signed({1'b0, word_i.mult[16:0]})) + (32'($signed(18'(word_i.mult >>> 17))) <<< 17))
    `FV_ASSERT(a_distributed, 41'(d_i) * 41'(low_i) + ((41'(d_i) * 41'(high_i)) <<< 17) == 41'(d_i) * (41'(low_i) + (41'(high_i) <<< 17)))
  end else if (Part == 1) begin : g_made
    `FV_ASSERT(a_made, made_ok)
  end else if (Part == 2) begin : g_small
    `FV_ASSERT(a_small, small_ok)
  end else if (Part == 3) begin : g_kept
    `FV_ASSUME(m_made, made_ok)
    `FV_ASSUME(m_small, small_ok)
    `FV_ASSERT(a_kept, kept_ok)
  end else begin : g_rounded
    `FV_ASSUME(m_kept, kept_ok)
    `FV_ASSUME(m_small, small_ok)
    for (genvar r = 0; r < 32; r++) begin : g_right  // shift by shift, each of which is small
      `FV_ASSERT(a_rounded, !here || first1_q.shift != -8'(r) || sum[Lane] - dut.second[Lane] == signed_as_told(scaled(whole_of(p_q), r), negate_i))
      `FV_ASSERT(a_rounded2, !both || second1_q.shift != -8'(r) || dut.second[Lane] == signed_as_told(scaled(whole_of(p2_q), r), negate_second_i))
    end
    `FV_ASSERT(a_alone, !here || pair1_q || dut.second[Lane] == '0)
  end

  // ---- what lies in the block
  for (genvar o = 0; o < 4; o++) begin : g_word
    `FV_ASSERT(i_shadow, !written_q[o] || (sound(shadow_q[o]) && dut.shadow_q[o] == {shadow_q[o].bias[8:0], shadow_q[o].mult, 5'(-shadow_q[o].shift)}))
    `FV_ASSERT(i_word, !current_q[o] || (sound(word_q[o]) && dut.param_q[o] == {word_q[o].bias[8:0], word_q[o].mult, 5'(-word_q[o].shift)}))
  end
  `FV_ASSERT(i_now, !current_q[operand_q] || dut.now_q == {word_q[operand_q].bias[8:0], word_q[operand_q].mult, 5'(-word_q[operand_q].shift)})
  `FV_ASSERT(i_sum, current_q == '0 || !dut.product_q)
  `FV_ASSERT(i_right, !here || (dut.right_q == 5'(-first1_q.shift) && sound(first1_q)))
  `FV_ASSERT(i_right2, !both || (dut.gen_pair.second_right_q == 5'(-second1_q.shift) && sound(second1_q)))

  `FV_COVER(c_difference, here && pair1_q && negate_second_i && sum[Lane] < -32'sd1000 && first1_q.shift == -8'sd3)
endmodule
