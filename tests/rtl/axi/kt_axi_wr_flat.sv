// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Test top: kt_axi_wr with its AXI channels as single signals, and the constants that the port adds.
module kt_axi_wr_flat #(
  parameter int unsigned AddrW  = 40,
  parameter int unsigned DataW  = 128,
  parameter int unsigned BytesW = 20
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               req_valid_i,
  output logic               req_ready_o,
  input  logic [AddrW-1:0]   req_addr_i,
  input  logic [BytesW-1:0]  req_bytes_i,
  input  logic               data_valid_i,
  output logic               data_ready_o,
  input  logic [DataW-1:0]   data_i,
  output logic               busy_o,
  output logic               done_o,
  output logic               error_o,
  output logic [1:0]         error_resp_o,
  output logic               aw_valid_o,
  input  logic               aw_ready_i,
  output logic [0:0]         aw_id_o,
  output logic [AddrW-1:0]   aw_addr_o,
  output logic [7:0]         aw_len_o,
  output logic [2:0]         aw_size_o,
  output logic [1:0]         aw_burst_o,
  output logic               w_valid_o,
  input  logic               w_ready_i,
  output logic [DataW-1:0]   w_data_o,
  output logic [DataW/8-1:0] w_strb_o,
  output logic               w_last_o,
  input  logic               b_valid_i,
  output logic               b_ready_o,
  input  logic [1:0]         b_resp_i
);

  typedef struct packed {
    logic               last;
    logic [DataW/8-1:0] strb;
    logic [DataW-1:0]   data;
  } w_t;

  kt_axi_pkg::burst_t aw;
  w_t                 w;
  assign {aw_addr_o, aw_len_o}           = aw;
  assign {w_last_o, w_strb_o, w_data_o} = w;
  assign aw_id_o    = 1'b0;
  assign aw_size_o  = 3'($clog2(DataW / 8));
  assign aw_burst_o = kt_axi_pkg::BurstIncr;

  kt_axi_wr #(
    .AddrW(AddrW), .DataW(DataW), .BytesW(BytesW), .w_t(w_t)
  ) u_wr (
    .clk_i, .rst_ni,
    .req_valid_i, .req_ready_o, .req_addr_i, .req_bytes_i,
    .data_valid_i, .data_ready_o, .data_i,
    .busy_o, .done_o, .error_o, .error_resp_o,
    .aw_valid_o, .aw_ready_i, .aw_o(aw),
    .w_valid_o, .w_ready_i, .w_o(w),
    .b_valid_i, .b_ready_o, .b_resp_i
  );

endmodule
