// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The block RAMs of Xilinx 7-series as yosys's mapping of a memory with one write and one read port uses them: in mode TDP port A
// writes and port B reads, in mode SDP the other way round; of one width, without output registers, reset or initial content. yosys
// has no simulation model of them. Behaviour: Xilinx UG473, "7 Series FPGAs Memory Resources". A cycle that reads the word that it
// writes reads the old one (READ_FIRST).

// The words: bits in lanes of nine, eight of data and one of parity, each written by an enable of its own.
module kt_ramb_words #(
  parameter Width = 9, parameter AddressW = 11
) (
  input                      clk_read, read, clk_write, write,
  input      [AddressW-1:0]  read_address, write_address,
  input      [7:0]           lanes,
  input      [Width-1:0]     data,
  output reg [Width-1:0]     word
);
  reg [Width-1:0] memory [0:2**AddressW-1];
  reg [Width-1:0] mask;
  integer i;
  always @* for (i = 0; i < Width; i = i + 1) mask[i] = lanes[i/9];
  always @(posedge clk_read) if (read) word <= memory[read_address];
  always @(posedge clk_write) if (write) memory[write_address] <= (memory[write_address] & ~mask) | (data & mask);
endmodule

module RAMB18E1 (
  input         CLKARDCLK, CLKBWRCLK, ENARDEN, ENBWREN, REGCEAREGCE, REGCEB, RSTRAMARSTRAM, RSTRAMB, RSTREGARSTREG, RSTREGB,
  input  [13:0] ADDRARDADDR, ADDRBWRADDR,
  input  [15:0] DIADI, DIBDI,
  input  [1:0]  DIPADIP, DIPBDIP, WEA,
  input  [3:0]  WEBWE,
  output [15:0] DOADO, DOBDO,
  output [1:0]  DOPADOP, DOPBDOP
);
  parameter RAM_MODE = "TDP", WRITE_MODE_A = "WRITE_FIRST", WRITE_MODE_B = "WRITE_FIRST";
  parameter READ_WIDTH_A = 0, READ_WIDTH_B = 0, WRITE_WIDTH_A = 0, WRITE_WIDTH_B = 0, DOA_REG = 0, DOB_REG = 0;
  parameter RDADDR_COLLISION_HWCONFIG = "DELAYED_WRITE", SIM_COLLISION_CHECK = "ALL", SIM_DEVICE = "VIRTEX6";
  parameter RSTREG_PRIORITY_A = "RSTREG", RSTREG_PRIORITY_B = "RSTREG", INIT_A = 0, INIT_B = 0, SRVAL_A = 0, SRVAL_B = 0;
  parameter IS_CLKARDCLK_INVERTED = 0, IS_CLKBWRCLK_INVERTED = 0, IS_ENARDEN_INVERTED = 0, IS_ENBWREN_INVERTED = 0;
  parameter IS_RSTRAMARSTRAM_INVERTED = 0, IS_RSTRAMB_INVERTED = 0, IS_RSTREGARSTREG_INVERTED = 0, IS_RSTREGB_INVERTED = 0;
  parameter INIT_00 = 256'd0, INIT_01 = 256'd0, INIT_02 = 256'd0, INIT_03 = 256'd0;
  parameter INIT_04 = 256'd0, INIT_05 = 256'd0, INIT_06 = 256'd0, INIT_07 = 256'd0;
  parameter INIT_08 = 256'd0, INIT_09 = 256'd0, INIT_0A = 256'd0, INIT_0B = 256'd0;
  parameter INIT_0C = 256'd0, INIT_0D = 256'd0, INIT_0E = 256'd0, INIT_0F = 256'd0;
  parameter INIT_10 = 256'd0, INIT_11 = 256'd0, INIT_12 = 256'd0, INIT_13 = 256'd0;
  parameter INIT_14 = 256'd0, INIT_15 = 256'd0, INIT_16 = 256'd0, INIT_17 = 256'd0;
  parameter INIT_18 = 256'd0, INIT_19 = 256'd0, INIT_1A = 256'd0, INIT_1B = 256'd0;
  parameter INIT_1C = 256'd0, INIT_1D = 256'd0, INIT_1E = 256'd0, INIT_1F = 256'd0;
  parameter INIT_20 = 256'd0, INIT_21 = 256'd0, INIT_22 = 256'd0, INIT_23 = 256'd0;
  parameter INIT_24 = 256'd0, INIT_25 = 256'd0, INIT_26 = 256'd0, INIT_27 = 256'd0;
  parameter INIT_28 = 256'd0, INIT_29 = 256'd0, INIT_2A = 256'd0, INIT_2B = 256'd0;
  parameter INIT_2C = 256'd0, INIT_2D = 256'd0, INIT_2E = 256'd0, INIT_2F = 256'd0;
  parameter INIT_30 = 256'd0, INIT_31 = 256'd0, INIT_32 = 256'd0, INIT_33 = 256'd0;
  parameter INIT_34 = 256'd0, INIT_35 = 256'd0, INIT_36 = 256'd0, INIT_37 = 256'd0;
  parameter INIT_38 = 256'd0, INIT_39 = 256'd0, INIT_3A = 256'd0, INIT_3B = 256'd0;
  parameter INIT_3C = 256'd0, INIT_3D = 256'd0, INIT_3E = 256'd0, INIT_3F = 256'd0;
  parameter INITP_00 = 256'd0, INITP_01 = 256'd0, INITP_02 = 256'd0, INITP_03 = 256'd0;
  parameter INITP_04 = 256'd0, INITP_05 = 256'd0, INITP_06 = 256'd0, INITP_07 = 256'd0;

  localparam Simple = RAM_MODE == "SDP";
  // Bits of a word; a block without ports is none of the design.
  localparam Read = Simple ? READ_WIDTH_A : READ_WIDTH_B, Write = Simple ? WRITE_WIDTH_B : WRITE_WIDTH_A;
  localparam Others = READ_WIDTH_A + READ_WIDTH_B + WRITE_WIDTH_A + WRITE_WIDTH_B - Read - Write;
  localparam Width = Read == 0 ? 9 : Read;
  generate
    if (Read != Write || Others != 0 || DOA_REG != 0 || DOB_REG != 0 || IS_CLKARDCLK_INVERTED || IS_CLKBWRCLK_INVERTED
        || IS_ENARDEN_INVERTED || IS_ENBWREN_INVERTED) begin : gen_other
      use_without_a_model use();
    end
  endgenerate

  // Of the widest word; narrower ones use the low bits.
  wire [35:0] data, word;
  genvar l;
  generate
    for (l = 0; l < 2; l = l + 1) begin : gen_lane
      assign data[9*l+:9] = {DIPADIP[l], DIADI[8*l+:8]};
      assign data[9*(l+2)+:9] = {DIPBDIP[l], DIBDI[8*l+:8]};
      assign {DOPADOP[l], DOADO[8*l+:8]} = word[9*l+:9];
      assign {DOPBDOP[l], DOBDO[8*l+:8]} = Simple ? word[9*(l+2)+:9] : word[9*l+:9];
    end
    // Lowest bit of a word's address.
    localparam Low = Width == 72 ? 6 : Width == 36 ? 5 : Width == 18 ? 4 : Width == 9 ? 3 : Width == 4 ? 2 : Width == 2 ? 1 : 0;
    if (Width < 36) assign word[35:Width] = 0;
  endgenerate
  kt_ramb_words #(.Width(Width), .AddressW(14 - Low)) u_words (
    .clk_read(Simple ? CLKARDCLK : CLKBWRCLK), .read(Simple ? ENARDEN : ENBWREN),
    .read_address(Simple ? ADDRARDADDR[13:Low] : ADDRBWRADDR[13:Low]), .word(word[Width-1:0]),
    .clk_write(Simple ? CLKBWRCLK : CLKARDCLK), .write(Simple ? ENBWREN : ENARDEN),
    .write_address(Simple ? ADDRBWRADDR[13:Low] : ADDRARDADDR[13:Low]), .lanes(Simple ? WEBWE : WEA),
    .data(data[Width-1:0]));
