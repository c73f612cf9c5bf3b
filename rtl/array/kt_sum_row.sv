// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Sum row of the array, for weights with a zero point: - zero * sum(activations), which the products with the stored
// weights lack, the same for every output channel. It goes down the rows beside the activations and enters each like
// one more product.
//
// All activations are added, also those of channels and taps that do not exist: the weights there are `zero` as well,
// so that both parts cancel whatever the activation is. Without a zero point on its way nothing works, in simulation
// too.
module kt_sum_row #(
  parameter int unsigned Kp   = 32,
  parameter int unsigned Taps = 72
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic signed [7:0]  act_i [Taps],
  input  logic signed [7:0]  zero_i,         // with the activations
  output logic signed [31:0] first_o,        // one cycle later, for row 0
  output logic signed [31:0] extra_o [Kp-1]  // entry k for row k + 1, k + 1 cycles after that
);

  localparam int unsigned SumW = 8 + $clog2(Taps);

  logic signed [SumW-1:0] sum_d, sum_q;
  logic signed [7:0]      zero_q;
  always_comb begin
    sum_d = '0;
    if (zero_i != '0) for (int unsigned i = 0; i < Taps; i++) sum_d = sum_d + SumW'(act_i[i]);
  end
  always_ff @(posedge clk_i) begin
    sum_q  <= sum_d;
    zero_q <= zero_i;
  end
  assign first_o = 32'(sum_q) * 32'(-9'(zero_q));  // -zero takes nine bits

  // The way down; the bits of on_q are the rows that have a zero point. After a reset all move once, which clears them.
  logic [Kp-1:0]      on_q;
  logic signed [31:0] extra_q[Kp-1];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) on_q <= '1;
    else on_q <= {on_q[Kp-2:0], zero_i != '0};
  end
  always_ff @(posedge clk_i) begin
    if (on_q != '0) begin
      automatic logic signed [31:0] extra[Kp-1];
      for (int k = 0; k < int'(Kp) - 1; k++) extra[k] = (k == 0) ? first_o : extra_q[k-1];
      extra_q <= extra;
    end
  end
  assign extra_o = extra_q;

endmodule
