// Operand of an addition: d = a + bias (bias = -zero point), then (d << 20) through rule `double` with the operand's
// multiplier, which is below one (shift <= 0): h = (d * mult + 2^10) >> 11, then h / 2^-shift, ties away from zero.
// Stage one registers h, stage two is combinational behind it.
module kt_vector_operand
  import kt_pkg::*;
#(
  parameter int unsigned Lanes = 24
) (
  input  logic               clk_i,
  input  logic               valid_i,
  input  logic signed [7:0]  cell_i [Lanes],
  // nine bits of the bias and five of the shift matter
  /* verilator lint_off UNUSEDSIGNAL */
  input  param_t             param_i,   // with the cell
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic               valid1_i,  // a cycle later
  output logic signed [31:0] sum_o  [Lanes]
);

  logic signed [31:0] half_d[Lanes], half_q[Lanes];
  logic [4:0]         right_q;

  always_comb begin
    half_d = half_q;
    if (valid_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        automatic logic signed [8:0] d = 9'(cell_i[l]) + param_i.bias[8:0];
        half_d[l] = 32'((64'(d) * 64'(param_i.mult) + 64'sd1024) >>> 11);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    half_q <= half_d;
    if (valid_i) right_q <= 5'(-param_i.shift);
  end

  logic signed [31:0] sum[Lanes];
  always_comb begin
    sum = half_q;
    if (valid1_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        automatic logic [31:0] mask = (32'd1 << right_q) - 32'd1;
        automatic logic [31:0] rest = half_q[l] & mask;
        automatic logic [31:0] half = (mask >> 1) + {31'd0, half_q[l][31]};
        sum[l] = (half_q[l] >>> right_q) + ((rest > half) ? 32'sd1 : 32'sd0);
      end
    end
  end
  assign sum_o = sum;

endmodule