endmodule

module RAMB36E1 (
  input         CLKARDCLK, CLKBWRCLK, ENARDEN, ENBWREN, REGCEAREGCE, REGCEB, RSTRAMARSTRAM, RSTRAMB, RSTREGARSTREG, RSTREGB,
  input  [15:0] ADDRARDADDR, ADDRBWRADDR,
  input  [31:0] DIADI, DIBDI,
  input  [3:0]  DIPADIP, DIPBDIP, WEA,
  input  [7:0]  WEBWE,
  input         CASCADEINA, CASCADEINB, INJECTDBITERR, INJECTSBITERR,
  output        CASCADEOUTA, CASCADEOUTB, DBITERR, SBITERR,
  output [7:0]  ECCPARITY,
  output [8:0]  RDADDRECC,
  output [31:0] DOADO, DOBDO,
  output [3:0]  DOPADOP, DOPBDOP
);
  parameter RAM_MODE = "TDP", WRITE_MODE_A = "WRITE_FIRST", WRITE_MODE_B = "WRITE_FIRST";
  parameter READ_WIDTH_A = 0, READ_WIDTH_B = 0, WRITE_WIDTH_A = 0, WRITE_WIDTH_B = 0, DOA_REG = 0, DOB_REG = 0;
  parameter RDADDR_COLLISION_HWCONFIG = "DELAYED_WRITE", SIM_COLLISION_CHECK = "ALL", SIM_DEVICE = "VIRTEX6";
  parameter RSTREG_PRIORITY_A = "RSTREG", RSTREG_PRIORITY_B = "RSTREG", INIT_A = 0, INIT_B = 0, SRVAL_A = 0, SRVAL_B = 0;
  parameter IS_CLKARDCLK_INVERTED = 0, IS_CLKBWRCLK_INVERTED = 0, IS_ENARDEN_INVERTED = 0, IS_ENBWREN_INVERTED = 0;
  parameter IS_RSTRAMARSTRAM_INVERTED = 0, IS_RSTRAMB_INVERTED = 0, IS_RSTREGARSTREG_INVERTED = 0, IS_RSTREGB_INVERTED = 0;
  parameter EN_ECC_READ = "FALSE", EN_ECC_WRITE = "FALSE", RAM_EXTENSION_A = "NONE", RAM_EXTENSION_B = "NONE";
  parameter INIT_FILE = "NONE";
  parameter INIT_00 = 256'd0, INIT_01 = 256'd0, INIT_02 = 256'd0, INIT_03 = 256'd0;
  parameter INIT_04 = 256'd0, INIT_05 = 256'd0, INIT_06 = 256'd0, INIT_07 = 256'd0;
  parameter INIT_08 = 256'd0, INIT_09 = 256'd0, INIT_0A = 256'd0, INIT_0B = 256'd0;
  parameter INIT_0C = 256'd0, INIT_0D = 256'd0, INIT_0E = 256'd0, INIT_0F = 256'd0;
  parameter INIT_10 = 256'd0, INIT_11 = 256'd0, INIT_12 = 256'd0, INIT_13 = 256'd0;
  parameter INIT_14 = 256'd0, INIT_15 = 256'd0, INIT_16 = 256'd0, INIT_17 = 256'd0;
  parameter INIT_18 = 256'd0, INIT_19 = 256'd0, INIT_1A = 256'd0, INIT_1B = 256'd0;
  parameter INIT_1C = 256'd0, INIT_1D = 256'd0, INIT_1E = 256'd0, INIT_1F = 256'd0;
  parameter INIT_20 = 256'd0, INIT_21 = 256'd0, INIT_22 = 256'd0, INIT_23 = 256'd0;
  parameter INIT_24 = 256'd0, INIT_25 = 256'd0, INIT_26 = 256'd0, INIT_27 = 256'd0;
  parameter INIT_28 = 256'd0, INIT_29 = 256'd0, INIT_2A = 256'd0, INIT_2B = 256'd0;
  parameter INIT_2C = 256'd0, INIT_2D = 256'd0, INIT_2E = 256'd0, INIT_2F = 256'd0;
  parameter INIT_30 = 256'd0, INIT_31 = 256'd0, INIT_32 = 256'd0, INIT_33 = 256'd0;
  parameter INIT_34 = 256'd0, INIT_35 = 256'd0, INIT_36 = 256'd0, INIT_37 = 256'd0;
  parameter INIT_38 = 256'd0, INIT_39 = 256'd0, INIT_3A = 256'd0, INIT_3B = 256'd0;
  parameter INIT_3C = 256'd0, INIT_3D = 256'd0, INIT_3E = 256'd0, INIT_3F = 256'd0;
  parameter INIT_40 = 256'd0, INIT_41 = 256'd0, INIT_42 = 256'd0, INIT_43 = 256'd0;
  parameter INIT_44 = 256'd0, INIT_45 = 256'd0, INIT_46 = 256'd0, INIT_47 = 256'd0;
  parameter INIT_48 = 256'd0, INIT_49 = 256'd0, INIT_4A = 256'd0, INIT_4B = 256'd0;
  parameter INIT_4C = 256'd0, INIT_4D = 256'd0, INIT_4E = 256'd0, INIT_4F = 256'd0;
  parameter INIT_50 = 256'd0, INIT_51 = 256'd0, INIT_52 = 256'd0, INIT_53 = 256'd0;
  parameter INIT_54 = 256'd0, INIT_55 = 256'd0, INIT_56 = 256'd0, INIT_57 = 256'd0;
  parameter INIT_58 = 256'd0, INIT_59 = 256'd0, INIT_5A = 256'd0, INIT_5B = 256'd0;
  parameter INIT_5C = 256'd0, INIT_5D = 256'd0, INIT_5E = 256'd0, INIT_5F = 256'd0;
  parameter INIT_60 = 256'd0, INIT_61 = 256'd0, INIT_62 = 256'd0, INIT_63 = 256'd0;
  parameter INIT_64 = 256'd0, INIT_65 = 256'd0, INIT_66 = 256'd0, INIT_67 = 256'd0;
  parameter INIT_68 = 256'd0, INIT_69 = 256'd0, INIT_6A = 256'd0, INIT_6B = 256'd0;
  parameter INIT_6C = 256'd0, INIT_6D = 256'd0, INIT_6E = 256'd0, INIT_6F = 256'd0;
  parameter INIT_70 = 256'd0, INIT_71 = 256'd0, INIT_72 = 256'd0, INIT_73 = 256'd0;
  parameter INIT_74 = 256'd0, INIT_75 = 256'd0, INIT_76 = 256'd0, INIT_77 = 256'd0;
  parameter INIT_78 = 256'd0, INIT_79 = 256'd0, INIT_7A = 256'd0, INIT_7B = 256'd0;
  parameter INIT_7C = 256'd0, INIT_7D = 256'd0, INIT_7E = 256'd0, INIT_7F = 256'd0;
  parameter INITP_00 = 256'd0, INITP_01 = 256'd0, INITP_02 = 256'd0, INITP_03 = 256'd0;
  parameter INITP_04 = 256'd0, INITP_05 = 256'd0, INITP_06 = 256'd0, INITP_07 = 256'd0;
  parameter INITP_08 = 256'd0, INITP_09 = 256'd0, INITP_0A = 256'd0, INITP_0B = 256'd0;
  parameter INITP_0C = 256'd0, INITP_0D = 256'd0, INITP_0E = 256'd0, INITP_0F = 256'd0;

  localparam Simple = RAM_MODE == "SDP";
  // Bits of a word; a block without ports is none of the design.
  localparam Read = Simple ? READ_WIDTH_A : READ_WIDTH_B, Write = Simple ? WRITE_WIDTH_B : WRITE_WIDTH_A;
  localparam Others = READ_WIDTH_A + READ_WIDTH_B + WRITE_WIDTH_A + WRITE_WIDTH_B - Read - Write;
  localparam Width = Read == 0 ? 9 : Read;
  generate
    if (Read != Write || Others != 0 || DOA_REG != 0 || DOB_REG != 0 || IS_CLKARDCLK_INVERTED || IS_CLKBWRCLK_INVERTED
        || IS_ENARDEN_INVERTED || IS_ENBWREN_INVERTED) begin : gen_other
      use_without_a_model use();
    end
  endgenerate

  // Of the widest word; narrower ones use the low bits.
  wire [71:0] data, word;
  genvar l;
  generate
    for (l = 0; l < 4; l = l + 1) begin : gen_lane
      assign data[9*l+:9] = {DIPADIP[l], DIADI[8*l+:8]};
      assign data[9*(l+4)+:9] = {DIPBDIP[l], DIBDI[8*l+:8]};
      assign {DOPADOP[l], DOADO[8*l+:8]} = word[9*l+:9];
      assign {DOPBDOP[l], DOBDO[8*l+:8]} = Simple ? word[9*(l+4)+:9] : word[9*l+:9];
    end
    // Lowest bit of a word's address.
    localparam Low = Width == 72 ? 6 : Width == 36 ? 5 : Width == 18 ? 4 : Width == 9 ? 3 : Width == 4 ? 2 : Width == 2 ? 1 : 0;
    if (Width < 72) assign word[71:Width] = 0;
  endgenerate
  kt_ramb_words #(.Width(Width), .AddressW(15 - Low)) u_words (
    .clk_read(Simple ? CLKARDCLK : CLKBWRCLK), .read(Simple ? ENARDEN : ENBWREN),
    .read_address(Simple ? ADDRARDADDR[14:Low] : ADDRBWRADDR[14:Low]), .word(word[Width-1:0]),
    .clk_write(Simple ? CLKBWRCLK : CLKARDCLK), .write(Simple ? ENBWREN : ENARDEN),
    .write_address(Simple ? ADDRBWRADDR[14:Low] : ADDRARDADDR[14:Low]), .lanes(Simple ? WEBWE : WEA),
    .data(data[Width-1:0]));
