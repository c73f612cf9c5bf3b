// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// AXI4-Lite slave in front of a register block that takes one access in a cycle and answers in the next one.
//
// Address, write address and write data are taken into a register each, in any order; the access is made when what it
// needs is there and the response register of its kind is free. Reads go first; since one is possible every third cycle
// at most, a write waits for one cycle. All outputs to the bus come from flip-flops.
module kt_axi_lite #(
  parameter int unsigned AddrW = 10
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // AXI4-Lite
  input  logic             aw_valid_i,
  output logic             aw_ready_o,
  input  logic [AddrW-1:2] aw_addr_i,
  input  logic             w_valid_i,
  output logic             w_ready_o,
  input  logic [31:0]      w_data_i,
  input  logic [3:0]       w_strb_i,
  output logic             b_valid_o,
  input  logic             b_ready_i,
  output logic [1:0]       b_resp_o,
  input  logic             ar_valid_i,
  output logic             ar_ready_o,
  input  logic [AddrW-1:2] ar_addr_i,
  output logic             r_valid_o,
  input  logic             r_ready_i,
  output logic [31:0]      r_data_o,
  output logic [1:0]       r_resp_o,
  // something is under way
  output logic             busy_o,
  // registers
  output logic             req_o,
  output logic             write_o,
  output logic [AddrW-1:2] addr_o,
  output logic [31:0]      wdata_o,
  output logic [3:0]       strb_o,
  input  logic [31:0]      rdata_i,
  input  logic             error_i
);

  logic             aw_q, w_q, ar_q;    // taken, not yet used
  logic             b_q, r_q;           // response offered
  logic             wrote_q, read_q;    // the access was made in the cycle before
  logic             write, read;
  logic [AddrW-1:2] aw_addr_q, ar_addr_q;

  assign read  = ar_q && !r_q;
  assign write = aw_q && w_q && !b_q && !read;

  assign aw_ready_o = !aw_q;
  assign w_ready_o  = !w_q;
  assign ar_ready_o = !ar_q;
  assign b_valid_o  = b_q;
  assign r_valid_o  = r_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_q    <= 1'b0;
      w_q     <= 1'b0;
      ar_q    <= 1'b0;
      b_q     <= 1'b0;
      r_q     <= 1'b0;
      wrote_q <= 1'b0;
      read_q  <= 1'b0;
    end else begin
      aw_q    <= aw_q ? !write : aw_valid_i;
      w_q     <= w_q ? !write : w_valid_i;
      ar_q    <= ar_q ? !read : ar_valid_i;
      b_q     <= b_q ? !b_ready_i : wrote_q;
      r_q     <= r_q ? !r_ready_i : read_q;
      wrote_q <= write;
      read_q  <= read;
    end
  end

  always_ff @(posedge clk_i) begin
    if (aw_valid_i && !aw_q) aw_addr_q <= aw_addr_i;
    if (ar_valid_i && !ar_q) ar_addr_q <= ar_addr_i;
    if (w_valid_i && !w_q) begin
      wdata_o <= w_data_i;
      strb_o  <= w_strb_i;
    end
    if (wrote_q) b_resp_o <= error_i ? kt_axi_pkg::RespError : kt_axi_pkg::RespOkay;
    if (read_q) begin
      r_data_o <= rdata_i;
      r_resp_o <= error_i ? kt_axi_pkg::RespError : kt_axi_pkg::RespOkay;
    end
  end

  assign busy_o  = aw_q || w_q || ar_q || b_q || r_q || wrote_q || read_q;
  assign req_o   = write || read;
  assign write_o = write;
  assign addr_o  = write ? aw_addr_q : ar_addr_q;

endmodule
