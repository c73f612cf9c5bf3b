// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Requantiser: Lanes independent lanes, one result a lane and cycle, six cycles later
// (docs/formats/requantisation.md). With r = max(-shift, 0) every rule is the same chain around one multiplier of
// 32 x 31 bits (stages 1 and 2 take two cycles each in kt_requant_lane):
//
//   stage  double                        single                          average
//   1      x = (acc + bias) << max(shift, 0)                             x = 2 * abs(acc) + bias
//   2      p = x * mult                  p = x * mult                    p = x * mult
//   3      h = (p + 2^30) >> 31          h = (p - neg) >> 31             h = p >> 31
//   4      h / 2^r, ties away from zero  h / 2^r, ties up                +-(h >> r)
//          + zero, clamped to low..high
//
// double: TFLite's saturating rounding doubling high multiply (its nudge and its truncation towards zero) equals the
// floor of stage 3 for mult >= 0. single: neg is 1 for p < 0, because floor((p - neg + half) / 2^n) rounds ties away
// from zero; adding the half of 2^r after the first floor is the same as before it. r = 0 leaves no second shift to
// round in, so stage 3 adds 2^30 there. float is the arithmetic of float32, y = rint(float32(acc + bias) * f) with
// every rounding half to even; mult holds the 24 bits of f's significand and seven zeros:
//   1      x = (acc + bias rounded to 24 significant bits) << max(shift, 0)
//   3      h = p / 2^(31 + r) rounded to 24 significant bits, then to an integer; nothing is left for stage 4 to round
// shift is -31..31 and x fits 32 bits (the compiler sees to it). Parameters come with the accumulator; lanes may be
// skewed. Stages work only while some lane holds a result; an idle requantiser costs nothing in simulation, and rule
// float nothing while float_i is low.
//
// This chain is what fast simulators (KT_FAST_SIM) run, in loops that vectorise; everything else takes kt_requant_lane,
// a third of the logic, for each lane. formal/kt_requant.sby proves the chain around its multiplier, and
// kt_requant_test and kt_requant_exhaustive_test compare both with the same definitions.
module kt_requant
  import kt_cmd_pkg::*;
  import kt_pkg::*;
#(
  parameter int unsigned Lanes   = 32,
  parameter int unsigned Waves   = Lanes,  // bits of valid, each of Lanes / Waves lanes that work in the same cycle
  parameter bit          Average = 1,  // rule `average` exists
  parameter bit          Float   = 1   // rule `float` exists
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // accumulator and parameters of each lane
  input  logic [Waves-1:0]   valid_i,
  input  logic signed [31:0] acc_i   [Lanes],
  input  logic signed [31:0] bias_i  [Lanes],
  input  logic signed [31:0] mult_i  [Lanes],
  input  logic signed [7:0]  shift_i [Lanes],
  input  logic signed [7:0]  zero_i  [Lanes],
  input  logic signed [7:0]  low_i   [Lanes],
  input  logic signed [7:0]  high_i  [Lanes],
  input  logic [1:0]         rule_i  [Lanes],
  // low only if no lane has rule `float`; kt_requant_lane looks at the rule
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic               float_i,
  /* verilator lint_on UNUSEDSIGNAL */
  // result, six cycles later
  output logic [Waves-1:0]   valid_o,
  output logic signed [7:0]  data_o  [Lanes]
);

  logic [Waves-1:0] valid1_q, valid2_q, valid3_q, valid4_q, valid5_q, valid6_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid1_q <= '0;
      valid2_q <= '0;
      valid3_q <= '0;
      valid4_q <= '0;
      valid5_q <= '0;
      valid6_q <= '0;
    end else begin
      valid1_q <= valid_i;
      valid2_q <= valid1_q;
      valid3_q <= valid2_q;
      valid4_q <= valid3_q;
      valid5_q <= valid4_q;
      valid6_q <= valid5_q;
    end
  end

  assign valid_o = valid6_q;