endmodule

// Distributed RAMs: four read ports, the last of which also gives the address to write. As one array, which simulates faster than
// yosys's models of four vectors.
module RAM32M (
  input        WCLK, WE,
  input  [4:0] ADDRA, ADDRB, ADDRC, ADDRD,
  input  [1:0] DIA, DIB, DIC, DID,
  output [1:0] DOA, DOB, DOC, DOD
);
  parameter INIT_A = 64'd0, INIT_B = 64'd0, INIT_C = 64'd0, INIT_D = 64'd0, IS_WCLK_INVERTED = 1'b0;
  reg [1:0] a [0:31], b [0:31], c [0:31], d [0:31];
  assign DOA = a[ADDRA];
  assign DOB = b[ADDRB];
  assign DOC = c[ADDRC];
  assign DOD = d[ADDRD];
  always @(posedge WCLK) if (WE) begin
    a[ADDRD] <= DIA;
    b[ADDRD] <= DIB;
    c[ADDRD] <= DIC;
    d[ADDRD] <= DID;
  end
endmodule

module RAM64M (
  input        WCLK, WE,
  input  [5:0] ADDRA, ADDRB, ADDRC, ADDRD,
  input        DIA, DIB, DIC, DID,
  output       DOA, DOB, DOC, DOD
);
  parameter INIT_A = 64'd0, INIT_B = 64'd0, INIT_C = 64'd0, INIT_D = 64'd0, IS_WCLK_INVERTED = 1'b0;
  reg a [0:63], b [0:63], c [0:63], d [0:63];
  assign DOA = a[ADDRA];
  assign DOB = b[ADDRB];
  assign DOC = c[ADDRC];
  assign DOD = d[ADDRD];
  always @(posedge WCLK) if (WE) begin
    a[ADDRD] <= DIA;
    b[ADDRD] <= DIB;
    c[ADDRD] <= DIC;
    d[ADDRD] <= DID;
  end
endmodule
