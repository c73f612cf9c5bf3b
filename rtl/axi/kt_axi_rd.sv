// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// AXI4 read master: turns requests (byte address, byte count) into bursts and returns one stream of bus beats.
//
// Requests are answered in order. Their bursts are issued as early as the bound on outstanding bursts allows, so that
// short requests (rows, row segments) follow each other without a bubble: a request needs one cycle a burst here.
//
// Client contract
//   - req_bytes_i is at least 1; address and count are free otherwise; the request ends inside the address space.
//   - A response beat carries rsp_bytes_o valid bytes, in data lanes rsp_offset_o .. rsp_offset_o + rsp_bytes_o - 1;
//     rsp_offset_o is not zero only on the first beat of a request; rsp_last_o marks the last beat of a request.
//   - There is no staging memory: the client may stall, and RREADY then goes low. A client that shares the port with
//     another one and must never block it asks only for what it has room for (kt_axi_rd_arb).
//   - A beat with an error response is delivered like any other, with rsp_error_o set, and reported by a pulse on
//     error_o with its code: nothing hangs, and the control decides what to stop.
//
// Bus
//   - INCR bursts of full-width beats inside one 4 KiB page, at most MaxBeats each, at most Outstanding between their
//     issue and their last beat. One ID.
//   - RegisterR = 0 leaves out the skid buffer of the R channel, for a master behind kt_axi_rd_arb, which has one.
module kt_axi_rd #(
  parameter int unsigned AddrW       = 40,
  parameter int unsigned DataW       = 128,   // power of two
  parameter int unsigned BytesW      = 20,    // width of the byte count
  parameter int unsigned MaxBeats    = 16,    // MaxBeats * DataW / 8 <= 4096
  parameter int unsigned Outstanding = 8,     // bursts
  parameter bit          RegisterR   = 1'b1,
  parameter type         ar_t        = kt_axi_pkg::burst_t,  // of AddrW
  parameter type         r_t         = logic,                // see kt_axi_pkg, of DataW
  localparam int unsigned Lanes  = DataW / 8,
  localparam int unsigned LaneW  = $clog2(Lanes)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // request
  input  logic              req_valid_i,
  output logic              req_ready_o,
  input  logic [AddrW-1:0]  req_addr_i,
  input  logic [BytesW-1:0] req_bytes_i,
  // response
  output logic              rsp_valid_o,
  input  logic              rsp_ready_i,
  output logic [DataW-1:0]  rsp_data_o,
  output logic [LaneW-1:0]  rsp_offset_o,
  output logic [LaneW:0]    rsp_bytes_o,
  output logic              rsp_last_o,
  output logic              rsp_error_o,
  // status: a burst is to be issued or under way; a beat came with an error response
  output logic              busy_o,
  output logic              error_o,
  output logic [1:0]        error_resp_o,
  // AXI4 AR, R
  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output ar_t               ar_o,
  input  logic              r_valid_i,
  output logic              r_ready_o,
  input  r_t                r_i
);

  if (Outstanding < 2) begin : gen_check_outstanding
    $error("kt_axi_rd: Outstanding must be at least 2");
  end

  // ---- bursts
  localparam int unsigned LenW = (MaxBeats > 1) ? $clog2(MaxBeats) : 1;
  logic             splitting, issue, meta_free, first, final_burst;
  logic [LaneW-1:0] req_offset;
  logic [LaneW:0]   req_stop;
  logic [LenW-1:0]  unused_len;
  kt_axi_split #(
    .AddrW   (AddrW),
    .DataW   (DataW),
    .BytesW  (BytesW),
    .MaxBeats(MaxBeats)
  ) u_split (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_addr_i,
    .req_bytes_i,
    .busy_o      (splitting),
    .room_i      (meta_free),
    .issue_o     (issue),
    .len_o       (unused_len),
    .first_o     (first),
    .last_o      (final_burst),
    .offset_o    (req_offset),
    .stop_o      (req_stop),
    .addr_valid_o(ar_valid_o),
    .addr_ready_i(ar_ready_i),
    .addr_o      (ar_o.addr),
    .addr_len_o  (ar_o.len)
  );

  // ---- what is needed of each outstanding burst when its beats return; its depth is the bound on outstanding bursts
  typedef struct packed {
    logic             first;
    logic             last;
    logic [LaneW-1:0] offset;
    logic [LaneW:0]   stop;
  } meta_t;

  meta_t meta_in, meta;
  logic  meta_valid, burst_done;
  logic [$clog2(Outstanding+1)-1:0] unused_level;

  assign meta_in = '{first: first, last: final_burst, offset: req_offset, stop: req_stop};
  kt_fifo #(
    .Width($bits(meta_t)),
    .Depth(Outstanding)
  ) u_meta (
    .clk_i,
    .rst_ni,
    .in_valid_i (issue),
    .in_ready_o (meta_free),
    .in_data_i  (meta_in),
    .out_valid_o(meta_valid),
    .out_ready_i(burst_done),
    .out_data_o (meta),
    .level_o    (unused_level)
  );

  // ---- beats
  typedef struct packed {
    logic             error;
    logic             last;
    logic [LaneW-1:0] offset;
    logic [LaneW:0]   bytes;
    logic [DataW-1:0] data;
  } beat_t;

  logic  start_q;                  // the next beat is the first of its burst
  logic  beat_free, r_fire, is_last;
  logic [LaneW-1:0] offset;
  logic [LaneW:0]   stop;
  beat_t beat_in, beat_out;

  assign r_ready_o  = meta_valid && beat_free;
  assign r_fire     = r_valid_i && r_ready_o;
  assign burst_done = r_fire && r_i.last;
  assign is_last    = r_i.last && meta.last;
  assign offset     = (start_q && meta.first) ? meta.offset : '0;
  assign stop       = is_last ? meta.stop : (LaneW + 1)'(Lanes);
  assign beat_in    = '{error: r_i.resp != 2'b00, last: is_last, offset: offset,
                        bytes: stop - (LaneW + 1)'(offset), data: r_i.data};

  if (RegisterR) begin : gen_reg
    kt_skid #(
      .Width($bits(beat_t))
    ) u_r (
      .clk_i,
      .rst_ni,
      .in_valid_i (r_valid_i && meta_valid),
      .in_ready_o (beat_free),
      .in_data_i  (beat_in),
      .out_valid_o(rsp_valid_o),
      .out_ready_i(rsp_ready_i),
      .out_data_o (beat_out)
    );
  end else begin : gen_wire
    assign beat_free   = rsp_ready_i;
    assign rsp_valid_o = r_valid_i && meta_valid;
    assign beat_out    = beat_in;
  end

  assign rsp_data_o   = beat_out.data;
  assign rsp_offset_o = beat_out.offset;
  assign rsp_bytes_o  = beat_out.bytes;
  assign rsp_last_o   = beat_out.last;
  assign rsp_error_o  = beat_out.error;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      start_q <= 1'b1;
      error_o <= 1'b0;
    end else begin
      if (r_fire) start_q <= r_i.last;
      error_o <= r_fire && r_i.resp != 2'b00;
    end
  end

  always_ff @(posedge clk_i) begin
    if (r_fire && r_i.resp != 2'b00) error_resp_o <= r_i.resp;
  end

  assign busy_o = splitting || meta_valid;

endmodule
