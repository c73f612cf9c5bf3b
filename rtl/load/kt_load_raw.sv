// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What stands in for kt_load_zvc where there is no codec: everything passes.
module kt_load_raw
  import kt_pkg::*;
#(
  parameter int unsigned AxiW   = 128,
  parameter int unsigned AddrW  = 40,
  parameter int unsigned BytesW = 20,
  localparam int unsigned LaneW = $clog2(AxiW / 8)
) (
  // the ports of kt_load_zvc
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [AddrW-1:0]    base_i[8],
  // commands, and on to kt_load_request
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  command_t            cmd_i,
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output command_t            cmd_o,
  // its requests, and on to the read master
  input  logic                req_valid_i,
  output logic                req_ready_o,
  input  logic [AddrW-1:0]    req_addr_i,
  input  logic [BytesW-1:0]   req_bytes_i,
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output logic [AddrW-1:0]    req_addr_o,
  output logic [BytesW-1:0]   req_bytes_o,
  output logic                surface_o,      // it is for a surface
  // responses, and on to the gearbox
  input  logic                rsp_valid_i,
  output logic                rsp_ready_o,
  input  logic [AxiW-1:0]     rsp_data_i,
  input  logic [LaneW-1:0]    rsp_offset_i,
  input  logic [LaneW:0]      rsp_bytes_i,
  input  logic                rsp_last_i,
  input  logic                rsp_error_i,
  output logic                rsp_valid_o,
  input  logic                rsp_ready_i,
  output logic [AxiW-1:0]     rsp_data_o,
  output logic [LaneW-1:0]    rsp_offset_o,
  output logic                rsp_last_o,
  output logic                rsp_error_o,
  // a beat of a surface or of a packed segment came with an error; a segment is corrupt. They belong to this command,
  // row
  output logic                bus_error_o,
  output logic                corrupt_o,
  output index_t              error_index_o,
  output logic [9:0]          error_row_o,
  // with a request: it belongs to compression, and stands for these bytes
  output logic                zvc_o,
  output logic [BytesW-1:0]   raw_bytes_o
  /* verilator lint_on UNUSEDSIGNAL */
);

  assign cmd_valid_o = cmd_valid_i;
  assign cmd_ready_o = cmd_ready_i;
  assign cmd_o       = cmd_i;

  assign req_valid_o = req_valid_i;
  assign req_ready_o = req_ready_i;
  assign req_addr_o  = req_addr_i;
  assign req_bytes_o = req_bytes_i;
  assign surface_o   = 1'b0;
  assign zvc_o       = 1'b0;
  assign raw_bytes_o = '0;

  assign rsp_valid_o  = rsp_valid_i;
  assign rsp_ready_o  = rsp_ready_i;
  assign rsp_data_o   = rsp_data_i;
  assign rsp_offset_o = rsp_offset_i;
  assign rsp_last_o   = rsp_last_i;
  assign rsp_error_o  = rsp_error_i;

  assign bus_error_o   = 1'b0;
  assign corrupt_o     = 1'b0;
  assign error_index_o = '0;
  assign error_row_o   = '0;

endmodule
