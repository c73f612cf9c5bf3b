// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Two rows of a stage as kt_dpe_array has them, kt_dpe_pair where multipliers are wide enough, the activations of the
// stage and the skews of the array's head, with packed ports, as a mapped netlist has them: byte t of a vector is element
// t, the upper row's vector above the lower one's. What comes in is as for rows that add at once; the sums are Chain
// cycles later than theirs.
module dpe_rows
  import kt_array_pkg::*;
#(
  parameter int unsigned Taps        = 36,
  parameter int unsigned Chain       = 9,
  parameter int unsigned MultiplierW = 18
) (
  input  logic                clk_i,
  input  logic [Taps*8-1:0]   act_i,
  output logic [Taps*8-1:0]   act_o,
  input  logic                swap_i,
  input  logic                load_i,
  input  logic [Taps*16-1:0]  weight_i,
  input  logic signed [31:0]  extra_i,
  output logic [63:0]         sum_o
);
  localparam bit Paired = MultiplierW >= 25;
  logic [7:0]         act_q[Taps], act[Taps], weight[2][Taps];
  logic signed [7:0]  skewed_act[Taps], skewed_weight[2][Taps];
  pair_weight_t       pair[Taps];
  logic [Chain-1:0]   swap, load;
  logic signed [31:0] extra, sum[2], unused_second[2];
  for (genvar t = 0; t < int'(Taps); t++) begin : gen_tap
    always_ff @(posedge clk_i) act_q[t] <= act_i[8*t +: 8];
    assign act_o[8*t +: 8] = act_q[t];
    kt_delay #(.Width(8), .Cycles(t % Chain)) u_act (.clk_i, .data_i(act_q[t]), .data_o(act[t]));
    assign skewed_act[t] = act[t];
    for (genvar r = 0; r < 2; r++) begin : gen_weight
      kt_delay #(.Width(8), .Cycles(t % Chain)) u_weight (
        .clk_i, .data_i(weight_i[8*(r*Taps+t) +: 8]), .data_o(weight[r][t])
      );
      assign skewed_weight[r][t] = weight[r][t];
    end
    assign pair[t] = pair_weight(weight[0][t], weight[1][t]);
  end
  for (genvar k = 0; k < int'(Chain); k++) begin : gen_control
    kt_delay #(.Width(2), .Cycles(k)) u_control (.clk_i, .data_i({swap_i, load_i}), .data_o({swap[k], load[k]}));
  end
  kt_delay #(.Width(32), .Cycles(Chain)) u_extra (.clk_i, .data_i(extra_i), .data_o(extra));

  if (Paired) begin : gen_pair
    kt_dpe_pair #(
      .Taps       (Taps),
      .Chain      (Chain),
      .MultiplierW(MultiplierW)
    ) u_pair (
      .clk_i,
      .act_i   (skewed_act),
      .swap_i  (swap),
      .load_i  (load),
      .weight_i(pair),
      .extra_i (extra),
      .two_i   (1'b0),
      .sum_o   (sum),
      .second_o(unused_second)
    );
  end else begin : gen_single
    for (genvar r = 0; r < 2; r++) begin : gen_row
      kt_dpe_row_pipelined #(
        .Taps (Taps),
        .Chain(Chain)
      ) u_row (
        .clk_i,
        .act_i   (skewed_act),
        .swap_i  (swap),
        .load_i  (load),
        .weight_i(skewed_weight[r]),
        .extra_i (extra),
        .two_i   (1'b0),
        .sum_o   (sum[r]),
        .second_o(unused_second[r])
      );
    end
  end
  assign sum_o = {sum[1], sum[0]};
endmodule
