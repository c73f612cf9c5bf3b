// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// One of each cell that the netlist of the chip has, for the comparison of its symbolic simulation with Verilator.
module symbolic_bench (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [11:0]        a_i,
  input  logic [11:0]        b_i,
  input  logic [3:0]         s_i,
  output logic [11:0]        not_o, and_o, or_o, xor_o, xnor_o, add_o, sub_o, mod_o, neg_o,
  output logic [23:0]        mul_o,
  output logic signed [23:0] smul_o, wide_o,
  output logic [9:0]         compare_o,
  output logic [7:0]         reduce_o,
  output logic [11:0]        shl_o, shr_o, sshr_o,
  output logic [7:0]         case_o,
  output logic [2:0]         index_o,
  output logic [31:0]        held_o,
  output logic [11:0]        read_o,
  output logic [15:0]        table_o,
  output logic [15:0]        sum_o
);

  logic signed [11:0] sa, sb;
  assign sa = a_i;
  assign sb = b_i;

  assign not_o  = ~a_i;
  assign and_o  = a_i & b_i;
  assign or_o   = a_i | b_i;
  assign xor_o  = a_i ^ b_i;
  assign xnor_o = a_i ~^ b_i;
  assign add_o  = a_i + b_i;
  assign sub_o  = a_i - b_i;
  assign mod_o  = (b_i == '0) ? '0 : a_i % b_i;
  assign neg_o  = -a_i;
  assign mul_o  = 24'(a_i) * 24'(b_i);
  assign smul_o = 24'(sa) * 24'(sb);
  assign wide_o = 24'(sa) + 24'(sb >>> s_i);
  assign compare_o = {a_i == b_i, a_i != b_i, a_i < b_i, a_i <= b_i, a_i > b_i, a_i >= b_i,
                      sa < sb, sa <= sb, sa > sb, sa >= sb};
  /* verilator lint_off WIDTHTRUNC */  // words as conditions
  assign reduce_o = {&a_i, |a_i, ^a_i, !a_i, a_i && b_i, a_i || b_i, ^b_i, (a_i[3:0] != 4'd0)};
  /* verilator lint_on WIDTHTRUNC */
  assign shl_o  = a_i << s_i;
  assign shr_o  = a_i >> s_i;
  assign sshr_o = sa >>> s_i;

  // one of several by number
  logic [2:0] part[4];
  assign part    = '{a_i[2:0], a_i[5:3], b_i[2:0], b_i[7:5]};
  assign index_o = part[s_i[1:0]];

  always_comb begin
    unique case (s_i[2:0])
      3'd0:    case_o = a_i[7:0];
      3'd1:    case_o = b_i[7:0];
      3'd2:    case_o = 8'h5a;
      3'd5:    case_o = a_i[11:4];
      default: case_o = b_i[11:4];
    endcase
  end

  // flip-flops: with a reset, with an enable, one of several by number
  logic [7:0] held_q[4];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= '{default: 8'hc3};
    else if (a_i[0]) held_q[s_i[1:0]] <= b_i[7:0];
  end
  assign held_o = {held_q[3], held_q[2], held_q[1], held_q[0]};

  logic [15:0] sum_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) sum_q <= '0;
    else if (b_i[1]) sum_q <= sum_q + 16'(a_i);
  end
  assign sum_o = sum_q;

  // a memory, and one that is read at once
  kt_ram_1r1w #(
    .Width(12),
    .Depth(16)
  ) u_ram (
    .clk_i,
    .wr_en_i  (!rst_ni || a_i[1]),
    .wr_addr_i(s_i),
    .wr_data_i(b_i),
    .rd_en_i  (!rst_ni || a_i[2]),
    .rd_addr_i(b_i[3:0]),
    .rd_data_o(read_o)
  );

  logic [15:0] table_q[8];
  always_ff @(posedge clk_i) if (!rst_ni || b_i[0]) table_q[s_i[2:0]] <= {a_i, s_i};
  assign table_o = table_q[a_i[2:0]];

endmodule
