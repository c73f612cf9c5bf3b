// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What proofs about the way of products take for a product of bytes: both factors side by side, a number of as many bits.
// So whatever takes another factor is another number.
(* techmap_celltype = "$mul" *)
module fv_product (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;
  wire signed [15:0] both = {A[7:0], B[7:0]};
  wire signed [31:0] wide = both;
  assign Y = wide[Y_WIDTH-1:0];
endmodule
