// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Output of LOAD: every request that goes in comes out once at each buffer that it is for, in order and unchanged, and stays until
// its grant; a command is done with its last request, when all buffers have it. Requests and grants are free. One request,
// picked when it goes in, is followed.
module fv_kt_load_output
  import kt_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input logic       valid_i,
  input logic       to_sb_i,
  input logic       to_vb_i,
  input logic       last_i,
  input bank_req_t  sb_req_i[1],
  input bank_req_t  vb_req_i[1],
  input logic [7:0] word_i[1],
  input logic       sb_grant_i,
  input logic       vb_grant_i,
  input logic       pick_i
);
  logic       ready, sb_valid, vb_valid, empty, done;
  bank_req_t  sb_req[1], vb_req[1];
  logic [7:0] word[1];
  kt_load_output #(
    .Cp(1),
    .Lw(1)
  ) dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o   (ready),
    .to_sb_i,
    .to_vb_i,
    .last_i,
    .sb_req_i,
    .vb_req_i,
    .word_i,
    .sb_valid_o(sb_valid),
    .sb_grant_i,
    .sb_req_o  (sb_req),
    .vb_valid_o(vb_valid),
    .vb_grant_i,
    .vb_req_o  (vb_req),
    .word_o    (word),
    .empty_o   (empty),
    .done_o    (done)
  );
  `include "fv_reset.svh"

  // ---- the followed request: whether one is ahead of it, and which buffers still want it
  typedef struct packed {
    logic       to_sb, to_vb, last;
    bank_req_t  sb_req, vb_req;
    logic [7:0] word;
  } entry_t;
  entry_t want_q;
  logic   follow_q, ahead_q, sb_q, vb_q;
  logic   in, leaves, left_sb, left_vb;
  assign in      = valid_i && ready;
  assign leaves  = dut.out_valid_q && dut.out_ready;
  assign left_sb = sb_valid && sb_grant_i;
  assign left_vb = vb_valid && vb_grant_i;
  wire picks = in && pick_i && !follow_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) follow_q <= 1'b0;
    else follow_q <= picks || (follow_q && !(leaves && !ahead_q));
  end
  always_ff @(posedge clk_i) begin
    if (picks) begin
      want_q  <= '{to_sb: to_sb_i, to_vb: to_vb_i, last: last_i, sb_req: sb_req_i[0], vb_req: vb_req_i[0], word: word_i[0]};
      ahead_q <= dut.out_valid_q && !leaves;
      sb_q    <= to_sb_i;
      vb_q    <= to_vb_i;
    end else if (follow_q) begin
      if (leaves) ahead_q <= 1'b0;
      if (!ahead_q && left_sb) sb_q <= 1'b0;
      if (!ahead_q && left_vb) vb_q <= 1'b0;
    end
  end

  entry_t out, skid;  // what stands in its registers
  assign out  = '{to_sb: dut.to_sb_q, to_vb: dut.to_vb_q, last: dut.last_q, sb_req: sb_req[0], vb_req: vb_req[0], word: word[0]};
  assign skid = '{to_sb: dut.skid_to_sb_q, to_vb: dut.skid_to_vb_q, last: dut.skid_last_q, sb_req: dut.skid_sb_req_q[0],
                  vb_req: dut.skid_vb_req_q[0], word: dut.skid_word_q[0]};
  wire here = follow_q && !ahead_q;  // it is at the outputs
  `FV_ASSERT(a_here, !here || (sb_valid == sb_q && vb_valid == vb_q && !empty))
  `FV_ASSERT(a_words, !here || (sb_req[0] == want_q.sb_req && vb_req[0] == want_q.vb_req && word[0] == want_q.word))
  `FV_ASSERT(a_leaves, !(here && leaves) || ((!sb_q || sb_grant_i) && (!vb_q || vb_grant_i) && done == want_q.last))
  `FV_ASSERT(a_moves, !(sb_grant_i && vb_grant_i && dut.out_valid_q) || leaves)
  `FV_ASSERT(a_done, !done || leaves)
  `FV_ASSERT(a_idle, !empty || (!sb_valid && !vb_valid && !done))
  // at most one behind the outputs
  `FV_ASSERT(i_skid, !dut.skid_valid_q || dut.out_valid_q)
  `FV_ASSERT(i_ahead, !follow_q || (ahead_q ? dut.skid_valid_q && skid == want_q : out == want_q && dut.out_valid_q))
  `FV_ASSERT(i_taken, !here || ((sb_q == (want_q.to_sb && !dut.sb_done_q)) && (vb_q == (want_q.to_vb && !dut.vb_done_q))))
  `FV_ASSERT(i_fresh, !(follow_q && ahead_q) || (sb_q == want_q.to_sb && vb_q == want_q.to_vb))
  `FV_ASSERT(i_flags, dut.out_valid_q || (!dut.sb_done_q && !dut.vb_done_q))

  `FV_COVER(c_apart, here && want_q.to_sb && want_q.to_vb && !sb_q && vb_q && dut.skid_valid_q)
  `FV_COVER(c_behind, follow_q && ahead_q && done)
endmodule
