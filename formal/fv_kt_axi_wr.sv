// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The write master against a free but legal AXI4 memory (data may be taken before their address).
//   rules       (by induction) AW and W stable until taken, bursts of 1 to MaxBeats beats inside a page, never more than
//               Outstanding without a response, all data of an issued burst at hand, busy_o covers all that is under
//               way and falls, and an arbitrary burst has the same length on AW as between two LASTs on W
//   end to end  (EndToEnd, bounded) each beat has the address, the strobes and the data of its request; done_o comes
//               once a request, after the response of its last burst
module fv_kt_axi_wr #(
  parameter int unsigned AddrW       = 14,
  parameter int unsigned DataW       = 32,
  parameter int unsigned BytesW      = 6,
  parameter int unsigned MaxBeats    = 3,
  parameter int unsigned Outstanding = 3,
  parameter int unsigned StageBeats  = 5,
  parameter bit          EndToEnd    = 1'b0
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              req_valid_i,
  input logic [AddrW-1:0]  req_addr_i,
  input logic [BytesW-1:0] req_bytes_i,
  input logic              data_valid_i,
  input logic [DataW-1:0]  data_i,
  input logic              aw_ready_i,
  input logic              w_ready_i,
  input logic              b_valid_i,
  input logic [1:0]        b_resp_i,
  input logic              pick_i
);
  localparam int unsigned Lanes = DataW / 8;
  localparam int unsigned LaneW = $clog2(Lanes);
  localparam int unsigned BeatW = AddrW - LaneW;
  logic req_ready, data_ready, busy, done, error, aw_valid, w_valid, w_last, b_ready;
  logic [1:0]       error_resp;
  logic [AddrW-1:0] aw_addr;
  logic [7:0]       aw_len;
  logic [DataW-1:0] w_data;
  logic [Lanes-1:0] w_strb;
  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [7:0]       len;
  } aw_t;
  typedef struct packed {
    logic             last;
    logic [Lanes-1:0] strb;
    logic [DataW-1:0] data;
  } w_t;
  aw_t              aw;
  w_t               w;
  assign {aw_addr, aw_len}        = aw;
  assign {w_last, w_strb, w_data} = w;
  kt_axi_wr #(
    .AddrW      (AddrW),
    .DataW      (DataW),
    .BytesW     (BytesW),
    .MaxBeats   (MaxBeats),
    .Outstanding(Outstanding),
    .StageBeats (StageBeats),
    .aw_t       (aw_t),
    .w_t        (w_t)
  ) dut (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o (req_ready),
    .req_addr_i,
    .req_bytes_i,
    .data_valid_i,
    .data_ready_o(data_ready),
    .data_i,
    .busy_o      (busy),
    .done_o      (done),
    .error_o     (error),
    .error_resp_o(error_resp),
    .aw_valid_o  (aw_valid),
    .aw_ready_i,
    .aw_o        (aw),
    .w_valid_o   (w_valid),
    .w_ready_i,
    .w_o         (w),
    .b_valid_i,
    .b_ready_o   (b_ready),
    .b_resp_i
  );
  `include "fv_reset.svh"

  wire take    = req_valid_i && req_ready;
  wire push    = data_valid_i && data_ready;
  wire aw_fire = aw_valid && aw_ready_i;
  wire w_fire  = w_valid && w_ready_i;
  wire b_fire  = b_valid_i && b_ready;

  // ---- legal memory: a response only for a burst whose address and last beat were taken
  logic [7:0] aw_open_q, w_open_q;   // addresses, last beats taken and not answered
  logic       b_stall_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_open_q <= '0;
      w_open_q  <= '0;
      b_stall_q <= 1'b0;
    end else begin
      aw_open_q <= aw_open_q + 8'(aw_fire) - 8'(b_fire);
      w_open_q  <= w_open_q + 8'(w_fire && w_last) - 8'(b_fire);
      b_stall_q <= b_valid_i && !b_ready;
    end
  end
  `FV_ASSUME(m_owed, !b_valid_i || (aw_open_q != '0 && w_open_q != '0))
  `FV_ASSUME(m_stable, !b_stall_q || b_valid_i)
  `FV_ASSUME(m_bytes, !req_valid_i || req_bytes_i != '0)
  wire [AddrW:0] req_end = (AddrW + 1)'(req_addr_i) + (AddrW + 1)'(req_bytes_i);
  `FV_ASSUME(m_range, !req_valid_i || req_end <= (AddrW + 1)'(1 << AddrW))

  // ---- rules
  logic                 aw_stall_q, w_stall_q, error_h;
  logic [AddrW+7:0]     aw_h;
  logic [DataW+Lanes:0] w_h;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_stall_q <= 1'b0;
      w_stall_q  <= 1'b0;
      error_h    <= 1'b0;
    end else begin
      aw_stall_q <= aw_valid && !aw_ready_i;
      w_stall_q  <= w_valid && !w_ready_i;
      error_h    <= b_fire && b_resp_i != 2'b00;
    end
  end
  always_ff @(posedge clk_i) begin
    aw_h <= {aw_addr, aw_len};
    w_h  <= {w_data, w_strb, w_last};
  end

  `include "fv_burst.svh"

  // The FIFOs inside: what kt_fifo's own proof shows, here as invariants. Word k of u_info, counted from its output.
`define FIFO_OK(f, depth) \
  (32'(f.level_q) <= depth && f.out_valid_q == (f.level_q != '0) && \
   ((32'(f.gen_lut.wp_q) - 32'(f.gen_lut.rp_q) - 32'(f.level_q) + 32'(f.out_valid_q)) & \
    ((1 << ((depth > 2) ? $clog2(depth - 1) : 1)) - 1)) == 0)
  localparam int unsigned InfoW = 8 + 1 + 1 + LaneW + LaneW + 1;
  localparam int unsigned InfoA = (Outstanding > 2) ? $clog2(Outstanding - 1) : 1;
  function automatic logic [7:0] len_of(logic [InfoW-1:0] word);
    return word[InfoW-1-:8];
  endfunction
  logic [InfoW-1:0] info_word[Outstanding];
  always_comb begin
    info_word[0] = dut.u_info.gen_lut.out_data_q;
    for (int unsigned k = 1; k < Outstanding; k++)
      info_word[k] = dut.u_info.gen_lut.mem[InfoA'(32'(dut.u_info.gen_lut.rp_q) + k - 1)];
  end
  wire [7:0] info_level = 8'(dut.u_info.level_q);
  logic      lens_ok;
  logic [7:0] owed;        // beats of issued bursts that have not left the staging FIFO
  always_comb begin
    lens_ok = 1'b1;
    owed    = '0;
    for (int unsigned k = 0; k < Outstanding; k++) begin
      if (k < 32'(info_level)) begin
        if (len_of(info_word[k]) >= 8'(MaxBeats)) lens_ok = 1'b0;
        owed = owed + len_of(info_word[k]) + 8'd1;
      end
    end
    owed = owed - dut.sent_q;
  end
  wire [1:0] aw_held   = 2'(dut.u_split.u_addr.out_valid_q) + 2'(dut.u_split.u_addr.skid_valid_q);
  wire       last_held = dut.w_valid_q && dut.w_last_q;

  `FV_ASSERT(a_aw_hold, !aw_stall_q || (aw_valid && {aw_addr, aw_len} == aw_h))
  `FV_ASSERT(a_w_hold, !w_stall_q || (w_valid && {w_data, w_strb, w_last} == w_h))
  `FV_ASSERT(a_burst, !aw_valid || burst_ok({aw_addr[AddrW-1:LaneW], aw_len}))
  `FV_ASSERT(a_const, aw_addr[LaneW-1:0] == '0 && b_ready)
  `FV_ASSERT(a_outstanding, 32'(aw_open_q) + 32'(aw_valid) <= Outstanding)
  `FV_ASSERT(a_at_hand, !dut.info_valid || dut.stage_valid)
  `FV_ASSERT(a_busy, busy || (aw_open_q == '0 && w_open_q == '0 && !aw_valid && !w_valid))
  `FV_ASSERT(a_error, error == error_h)
  `FV_ASSERT(i_fifos, `FIFO_OK(dut.u_info, Outstanding) && `FIFO_OK(dut.u_wait, Outstanding) &&
             `FIFO_OK(dut.u_stage, StageBeats))
  `FV_ASSERT(i_open, 32'(dut.u_wait.level_q) == 32'(aw_open_q) + 32'(aw_held))
  `FV_ASSERT(i_w_open, 32'(dut.u_wait.level_q) == 32'(w_open_q) + 32'(info_level) + 32'(last_held))
  `FV_ASSERT(i_staged, 32'(dut.u_stage.level_q) == 32'(dut.staged_q) + 32'(owed))
  `FV_ASSERT(i_sent, dut.info_valid ? dut.sent_q <= len_of(info_word[0]) : dut.sent_q == '0)
  `FV_ASSERT(i_lens, lens_ok)
  `FV_ASSERT(i_skid, !dut.u_split.u_addr.skid_valid_q || dut.u_split.u_addr.out_valid_q)
  `FV_ASSERT(i_bursts, (!dut.u_split.u_addr.out_valid_q || burst_ok(dut.u_split.u_addr.out_data_q)) &&
             (!dut.u_split.u_addr.skid_valid_q || burst_ok(dut.u_split.u_addr.skid_data_q)))
  `FV_ASSERT(i_waits, !dut.u_split.waits_q || dut.u_split.bytes_q != '0)
  wire [BytesW-LaneW:0] unissued = ~dut.u_split.minus_q;  // beats of the request that are not issued - 1
  `FV_ASSERT(i_next, !dut.u_split.active_q || (burst_ok({dut.u_split.beat_q, 8'(dut.len)}) &&
             (dut.final_burst ? 32'(unissued) == 32'(dut.len) : 32'(unissued) > 32'(dut.len))))

  // ---- an arbitrary burst, followed from its issue through AW and W; beats_q: beats of the current burst taken on W
  logic       aw_live_q, aw_ahead_q, w_live_q;
  logic [7:0] w_ahead_q, len_q, beats_q;     // w_ahead_q: LASTs to be taken before its own
  wire        picked   = pick_i && dut.issue && !aw_live_q && !w_live_q;
  wire        last_out = w_fire && w_last;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_live_q <= 1'b0;
      w_live_q  <= 1'b0;
      beats_q   <= '0;
    end else begin
      if (picked) aw_live_q <= 1'b1;
      else if (aw_fire && !aw_ahead_q) aw_live_q <= 1'b0;
      if (picked) w_live_q <= 1'b1;
      else if (last_out && w_ahead_q == '0) w_live_q <= 1'b0;
      if (w_fire) beats_q <= w_last ? '0 : beats_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (picked) begin
      len_q      <= 8'(dut.len);
      aw_ahead_q <= aw_held != 2'(aw_fire);
      w_ahead_q  <= info_level + 8'(last_held) - 8'(last_out);
    end else begin
      if (aw_fire) aw_ahead_q <= 1'b0;
      if (last_out && w_ahead_q != '0) w_ahead_q <= w_ahead_q - 1'b1;
    end
  end
  wire [7:0] w_at = w_ahead_q - 8'(last_held);   // its place in u_info, unless its last beat is in the register
  wire       at_register = last_held && w_ahead_q == '0;
  `FV_ASSERT(a_aw_len, !(aw_live_q && !aw_ahead_q && aw_fire) || aw_len == len_q)
  `FV_ASSERT(a_w_len, !(w_live_q && w_ahead_q == '0 && w_fire) || w_last == (beats_q == len_q))
  `FV_ASSERT(i_aw_len, !aw_live_q || (aw_held > 2'(aw_ahead_q) &&
             (aw_ahead_q ? dut.u_split.u_addr.skid_data_q[7:0] : dut.u_split.u_addr.out_data_q[7:0]) == len_q))
  `FV_ASSERT(i_w_at, !w_live_q || at_register || (w_at < info_level && len_of(info_word[2'(w_at)]) == len_q))
  `FV_ASSERT(i_w_register, !(w_live_q && at_register) || beats_q == len_q)
  `FV_ASSERT(i_w_middle, !(w_live_q && w_ahead_q == '0 && dut.w_valid_q && !dut.w_last_q) || beats_q < len_q)
  `FV_ASSERT(i_beats, last_held ? dut.sent_q == '0 : 32'(dut.sent_q) == 32'(beats_q) + 32'(dut.w_valid_q))

  `FV_COVER(c_full, 32'(aw_open_q) == Outstanding && b_fire)
  `FV_COVER(c_page, aw_valid && aw_addr[11:0] == 12'(4096 - Lanes) && aw_len == 8'd0 && dut.u_split.active_q && !dut.first)
  `FV_COVER(c_followed, w_live_q && w_ahead_q == '0 && last_out && len_q == 8'(MaxBeats - 1) && !aw_live_q)
  logic long_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) long_q <= 1'b0;
    else if (take) long_q <= 32'(req_bytes_i) > 5 * Lanes && req_addr_i[LaneW-1:0] != '0;
  end
  `FV_COVER(c_done, done && long_q && !busy)

  // ---- end to end; here the memory takes data after their address only, so that a beat's address is known
  if (EndToEnd) begin : gen_end_to_end
    logic [AddrW-1:0]  g_addr[4];
    logic [BytesW-1:0] g_bytes[4];
    logic [1:0]        gw_q, gr_q;       // requests taken, completely on W
    logic [2:0]        gn_q;
    logic [BytesW-1:0] g_sent_q;         // bytes of the oldest request that have left
    logic [DataW-1:0]  g_data[16];
    logic [3:0]        dw_q, dr_q;       // data beats in and out
    logic [BeatW-1:0]  aw_beat[4];
    logic [1:0]        aww_q, awr_q;
    logic [2:0]        awn_q;            // addresses taken whose data have not all left
    logic [1:0]        ended_q[4];       // burst number (mod 4) of a request's last burst
    logic [3:0]        completed_q, done_q, answered_q, burst_q;
    wire [AddrW-1:0]   at    = g_addr[gr_q] + AddrW'(g_sent_q);
    wire [BytesW-1:0]  left  = g_bytes[gr_q] - g_sent_q;
    wire [LaneW:0]     room  = (LaneW + 1)'(Lanes) - (LaneW + 1)'(at[LaneW-1:0]);
    wire               final_beat = 32'(left) <= 32'(room);
    wire [LaneW:0]     bytes = final_beat ? (LaneW + 1)'(left) : room;
    wire [Lanes-1:0]   strobes = ~({Lanes{1'b1}} << bytes) << at[LaneW-1:0];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        gw_q        <= '0;
        gr_q        <= '0;
        gn_q        <= '0;
        g_sent_q    <= '0;
        dw_q        <= '0;
        dr_q        <= '0;
        aww_q       <= '0;
        awr_q       <= '0;
        awn_q       <= '0;
        completed_q <= '0;
        done_q      <= '0;
        answered_q  <= '0;
        burst_q     <= '0;
      end else begin
        if (take) gw_q <= gw_q + 1'b1;
        if (w_fire && final_beat) gr_q <= gr_q + 1'b1;
        gn_q <= gn_q + 3'(take) - 3'(w_fire && final_beat);
        if (w_fire) g_sent_q <= final_beat ? '0 : g_sent_q + BytesW'(bytes);
        if (push) dw_q <= dw_q + 1'b1;
        if (w_fire) dr_q <= dr_q + 1'b1;
        if (aw_fire) aww_q <= aww_q + 1'b1;
        if (last_out) awr_q <= awr_q + 1'b1;
        awn_q <= awn_q + 3'(aw_fire) - 3'(last_out);
        if (last_out) burst_q <= burst_q + 1'b1;
        if (w_fire && final_beat) completed_q <= completed_q + 1'b1;
        if (done) done_q <= done_q + 1'b1;
        if (b_fire) answered_q <= answered_q + 1'b1;
      end
    end
    always_ff @(posedge clk_i) begin
      if (take) begin
        g_addr[gw_q]  <= req_addr_i;
        g_bytes[gw_q] <= req_bytes_i;
      end
      if (push) g_data[dw_q] <= data_i;
      if (aw_fire) aw_beat[aww_q] <= aw_addr[AddrW-1:LaneW];
      if (w_fire && final_beat) ended_q[gr_q] <= burst_q[1:0];
    end
    wire [AddrW-1:0] from_line = req_addr_i - AddrW'(4096 - 8 * Lanes);
    `FV_ASSUME(m_near, !req_valid_i || 32'(from_line) < 16 * Lanes)
    `FV_ASSUME(m_three, !req_valid_i || gn_q < 3'd3)
    `FV_ASSUME(m_ordered, !w_ready_i || awn_q != '0)
    // while the memory takes and answers and data come, something moves
    logic [2:0] idle_q;
    wire moves  = take || push || aw_fire || w_fire || b_fire || done;
    wire pushed = data_valid_i && aw_ready_i && (w_ready_i || awn_q == '0) && (b_valid_i || answered_q == burst_q);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) idle_q <= '0;
      else idle_q <= (moves || gn_q == '0 || !pushed) ? '0 : idle_q + 3'd1;
    end
    `FV_ASSERT(a_moves, idle_q <= 3'd3)
    `FV_ASSERT(a_wanted, !w_fire || gn_q != '0)
    `FV_ASSERT(a_address, !w_fire || aw_beat[awr_q] + BeatW'(beats_q) == at[AddrW-1:LaneW])
    `FV_ASSERT(a_strobes, !w_fire || w_strb == strobes)
    `FV_ASSERT(a_data, !w_fire || w_data == g_data[dr_q])
    `FV_ASSERT(a_request_ends, !(w_fire && final_beat) || w_last)
    // a pulse of done_o: the request is complete on W, and the response of its last burst has come
    wire [1:0] which = done_q[1:0];
    `FV_ASSERT(a_done, !done || (done_q != completed_q && answered_q[1:0] != ended_q[which] &&
               4'(burst_q - answered_q) < 4'd4))
    `FV_ASSERT(a_all_done, busy || done || (done_q == completed_q && gn_q == '0))
    `FV_COVER(c_second, done && done_q == 4'd1 && 32'(g_bytes[which]) > 2 * Lanes)
  end else begin : gen_any_order
    // ---- busy_o falls: what is left of the requests taken never grows without another one, and shrinks in every cycle in which
    // data come and the memory takes and answers. So it falls after at most `left` such cycles.
    wire [31:0] waiting = 32'(dut.u_split.bytes_q) + 32'(dut.u_split.addr_q[LaneW-1:0]) + Lanes - 1;  // its beats: / Lanes
    wire [31:0] todo    = (dut.u_split.waits_q ? waiting / Lanes : 32'd0) +
                          (dut.u_split.active_q ? 32'(unissued) + 32'd1 : 32'd0);
    wire [31:0] left    = 6 * todo + 3 * 32'(owed) + 32'(w_valid) + 32'(aw_held) + 32'(dut.u_wait.level_q) +
                          32'(dut.u_split.waits_q) + StageBeats - 32'(dut.u_stage.level_q);
    wire        willing = data_valid_i && aw_ready_i && w_ready_i && (b_valid_i || aw_open_q == '0 || w_open_q == '0);
    logic        busy_q, alone_q, willing_q;
    logic [31:0] left_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) {busy_q, alone_q, willing_q} <= '0;
      else {busy_q, alone_q, willing_q} <= {busy, !take, willing};
    end
    always_ff @(posedge clk_i) left_q <= left;
    `FV_ASSERT(a_falls, !alone_q || (left <= left_q && (!busy_q || !willing_q || left < left_q)))
    `FV_COVER(c_falls, busy_q && !busy && alone_q)
    `FV_COVER(c_data_first, w_open_q != '0 && aw_open_q == '0)
  end
endmodule
