// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Test top: LOAD and STORE with their AXI masters, one AXI port as in the accelerator.
module dma_path
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned Kp          = 4,
  parameter int unsigned Cp          = 4,
  parameter int unsigned AxiW        = 128,
  parameter int unsigned WbRows      = 2048,
  parameter int unsigned Outstanding = 8,
  parameter int unsigned Zvc         = 0,
  localparam int unsigned AddrW = 40,
  localparam int unsigned LaneW = $clog2(AxiW / 8),
  localparam int unsigned Lw    = (AxiW / 8 / Cp < 9) ? AxiW / 8 / Cp : 9
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [AddrW-1:0]    base_i[8],
  // LOAD
  input  logic                load_valid_i,
  output logic                load_ready_o,
  input  logic [3:0]          load_op_i,
  input  logic [BodyBits-1:0] load_cmd_i,
  input  index_t              load_index_i,
  output logic                load_done_o,
  output logic                sb_valid_o,
  input  logic                sb_grant_i,
  output bank_req_t           sb_req_o[Lw],
  output logic [Cp*8-1:0]     word_o[Lw],
  output logic                wb_en_o,
  output addr_t               weights_addr_o,
  output logic [9*Cp*8-1:0]   weights_o,
  output engine_error_t       load_error_o,
  output logic                zvc_read_o,
  output logic [19:0]         zvc_read_raw_o,
  output logic [19:0]         read_bytes_o,
  // STORE
  input  logic                store_valid_i,
  output logic                store_ready_o,
  input  logic [BodyBits-1:0] store_cmd_i,
  input  index_t              store_index_i,
  output logic                store_done_o,
  output logic                written_o,
  output logic [19:0]         written_bytes_o,
  output logic                zvc_written_o,
  output logic [19:0]         zvc_written_raw_o,
  input  logic                conv_valid_i,
  output logic                conv_ready_o,
  input  logic [Cp*8-1:0]     conv_word_i[Kp/Cp],
  input  logic                vector_valid_i,
  output logic                vector_ready_o,
  input  logic [Cp*8-1:0]     vector_word_i[3],
  // AXI4
  output logic                ar_valid_o,
  input  logic                ar_ready_i,
  output logic [0:0]          ar_id_o,
  output logic [AddrW-1:0]    ar_addr_o,
  output logic [7:0]          ar_len_o,
  output logic [2:0]          ar_size_o,
  output logic [1:0]          ar_burst_o,
  input  logic                r_valid_i,
  output logic                r_ready_o,
  input  logic [0:0]          r_id_i,
  input  logic [AxiW-1:0]     r_data_i,
  input  logic [1:0]          r_resp_i,
  input  logic                r_last_i,
  output logic                aw_valid_o,
  input  logic                aw_ready_i,
  output logic [0:0]          aw_id_o,
  output logic [AddrW-1:0]    aw_addr_o,
  output logic [7:0]          aw_len_o,
  output logic [2:0]          aw_size_o,
  output logic [1:0]          aw_burst_o,
  output logic                w_valid_o,
  input  logic                w_ready_i,
  output logic [AxiW-1:0]     w_data_o,
  output logic [AxiW/8-1:0]   w_strb_o,
  output logic                w_last_o,
  input  logic                b_valid_i,
  output logic                b_ready_o,
  input  logic [1:0]          b_resp_i
);

  logic                  req_valid, req_ready, rsp_valid, rsp_ready, rsp_error, rsp_last;
  kt_axi_pkg::request_t  req, wreq;
  logic [AxiW-1:0]       rsp_data, data;
  logic [LaneW-1:0]      rsp_offset;
  logic [LaneW:0]        rsp_size;
  logic                  wreq_valid, wreq_ready, data_valid, data_ready, wr_done;
  logic [kt_axi_pkg::Masters-1:0] error;

  kt_load #(
    .Cp(Cp), .AxiW(AxiW), .WbRows(WbRows), .Zvc(Zvc)
  ) u_load (
    .clk_i, .rst_ni, .base_i,
    .wb_split_i  ('0),
    .cmd_valid_i (load_valid_i),
    .cmd_ready_o (load_ready_o),
    .cmd_i       ({load_index_i, load_op_i, load_cmd_i}),
    .done_o      (load_done_o),
    .busy_o      (),
    .req_valid_o (req_valid),
    .req_ready_i (req_ready),
    .req_addr_o  (req.addr),
    .req_bytes_o (req.bytes),
    .rsp_valid_i (rsp_valid),
    .rsp_ready_o (rsp_ready),
    .rsp_data_i  (rsp_data),
    .rsp_offset_i(rsp_offset),
    .rsp_bytes_i (rsp_size),
    .rsp_last_i  (rsp_last),
    .rsp_error_i (rsp_error),
    .sb_valid_o, .sb_grant_i, .sb_req_o,
    .vb_valid_o     (),
    .vb_grant_i     (1'b1),
    .vb_req_o       (),
    .word_o,
    .wb_en_o,
    .vwb_en_o       (),
    .weights_addr_o,
    .weights_o,
    .zsb_conv_en_o  (),
    .zsb_vector_en_o(),
    .param_addr_o   (),
    .param_o        (),
    .error_o        (load_error_o),
    .read_rows_o    (),
    .read_weights_o (),
    .read_params_o  (),
    .read_bytes_o,
    .zvc_read_o,
    .zvc_raw_bytes_o(zvc_read_raw_o)
  );

  kt_store #(
    .Kp(Kp), .Cp(Cp), .AxiW(AxiW), .Zvc(Zvc)
  ) u_store (
    .clk_i, .rst_ni, .base_i,
    .cmd_valid_i(store_valid_i),
    .cmd_ready_o(store_ready_o),
    .cmd_i      ({store_index_i, OpStore, store_cmd_i}),
    .done_o     (store_done_o),
    .busy_o     (),
    .conv_valid_i, .conv_ready_o, .conv_word_i,
    .vector_valid_i, .vector_ready_o, .vector_word_i,
    .req_valid_o    (wreq_valid),
    .req_ready_i    (wreq_ready),
    .req_addr_o     (wreq.addr),
    .req_bytes_o    (wreq.bytes),
    .data_valid_o   (data_valid),
    .data_ready_i   (data_ready),
    .data_o         (data),
    .wr_done_i      (wr_done),
    .wr_error_i     (error[kt_axi_pkg::MasterStore]),
    .error_o        (),
    .written_o,
    .written_bytes_o,
    .zvc_written_o,
    .zvc_raw_bytes_o(zvc_written_raw_o)
  );

  // the command fetch asks for nothing
  kt_axi_port #(
    .DataW(AxiW), .Outstanding(Outstanding)
  ) u_axi (
    .clk_i, .fetch_clk_i(clk_i), .load_clk_i(clk_i), .store_clk_i(clk_i), .rst_ni, .gate_rst_ni(rst_ni),
    .halt_i(1'b0), .idle_o(), .error_o(error), .error_resp_o(),
    .fetch_req_valid_i(1'b0), .fetch_req_ready_o(), .fetch_req_i('0),
    .fetch_rsp_valid_o(), .fetch_rsp_ready_i(1'b1), .fetch_rsp_data_o(), .fetch_rsp_error_o(), .fetch_busy_o(),
    .load_req_valid_i(req_valid), .load_req_ready_o(req_ready), .load_req_i(req),
    .load_rsp_valid_o(rsp_valid), .load_rsp_ready_i(rsp_ready), .load_rsp_data_o(rsp_data),
    .load_rsp_offset_o(rsp_offset), .load_rsp_bytes_o(rsp_size), .load_rsp_last_o(rsp_last),
    .load_rsp_error_o(rsp_error),
    .store_req_valid_i(wreq_valid), .store_req_ready_o(wreq_ready), .store_req_i(wreq),
    .store_data_valid_i(data_valid), .store_data_ready_o(data_ready), .store_data_i(data), .store_done_o(wr_done),
    .axi_ar_valid_o(ar_valid_o), .axi_ar_ready_i(ar_ready_i), .axi_ar_id_o(ar_id_o), .axi_ar_addr_o(ar_addr_o),
    .axi_ar_len_o(ar_len_o), .axi_ar_size_o(ar_size_o), .axi_ar_burst_o(ar_burst_o),
    .axi_r_valid_i(r_valid_i), .axi_r_ready_o(r_ready_o), .axi_r_id_i(r_id_i), .axi_r_data_i(r_data_i),
    .axi_r_resp_i(r_resp_i), .axi_r_last_i(r_last_i),
    .axi_aw_valid_o(aw_valid_o), .axi_aw_ready_i(aw_ready_i), .axi_aw_id_o(aw_id_o), .axi_aw_addr_o(aw_addr_o),
    .axi_aw_len_o(aw_len_o), .axi_aw_size_o(aw_size_o), .axi_aw_burst_o(aw_burst_o),
    .axi_w_valid_o(w_valid_o), .axi_w_ready_i(w_ready_i), .axi_w_data_o(w_data_o), .axi_w_strb_o(w_strb_o),
    .axi_w_last_o(w_last_o),
    .axi_b_valid_i(b_valid_i), .axi_b_ready_o(b_ready_o), .axi_b_resp_i(b_resp_i)
  );

endmodule
