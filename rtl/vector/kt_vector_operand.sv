// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operands of an addition (two to four), a subtraction or a multiplication: d = a + bias (bias = -zero point). Sums: (d
// << 20) through rule `double` with the operand's multiplier, which is below one (shift <= 0): h = (d * mult + 2^10) >>
// 11, then h / 2^-shift, ties away from zero, negated where the operand is subtracted. Products: the first operand's d
// is kept and the second's multiplied by it; nothing comes of the first step. h is registered; the rounding shift is
// combinational behind it. The operands' ZSB words have shadow registers too.
//
// With Pair the first two operands may come at once, the second in the cells of the second row: a second multiplier a
// lane, and the sum of both is what comes out.
module kt_vector_operand
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp   = 8,
  parameter bit          Pair = 1,
  localparam int unsigned Lanes  = 3 * Cp,
  localparam int unsigned LanesP = array_size(Lanes),
  localparam int unsigned Cells  = array_size(9 * Cp)
) (
  input  logic               clk_i,
  // parameters; nine bits of the bias and five of the shift matter
  input  logic               we_i,
  input  logic [1:0]         we_operand_i,
  /* verilator lint_off UNUSEDSIGNAL */  // zero points have 9 bits, shifts to the right 5
  input  requant_params_t    word_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic               swap_i,     // a cycle before the first cell
  // operand
  input  logic               valid_i,
  input  logic [1:0]         operand_i,
  input  element_kind_e      element_i,
  /* verilator lint_off UNUSEDSIGNAL */  // without Pair
  input  logic               pair_i,     // both operands
  /* verilator lint_on UNUSEDSIGNAL */
  // of a column the first row, and the second
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic signed [7:0]  cell_i [Cells],
  /* verilator lint_on UNUSEDSIGNAL */
  // a cycle later
  input  logic               valid1_i,
  input  logic               negate1_i,
  /* verilator lint_off UNUSEDSIGNAL */  // without Pair
  input  logic               pair1_i,
  input  logic               negate_second1_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic signed [31:0] sum_o  [LanesP]
);

  typedef struct packed {
    logic signed [8:0]  bias;
    logic signed [31:0] mult;
    logic [4:0]         right;
  } operand_t;
  operand_t shadow_q[4], param_q[4], param;

  always_ff @(posedge clk_i) begin
    if (we_i) shadow_q[we_operand_i] <= '{bias: word_i.bias[8:0], mult: word_i.mult, right: 5'(-word_i.shift)};
    if (swap_i) param_q <= shadow_q;
  end
  assign param = param_q[operand_i];

  logic               product;
  logic signed [15:0] first_d[LanesP], first_q[LanesP];  // nine bits
  assign product = valid_i && (element_i == ElementProduct);
  always_comb begin
    first_d = '{default: '0};
    if (product) begin
      for (int unsigned l = 0; l < Lanes; l++) first_d[l] = 16'(cell_i[l]) + 16'(param.bias);
    end
  end
  always_ff @(posedge clk_i) if (product) first_q <= first_d;

  // the other factor of a product: the operand before, or that of the pair
  logic signed [15:0] factor[LanesP];
  always_comb begin
    factor = first_q;
    if (Pair && product && pair_i) begin
      for (int unsigned l = 0; l < Lanes; l++) factor[l] = 16'(cell_i[Lanes+l]) + 16'(param_q[1].bias);
    end
  end

  // (d << 20) * mult / 2^31, as far as the rounding shift needs it
  function automatic logic signed [31:0] half_of(logic signed [7:0] value, logic signed [8:0] bias,
                                                logic signed [31:0] mult);
    logic signed [8:0] d;
    d = 9'(value) + bias;
    return 32'((64'(d) * 64'(mult) + 64'sd1024) >>> 11);
  endfunction

  // h / 2^right, ties away from zero
  function automatic logic [31:0] rounded(logic signed [31:0] h, logic [4:0] right);
    logic [31:0] mask, rest, half;
    mask = (32'd1 << right) - 32'd1;
    rest = h & mask;
    half = (mask >> 1) + {31'd0, h[31]};
    return unsigned'((h >>> right) + ((rest > half) ? 32'sd1 : 32'sd0));
  endfunction

  logic signed [31:0] half_q[LanesP];
  logic [4:0]         right_q;
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      automatic logic signed [31:0] half[LanesP] = '{default: '0};
      if (product) begin
        for (int unsigned l = 0; l < Lanes; l++) half[l] = 32'(factor[l]) * 32'(first_d[l]);
      end else begin
        for (int unsigned l = 0; l < Lanes; l++) half[l] = half_of(cell_i[l], param.bias, param.mult);
      end
      half_q  <= half;
      right_q <= product ? '0 : param.right;
    end
  end

  // the second operand of a pair, rounded
  logic [31:0] second[LanesP];
  if (Pair) begin : gen_pair
    logic signed [31:0] second_q[LanesP];
    logic [4:0]         second_right_q;
    always_ff @(posedge clk_i) begin
      if (valid_i && pair_i && !product) begin
        automatic logic signed [31:0] half[LanesP] = '{default: '0};
        for (int unsigned l = 0; l < Lanes; l++) half[l] = half_of(cell_i[Lanes+l], param_q[1].bias, param_q[1].mult);
        second_q       <= half;
        second_right_q <= param_q[1].right;
      end
    end
    always_comb begin
      second = '{default: '0};
      if (valid1_i && pair1_i) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          automatic logic [31:0] negate = {32{negate_second1_i}};
          second[l] = (rounded(second_q[l], second_right_q) ^ negate) - negate;
        end
      end
    end
  end else begin : gen_single
    assign second = '{default: '0};
  end

  logic signed [31:0] sum[LanesP];
  always_comb begin
    sum = '{default: '0};
    if (valid1_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        automatic logic [31:0] negate = {32{negate1_i}};
        sum[l] = signed'((rounded(half_q[l], right_q) ^ negate) - negate + second[l]);
      end
    end
  end
  assign sum_o = sum;

endmodule
