// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Sum row of the array, for weights with a zero point: - zero * sum(activations), which the products with the stored
// weights lack, the same for every output channel. It goes down the stages beside the activations and enters each row
// like one more product.
//
// All activations are added, also those of channels and taps that do not exist: the weights there are `zero` as well,
// so that both parts cancel whatever the activation is. Without a zero point on its way nothing works, in simulation
// too. With Delay the sum takes some of these cycles, a group of Group taps in the first of them.
module kt_sum_row #(
  parameter int unsigned Stages = 8,
  parameter int unsigned Taps   = 72,
  parameter int unsigned Delay  = 0,  // 0, or at least 3
  parameter int unsigned Group  = 8   // divides Taps
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic signed [7:0]  act_i [Taps],
  input  logic signed [7:0]  zero_i,           // with the activations
  output logic signed [31:0] extra_o [Stages]  // entry s for stage s, s + 1 + Delay cycles later
);

  localparam int unsigned SumW = 8 + $clog2(Taps);

  logic signed [31:0] first;
  logic               on;  // a zero point enters the way down with the next edge

  if (Delay == 0) begin : gen_at_once
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
    assign first = 32'(sum_q) * 32'(-9'(zero_q));  // -zero takes nine bits
    assign on    = zero_i != '0;
  end else begin : gen_pipelined
    localparam int unsigned Groups = Taps / Group;
    logic signed [SumW-1:0] group_d[Groups], group_q[Groups];
    logic signed [SumW-1:0] sum_d, sum_q, late_sum;
    logic signed [7:0]      late_zero;
    logic signed [31:0]     first_q;
    always_comb begin
      sum_d = '0;
      for (int unsigned g = 0; g < Groups; g++) begin
        group_d[g] = '0;
        for (int unsigned i = g * Group; i < (g + 1) * Group; i++) group_d[g] = group_d[g] + SumW'(act_i[i]);
        sum_d = sum_d + group_q[g];
      end
    end
    always_ff @(posedge clk_i) begin
      group_q <= group_d;
      sum_q   <= sum_d;
      first_q <= 32'(late_sum) * 32'(-9'(late_zero));
    end
    kt_delay #(
      .Width (SumW),
      .Cycles(Delay - 2)
    ) u_sum (
      .clk_i,
      .data_i(sum_q),
      .data_o(late_sum)
    );
    kt_delay #(
      .Width (8),
      .Cycles(Delay)
    ) u_zero (
      .clk_i,
      .data_i(zero_i),
      .data_o(late_zero)
    );
    assign first = first_q;
    assign on    = late_zero != '0;
  end

  // The way down; the bits of on_q are the stages that have a zero point. After a reset all move once, which clears them.
  logic [Stages-1:0]  on_q;
  logic signed [31:0] extra_q[Stages-1];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) on_q <= '1;
    else on_q <= {on_q[Stages-2:0], on};
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
