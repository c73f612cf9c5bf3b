// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// No program that keeps the rules of docs/hardware/control.md can hang, at any queue depth (4 in every check, the accelerator's 8 in the
// long one) and for programs of any length: the ranking argument, with the scoreboard itself inside. (queue_program has all
// commands of shallow queues in view, this one command among any number.) One command, picked when it is handed over, is
// followed; `before` are the commands of each queue that the program has in front of it, so with completions in order it is
// known when all of those are complete. A LOAD that waits for rows from outside is followed from their arrival on.
//
// Assumed of a program: a wait names earlier commands, so waits <= before; a STORE stands immediately before its feeder, a CONV
// or VECTOR, which does not wait for it. With FV_BUG the last rule is dropped and the claims must fail.
// Claims, whatever the engines do:
//   a_offered  a command whose predecessors are all complete is offered at most five cycles later; so is a feeder while
//              its STORE is the only incomplete one of them
//   a_room     there is room for the next command when all before it are complete, or all but a STORE that it feeds
// So commands complete one by one in the order of the program: the oldest incomplete one is handed over, offered and taken, and an
// engine completes what it has taken. The exception is a STORE, whose results come from its feeder: that is
// handed over, offered and taken too, while the STORE waits for it. The number of incomplete commands is the measure.
module fv_scoreboard_live
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_control_pkg::*;
#(
  parameter int unsigned QueueDepth = 8
) (
  input logic         clk_i,
  input logic         rst_ni,
  input logic         start_i,
  input logic         cmd_valid_i,
  input logic [3:0]   op_i,
  input count_t [3:0] waits_i,
  input arrived_t     wait_arrived_i,
  input arrived_t     arrived_i,
  input logic [3:0]   ready_i,
  input logic [3:0]   done_i,
  input logic         pick_i
);
  `include "fv_reset.svh"

  localparam int unsigned SlotW = $clog2(QueueDepth);
  typedef logic [SlotW:0] pointer_t;

  header_t header;
  assign header = '{wait_store: waits_i[3], wait_vector: waits_i[2], wait_conv: waits_i[1], wait_load: waits_i[0],
                    wait_arrived: wait_arrived_i, op: op_i};

  logic       cmd_ready;
  logic [3:0] valid;
  kt_scoreboard #(
    .QueueDepth(QueueDepth)
  ) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .stop_i        (1'b0),
    .arrived_i,
    .cmd_valid_i,
    .cmd_ready_o   (cmd_ready),
    .cmd_i         ({416'b0, header}),
    .cmd_index_i   ('0),
    .issue_valid_o (valid),
    .issue_ready_i (ready_i),
    .issue_o       (),
    .done_i,
    .conv_peek_o   (),
    .queued_o      (),
    .running_o     (),
    .outside_o     (),
    .arrival_o     (),
    .completed_o   (),
    .report_i      (1'b0),
    .oldest_o      (),
    .active_o      (),
    .no_command_o  (),
    .waits_o       (),
    .load_arrived_o()
  );

  `include "fv_commands.svh"
  logic expect_q;  // the last one handed over was a STORE
  always_ff @(posedge clk_i)
    if (!rst_ni || start_i) expect_q <= 1'b0;
    else if (push) expect_q <= queue == 2'd3;

  // ---- environment: engines complete what they have taken; a run starts when all is complete; the rules of a program
  logic [3:0] complete;
  for (genvar q = 0; q < 4; q++) begin : g_env
    assign complete[q] = pushed_q[q] == done_q[q];
    `FV_ASSUME(m_done, !done_i[q] || taken_q[q] != done_q[q])
    `FV_ASSUME(m_count, !push || pushed_q[q] != '1)
    `FV_ASSUME(m_earlier, !cmd_valid_i || waits_i[q] <= pushed_q[q])
  end
  `FV_ASSUME(m_start, !start_i || (complete == '1 && !cmd_valid_i))
  `FV_ASSUME(m_arrived, arrived_i >= dut.arrived_q || complete == '1)
  `FV_ASSUME(m_feeder, !(cmd_valid_i && expect_q) || queue == 2'd1 || queue == 2'd2)
`ifndef FV_BUG
  `FV_ASSUME(m_own_store, !(cmd_valid_i && expect_q) || waits_i[3] < pushed_q[3])
`endif

  // ---- the followed command, from its hand-over until it is taken
  logic         follow_q;
  logic [1:0]   queue_q;
  count_t [3:0] before_q, waits_q;  // predecessors that must be complete, a feeder's STORE not counted
  arrived_t     wait_arrived_q;
  pointer_t     place_q;
  logic         first;              // all of them are
  logic         starts;
  logic [2:0]   age_q;              // cycles without an offer since
  always_comb begin
    first = follow_q;
    for (int unsigned c = 0; c < 4; c++) if (done_q[c] < before_q[c]) first = 1'b0;
    if (queue_q == 2'(QLoad) && wait_arrived_q > dut.arrived_q) first = 1'b0;
  end
  assign starts = follow_q && taken[queue_q] && taken_q[queue_q] == before_q[queue_q];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) follow_q <= 1'b0;
    else if (!follow_q) follow_q <= push && pick_i;
    else if (starts) follow_q <= 1'b0;
    if (!follow_q) begin
      queue_q <= queue;
      waits_q <= waits_i;
      wait_arrived_q <= wait_arrived_i;
      place_q <= dut.wr_q[queue];
      for (int unsigned c = 0; c < 4; c++) before_q[c] <= pushed_q[c] - count_t'(c == 3 && expect_q);
    end
    age_q <= (rst_ni && first && !valid[queue_q]) ? age_q + 1'b1 : '0;
  end

  // ---- claims
  `FV_ASSERT(a_offered, !on || age_q <= 3'd5)
  `FV_ASSERT(a_room, !(on && complete == '1) || cmd_ready)
  `FV_ASSERT(a_room_feeder, !(on && expect_q && complete[2:0] == '1 && cmd_valid_i) || cmd_ready)

  // ---- invariants: the queues
  for (genvar q = 0; q < 4; q++) begin : g_queue
    pointer_t used, ahead, next;
    logic     holds;
    assign next  = dut.rd_q[q] - pointer_t'(dut.head_q[q]);
    assign used  = dut.wr_q[q] - dut.dn_q[q];
    assign ahead = dut.wr_q[q] - next;
    always_comb begin
      holds = dut.head_q[q];
      for (int unsigned c = 0; c < 4; c++) if (dut.head_waits_q[q][c] > dut.count_q[c]) holds = 1'b0;
      if (q == QLoad && dut.head_arrived_q > dut.arrived_q) holds = 1'b0;
    end
    `FV_ASSERT(i_counter, !on || dut.count_q[q] == done_q[q])
    `FV_ASSERT(i_used, !on || (used <= pointer_t'(QueueDepth) && ahead <= used &&
               pointer_t'(dut.wr_q[q] - dut.rd_q[q]) <= ahead))
    `FV_ASSERT(i_flags, !on || (dut.full_q[q] == (used == pointer_t'(QueueDepth)) && dut.stored_q[q] == (dut.wr_q[q] != dut.rd_q[q])))
    `FV_ASSERT(i_numbers, !on || (pushed_q[q] - done_q[q] == count_t'(used) && pushed_q[q] - taken_q[q] == count_t'(ahead) &&
               done_q[q] <= taken_q[q] && taken_q[q] <= pushed_q[q]))
    `FV_ASSERT(i_valid, !(on && dut.valid_q[q]) || holds)
    `FV_ASSERT(i_checked, !(on && holds) || dut.valid_q[q] || dut.check_q)
  end
  `FV_ASSERT(i_expect, !(on && expect_q) || pushed_q[3] != '0)

  // ---- invariants: a queue waits for at most three others until its head is copied
  logic [1:0] starving_q[4];  // cycles
  for (genvar q = 0; q < 4; q++) begin : g_turn
    localparam logic [3:0] Below = 4'((1 << q) - 1);
    logic [2:0] turn;  // queues whose turn comes before
    always_ff @(posedge clk_i) starving_q[q] <= (rst_ni && empty_heads[q] && !dut.fill_q[q]) ? starving_q[q] + 1'b1 : '0;
    assign turn = later_before_q[q] ? 3'($countones(later_before_q & Below))
                                 : 3'($countones(later_before_q)) + 3'($countones(~later_before_q & Below));
    `FV_ASSERT(i_turn, !on || 3'(starving_q[q]) + turn <= 3'd3)
  end
  `FV_ASSERT(i_later, !on || later_before_q == 4'b0000 || later_before_q == 4'b1000 || later_before_q == 4'b1100 ||
             later_before_q == 4'b1110)

  // ---- invariants: where the followed command is
  logic     followed, at_head;
  pointer_t behind, back;
  assign followed = on && follow_q;
  assign behind   = place_q - (dut.rd_q[queue_q] - pointer_t'(dut.head_q[queue_q]));  // commands to be taken before it
  assign back     = dut.wr_q[queue_q] - place_q;
  assign at_head  = dut.head_q[queue_q] && behind == '0;
  logic waits_earlier;
  always_comb begin
    waits_earlier = 1'b1;
    for (int unsigned c = 0; c < 4; c++) if (waits_q[c] > before_q[c] || before_q[c] > pushed_q[c]) waits_earlier = 1'b0;
  end
  `FV_ASSERT(i_waits, !followed || waits_earlier)
  `FV_ASSERT(i_place, !followed || (back != '0 && before_q[queue_q] == taken_q[queue_q] + count_t'(behind) &&
             pushed_q[queue_q] == before_q[queue_q] + count_t'(back) && before_q[queue_q] < pushed_q[queue_q]))
  `FV_ASSERT(i_ring, !(followed && !at_head) || (dut.memory[{queue_q, place_q[SlotW-1:0]}].waits == waits_q &&
             dut.memory[{queue_q, place_q[SlotW-1:0]}].arrived == wait_arrived_q))
  `FV_ASSERT(i_head, !(followed && at_head) || (dut.head_waits_q[queue_q] == waits_q &&
             (queue_q != 2'(QLoad) || dut.head_arrived_q == wait_arrived_q)))
  `FV_ASSERT(i_age, !on || age_q == '0 || (first && (at_head ? age_q <= 3'd4 || valid[queue_q] : age_q <= 3'(starving_q[queue_q]))))

  `FV_COVER(c_late, on && first && age_q == 3'd4 && valid[queue_q])
  `FV_COVER(c_arrived, on && first && starts && queue_q == 2'(QLoad) && wait_arrived_q == 12'd3 && age_q == 3'd1)
  `FV_COVER(c_feeder, on && first && starts && taken_q[3] != done_q[3] && queue_q == 2'd2 && waits_q[0] == 20'd1)
  `FV_COVER(c_behind, on && follow_q && !first && behind == pointer_t'(1))
endmodule
