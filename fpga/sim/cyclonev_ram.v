// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Cyclone V's block RAM as yosys's mapping uses it: one port writes, one reads, without initial content. A cycle that reads the
// word that it writes reads the old one. The write enable is low-active but where words have 40 bits, as the mapping has it;
// yosys's own model has it low-active in all.
module MISTRAL_M10K (CLK1, A1ADDR, A1DATA, A1EN, B1ADDR, B1DATA, B1EN);
  parameter INIT = 0;
  parameter CFG_ABITS = 10;
  parameter CFG_DBITS = 10;
  input CLK1, A1EN, B1EN;
  input [CFG_ABITS-1:0] A1ADDR, B1ADDR;
  input [CFG_DBITS-1:0] A1DATA;
  output reg [CFG_DBITS-1:0] B1DATA;

  reg [CFG_DBITS-1:0] memory [0:2**CFG_ABITS-1];
  wire write = CFG_DBITS == 40 ? A1EN : !A1EN;
  always @(posedge CLK1) begin
    if (write) memory[A1ADDR] <= A1DATA;
    if (B1EN) B1DATA <= memory[B1ADDR];
  end
endmodule

// A bit of a memory block of look-up tables, read without a clock.
module MISTRAL_MLAB (
  input        CLK1, A1EN, A1DATA,
  input  [4:0] A1ADDR, B1ADDR,
  output       B1DATA
);
  reg memory [0:31];
  assign B1DATA = memory[B1ADDR];
  always @(posedge CLK1) if (A1EN) memory[A1ADDR] <= A1DATA;
endmodule
