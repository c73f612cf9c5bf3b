// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_dpe_row and the activations of its stage, with packed ports, as a mapped netlist has them: byte t of a vector is
// element t.
module dpe_row #(
  parameter int unsigned Taps = 36
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
  logic signed [7:0] act[Taps], act_q[Taps], weight[Taps];
  always_ff @(posedge clk_i) act_q <= act;
  for (genvar t = 0; t < int'(Taps); t++) begin : gen_bytes
    assign act[t]    = act_i[8*t +: 8];
    assign weight[t] = weight_i[8*t +: 8];
    assign act_o[8*t +: 8] = act_q[t];
  end
  kt_dpe_row #(
    .Taps(Taps)
  ) u_row (
    .clk_i,
    .act_i   (act_q),
    .swap_i,
    .load_i,
    .weight_i('{weight}),
    .extra_i,
    .sum_o
  );
endmodule
