// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

  // Included inside a harness of the scoreboard: which command is handed over and which are taken in this cycle, and the numbers of
  // commands handed over, taken and completed since the start of the run. And whose head is copied: known a cycle ahead, it is
  // what the queues of this very cycle ask for (but those whose head was taken in the cycle before): the first one behind the
  // queue served last, from its next place.
  logic       on, push;
  logic [1:0] queue;
  logic [3:0] taken;
  assign on    = past_ok_q && rst_ni;
  assign queue = queue_of(op_i);
  assign push  = cmd_valid_i && cmd_ready;
  assign taken = valid & ready_i;

  count_t pushed_q[4], taken_q[4], done_q[4];
  always_ff @(posedge clk_i) begin
    for (int unsigned q = 0; q < 4; q++) begin
      if (!rst_ni || start_i) begin
        pushed_q[q] <= '0;
        taken_q[q]  <= '0;
        done_q[q]   <= '0;
      end else begin
        pushed_q[q] <= pushed_q[q] + count_t'(push && queue == 2'(q));
        taken_q[q]  <= taken_q[q] + count_t'(taken[q]);
        done_q[q]   <= done_q[q] + count_t'(done_i[q]);
      end
    end
  end

  logic [3:0] taken_before_q, later_before_q, empty_heads, due;
  always_ff @(posedge clk_i) begin
    taken_before_q <= rst_ni ? taken : '0;
    later_before_q <= rst_ni ? dut.later_q : '0;
  end
  assign empty_heads = dut.stored_q & ~dut.head_q & ~taken_before_q;
  assign due         = ((empty_heads & later_before_q) != '0) ? empty_heads & later_before_q : empty_heads;
  `FV_ASSERT(i_later_before, !on || dut.later_q == (dut.fill_q == '0 ? later_before_q : ~(dut.fill_q | (dut.fill_q - 1'b1))))
  `FV_ASSERT(i_fill, !on || dut.fill_q == (due & -due))
  `FV_ASSERT(i_taken, !on || (dut.head_q & taken_before_q) == '0)
  for (genvar q = 0; q < 4; q++) begin : g_taken
    `FV_ASSERT(i_incomplete, !(on && taken_before_q[q]) || taken_q[q] != done_q[q])
  end
  `FV_ASSERT(i_fill_slot, !(on && dut.fill_q != '0) || (dut.fill_q == 4'(1 << dut.fill_queue_q) &&
             dut.fill_slot_q == dut.rd_q[dut.fill_queue_q][SlotW-1:0]))
