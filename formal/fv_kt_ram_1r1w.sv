// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Memory of one write and one read port: a read gives the word that was last written to its address in an earlier cycle, one
// cycle later, and that word stays until the next read. One address, picked at power-up, is watched.
module fv_kt_ram_1r1w #(
  parameter int unsigned Width = 3,
  parameter int unsigned Depth = 6,
  localparam int unsigned Aw = $clog2(Depth)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             wr_en_i,
  input logic [Aw-1:0]    wr_addr_i,
  input logic [Width-1:0] wr_data_i,
  input logic             rd_en_i,
  input logic [Aw-1:0]    rd_addr_i,
  input logic [Aw-1:0]    pick_i
);
  logic [Width-1:0] data;
  kt_ram_1r1w #(
    .Width(Width),
    .Depth(Depth)
  ) dut (
    .clk_i,
    .wr_en_i,
    .wr_addr_i,
    .wr_data_i,
    .rd_en_i,
    .rd_addr_i,
    .rd_data_o(data)
  );
  `include "fv_reset.svh"
  `FV_ASSUME(m_range, 32'(wr_addr_i) < Depth && 32'(rd_addr_i) < Depth && 32'(pick_i) < Depth)

  // ---- the watched address, and the last read if it was of it
  logic [Aw-1:0]    pick_q;
  logic [Width-1:0] value_q, want_q;
  logic             known_q, ours_q;
  always_ff @(posedge clk_i) begin
    if (!past_ok_q) pick_q <= pick_i;
    if (wr_en_i && past_ok_q && wr_addr_i == pick_q) value_q <= wr_data_i;
    if (rd_en_i) want_q <= value_q;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q <= 1'b0;
      ours_q  <= 1'b0;
    end else begin
      if (wr_en_i && past_ok_q && wr_addr_i == pick_q) known_q <= 1'b1;
      if (rd_en_i) ours_q <= known_q && rd_addr_i == pick_q;
    end
  end
  `FV_ASSERT(a_read, !ours_q || data == want_q)
  `FV_ASSERT(i_mem, !(past_ok_q && known_q) || (dut.mem[pick_q] == value_q && 32'(pick_q) < Depth))

  `FV_COVER(c_both, ours_q && rd_en_i && wr_en_i && rd_addr_i == pick_q && wr_addr_i == pick_q && value_q != wr_data_i)
endmodule
