// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// AXI4 write master: requests (byte address, byte count) and a stream of bus beats in, bursts out.
//
// Client contract
//   - req_bytes_i is at least 1; address and count are free otherwise; the request ends inside the address space.
//   - The data stream has, for each request in order, exactly the beats that the request touches, already on the lanes
//     where they belong: byte address a travels in lane a mod (DataW / 8). Beats may come before, with or after their
//     request. Strobes and the last beat follow from address and count, so the caller sends neither; what stands in
//     lanes outside the request is ignored.
//   - done_o pulses once a request, when the response of its last burst has arrived (one ID: responses come in order,
//     so all its bytes are then written). error_o pulses for every burst answered with an error, with its code;
//     the request completes nevertheless.
//
// Bus
//   - INCR bursts of full-width beats inside one 4 KiB page, at most MaxBeats each, at most Outstanding between their
//     issue and their response. One ID.
//   - A burst's address is issued only when all its data stand in the staging FIFO, and BREADY is always high: once an
//     address is out, write data and responses depend on nothing but the memory. Another master can therefore be
//     kept waiting by the memory only, never by this accelerator's computation (which may itself wait for reads).
//   - No VALID waits for a READY of another channel: data may pass an address that the memory stalls, as AXI4 allows.
module kt_axi_wr #(
  parameter int unsigned AddrW       = 40,
  parameter int unsigned DataW       = 128,  // power of two
  parameter int unsigned BytesW      = 20,   // width of the byte count
  parameter int unsigned MaxBeats    = 16,   // MaxBeats * DataW / 8 <= 4096
  parameter int unsigned Outstanding = 8,    // bursts
  parameter int unsigned StageBeats  = 2 * MaxBeats,
  parameter type         aw_t        = kt_axi_pkg::burst_t,  // of AddrW
  parameter type         w_t         = logic,                // see kt_axi_pkg, of DataW
  localparam int unsigned Lanes = DataW / 8,
  localparam int unsigned LaneW = $clog2(Lanes)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // request
  input  logic              req_valid_i,
  output logic              req_ready_o,
  input  logic [AddrW-1:0]  req_addr_i,
  input  logic [BytesW-1:0] req_bytes_i,
  // data
  input  logic              data_valid_i,
  output logic              data_ready_o,
  input  logic [DataW-1:0]  data_i,
  // status: a request is not yet answered; a request was answered; a burst was answered with an error
  output logic              busy_o,
  output logic              done_o,
  output logic              error_o,
  output logic [1:0]        error_resp_o,
  // AXI4 AW, W, B
  output logic              aw_valid_o,
  input  logic              aw_ready_i,
  output aw_t               aw_o,
  output logic              w_valid_o,
  input  logic              w_ready_i,
  output w_t                w_o,
  input  logic              b_valid_i,
  output logic              b_ready_o,
  input  logic [1:0]        b_resp_i
);

  if (Outstanding < 2 || StageBeats < MaxBeats || StageBeats < 2) begin : gen_check_room
    $error("kt_axi_wr: Outstanding must be at least 2 and the staging FIFO must hold a burst");
  end

  localparam int unsigned LenW   = (MaxBeats > 1) ? $clog2(MaxBeats) : 1;
  localparam int unsigned StageW = $clog2(StageBeats + 1);

  // ---- bursts
  logic              splitting, issue, info_free, wait_free, at_hand, first, final_burst, stage_push;
  logic [LaneW-1:0]  req_offset;
  logic [LaneW:0]    req_stop;
  logic [LenW-1:0]   len;          // beats of the burst - 1
  logic [StageW-1:0] staged_q;     // beats in the staging FIFO that belong to no issued burst
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
    .room_i      (at_hand && info_free && wait_free),
    .issue_o     (issue),
    .len_o       (len),
    .first_o     (first),
    .last_o      (final_burst),
    .offset_o    (req_offset),
    .stop_o      (req_stop),
    .addr_valid_o(aw_valid_o),
    .addr_ready_i(aw_ready_i),
    .addr_o      (aw_o.addr),
    .addr_len_o  (aw_o.len)
  );
  assign at_hand    = staged_q > StageW'(len);
  assign stage_push = data_valid_i && data_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) staged_q <= '0;
    else staged_q <= staged_q + StageW'(stage_push) + (issue ? ~StageW'(len) : '0);
  end

  // ---- staging FIFO
  logic             stage_valid, w_load;
  logic [DataW-1:0] stage_data;
  logic [StageW-1:0] unused_stage_level;
  kt_fifo #(
    .Width(DataW),
    .Depth(StageBeats)
  ) u_stage (
    .clk_i,
    .rst_ni,
    .in_valid_i (data_valid_i),
    .in_ready_o (data_ready_o),
    .in_data_i  (data_i),
    .out_valid_o(stage_valid),
    .out_ready_i(w_load),
    .out_data_o (stage_data),
    .level_o    (unused_stage_level)
  );

  // ---- issued bursts whose data have not left
  typedef struct packed {
    logic [7:0]       len;
    logic             first;
    logic             last;
    logic [LaneW-1:0] offset;
    logic [LaneW:0]   stop;
  } info_t;

  info_t info_in, info;
  logic  info_valid, w_last;
  logic [$clog2(Outstanding+1)-1:0] unused_info_level;

  assign info_in = '{len: 8'(len), first: first, last: final_burst, offset: req_offset, stop: req_stop};
  kt_fifo #(
    .Width($bits(info_t)),
    .Depth(Outstanding)
  ) u_info (
    .clk_i,
    .rst_ni,
    .in_valid_i (issue),
    .in_ready_o (info_free),
    .in_data_i  (info_in),
    .out_valid_o(info_valid),
    .out_ready_i(w_load && w_last),
    .out_data_o (info),
    .level_o    (unused_info_level)
  );

  // ---- write data register
  logic [7:0]       sent_q;        // beats of the burst that have left
  logic             w_valid_q, w_last_q;
  logic [DataW-1:0] w_data_q;
  logic [Lanes-1:0] w_strb_q, strb_first, strb_last;

  assign w_last     = sent_q == info.len;
  assign w_load     = info_valid && stage_valid && (!w_valid_q || w_ready_i);
  assign strb_first = {Lanes{1'b1}} << info.offset;
  assign strb_last  = {Lanes{1'b1}} >> ((LaneW + 1)'(Lanes) - info.stop);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_valid_q <= 1'b0;
      sent_q    <= '0;
    end else begin
      if (w_load) begin
        w_valid_q <= 1'b1;
        sent_q    <= w_last ? '0 : sent_q + 1'b1;
      end else if (w_ready_i) begin
        w_valid_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (w_load) begin
      w_data_q <= stage_data;
      w_last_q <= w_last;
      w_strb_q <= ((info.first && sent_q == '0) ? strb_first : {Lanes{1'b1}}) &
                  ((info.last && w_last) ? strb_last : {Lanes{1'b1}});
    end
  end

  assign w_valid_o = w_valid_q;
  assign w_o       = '{last: w_last_q, strb: w_strb_q, data: w_data_q};

  // ---- bursts without a response; the depth is the bound on outstanding bursts
  logic wait_valid, wait_last;
  logic [$clog2(Outstanding+1)-1:0] unused_wait_level;
  kt_fifo #(
    .Width(1),
    .Depth(Outstanding)
  ) u_wait (
    .clk_i,
    .rst_ni,
    .in_valid_i (issue),
    .in_ready_o (wait_free),
    .in_data_i  (final_burst),
    .out_valid_o(wait_valid),
    .out_ready_i(b_valid_i),
    .out_data_o (wait_last),
    .level_o    (unused_wait_level)
  );
  assign b_ready_o = 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_o  <= 1'b0;
      error_o <= 1'b0;
    end else begin
      done_o  <= b_valid_i && wait_valid && wait_last;
      error_o <= b_valid_i && b_resp_i != 2'b00;
    end
  end

  always_ff @(posedge clk_i) begin
    if (b_valid_i && b_resp_i != 2'b00) error_resp_o <= b_resp_i;
  end

  assign busy_o = splitting || wait_valid;

endmodule
