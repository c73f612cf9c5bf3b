// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A bitwise multiplexer, which Verilog has no operator for, of operators that it has.
module \$bwmux (A, B, S, Y);
  parameter WIDTH = 1;
  input [WIDTH-1:0] A, B, S;
  output [WIDTH-1:0] Y;
  assign Y = (A & ~S) | (B & S);
endmodule
