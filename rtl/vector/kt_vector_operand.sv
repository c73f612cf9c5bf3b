// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operands of an addition (two to four), a subtraction or a multiplication: d = a + bias (bias = -zero point). Sums: (d
// << 20) through rule `double` with the operand's multiplier, which is below one (shift <= 0): h = (d * mult + 2^10) >>
// 11, then h / 2^-shift, ties away from zero, negated where the operand is subtracted. Products: the first operand's d
// is kept and the second's multiplied by it; nothing comes of the first step. h is registered; the rounding shift is
// combinational behind it. The operands' ZSB words have shadow registers too.
module kt_vector_operand
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp = 8,
  localparam int unsigned Lanes  = 3 * Cp,
  localparam int unsigned LanesP = 2 ** $clog2(Lanes),
  localparam int unsigned Cells  = 2 ** $clog2(9 * Cp)
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
  // of a column the first row
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic signed [7:0]  cell_i [Cells],
  /* verilator lint_on UNUSEDSIGNAL */
  // a cycle later
  input  logic               valid1_i,
  input  logic               negate1_i,
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

  logic signed [31:0] half_q[LanesP];
  logic [4:0]         right_q;
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      automatic logic signed [31:0] half[LanesP] = '{default: '0};
      if (product) begin
        for (int unsigned l = 0; l < Lanes; l++) half[l] = 32'(first_q[l]) * 32'(first_d[l]);
      end else begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          automatic logic signed [8:0] d = 9'(cell_i[l]) + param.bias;
          half[l] = 32'((64'(d) * 64'(param.mult) + 64'sd1024) >>> 11);
        end
      end
      half_q  <= half;
      right_q <= product ? '0 : param.right;
    end
  end

  logic signed [31:0] sum[LanesP];
  always_comb begin
    sum = '{default: '0};
    if (valid1_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        automatic logic [31:0] mask = (32'd1 << right_q) - 32'd1;
        automatic logic [31:0] rest = half_q[l] & mask;
        automatic logic [31:0] half = (mask >> 1) + {31'd0, half_q[l][31]};
        automatic logic [31:0] size = unsigned'((half_q[l] >>> right_q) + ((rest > half) ? 32'sd1 : 32'sd0));
        automatic logic [31:0] negate = {32{negate1_i}};
        sum[l] = signed'((size ^ negate) - negate);
      end
    end
  end
  assign sum_o = sum;

endmodule
