// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What stands in for kt_store_zvc where there is no codec: requests and beats pass.
module kt_store_raw
  import kt_pkg::*;
#(
  parameter int unsigned AxiW   = 128,
  parameter int unsigned AddrW  = 40,
  parameter int unsigned BytesW = 20
) (
  // the ports of kt_store_zvc
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic              clk_i,
  input  logic              rst_ni,
  // command with compression, before its first request
  input  logic              cmd_valid_i,
  output logic              cmd_ready_o,
  input  index_t            cmd_index_i,
  input  logic [AddrW-1:0]  cmd_surface_i,
  input  logic [9:0]        cmd_pitch_i,
  input  logic [9:0]        cmd_rows_i,
  input  logic [9:0]        cmd_segments_i,
  // requests, for each segment each row, and their beats; those of commands without compression pass, while busy_o is
  // low
  input  logic              req_valid_i,
  output logic              req_ready_o,
  input  logic              req_zvc_i,
  input  logic [AddrW-1:0]  req_addr_i,
  input  logic [BytesW-1:0] req_bytes_i,
  input  logic [7:0]        req_zero_i,   // with req_zvc_i
  input  index_t            req_index_i,  // without
  input  logic              req_last_i,
  input  logic              data_valid_i,
  output logic              data_ready_o,
  input  logic              data_zvc_i,
  input  logic [AxiW-1:0]   data_i,
  // write master; the last request of a command is its last
  output logic              req_valid_o,
  input  logic              req_ready_i,
  output logic              req_zvc_o,
  output logic [AddrW-1:0]  req_addr_o,
  output logic [BytesW-1:0] req_bytes_o,
  output index_t            req_index_o,
  output logic              req_last_o,
  output logic              data_valid_o,
  input  logic              data_ready_i,
  output logic [AxiW-1:0]   data_o,
  // a command is here whose last request has not left
  output logic              busy_o,
  // with a request of a command with compression: the bytes it stands for
  output logic [BytesW-1:0] raw_bytes_o
  /* verilator lint_on UNUSEDSIGNAL */
);

  assign cmd_ready_o = 1'b1;
  assign busy_o      = 1'b0;

  assign req_valid_o = req_valid_i;
  assign req_ready_o = req_ready_i;
  assign req_zvc_o   = 1'b0;
  assign req_addr_o  = req_addr_i;
  assign req_bytes_o = req_bytes_i;
  assign req_index_o = req_index_i;
  assign req_last_o  = req_last_i;
  assign raw_bytes_o = '0;

  assign data_valid_o = data_valid_i;
  assign data_ready_o = data_ready_i;
  assign data_o       = data_i;

endmodule
