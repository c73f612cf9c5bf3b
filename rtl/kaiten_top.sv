// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Kaiten: control (registers, command fetch, four queues), DMA (LOAD, STORE, AXI masters), streaming buffers SB and VB,
// CONV engine (DPE array) and VECTOR engine. docs/hardware/overview.md explains the blocks and how they meet.
//
// Ports: one AXI4-Lite slave for the registers, one AXI4 master for everything else, one level interrupt.
// The signals watch_conv, watch_vector and their words let the test bench see every result; they drive nothing.
module kaiten_top
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_array_pkg::*;
  import kt_control_pkg::*;
  import kt_axi_pkg::*;
#(
  // sizes: rtl/configs.json lists the configurations
  parameter int unsigned Kp        = 4,     // output channels (rows of the array)
  parameter int unsigned Cp        = 4,     // input channels (columns)
  parameter int unsigned StageRows = 2,     // rows of the array that work in the same cycle
  parameter int unsigned AxiW      = 128,   // bits of a bus beat
  parameter int unsigned WbRows    = 2048,  // DPE rows of weights
  parameter int unsigned VwbRows   = 256,
  parameter int unsigned SbDepth   = 1024,  // words of a bank
  parameter int unsigned VbDepth   = 512,
  parameter int unsigned ObPixels  = 128,
  parameter int unsigned ZsbArray  = 1024,  // channels
  parameter int unsigned ZsbVector = 1024,
  parameter bit          SumRow    = 1,     // weights of the array may have a zero point
  parameter bit          AddPair   = 0,     // the vector engine adds two operands in a cycle
  parameter bit          TwoPixels = 0,     // the array works on two pixels of up to four words at once
  parameter bit          LargeWindows = 0,  // the vector engine streams windows up to 9 x 9
  parameter bit          Resident  = 0,     // weights that stay in PB beside others of the same layer
  parameter bit          ConvTable = 0,     // tables of both engines, read at all lanes; without it only VECTOR has one
  parameter bit          Float     = 1,     // rule `float`
  parameter bit          Average   = 1,     // windows of kind average and rule `average`
  parameter bit          Table     = 1,     // tables behind the vector engine's requantiser
  parameter int unsigned Zvc       = 128,   // beats of the longest row segment that is compressed, 0: no codec
  parameter int unsigned MultiplierW = 18   // bits of the FPGA's multipliers; 25, 27: two products each (kt_dpe_pair)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  output logic              irq_o,
  // AXI4-Lite slave: registers
  input  logic              csr_aw_valid_i,
  output logic              csr_aw_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // registers are 32 bits wide
  input  logic [9:0]        csr_aw_addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic              csr_w_valid_i,
  output logic              csr_w_ready_o,
  input  logic [31:0]       csr_w_data_i,
  input  logic [3:0]        csr_w_strb_i,
  output logic              csr_b_valid_o,
  input  logic              csr_b_ready_i,
  output logic [1:0]        csr_b_resp_o,
  input  logic              csr_ar_valid_i,
  output logic              csr_ar_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // registers are 32 bits wide
  input  logic [9:0]        csr_ar_addr_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic              csr_r_valid_o,
  input  logic              csr_r_ready_i,
  output logic [31:0]       csr_r_data_o,
  output logic [1:0]        csr_r_resp_o,
  // AXI4 master: reads (ID 0 commands, ID 1 data), writes
  output logic              axi_ar_valid_o,
  input  logic              axi_ar_ready_i,
  output logic [0:0]        axi_ar_id_o,
  output logic [AddrW-1:0]  axi_ar_addr_o,
  output logic [7:0]        axi_ar_len_o,
  output logic [2:0]        axi_ar_size_o,
  output logic [1:0]        axi_ar_burst_o,
  input  logic              axi_r_valid_i,
  output logic              axi_r_ready_o,
  input  logic [0:0]        axi_r_id_i,
  input  logic [AxiW-1:0]   axi_r_data_i,
  input  logic [1:0]        axi_r_resp_i,
  input  logic              axi_r_last_i,
  output logic              axi_aw_valid_o,
  input  logic              axi_aw_ready_i,
  output logic [0:0]        axi_aw_id_o,
  output logic [AddrW-1:0]  axi_aw_addr_o,
  output logic [7:0]        axi_aw_len_o,
  output logic [2:0]        axi_aw_size_o,
  output logic [1:0]        axi_aw_burst_o,
  output logic              axi_w_valid_o,
  input  logic              axi_w_ready_i,
  output logic [AxiW-1:0]   axi_w_data_o,
  output logic [AxiW/8-1:0] axi_w_strb_o,
  output logic              axi_w_last_o,
  input  logic              axi_b_valid_i,
  output logic              axi_b_ready_o,
  input  logic [1:0]        axi_b_resp_i
);

  localparam int unsigned LaneW     = $clog2(AxiW / 8);
  localparam int unsigned Words     = Kp / Cp;
  localparam int unsigned ConvWords = TwoPixels ? 2 * Words : Words;  // of a result
  localparam int unsigned LoadWords = (AxiW / 8 / Cp < 9) ? AxiW / 8 / Cp : 9;
  localparam int unsigned ConvFifo  = conv_fifo(Kp / StageRows, chain_of(Cp, TwoPixels));
  localparam int unsigned VectorFifo = 32;

  // ---- registers and control
  logic             start, soft_reset, axi_halt, rst_n;
  settings_t        settings;
  status_t          status;
  control_events_t  control_events;
  engine_events_t   engine_events;
  logic [AddrW-1:0] base[8];
  addr_t            wb_split;

  kt_registers #(
    .Kp(Kp), .Cp(Cp), .StageRows(StageRows), .AxiW(AxiW), .WbRows(WbRows), .VwbRows(VwbRows), .SbDepth(SbDepth),
    .VbDepth(VbDepth), .ObPixels(ObPixels), .ZsbArray(ZsbArray), .ZsbVector(ZsbVector), .SumRow(SumRow), .Zvc(Zvc),
    .AddPair(AddPair), .TwoPixels(TwoPixels), .LargeWindows(LargeWindows), .Resident(Resident), .ConvTable(ConvTable),
    .Float(Float), .Average(Average), .Table(Table)
  ) u_registers (
    .clk_i,
    .rst_ni,
    .aw_valid_i      (csr_aw_valid_i),
    .aw_ready_o      (csr_aw_ready_o),
    .aw_addr_i       (csr_aw_addr_i[9:2]),
    .w_valid_i       (csr_w_valid_i),
    .w_ready_o       (csr_w_ready_o),
    .w_data_i        (csr_w_data_i),
    .w_strb_i        (csr_w_strb_i),
    .b_valid_o       (csr_b_valid_o),
    .b_ready_i       (csr_b_ready_i),
    .b_resp_o        (csr_b_resp_o),
    .ar_valid_i      (csr_ar_valid_i),
    .ar_ready_o      (csr_ar_ready_o),
    .ar_addr_i       (csr_ar_addr_i[9:2]),
    .r_valid_o       (csr_r_valid_o),
    .r_ready_i       (csr_r_ready_i),
    .r_data_o        (csr_r_data_o),
    .r_resp_o        (csr_r_resp_o),
    .irq_o,
    .start_o         (start),
    .soft_reset_o    (soft_reset),
    .settings_o      (settings),
    .status_i        (status),
    .base_o          (base),
    .wb_split_o      (wb_split),
    .control_events_i(control_events),
    .engine_events_i (engine_events)
  );

  logic                fetch_clk, fetch_busy, conv_peek;
  logic                fetch_req_valid, fetch_req_ready, fetch_rsp_valid, fetch_rsp_ready, fetch_rsp_error;
  request_t            fetch_req;
  logic [AxiW-1:0]     fetch_rsp_data;
  logic [Queues-1:0]   cmd_valid, cmd_ready, cmd_done;
  command_t            cmd[Queues];
  extension_t          conv_extension;
  engine_error_t       load_error, store_error;
  logic [Masters-1:0]  axi_error;
  logic [1:0]          axi_resp[Masters];
  logic                axi_idle;

  kt_control #(.AxiW(AxiW), .Extend(Resident || ConvTable)) u_control (
    .clk_i,
    .rst_ni,
    .start_i          (start),
    .soft_reset_i     (soft_reset),
    .settings_i       (settings),
    .status_o         (status),
    .events_o         (control_events),
    .axi_idle_i       (axi_idle),
    .axi_halt_o       (axi_halt),
    .engine_rst_no    (rst_n),
    .fetch_clk_o      (fetch_clk),
    .fetch_busy_i     (fetch_busy),
    .fetch_req_valid_o(fetch_req_valid),
    .fetch_req_ready_i(fetch_req_ready),
    .fetch_req_o      (fetch_req),
    .fetch_rsp_valid_i(fetch_rsp_valid),
    .fetch_rsp_ready_o(fetch_rsp_ready),
    .fetch_rsp_data_i (fetch_rsp_data),
    .fetch_rsp_error_i(fetch_rsp_error),
    .issue_valid_o    (cmd_valid),
    .issue_ready_i    (cmd_ready),
    .issue_o          (cmd),
    .done_i           (cmd_done),
    .conv_peek_o      (conv_peek),
    .conv_extension_o (conv_extension),
    .load_error_i     (load_error),
    .store_error_i    (store_error),
    .axi_error_i      (axi_error),
    .axi_resp_i       (axi_resp)
  );

  // ---- clocks of the engines; a bus master and a result writer run with their engine
  logic load_clk, conv_clk, vector_clk, store_clk, wb_we, vwb_we, zsb_conv_we, zsb_vector_we;

  kt_engine_clk u_load_clk (
    .clk_i,
    .rst_ni (rst_n),
    .wake_i (cmd_valid[QLoad]),
    .start_i(cmd_valid[QLoad] && cmd_ready[QLoad]),
    .done_i (cmd_done[QLoad]),
    .clk_o  (load_clk)
  );

  kt_engine_clk u_conv_clk (
    .clk_i,
    .rst_ni (rst_n),
    .wake_i (conv_peek || cmd_valid[QConv] || wb_we || zsb_conv_we),
    .start_i(cmd_valid[QConv] && cmd_ready[QConv]),
    .done_i (cmd_done[QConv]),
    .clk_o  (conv_clk)
  );

  kt_engine_clk u_vector_clk (
    .clk_i,
    .rst_ni (rst_n),
    .wake_i (cmd_valid[QVector] || vwb_we || zsb_vector_we),
    .start_i(cmd_valid[QVector] && cmd_ready[QVector]),
    .done_i (cmd_done[QVector]),
    .clk_o  (vector_clk)
  );

  kt_engine_clk u_store_clk (
    .clk_i,
    .rst_ni (rst_n),
    .wake_i (cmd_valid[QStore]),
    .start_i(cmd_valid[QStore] && cmd_ready[QStore]),
    .done_i (cmd_done[QStore]),
    .clk_o  (store_clk)
  );

  // ---- bus
  logic             load_req_valid, load_req_ready, load_rsp_valid, load_rsp_ready, load_rsp_last, load_rsp_error;
  request_t         load_req, store_req;
  logic [AxiW-1:0]  load_rsp_data, store_data;
  logic [LaneW-1:0] load_rsp_offset;
  logic [LaneW:0]   load_rsp_bytes;
  logic             store_req_valid, store_req_ready, store_data_valid, store_data_ready, store_done;

  kt_axi_port #(
    .DataW(AxiW)
  ) u_axi (
    .clk_i,
    .fetch_clk_i       (fetch_clk),
    .load_clk_i        (load_clk),
    .store_clk_i       (store_clk),
    .rst_ni            (rst_n),
    .gate_rst_ni       (rst_ni),
    .halt_i            (axi_halt),
    .idle_o            (axi_idle),
    .error_o           (axi_error),
    .error_resp_o      (axi_resp),
    .fetch_req_valid_i (fetch_req_valid),
    .fetch_req_ready_o (fetch_req_ready),
    .fetch_req_i       (fetch_req),
    .fetch_rsp_valid_o (fetch_rsp_valid),
    .fetch_rsp_ready_i (fetch_rsp_ready),
    .fetch_rsp_data_o  (fetch_rsp_data),
    .fetch_rsp_error_o (fetch_rsp_error),
    .fetch_busy_o      (fetch_busy),
    .load_req_valid_i  (load_req_valid),
    .load_req_ready_o  (load_req_ready),
    .load_req_i        (load_req),
    .load_rsp_valid_o  (load_rsp_valid),
    .load_rsp_ready_i  (load_rsp_ready),
    .load_rsp_data_o   (load_rsp_data),
    .load_rsp_offset_o (load_rsp_offset),
    .load_rsp_bytes_o  (load_rsp_bytes),
    .load_rsp_last_o   (load_rsp_last),
    .load_rsp_error_o  (load_rsp_error),
    .store_req_valid_i (store_req_valid),
    .store_req_ready_o (store_req_ready),
    .store_req_i       (store_req),
    .store_data_valid_i(store_data_valid),
    .store_data_ready_o(store_data_ready),
    .store_data_i      (store_data),
    .store_done_o      (store_done),
    .axi_ar_valid_o, .axi_ar_ready_i, .axi_ar_id_o, .axi_ar_addr_o, .axi_ar_len_o, .axi_ar_size_o, .axi_ar_burst_o,
    .axi_r_valid_i, .axi_r_ready_o, .axi_r_id_i, .axi_r_data_i, .axi_r_resp_i, .axi_r_last_i,
    .axi_aw_valid_o, .axi_aw_ready_i, .axi_aw_id_o, .axi_aw_addr_o, .axi_aw_len_o, .axi_aw_size_o, .axi_aw_burst_o,
    .axi_w_valid_o, .axi_w_ready_i, .axi_w_data_o, .axi_w_strb_o, .axi_w_last_o,
    .axi_b_valid_i, .axi_b_ready_o, .axi_b_resp_i
  );

  // ---- LOAD
  logic              load_sb_valid, load_sb_grant, load_vb_valid, load_vb_grant;
  bank_req_t         load_sb_req[LoadWords], load_vb_req[LoadWords];
  logic [Cp*8-1:0]   load_word[LoadWords];
  addr_t             weights_addr, param_addr;
  logic [9*Cp*8-1:0] weights;
  requant_params_t   param;
  logic              read_rows, read_weights, read_params, zvc_read;
  logic [BytesW-1:0] read_bytes, zvc_read_raw;
  // the scoreboard knows which engines work
  /* verilator lint_off UNUSEDSIGNAL */
  logic              load_engine_busy, store_engine_busy;
  /* verilator lint_on UNUSEDSIGNAL */

  kt_load #(
    .Cp(Cp), .AxiW(AxiW), .WbRows(WbRows), .AddrW(AddrW), .BytesW(BytesW), .Zvc(Zvc)
  ) u_load (
    .clk_i          (load_clk),
    .rst_ni         (rst_n),
    .base_i         (base),
    .wb_split_i     (wb_split),
    .cmd_valid_i    (cmd_valid[QLoad]),
    .cmd_ready_o    (cmd_ready[QLoad]),
    .cmd_i          (cmd[QLoad]),
    .done_o         (cmd_done[QLoad]),
    .busy_o         (load_engine_busy),
    .req_valid_o    (load_req_valid),
    .req_ready_i    (load_req_ready),
    .req_addr_o     (load_req.addr),
    .req_bytes_o    (load_req.bytes),
    .rsp_valid_i    (load_rsp_valid),
    .rsp_ready_o    (load_rsp_ready),
    .rsp_data_i     (load_rsp_data),
    .rsp_offset_i   (load_rsp_offset),
    .rsp_bytes_i    (load_rsp_bytes),
    .rsp_last_i     (load_rsp_last),
    .rsp_error_i    (load_rsp_error),
    .sb_valid_o     (load_sb_valid),
    .sb_grant_i     (load_sb_grant),
    .sb_req_o       (load_sb_req),
    .vb_valid_o     (load_vb_valid),
    .vb_grant_i     (load_vb_grant),
    .vb_req_o       (load_vb_req),
    .word_o         (load_word),
    .wb_en_o        (wb_we),
    .vwb_en_o       (vwb_we),
    .weights_addr_o (weights_addr),
    .weights_o      (weights),
    .zsb_conv_en_o  (zsb_conv_we),
    .zsb_vector_en_o(zsb_vector_we),
    .param_addr_o   (param_addr),
    .param_o        (param),
    .error_o        (load_error),
    .read_rows_o    (read_rows),
    .read_weights_o (read_weights),
    .read_params_o  (read_params),
    .read_bytes_o   (read_bytes),
    .zvc_read_o     (zvc_read),
    .zvc_raw_bytes_o(zvc_read_raw)
  );

  // ---- CONV engine and its results
  bank_req_t       sb_rd_req[9], vb_rd_req[9];
  logic [Cp*8-1:0] sb_rd_word[9], vb_rd_word[9];

  logic            conv_start, conv_out_ready, conv_take, conv_credit, conv_out_valid, conv_out_second;
  out_cmd_t        conv_out_cmd;
  logic [Cp*8-1:0] conv_result[ConvWords];
  logic            conv_active, conv_busy, conv_no_weights, conv_no_output;

  kt_conv #(
    .Kp(Kp), .Cp(Cp), .StageRows(StageRows), .WbRows(WbRows), .ZsbDepth(ZsbArray), .ObPixels(ObPixels), .SumRow(SumRow),
    .Resident(Resident), .TwoPixels(TwoPixels), .Float(Float), .Table(ConvTable), .MultiplierW(MultiplierW)
  ) u_conv (
    .clk_i         (conv_clk),
    .rst_ni        (rst_n),
    .cmd_peek_i    (conv_peek),
    .cmd_valid_i   (cmd_valid[QConv]),
    .cmd_ready_o   (cmd_ready[QConv]),
    .cmd_i         (cmd[QConv]),
    .extension_i   (conv_extension),
    .wb_split_i    (wb_split),
    .wb_we_i       (wb_we),
    .wb_addr_i     (weights_addr),
    .wb_data_i     (weights),
    .zsb_we_i      (zsb_conv_we),
    .zsb_addr_i    (param_addr),
    .zsb_data_i    (param),
    .rd_req_o      (sb_rd_req),
    .word_i        (sb_rd_word),
    .out_start_o   (conv_start),
    .out_cmd_o     (conv_out_cmd),
    .out_ready_i   (conv_out_ready),
    .out_take_o    (conv_take),
    .out_credit_i  (conv_credit),
    .out_valid_o   (conv_out_valid),
    .out_second_o  (conv_out_second),
    .out_word_o    (conv_result),
    .busy_o        (conv_busy),
    .active_o      (conv_active),
    .wait_weights_o(conv_no_weights),
    .wait_output_o (conv_no_output)
  );

  bank_req_t       conv_sb_req[ConvWords], conv_vb_req[ConvWords];
  logic            conv_sb_we, conv_vb_we, conv_st_valid, conv_st_ready;
  logic [Cp*8-1:0] conv_all[ConvWords];
  logic [Cp*8-1:0] conv_word[Words] /* verilator public_flat_rd */;
  logic [Cp*8-1:0] conv_second[Words] /* verilator public_flat_rd */;  // of two pixels
  logic [2:0]      unused_conv;  // the array has the highest priority at the banks
  watch_t          watch_conv /* verilator public_flat_rd */;

  kt_result_writer #(
    .Cp(Cp), .Words(Words), .Pixels(TwoPixels ? 2 : 1), .Depth(ConvFifo)
  ) u_conv_writer (
    .clk_i     (conv_clk),
    .rst_ni    (rst_n),
    .start_i   (conv_start),
    .cmd_i     (conv_out_cmd),
    .ready_o   (conv_out_ready),
    .done_o    (cmd_done[QConv]),
    .take_i    (conv_take),
    .credit_o  (conv_credit),
    .valid_i   (conv_out_valid),
    .second_i  (conv_out_second),
    .word_i    (conv_result),
    .sb_req_o  (conv_sb_req),
    .sb_grant_i(1'b1),
    .sb_we_o   (conv_sb_we),
    .vb_req_o  (conv_vb_req),
    .sb_valid_o(unused_conv[0]), .vb_valid_o(unused_conv[1]),
    .vb_grant_i(1'b1),
    .vb_we_o   (conv_vb_we),
    .st_valid_o(conv_st_valid),
    .st_ready_i(conv_st_ready),
    .word_o    (conv_all),
    .blocked_o (unused_conv[2]),
    .watch_o   (watch_conv)
  );
  for (genvar w = 0; w < int'(Words); w++) begin : gen_conv_word
    assign conv_word[w]   = conv_all[w];
    assign conv_second[w] = conv_all[ConvWords-Words+w];
  end

  // ---- VECTOR engine and its results
  logic            vector_start, vector_out_ready, vector_take, vector_credit, vector_out_valid, vector_active;
  out_cmd_t        vector_out_cmd;
  logic [Cp*8-1:0] vector_result[3];

  kt_vector #(
    .Cp(Cp), .AddPair(AddPair), .LargeWindows(LargeWindows), .Float(Float), .Average(Average), .Table(Table),
    .WideTable(ConvTable), .VwbRows(VwbRows), .ZsbDepth(ZsbVector)
  ) u_vector (
    .clk_i       (vector_clk),
    .rst_ni      (rst_n),
    .cmd_valid_i (cmd_valid[QVector]),
    .cmd_ready_o (cmd_ready[QVector]),
    .cmd_i       (cmd[QVector]),
    .vwb_we_i    (vwb_we),
    .vwb_addr_i  (weights_addr),
    .vwb_data_i  (weights),
    .zsb_we_i    (zsb_vector_we),
    .zsb_addr_i  (param_addr),
    .zsb_data_i  (param),
    .rd_req_o    (vb_rd_req),
    .word_i      (vb_rd_word),
    .out_start_o (vector_start),
    .out_cmd_o   (vector_out_cmd),
    .out_ready_i (vector_out_ready),
    .out_take_o  (vector_take),
    .out_credit_i(vector_credit),
    .out_valid_o (vector_out_valid),
    .out_word_o  (vector_result),
    .active_o    (vector_active)
  );

  bank_req_t       vector_sb_req[3], vector_vb_req[3];
  logic            vector_sb_we, vector_vb_we, vector_sb_grant, vector_vb_grant, vector_st_valid, vector_st_ready;
  logic            vector_sb_valid, vector_vb_valid, vector_blocked;
  logic [Cp*8-1:0] vector_word[3] /* verilator public_flat_rd */;
  watch_t          watch_vector /* verilator public_flat_rd */;

  kt_result_writer #(
    .Cp(Cp), .Words(3), .Depth(VectorFifo)
  ) u_vector_writer (
    .clk_i     (vector_clk),
    .rst_ni    (rst_n),
    .start_i   (vector_start),
    .cmd_i     (vector_out_cmd),
    .ready_o   (vector_out_ready),
    .done_o    (cmd_done[QVector]),
    .take_i    (vector_take),
    .credit_o  (vector_credit),
    .valid_i   (vector_out_valid),
    .second_i  (1'b0),
    .word_i    (vector_result),
    .sb_req_o  (vector_sb_req),
    .sb_grant_i(vector_sb_grant),
    .sb_we_o   (vector_sb_we),
    .vb_req_o  (vector_vb_req),
    .sb_valid_o(vector_sb_valid), .vb_valid_o(vector_vb_valid),
    .vb_grant_i(vector_vb_grant),
    .vb_we_o   (vector_vb_we),
    .st_valid_o(vector_st_valid),
    .st_ready_i(vector_st_ready),
    .word_o    (vector_word),
    .blocked_o (vector_blocked),
    .watch_o   (watch_vector)
  );

  // ---- SB, read by the array, and VB, read by the vector engine
  kt_stream_buf #(
    .Cp(Cp), .Depth(SbDepth), .ConvWords(ConvWords), .LoadWords(LoadWords)
  ) u_sb (
    .clk_i,
    .rst_ni        (rst_n),
    .conv_we_i     (conv_sb_we),
    .conv_req_i    (conv_sb_req),
    .conv_word_i   (conv_all),
    .vector_grant_o(vector_sb_grant),
    .vector_valid_i(vector_sb_valid),
    .vector_we_i   (vector_sb_we),
    .vector_req_i  (vector_sb_req),
    .vector_word_i (vector_word),
    .load_grant_o  (load_sb_grant),
    .load_valid_i  (load_sb_valid),
    .load_req_i    (load_sb_req),
    .load_word_i   (load_word),
    .rd_req_i      (sb_rd_req),
    .word_o        (sb_rd_word)
  );

  kt_stream_buf #(
    .Cp(Cp), .Depth(VbDepth), .ConvWords(ConvWords), .LoadWords(LoadWords)
  ) u_vb (
    .clk_i,
    .rst_ni        (rst_n),
    .conv_we_i     (conv_vb_we),
    .conv_req_i    (conv_vb_req),
    .conv_word_i   (conv_all),
    .vector_grant_o(vector_vb_grant),
    .vector_valid_i(vector_vb_valid),
    .vector_we_i   (vector_vb_we),
    .vector_req_i  (vector_vb_req),
    .vector_word_i (vector_word),
    .load_grant_o  (load_vb_grant),
    .load_valid_i  (load_vb_valid),
    .load_req_i    (load_vb_req),
    .load_word_i   (load_word),
    .rd_req_i      (vb_rd_req),
    .word_o        (vb_rd_word)
  );

  // ---- STORE
  logic              written;
  logic [BytesW-1:0] written_bytes, zvc_written_raw;
  logic              zvc_written;

  kt_store #(
    .Kp(Kp), .Cp(Cp), .AxiW(AxiW), .AddrW(AddrW), .BytesW(BytesW), .Zvc(Zvc)
  ) u_store (
    .clk_i          (store_clk),
    .rst_ni         (rst_n),
    .base_i         (base),
    .cmd_valid_i    (cmd_valid[QStore]),
    .cmd_ready_o    (cmd_ready[QStore]),
    .cmd_i          (cmd[QStore]),
    .done_o         (cmd_done[QStore]),
    .busy_o         (store_engine_busy),
    .conv_valid_i   (conv_st_valid),
    .conv_ready_o   (conv_st_ready),
    .conv_word_i    (conv_word),
    .vector_valid_i (vector_st_valid),
    .vector_ready_o (vector_st_ready),
    .vector_word_i  (vector_word),
    .req_valid_o    (store_req_valid),
    .req_ready_i    (store_req_ready),
    .req_addr_o     (store_req.addr),
    .req_bytes_o    (store_req.bytes),
    .data_valid_o   (store_data_valid),
    .data_ready_i   (store_data_ready),
    .data_o         (store_data),
    .wr_done_i      (store_done),
    .wr_error_i     (axi_error[MasterStore]),
    .error_o        (store_error),
    .written_o      (written),
    .written_bytes_o(written_bytes),
    .zvc_written_o  (zvc_written),
    .zvc_raw_bytes_o(zvc_written_raw)
  );

  // ---- what is counted
  always_comb
    engine_events = '{
      array_busy:       conv_active,
      array_no_command: !conv_busy,
      array_no_rows:    conv_busy && !conv_active && !conv_no_weights && !conv_no_output,
      array_no_weights: conv_no_weights,
      array_no_output:  conv_no_output,
      vector_busy:      vector_active,
      vector_conflict:  vector_blocked,
      load_conflict:    (load_sb_valid && !load_sb_grant) || (load_vb_valid && !load_vb_grant),
      beat_read:        axi_r_valid_i && axi_r_ready_o,
      beat_written:     axi_w_valid_o && axi_w_ready_i,
      read_rows:        read_rows,
      read_weights:     read_weights,
      read_params:      read_params,
      read_bytes:       read_bytes,
      written:          written,
      written_bytes:    written_bytes,
      zvc_read:         zvc_read,
      zvc_read_raw:     zvc_read_raw,
      zvc_written:      zvc_written,
      zvc_written_raw:  zvc_written_raw
    };

endmodule
