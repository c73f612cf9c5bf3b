// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The read master against a free but legal AXI4 memory.
//   rules       (by induction) AR stable until taken, bursts of 1 to MaxBeats beats inside a page, no more than
//               Outstanding of them, busy_o covers all under way, every beat owed is taken when the client takes
//   end to end  (EndToEnd, bounded) the memory answers with beat addresses: each request gets exactly its beats, in
//               order, with the right offset, byte count and last mark
module fv_kt_axi_rd #(
  parameter int unsigned AddrW       = 14,
  parameter int unsigned DataW       = 32,
  parameter int unsigned BytesW      = 6,
  parameter int unsigned MaxBeats    = 3,
  parameter int unsigned Outstanding = 3,
  parameter bit          RegisterR   = 1'b1,
  parameter bit          EndToEnd    = 1'b0,
  localparam int unsigned LaneW = $clog2(DataW / 8)
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              req_valid_i,
  input logic [AddrW-1:0]  req_addr_i,
  input logic [BytesW-1:0] req_bytes_i,
  input logic              rsp_ready_i,
  input logic              ar_ready_i,
  input logic              r_valid_i,
  input logic [DataW-1:0]  r_data_i,
  input logic [1:0]        r_resp_i,
  input logic              r_last_i
);
  localparam int unsigned Lanes = DataW / 8;
  localparam int unsigned BeatW = AddrW - LaneW;
  logic req_ready, rsp_valid, rsp_last, rsp_error, busy, error, ar_valid, r_ready;
  logic [DataW-1:0] rsp_data;
  logic [LaneW-1:0] rsp_offset;
  logic [LaneW:0]   rsp_bytes;
  logic [1:0]       error_resp;
  logic [AddrW-1:0] ar_addr;
  logic [7:0]       ar_len;
  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [7:0]       len;
  } ar_t;
  typedef struct packed {
    logic [1:0]       resp;
    logic             last;
    logic [DataW-1:0] data;
  } r_t;
  ar_t              ar;
  assign {ar_addr, ar_len} = ar;
  kt_axi_rd #(
    .AddrW      (AddrW),
    .DataW      (DataW),
    .BytesW     (BytesW),
    .MaxBeats   (MaxBeats),
    .Outstanding(Outstanding),
    .RegisterR  (RegisterR),
    .ar_t       (ar_t),
    .r_t        (r_t)
  ) dut (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o (req_ready),
    .req_addr_i,
    .req_bytes_i,
    .rsp_valid_o (rsp_valid),
    .rsp_ready_i,
    .rsp_data_o  (rsp_data),
    .rsp_offset_o(rsp_offset),
    .rsp_bytes_o (rsp_bytes),
    .rsp_last_o  (rsp_last),
    .rsp_error_o (rsp_error),
    .busy_o      (busy),
    .error_o     (error),
    .error_resp_o(error_resp),
    .ar_valid_o  (ar_valid),
    .ar_ready_i,
    .ar_o        (ar),
    .r_valid_i,
    .r_ready_o   (r_ready),
    .r_i         ({r_resp_i, r_last_i, r_data_i})
  );
  `include "fv_reset.svh"

  wire take     = req_valid_i && req_ready;
  wire ar_fire  = ar_valid && ar_ready_i;
  wire r_fire   = r_valid_i && r_ready;
  wire rsp_fire = rsp_valid && rsp_ready_i;

  // ---- legal memory: bursts answered in order, LAST exactly on the last beat, beats wait for READY unchanged
  localparam int unsigned Q = $clog2(Outstanding + 1);
  logic [7:0]       q_len[1<<Q];
  logic [BeatW-1:0] q_beat[1<<Q];
  logic [Q-1:0]     qw_q, qr_q, open_q;
  logic [7:0]       got_q;
  logic             r_stall_q, r_last_h;
  logic [1:0]       r_resp_h;
  logic [DataW-1:0] r_data_h;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      qw_q      <= '0;
      qr_q      <= '0;
      open_q    <= '0;
      got_q     <= '0;
      r_stall_q <= 1'b0;
    end else begin
      if (ar_fire) qw_q <= qw_q + 1'b1;
      if (r_fire && r_last_i) qr_q <= qr_q + 1'b1;
      open_q <= open_q + Q'(ar_fire) - Q'(r_fire && r_last_i);
      if (r_fire) got_q <= r_last_i ? 8'd0 : got_q + 1'b1;
      r_stall_q <= r_valid_i && !r_ready;
    end
  end
  always_ff @(posedge clk_i) begin
    if (ar_fire) begin
      q_len[qw_q]  <= ar_len;
      q_beat[qw_q] <= ar_addr[AddrW-1:LaneW];
    end
    r_last_h <= r_last_i;
    r_resp_h <= r_resp_i;
    r_data_h <= r_data_i;
  end
  `FV_ASSUME(m_owed, !r_valid_i || open_q != '0)
  `FV_ASSUME(m_last, !r_valid_i || r_last_i == (got_q == q_len[qr_q]))
  `FV_ASSUME(m_stable, !r_stall_q || (r_valid_i &&
             r_last_i == r_last_h && r_resp_i == r_resp_h && r_data_i == r_data_h))
  `FV_ASSUME(m_bytes, !req_valid_i || req_bytes_i != '0)
  wire [AddrW:0] req_end = (AddrW + 1)'(req_addr_i) + (AddrW + 1)'(req_bytes_i);
  `FV_ASSUME(m_range, !req_valid_i || req_end <= (AddrW + 1)'(1 << AddrW))

  // ---- rules
  logic             ar_stall_q, rsp_stall_q, error_h;
  logic [AddrW+7:0] ar_h;
  logic [DataW+2*LaneW+2:0] rsp_h;
  wire [DataW+2*LaneW+2:0] rsp = {rsp_data, rsp_offset, rsp_bytes, rsp_last, rsp_error};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_stall_q  <= 1'b0;
      rsp_stall_q <= 1'b0;
      error_h     <= 1'b0;
    end else begin
      ar_stall_q  <= ar_valid && !ar_ready_i;
      rsp_stall_q <= rsp_valid && !rsp_ready_i;
      error_h     <= r_fire && r_resp_i != 2'b00;
    end
  end
  always_ff @(posedge clk_i) begin
    ar_h  <= {ar_addr, ar_len};
    rsp_h <= rsp;
  end

  `include "fv_burst.svh"
  wire [1:0] ar_held = 2'(dut.u_split.u_addr.out_valid_q) + 2'(dut.u_split.u_addr.skid_valid_q);

  `FV_ASSERT(a_ar_hold, !ar_stall_q || (ar_valid && {ar_addr, ar_len} == ar_h))
  `FV_ASSERT(a_burst, !ar_valid || burst_ok({ar_addr[AddrW-1:LaneW], ar_len}))
  `FV_ASSERT(a_align, !ar_valid || ar_addr[LaneW-1:0] == '0)
  `FV_ASSERT(a_outstanding, 32'(open_q) + 32'(ar_valid) <= Outstanding)
  `FV_ASSERT(a_busy, busy || (open_q == '0 && !ar_valid))
  `FV_ASSERT(a_takes, !(open_q != '0 && dut.beat_free) || r_ready)
  `FV_ASSERT(a_rsp_hold, !rsp_stall_q || (rsp_valid && rsp == rsp_h))
  `FV_ASSERT(a_error, error == error_h)
  `FV_ASSERT(i_open, 32'(dut.u_meta.level_q) == 32'(open_q) + 32'(ar_held))
  `FV_ASSERT(i_level, 32'(dut.u_meta.level_q) <= Outstanding && dut.meta_valid == (dut.u_meta.level_q != '0))
  `FV_ASSERT(i_skid, !dut.u_split.u_addr.skid_valid_q || dut.u_split.u_addr.out_valid_q)
  `FV_ASSERT(i_bursts, (!dut.u_split.u_addr.out_valid_q || burst_ok(dut.u_split.u_addr.out_data_q)) &&
             (!dut.u_split.u_addr.skid_valid_q || burst_ok(dut.u_split.u_addr.skid_data_q)))
  `FV_ASSERT(i_next, !dut.u_split.active_q || burst_ok({dut.u_split.beat_q, 8'(dut.u_split.len_o)}))
  `FV_COVER(c_full, 32'(open_q) == Outstanding && r_fire && r_last_i)
  `FV_COVER(c_page, ar_valid && ar_addr[11:0] == 12'(4096 - Lanes) && ar_len == 8'd0 && dut.u_split.active_q && !dut.first)
  logic long_q, busy_h;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      long_q <= 1'b0;
      busy_h <= 1'b0;
    end else begin
      if (take) long_q <= 32'(req_bytes_i) > 5 * Lanes && req_addr_i[LaneW-1:0] != '0;
      busy_h <= busy;
    end
  end
  `FV_COVER(c_done, busy_h && !busy && long_q)

  // ---- end to end
  if (EndToEnd) begin : gen_end_to_end
    logic [AddrW-1:0]  g_addr[4];
    logic [BytesW-1:0] g_bytes[4];
    logic [1:0]        gw_q, gr_q;
    logic [2:0]        gn_q;
    logic [BytesW-1:0] g_got_q;   // bytes of the oldest request that have come
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        gw_q    <= '0;
        gr_q    <= '0;
        gn_q    <= '0;
        g_got_q <= '0;
      end else begin
        if (take) gw_q <= gw_q + 1'b1;
        if (rsp_fire && rsp_last) gr_q <= gr_q + 1'b1;
        gn_q <= gn_q + 3'(take) - 3'(rsp_fire && rsp_last);
        if (rsp_fire) g_got_q <= rsp_last ? '0 : g_got_q + BytesW'(rsp_bytes);
      end
    end
    always_ff @(posedge clk_i) begin
      if (take) begin
        g_addr[gw_q]  <= req_addr_i;
        g_bytes[gw_q] <= req_bytes_i;
      end
    end
    wire [AddrW-1:0]  at   = g_addr[gr_q] + AddrW'(g_got_q);   // byte that comes next
    wire [BytesW-1:0] left = g_bytes[gr_q] - g_got_q;
    wire [LaneW:0]    room = (LaneW + 1)'(Lanes) - (LaneW + 1)'(at[LaneW-1:0]);
    // addresses near a page line only: the search is about bookkeeping, the rules above hold for all addresses
    wire [AddrW-1:0] from_line = req_addr_i - AddrW'(4096 - 8 * Lanes);
    `FV_ASSUME(m_near, !req_valid_i || 32'(from_line) < 16 * Lanes)
    `FV_ASSUME(m_four, !req_valid_i || gn_q < 3'd4)
    `FV_ASSUME(m_data, !r_valid_i || r_data_i == DataW'(q_beat[qr_q]) + DataW'(got_q))
    // a beat's error stays with it; at most two beats are inside
    logic [3:0] error_q;
    logic [1:0] error_in_q, error_out_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        error_in_q  <= '0;
        error_out_q <= '0;
      end else begin
        error_in_q  <= error_in_q + 2'(r_fire);
        error_out_q <= error_out_q + 2'(rsp_fire);
      end
    end
    always_ff @(posedge clk_i) if (r_fire) error_q[error_in_q] <= r_resp_i != 2'b00;
    `FV_ASSERT(a_rsp_error, !rsp_valid || rsp_error == error_q[error_out_q])
    // while the memory answers and the client takes, something moves
    logic [2:0] idle_q;
    wire moves  = take || ar_fire || r_fire || rsp_fire;
    wire pushed = ar_ready_i && rsp_ready_i && (r_valid_i || open_q == '0);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) idle_q <= '0;
      else idle_q <= (moves || gn_q == '0 || !pushed) ? '0 : idle_q + 3'd1;
    end
    `FV_ASSERT(a_moves, idle_q <= 3'd3)
    `FV_ASSERT(a_under_way, busy || gn_q == '0 || rsp_valid)
    `FV_ASSERT(a_wanted, !rsp_valid || gn_q != '0)
    `FV_ASSERT(a_data, !rsp_valid || rsp_data[BeatW-1:0] == at[AddrW-1:LaneW])
    `FV_ASSERT(a_offset, !rsp_valid || rsp_offset == at[LaneW-1:0])
    `FV_ASSERT(a_bytes, !rsp_valid || 32'(rsp_bytes) == ((32'(left) < 32'(room)) ? 32'(left) : 32'(room)))
    `FV_ASSERT(a_last, !rsp_valid || rsp_last == (32'(left) <= 32'(room)))
    `FV_COVER(c_second, rsp_fire && rsp_last && gr_q == 2'd1 && 32'(g_bytes[gr_q]) > 2 * Lanes)
  end
endmodule
