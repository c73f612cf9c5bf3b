// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// STORE engine: results of the array or the vector engine, packed into bus beats (kt_store_pack), to memory.
//
// Loops: tile of the feeding command (a segment in memory), row, column; one write request for each (segment, row). The
// request is handed over with the first pixel of its row, so nothing is asked of the bus for data that may not come.
//
// A command is done with the last response of its requests; the next one starts packing long before. Responses come in
// the order of requests, so the head of the queue of open requests says whose response an error is.
//
// Results wait in a skid buffer of their engine, so readiness comes from flip-flops and no grant of a bank waits for what
// a pixel does here; one of the next command may be in it already.
//
// Requests and beats go through the codec: kt_store_zvc, which packs those of commands with compression (field `zvc`)
// and asks for what is left of them, or where there is none (Zvc = 0) kt_store_raw. A command without compression waits
// until those with it have left.
module kt_store
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned Kp     = 4,
  parameter int unsigned Cp     = 4,
  parameter int unsigned AxiW   = 128,
  parameter int unsigned AddrW  = 40,
  parameter int unsigned BytesW = 20,  // of the write master's byte count
  parameter int unsigned Open   = 16,  // requests without response
  parameter int unsigned Zvc    = 0,   // beats of the longest segment that is compressed, 0: no codec
  localparam int unsigned Words = Kp / Cp
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // registers
  input  logic [AddrW-1:0]    base_i[8],
  // commands
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // one operation
  input  command_t            cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                done_o,
  output logic                busy_o,         // a command was taken and is not done
  // results of the array
  input  logic                conv_valid_i,
  output logic                conv_ready_o,
  input  logic [Cp*8-1:0]     conv_word_i[Words],
  // results of the vector engine
  input  logic                vector_valid_i,
  output logic                vector_ready_o,
  input  logic [Cp*8-1:0]     vector_word_i[3],
  // write master
  output logic                req_valid_o,
  input  logic                req_ready_i,
  output logic [AddrW-1:0]    req_addr_o,
  output logic [BytesW-1:0]   req_bytes_o,
  output logic                data_valid_o,
  input  logic                data_ready_i,
  output logic [AxiW-1:0]     data_o,
  input  logic                wr_done_i,      // the oldest request is answered
  input  logic                wr_error_i,     // a burst of it was answered with an error
  output engine_error_t       error_o,
  // bytes of a request, once a request
  output logic                written_o,
  output logic [BytesW-1:0]   written_bytes_o,
  // of commands with compression: bytes that the request stands for
  output logic                zvc_written_o,
  output logic [BytesW-1:0]   zvc_raw_bytes_o
);

  localparam int unsigned LaneW  = $clog2(AxiW / 8);
  localparam int unsigned PixelB = (Words > 3) ? Kp : 3 * Cp;  // bytes of the longest pixel
  localparam int unsigned PixelW = $clog2(PixelB + 1);

  // ---- command and loops; counters hold what is left after the current pixel
  // StSetup: the products of the command's registers are on their way to bytes_q and last_bytes_q
  typedef enum logic [1:0] {
    StIdle,
    StSetup,
    StRun
  } state_e;

  /* verilator lint_off UNUSEDSIGNAL */  // spare bits are checked by the fetch
  store_t cmd;
  /* verilator lint_on UNUSEDSIGNAL */
  assign cmd = store_t'(cmd_i.body);

  state_e            state_q;
  index_t            index_q;
  logic              from_vector_q;
  logic [23:0]       row_pitch_q, segment_pitch_q;
  logic [9:0]        rows_q, columns_q;
  logic [9:0]        segment_q, row_q, column_q;
  logic [11:0]       pixel_q, last_pixel_q;
  logic [BytesW-1:0] bytes_q, last_bytes_q;
  logic [AddrW-1:0]  segment_addr_q, addr_q;    // of the segment; of the request
  logic              row_first_q;               // the next pixel is the first of its row
  logic              last_segment_q;
  logic [PixelW-1:0] pixel_bytes_q;             // of this segment's pixels
  logic              take_cmd, room, take, row_end, segment_end, finish;
  logic [AddrW-1:0]  next_segment;
  logic              zvc_cmd_free, zvc_busy;
  logic              zvc_q;                     // the command is compressed
  logic [7:0]        zero_q;
  logic [9:0]        surface_pitch_q;
  logic [AddrW-1:0]  surface_q;

  assign cmd_ready_o  = state_q == StIdle && (cmd.zvc ? zvc_cmd_free : !zvc_busy);
  assign take_cmd     = cmd_valid_i && cmd_ready_o;
  assign row_end      = column_q == '0;
  assign segment_end  = row_end && row_q == '0;
  assign finish       = take && segment_end && last_segment_q;
  assign next_segment = segment_addr_q + AddrW'(segment_pitch_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle:  if (take_cmd) state_q <= StSetup;
        StSetup: state_q <= StRun;
        default: if (finish) state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (take_cmd) begin
      index_q         <= cmd_i.index;
      from_vector_q   <= cmd.from_vector;
      row_pitch_q     <= cmd.row_pitch;
      segment_pitch_q <= cmd.segment_pitch;
      rows_q          <= cmd.rows - 10'd1;
      columns_q       <= cmd.columns;
      pixel_q         <= cmd.pixel_bytes;
      last_pixel_q    <= cmd.last_pixel_bytes;
      segment_q       <= cmd.segments - 10'd1;
      last_segment_q  <= cmd.segments == 10'd1;
      pixel_bytes_q   <= PixelW'((cmd.segments == 10'd1) ? cmd.last_pixel_bytes : cmd.pixel_bytes);
      row_q           <= cmd.rows - 10'd1;
      column_q        <= cmd.columns - 10'd1;
      segment_addr_q  <= base_i[cmd.base] + AddrW'(cmd.offset);
      addr_q          <= base_i[cmd.base] + AddrW'(cmd.offset);
      row_first_q     <= 1'b1;
      zvc_q           <= cmd.zvc;
      zero_q          <= cmd.zero_value;
      surface_pitch_q <= cmd.surface_pitch;
      surface_q       <= base_i[cmd.base] + AddrW'(cmd.surface);
    end else if (take) begin
      row_first_q <= row_end;
      if (!row_end) begin
        column_q <= column_q - 10'd1;
      end else begin
        column_q <= columns_q - 10'd1;
        if (segment_end) begin
          row_q          <= rows_q;
          segment_q      <= segment_q - 10'd1;
          last_segment_q <= segment_q == 10'd1;
          pixel_bytes_q  <= PixelW'((segment_q == 10'd1) ? last_pixel_q : pixel_q);
          segment_addr_q <= next_segment;
          addr_q         <= next_segment;
        end else begin
          row_q  <= row_q - 10'd1;
          addr_q <= addr_q + AddrW'(row_pitch_q);
        end
      end
    end
  end

  // Bytes of a pixel beyond its segment's count are cleared, so that beats can be put together with an OR.
  logic [PixelB*8-1:0] mask_q, last_mask_q;

  always_ff @(posedge clk_i) begin
    if (state_q == StSetup) begin
      bytes_q      <= BytesW'(some_bytes(25'(columns_q) * 25'(pixel_q), BytesW));
      last_bytes_q <= BytesW'(some_bytes(25'(columns_q) * 25'(last_pixel_q), BytesW));
      mask_q       <= {(PixelB * 8) {1'b1}} >> {PixelW'(PixelB) - PixelW'(pixel_q), 3'b000};
      last_mask_q  <= {(PixelB * 8) {1'b1}} >> {PixelW'(PixelB) - PixelW'(last_pixel_q), 3'b000};
    end
  end

  // ---- packing
  logic                  ask_row, in_valid, out_valid, out_ready, out_zvc, pack_room, first_room;
  logic                  request_free, open_free, ask_free;
  logic [AxiW-1:0]       out_data;
  typedef logic [Cp*8-1:0] conv_pixel_t  [Words];
  typedef logic [Cp*8-1:0] vector_pixel_t[3];
  logic                conv_free, conv_valid, vector_free, vector_valid;
  conv_pixel_t         conv_pixel;
  vector_pixel_t       vector_pixel;
  logic [PixelB*8-1:0] pixel;

  // Readiness does not look at validity: a result writer hands over a pixel only when all its sinks are ready.
  assign conv_ready_o   = conv_free && state_q == StRun && !from_vector_q;
  assign vector_ready_o = vector_free && state_q == StRun && from_vector_q;
  kt_skid #(
    .word_t(conv_pixel_t)
  ) u_conv (
    .clk_i,
    .rst_ni,
    .in_valid_i (conv_valid_i && conv_ready_o),
    .in_ready_o (conv_free),
    .in_data_i  (conv_word_i),
    .out_valid_o(conv_valid),
    .out_ready_i(room && !from_vector_q),
    .out_data_o (conv_pixel)
  );
  kt_skid #(
    .word_t(vector_pixel_t)
  ) u_vector (
    .clk_i,
    .rst_ni,
    .in_valid_i (vector_valid_i && vector_ready_o),
    .in_ready_o (vector_free),
    .in_data_i  (vector_word_i),
    .out_valid_o(vector_valid),
    .out_ready_i(room && from_vector_q),
    .out_data_o (vector_pixel)
  );

  assign in_valid = from_vector_q ? vector_valid : conv_valid;
  assign room     = state_q == StRun && ask_free && pack_room;
  assign take     = room && in_valid;
  assign ask_row  = state_q == StRun && first_room && in_valid && row_first_q;  // if free, it is taken

  always_comb begin
    pixel = '0;
    if (take && from_vector_q) begin
      for (int unsigned w = 0; w < 3; w++) pixel[w*Cp*8+:Cp*8] = vector_pixel[w];
    end else if (take) begin
      for (int unsigned w = 0; w < Words; w++) pixel[w*Cp*8+:Cp*8] = conv_pixel[w];
    end
    if (take) pixel = pixel & (last_segment_q ? last_mask_q : mask_q);
  end

  kt_store_pack #(
    .AxiW  (AxiW),
    .PixelB(PixelB)
  ) u_pack (
    .clk_i,
    .rst_ni,
    .room_o      (pack_room),
    .first_room_o(first_room),
    .take_i      (take),
    .first_i     (row_first_q),
    .first_lane_i(addr_q[LaneW-1:0]),
    .last_i      (row_end),
    .bytes_i     (pixel_bytes_q),
    .pixel_i     (pixel),
    .zvc_i       (zvc_q),
    .out_valid_o (out_valid),
    .out_ready_i (out_ready),
    .out_data_o  (out_data),
    .out_zvc_o   (out_zvc)
  );

  // ---- requests; compressed ones come changed and later, when no others do
  logic              ask, ask_last, ask_zvc, req_zvc;
  logic [AddrW-1:0]  ask_addr;
  logic [BytesW-1:0] bytes, ask_bytes, ask_raw;
  index_t            ask_index;
  logic [$clog2(5)-1:0] unused_request_level;
  assign bytes = last_segment_q ? last_bytes_q : bytes_q;

  if (Zvc != 0) begin : gen_zvc
    kt_store_zvc #(
      .AxiW  (AxiW),
      .AddrW (AddrW),
      .BytesW(BytesW),
      .Beats (Zvc)
    ) u_zvc (
      .clk_i,
      .rst_ni,
      .cmd_valid_i   (state_q == StSetup && zvc_q),
      .cmd_ready_o   (zvc_cmd_free),
      .cmd_index_i   (index_q),
      .cmd_surface_i (surface_q),
      .cmd_pitch_i   (surface_pitch_q),
      .cmd_rows_i    (rows_q + 10'd1),
      .cmd_segments_i(segment_q + 10'd1),
      .req_valid_i   (ask_row),
      .req_ready_o   (ask_free),
      .req_zvc_i     (zvc_q),
      .req_addr_i    (addr_q),
      .req_bytes_i   (bytes),
      .req_zero_i    (zero_q),
      .req_index_i   (index_q),
      .req_last_i    (last_segment_q && row_q == '0),
      .data_valid_i  (out_valid),
      .data_ready_o  (out_ready),
      .data_zvc_i    (out_zvc),
      .data_i        (out_data),
      .req_valid_o   (ask),
      .req_ready_i   (request_free && open_free),
      .req_zvc_o     (ask_zvc),
      .req_addr_o    (ask_addr),
      .req_bytes_o   (ask_bytes),
      .req_index_o   (ask_index),
      .req_last_o    (ask_last),
      .data_valid_o,
      .data_ready_i,
      .data_o,
      .busy_o        (zvc_busy),
      .raw_bytes_o   (ask_raw)
    );
  end else begin : gen_raw
    kt_store_raw #(
      .AxiW  (AxiW),
      .AddrW (AddrW),
      .BytesW(BytesW)
    ) u_raw (
      .clk_i,
      .rst_ni,
      .cmd_valid_i   (state_q == StSetup && zvc_q),
      .cmd_ready_o   (zvc_cmd_free),
      .cmd_index_i   (index_q),
      .cmd_surface_i (surface_q),
      .cmd_pitch_i   (surface_pitch_q),
      .cmd_rows_i    (rows_q + 10'd1),
      .cmd_segments_i(segment_q + 10'd1),
      .req_valid_i   (ask_row),
      .req_ready_o   (ask_free),
      .req_zvc_i     (zvc_q),
      .req_addr_i    (addr_q),
      .req_bytes_i   (bytes),
      .req_zero_i    (zero_q),
      .req_index_i   (index_q),
      .req_last_i    (last_segment_q && row_q == '0),
      .data_valid_i  (out_valid),
      .data_ready_o  (out_ready),
      .data_zvc_i    (out_zvc),
      .data_i        (out_data),
      .req_valid_o   (ask),
      .req_ready_i   (request_free && open_free),
      .req_zvc_o     (ask_zvc),
      .req_addr_o    (ask_addr),
      .req_bytes_o   (ask_bytes),
      .req_index_o   (ask_index),
      .req_last_o    (ask_last),
      .data_valid_o,
      .data_ready_i,
      .data_o,
      .busy_o        (zvc_busy),
      .raw_bytes_o   (ask_raw)
    );
  end

  kt_fifo #(
    .Width(AddrW + BytesW + 1 + BytesW),
    .Depth(4)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .in_valid_i (ask && open_free),
    .in_ready_o (request_free),
    .in_data_i  ({ask_zvc, ask_raw, ask_addr, ask_bytes}),
    .out_valid_o(req_valid_o),
    .out_ready_i(req_ready_i),
    .out_data_o ({req_zvc, zvc_raw_bytes_o, req_addr_o, req_bytes_o}),
    .level_o    (unused_request_level)
  );

  assign written_o       = req_valid_o && req_ready_i;
  assign written_bytes_o = req_bytes_o;
  assign zvc_written_o   = written_o && req_zvc;

  // ---- open requests
  logic   open_valid, open_last, error_q;
  index_t open_index, error_index_q;
  logic [$clog2(Open+1)-1:0] unused_open_level;
  kt_fifo #(
    .Width($bits(index_t) + 1),
    .Depth(Open)
  ) u_open (
    .clk_i,
    .rst_ni,
    .in_valid_i (ask && request_free),
    .in_ready_o (open_free),
    .in_data_i  ({ask_index, ask_last}),
    .out_valid_o(open_valid),
    .out_ready_i(wr_done_i),
    .out_data_o ({open_index, open_last}),
    .level_o    (unused_open_level)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_o  <= 1'b0;
      error_q <= 1'b0;
    end else begin
      done_o  <= wr_done_i && open_last;
      error_q <= wr_error_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (wr_error_i) error_index_q <= open_index;
  end

  assign error_o = '{bus: error_q, index: error_index_q, default: '0};

  assign busy_o = state_q != StIdle || open_valid || zvc_busy || done_o;

endmodule
