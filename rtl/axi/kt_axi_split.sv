// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Cuts requests (byte address, byte count) into AXI4 bursts: full-width beats, inside one 4 KiB page, at most MaxBeats
// each. The address channels of kt_axi_rd and kt_axi_wr.
//
// A burst is issued (issue_o) in the cycle in which room_i says that its user can keep what it must know of it and the
// address register is free; its address leaves later. What is issued comes from registers: a burst is measured while
// the one before it is issued. A request waits in a register, a cycle at least, until the last burst of the one before
// is issued, and then needs one cycle a burst. req_bytes_i is at least 1.
module kt_axi_split #(
  parameter int unsigned AddrW    = 40,
  parameter int unsigned DataW    = 128,  // power of two
  parameter int unsigned BytesW   = 20,   // width of the byte count
  parameter int unsigned MaxBeats = 16,   // MaxBeats * DataW / 8 <= 4096
  localparam int unsigned LaneW = $clog2(DataW / 8),
  localparam int unsigned LenW  = (MaxBeats > 1) ? $clog2(MaxBeats) : 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // request
  input  logic              req_valid_i,
  output logic              req_ready_o,
  input  logic [AddrW-1:0]  req_addr_i,
  input  logic [BytesW-1:0] req_bytes_i,
  output logic              busy_o,    // not all bursts of the requests taken are issued
  // the next burst, valid with issue_o
  input  logic              room_i,
  output logic              issue_o,
  output logic [LenW-1:0]   len_o,     // its beats - 1
  output logic              first_o,   // of its request
  output logic              last_o,
  output logic [LaneW-1:0]  offset_o,  // of the request: lane of its first byte
  output logic [LaneW:0]    stop_o,    // of the request: lanes used in its last beat, counted from lane 0
  // AXI4 AR or AW
  output logic              addr_valid_o,
  input  logic              addr_ready_i,
  output logic [AddrW-1:0]  addr_o,
  output logic [7:0]        addr_len_o
);

  localparam int unsigned Lanes = DataW / 8;
  localparam int unsigned PageW = 12 - LaneW;          // beats of a page: 2**PageW
  localparam int unsigned BeatW = AddrW - LaneW;       // beat address
  localparam int unsigned TodoW = BytesW - LaneW + 1;  // beats of a request

  if (MaxBeats * Lanes > 4096 || MaxBeats > 256 || MaxBeats < 1) begin : gen_check_beats
    $error("kt_axi_split: a burst has 1 to 256 beats and fits in 4 KiB");
  end

  // ---- the request that waits
  logic              waits_q;
  logic [AddrW-1:0]  addr_q;
  logic [BytesW-1:0] bytes_q;

  // ---- the burst: len_o, first_o, last_o and
  logic             active_q;
  logic [BeatW-1:0] beat_q;   // where it begins
  logic [TodoW-1:0] minus_q;  // minus the beats of its request that are not issued
  logic             addr_free, free, fresh, step;

  assign issue_o     = active_q && addr_free && room_i;
  assign free        = !active_q || issue_o;
  assign fresh       = !active_q || last_o;  // the next burst is the first one of the request that waits
  assign step        = free && (waits_q || !fresh);
  assign req_ready_o = !waits_q || (free && fresh);
  assign busy_o      = waits_q || active_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q  <= 1'b0;
      active_q <= 1'b0;
    end else begin
      if (req_ready_o) waits_q <= req_valid_i;
      if (free) active_q <= step;
    end
  end

  function automatic logic [LaneW-1:0] less_one(logic [LaneW-1:0] n);  // n - 1, without a chain of carries
    for (int unsigned i = 0; i < LaneW; i++) less_one[i] = n[i] ^ ((n & LaneW'((1 << i) - 1)) == '0);
  endfunction

  always_ff @(posedge clk_i) begin
    if (req_valid_i && req_ready_o) begin
      addr_q  <= req_addr_i;
      bytes_q <= req_bytes_i;
    end
    if (step) begin
      automatic logic [LaneW-1:0] lane  = addr_q[LaneW-1:0];
      // the request's last byte, counted from lane 0 of its first beat: bytes + lane - 1 in one sum
      automatic logic [BytesW:0]  stop  = (BytesW + 1)'(bytes_q) + {{(BytesW + 1 - LaneW){lane == '0}}, less_one(lane)};
      automatic logic [BeatW-1:0] beat  = fresh ? addr_q[AddrW-1:LaneW] : beat_q + BeatW'(len_o) + 1'b1;
      automatic logic [TodoW-1:0] minus = fresh ? ~stop[BytesW:LaneW] : minus_q + TodoW'(len_o) + 1'b1;
      // beats behind the burst's first one: in the page, of the request; MaxBeats - 1 of the page at most
      automatic logic [PageW-1:0] page  = ~beat[PageW-1:0];
      automatic logic [TodoW-1:0] todo  = ~minus;
      automatic logic             whole = page >> LenW != '0 || LenW'(page) >= LenW'(MaxBeats - 1);
      automatic logic [LenW-1:0]  len   = whole ? LenW'(MaxBeats - 1) : LenW'(page);
      automatic logic             last  = todo >> LenW == '0 && LenW'(todo) <= len;

      beat_q  <= beat;
      minus_q <= minus;
      len_o   <= last ? LenW'(todo) : len;
      last_o  <= last;
      first_o <= fresh;
      if (fresh) begin
        offset_o <= lane;
        stop_o   <= (LaneW + 1)'(stop[LaneW-1:0]) + 1'b1;
      end
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
    .in_data_i  ({beat_q, 8'(len_o)}),
    .out_valid_o(addr_valid_o),
    .out_ready_i(addr_ready_i),
    .out_data_o ({addr_beat, addr_len_o})
  );
  assign addr_o = {addr_beat, {LaneW{1'b0}}};

endmodule
