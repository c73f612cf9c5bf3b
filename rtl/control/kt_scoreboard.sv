// Scoreboard: four queues, a completion counter for each, and the start of commands whose waits hold.
//
// Invariants
//   - Commands of a queue start in order. The head of a queue is offered (<queue>_valid_o) only when all four counters have
//     reached its wait counts; counters only grow during a run, so what held once holds until the command is taken.
//   - A counter is the number of done pulses of its engine since the start of the run.
//   - An engine has at most InFlight commands taken and not complete; their numbers are kept for error reports.
//   - While stop_i is high nothing is offered: <queue>_valid_o falls without its command having been taken.
//
// Timing: done pulse in cycle t, counter t + 1, command offered t + 2 (t + 2 also for the head of an idle queue that was
// handed over in t). A queue offers at most every second cycle. All outputs towards the engines come from flip-flops.
//
// For the simulator: what happens rarely stands behind `if`, an idle cycle evaluates a few flags.
module kt_scoreboard
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_control_pkg::*;
#(
  parameter int unsigned QueueDepth = 8,
  parameter int unsigned InFlight   = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // start of a run: counters to 0 (all queues are empty); nothing further is offered
  input  logic                start_i,
  input  logic                stop_i,
  // commands in program order
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  logic [511:0]        cmd_i,
  input  index_t              cmd_index_i,
  // LOAD
  output logic                load_valid_o,
  input  logic                load_ready_i,
  output logic [3:0]          load_op_o,
  output logic [BodyBits-1:0] load_cmd_o,
  output index_t              load_index_o,
  input  logic                load_done_i,
  // CONV; conv_peek_o: the head is there (on conv_cmd_o) and its LOAD count holds
  output logic                conv_valid_o,
  input  logic                conv_ready_i,
  output logic                conv_peek_o,
  output logic [BodyBits-1:0] conv_cmd_o,
  output index_t              conv_index_o,
  input  logic                conv_done_i,
  // VECTOR
  output logic                vector_valid_o,
  input  logic                vector_ready_i,
  output logic [3:0]          vector_op_o,
  output logic [BodyBits-1:0] vector_cmd_o,
  output index_t              vector_index_o,
  input  logic                vector_done_i,
  // STORE
  output logic                store_valid_o,
  input  logic                store_ready_i,
  output logic [BodyBits-1:0] store_cmd_o,
  output index_t              store_index_o,
  input  logic                store_done_i,
  // state, one bit or entry for each queue
  output logic   [Queues-1:0] queued_o,      // a command is in the queue
  output logic   [Queues-1:0] offered_o,     // its head may start
  output logic   [Queues-1:0] running_o,     // commands taken and not complete
  output count_t [Queues-1:0] completed_o,
  output index_t [Queues-1:0] head_o,        // number of the head
  output index_t [Queues-1:0] oldest_o,      // number of the oldest command taken and not complete
  // for the counters: the engine could start a command, but its queue is empty / these counts do not hold
  output logic   [Queues-1:0] no_command_o,
  output logic   [Queues-1:0][Queues-1:0] waits_o
);

  // One entry of a queue
  typedef struct packed {
    count_t [Queues-1:0] waits;
    logic [3:0]          op;
    index_t              index;
    logic [BodyBits-1:0] body;
  } entry_t;

  /* verilator lint_off UNUSEDSIGNAL */  // the reserved bits were checked before
  header_t           header;
  /* verilator lint_on UNUSEDSIGNAL */
  entry_t            entry;
  logic [1:0]        queue;
  logic [Queues-1:0] free, ready, done, taken, valid_q, queued, room, busy;
  logic [Queues-1:0] met_q[Queues];  // counts that hold for the head
  count_t            count_q[Queues];
  entry_t            head[Queues];

  assign header = header_t'(cmd_i[$bits(header_t)-1:0]);
  assign queue  = queue_of(header.op);
  assign entry  = '{
    waits: {header.wait_store, header.wait_vector, header.wait_conv, header.wait_load},
    op:    header.op,
    index: cmd_index_i,
    body:  cmd_i[511:$bits(header_t)]
  };
  assign cmd_ready_o = free[queue];

  assign ready = {store_ready_i, vector_ready_i, conv_ready_i, load_ready_i};
  assign done  = {store_done_i, vector_done_i, conv_done_i, load_done_i};
  assign taken = valid_q & ready;

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    logic [$clog2(QueueDepth+1)-1:0] unused_level;
    logic [$clog2(InFlight+1)-1:0]   unused_flight;

    kt_fifo #(
      .Width($bits(entry_t)),
      .Depth(QueueDepth)
    ) u_queue (
      .clk_i,
      .rst_ni,
      .in_valid_i (cmd_valid_i && queue == 2'(q)),
      .in_ready_o (free[q]),
      .in_data_i  (entry),
      .out_valid_o(queued[q]),
      .out_ready_i(taken[q]),
      .out_data_o (head[q]),
      .level_o    (unused_level)
    );

    kt_fifo #(
      .Width($bits(index_t)),
      .Depth(InFlight)
    ) u_flight (
      .clk_i,
      .rst_ni,
      .in_valid_i (taken[q]),
      .in_ready_o (room[q]),
      .in_data_i  (head[q].index),
      .out_valid_o(busy[q]),
      .out_ready_i(done[q]),
      .out_data_o (oldest_o[q]),
      .level_o    (unused_flight)
    );

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) count_q[q] <= '0;
      else if (start_i) count_q[q] <= '0;
      else if (done[q]) count_q[q] <= count_q[q] + 1'b1;
    end

    // Flags of the head; a bit of met_q once set stays set until the head is taken.
    logic [Queues-1:0] met;
    always_comb begin
      met = met_q[q];
      if (queued[q] && met_q[q] != '1) begin
        for (int unsigned c = 0; c < Queues; c++) begin
          met[c] = count_q[c] >= head[q].waits[c];
        end
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        met_q[q]   <= '0;
        valid_q[q] <= 1'b0;
      end else if (taken[q] || stop_i) begin
        met_q[q]   <= '0;
        valid_q[q] <= 1'b0;
      end else begin
        met_q[q]   <= met;
        valid_q[q] <= met == '1 && room[q];
      end
    end

    assign completed_o[q] = count_q[q];
    assign head_o[q]      = head[q].index;
    assign waits_o[q]     = (queued[q] && ready[q]) ? ~met : '0;
  end

  assign load_valid_o   = valid_q[QLoad];
  assign load_op_o      = head[QLoad].op;
  assign load_cmd_o     = head[QLoad].body;
  assign load_index_o   = head[QLoad].index;
  assign conv_valid_o   = valid_q[QConv];
  assign conv_peek_o    = met_q[QConv][QLoad];
  assign conv_cmd_o     = head[QConv].body;
  assign conv_index_o   = head[QConv].index;
  assign vector_valid_o = valid_q[QVector];
  assign vector_op_o    = head[QVector].op;
  assign vector_cmd_o   = head[QVector].body;
  assign vector_index_o = head[QVector].index;
  assign store_valid_o  = valid_q[QStore];
  assign store_cmd_o    = head[QStore].body;
  assign store_index_o  = head[QStore].index;

  assign queued_o     = queued;
  assign offered_o    = valid_q;
  assign running_o    = busy;
  assign no_command_o = ready & ~queued;

endmodule
