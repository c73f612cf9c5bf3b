// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Cuts requests (byte address, byte count) into AXI4 bursts: full-width beats, inside one 4 KiB page, at most MaxBeats
// each. The address channels of kt_axi_rd and kt_axi_wr.
//
// A burst is issued (issue_o) in the cycle in which room_i says that its user can keep what it must know of it and the
// address register is free; its address leaves later. A request needs one cycle a burst; the next one is taken while
// the last burst of the one before is issued. req_bytes_i is at least 1.
module kt_axi_split #(
  parameter int unsigned AddrW    = 40,
  parameter int unsigned DataW    = 128,  // power of two
  parameter int unsigned BytesW   = 20,   // width of the byte count
  parameter int unsigned MaxBeats = 16,   // MaxBeats * DataW / 8 <= 4096
  localparam int unsigned LaneW = $clog2(DataW / 8),
  localparam int unsigned LenW  = $clog2(MaxBeats + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // request
  input  logic              req_valid_i,
  output logic              req_ready_o,
  input  logic [AddrW-1:0]  req_addr_i,
  input  logic [BytesW-1:0] req_bytes_i,
  output logic              busy_o,    // not all of a request's bursts are issued
  // the next burst, while busy_o
  input  logic              room_i,
  output logic              issue_o,
  output logic [LenW-1:0]   beats_o,
  output logic              first_o,   // of its request
  output logic              last_o,
  output logic [LaneW-1:0]  offset_o,  // of the request: lane of its first byte
  output logic [LaneW:0]    stop_o,    // of the request: lanes used in its last beat, counted from lane 0
  // AXI4 AR or AW
  output logic              addr_valid_o,
  input  logic              addr_ready_i,
  output logic [AddrW-1:0]  addr_o,
  output logic [7:0]        len_o
);

  localparam int unsigned Lanes = DataW / 8;
  localparam int unsigned PageW = 12 - LaneW;          // beats of a page: 2**PageW
  localparam int unsigned BeatW = AddrW - LaneW;       // beat address
  localparam int unsigned TodoW = BytesW - LaneW + 1;  // beats of a request

  if (MaxBeats * Lanes > 4096 || MaxBeats > 256 || MaxBeats < 1) begin : gen_check_beats
    $error("kt_axi_split: a burst has 1 to 256 beats and fits in 4 KiB");
  end

  logic             active_q;
  logic [BeatW-1:0] beat_q;   // next beat to ask for
  logic [TodoW-1:0] todo_q;   // beats not yet asked for

  logic [BytesW:0]  span;     // lane of the first byte + bytes
  logic [TodoW-1:0] beats;
  logic [PageW:0]   to_page;
  logic             addr_free, take;

  assign span  = (BytesW + 1)'(req_bytes_i) + (BytesW + 1)'(req_addr_i[LaneW-1:0]);
  assign beats = TodoW'(span[BytesW:LaneW]) + TodoW'(span[LaneW-1:0] != '0);

  assign to_page = (PageW + 1)'(1 << PageW) - {1'b0, beat_q[PageW-1:0]};
  always_comb begin
    beats_o = LenW'(MaxBeats);
    if (32'(to_page) < 32'(MaxBeats)) beats_o = LenW'(to_page);
    if (32'(todo_q) < 32'(beats_o)) beats_o = LenW'(todo_q);
  end
  assign last_o      = todo_q == TodoW'(beats_o);
  assign issue_o     = active_q && addr_free && room_i;
  assign req_ready_o = !active_q || (issue_o && last_o);
  assign take        = req_valid_i && req_ready_o;
  assign busy_o      = active_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (take) active_q <= 1'b1;
    else if (issue_o && last_o) active_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      beat_q   <= req_addr_i[AddrW-1:LaneW];
      todo_q   <= beats;
      first_o  <= 1'b1;
      offset_o <= req_addr_i[LaneW-1:0];
      stop_o   <= {span[LaneW-1:0] == '0, span[LaneW-1:0]};
    end else if (issue_o) begin
      beat_q  <= beat_q + BeatW'(beats_o);
      todo_q  <= todo_q - TodoW'(beats_o);
      first_o <= 1'b0;
    end
  end

  logic [BeatW-1:0] addr_beat;
  kt_skid #(
    .Width(BeatW + 8)
  ) u_addr (
    .clk_i,
    .rst_ni,
    .in_valid_i (issue_o),
    .in_ready_o (addr_free),
    .in_data_i  ({beat_q, 8'(beats_o - 1'b1)}),
    .out_valid_o(addr_valid_o),
    .out_ready_i(addr_ready_i),
    .out_data_o ({addr_beat, len_o})
  );
  assign addr_o = {addr_beat, {LaneW{1'b0}}};

endmodule
