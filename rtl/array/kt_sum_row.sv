// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Sum row of the array, for weights with a zero point: - zero * sum(activations), which the products with the stored
// weights lack, the same for every output channel. It goes down the stages beside the activations and enters each row
// like one more product.
//
// All activations are added, also those of channels and taps that do not exist: the weights there are `zero` as well,
// so that both parts cancel whatever the activation is. Without a zero point on its way nothing works, in simulation
// too.
module kt_sum_row #(
  parameter int unsigned Stages = 8,
  parameter int unsigned Taps   = 72
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic signed [7:0]  act_i [Taps],
  input  logic signed [7:0]  zero_i,           // with the activations
  output logic signed [31:0] extra_o [Stages]  // entry s for stage s, s + 1 cycles later
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
  logic signed [31:0] first;
  assign first = 32'(sum_q) * 32'(-9'(zero_q));  // -zero takes nine bits

  // The way down; the bits of on_q are the stages that have a zero point. After a reset all move once, which clears them.
  logic [Stages-1:0]  on_q;
  logic signed [31:0] extra_q[Stages-1];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) on_q <= '1;
    else on_q <= {on_q[Stages-2:0], zero_i != '0};
  end
  always_ff @(posedge clk_i) begin
    if (on_q != '0) begin
      automatic logic signed [31:0] extra[Stages-1];
      for (int s = 0; s < int'(Stages) - 1; s++) extra[s] = (s == 0) ? first : extra_q[s-1];
      extra_q <= extra;
    end
  end
  always_comb begin
    extra_o[0] = first;
    for (int s = 1; s < int'(Stages); s++) extra_o[s] = extra_q[s-1];
  end

endmodule
