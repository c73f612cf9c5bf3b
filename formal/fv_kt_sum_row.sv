// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Sum row and one DPE row, connected as in the array: whatever stands in them, the row adds activations times weights less
// the zero point, and a tap whose weight is the zero point adds nothing. Full widths: a prover cannot multiply, but it can
// reorder, so the claim is taken in steps each of which is either that or small.
module fv_kt_sum_row #(
  parameter int unsigned Stages = 4,
  parameter int unsigned Taps   = 9
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic signed [7:0] act_i    [Taps],
  input logic signed [7:0] weight_i [Taps],
  input logic signed [7:0] zero_i,
  input logic              load_i,
  input logic              swap_i
);
  logic signed [31:0] correction, all[Stages], extra[Stages-1], unused_sum;
  logic signed [7:0]  act_q[Taps];  // of the stage
  always_ff @(posedge clk_i) act_q <= act_i;
  kt_sum_row #(
    .Stages(Stages),
    .Taps  (Taps)
  ) dut (
    .clk_i,
    .rst_ni,
    .act_i,
    .zero_i,
    .extra_o(all)
  );
  assign correction = all[0];
  for (genvar k = 0; k < int'(Stages) - 1; k++) begin : g_extra
    assign extra[k] = all[k+1];
  end
  kt_dpe_row #(
    .Taps(Taps)
  ) row (
    .clk_i,
    .act_i   (act_q),
    .swap_i,
    .load_i,
    .weight_i('{weight_i}),
    .extra_i (correction),
    .sum_o   (unused_sum)
  );
  `include "fv_reset.svh"

  // as kt_dpe_row extends a sign
  function automatic logic [31:0] value(logic [7:0] v);
    return (32'(v) ^ 32'h80) - 32'h80;
  endfunction

  logic [7:0] zero_q;
  always_ff @(posedge clk_i) zero_q <= zero_i;

  logic [31:0]     acts, want, minus_zero;
  logic [Taps-1:0] cancels;
  always_comb begin
    acts = '0;
    want = '0;
    for (int unsigned i = 0; i < Taps; i++) begin
      acts = acts + value(act_q[i]);
      want = want + value(act_q[i]) * (value(row.weight_q[i]) - value(zero_q));
      cancels[i] = row.weight_q[i] != zero_q || value(row.weight_q[i]) - value(zero_q) == '0;
    end
  end
  assign minus_zero = 32'(-9'(dut.gen_at_once.zero_q));

  // row.gen_one.sum == want, in four steps: the factors of the correction, the correction put in, the rest reordered
  `FV_ASSERT(a_zero, !past_ok_q || minus_zero == -value(zero_q))
  `FV_ASSERT(a_acts, !past_ok_q || 32'(dut.gen_at_once.sum_q) == acts || zero_q == '0)
  `FV_ASSERT(a_correction, correction == 32'(dut.gen_at_once.sum_q) * minus_zero)
  `FV_ASSERT(a_sum, row.gen_one.sum - correction - acts * value(zero_q) == want)
  `FV_ASSERT(a_missing, cancels == '1)

  // the way down: each stage adds what the one above added a cycle ago, once a reset is Stages cycles old
  logic signed [31:0] before_q[Stages-1];
  logic [$clog2(Stages+1)-1:0] cycles_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cycles_q <= '0;
    else if (cycles_q != ($clog2(Stages + 1))'(Stages)) cycles_q <= cycles_q + 1'b1;
  end
  always_ff @(posedge clk_i) begin
    before_q[0] <= correction;
    for (int k = 1; k < int'(Stages) - 1; k++) before_q[k] <= extra[k-1];
  end
  logic down, quiet;
  always_comb begin
    down  = 1'b1;
    quiet = 1'b1;
    for (int k = 0; k < int'(Stages) - 1; k++) begin
      if (32'(cycles_q) > 32'(k) + 1) down = down && extra[k] == before_q[k];
      if (32'(cycles_q) > 32'(k) + 1 && !dut.on_q[k+1]) quiet = quiet && extra[k] == '0;
    end
    for (int k = 0; k < int'(Stages); k++) begin
      if (32'(cycles_q) <= 32'(k) && !dut.on_q[k]) quiet = 1'b0;
    end
    if (cycles_q != '0 && dut.on_q[0] != (dut.gen_at_once.zero_q != '0)) quiet = 1'b0;
  end
  `FV_ASSERT(a_down, down)
  `FV_ASSERT(i_quiet, quiet && 32'(cycles_q) <= Stages)

  `FV_COVER(c_missing, past_ok_q && zero_q != '0 && row.weight_q[0] == zero_q && row.weight_q[1] != zero_q &&
                       act_q[0] != '0 && want != '0)
  `FV_COVER(c_idle, dut.on_q == '0 && 32'(cycles_q) == Stages)
endmodule
