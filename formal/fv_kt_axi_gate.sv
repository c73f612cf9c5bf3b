// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The gate before and after a halt, between any masters that keep AXI's rules and a legal memory: what was offered stays
// offered, every address gets its data and every burst of data its address, and the bus comes to rest: while it is not
// idle, something is offered to the memory or the memory owes an answer; once idle under a halt it stays idle.
module fv_kt_axi_gate (
  input logic clk_i,
  input logic rst_ni,
  input logic halt_i,
  input logic ar_i, r_i, aw_i, w_i, w_last_i, b_i,       // masters offer; memory offers
  input logic ar_ready_i, r_ready_i, aw_ready_i, w_ready_i, b_ready_i, r_last_i
);
  `include "fv_reset.svh"
  localparam int unsigned Limit = 16;  // outstanding

  logic idle, m_ar_ready, m_r_valid, m_aw_ready, m_w_ready, m_b_valid;
  logic ar_valid, r_ready, aw_valid, w_valid, b_ready;
  kt_axi_gate dut (
    .clk_i, .rst_ni, .halt_i, .idle_o(idle),
    .m_ar_valid_i(ar_i), .m_ar_ready_o(m_ar_ready), .m_r_valid_o(m_r_valid), .m_r_ready_i(r_ready_i),
    .m_aw_valid_i(aw_i), .m_aw_ready_o(m_aw_ready), .m_w_valid_i(w_i), .m_w_ready_o(m_w_ready), .m_w_last_i(w_last_i),
    .m_b_valid_o(m_b_valid), .m_b_ready_i(b_ready_i),
    .ar_valid_o(ar_valid), .ar_ready_i, .r_valid_i(r_i), .r_ready_o(r_ready), .r_last_i,
    .aw_valid_o(aw_valid), .aw_ready_i, .w_valid_o(w_valid), .w_ready_i, .b_valid_i(b_i), .b_ready_o(b_ready)
  );

  logic on;
  assign on = past_ok_q && rst_ni;

  // ---- history
  logic [7:0] reads_q, answers_q;    // read bursts open; write bursts with address and data taken, not answered
  logic [7:0] ahead_aw_q, ahead_w_q; // addresses without all their data, data without their address: never both
  logic       inside_q, halted_q, idle_q;
  logic       ar_q, aw_q, w_q, w_last_q, m_ar_q, m_aw_q, m_w_q;  // offered and not taken, at the port and by the masters
  logic       aw, w_end, pair;
  assign aw    = aw_valid && aw_ready_i;
  assign w_end = w_valid && w_ready_i && w_last_i;
  assign pair  = (aw && (w_end || ahead_w_q != '0)) || (w_end && ahead_aw_q != '0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reads_q    <= '0;
      answers_q  <= '0;
      ahead_aw_q <= '0;
      ahead_w_q  <= '0;
      inside_q   <= 1'b0;
      halted_q   <= 1'b0;
      idle_q     <= 1'b0;
      {ar_q, aw_q, w_q, m_ar_q, m_aw_q, m_w_q} <= '0;
    end else begin
      reads_q   <= reads_q + 8'(ar_valid && ar_ready_i) - 8'(r_i && r_ready && r_last_i);
      answers_q <= answers_q + 8'(pair) - 8'(b_i && b_ready);
      if (aw && !w_end) begin
        if (ahead_w_q != '0) ahead_w_q <= ahead_w_q - 1'b1;
        else ahead_aw_q <= ahead_aw_q + 1'b1;
      end
      if (w_end && !aw) begin
        if (ahead_aw_q != '0) ahead_aw_q <= ahead_aw_q - 1'b1;
        else ahead_w_q <= ahead_w_q + 1'b1;
      end
      if (w_valid && w_ready_i) inside_q <= !w_last_i;
      halted_q <= halt_i;
      idle_q   <= idle && halt_i;
      ar_q     <= ar_valid && !ar_ready_i;
      aw_q     <= aw_valid && !aw_ready_i;
      w_q      <= w_valid && !w_ready_i;
      m_ar_q   <= ar_i && !m_ar_ready;
      m_aw_q   <= aw_i && !m_aw_ready;
      m_w_q    <= w_i && !m_w_ready;
    end
    w_last_q <= w_last_i;
  end

  // ---- masters: what is offered stays; bounded; addresses and data belong together, and nothing of them is missing
  `FV_ASSUME(m_halt, !halted_q || halt_i)
  `FV_ASSUME(m_stable, (!m_ar_q || ar_i) && (!m_aw_q || aw_i) && (!m_w_q || (w_i && w_last_i == w_last_q)))
  `FV_ASSUME(m_few, (!ar_i || reads_q < 8'(Limit)) && (!aw_i || answers_q + ahead_aw_q < 8'(Limit)) &&
             (!w_i || answers_q + ahead_w_q < 8'(Limit)))
  `FV_ASSUME(m_data, (ahead_aw_q == '0 && !inside_q) || w_i)
  `FV_ASSUME(m_address, (ahead_w_q == '0 && !(ahead_aw_q == '0 && (inside_q || w_q))) || aw_i)
  // ---- memory: answers what was asked
  `FV_ASSUME(m_read, !r_i || reads_q != '0)
  `FV_ASSUME(m_answer, !b_i || answers_q != '0)

  // ---- claims
  `FV_ASSERT(a_stable, !on || ((!ar_q || ar_valid) && (!aw_q || aw_valid) && (!w_q || w_valid)))
  `FV_ASSERT(a_through, !(on && !halt_i) || (ar_valid == ar_i && aw_valid == aw_i && w_valid == w_i && m_r_valid == r_i &&
             r_ready == r_ready_i && m_b_valid == b_i && b_ready == b_ready_i && m_ar_ready == ar_ready_i &&
             m_aw_ready == aw_ready_i && m_w_ready == w_ready_i))
  `FV_ASSERT(a_no_new, !(on && halt_i && halted_q) || (!(ar_valid && !ar_q)))
  `FV_ASSERT(a_idle, !(on && idle) || (reads_q == '0 && answers_q == '0 && ahead_aw_q == '0 && ahead_w_q == '0 && !inside_q &&
             !ar_q && !aw_q && !w_q))
  `FV_ASSERT(a_stays, !(on && idle_q) || (idle && !ar_valid && !aw_valid && !w_valid))
  `FV_ASSERT(a_rest, !(on && halt_i && !idle) || ar_valid || aw_valid || w_valid || reads_q != '0 || answers_q != '0)
  // also with a memory that takes no data before their address, or no address before its data
  `FV_ASSERT(a_address, !(on && halt_i && w_valid && ahead_aw_q == '0) || aw_valid)
  `FV_ASSERT(a_data, !(on && halt_i && aw_q && ahead_w_q == '0 && w_i) || w_valid)
  `FV_ASSERT(a_swallows, !(on && halt_i) || (r_ready && b_ready && !m_r_valid))

  // ---- invariants
  `FV_ASSERT(i_counts, !on || (8'(dut.reads_q) == reads_q && 8'(dut.writes_q) == 8'(answers_q + ahead_aw_q) &&
             reads_q <= 8'(Limit) && answers_q <= 8'(Limit) && ahead_aw_q <= 8'(Limit) && ahead_w_q <= 8'(Limit) &&
             8'(answers_q + ahead_aw_q) <= 8'(Limit) && 8'(answers_q + ahead_w_q) <= 8'(Limit) &&
             dut.owed_q == 6'(ahead_aw_q) - 6'(ahead_w_q) && (ahead_aw_q == '0 || ahead_w_q == '0)))
  `FV_ASSERT(i_flags, !on || (dut.inside_q == inside_q && dut.ar_held_q == ar_q && dut.aw_held_q == aw_q && dut.w_held_q == w_q))
  `FV_ASSERT(i_held, !on || ((!ar_q || m_ar_q) && (!aw_q || m_aw_q) && (!w_q || m_w_q)))

  `FV_COVER(c_address_late, on && halt_i && halted_q && aw && ahead_w_q == 8'd1)
  `FV_COVER(c_data_late, on && halt_i && halted_q && w_end && ahead_aw_q == 8'd2)
  `FV_COVER(c_rest, on && halt_i && idle_q && ar_i && aw_i && w_i)
endmodule
