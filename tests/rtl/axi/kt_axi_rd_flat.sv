// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Test top: kt_axi_rd with its AXI channels as single signals.
module kt_axi_rd_flat #(
  parameter int unsigned AddrW  = 40,
  parameter int unsigned DataW  = 128,
  parameter int unsigned BytesW = 20,
  localparam int unsigned LaneW = $clog2(DataW / 8)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              req_valid_i,
  output logic              req_ready_o,
  input  logic [AddrW-1:0]  req_addr_i,
  input  logic [BytesW-1:0] req_bytes_i,
  output logic              rsp_valid_o,
  input  logic              rsp_ready_i,
  output logic [DataW-1:0]  rsp_data_o,
  output logic [LaneW-1:0]  rsp_offset_o,
  output logic [LaneW:0]    rsp_bytes_o,
  output logic              rsp_last_o,
  output logic              rsp_error_o,
  output logic              busy_o,
  output logic              error_o,
  output logic [1:0]        error_resp_o,
  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output logic [AddrW-1:0]  ar_addr_o,
  output logic [7:0]        ar_len_o,
  input  logic              r_valid_i,
  output logic              r_ready_o,
  input  logic [DataW-1:0]  r_data_i,
  input  logic [1:0]        r_resp_i,
  input  logic              r_last_i
);

  typedef struct packed {
    logic [1:0]       resp;
    logic             last;
    logic [DataW-1:0] data;
  } r_t;

  kt_axi_pkg::burst_t ar;
  assign {ar_addr_o, ar_len_o} = ar;

  kt_axi_rd #(
    .AddrW(AddrW), .DataW(DataW), .BytesW(BytesW), .r_t(r_t)
  ) u_rd (
    .clk_i, .rst_ni,
    .req_valid_i, .req_ready_o, .req_addr_i, .req_bytes_i,
    .rsp_valid_o, .rsp_ready_i, .rsp_data_o, .rsp_offset_o, .rsp_bytes_o, .rsp_last_o, .rsp_error_o,
    .busy_o, .error_o, .error_resp_o,
    .ar_valid_o, .ar_ready_i, .ar_o(ar),
    .r_valid_i, .r_ready_o, .r_i({r_resp_i, r_last_i, r_data_i})
  );

endmodule
