// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Test top: two read masters behind one arbiter, as in the accelerator.
module kt_axi_rd_pair #(
  parameter int unsigned AddrW = 40,
  parameter int unsigned DataW = 128,
  localparam int unsigned LaneW = $clog2(DataW / 8)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [1:0]             req_valid_i,
  output logic [1:0]             req_ready_o,
  input  logic [AddrW-1:0]       req_addr_i[2],
  input  logic [19:0]            req_bytes_i[2],
  output logic [1:0]             rsp_valid_o,
  input  logic [1:0]             rsp_ready_i,
  output logic [DataW-1:0]       rsp_data_o[2],
  output logic [LaneW-1:0]       rsp_offset_o[2],
  output logic [LaneW:0]         rsp_bytes_o[2],
  output logic [1:0]             rsp_last_o,
  output logic [1:0]             rsp_error_o,
  output logic [1:0]             busy_o,
  output logic [1:0]             error_o,
  output logic [1:0]             error_resp_o[2],
  output logic                   ar_valid_o,
  input  logic                   ar_ready_i,
  output logic [0:0]             ar_id_o,
  output logic [AddrW-1:0]       ar_addr_o,
  output logic [7:0]             ar_len_o,
  output logic [2:0]             ar_size_o,
  output logic [1:0]             ar_burst_o,
  input  logic                   r_valid_i,
  output logic                   r_ready_o,
  input  logic [0:0]             r_id_i,
  input  logic [DataW-1:0]       r_data_i,
  input  logic [1:0]             r_resp_i,
  input  logic                   r_last_i
);

  typedef struct packed {
    logic [1:0]       resp;
    logic             last;
    logic [DataW-1:0] data;
  } r_t;

  logic [1:0]         ar_valid, ar_ready, r_valid, r_ready;
  kt_axi_pkg::burst_t ar[2], ar_pins;
  r_t                 r;
  assign {ar_addr_o, ar_len_o} = ar_pins;
  assign ar_size_o  = 3'(LaneW);
  assign ar_burst_o = kt_axi_pkg::BurstIncr;

  for (genvar c = 0; c < 2; c++) begin : gen_client
    kt_axi_rd #(
      .AddrW    (AddrW),
      .DataW    (DataW),
      .RegisterR(1'b0),
      .r_t      (r_t)
    ) u_rd (
      .clk_i,
      .rst_ni,
      .req_valid_i (req_valid_i[c]),
      .req_ready_o (req_ready_o[c]),
      .req_addr_i  (req_addr_i[c]),
      .req_bytes_i (req_bytes_i[c]),
      .rsp_valid_o (rsp_valid_o[c]),
      .rsp_ready_i (rsp_ready_i[c]),
      .rsp_data_o  (rsp_data_o[c]),
      .rsp_offset_o(rsp_offset_o[c]),
      .rsp_bytes_o (rsp_bytes_o[c]),
      .rsp_last_o  (rsp_last_o[c]),
      .rsp_error_o (rsp_error_o[c]),
      .busy_o      (busy_o[c]),
      .error_o     (error_o[c]),
      .error_resp_o(error_resp_o[c]),
      .ar_valid_o  (ar_valid[c]),
      .ar_ready_i  (ar_ready[c]),
      .ar_o        (ar[c]),
      .r_valid_i   (r_valid[c]),
      .r_ready_o   (r_ready[c]),
      .r_i         (r)
    );
  end

  kt_axi_rd_arb #(
    .r_t(r_t)
  ) u_arb (
    .clk_i, .rst_ni,
    .c_ar_valid_i(ar_valid), .c_ar_ready_o(ar_ready), .c_ar_i(ar),
    .c_r_valid_o(r_valid), .c_r_ready_i(r_ready), .c_r_o(r),
    .ar_valid_o, .ar_ready_i, .ar_id_o, .ar_o(ar_pins),
    .r_valid_i, .r_ready_o, .r_id_i, .r_i({r_resp_i, r_last_i, r_data_i})
  );

endmodule
