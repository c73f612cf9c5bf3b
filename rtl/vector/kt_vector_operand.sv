// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operands of an addition (two to four), a subtraction or a multiplication: d = a + bias (bias = -zero point). Sums: (d
// << 20) through rule `double` with the operand's multiplier, which is below one (shift <= 0): h = (d * mult + 2^10) >>
// 11, then h / 2^-shift, ties away from zero, negated where the operand is subtracted. Products: the first operand's d
// is kept, and stands for the multiplier of the second; nothing comes of the first step. The product is registered; the
// rounding shift is combinational behind it. The operands' ZSB words have shadow registers too.
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
  // of the next cycle
  input  logic [1:0]         next_operand_i,
  input  element_kind_e      next_element_i,
  // operand
  input  logic               valid_i,
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
  operand_t shadow_q[4], param_q[4], now_q;  // now: of this cycle's operand
  logic     product_q;                       // it belongs to a product, if there is one

  always_ff @(posedge clk_i) begin
    if (we_i) shadow_q[we_operand_i] <= '{bias: word_i.bias[8:0], mult: word_i.mult, right: 5'(-word_i.shift)};
    if (swap_i) param_q <= shadow_q;
    now_q     <= swap_i ? shadow_q[next_operand_i] : param_q[next_operand_i];
    product_q <= next_element_i == ElementProduct;
  end

  logic signed [15:0] first_d[LanesP], first_q[LanesP];  // nine bits
  always_comb begin
    first_d = '{default: '0};
    if (product_q) begin
      for (int unsigned l = 0; l < Lanes; l++) first_d[l] = 16'(cell_i[l]) + 16'(now_q.bias);
    end
  end
  always_ff @(posedge clk_i) if (valid_i && product_q) first_q <= first_d;

  // the other factor of a product: the operand before, or that of the pair
  logic signed [15:0] factor[LanesP];
  always_comb begin
    factor = first_q;
    if (Pair && product_q && pair_i) begin
      for (int unsigned l = 0; l < Lanes; l++) factor[l] = 16'(cell_i[Lanes+l]) + 16'(param_q[1].bias);
    end
  end

  // q = (d * m + c) / 2^10, rounded down. The sum is q / 2^(1 + right), rounded by the bit below the point: what rounding
  // (d << 20) * m / 2^31 and then dividing by 2^right gives, with ties away from zero, since floors nest and c is +-2^10,
  // by the sign of d, where there is such a division. In two products of at most 18 bits, the second added to what the
  // first one carries: DSP blocks alone, 32 bits in simulation.
  function automatic logic signed [31:0] scaled(logic signed [8:0] d, logic signed [31:0] m, logic divided);
    logic signed [17:0] low, high;
    /* verilator lint_off UNUSEDSIGNAL */  // the second has 25 bits
    logic signed [31:0] p0, p1;
    /* verilator lint_on UNUSEDSIGNAL */
    low  = {1'b0, m[16:0]};
    high = 18'(m >>> 17);
    p0   = 32'(d) * 32'(low) + 32'($signed({d[8] & divided, divided, 10'd0}));
    p1   = 32'(d) * 32'(high) + (p0 >>> 17);
    return {p1[24:0], p0[16:10]};
  endfunction

  // q / 2^(1 + right), rounded, and negated
  function automatic logic [31:0] rounded(logic signed [31:0] q, logic [4:0] right, logic negate);
    logic signed [31:0] w;
    w = q >>> right;
    return (unsigned'(w >>> 1) ^ {32{negate}}) + 32'(w[0] ^ negate);
  endfunction

  logic signed [31:0] q_q[LanesP];
  logic [4:0]         right_q;
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      automatic logic               divided = !product_q && now_q.right != '0;
      automatic logic signed [31:0] q[LanesP] = '{default: '0};
      automatic logic signed [31:0] m[LanesP] = '{default: now_q.mult};
      if (product_q) for (int unsigned l = 0; l < Lanes; l++) m[l] = 32'(factor[l]) <<< 11;
      for (int unsigned l = 0; l < Lanes; l++) q[l] = scaled(9'(cell_i[l]) + now_q.bias, m[l], divided);
      q_q     <= q;
      right_q <= product_q ? '0 : now_q.right;
    end
  end

  // the second operand of a pair, rounded
  logic [31:0] second[LanesP];
  if (Pair) begin : gen_pair
    logic signed [31:0] second_q[LanesP];
    logic [4:0]         second_right_q;
    always_ff @(posedge clk_i) begin
      if (valid_i && pair_i && !product_q) begin
        automatic logic signed [31:0] q[LanesP] = '{default: '0};
        for (int unsigned l = 0; l < Lanes; l++) begin
          q[l] = scaled(9'(cell_i[Lanes+l]) + param_q[1].bias, param_q[1].mult, param_q[1].right != '0);
        end
        second_q       <= q;
        second_right_q <= param_q[1].right;
      end
    end
    always_comb begin
      second = '{default: '0};
      if (valid1_i && pair1_i) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          second[l] = rounded(second_q[l], second_right_q, negate_second1_i);
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
        sum[l] = signed'(rounded(q_q[l], right_q, negate1_i) + second[l]);
      end
    end
  end
  assign sum_o = sum;

endmodule
