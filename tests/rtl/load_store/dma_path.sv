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

  logic             req_valid, req_ready, rsp_valid, rsp_ready, rsp_error;
  logic [AddrW-1:0] req_addr;
  logic [19:0]      req_bytes;
  logic [AxiW-1:0]  rsp_data;
  logic [LaneW-1:0] rsp_offset;
  logic [LaneW:0]   rsp_size;
  logic             rsp_last;

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
    .req_addr_o  (req_addr),
    .req_bytes_o (req_bytes),
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

  logic             m_ar_valid, m_ar_ready, m_r_valid, m_r_ready, m_r_last;
  logic [AddrW-1:0] m_ar_addr;
  logic [7:0]       m_ar_len;
  logic [AxiW-1:0]  m_r_data;
  logic [1:0]       m_r_resp;
  kt_axi_rd #(
    .DataW(AxiW), .Outstanding(Outstanding), .RegisterR(1'b0)
  ) u_rd (
    .clk_i, .rst_ni,
    .req_valid_i (req_valid),
    .req_ready_o (req_ready),
    .req_addr_i  (req_addr),
    .req_bytes_i (req_bytes),
    .rsp_valid_o (rsp_valid),
    .rsp_ready_i (rsp_ready),
    .rsp_data_o  (rsp_data),
    .rsp_offset_o(rsp_offset),
    .rsp_bytes_o (rsp_size),
    .rsp_last_o  (rsp_last),
    .rsp_error_o (rsp_error),
    .busy_o      (),
    .error_o     (),
    .error_resp_o(),
    .ar_valid_o  (m_ar_valid),
    .ar_ready_i  (m_ar_ready),
    .ar_addr_o   (m_ar_addr),
    .ar_len_o    (m_ar_len),
    .r_valid_i   (m_r_valid),
    .r_ready_o   (m_r_ready),
    .r_data_i    (m_r_data),
    .r_resp_i    (m_r_resp),
    .r_last_i    (m_r_last)
  );
  kt_axi_rd_arb #(
    .DataW(AxiW)
  ) u_arb (
    .clk_i, .rst_ni,
    .c0_ar_valid_i(1'b0),
    .c0_ar_ready_o(),
    .c0_ar_addr_i ('0),
    .c0_ar_len_i  ('0),
    .c0_r_valid_o (),
    .c0_r_ready_i (1'b1),
    .c1_ar_valid_i(m_ar_valid),
    .c1_ar_ready_o(m_ar_ready),
    .c1_ar_addr_i (m_ar_addr),
    .c1_ar_len_i  (m_ar_len),
    .c1_r_valid_o (m_r_valid),
    .c1_r_ready_i (m_r_ready),
    .c_r_data_o   (m_r_data),
    .c_r_resp_o   (m_r_resp),
    .c_r_last_o   (m_r_last),
    .ar_valid_o, .ar_ready_i, .ar_id_o, .ar_addr_o, .ar_len_o, .ar_size_o, .ar_burst_o,
    .r_valid_i, .r_ready_o, .r_id_i, .r_data_i, .r_resp_i, .r_last_i
  );

  logic             wreq_valid, wreq_ready, data_valid, data_ready, wr_done, wr_error;
  logic [AddrW-1:0] wreq_addr;
  logic [19:0]      wreq_bytes;
  logic [AxiW-1:0]  data;
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
    .req_addr_o     (wreq_addr),
    .req_bytes_o    (wreq_bytes),
    .data_valid_o   (data_valid),
    .data_ready_i   (data_ready),
    .data_o         (data),
    .wr_done_i      (wr_done),
    .wr_error_i     (wr_error),
    .error_o        (),
    .written_o,
    .written_bytes_o,
    .zvc_written_o,
    .zvc_raw_bytes_o(zvc_written_raw_o)
  );
  kt_axi_wr #(
    .DataW(AxiW), .Outstanding(8)
  ) u_wr (
    .clk_i, .rst_ni,
    .req_valid_i (wreq_valid),
    .req_ready_o (wreq_ready),
    .req_addr_i  (wreq_addr),
    .req_bytes_i (wreq_bytes),
    .data_valid_i(data_valid),
    .data_ready_o(data_ready),
    .data_i      (data),
    .busy_o      (),
    .done_o      (wr_done),
    .error_o     (wr_error),
    .error_resp_o(),
    .aw_valid_o, .aw_ready_i, .aw_id_o, .aw_addr_o, .aw_len_o, .aw_size_o, .aw_burst_o,
    .w_valid_o, .w_ready_i, .w_data_o, .w_strb_o, .w_last_o,
    .b_valid_i, .b_ready_o, .b_resp_i
  );

endmodule
