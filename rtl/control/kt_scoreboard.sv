// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Scoreboard: four queues, a completion counter for each, and the start of commands whose waits hold.
//
//   command --> memory of the queues --> head of each queue --> engine --> done
//               (a ring for each)        (registers)
//
// Invariants
//   - Commands of a queue start in order. The head of a queue is offered (issue_valid_o) only when all four counters
//     have reached its wait counts, the head of LOAD when so many rows have arrived from outside, too (arrived_i);
//     counters only grow during a run, so what held once holds until the command is taken.
//   - A counter is the number of done pulses of its engine since the start of the run.
//   - A command keeps its place in the ring until it is complete: at most QueueDepth commands of a queue are waiting or
//     running, and the numbers of all of them are known to error reports.
//   - After stop_i nothing is offered any more: <queue>_valid_o falls without its command having been taken.
//
// Timing: done pulse in cycle t, counter t + 1, command offered t + 2; arrived_i in cycle t, command offered t + 2. A
// queue offers at most every fourth cycle, all four together one command a cycle. All outputs towards the engines come
// from flip-flops.
//
// For the simulator: everything happens behind `if`, since in nearly every cycle nothing does.
module kt_scoreboard
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_control_pkg::*;
#(
  parameter int unsigned QueueDepth = 8  // power of two
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // start of a run: counters to 0 (all queues are empty); nothing further is offered, until reset
  input  logic                start_i,
  input  logic                stop_i,
  // rows that have arrived from outside: does not fall during a run
  input  arrived_t            arrived_i,
  // commands in program order
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  logic [511:0]        cmd_i,
  input  extension_t          cmd_extension_i,
  input  index_t              cmd_index_i,
  // the head of each queue, to its engine; a command of it is complete
  output logic [Queues-1:0]   issue_valid_o,
  input  logic [Queues-1:0]   issue_ready_i,
  output command_t            issue_o[Queues],
  output extension_t          conv_extension_o,  // of the head of CONV
  input  logic [Queues-1:0]   done_i,
  // the head of CONV is there (on issue_o) and its LOAD count holds
  output logic                conv_peek_o,
  // state of each queue: not taken commands; taken and incomplete commands; completion counter
  output logic [Queues-1:0]   queued_o,
  output logic [Queues-1:0]   running_o,
  // the head of LOAD waits for rows from outside; such have arrived
  output logic                outside_o,
  output logic                arrival_o,
  output count_t              completed_o[Queues],
  // numbers of the oldest incomplete command of each queue, while report_i
  input  logic                report_i,
  output index_t              oldest_o[Queues],
  // something changes with the coming clock edge (kt_clk_gate)
  output logic                active_o,
  // for the counters: the engine could start a command, but its queue is empty / these counts do not hold / rows from
  // outside are missing
  output logic [Queues-1:0]   no_command_o,
  output logic [Queues-1:0][Queues-1:0] waits_o,
  output logic                load_arrived_o
);

  if (QueueDepth < 2 || (QueueDepth & (QueueDepth - 1)) != 0) begin : gen_check
    $error("kt_scoreboard: QueueDepth must be a power of two");
  end

  localparam int unsigned SlotW = $clog2(QueueDepth);
  typedef logic [SlotW:0] pointer_t;  // one bit more than a slot: tells full from empty

  typedef struct packed {
    arrived_t            arrived;
    count_t [Queues-1:0] waits;
    extension_t          extension;
    command_t            command;
  } entry_t;

  logic [Queues-1:0] taken, valid_q;

  assign taken = valid_q & issue_ready_i;

  // ---- rings: written, copied to the head, completed
  pointer_t [Queues-1:0] wr_q, rd_q, dn_q;
  logic [Queues-1:0]     full_q, stored_q, running_q;  // stored: in the ring, not copied
  logic [Queues-1:0]     head_q /* verilator public_flat_rd */;  // for traces of the test bench, as count_q
  pointer_t [Queues-1:0] wr_d, rd_d, dn_d;
  logic [Queues-1:0]     full_d, stored_d, head_d, running_d;
  logic [Queues-1:0]     fill_q;   // queues whose head is copied in this cycle: none or one
  logic [1:0]            fill_queue_q, queue;
  logic [SlotW-1:0]      fill_slot_q;
  logic                  push, move;
  entry_t                memory[Queues*QueueDepth];
  index_t                number[Queues*QueueDepth];
  entry_t                entry;

  header_t header;
  assign header = header_t'(cmd_i[$bits(header_t)-1:0]);
  assign queue  = queue_of(header.op);

  assign cmd_ready_o = !full_q[queue];
  assign push        = cmd_valid_i && cmd_ready_o;

  // Queues take turns: the one served last comes after all others. Whose turn it is is known a cycle ahead, since the
  // place of what is copied goes to the memories of all bits of a command; what is taken in this cycle is known too late.
  logic [Queues-1:0] pushed, empty, fill_d, later_q;  // later: those behind the one served last
  logic [1:0]        fill_queue_d;

  assign pushed  = push ? (Queues)'(1 << queue) : '0;
  assign empty   = (stored_q | pushed) & ~head_q & ~fill_q;

  always_comb begin
    fill_d       = '0;
    fill_queue_d = '0;
    if (empty != '0) begin
      fill_d = ((empty & later_q) != '0) ? empty & later_q : empty;
      fill_d = fill_d & (~fill_d + 1'b1);  // the lowest one
      fill_queue_d = {fill_d[3] || fill_d[2], fill_d[3] || fill_d[1]};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      later_q      <= '0;
      fill_q       <= '0;
      fill_queue_q <= '0;
      fill_slot_q  <= '0;
    end else if (move) begin
      if (fill_d != '0) later_q <= ~(fill_d | (fill_d - 1'b1));
      fill_q       <= fill_d;
      fill_queue_q <= fill_queue_d;
      fill_slot_q  <= rd_q[fill_queue_d][SlotW-1:0];
    end
  end

  assign move = push || empty != '0 || fill_q != '0 || taken != '0 || done_i != '0;

  // `done_i` is known late: no difference of pointers waits for it.
  always_comb begin
    wr_d      = wr_q;
    rd_d      = rd_q;
    dn_d      = dn_q;
    head_d    = head_q;
    full_d    = full_q;
    stored_d  = stored_q;
    running_d = running_q;
    if (move) begin
      head_d = (head_q & ~taken) | fill_q;
      if (push) wr_d[queue] = wr_q[queue] + 1'b1;
      for (int unsigned q = 0; q < Queues; q++) begin
        if (fill_q[q]) rd_d[q] = rd_q[q] + 1'b1;
        if (done_i[q]) dn_d[q] = dn_q[q] + 1'b1;
        full_d[q]    = !done_i[q] && pointer_t'(wr_d[q] - dn_q[q]) == pointer_t'(QueueDepth);
        stored_d[q]  = wr_d[q] != rd_d[q];
        running_d[q] = pointer_t'(rd_d[q] - dn_q[q]) != pointer_t'(head_d[q]) + pointer_t'(done_i[q]);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q      <= '0;
      rd_q      <= '0;
      dn_q      <= '0;
      head_q    <= '0;
      full_q    <= '0;
      stored_q  <= '0;
      running_q <= '0;
    end else if (move) begin
      wr_q      <= wr_d;
      rd_q      <= rd_d;
      dn_q      <= dn_d;
      head_q    <= head_d;
      full_q    <= full_d;
      stored_q  <= stored_d;
      running_q <= running_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      memory[{queue, wr_q[queue][SlotW-1:0]}] <= '{
        arrived: header.wait_arrived,
        waits:   {count_t'(header.wait_store), count_t'(header.wait_vector), count_t'(header.wait_conv),
                  count_t'(header.wait_load)},
        extension: cmd_extension_i,
        command: '{index: cmd_index_i, op: header.op, body: cmd_i[511:$bits(header_t)]}
      };
      number[{queue, wr_q[queue][SlotW-1:0]}] <= cmd_index_i;
    end
  end

  // ---- heads
  count_t [Queues-1:0] head_waits_q[Queues];
  arrived_t            head_arrived_q;  // of LOAD: waits of others are illegal

  assign entry = memory[{fill_queue_q, fill_slot_q}];

  always_ff @(posedge clk_i) begin
    if (fill_q != '0) head_waits_q[fill_queue_q] <= entry.waits;
    if (fill_q[QLoad]) head_arrived_q <= entry.arrived;
    if (fill_q[QConv]) conv_extension_o <= entry.extension;
  end

  // an enable for each queue, not an index: mapped to Cyclone V that would cost 1,800 LUTs
  for (genvar q = 0; q < int'(Queues); q++) begin : gen_head
    always_ff @(posedge clk_i) if (fill_q[q]) issue_o[q] <= entry.command;
  end

  // ---- completion counters; which of them move is known late, so that enables them
  count_t count_d[Queues];
  count_t count_q[Queues] /* verilator public_flat_rd */;

  always_comb begin
    count_d = count_q;
    if (done_i != '0) begin
      for (int unsigned q = 0; q < Queues; q++) if (done_i[q]) count_d[q] = count_q[q] + 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '{default: '0};
    else if (start_i) count_q <= '{default: '0};
    else if (done_i != '0) count_q <= count_d;
  end

  // ---- arrivals: a copy of the register, so that nothing moves while it rests
  arrived_t arrived_q;
  logic     arrival;

  assign arrival = arrived_i != arrived_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) arrived_q <= '0;
    else if (arrival) arrived_q <= arrived_i;
  end

  // ---- start: looked at when a counter, a head or the arrivals have changed
  logic                          check_q, peek_q, peek_d;
  logic [Queues-1:0]             valid_d;
  logic [Queues-1:0][Queues-1:0] unmet_d, unmet_q;  // [queue][count]; 0 where there is no head
  logic                          outside_d, outside_q;

  always_comb begin
    valid_d = valid_q & ~issue_ready_i;
    unmet_d = unmet_q;
    outside_d = outside_q;
    peek_d  = peek_q && !taken[QConv];
    if (check_q) begin
      outside_d = head_q[QLoad] && head_arrived_q > arrived_q;
      for (int unsigned q = 0; q < Queues; q++) begin
        for (int unsigned c = 0; c < Queues; c++) begin
          unmet_d[q][c] = head_q[q] && head_waits_q[q][c] > count_q[c];
        end
        if (head_q[q] && !taken[q] && unmet_d[q] == '0 && !(q == QLoad && outside_d)) valid_d[q] = 1'b1;
      end
      peek_d = head_q[QConv] && !taken[QConv] && !unmet_d[QConv][QLoad];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      check_q <= 1'b0;
      valid_q <= '0;
      unmet_q <= '0;
      outside_q <= 1'b0;
      peek_q  <= 1'b0;
    end else begin
      check_q <= (fill_q != '0 || done_i != '0 || arrival) && !stop_i;
      valid_q <= stop_i ? '0 : valid_d;
      unmet_q <= unmet_d;
      outside_q <= outside_d;
      peek_q  <= peek_d && !stop_i;
    end
  end

  assign issue_valid_o = valid_q;
  assign conv_peek_o   = peek_q;

  // ---- state
  assign active_o     = move || check_q || start_i || stop_i || arrival;
  assign queued_o     = stored_q | head_q;
  assign running_o    = running_q;
  assign outside_o    = outside_q;
  assign arrival_o    = arrival;
  assign completed_o  = count_q;
  assign no_command_o = issue_ready_i & ~queued_o;

  always_comb begin
    waits_o = '0;
    if (unmet_q != '0) begin
      for (int unsigned q = 0; q < Queues; q++) waits_o[q] = issue_ready_i[q] ? unmet_q[q] : '0;
    end
  end

  assign load_arrived_o = issue_ready_i[QLoad] && outside_q;

  always_comb begin
    oldest_o = '{default: '0};
    if (!Rests || report_i) begin
      for (int unsigned q = 0; q < Queues; q++) oldest_o[q] = number[{2'(q), dn_q[q][SlotW-1:0]}];
    end
  end

endmodule
