// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// No program that keeps the rules of docs/hardware/control.md can hang, whatever its length and whenever engines start and
// complete what they may. This is about the rules, so it has no block inside: the four queues are those of kt_scoreboard as
// kt_scoreboard.sby proves them (in order; a start exactly when the waits hold; room for QueueDepth incomplete commands).
//
// Only incomplete commands matter, and of counts only their distance to the completion counters. So of each command of a
// queue, place 0 being the oldest, it is enough to know
//   older[c]  how many incomplete commands of queue c come before it in the program
//   need[c]   how many of these must be complete before it starts: wait count - completion counter, or 0
//   feeder    it feeds the STORE immediately before it
//   fed       (STORE) its feeder is complete
// A completion in queue c takes one off every older[c] and need[c]; a new command has older[c] = commands in queue c.
//
// Rules of a program (assumed): need <= older for all queues, that is, a wait names earlier commands; after a STORE comes
// its feeder, which does not wait for it. With FV_BUG the last rule is dropped and the claim must fail.
// Rules of the engines (assumed): a feeder completes only if its STORE was taken, a STORE only if it is fed.
//
// Claim a_live: while a command is incomplete, the oldest one may start or complete; or it is a STORE, taken, without its
// results, and its feeder may start or complete or be handed over. So engines that start what may start and
// complete what may complete finish every program: each command, in the order of the program, in finitely many steps.
module fv_queue_program #(
  parameter int unsigned QueueDepth = 2,
  localparam int unsigned W = $clog2(QueueDepth + 1)
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                push_i,
  input logic [1:0]          queue_i,
  input logic [3:0][W-1:0]   need_i,
  input logic [3:0]          take_i,
  input logic [3:0]          done_i
);
  `include "fv_reset.svh"

  localparam int unsigned D = QueueDepth;
  typedef logic [W-1:0] few_t;
  localparam few_t One = few_t'(1);

  logic on;
  assign on = past_ok_q && rst_ni;

  // [queue * D + place]
  few_t [3:0] older_q[4*D], need_q[4*D];
  logic       feeder_q[4*D], fed_q[D];
  few_t       count_q[4], taken_q[4];
  logic       expect_q;  // the last command handed over was a STORE

  // ---- what may happen
  logic [3:0] may_start, may_complete;
  for (genvar q = 0; q < 4; q++) begin : g_may
    always_comb begin
      may_start[q] = 1'b0;
      for (int unsigned p = 0; p < D; p++) begin
        if (taken_q[q] == few_t'(p) && few_t'(p) < count_q[q] && need_q[q*D+p] == '0) may_start[q] = 1'b1;
      end
      may_complete[q] = taken_q[q] != '0;
      if (q == 3) begin
        if (!fed_q[0]) may_complete[q] = 1'b0;
      end else if (feeder_q[q*D] && taken_q[3] < older_q[q*D][3]) begin
        may_complete[q] = 1'b0;
      end
    end
    `FV_ASSUME(m_take, !take_i[q] || may_start[q])
    `FV_ASSUME(m_done, !done_i[q] || may_complete[q])
    `FV_ASSUME(m_earlier, !push_i || need_i[q] <= count_q[q] - few_t'(done_i[q]))
  end
  `FV_ASSUME(m_room, !push_i || count_q[queue_i] != few_t'(D))
  `FV_ASSUME(m_feeder, !(push_i && expect_q) || queue_i == 2'd1 || queue_i == 2'd2)
`ifndef FV_BUG
  `FV_ASSUME(m_own_store, !(push_i && expect_q) || need_i[3] < count_q[3] - few_t'(done_i[3]))
`endif

  // ---- what happens: completions first, then the new command
  few_t       after[4];   // commands left after the completions
  logic [D-1:0] fed_now;  // the feeder of the STORE in this place completes
  always_comb begin
    fed_now = '0;
    for (int unsigned q = 0; q < 4; q++) after[q] = count_q[q] - few_t'(done_i[q]);
    for (int unsigned q = 1; q < 3; q++) begin
      for (int unsigned p = 0; p < D; p++) begin
        if (done_i[q] && feeder_q[q*D] && older_q[q*D][3] == few_t'(p + 1)) fed_now[p] = 1'b1;
      end
    end
  end

  function automatic few_t [3:0] less(few_t [3:0] x);
    for (int unsigned c = 0; c < 4; c++) less[c] = (done_i[c] && x[c] != '0) ? x[c] - One : x[c];
  endfunction

  for (genvar e = 0; e < 4 * D; e++) begin : g_step
    localparam int unsigned Q = e / D;
    localparam int unsigned P = e % D;
    localparam int unsigned Next = (P + 1 < D) ? e + 1 : e;
    always_ff @(posedge clk_i) begin
      if (push_i && queue_i == 2'(Q) && after[Q] == few_t'(P)) begin
        older_q[e]  <= {after[3], after[2], after[1], after[0]};
        need_q[e]   <= need_i;
        feeder_q[e] <= expect_q;
      end else begin
        older_q[e]  <= less(done_i[Q] ? older_q[Next] : older_q[e]);
        need_q[e]   <= less(done_i[Q] ? need_q[Next] : need_q[e]);
        feeder_q[e] <= done_i[Q] ? feeder_q[Next] : feeder_q[e];
      end
    end
    if (Q == 3) begin : g_fed
      localparam int unsigned NextP = (P + 1 < D) ? P + 1 : P;
      always_ff @(posedge clk_i) begin
        if (push_i && queue_i == 2'd3 && after[3] == few_t'(P)) fed_q[P] <= 1'b0;
        else fed_q[P] <= done_i[3] ? (fed_q[NextP] || fed_now[NextP]) : (fed_q[P] || fed_now[P]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) expect_q <= 1'b0;
    else if (push_i) expect_q <= queue_i == 2'd3;
    for (int unsigned q = 0; q < 4; q++) begin
      if (!rst_ni) begin
        count_q[q] <= '0;
        taken_q[q] <= '0;
      end else begin
        count_q[q] <= after[q] + few_t'(push_i && queue_i == 2'(q));
        taken_q[q] <= taken_q[q] + few_t'(take_i[q]) - few_t'(done_i[q]);
      end
    end
  end

  // ---- the claim
  logic [3:0] oldest;  // [queue]: its place 0 is the oldest incomplete command
  logic [3:0] able;    // [queue]: its place 0 may start or complete
  logic [3:0] feeds;   // [queue]: its place 0 feeds the STORE in place 0
  logic       hungry;  // the oldest command is a STORE that was taken and has no results
  always_comb begin
    for (int unsigned q = 0; q < 4; q++) begin
      oldest[q] = count_q[q] != '0 && older_q[q*D] == '0;
      able[q]   = count_q[q] != '0 && ((taken_q[q] == '0) ? may_start[q] : may_complete[q]);
      feeds[q]  = count_q[q] != '0 && q != 3 && feeder_q[q*D] && older_q[q*D][3] == One;
    end
    hungry = oldest[3] && taken_q[3] != '0 && !fed_q[0];
  end
  `FV_ASSERT(a_oldest, !on || (count_q[0] == '0 && count_q[1] == '0 && count_q[2] == '0 && count_q[3] == '0) ||
             (oldest != '0 && (oldest & (oldest - 1'b1)) == '0))
  `FV_ASSERT(a_live, !on || oldest == '0 || (oldest & able) != '0 ||
             (hungry && ((feeds & able) != '0 || (expect_q && count_q[1] != few_t'(D) && count_q[2] != few_t'(D)))))

  `FV_COVER(c_feeder_waits, on && hungry && feeds == 4'b0010 && taken_q[1] == '0 && count_q[0] != '0)
  `FV_COVER(c_unpushed, on && hungry && expect_q && count_q[1] == '0 && count_q[0] != '0)
  `FV_COVER(c_full, on && count_q[1] == few_t'(D) && count_q[3] == few_t'(D) && done_i[3])

  // ---- invariants: the commands of the queues keep one order, that of the program
  for (genvar q = 0; q < 4; q++) begin : g_queue
    `FV_ASSERT(i_count, !on || (taken_q[q] <= count_q[q] && count_q[q] <= few_t'(D)))
  end
  for (genvar e = 0; e < 4 * D; e++) begin : g_inv
    localparam int unsigned Q = e / D;
    localparam int unsigned P = e % D;
    logic there, bounded;
    assign there = on && few_t'(P) < count_q[Q];
    always_comb begin
      bounded = older_q[e][Q] == few_t'(P);
      for (int unsigned c = 0; c < 4; c++) if (older_q[e][c] > count_q[c] || need_q[e][c] > older_q[e][c]) bounded = 1'b0;
    end
    `FV_ASSERT(i_bounded, !there || bounded)
    `FV_ASSERT(i_started, !(there && few_t'(P) < taken_q[Q]) || need_q[e] == '0)

    for (genvar f = 0; f < 4 * D; f++) begin : g_pair
      if (e != f) begin : g_other
        localparam int unsigned Qf = f / D;
        localparam int unsigned Pf = f % D;
        logic both, first, second, nested;
        assign both   = there && few_t'(Pf) < count_q[Qf];
        assign first  = older_q[f][Q] > few_t'(P);   // e comes before f
        assign second = older_q[e][Qf] > few_t'(Pf);
        always_comb begin
          nested = 1'b1;
          for (int unsigned c = 0; c < 4; c++) if (older_q[e][c] > older_q[f][c]) nested = 1'b0;
        end
        `FV_ASSERT(i_order, !both || first != second)
        `FV_ASSERT(i_nested, !(both && first) || nested)
      end
    end

    // a feeder comes next after its STORE, which is without its results
    if (Q == 1 || Q == 2) begin : g_feeder
      logic behind;
      always_comb begin
        behind = 1'b0;
        for (int unsigned p = 0; p < D; p++) begin
          if (older_q[e][3] == few_t'(p + 1) && !fed_q[p] && older_q[3*D+p][0] == older_q[e][0] &&
              older_q[3*D+p][1] == older_q[e][1] && older_q[3*D+p][2] == older_q[e][2]) behind = 1'b1;
        end
      end
      `FV_ASSERT(i_feeder, !(there && feeder_q[e]) || (behind && need_q[e][3] < older_q[e][3]))
    end else begin : g_no_feeder
      `FV_ASSERT(i_no_feeder, !there || !feeder_q[e])
    end
    // a STORE without its results has its feeder in a queue, or it comes next
    if (Q == 3) begin : g_store
      logic last, found;
      assign last = few_t'(P + 1) == count_q[3] && older_q[e][0] == count_q[0] && older_q[e][1] == count_q[1] &&
                    older_q[e][2] == count_q[2];
      always_comb begin
        found = expect_q && last;
        for (int unsigned f = D; f < 3 * D; f++) begin
          if (few_t'(f % D) < count_q[f/D] && feeder_q[f] && older_q[f][3] == few_t'(P + 1)) found = 1'b1;
        end
      end
      `FV_ASSERT(i_store, !(there && !fed_q[P]) || found)
      `FV_ASSERT(i_last, !(there && expect_q && few_t'(P + 1) == count_q[3]) || (last && !fed_q[P]))
      `FV_ASSERT(i_fed, !(there && fed_q[P]) || few_t'(P) < taken_q[3])
    end
  end
  `FV_ASSERT(i_expect, !(on && expect_q) || count_q[3] != '0)
endmodule
