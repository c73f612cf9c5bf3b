// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Scoreboard: no command starts before its waits hold, no LOAD before its rows from outside have arrived; commands of a
// queue start in order with what was handed over, counters are the numbers of done pulses, and a head whose waits hold is offered. One command, picked at an arbitrary moment,
// is followed from its hand-over to its start, where it is unchanged. Engines are free: they take and complete when they like.
module fv_kt_scoreboard
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_control_pkg::*;
#(
  parameter int unsigned QueueDepth = 2
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              start_i,
  input logic              stop_i,
  input logic              cmd_valid_i,
  input logic [3:0]        op_i,
  input logic              body_i,
  input count_t [3:0]      waits_i,
  input arrived_t          wait_arrived_i,
  input arrived_t          arrived_i,
  input index_t            index_i,
  input logic [3:0]        ready_i,
  input logic [3:0]        done_i,
  input logic              pick_i
);
  `include "fv_reset.svh"

  localparam int unsigned SlotW = $clog2(QueueDepth);
  typedef logic [SlotW:0] pointer_t;

  header_t      header;
  logic [511:0] cmd;
  assign header = '{wait_store: waits_i[3], wait_vector: waits_i[2], wait_conv: waits_i[1], wait_load: waits_i[0],
                    wait_arrived: wait_arrived_i, op: op_i};
  assign cmd = {{BodyBits{body_i}}, header};  // one bit stands for all: they only move

  logic       cmd_ready, peek, active, outside, arrival, load_arrived;
  logic [3:0] valid;
  command_t   issue[4];
  extension_t extension;
  kt_scoreboard #(
    .QueueDepth(QueueDepth)
  ) dut (
    .clk_i, .rst_ni, .start_i, .stop_i, .arrived_i,
    .cmd_valid_i, .cmd_ready_o(cmd_ready), .cmd_i(cmd), .cmd_extension_i({$bits(extension_t){body_i}}), .cmd_index_i(index_i),
    .issue_valid_o(valid), .issue_ready_i(ready_i), .issue_o(issue), .done_i, .conv_peek_o(peek),
    .conv_extension_o(extension),
    .queued_o(), .running_o(), .outside_o(outside), .arrival_o(arrival), .completed_o(),
    .report_i(1'b0), .oldest_o(), .active_o(active), .no_command_o(), .waits_o(),
    .load_arrived_o(load_arrived)
  );

  `include "fv_commands.svh"
  logic [3:0] running, empty;
  logic stopped_q;  // stop_i was high since the reset
  always_ff @(posedge clk_i) stopped_q <= rst_ni && (stopped_q || stop_i);

  // ---- the followed command
  logic [1:0]   state_q;  // 0 none, 1 waits, 2 taken
  logic [1:0]   queue_q;
  count_t       order_q;  // commands of its queue before it
  count_t [3:0] waits_q;
  arrived_t     wait_arrived_q;
  index_t       index_q;
  logic [3:0]   op_q;
  logic         body_q;
  pointer_t     place_q;
  logic         here, start_here;
  assign here       = state_q == 2'd1 && taken_q[queue_q] == order_q;  // it is the next one of its queue
  assign start_here = here && taken[queue_q];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= 2'd0;
    else if (state_q == 2'd0 && push && pick_i) begin
      state_q <= 2'd1;
      queue_q <= queue;
      order_q <= pushed_q[queue];
      waits_q <= waits_i;
      wait_arrived_q <= wait_arrived_i;
      index_q <= index_i;
      op_q    <= op_i;
      body_q  <= body_i;
      place_q <= dut.wr_q[queue];
    end else if (start_here) state_q <= 2'd2;
  end

  // ---- environment: done only for what runs, a start only when everything is complete, no counter overflows
  for (genvar q = 0; q < 4; q++) begin : g_env
    assign running[q] = taken_q[q] != done_q[q];
    assign empty[q]   = pushed_q[q] == done_q[q];
    `FV_ASSUME(m_done, !done_i[q] || running[q])
    `FV_ASSUME(m_count, !(push && queue == 2'(q)) || pushed_q[q] != '1)
  end
  `FV_ASSUME(m_arrived, arrived_i >= dut.arrived_q || empty == '1)  // rows arrive and stay
  `FV_ASSUME(m_stop, !stopped_q || stop_i)  // until reset
  `FV_ASSUME(m_start, !start_i || (empty == '1 && !cmd_valid_i && state_q != 2'd1))

  // ---- the clock may stand still without active_o: nothing would have changed
  logic        still_q;
  logic [112:0] past_state_q;
  logic [112:0] all_state;
  assign all_state = 113'({dut.wr_q, dut.rd_q, dut.dn_q, dut.head_q, dut.full_q, dut.stored_q, dut.running_q, dut.later_q,
                           dut.check_q, dut.peek_q, dut.valid_q, dut.unmet_q,
                           dut.arrived_q, dut.outside_q, dut.fill_q, dut.fill_queue_q, dut.fill_slot_q});
  always_ff @(posedge clk_i) begin
    still_q  <= rst_ni && !active;
    past_state_q <= all_state;
  end
  `FV_ASSERT(a_still, !(on && still_q) || (all_state == past_state_q))

  // ---- claims
  logic waits_hold;
  always_comb begin
    waits_hold = 1'b1;
    for (int unsigned c = 0; c < 4; c++) if (waits_q[c] > done_q[c]) waits_hold = 1'b0;
  end
  `FV_ASSERT(a_waits, !(on && start_here) || waits_hold)
  `FV_ASSERT(a_arrived, !(on && start_here && queue_q == 2'(QLoad)) || wait_arrived_q <= arrived_i)
  // what the watchdog and the counters are told: a head waits for rows; it is looked at again when some arrive
  logic lacks;
  assign lacks = dut.head_q[QLoad] && dut.head_arrived_q > dut.arrived_q;
  `FV_ASSERT(a_outside, !on || dut.check_q || stopped_q || outside == lacks)
  logic outside_q;  // it has waited for rows
  always_ff @(posedge clk_i) outside_q <= rst_ni && (outside_q || outside);
  `FV_ASSERT(a_arrival, !on || arrival == (arrived_i != dut.arrived_q))
  `FV_ASSERT(a_load_arrived, load_arrived == (ready_i[QLoad] && outside))
  `FV_ASSERT(a_number, !(on && start_here) || issue[queue_q].index == index_q)
  `FV_ASSERT(a_body, !(on && start_here) || (issue[queue_q].body == {BodyBits{body_q}} && issue[queue_q].op == op_q))
  `FV_ASSERT(a_extension, !(on && start_here && queue_q == 2'(QConv)) || extension == {$bits(extension_t){body_q}})
  for (genvar q = 0; q < 4; q++) begin : g_claims
    logic holds;
    always_comb begin
      holds = dut.head_q[q];
      for (int unsigned c = 0; c < 4; c++) if (dut.head_waits_q[q][c] > dut.count_q[c]) holds = 1'b0;
      if (q == QLoad && dut.head_arrived_q > dut.arrived_q) holds = 1'b0;
    end
    `FV_ASSERT(a_counter, !on || dut.count_q[q] == done_q[q])
    `FV_ASSERT(a_taken, !(on && taken[q]) || taken_q[q] != pushed_q[q])
    // what may start is offered, or looked at in this very cycle
    `FV_ASSERT(a_offered, !(on && holds && !stopped_q) || dut.valid_q[q] || dut.check_q)
    `FV_ASSERT(a_stopped, !(on && stopped_q) || !valid[q])

    // invariants
    pointer_t used, ahead, next;
    assign next  = dut.rd_q[q] - pointer_t'(dut.head_q[q]);
    assign used  = dut.wr_q[q] - dut.dn_q[q];
    assign ahead = dut.wr_q[q] - next;
    `FV_ASSERT(i_used, !on || (used <= pointer_t'(QueueDepth) && ahead <= used &&
               pointer_t'(dut.wr_q[q] - dut.rd_q[q]) <= ahead))
    `FV_ASSERT(i_flags, !on || (dut.full_q[q] == (used == pointer_t'(QueueDepth)) &&
               dut.stored_q[q] == (dut.wr_q[q] != dut.rd_q[q]) && dut.running_q[q] == (next != dut.dn_q[q])))
    `FV_ASSERT(i_numbers, !on || (pushed_q[q] - done_q[q] == count_t'(used) && pushed_q[q] - taken_q[q] == count_t'(ahead) &&
               done_q[q] <= taken_q[q] && taken_q[q] <= pushed_q[q]))
    `FV_ASSERT(i_valid, !(on && dut.valid_q[q]) || (holds && !stopped_q))
  end
  `FV_ASSERT(i_check, !(on && stopped_q) || (!dut.check_q && !dut.peek_q))
  `FV_ASSERT(a_peek, !(on && peek) || (dut.head_q[1] && dut.head_waits_q[1][0] <= done_q[0]))

  // where the followed command is: in the ring or at the head
  pointer_t   back, behind;
  logic       followed, at_head;
  logic [2:0] unused_back;
  always_comb begin
    followed = on && state_q == 2'd1;
    behind   = place_q - (dut.rd_q[queue_q] - pointer_t'(dut.head_q[queue_q]));  // commands to be taken before it
    back     = dut.wr_q[queue_q] - place_q;
    at_head  = dut.head_q[queue_q] && behind == '0;
  end
  `FV_ASSERT(i_place, !followed || (back != '0 && order_q == taken_q[queue_q] + count_t'(behind) &&
             pushed_q[queue_q] == order_q + count_t'(back) && order_q < pushed_q[queue_q]))
  `FV_ASSERT(i_ring, !(followed && !at_head) ||
             (dut.memory[{queue_q, place_q[SlotW-1:0]}].waits == waits_q &&
              dut.memory[{queue_q, place_q[SlotW-1:0]}].arrived == wait_arrived_q &&
              dut.memory[{queue_q, place_q[SlotW-1:0]}].command.index == index_q &&
              dut.memory[{queue_q, place_q[SlotW-1:0]}].command.op == op_q &&
              dut.memory[{queue_q, place_q[SlotW-1:0]}].command.body == {BodyBits{body_q}} &&
              dut.memory[{queue_q, place_q[SlotW-1:0]}].extension == {$bits(extension_t){body_q}}))
  `FV_ASSERT(i_head, !(followed && at_head) || (dut.head_waits_q[queue_q] == waits_q && issue[queue_q].index == index_q &&
             issue[queue_q].body == {BodyBits{body_q}} && issue[queue_q].op == op_q &&
             (queue_q != 2'(QConv) || extension == {$bits(extension_t){body_q}}) &&
             (queue_q != 2'(QLoad) || dut.head_arrived_q == wait_arrived_q)))
  `FV_ASSERT(i_queue, !followed || queue_q == queue_of(op_q))

  `FV_COVER(c_start, on && start_here && waits_q[0] == 20'd1 && waits_q[1] == 20'd1 && queue_q == 2'd3)
  `FV_COVER(c_arrived, on && start_here && queue_q == 2'(QLoad) && wait_arrived_q == 12'd2 && outside_q)
  `FV_COVER(c_four, on && taken == 4'hf)
  `FV_COVER(c_full, on && dut.full_q == 4'hf)
  `FV_COVER(c_peek, on && peek && !valid[1] && dut.unmet_q[1] == 4'b1000)
endmodule
