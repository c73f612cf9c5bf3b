// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// LOAD engine: rows into SB and VB, weights into WB and VWB, parameters into the two ZSBs.
//
//   command --> kt_load_request --> read master --> kt_gearbox --> output register --> kt_load_words --> memories;
//          \                                            |                       SB and VB behind kt_load_output
//           \                                   register of the slice ahead
//            \--> FIFO of commands --> loops of the operation (kt_load_rows, kt_load_weights, here for parameters)
//
// Requests of the following commands go out while the data of earlier ones arrive. The loops ask the gearbox for one
// slice after the other (pixels or the words of one that fit, a WB row, a ZSB word) and say where it goes. Everything
// leaves from one register; done_o, in the order of commands, follows when what a command had last is accepted.
//
// SB and VB accept each on its own: *_valid_o and the bank requests stay until *_grant_i, with which the last words of
// the request are written. Both buffers get the same words. Data of a request stay while either is waiting.
//
// Commands, requests and beats pass through the codec, kt_load_zvc, or where there is none (Zvc = 0) kt_load_raw.
module kt_load
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned Cp       = 4,
  parameter int unsigned AxiW     = 128,
  parameter int unsigned WbRows   = 2048,
  parameter int unsigned AddrW    = 40,
  parameter int unsigned BytesW   = 20,  // of the read master's byte count
  parameter int unsigned Commands = 4,   // commands asked for and not yet begun to be written
  parameter int unsigned Zvc      = 0,   // 0: no codec
  localparam int unsigned LaneW = $clog2(AxiW / 8),
  localparam int unsigned Lw    = (AxiW / 8 / Cp < 9) ? AxiW / 8 / Cp : 9  // words of a request to SB and VB
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // registers
  input  logic [AddrW-1:0]    base_i[8],
  input  addr_t               wb_split_i,
  // commands
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  command_t            cmd_i,
  output logic                done_o,
  output logic                busy_o,        // a command was taken and is not done
  // read master
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output logic [AddrW-1:0]    req_addr_o,
  output logic [BytesW-1:0]   req_bytes_o,
  input  logic                rsp_valid_i,
  output logic                rsp_ready_o,
  input  logic [AxiW-1:0]     rsp_data_i,
  input  logic [LaneW-1:0]    rsp_offset_i,
  input  logic [LaneW:0]      rsp_bytes_i,
  input  logic                rsp_last_i,
  input  logic                rsp_error_i,
  // SB and VB
  output logic                sb_valid_o,
  input  logic                sb_grant_i,
  output bank_req_t           sb_req_o[Lw],
  output logic                vb_valid_o,
  input  logic                vb_grant_i,
  output bank_req_t           vb_req_o[Lw],
  output logic [Cp*8-1:0]     word_o  [Lw],
  // WB and VWB
  output logic                wb_en_o,
  output logic                vwb_en_o,
  output addr_t               weights_addr_o,
  output logic [9*Cp*8-1:0]   weights_o,
  // ZSBs
  output logic                zsb_conv_en_o,
  output logic                zsb_vector_en_o,
  output addr_t               param_addr_o,
  output requant_params_t     param_o,
  output engine_error_t       error_o,
  // bytes asked for, once a request
  output logic                read_rows_o,
  output logic                read_weights_o,
  output logic                read_params_o,
  output logic [BytesW-1:0]   read_bytes_o,
  // with it: the request belongs to compression, and stands for so many bytes
  output logic                zvc_read_o,
  output logic [BytesW-1:0]   zvc_raw_bytes_o
);

  localparam int unsigned RowBytes = 9 * Cp;
  localparam int unsigned NeedW    = $clog2(RowBytes + 1);

  // ---- commands
  command_t item;
  logic     req_take, item_free, item_valid, start, active_q, finish;

  assign cmd_ready_o = req_take && item_free;

  // ---- requests, beats for the gearbox
  command_t          ask_cmd;
  logic              ask_cmd_valid, ask_cmd_ready, ask_valid, ask_ready, surface;
  logic [AddrW-1:0]  ask_addr;
  logic [BytesW-1:0] ask_bytes;
  logic              beat_valid, beat_ready, beat_last, beat_error;
  logic [AxiW-1:0]   beat;
  logic [LaneW-1:0]  beat_offset;
  logic              zvc, zvc_error, zvc_corrupt;
  index_t            zvc_index;
  logic [9:0]        zvc_row;

  if (Zvc != 0) begin : gen_zvc
    kt_load_zvc #(
      .AxiW  (AxiW),
      .AddrW (AddrW),
      .BytesW(BytesW)
    ) u_zvc (
      .clk_i,
      .rst_ni,
      .base_i,
      .cmd_valid_i  (cmd_valid_i && item_free),
      .cmd_ready_o  (req_take),
      .cmd_i,
      .cmd_valid_o  (ask_cmd_valid),
      .cmd_ready_i  (ask_cmd_ready),
      .cmd_o        (ask_cmd),
      .req_valid_i  (ask_valid),
      .req_ready_o  (ask_ready),
      .req_addr_i   (ask_addr),
      .req_bytes_i  (ask_bytes),
      .req_valid_o,
      .req_ready_i,
      .req_addr_o,
      .req_bytes_o,
      .surface_o    (surface),
      .rsp_valid_i,
      .rsp_ready_o,
      .rsp_data_i,
      .rsp_offset_i,
      .rsp_bytes_i,
      .rsp_last_i,
      .rsp_error_i,
      .rsp_valid_o  (beat_valid),
      .rsp_ready_i  (beat_ready),
      .rsp_data_o   (beat),
      .rsp_offset_o (beat_offset),
      .rsp_last_o   (beat_last),
      .rsp_error_o  (beat_error),
      .bus_error_o  (zvc_error),
      .corrupt_o    (zvc_corrupt),
      .error_index_o(zvc_index),
      .error_row_o  (zvc_row),
      .zvc_o        (zvc),
      .raw_bytes_o  (zvc_raw_bytes_o)
    );
  end else begin : gen_raw
    kt_load_raw #(
      .AxiW  (AxiW),
      .AddrW (AddrW),
      .BytesW(BytesW)
    ) u_raw (
      .clk_i,
      .rst_ni,
      .base_i,
      .cmd_valid_i  (cmd_valid_i && item_free),
      .cmd_ready_o  (req_take),
      .cmd_i,
      .cmd_valid_o  (ask_cmd_valid),
      .cmd_ready_i  (ask_cmd_ready),
      .cmd_o        (ask_cmd),
      .req_valid_i  (ask_valid),
      .req_ready_o  (ask_ready),
      .req_addr_i   (ask_addr),
      .req_bytes_i  (ask_bytes),
      .req_valid_o,
      .req_ready_i,
      .req_addr_o,
      .req_bytes_o,
      .surface_o    (surface),
      .rsp_valid_i,
      .rsp_ready_o,
      .rsp_data_i,
      .rsp_offset_i,
      .rsp_bytes_i,
      .rsp_last_i,
      .rsp_error_i,
      .rsp_valid_o  (beat_valid),
      .rsp_ready_i  (beat_ready),
      .rsp_data_o   (beat),
      .rsp_offset_o (beat_offset),
      .rsp_last_o   (beat_last),
      .rsp_error_o  (beat_error),
      .bus_error_o  (zvc_error),
      .corrupt_o    (zvc_corrupt),
      .error_index_o(zvc_index),
      .error_row_o  (zvc_row),
      .zvc_o        (zvc),
      .raw_bytes_o  (zvc_raw_bytes_o)
    );
  end

  logic       req_busy, read;
  logic [3:0] req_op;
  kt_load_request #(
    .AddrW (AddrW),
    .BytesW(BytesW)
  ) u_request (
    .clk_i,
    .rst_ni,
    .base_i,
    .cmd_valid_i(ask_cmd_valid),
    .cmd_ready_o(ask_cmd_ready),
    .cmd_i      (ask_cmd),
    .req_valid_o(ask_valid),
    .req_ready_i(ask_ready),
    .req_addr_o (ask_addr),
    .req_bytes_o(ask_bytes),
    .req_op_o   (req_op)
  );
  assign req_busy       = !req_take;
  assign read           = req_valid_o && req_ready_i;
  assign read_rows_o    = read && (surface || req_op == OpLoadRows);
  assign read_weights_o = read && !surface && req_op == OpLoadWeights;
  assign read_params_o  = read && !surface && req_op == OpLoadParams;
  assign zvc_read_o     = read && zvc;
  assign read_bytes_o   = req_bytes_o;

  logic [$clog2(Commands+1)-1:0] unused_level;
  kt_fifo #(
    .Width($bits(command_t)),
    .Depth(Commands)
  ) u_items (
    .clk_i,
    .rst_ni,
    .in_valid_i (cmd_valid_i && req_take),
    .in_ready_o (item_free),
    .in_data_i  (cmd_i),
    .out_valid_o(item_valid),
    .out_ready_i(start),
    .out_data_o (item),
    .level_o    (unused_level)
  );

  // ---- loops
  logic   is_rows_q, is_weights_q, is_params_q;  // operation of the current command, one at a time
  logic   to_sb_q, to_vb_q, to_second_q;         // to_second_q: VWB, ZSB of the vector engine
  index_t index_q;

  load_rows_t    rows_cmd;
  load_weights_t weights_cmd;
  /* verilator lint_off UNUSEDSIGNAL */  // the places of parameters need some fields
  load_params_t  params_cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  assign rows_cmd    = load_rows_t'(item.body);
  assign weights_cmd = load_weights_t'(item.body);
  assign params_cmd  = load_params_t'(item.body);

  // how a slice is taken from the gearbox and becomes words
  typedef struct packed {
    logic       plain;
    logic [3:0] full;
    logic [4:0] bytes;
    logic [7:0] fill;
  } words_t;
  typedef struct packed {
    logic [NeedW-1:0]      more;
    logic signed [NeedW:0] first;
    words_t                words;
  } slice_t;

  slice_t           rows_slice;
  bank_req_t        sb_req[Lw], vb_req[Lw];
  logic [NeedW-1:0] rows_advance;
  logic             rows_setup, rows_follow, rows_request_end, rows_end, step_rows, take_rows;
  kt_load_rows #(
    .Cp(Cp),
    .Lw(Lw)
  ) u_rows (
    .clk_i,
    .start_i      (start && item.op == OpLoadRows),
    .cmd_i        (rows_cmd),
    .setup_o      (rows_setup),
    .step_i       (step_rows),
    .take_i       (take_rows),
    .more_o       (rows_slice.more),
    .follow_o     (rows_follow),
    .advance_o    (rows_advance),
    .first_o      (rows_slice.first),
    .plain_o      (rows_slice.words.plain),
    .full_o       (rows_slice.words.full),
    .bytes_o      (rows_slice.words.bytes),
    .fill_o       (rows_slice.words.fill),
    .request_end_o(rows_request_end),
    .end_o        (rows_end),
    .sb_req_o     (sb_req),
    .vb_req_o     (vb_req)
  );

  slice_t weights_slice;
  logic   weights_end, step_weights;
  addr_t  weights_addr;
  assign weights_slice.first = '0;
  kt_load_weights #(
    .Cp    (Cp),
    .WbRows(WbRows)
  ) u_weights (
    .clk_i,
    .wb_split_i,
    .start_i(start && item.op == OpLoadWeights),
    .cmd_i  (weights_cmd),
    .step_i (step_weights),
    .more_o (weights_slice.more),
    .plain_o(weights_slice.words.plain),
    .full_o (weights_slice.words.full),
    .bytes_o(weights_slice.words.bytes),
    .fill_o (weights_slice.words.fill),
    .end_o  (weights_end),
    .addr_o (weights_addr)
  );

  logic        step_params;
  logic [10:0] params_q;        // left, with this one
  addr_t       params_addr_q;
  always_ff @(posedge clk_i) begin
    if (start && item.op == OpLoadParams) begin
      params_q      <= params_cmd.count;
      params_addr_q <= addr_t'(params_cmd.index);
    end else if (step_params) begin
      params_q      <= params_q - 11'd1;
      params_addr_q <= params_addr_q + 16'd1;
    end
  end

  // ---- the current slice, and the one before it in the register ahead of the gearbox: the loops go on while it is taken
  typedef struct packed {
    slice_t           slice;
    logic             follow;
    logic [NeedW-1:0] advance;
    logic             request_end, cmd_end;
    logic             is_rows, is_weights, is_params;
    logic             to_sb, to_vb, to_second;
    index_t           index;
    addr_t            addr;  // of weights or a ZSB word
  } ahead_t;

  ahead_t ahead_d, ahead_q;
  logic   ahead_valid_q, step, enough, out_free, take, slice_error, slice_wrong;

  always_comb begin
    ahead_d = '{
      slice:       '{more: NeedW'(8), first: '0, words: '{plain: 1'b1, default: '0}},
      follow:      !is_rows_q || rows_follow,
      advance:     rows_advance,
      request_end: params_q == 11'd1,
      cmd_end:     params_q == 11'd1,
      is_rows:     is_rows_q,
      is_weights:  is_weights_q,
      is_params:   is_params_q,
      to_sb:       to_sb_q,
      to_vb:       to_vb_q,
      to_second:   to_second_q,
      index:       index_q,
      addr:        params_addr_q,
      default:     '0
    };
    if (is_rows_q) begin
      ahead_d.slice       = rows_slice;
      ahead_d.request_end = rows_request_end;
      ahead_d.cmd_end     = rows_end;
    end else if (is_weights_q) begin
      ahead_d.slice       = weights_slice;
      ahead_d.request_end = weights_end;
      ahead_d.cmd_end     = weights_end;
      ahead_d.addr        = weights_addr;
    end
  end

  assign step         = active_q && (!ahead_valid_q || take) && !(is_rows_q && rows_setup);
  assign step_rows    = step && is_rows_q;
  assign step_weights = step && is_weights_q;
  assign step_params  = step && is_params_q;
  assign finish       = step && ahead_d.cmd_end;
  assign start        = item_valid && (!active_q || finish);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ahead_valid_q <= 1'b0;
    end else begin
      ahead_valid_q <= step || (ahead_valid_q && !take);
    end
  end
  always_ff @(posedge clk_i) if (step) ahead_q <= ahead_d;

  assign take = ahead_valid_q && enough && out_free;

  logic [RowBytes*8-1:0] bytes;
  kt_gearbox #(
    .DataW (AxiW),
    .Window(RowBytes)
  ) u_gearbox (
    .clk_i,
    .rst_ni,
    .in_valid_i (beat_valid),
    .in_ready_o (beat_ready),
    .in_data_i  (beat),
    .in_offset_i(beat_offset),
    .in_last_i  (beat_last),
    .in_error_i (beat_error),
    .more_i     (ahead_q.slice.more),
    .follow_i   (ahead_q.follow),
    .advance_i  (ahead_q.advance),
    .first_i    (ahead_q.slice.first),
    .enough_o   (enough),
    .take_i     (take),
    .last_i     (ahead_q.request_end),
    .slice_o    (bytes),
    .error_o    (slice_error),
    .wrong_o    (slice_wrong)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
    end else begin
      if (start) active_q <= 1'b1;
      else if (finish) active_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      is_rows_q    <= item.op == OpLoadRows;
      is_weights_q <= item.op == OpLoadWeights;
      is_params_q  <= item.op == OpLoadParams;
      to_sb_q      <= rows_cmd.to_sb;
      to_vb_q      <= rows_cmd.to_vb;
      to_second_q  <= (item.op == OpLoadWeights) ? weights_cmd.to_vwb : params_cmd.to_vector;
      index_q      <= item.index;
    end
  end

  // ---- output register: the gearbox's slice, its addresses in the loops, and here what it is
  logic       take_weights, take_params;
  words_t     words_q;
  logic       rows_q, to_sb_out_q, to_vb_out_q, last_q;
  logic       rows_ready, rows_empty, rows_done;
  logic       error_q, illegal_q, corrupt_q;
  index_t     error_index_q;
  logic [9:0] corrupt_row_q;
  logic signed [NeedW+1:0] low_d, low_q, high_q;  // of the slice the bytes of the stream

  assign low_d        = -(NeedW + 2)'(ahead_q.slice.first);
  assign take_rows    = take && ahead_q.is_rows;
  assign take_weights = take && ahead_q.is_weights;
  assign take_params  = take && ahead_q.is_params;

  // What goes to other memories is there at once. The last of it waits for rows that came before.
  assign out_free = rows_q ? rows_ready : !last_q || rows_empty;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rows_q          <= 1'b0;
      wb_en_o         <= 1'b0;
      vwb_en_o        <= 1'b0;
      zsb_conv_en_o   <= 1'b0;
      zsb_vector_en_o <= 1'b0;
      last_q          <= 1'b0;
      done_o          <= 1'b0;
      error_q         <= 1'b0;
      illegal_q       <= 1'b0;
      corrupt_q       <= 1'b0;
    end else begin
      rows_q          <= take_rows || (rows_q && !rows_ready);
      wb_en_o         <= take_weights && !ahead_q.to_second;
      vwb_en_o        <= take_weights && ahead_q.to_second;
      zsb_conv_en_o   <= take_params && !ahead_q.to_second;
      zsb_vector_en_o <= take_params && ahead_q.to_second;
      last_q          <= (take && ahead_q.cmd_end) || (last_q && !out_free);
      done_o          <= rows_done || (last_q && !rows_q && rows_empty);
      error_q         <= (take && slice_error) || zvc_error;
      illegal_q       <= take && slice_wrong;
      corrupt_q       <= zvc_corrupt;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      words_q <= ahead_q.slice.words;
      low_q   <= low_d;
      high_q  <= $signed({2'b0, ahead_q.slice.more}) + low_d;
    end
    if (take_rows) begin
      to_sb_out_q <= ahead_q.to_sb;
      to_vb_out_q <= ahead_q.to_vb;
    end
    if (zvc_error || zvc_corrupt) error_index_q <= zvc_index;
    else if (take) error_index_q <= ahead_q.index;
    if (zvc_corrupt) corrupt_row_q <= zvc_row;
    if (take_weights) weights_addr_o <= ahead_q.addr;
    if (take_params) param_addr_o <= ahead_q.addr;
  end

  assign error_o    = '{bus: error_q, illegal: illegal_q, corrupt: corrupt_q, index: error_index_q, row: corrupt_row_q};
  assign param_o    = requant_params_t'(bytes[71:0]);

  logic [Cp*8-1:0] word[9];
  kt_load_words #(
    .Cp(Cp)
  ) u_words (
    .slice_i(bytes),
    .plain_i(words_q.plain),
    .low_i  (low_q),
    .high_i (high_q),
    .full_i (words_q.full),
    .bytes_i(words_q.bytes),
    .fill_i (words_q.fill),
    .word_o (word)
  );
  for (genvar w = 0; w < 9; w++) begin : gen_weights
    assign weights_o[w*Cp*8+:Cp*8] = word[w];
  end

  logic [Cp*8-1:0] row_word[Lw];
  for (genvar w = 0; w < int'(Lw); w++) begin : gen_word
    assign row_word[w] = word[w];
  end
  kt_load_output #(
    .Cp(Cp),
    .Lw(Lw)
  ) u_output (
    .clk_i,
    .rst_ni,
    .valid_i (rows_q),
    .ready_o (rows_ready),
    .to_sb_i (to_sb_out_q),
    .to_vb_i (to_vb_out_q),
    .last_i  (last_q),
    .sb_req_i(sb_req),
    .vb_req_i(vb_req),
    .word_i  (row_word),
    .sb_valid_o,
    .sb_grant_i,
    .sb_req_o,
    .vb_valid_o,
    .vb_grant_i,
    .vb_req_o,
    .word_o,
    .empty_o (rows_empty),
    .done_o  (rows_done)
  );

  assign busy_o = req_busy || item_valid || active_q || ahead_valid_q || rows_q || last_q || !rows_empty || done_o;

endmodule
