// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// One lane of kt_requant as FPGAs map it best: one product, one shift right by n = 31 - shift (0..62), one rounding.
//
//   x = acc + bias                          average: 2 * acc +- bias, by the sign of acc
//   p = x * mult + c                        c: double and shift < 0: +-2^30, by the sign of x
//                                              single, average: -1 for x < 0; otherwise 0
//   y = (p >> n) + u                        u: the bit below the point; average: 1 for p < 0
//   result = clamp(y + zero)
//
// It equals the chain of kt_requant because floors nest: left shift, >> 31 and the rounding shift are one shift.
// double: with no right shift left its nudge is the half that u rounds by; otherwise the nudge goes into c, and the
// second rounding, ties away from zero, is a floor of a number that is one nudge smaller for x < 0. What lies beyond
// -256..255 is clamped whatever the rest is, so the shifter keeps eight bits and looks whether all dropped ones equal
// the sign. float keeps 24 bits below the half, and whether anything is below those.
//
// Stage 0 adds the bias, stage 1 rounds for rule `float`, stages 2 and 3 multiply, by the lower and the upper half of
// mult. valid_i are the bits of the lane's wave in stages 0 to 5.
module kt_requant_lane
  import kt_cmd_pkg::*;
#(
  parameter bit Average = 1,
  parameter bit Float   = 1
) (
  input  logic               clk_i,
  input  logic [5:0]         valid_i,
  input  logic signed [31:0] acc_i,
  input  logic signed [31:0] bias_i,
  /* verilator lint_off UNUSEDSIGNAL */  // mult is not negative, shift within -31..31
  input  logic signed [31:0] mult_i,
  input  logic signed [7:0]  shift_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic signed [7:0]  zero_i,
  input  logic signed [7:0]  low_i,
  input  logic signed [7:0]  high_i,
  input  logic [1:0]         rule_i,
  output logic signed [7:0]  data_o
);

  // ---- what travels beside the value
  logic [5:0]        n0_q, n1_q, n2_q, n3_q;
  logic [1:0]        rule0_q, rule1_q, rule2_q, rule3_q, rule4_q;
  logic signed [7:0] zero0_q, zero1_q, zero2_q, zero3_q, zero4_q;
  logic signed [7:0] low0_q, low1_q, low2_q, low3_q, low4_q;
  logic signed [7:0] high0_q, high1_q, high2_q, high3_q, high4_q;

  always_ff @(posedge clk_i) begin
    if (|valid_i[4:0]) begin
      n0_q    <= {shift_i[5], ~shift_i[4:0]};  // 31 - shift
      n1_q    <= n0_q;
      n2_q    <= n1_q;
      n3_q    <= n2_q;
      rule0_q <= rule_i;
      rule1_q <= rule0_q;
      rule2_q <= rule1_q;
      rule3_q <= rule2_q;
      rule4_q <= rule3_q;
      zero0_q <= zero_i;
      zero1_q <= zero0_q;
      zero2_q <= zero1_q;
      zero3_q <= zero2_q;
      zero4_q <= zero3_q;
      low0_q  <= low_i;
      low1_q  <= low0_q;
      low2_q  <= low1_q;
      low3_q  <= low2_q;
      low4_q  <= low3_q;
      high0_q <= high_i;
      high1_q <= high0_q;
      high2_q <= high1_q;
      high3_q <= high2_q;
      high4_q <= high3_q;
    end
  end

  // ---- stage 0: sum
  logic               mean, minus;
  logic signed [31:0] sum_q;
  logic [30:0]        mult0_q;

  assign mean  = Average && (rule_i == RuleAverage);
  assign minus = mean && acc_i[31];

  always_ff @(posedge clk_i) begin
    if (valid_i[0]) begin
      sum_q   <= (mean ? acc_i <<< 1 : acc_i) + (bias_i ^ {32{minus}}) + 32'(minus);
      mult0_q <= mult_i[30:0];
    end
  end

  // ---- stage 1: x
  logic signed [31:0] x_q;
  logic        [6:0]  drop;  // float: ones below the last of 24 significant bits
  logic               tie_odd;
  logic [30:0]        mult1_q;
  logic               c_sign_q, c_30_q, c_low_q;  // bits 31, 30 and below of what rounds p

  logic twice, c_sign;
  assign twice  = rule0_q == RuleDouble;
  assign c_sign = sum_q[31] && (!twice || n0_q[5]) && !(Float && (rule0_q == RuleFloat));

  always_comb begin
    drop    = '0;
    tie_odd = 1'b0;
    if (Float && (rule0_q == RuleFloat)) begin
      for (int unsigned i = 0; i < 7; i++) begin
        for (int unsigned j = i; j < 7; j++) if (sum_q[24+j] != sum_q[31]) drop[i] = 1'b1;
      end
      for (int unsigned i = 1; i < 8; i++) if (drop[i-1] && (i == 7 || !drop[i]) && sum_q[i]) tie_odd = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[1]) begin
      x_q     <= Float ? (sum_q + 32'(drop >> 1) + 32'(tie_odd)) & ~32'(drop) : sum_q;
      mult1_q <= mult0_q;
      c_sign_q <= c_sign;
      c_30_q   <= twice ? n0_q[5] : c_sign;
      c_low_q  <= c_sign && !twice;
    end
  end

  // ---- stages 2 and 3: p, in parts of at most 18 bits, each added to the one before: DSP blocks and nothing else
  logic signed [17:0] x0, x1, m0;                // stage 2
  logic signed [17:0] upper_x0, upper_x1, m1;    // stage 3
  /* verilator lint_off UNUSEDSIGNAL */  // 48 bits, as the blocks add
  logic signed [47:0] p0, p1, p2, p3;
  /* verilator lint_on UNUSEDSIGNAL */
  logic signed [31:0] x2_q;
  logic [30:17]       mult2_q;
  logic [16:0]        p0_q;
  logic signed [32:0] p1_q;
  logic [62:0]        p_q;

  assign x0 = {1'b0, x_q[16:0]};
  assign x1 = 18'($signed(x_q[31:17]));
  assign m0 = {1'b0, mult1_q[16:0]};
  assign p0 = 48'(x0 * m0) + 48'($signed({c_sign_q, c_30_q, {30{c_low_q}}}));
  assign p1 = 48'(x1 * m0) + (p0 >>> 17);

  always_ff @(posedge clk_i) begin
    if (valid_i[2]) begin
      x2_q    <= x_q;
      mult2_q <= mult1_q[30:17];
      p0_q    <= p0[16:0];
      p1_q    <= p1[32:0];
    end
  end

  assign upper_x0 = {1'b0, x2_q[16:0]};
  assign upper_x1 = 18'($signed(x2_q[31:17]));
  assign m1       = {4'd0, mult2_q};
  assign p2       = 48'(upper_x0 * m1) + 48'(p1_q);
  assign p3       = 48'(upper_x1 * m1) + (p2 >>> 17);

  always_ff @(posedge clk_i) if (valid_i[3]) p_q <= {p3[28:0], p2[16:0], p0_q};

  // ---- stage 4: right by sixteens, fours and ones, keeping what stage 5 looks at
  localparam int unsigned Below = Float ? 25 : 1;  // bits below the point
  localparam int unsigned W3 = Below + 8;
  localparam int unsigned W2 = W3 + 3;
  localparam int unsigned W1 = W2 + 12;

  logic [W1+47:0] wide;
  logic [W1-1:0]  by16;
  logic [W2-1:0]  by4;
  logic           minus2, beyond, lost;
  logic [W3-1:0]  kept_q;
  logic           minus_q, beyond_q;
  /* verilator lint_off UNUSEDSIGNAL */  // by rule float only
  logic           lost_q;
  /* verilator lint_on UNUSEDSIGNAL */

  assign minus2 = p_q[62];
  assign wide   = (W1 + 48)'($signed({p_q, Below'(0)}));
  assign by16   = W1'(wide >> {n3_q[5:4], 4'd0});
  assign by4    = W2'(by16 >> {n3_q[3:2], 2'd0});

  // bit k: the shift is by more than k places of its kind
  function automatic logic [2:0] at_least(logic [1:0] count);
    return {count == 2'd3, count[1], count != 2'd0};
  endfunction

  always_comb begin
    automatic logic [2:0] step16 = at_least(n3_q[5:4]);
    automatic logic [2:0] step4  = at_least(n3_q[3:2]);
    automatic logic [2:0] step1  = at_least(n3_q[1:0]);
    beyond = 1'b0;
    lost   = 1'b0;
    for (int unsigned k = 0; k < 3; k++) begin
      if (!step16[k] && (wide[W1+16*k+:16] != {16{minus2}})) beyond = 1'b1;
      if (!step4[k] && (by16[W2+4*k+:4] != {4{minus2}})) beyond = 1'b1;
      if (!step1[k] && (by4[W3+k] != minus2)) beyond = 1'b1;
      if (step16[k] && (wide[16*k+:16] != '0)) lost = 1'b1;
      if (step4[k] && (by16[4*k+:4] != '0)) lost = 1'b1;
      if (step1[k] && by4[k]) lost = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[4]) begin
      kept_q   <= W3'(by4 >> n3_q[1:0]);
      minus_q  <= minus2;
      beyond_q <= beyond;
      lost_q   <= lost;
    end
  end

  // ---- stage 5: rounding, zero point, clamp
  logic               half, up;
  logic signed [8:0]  whole;
  logic signed [10:0] y;

  assign half  = kept_q[Below-1];
  assign whole = beyond_q ? {minus_q, {8{!minus_q}}} : {minus_q, kept_q[W3-1-:8]};
  if (Float) begin : gen_float
    // Of p's 24 bits `size` bits, as many as the whole part has, are not below the point: the half of an integer stands
    // for all that rounds to it there.
    logic [8:0]  size;
    logic [23:0] below;
    logic        ones, zeros, edge_even;
    assign below = kept_q[23:0];
    always_comb begin
      size = '0;
      for (int unsigned i = 0; i < 8; i++) begin
        for (int unsigned j = i; j < 8; j++) if (kept_q[Below+j] != minus_q) size[i] = 1'b1;
      end
    end
    assign ones      = &(below | 24'(size));
    assign zeros     = (below & ~24'(size)) == '0;
    assign edge_even = !lost_q && below == (24'({size[7:0], 1'b1}) & ~24'(size));
    assign up = (Average && (rule4_q == RuleAverage)) ? minus_q
              : ((rule4_q == RuleFloat) && (half ? zeros || edge_even : ones)) ? kept_q[Below] : half;
  end else begin : gen_half
    assign up = (Average && (rule4_q == RuleAverage)) ? minus_q : half;
  end
  assign y = 11'(whole) + 11'(zero4_q) + 11'($signed({1'b0, up}));

  always_ff @(posedge clk_i) begin
    if (valid_i[5]) data_o <= (y < 11'(low4_q)) ? low4_q : (y > 11'(high4_q)) ? high4_q : y[7:0];
  end

endmodule
