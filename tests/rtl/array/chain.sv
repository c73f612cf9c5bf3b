// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What chain_of says of a size that is an input here.
module chain (
  input  logic [7:0]  cp_i,
  input  logic        two_pixels_i,
  output logic [31:0] chain_o
);
  assign chain_o = kt_array_pkg::chain_of({24'd0, cp_i}, two_pixels_i);
endmodule
