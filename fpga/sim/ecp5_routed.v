// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Cells of ECP5 as nextpnr packs them, for simulating a routed netlist (scripts/routed.py). yosys's models of them are for its own
// packer: there a carry chain has no output, a flip-flop no direct input, and the write port of a slice's memory is missing.
// Behaviour: Lattice FPGA-DS-02012, "ECP5 and ECP5-5G Family Data Sheet", chapter 2.2.
/* verilator lint_off DECLFILENAME */

// Half a slice: a table of four inputs, a bit of an adder, or 16 bits of memory; and the multiplexer behind it, of this table and
// the next one (F1), or of two such multiplexers (FXA, FXB).
module TRELLIS_COMB (
  input  A, B, C, D, M,
  input  FCI, F1, FXA, FXB,
  input  DI0, DI1, WD, WAD0, WAD1, WAD2, WAD3, WRE, WCK,
  output F, FCO, OFX
);
  parameter MODE = "LOGIC";
  parameter INITVAL = 16'h0;
  parameter CCU2_INJECT1 = "NO";
  parameter WREMUX = "WRE";
  parameter WCKMUX = "WCK";
  parameter [0:0] IS_Z1 = 1'b0;

  wire [15:0] init = INITVAL;
  generate
    if (MODE == "CCU2") begin : gen_carry
      wire propagate = init[{D, C, B, A}];
      wire generated = init[{2'b00, B, A}];
      wire inject = (CCU2_INJECT1 == "YES");
      assign F   = propagate ^ (FCI & ~inject);
      assign FCO = propagate ? FCI : (generated & ~inject);
    end else if (MODE == "DPRAM") begin : gen_memory
      reg [15:0] memory;
      wire write = (WREMUX == "INV") ? ~WRE : WRE;
      always @(posedge WCK) if (write) memory[{WAD3, WAD2, WAD1, WAD0}] <= WD;
      assign F   = memory[{A, C, B, D}];
      assign FCO = 1'b0;
    end else begin : gen_table
      assign F   = init[{D, C, B, A}];
      assign FCO = 1'b0;
    end
  endgenerate
  assign OFX = IS_Z1 ? (M ? FXB : FXA) : (M ? F1 : F);
  generate
    if (WCKMUX != "WCK") begin : gen_inverted
      clock_without_a_model clock ();
    end
  endgenerate
endmodule

// Write port of the two slices beside it: four bits of data and of address.
module TRELLIS_RAMW (
  input  A0, B0, C0, D0, A1, B1, C1, D1,
  output WADO0, WADO1, WADO2, WADO3, WDO0, WDO1, WDO2, WDO3
);
  assign {WADO3, WADO2, WADO1, WADO0} = {A0, C0, B0, D0};
  assign {WDO3, WDO2, WDO1, WDO0} = {B1, D1, A1, C1};
endmodule

module TRELLIS_FF (
  input      CLK, LSR, CE, DI, M,
  output reg Q
);
  parameter GSR = "DISABLED";
  parameter CEMUX = "CE";
  parameter CLKMUX = "CLK";
  parameter LSRMUX = "LSR";
  parameter SRMODE = "LSR_OVER_CE";
  parameter REGSET = "RESET";
  parameter LSRMODE = "LSR";
  parameter SD = "0";

  wire enable = (CEMUX == "1") || (CEMUX == "CE" && CE) || (CEMUX == "INV" && ~CE);
  wire set    = (LSRMUX == "INV") ? ~LSR : LSR;
  wire next   = (SD == "1") ? DI : M;
  localparam VALUE = (REGSET == "SET") ? 1'b1 : 1'b0;
  generate
    if (SRMODE == "ASYNC") begin : gen_asynchronous
      always @(posedge CLK or posedge set)
        if (set) Q <= VALUE;
        else if (enable) Q <= next;
    end else begin : gen_synchronous
      always @(posedge CLK)
        if (set) Q <= VALUE;
        else if (enable) Q <= next;
    end
  endgenerate
  generate
    if (CLKMUX != "CLK" || LSRMODE != "LSR") begin : gen_other
      mode_without_a_model mode ();
    end
  endgenerate
endmodule
