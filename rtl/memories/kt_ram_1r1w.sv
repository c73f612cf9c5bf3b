// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Memory with one write port and one registered read port: the only form that maps to block RAM on every FPGA family
// (no reset, no byte enables, separate read enable). The output holds its word while rd_en_i is low. Reading a word in
// the cycle that writes it gives the old value.
module kt_ram_1r1w #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 4096,
  localparam int unsigned Aw = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic             clk_i,
  // write
  input  logic             wr_en_i,
  input  logic [Aw-1:0]    wr_addr_i,
  input  logic [Width-1:0] wr_data_i,
  // read
  input  logic             rd_en_i,
  input  logic [Aw-1:0]    rd_addr_i,
  output logic [Width-1:0] rd_data_o
);

  logic [Width-1:0] mem[Depth];

`ifdef KT_FAST_SIM
  // Fast simulators: the same, but a process that reads before it writes needs no copy of what is written.
  /* verilator lint_off BLKSEQ */
  always_ff @(posedge clk_i) begin
    if (rd_en_i) rd_data_o <= mem[rd_addr_i];
    if (wr_en_i) mem[wr_addr_i] = wr_data_i;
  end
  /* verilator lint_on BLKSEQ */
`else
  always_ff @(posedge clk_i) begin
    if (wr_en_i) mem[wr_addr_i] <= wr_data_i;
  end

  always_ff @(posedge clk_i) begin
    if (rd_en_i) rd_data_o <= mem[rd_addr_i];
  end
`endif

endmodule