`ifdef KT_FAST_SIM
  // Some lane that holds a result may have rule `float`.
  logic float0, float1_q, float2_q;
  assign float0 = Float && float_i && (|valid_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      float1_q <= 1'b0;
      float2_q <= 1'b0;
    end else begin
      float1_q <= float0;
      float2_q <= float1_q;
    end
  end

  // What later stages need travels with the accumulator. Bytes throughout, so that a lane is a vector element in
  // simulation; right shifts keep five bits, `neg` one.
  logic [7:0]        right_d[Lanes], right1_q[Lanes], right2_q[Lanes], right3_d[Lanes], right3_q[Lanes];
  logic [1:0]        rule1_q[Lanes], rule2_q[Lanes], rule3_q[Lanes];
  logic signed [7:0] zero1_q[Lanes], zero2_q[Lanes], zero3_q[Lanes];
  logic signed [7:0] low1_q[Lanes], low2_q[Lanes], low3_q[Lanes];
  logic signed [7:0] high1_q[Lanes], high2_q[Lanes], high3_q[Lanes];

  always_ff @(posedge clk_i) begin
    if (|{valid_i, valid1_q, valid2_q}) begin
      right1_q <= right_d;
      right2_q <= right1_q;
      right3_q <= right3_d;
      rule1_q  <= rule_i;
      rule2_q  <= rule1_q;
      rule3_q  <= rule2_q;
      zero1_q  <= zero_i;
      zero2_q  <= zero1_q;
      zero3_q  <= zero2_q;
      low1_q   <= low_i;
      low2_q   <= low1_q;
      low3_q   <= low2_q;
      high1_q  <= high_i;
      high2_q  <= high1_q;
      high3_q  <= high2_q;
    end
  end

  // stage 1: bias, left shift. Two loops, because one with this many arrays is not vectorised.
  logic signed [31:0] x_q[Lanes], mult1_q[Lanes];
  always_ff @(posedge clk_i) begin
    if (|valid_i) begin
      automatic logic signed [31:0] x[Lanes];
      for (int unsigned l = 0; l < Lanes; l++) begin
        automatic logic [4:0]  left = shift_i[l][4:0] & ~{5{shift_i[l][7]}};
        // average: twice the size, which is never shifted left
        automatic logic [31:0] mean = {32{Average && (rule_i[l] == RuleAverage)}};
        automatic logic [31:0] sign = {32{acc_i[l][31]}} & mean;
        automatic logic [31:0] size = (acc_i[l] ^ sign) - sign;
        x[l] = signed'(size + (size & mean) + unsigned'(bias_i[l])) <<< left;
      end
      if (float0) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          automatic logic [4:0]  left = shift_i[l][4:0] & ~{5{shift_i[l][7]}};
          automatic logic [31:0] sum  = unsigned'(acc_i[l] + bias_i[l]);
          // drop: ones below the last of 24 significant bits (a negative power of two counts one bit less, and is
          // exact)
          automatic logic [31:0] drop = (sum ^ {32{sum[31]}}) >> 24;
          drop |= drop >> 1;
          drop |= drop >> 2;
          drop |= drop >> 4;
          sum = (sum + (drop >> 1) + {31'd0, drop[0] & ((sum & (drop + 32'd1)) != 32'd0)}) & ~drop;
          if (rule_i[l] == RuleFloat) x[l] = signed'(sum) <<< left;
        end
      end
      x_q     <= x;
      mult1_q <= mult_i;
    end
  end
  always_comb begin
    right_d = right1_q;
    if (|valid_i) for (int unsigned l = 0; l < Lanes; l++) right_d[l] = -shift_i[l] & {8{shift_i[l][7]}} & 8'h1f;
  end

  // stage 2: product, cut where rule `double` rounds: p = 2^31 * whole + fraction; |p| < 2^62, so 32 bits hold both
  logic signed [31:0] whole_q[Lanes], fraction_q[Lanes];
  always_ff @(posedge clk_i) begin
    if (|valid1_q) begin
      automatic logic signed [31:0] whole[Lanes], fraction[Lanes];
      for (int unsigned l = 0; l < Lanes; l++) begin
        automatic logic signed [63:0] p = 64'(x_q[l]) * 64'(mult1_q[l]);
        whole[l]    = 32'(p >>> 31);
        fraction[l] = {1'b0, p[30:0]};
      end
      whole_q    <= whole;
      fraction_q <= fraction;
    end
  end

  // stage 3: upper half, with what carries out of the fraction
  logic signed [31:0] upper_q[Lanes];
  always_ff @(posedge clk_i) begin
    if (|valid2_q) begin
      automatic logic signed [31:0] upper[Lanes];
      for (int unsigned l = 0; l < Lanes; l++) begin
        automatic logic               once  = rule2_q[l] == RuleSingle;
        automatic logic               nudge = (rule2_q[l] == RuleDouble) | (once & (right2_q[l] == 8'd0));
        automatic logic signed [31:0] rest  = fraction_q[l] - 32'(once & whole_q[l][31]);
        automatic logic signed [31:0] up    = 32'(rest >= 32'sh4000_0000);
        upper[l] = whole_q[l] + (nudge ? up : (rest >>> 31));
      end
      // float: p / 2^(31 + r) = h + e / 2^32, e with all lower bits in its last one. In its 24 bits the half of an
      // integer stands for all e within 2^b / 2^24 of it, where b is the number of bits of h.
      if (float2_q) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          automatic logic [63:0] p    = {whole_q[l], fraction_q[l][30:0], 1'b0};
          automatic logic [31:0] lost = unsigned'(fraction_q[l]) & ((32'd1 << right2_q[l][4:0]) - 32'd1);
          automatic logic [31:0] h    = unsigned'(whole_q[l] >>> right2_q[l][4:0]);
          automatic logic [31:0] e    = 32'(p >> right2_q[l][4:0]) | {31'd0, lost != 32'd0};
          // ones for the bits of h; beyond the sixteenth h is out of range whatever the rounding
          automatic logic [31:0] bits = h ^ {32{h[31]}};
          bits |= bits >> 1;
          bits |= bits >> 2;
          bits |= bits >> 4;
          bits |= bits >> 8;
          bits = (bits & 32'hffff) + 32'd1;  // at most 2^16
          if (rule2_q[l] == RuleFloat) begin
            upper[l] = signed'(h + {31'd0, h[0] ? (e >= 32'h8000_0000 - (bits << 7))
                                                : (e > 32'h8000_0000 + (bits << 7))});
          end
        end
      end
      upper_q <= upper;
    end
  end
  always_comb begin
    right3_d = right2_q;
    if (float2_q) begin
      for (int unsigned l = 0; l < Lanes; l++) right3_d[l] = right2_q[l] & {8{rule2_q[l] != RuleFloat}};
    end
  end

  // sign of an average's accumulator
  logic neg3[Lanes];
  if (Average) begin : gen_sign
    logic neg_d[Lanes], neg1_q[Lanes], neg2_q[Lanes], neg3_q[Lanes];
    always_comb begin
      neg_d = neg1_q;
      if (|valid_i) for (int unsigned l = 0; l < Lanes; l++) neg_d[l] = (rule_i[l] == RuleAverage) & acc_i[l][31];
    end
    always_ff @(posedge clk_i) begin
      if (|{valid_i, valid1_q, valid2_q}) begin
        neg1_q <= neg_d;
        neg2_q <= neg1_q;
        neg3_q <= neg2_q;
      end
    end
    assign neg3 = neg3_q;
  end else begin : gen_no_sign
    assign neg3 = '{default: 1'b0};
  end

  // stage 4: rounding shift, zero point, clamp
  logic signed [7:0] data_q[Lanes];
  always_ff @(posedge clk_i) begin
    if (|valid3_q) begin
      automatic logic signed [7:0] data[Lanes];
      for (int unsigned l = 0; l < Lanes; l++) begin
        automatic logic [31:0] mask = (32'd1 << right3_q[l][4:0]) - 32'd1;
        automatic logic [31:0] rest = upper_q[l] & mask;
        automatic logic [31:0] half = (mask >> 1) + {31'd0, upper_q[l][31] & (rule3_q[l] == RuleDouble)};
        automatic logic signed [31:0] up = {31'd0, (rest > half) & (rule3_q[l] != RuleAverage)};
        automatic logic [31:0] sign = {32{upper_q[l][31]}};  // arithmetic shift, in operations that vectorise
        automatic logic signed [31:0] size = signed'(((upper_q[l] ^ sign) >> right3_q[l][4:0]) ^ sign) + up;
        automatic logic [31:0] negate = {32{neg3[l]}};
        automatic logic signed [31:0] y = signed'((size ^ negate) - negate);
        // |y| may need 32 bits, so clamp before adding the zero point. Choices are masks: the C++ compiler turns a
        // choice between variables into one of addresses, and then does not vectorise the loop.
        automatic logic signed [31:0] low   = 32'(low3_q[l]) - 32'(zero3_q[l]);
        automatic logic signed [31:0] high  = 32'(high3_q[l]) - 32'(zero3_q[l]);
        automatic logic [31:0]        below = {32{y < low}};
        automatic logic [31:0]        above = {32{y > high}};
        data[l] = 8'((y & ~below & ~above) | (low & below) | (high & above & ~below)) + zero3_q[l];
      end
      data_q <= data;
    end
  end

  // The lanes of hardware take a cycle for the sum alone and two for the product; results wait for these here.
  logic signed [7:0] late_q[Lanes];
  always_ff @(posedge clk_i) begin
    if (|valid4_q) late_q <= data_q;
    if (|valid5_q) data_o <= late_q;
  end
`else
  for (genvar l = 0; l < int'(Lanes); l++) begin : gen_lane
    localparam int unsigned Wave = l / (Lanes / Waves);
    kt_requant_lane #(
      .Average(Average),
      .Float  (Float)
    ) u_lane (
      .clk_i,
      .valid_i({valid5_q[Wave], valid4_q[Wave], valid3_q[Wave], valid2_q[Wave], valid1_q[Wave], valid_i[Wave]}),
      .acc_i  (acc_i[l]),
      .bias_i (bias_i[l]),
      .mult_i (mult_i[l]),
      .shift_i(shift_i[l]),
      .zero_i (zero_i[l]),
      .low_i  (low_i[l]),
      .high_i (high_i[l]),
      .rule_i (rule_i[l]),
      .data_o (data_o[l])
    );
  end
`endif

endmodule
