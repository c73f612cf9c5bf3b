// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

  // Included inside a harness of the scoreboard: which command is handed over and which are taken in this cycle, and the numbers of
  // commands handed over, taken and completed since the start of the run.
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
