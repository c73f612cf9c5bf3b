// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The accelerator's AXI4 port: two read masters behind an arbiter (command fetch, LOAD), a write master (STORE), and
// the gate that brings the bus to rest before a soft reset.
//
//   fetch --> kt_axi_rd --+
//                         +--> kt_axi_rd_arb --+
//   LOAD  --> kt_axi_rd --+                    +--> kt_axi_gate --> pins
//   STORE --> kt_axi_wr -----------------------+
//
// A master runs with its client's clock. Clients' contracts: kt_axi_rd, kt_axi_wr. The command fetch asks for whole
// commands and looks neither at the beginning nor at the end of a request.
module kt_axi_port
  import kt_axi_pkg::*;
#(
  parameter int unsigned DataW       = 128,
  parameter int unsigned Outstanding = 32,  // bursts of LOAD
  localparam int unsigned LaneW = $clog2(DataW / 8)
) (
  input  logic               clk_i,
  input  logic               fetch_clk_i,
  input  logic               load_clk_i,
  input  logic               store_clk_i,
  input  logic               rst_ni,   // also resets the masters
  input  logic               gate_rst_ni,
  input  logic               halt_i,
  output logic               idle_o,
  // error responses, for each master
  output logic [Masters-1:0] error_o,
  output logic [1:0]         error_resp_o[Masters],
  // command fetch
  input  logic               fetch_req_valid_i,
  output logic               fetch_req_ready_o,
  input  request_t           fetch_req_i,
  output logic               fetch_rsp_valid_o,
  input  logic               fetch_rsp_ready_i,
  output logic [DataW-1:0]   fetch_rsp_data_o,
  output logic               fetch_rsp_error_o,
  output logic               fetch_busy_o,
  // LOAD
  input  logic               load_req_valid_i,
  output logic               load_req_ready_o,
  input  request_t           load_req_i,
  output logic               load_rsp_valid_o,
  input  logic               load_rsp_ready_i,
  output logic [DataW-1:0]   load_rsp_data_o,
  output logic [LaneW-1:0]   load_rsp_offset_o,
  output logic [LaneW:0]     load_rsp_bytes_o,
  output logic               load_rsp_last_o,
  output logic               load_rsp_error_o,
  // STORE
  input  logic               store_req_valid_i,
  output logic               store_req_ready_o,
  input  request_t           store_req_i,
  input  logic               store_data_valid_i,
  output logic               store_data_ready_o,
  input  logic [DataW-1:0]   store_data_i,
  output logic               store_done_o,
  // pins
  output logic               axi_ar_valid_o,
  input  logic               axi_ar_ready_i,
  output logic [0:0]         axi_ar_id_o,
  output logic [AddrW-1:0]   axi_ar_addr_o,
  output logic [7:0]         axi_ar_len_o,
  output logic [2:0]         axi_ar_size_o,
  output logic [1:0]         axi_ar_burst_o,
  input  logic               axi_r_valid_i,
  output logic               axi_r_ready_o,
  input  logic [0:0]         axi_r_id_i,
  input  logic [DataW-1:0]   axi_r_data_i,
  input  logic [1:0]         axi_r_resp_i,
  input  logic               axi_r_last_i,
  output logic               axi_aw_valid_o,
  input  logic               axi_aw_ready_i,
  output logic [0:0]         axi_aw_id_o,
  output logic [AddrW-1:0]   axi_aw_addr_o,
  output logic [7:0]         axi_aw_len_o,
  output logic [2:0]         axi_aw_size_o,
  output logic [1:0]         axi_aw_burst_o,
  output logic               axi_w_valid_o,
  input  logic               axi_w_ready_i,
  output logic [DataW-1:0]   axi_w_data_o,
  output logic [DataW/8-1:0] axi_w_strb_o,
  output logic               axi_w_last_o,
  input  logic               axi_b_valid_i,
  output logic               axi_b_ready_o,
  input  logic [1:0]         axi_b_resp_i
);

  typedef struct packed {
    logic [1:0]       resp;
    logic             last;
    logic [DataW-1:0] data;
  } r_t;

  typedef struct packed {
    logic               last;
    logic [DataW/8-1:0] strb;
    logic [DataW-1:0]   data;
  } w_t;

  // ---- pins
  burst_t     ar, aw;
  r_t         r_pins;
  w_t         w;
  logic [0:0] ar_id;

  assign axi_ar_id_o    = ar_id;
  assign axi_ar_addr_o  = ar.addr;
  assign axi_ar_len_o   = ar.len;
  assign axi_ar_size_o  = 3'(LaneW);
  assign axi_ar_burst_o = BurstIncr;
  assign axi_aw_id_o    = 1'b0;
  assign axi_aw_addr_o  = aw.addr;
  assign axi_aw_len_o   = aw.len;
  assign axi_aw_size_o  = 3'(LaneW);
  assign axi_aw_burst_o = BurstIncr;
  assign axi_w_data_o   = w.data;
  assign axi_w_strb_o   = w.strb;
  assign axi_w_last_o   = w.last;
  assign r_pins         = '{resp: axi_r_resp_i, last: axi_r_last_i, data: axi_r_data_i};

  // ---- read masters
  logic [1:0]       rd_ar_valid, rd_ar_ready, rd_r_valid, rd_r_ready;
  burst_t           rd_ar[2];
  r_t               rd_r;
  logic             ar_valid, ar_ready, r_valid, r_ready, aw_valid, aw_ready, w_valid, w_ready, b_valid, b_ready;
  /* verilator lint_off UNUSEDSIGNAL */  // the fetch asks for whole commands
  logic [LaneW-1:0] fetch_rsp_offset;
  logic [LaneW:0]   fetch_rsp_bytes;
  logic             fetch_rsp_last;
  logic             load_busy, store_busy;  // the gate sees what is outstanding on the bus itself
  /* verilator lint_on UNUSEDSIGNAL */

  kt_axi_rd #(
    .AddrW(AddrW), .DataW(DataW), .BytesW(BytesW), .RegisterR(1'b0), .ar_t(burst_t), .r_t(r_t)
  ) u_rd_fetch (
    .clk_i       (fetch_clk_i),
    .rst_ni,
    .req_valid_i (fetch_req_valid_i),
    .req_ready_o (fetch_req_ready_o),
    .req_addr_i  (fetch_req_i.addr),
    .req_bytes_i (fetch_req_i.bytes),
    .rsp_valid_o (fetch_rsp_valid_o),
    .rsp_ready_i (fetch_rsp_ready_i),
    .rsp_data_o  (fetch_rsp_data_o),
    .rsp_offset_o(fetch_rsp_offset),
    .rsp_bytes_o (fetch_rsp_bytes),
    .rsp_last_o  (fetch_rsp_last),
    .rsp_error_o (fetch_rsp_error_o),
    .busy_o      (fetch_busy_o),
    .error_o     (error_o[MasterFetch]),
    .error_resp_o(error_resp_o[MasterFetch]),
    .ar_valid_o  (rd_ar_valid[MasterFetch]),
    .ar_ready_i  (rd_ar_ready[MasterFetch]),
    .ar_o        (rd_ar[MasterFetch]),
    .r_valid_i   (rd_r_valid[MasterFetch]),
    .r_ready_o   (rd_r_ready[MasterFetch]),
    .r_i         (rd_r)
  );

  kt_axi_rd #(
    .AddrW(AddrW), .DataW(DataW), .BytesW(BytesW), .Outstanding(Outstanding), .RegisterR(1'b0),
    .ar_t(burst_t), .r_t(r_t)
  ) u_rd_load (
    .clk_i       (load_clk_i),
    .rst_ni,
    .req_valid_i (load_req_valid_i),
    .req_ready_o (load_req_ready_o),
    .req_addr_i  (load_req_i.addr),
    .req_bytes_i (load_req_i.bytes),
    .rsp_valid_o (load_rsp_valid_o),
    .rsp_ready_i (load_rsp_ready_i),
    .rsp_data_o  (load_rsp_data_o),
    .rsp_offset_o(load_rsp_offset_o),
    .rsp_bytes_o (load_rsp_bytes_o),
    .rsp_last_o  (load_rsp_last_o),
    .rsp_error_o (load_rsp_error_o),
    .busy_o      (load_busy),
    .error_o     (error_o[MasterLoad]),
    .error_resp_o(error_resp_o[MasterLoad]),
    .ar_valid_o  (rd_ar_valid[MasterLoad]),
    .ar_ready_i  (rd_ar_ready[MasterLoad]),
    .ar_o        (rd_ar[MasterLoad]),
    .r_valid_i   (rd_r_valid[MasterLoad]),
    .r_ready_o   (rd_r_ready[MasterLoad]),
    .r_i         (rd_r)
  );

  kt_axi_rd_arb #(
    .ar_t(burst_t), .r_t(r_t)
  ) u_rd_arb (
    .clk_i,
    .rst_ni,
    .c_ar_valid_i(rd_ar_valid),
    .c_ar_ready_o(rd_ar_ready),
    .c_ar_i      (rd_ar),
    .c_r_valid_o (rd_r_valid),
    .c_r_ready_i (rd_r_ready),
    .c_r_o       (rd_r),
    .ar_valid_o  (ar_valid),
    .ar_ready_i  (ar_ready),
    .ar_id_o     (ar_id),
    .ar_o        (ar),
    .r_valid_i   (r_valid),
    .r_ready_o   (r_ready),
    .r_id_i      (axi_r_id_i),
    .r_i         (r_pins)
  );

  // ---- write master
  kt_axi_wr #(
    .AddrW(AddrW), .DataW(DataW), .BytesW(BytesW), .aw_t(burst_t), .w_t(w_t)
  ) u_wr (
    .clk_i       (store_clk_i),
    .rst_ni,
    .req_valid_i (store_req_valid_i),
    .req_ready_o (store_req_ready_o),
    .req_addr_i  (store_req_i.addr),
    .req_bytes_i (store_req_i.bytes),
    .data_valid_i(store_data_valid_i),
    .data_ready_o(store_data_ready_o),
    .data_i      (store_data_i),
    .busy_o      (store_busy),
    .done_o      (store_done_o),
    .error_o     (error_o[MasterStore]),
    .error_resp_o(error_resp_o[MasterStore]),
    .aw_valid_o  (aw_valid),
    .aw_ready_i  (aw_ready),
    .aw_o        (aw),
    .w_valid_o   (w_valid),
    .w_ready_i   (w_ready),
    .w_o         (w),
    .b_valid_i   (b_valid),
    .b_ready_o   (b_ready),
    .b_resp_i    (axi_b_resp_i)
  );

  kt_axi_gate u_gate (
    .clk_i,
    .rst_ni      (gate_rst_ni),
    .halt_i,
    .idle_o,
    .m_ar_valid_i(ar_valid),
    .m_ar_ready_o(ar_ready),
    .m_r_valid_o (r_valid),
    .m_r_ready_i (r_ready),
    .m_aw_valid_i(aw_valid),
    .m_aw_ready_o(aw_ready),
    .m_w_valid_i (w_valid),
    .m_w_ready_o (w_ready),
    .m_w_last_i  (w.last),
    .m_b_valid_o (b_valid),
    .m_b_ready_i (b_ready),
    .ar_valid_o  (axi_ar_valid_o),
    .ar_ready_i  (axi_ar_ready_i),
    .r_valid_i   (axi_r_valid_i),
    .r_ready_o   (axi_r_ready_o),
    .r_last_i    (axi_r_last_i),
    .aw_valid_o  (axi_aw_valid_o),
    .aw_ready_i  (axi_aw_ready_i),
    .w_valid_o   (axi_w_valid_o),
    .w_ready_i   (axi_w_ready_i),
    .b_valid_i   (axi_b_valid_i),
    .b_ready_o   (axi_b_ready_o)
  );

endmodule
