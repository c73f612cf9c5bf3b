// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Watchdog: finds a program that cannot go on, and an accelerator that does not.
//
//   deadlock  commands wait, and for QuietCycles cycles nothing could have changed that: no LOAD, CONV or VECTOR
//             command is running or offered to its engine, the command fetch has handed over everything or waits for
//             room in a queue, no LOAD waits for rows from outside, and the bus has nothing outstanding. A STORE may have been taken, and the next one
//             offered: the first waits for its feeder, and QuietCycles is far longer than it needs between two bus
//             transactions.
//   timeout   no command was completed and no row arrived for limit_i cycles (0: no limit).
//
// Reported two cycles later: the number of the oldest command that waits in a queue (deadlock), of the oldest incomplete
// one (timeout; the next one to be fetched if there is none).
module kt_watchdog
  import kt_pkg::*;
  import kt_control_pkg::*;
#(
  parameter int unsigned QuietCycles = 1024
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                run_i,
  input  logic [31:0]         limit_i,
  // what goes on
  input  logic                progress_i,     // a command was completed, or rows have arrived
  input  logic                outside_i,      // LOAD waits for rows from outside
  input  logic                fetch_done_i,
  input  logic                fetch_blocked_i,
  input  logic                bus_idle_i,
  input  logic [Queues-1:0]   queued_i,
  /* verilator lint_off UNUSEDSIGNAL */  // not the STORE queue's
  input  logic [Queues-1:0]   offered_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [Queues-1:0]   running_i,
  // numbers: heads of the queues; oldest incomplete commands of the queues, asked for by report_o; the next to be
  // fetched
  input  index_t              head_i[Queues],
  output logic                report_o,
  input  index_t              oldest_i[Queues],
  input  index_t              next_index_i,
  // pulses, with number and mask of queues
  output logic                deadlock_o,
  output logic                timeout_o,
  output index_t              index_o,
  output logic [Queues-1:0]   mask_o
);

  localparam int unsigned QuietW = $clog2(QuietCycles + 1);

  logic [QuietW-1:0] quiet_q;
  logic [31:0]       cycles_q;
  logic              quiet, deadlock, timeout;

  logic [QVector:QLoad] active;  // running or about to

  assign active = running_i[QVector:QLoad] | offered_i[QVector:QLoad];
  assign quiet  = queued_i != '0 && bus_idle_i && (fetch_done_i || fetch_blocked_i) && active == '0 && !outside_i;
  assign deadlock = quiet_q == QuietW'(QuietCycles);
  assign timeout  = limit_i != '0 && cycles_q >= limit_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      quiet_q  <= '0;
      cycles_q <= '0;
    end else begin
      quiet_q  <= (run_i && quiet) ? quiet_q + QuietW'(!deadlock) : '0;
      cycles_q <= (run_i && !progress_i) ? cycles_q + 32'(!timeout) : '0;
    end
  end

  // The least number in two steps: of the first two queues and of the others, then of both and the next to be fetched. It
  // matters while something is reported only.
  typedef struct packed {
    logic   valid;
    index_t index;
  } number_t;
  number_t number[Queues], least[2], least_q[2];
  index_t  next_index_q, first;
  logic    deadlock_q, timeout_q;

  function automatic number_t min(number_t a, number_t b);
    return (!b.valid || (a.valid && a.index < b.index)) ? a : b;
  endfunction

  assign report_o = deadlock || timeout;

  always_comb begin
    number = '{default: '0};
    least  = '{default: '0};
    if (!Rests || report_o) begin
      for (int unsigned q = 0; q < Queues; q++) begin
        number[q] = deadlock ? '{valid: queued_i[q], index: head_i[q]}
                             : '{valid: queued_i[q] || running_i[q], index: oldest_i[q]};
      end
      least = '{min(number[0], number[1]), min(number[2], number[3])};
    end
  end

  always_comb begin
    first = next_index_q;
    for (int unsigned i = 0; i < 2; i++) if (least_q[i].valid && least_q[i].index < first) first = least_q[i].index;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      deadlock_q <= 1'b0;
      timeout_q  <= 1'b0;
      deadlock_o <= 1'b0;
      timeout_o  <= 1'b0;
    end else begin
      deadlock_q <= run_i && deadlock;
      timeout_q  <= run_i && timeout;
      deadlock_o <= run_i && deadlock_q;
      timeout_o  <= run_i && timeout_q;
    end
  end

  logic [Queues-1:0] mask_q;
  always_ff @(posedge clk_i) begin
    if (report_o) begin
      least_q      <= least;
      next_index_q <= next_index_i;
      mask_q       <= deadlock ? queued_i : running_i;
    end
    if (deadlock_q || timeout_q) begin
      index_o <= first;
      mask_o  <= mask_q;
    end
  end

endmodule
