// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Compression between STORE and its write master: requests with their beats in, the same requests out, packed where
// that takes fewer beats (docs/formats/zvc.md). After the last request of a command comes its size surface.
//
//   requests --> packed length --> jobs --> sender: the request, its beats through kt_zvc_compress or past it
//   beats -----> staging ----------------/
//
// A request is staged whole before it leaves, because its length on the bus is known only then; staging holds two of
// the longest ones, so that the producer goes on meanwhile. Requests begin at multiples of the bus width.
//
// The size surface of a command is at most Surface bytes, which lie at their address mod Surface. It leaves as one
// request where the command has whole rows of it, else row by row.
module kt_store_zvc
  import kt_pkg::*;
#(
  parameter int unsigned AxiW    = 128,
  parameter int unsigned AddrW   = 40,
  parameter int unsigned BytesW  = 20,
  parameter int unsigned Beats   = 128,  // of the longest request, at most 256
  parameter int unsigned Surface = 1024,
  parameter int unsigned Jobs    = 8     // requests counted and not sent, at most 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // command with compression, before its first request
  input  logic              cmd_valid_i,
  output logic              cmd_ready_o,
  input  index_t            cmd_index_i,
  input  logic [AddrW-1:0]  cmd_surface_i,
  input  logic [9:0]        cmd_pitch_i,
  input  logic [9:0]        cmd_rows_i,
  input  logic [9:0]        cmd_segments_i,
  // requests, for each segment each row, and their beats; those of commands without compression pass, while busy_o is
  // low
  input  logic              req_valid_i,
  output logic              req_ready_o,
  input  logic              req_zvc_i,
  input  logic [AddrW-1:0]  req_addr_i,
  input  logic [BytesW-1:0] req_bytes_i,
  input  logic [7:0]        req_zero_i,   // with req_zvc_i
  input  index_t            req_index_i,  // without
  input  logic              req_last_i,
  input  logic              data_valid_i,
  output logic              data_ready_o,
  input  logic              data_zvc_i,
  input  logic [AxiW-1:0]   data_i,
  // write master; the last request of a command is its last
  output logic              req_valid_o,
  input  logic              req_ready_i,
  output logic              req_zvc_o,
  output logic [AddrW-1:0]  req_addr_o,
  output logic [BytesW-1:0] req_bytes_o,
  output index_t            req_index_o,
  output logic              req_last_o,
  output logic              data_valid_o,
  input  logic              data_ready_i,
  output logic [AxiW-1:0]   data_o,
  // a command is here whose last request has not left
  output logic              busy_o,
  // with a request of a command with compression: the bytes it stands for
  output logic [BytesW-1:0] raw_bytes_o
);

  localparam int unsigned Lanes  = AxiW / 8;
  localparam int unsigned LaneW  = $clog2(Lanes);
  localparam int unsigned Slots  = Surface / Lanes;
  localparam int unsigned SlotW  = $clog2(Slots);
  localparam int unsigned BeatsW = BytesW - LaneW;
  localparam int unsigned StageW = $clog2(2 * Beats + 1);

  if (Beats > 256 || Beats < 2) begin : gen_check
    $error("kt_store_zvc: a segment has 2 to 256 beats, so that a packed one has at most 255");
  end

  typedef struct packed {
    logic [AddrW-1:0]  addr;
    logic [BytesW-1:0] bytes;
    logic [7:0]        zero;
  } request_t;

  typedef struct packed {
    request_t          request;
    logic [BytesW-1:0] length;  // packed
  } job_t;

  typedef struct packed {
    index_t           index;
    logic [AddrW-1:0] surface;
    logic [9:0]       pitch;
    logic [9:0]       rows;
    logic [9:0]       segments;
  } cmd_t;

  // ---- commands
  cmd_t cmd;
  logic cmd_valid, cmd_end;
  logic [$clog2(4+1)-1:0] unused_cmd_level;
  kt_fifo #(
    .Width($bits(cmd_t)),
    .Depth(4)
  ) u_commands (
    .clk_i,
    .rst_ni,
    .in_valid_i (cmd_valid_i),
    .in_ready_o (cmd_ready_o),
    .in_data_i  ({cmd_index_i, cmd_surface_i, cmd_pitch_i, cmd_rows_i, cmd_segments_i}),
    .out_valid_o(cmd_valid),
    .out_ready_i(cmd_end),
    .out_data_o (cmd),
    .level_o    (unused_cmd_level)
  );
  assign busy_o = cmd_valid;

  // ---- requests whose beats come in
  request_t in;
  logic     in_valid, in_end, in_free;
  logic [$clog2(4+1)-1:0] unused_in_level;
  kt_fifo #(
    .Width($bits(request_t)),
    .Depth(4)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .in_valid_i (req_valid_i && req_zvc_i),
    .in_ready_o (in_free),
    .in_data_i  ({req_addr_i, req_bytes_i, req_zero_i}),
    .out_valid_o(in_valid),
    .out_ready_i(in_end),
    .out_data_o (in),
    .level_o    (unused_in_level)
  );

  logic              first_q;          // the next beat is the first of its request
  logic [BytesW-1:0] left_q, left;     // bytes from this beat on
  logic [StageW-1:0] stage_level;
  logic [3:0]        jobs_q;           // requests whose beats are all in and that were not sent
  logic              beat, beat_free, job_pop;
  logic              room_q;           // in staging, for this beat and one more
  logic [LaneW:0]    elements;         // of this beat

  assign left         = first_q ? in.bytes : left_q;
  assign in_end       = beat && left <= BytesW'(Lanes);
  assign elements     = (left < BytesW'(Lanes)) ? (LaneW + 1)'(left) : (LaneW + 1)'(Lanes);
  assign beat_free    = in_valid && room_q && jobs_q != 4'(Jobs);
  assign beat         = data_valid_i && data_zvc_i && beat_free;
  assign req_ready_o  = req_zvc_i ? in_free : req_ready_i;
  assign data_ready_o = data_zvc_i ? beat_free : data_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      room_q  <= 1'b1;
      first_q <= 1'b1;
      jobs_q  <= '0;
    end else begin
      room_q <= stage_level < StageW'(2 * Beats - 1);
      if (beat) first_q <= in_end;
      if (in_end != job_pop) jobs_q <= in_end ? jobs_q + 4'd1 : jobs_q - 4'd1;
    end
  end
  always_ff @(posedge clk_i) if (beat) left_q <= left - BytesW'(Lanes);

  logic            stage_valid, stage_pop, unused_stage_free;
  logic [AxiW-1:0] stage;
  kt_fifo #(
    .Width   (AxiW),
    .Depth   (2 * Beats),
    .BlockRam(1'b1)
  ) u_stage (
    .clk_i,
    .rst_ni,
    .in_valid_i (beat),
    .in_ready_o (unused_stage_free),  // room_q
    .in_data_i  (data_i),
    .out_valid_o(stage_valid),
    .out_ready_i(stage_pop),
    .out_data_o (stage),
    .level_o    (stage_level)
  );

  // ---- packed length, two cycles after the last beat
  request_t          counted_q, measured_q;
  logic              length_valid;
  logic [BytesW-1:0] length;

  kt_zvc_count #(
    .Lanes (Lanes),
    .BytesW(BytesW)
  ) u_count (
    .clk_i,
    .rst_ni,
    .in_valid_i (beat),
    .in_data_i  (data_i),
    .in_last_i  (in_end),
    .in_count_i (elements),
    .in_zero_i  (in.zero),
    .out_valid_o(length_valid),
    .out_bytes_o(length)
  );
  always_ff @(posedge clk_i) begin
    if (in_end) counted_q <= in;
    measured_q <= counted_q;
  end

  job_t job;
  logic job_valid, unused_job_free;
  logic [$clog2(Jobs+1)-1:0] unused_job_level;
  kt_fifo #(
    .Width($bits(job_t)),
    .Depth(Jobs)
  ) u_jobs (
    .clk_i,
    .rst_ni,
    .in_valid_i (length_valid),
    .in_ready_o (unused_job_free),  // jobs_q counts them
    .in_data_i  ({measured_q, length}),
    .out_valid_o(job_valid),
    .out_ready_i(job_pop),
    .out_data_o (job),
    .level_o    (unused_job_level)
  );

  // ---- sender
  // StAsk: the request; StSend: its beats; StRun, StRunSend: the same for a run of the size surface
  typedef enum logic [2:0] {
    StIdle,
    StAsk,
    StSend,
    StRun,
    StRunSend
  } state_e;

  state_e            state_q;
  request_t          request_q;
  logic              pack_q;
  logic [BeatsW-1:0] size_q, beats_q;         // packed; beats of the request not yet taken from staging
  logic [9:0]        row_q, segment_q;         // of the next job, or run
  logic [AddrW-1:0]  surface_segment_q, surface_q;  // its byte of the size surface
  logic [BeatsW-1:0] size, raw_beats;
  logic              ask, row_end, last_job, last_run, whole, drained, send_end;

  function automatic logic [BeatsW-1:0] beats_of(logic [BytesW-1:0] bytes);
    return BeatsW'(bytes >> LaneW) + BeatsW'(bytes[LaneW-1:0] != '0);
  endfunction

  assign size      = beats_of(job.length);
  assign raw_beats = beats_of(job.request.bytes);
  assign job_pop   = state_q == StIdle && job_valid;
  assign row_end   = row_q == cmd.rows - 10'd1;
  assign last_job  = row_end && segment_q == cmd.segments - 10'd1;

  // runs: all rows together where they follow each other
  logic [BytesW-1:0] run_bytes, whole_bytes_q;
  logic [BeatsW-1:0] run_beats;
  assign whole     = cmd.pitch == cmd.segments;
  assign run_bytes = whole ? whole_bytes_q : BytesW'(cmd.segments);
  assign run_beats = beats_of(run_bytes + BytesW'(surface_q[LaneW-1:0]));
  assign last_run  = whole || row_end;

  assign ask         = req_zvc_o && req_ready_i;
  assign req_zvc_o   = (state_q == StAsk && (pack_q || drained)) || (state_q == StRun && drained);
  assign req_valid_o = req_zvc_o || (req_valid_i && !req_zvc_i);
  assign req_index_o = req_zvc_o ? cmd.index : req_index_i;
  assign req_last_o  = req_zvc_o ? state_q == StRun && last_run : req_last_i;
  always_comb begin
    req_addr_o  = req_addr_i;
    req_bytes_o = req_bytes_i;
    if (req_zvc_o) begin
      req_addr_o  = request_q.addr;
      req_bytes_o = pack_q ? BytesW'(size_q) << LaneW : request_q.bytes;
      if (state_q == StRun) begin
        req_addr_o  = surface_q;
        req_bytes_o = run_bytes;
      end
    end
  end
  assign raw_bytes_o = (state_q == StRun) ? '0 : request_q.bytes;

  assign send_end = beats_q == BeatsW'(1);
  assign cmd_end  = state_q == StRunSend && data_ready_i && send_end && last_run;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      row_q     <= '0;
      segment_q <= '0;
    end else begin
      unique case (state_q)
        StIdle: if (job_valid) state_q <= StAsk;
        StAsk:  if (ask) state_q <= StSend;
        StSend:
        if (stage_pop && send_end) begin
          state_q   <= last_job ? StRun : StIdle;
          row_q     <= row_end ? '0 : row_q + 10'd1;
          segment_q <= !row_end ? segment_q : last_job ? '0 : segment_q + 10'd1;
        end
        StRun: if (ask) state_q <= StRunSend;
        default:
        if (data_ready_i && send_end) begin
          state_q <= last_run ? StIdle : StRun;
          row_q   <= last_run ? '0 : row_q + 10'd1;
        end
      endcase
    end
  end

  // The first job of a command finds its place in the command, the others in the one before.
  always_ff @(posedge clk_i) begin
    if (job_pop) begin
      request_q <= job.request;
      size_q    <= size;
      pack_q    <= size < raw_beats;
      beats_q   <= raw_beats;
      if (row_q == '0 && segment_q == '0) begin
        surface_q         <= cmd.surface;
        surface_segment_q <= cmd.surface;
        whole_bytes_q     <= BytesW'(cmd.rows) * BytesW'(cmd.pitch);
      end
    end else if (state_q == StSend && stage_pop) begin
      beats_q <= beats_q - BeatsW'(1);
      if (send_end) begin
        surface_q <= row_end ? surface_segment_q + AddrW'(1) : surface_q + AddrW'(cmd.pitch);
        if (row_end) surface_segment_q <= surface_segment_q + AddrW'(1);
        if (last_job) surface_q <= cmd.surface;
      end
    end else if (state_q == StRun && ask) begin
      beats_q <= run_beats;
    end else if (state_q == StRunSend && data_ready_i) begin
      beats_q <= beats_q - BeatsW'(1);
      if (send_end) surface_q <= surface_q + AddrW'(cmd.pitch);
    end
  end

  // ---- size surface
  logic [AxiW-1:0]  surface[Slots];
  logic [SlotW-1:0] slot_q;
  always_ff @(posedge clk_i) begin
    if (state_q == StAsk && ask) begin
      surface[surface_q[LaneW+:SlotW]][{surface_q[LaneW-1:0], 3'b000}+:8] <= pack_q ? 8'(size_q) : 8'd0;
    end
    if (state_q == StRun) slot_q <= surface_q[LaneW+:SlotW];
    else if (data_ready_i) slot_q <= slot_q + 1'b1;
  end

  // ---- beats
  logic            zip_valid, zip_ready, packed_valid, packed_last, zip_start, zip_end;
  logic [AxiW-1:0] packed_data;
  logic [3:0]      zipped_q;  // packed requests whose last beat has not left
  logic [BytesW-1:0] element_left_q;
  logic [LaneW:0]    zip_elements;

  assign zip_valid    = state_q == StSend && pack_q && stage_valid;
  assign zip_start    = ask && state_q == StAsk && pack_q;
  assign zip_end      = packed_valid && data_ready_i && packed_last;
  assign zip_elements = send_end ? (LaneW + 1)'(element_left_q) : (LaneW + 1)'(Lanes);
  assign stage_pop    = state_q == StSend && stage_valid && (pack_q ? zip_ready : data_ready_i);
  assign drained      = zipped_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) zipped_q <= '0;
    else if (zip_start != zip_end) zipped_q <= zip_start ? zipped_q + 4'd1 : zipped_q - 4'd1;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StAsk) element_left_q <= request_q.bytes;
    else if (stage_pop) element_left_q <= element_left_q - BytesW'(Lanes);
  end

  kt_zvc_compress #(
    .Lanes(Lanes)
  ) u_compress (
    .clk_i,
    .rst_ni,
    .in_valid_i (zip_valid),
    .in_ready_o (zip_ready),
    .in_data_i  (stage),
    .in_last_i  (send_end),
    .in_count_i (zip_elements),
    .in_zero_i  (request_q.zero),
    .out_valid_o(packed_valid),
    .out_ready_i(data_ready_i),
    .out_data_o (packed_data),
    .out_last_o (packed_last)
  );

  logic send;  // a beat of a command with compression
  assign send         = packed_valid || (state_q == StSend && !pack_q && stage_valid) || state_q == StRunSend;
  assign data_valid_o = send || (data_valid_i && !data_zvc_i);
  always_comb begin
    data_o = data_i;
    if (packed_valid) data_o = packed_data;
    else if (state_q == StRunSend) data_o = surface[slot_q];
    else if (send) data_o = stage;
  end

endmodule
