// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Control: runs a program. Command fetch -> four queues with completion counters -> engines; watchdog; error stop;
// reset.
//
// A run
//   - start_i (pulse) is accepted when no run and no reset is in progress and no error stands. The run is complete when
//     every command was fetched, handed over, taken and completed: status_o.done, and a pulse on
//     status_o.run_completed.
//   - The first error ends it: status_o.error with cause, command and details, and a pulse on status_o.run_stopped.
//     Nothing is fetched or offered any more; what engines have begun goes on as far as it can. Only soft_reset_i leads
//     on.
//   - soft_reset_i (pulse) is accepted at any time: nothing is fetched or offered, axi_halt_o asks for no new bus
//     transaction, axi_idle_i is awaited (nothing outstanding, no address or data offered), then engine_rst_no is low
//     for ResetCycles. It resets everything outside the registers: the engines, the bus masters and the inside of this
//     module; buffer memories keep what they hold. Done and error are cleared, the registers of the driver stay as they
//     are.
//
// Engines: see kt_scoreboard for issue_* and docs/hardware/control.md for the contract.
module kt_control
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_control_pkg::*;
  import kt_csr_pkg::*;
  import kt_axi_pkg::*;
#(
  parameter int unsigned AxiW        = 128,
  parameter bit          Extend      = 1,     // there is extend_conv
  parameter int unsigned QueueDepth  = 8,     // commands of a queue that wait or run, a power of two
  parameter int unsigned QuietCycles = 1024,  // see kt_watchdog
  parameter int unsigned ResetCycles = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // registers
  input  logic                start_i,
  input  logic                soft_reset_i,
  input  settings_t           settings_i,
  output status_t             status_o,
  output control_events_t     events_o,
  // reset of engines and bus masters
  input  logic                axi_idle_i,
  output logic                axi_halt_o,
  output logic                engine_rst_no,
  // command fetch: a kt_axi_rd, with the clock that runs while the fetch or it has work
  output logic                fetch_clk_o,
  input  logic                fetch_busy_i,
  output logic                fetch_req_valid_o,
  input  logic                fetch_req_ready_i,
  output request_t            fetch_req_o,
  input  logic                fetch_rsp_valid_i,
  output logic                fetch_rsp_ready_o,
  input  logic [AxiW-1:0]     fetch_rsp_data_i,
  input  logic                fetch_rsp_error_i,
  // the queues, see kt_scoreboard; what LOAD and STORE report
  output logic [Queues-1:0]   issue_valid_o,
  input  logic [Queues-1:0]   issue_ready_i,
  output command_t            issue_o[Queues],
  input  logic [Queues-1:0]   done_i,
  output logic                conv_peek_o,
  output extension_t          conv_extension_o,
  /* verilator lint_off UNUSEDSIGNAL */  // STORE finds bus errors only
  input  engine_error_t       load_error_i,
  input  engine_error_t       store_error_i,
  /* verilator lint_on UNUSEDSIGNAL */
  // error responses as the bus masters see them (their error_o, error_resp_o), for error_info
  input  logic [Masters-1:0]  axi_error_i,
  input  logic [1:0]          axi_resp_i[Masters]
);

  typedef enum logic [2:0] {
    StIdle,
    StRun,
    StStopped,
    StDrain,
    StReset
  } state_e;

  // Cycles in StDrain or StReset. A transaction may be on its way to the port when the halt begins: idle counts only
  // after DrainCycles cycles without interruption.
  localparam int unsigned DrainCycles = 4;
  localparam int unsigned TimerW = $clog2(((ResetCycles > DrainCycles) ? ResetCycles : DrainCycles) + 1);

  state_e            state_q, state_d;
  logic [TimerW-1:0] timer_q;
  logic              engine_rst_nq, start, run, stop;
  logic              complete, error;
  error_cause_e      cause;
  index_t            error_index;
  info_t             error_info;

  assign run   = state_q == StRun;
  assign start = state_q == StIdle && start_i && !soft_reset_i;

  // ---- blocks
  logic                fetch_done, fetch_blocked, illegal, fetch_error, deadlock, timeout;
  logic                cmd_valid, cmd_ready;
  logic [511:0]        cmd;
  extension_t          cmd_extension;
  index_t              cmd_index, next_index, fetch_error_index, watchdog_index;
  info_t               fetch_error_info;
  logic [Queues-1:0]   queued, running, watchdog_mask;
  count_t              completed[Queues];
  index_t              head[Queues], oldest[Queues];
  logic                report, outside, arrival;

  // Both do nothing in most cycles, and hold their state by themselves then. A reset is seen with edges, too.
  logic fetch_active, scoreboard_clk, scoreboard_active;

  kt_clk_gate u_fetch_clk (
    .clk_i,
    .en_i (fetch_active || fetch_busy_i || axi_error_i[MasterFetch] || !engine_rst_nq),
    .clk_o(fetch_clk_o)
  );

  kt_clk_gate u_scoreboard_clk (
    .clk_i,
    .en_i (scoreboard_active || !engine_rst_nq),
    .clk_o(scoreboard_clk)
  );

  kt_cmd_fetch #(
    .AxiW  (AxiW),
    .BytesW(BytesW),
    .Extend(Extend)
  ) u_fetch (
    .clk_i        (fetch_clk_o),
    .rst_ni       (engine_rst_nq),
    .start_i      (start),
    .stop_i       (stop),
    .addr_i       (settings_i.program_addr[39:6]),
    .count_i      (settings_i.command_count),
    .req_valid_o  (fetch_req_valid_o),
    .req_ready_i  (fetch_req_ready_i),
    .req_addr_o   (fetch_req_o.addr),
    .req_bytes_o  (fetch_req_o.bytes),
    .rsp_valid_i  (fetch_rsp_valid_i),
    .rsp_ready_o  (fetch_rsp_ready_o),
    .rsp_data_i   (fetch_rsp_data_i),
    .rsp_error_i  (fetch_rsp_error_i),
    .cmd_valid_o  (cmd_valid),
    .cmd_ready_i  (cmd_ready),
    .cmd_o        (cmd),
    .cmd_extension_o(cmd_extension),
    .cmd_index_o  (cmd_index),
    .done_o       (fetch_done),
    .blocked_o    (fetch_blocked),
    .active_o     (fetch_active),
    .illegal_o    (illegal),
    .bus_error_o  (fetch_error),
    .error_index_o(fetch_error_index),
    .error_info_o (fetch_error_info),
    .next_index_o (next_index)
  );

  kt_scoreboard #(
    .QueueDepth(QueueDepth)
  ) u_scoreboard (
    .clk_i       (scoreboard_clk),
    .rst_ni      (engine_rst_nq),
    .start_i     (start),
    .stop_i      (stop),
    .arrived_i   (settings_i.arrived),
    .cmd_valid_i (cmd_valid),
    .cmd_ready_o (cmd_ready),
    .cmd_i       (cmd),
    .cmd_extension_i(cmd_extension),
    .cmd_index_i (cmd_index),
    .issue_valid_o,
    .issue_ready_i,
    .issue_o,
    .conv_extension_o,
    .done_i,
    .conv_peek_o,
    .queued_o    (queued),
    .running_o   (running),
    .outside_o   (outside),
    .arrival_o   (arrival),
    .completed_o (completed),
    .report_i    (report),
    .oldest_o    (oldest),
    .active_o    (scoreboard_active),
    .no_command_o(events_o.no_command),
    .waits_o     (events_o.waits),
    .load_arrived_o(events_o.load_arrived)
  );

  for (genvar q = 0; q < int'(Queues); q++) begin : gen_head
    assign head[q] = issue_o[q].index;
  end

  kt_watchdog #(
    .QuietCycles(QuietCycles)
  ) u_watchdog (
    .clk_i,
    .rst_ni         (engine_rst_nq),
    .run_i          (run),
    .limit_i        (settings_i.watchdog),
    .progress_i     (done_i != '0 || arrival),
    .outside_i      (outside),
    .fetch_done_i   (fetch_done),
    .fetch_blocked_i(fetch_blocked),
    .bus_idle_i     (axi_idle_i),
    .queued_i       (queued),
    .offered_i      (issue_valid_o),
    .running_i      (running),
    .head_i         (head),
    .report_o       (report),
    .oldest_i       (oldest),
    .next_index_i   (next_index),
    .deadlock_o     (deadlock),
    .timeout_o      (timeout),
    .index_o        (watchdog_index),
    .mask_o         (watchdog_mask)
  );

  // A master's error comes with or before the error of its engine: the last one is kept.
  logic [1:0] resp[Masters], resp_q[Masters];

  for (genvar m = 0; m < int'(Masters); m++) begin : gen_resp
    assign resp[m] = axi_error_i[m] ? axi_resp_i[m] : resp_q[m];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) resp_q <= '{default: '0};
    else if (axi_error_i != '0) resp_q <= resp;
  end

  // ---- the first error; of several in one cycle the one nearest to the cause
  always_comb begin
    error       = 1'b1;
    cause       = ErrorNone;
    error_index = fetch_error_index;
    error_info  = fetch_error_info;
    if (fetch_error) begin
      cause      = ErrorFetchRead;
      error_info = info_t'(resp[MasterFetch]);
    end else if (illegal) begin
      cause = ErrorIllegal;
    end else if (load_error_i.bus) begin
      cause       = ErrorLoadRead;
      error_index = load_error_i.index;
      error_info  = info_t'(resp[MasterLoad]);
    end else if (load_error_i.corrupt) begin
      cause       = ErrorCorrupt;
      error_index = load_error_i.index;
      error_info  = '0;
    end else if (load_error_i.illegal) begin
      cause       = ErrorIllegal;
      error_index = load_error_i.index;
      error_info  = info_t'(1) << IllegalBytes;
    end else if (store_error_i.bus) begin
      cause       = ErrorStoreWrite;
      error_index = store_error_i.index;
      error_info  = info_t'(resp[MasterStore]);
    end else if (deadlock || timeout) begin
      cause       = deadlock ? ErrorDeadlock : ErrorTimeout;
      error_index = watchdog_index;
      error_info  = info_t'(watchdog_mask);
    end else begin
      error = 1'b0;
    end
  end

  assign complete = fetch_done && queued == '0 && running == '0;

  // ---- state
  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:  if (start) state_d = StRun;
      StRun:   if (error) state_d = StStopped;
               else if (complete) state_d = StIdle;
      StDrain: if (timer_q == TimerW'(DrainCycles)) state_d = StReset;
      StReset: if (timer_q == TimerW'(ResetCycles)) state_d = StIdle;
      default: ;
    endcase
    if (soft_reset_i && state_q != StDrain && state_q != StReset) state_d = StDrain;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= StIdle;
      timer_q       <= '0;
      engine_rst_nq <= 1'b0;
      stop          <= 1'b0;
      axi_halt_o    <= 1'b0;
    end else begin
      state_q       <= state_d;
      engine_rst_nq <= state_d != StReset;
      stop          <= state_d == StStopped || state_d == StDrain || state_d == StReset;
      axi_halt_o    <= state_d == StDrain || state_d == StReset;
      if (state_d != state_q || (state_q == StDrain && !axi_idle_i)) timer_q <= '0;
      else if (state_q == StDrain || state_q == StReset) timer_q <= timer_q + 1'b1;
    end
  end

  assign engine_rst_no = engine_rst_nq;

  // ---- status
  logic         done_q, error_q, run_completed_q, run_stopped_q;
  error_cause_e cause_q;
  index_t       index_q;
  info_t        info_q;
  logic [9:0]   row_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_q          <= 1'b0;
      error_q         <= 1'b0;
      run_completed_q <= 1'b0;
      run_stopped_q   <= 1'b0;
      cause_q         <= ErrorNone;
      index_q         <= '0;
      info_q          <= '0;
      row_q           <= '0;
    end else begin
      run_completed_q <= run && state_d == StIdle;
      run_stopped_q   <= run && state_d == StStopped;
      if (state_d == StRun || state_d == StDrain) begin
        done_q <= 1'b0;
      end else if (run && state_d == StIdle) begin
        done_q <= 1'b1;
      end
      if (state_q == StDrain) begin
        error_q <= 1'b0;
        cause_q <= ErrorNone;
        index_q <= '0;
        info_q  <= '0;
        row_q   <= '0;
      end else if (run && state_d == StStopped) begin
        error_q <= 1'b1;
        cause_q <= cause;
        index_q <= error_index;
        info_q  <= error_info;
        row_q   <= (cause == ErrorCorrupt) ? load_error_i.row : '0;
      end
    end
  end

  assign status_o = '{
    busy:          run,
    done:          done_q,
    error:         error_q,
    resetting:     axi_halt_o,
    run_completed: run_completed_q,
    run_stopped:   run_stopped_q,
    cause:         cause_q,
    index:         index_q,
    info:          info_q,
    row:           row_q,
    completed:     {completed[QStore], completed[QVector], completed[QConv], completed[QLoad]}
  };

  assign events_o.start       = start;
  assign events_o.running     = run;
  assign events_o.fetch       = fetch_req_valid_o && fetch_req_ready_i;
  assign events_o.fetch_bytes = fetch_req_o.bytes;

endmodule
