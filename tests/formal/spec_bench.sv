// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The functions of formal/kt_spec_pkg.sv at the pins of a model, and the sums that commands form before them.
module spec_bench
  import kt_pkg::*;
  import kt_spec_pkg::*;
#(
  parameter int unsigned Taps = 36
) (
  input  logic               clk_i,
  // parameters of the result, and of both operands
  input  logic signed [31:0] bias_i [3],
  input  logic signed [31:0] mult_i [3],
  input  logic signed [7:0]  shift_i[3],
  input  logic [1:0]         rule_i,
  input  logic signed [7:0]  zero_i,
  input  logic signed [7:0]  low_i,
  input  logic signed [7:0]  high_i,
  // a sum, requantised
  input  logic signed [31:0] acc_i,
  output logic signed [7:0]  requantised_o,
  // products of a window, added up and requantised
  input  logic signed [7:0]  a_i[Taps],
  input  logic signed [7:0]  w_i[Taps],
  output logic signed [7:0]  convolved_o,
  // cells of a window that lie inside the map
  input  logic               inside_i[Taps],
  output logic signed [7:0]  average_o,
  output logic signed [7:0]  maximum_o,
  // the first two cells
  input  logic               subtract_i,
  output logic signed [7:0]  added_o,
  output logic signed [7:0]  multiplied_o
);
  store_t          store;
  requant_params_t word[3];
  logic signed [31:0] products, cells;
  logic signed [7:0]  most;

  assign store = '{rule: rule_i, zero: zero_i, low: low_i, high: high_i};
  always_comb begin
    for (int unsigned i = 0; i < 3; i++) word[i] = '{bias: bias_i[i], mult: mult_i[i], shift: shift_i[i]};
    products = '0;
    cells    = '0;
    most     = -8'sd128;
    for (int unsigned t = 0; t < Taps; t++) begin
      products += 32'(a_i[t]) * 32'(w_i[t]);
      if (inside_i[t]) cells += 32'(a_i[t]);
      if (inside_i[t] && a_i[t] > most) most = a_i[t];
    end
  end

  assign requantised_o = requantised(acc_i, word[0], store);
  assign convolved_o   = requantised(products, word[0], store);
  assign average_o     = requantised(cells, word[0], store);
  assign maximum_o     = stored(whole_t'(most), store);
  assign added_o       = added(a_i[0], a_i[1], word[1], word[2], subtract_i, word[0], store);
  assign multiplied_o  = multiplied(a_i[0], a_i[1], word[1], word[2], word[0], store);
endmodule
