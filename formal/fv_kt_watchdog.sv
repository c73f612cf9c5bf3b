// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Watchdog: a deadlock is reported exactly when for QuietCycles cycles of the run commands waited, no engine of LOAD, CONV and
// VECTOR ran or was offered one, LOAD waited for no rows from outside, the fetch could do nothing and the bus was idle; a
// timeout exactly when limit_i cycles of the run passed without progress. Number and queues are those two cycles
// before the report. All inputs are free; the limit stays during a run.
module fv_kt_watchdog
  import kt_pkg::*;
  import kt_control_pkg::*;
#(
  parameter int unsigned QuietCycles = 5
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              run_i,
  input logic [31:0]       limit_i,
  input logic              progress_i,
  input logic              outside_i,
  input logic              fetch_done_i,
  input logic              fetch_blocked_i,
  input logic              bus_idle_i,
  input logic [Queues-1:0] queued_i,
  input logic [Queues-1:0] offered_i,
  input logic [Queues-1:0] running_i,
  input index_t            head_i[Queues],
  input index_t            oldest_i[Queues],
  input index_t            next_index_i
);
  logic              report, deadlock, timeout;
  index_t            index;
  logic [Queues-1:0] mask;
  kt_watchdog #(
    .QuietCycles(QuietCycles)
  ) dut (
    .clk_i,
    .rst_ni,
    .run_i,
    .limit_i,
    .progress_i,
    .outside_i,
    .fetch_done_i,
    .fetch_blocked_i,
    .bus_idle_i,
    .queued_i,
    .offered_i,
    .running_i,
    .head_i,
    .report_o  (report),
    .oldest_i,
    .next_index_i,
    .deadlock_o(deadlock),
    .timeout_o (timeout),
    .index_o   (index),
    .mask_o    (mask)
  );
  `include "fv_reset.svh"

  // ---- what the watchdog may conclude from: cycles in which nothing could go on, the newest in bit 0 ...
  logic stands;
  assign stands = run_i && queued_i != '0 && bus_idle_i && (fetch_done_i || fetch_blocked_i) &&
                  !running_i[QLoad] && !running_i[QConv] && !running_i[QVector] &&
                  !outside_i && !offered_i[QLoad] && !offered_i[QConv] && !offered_i[QVector];
  logic [QuietCycles-1:0] stood_q;
  // ... and cycles of the run since the last progress
  logic [31:0] idle_q, limit_q;
  logic        run_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stood_q <= '0;
      idle_q  <= '0;
      run_q   <= 1'b0;
    end else begin
      stood_q <= {stood_q[QuietCycles-2:0], stands};
      idle_q  <= (run_i && !progress_i) ? idle_q + 32'(idle_q != '1) : '0;
      run_q   <= run_i;
    end
  end
  always_ff @(posedge clk_i) limit_q <= limit_i;
  `FV_ASSUME(m_limit, !(past_ok_q && rst_ni && run_q) || limit_i == limit_q)

  // ---- what must be reported two cycles later
  logic locked, late, locked_q[2], late_q[2];
  assign locked = stood_q == '1;
  assign late   = limit_i != '0 && idle_q >= limit_i;
  index_t            head_q[2][Queues], oldest_q[2][Queues], next_index_q[2];
  logic [Queues-1:0] queued_q[2], running_q[2];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      locked_q <= '{default: '0};
      late_q   <= '{default: '0};
    end else begin
      locked_q <= '{locked && run_i, locked_q[0] && run_i};
      late_q   <= '{late && run_i, late_q[0] && run_i};
    end
  end
  always_ff @(posedge clk_i) begin
    head_q       <= '{head_i, head_q[0]};
    oldest_q     <= '{oldest_i, oldest_q[0]};
    next_index_q <= '{next_index_i, next_index_q[0]};
    queued_q     <= '{queued_i, queued_q[0]};
    running_q    <= '{running_i, running_q[0]};
  end

  `FV_ASSERT(a_deadlock, deadlock == locked_q[1])
  `FV_ASSERT(a_timeout, timeout == late_q[1])
  `FV_ASSERT(a_report, report == (locked || late))

  // ---- the number: one of those that count, and none of these is smaller
  logic             smallest, one;
  logic [Queues-1:0] counts;
  assign counts = deadlock ? queued_q[1] : queued_q[1] | running_q[1];
  always_comb begin
    smallest = index <= next_index_q[1];
    one      = index == next_index_q[1];
    for (int unsigned q = 0; q < Queues; q++) begin
      if (counts[q] && index > (deadlock ? head_q[1][q] : oldest_q[1][q])) smallest = 1'b0;
      if (counts[q] && index == (deadlock ? head_q[1][q] : oldest_q[1][q])) one = 1'b1;
    end
  end
  `FV_ASSERT(a_index, !(deadlock || timeout) || (smallest && one))
  `FV_ASSERT(a_mask, !(deadlock || timeout) || mask == (deadlock ? queued_q[1] : running_q[1]))

  // between the two steps: the least of two queues each, and what else is needed
  function automatic logic counts_at_first(logic [1:0] q);
    return locked_q[0] ? queued_q[0][q] : queued_q[0][q] || running_q[0][q];
  endfunction
  function automatic index_t number_at_first(logic [1:0] q);
    return locked_q[0] ? head_q[0][q] : oldest_q[0][q];
  endfunction
  for (genvar i = 0; i < 2; i++) begin : g_least
    wire index_t a = number_at_first(2'(2 * i));
    wire index_t b = number_at_first(2'(2 * i + 1));
    wire a_counts  = counts_at_first(2'(2 * i));
    wire b_counts  = counts_at_first(2'(2 * i + 1));
    `FV_ASSERT(i_least, !(locked_q[0] || late_q[0]) || (dut.least_q[i].valid == (a_counts || b_counts) &&
               (!dut.least_q[i].valid || dut.least_q[i].index == ((a_counts && (!b_counts || a < b)) ? a : b))))
  end
  `FV_ASSERT(i_first, !(locked_q[0] || late_q[0]) || (dut.next_index_q == next_index_q[0] &&
             dut.mask_q == (locked_q[0] ? queued_q[0] : running_q[0])))
  `FV_ASSERT(i_pulses, dut.deadlock_q == locked_q[0] && dut.timeout_q == late_q[0])

  // ---- the counters are the history
  localparam int unsigned QuietW = $clog2(QuietCycles + 1);
  logic [QuietW-1:0] row;  // newest cycles without a gap
  always_comb begin
    row = '0;
    for (int unsigned k = 0; k < QuietCycles; k++) if (32'(row) == k && stood_q[k]) row = QuietW'(k + 1);
  end
  `FV_ASSERT(i_quiet, dut.quiet_q == row)
  `FV_ASSERT(i_cycles, limit_i == '0 || dut.cycles_q == ((idle_q < limit_i) ? idle_q : limit_i))

  `FV_COVER(c_deadlock, deadlock && !timeout && mask == 4'b1010 && index == 24'd7)
  `FV_COVER(c_timeout, timeout && !deadlock && limit_i == 32'd4 && mask == 4'b0001)
endmodule
