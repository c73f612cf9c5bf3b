// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_dpe_row_pipelined, the activations of its stage and the skews of the array's head, with packed ports, as a mapped
// netlist has them: byte t of a vector is element t. What comes in is as for a row that adds at once; the sum is Chain
// cycles later than its.
module dpe_row #(
  parameter int unsigned Taps  = 36,
  parameter int unsigned Chain = 9
) (
  input  logic                clk_i,
  input  logic [Taps*8-1:0]   act_i,
  output logic [Taps*8-1:0]   act_o,
  input  logic                swap_i,
  input  logic                load_i,
  input  logic [Taps*8-1:0]   weight_i,
  input  logic signed [31:0]  extra_i,
  output logic signed [31:0]  sum_o
);
  logic [7:0]         act_q[Taps], act[Taps], weight[Taps];
  logic signed [7:0]  skewed_act[Taps], skewed_weight[Taps];
  logic [Chain-1:0]   swap, load;
  logic signed [31:0] extra, unused_second;
  for (genvar t = 0; t < int'(Taps); t++) begin : gen_tap
    always_ff @(posedge clk_i) act_q[t] <= act_i[8*t +: 8];
    assign act_o[8*t +: 8] = act_q[t];
    kt_delay #(.Width(8), .Cycles(t % Chain)) u_act (.clk_i, .data_i(act_q[t]), .data_o(act[t]));
    kt_delay #(.Width(8), .Cycles(t % Chain)) u_weight (.clk_i, .data_i(weight_i[8*t +: 8]), .data_o(weight[t]));
    assign skewed_act[t]    = act[t];
    assign skewed_weight[t] = weight[t];
  end
  for (genvar k = 0; k < int'(Chain); k++) begin : gen_control
    kt_delay #(.Width(2), .Cycles(k)) u_control (.clk_i, .data_i({swap_i, load_i}), .data_o({swap[k], load[k]}));
  end
  kt_delay #(.Width(32), .Cycles(Chain)) u_extra (.clk_i, .data_i(extra_i), .data_o(extra));
  kt_dpe_row_pipelined #(
    .Taps (Taps),
    .Chain(Chain)
  ) u_row (
    .clk_i,
    .act_i   (skewed_act),
    .swap_i  (swap),
    .load_i  (load),
    .weight_i(skewed_weight),
    .extra_i (extra),
    .two_i   (1'b0),
    .sum_o,
    .second_o(unused_second)
  );
endmodule
