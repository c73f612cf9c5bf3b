// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Command fetch: reads the program in order through a kt_axi_rd, checks each command and hands it to the scoreboard.
//
// Invariants
//   - Only commands that have room in the FIFO are asked for, so every beat is taken in the cycle in which it comes
//     (kt_axi_rd_arb relies on it), and no byte beyond the program is read.
//   - A command leaves only after its checks: known operation, reserved and spare bits 0, no count of 0 where there
//     must be something, no wait that names itself or a later command, none for rows from outside but of LOAD. `seen_q` counts the commands of each queue
//     before it.
//   - An extension has no number, no queue and no waits: it goes with the conv command after it.
//   - The first illegal command or the first beat with an error is reported once and nothing is handed over after it;
//     beats on their way are swallowed. Only a reset leads out of this state.
module kt_cmd_fetch
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_control_pkg::*;
  import kt_csr_pkg::*;
#(
  parameter int unsigned AxiW   = 128,  // 128, 256 or 512
  parameter int unsigned BytesW = 20,   // byte count of a request
  parameter bit          Extend   = 1,  // there is extend_conv
  parameter int unsigned Ahead  = 8,    // commands in the FIFO or asked for
  parameter int unsigned Chunk  = 4     // commands of a request
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // start of a run (pulse; nothing may be under way), end of fetching because of an error
  input  logic              start_i,
  input  logic              stop_i,
  input  logic [39:6]       addr_i,
  input  index_t            count_i,
  // read master
  output logic              req_valid_o,
  input  logic              req_ready_i,
  output logic [39:0]       req_addr_o,
  output logic [BytesW-1:0] req_bytes_o,
  input  logic              rsp_valid_i,
  output logic              rsp_ready_o,   // always
  input  logic [AxiW-1:0]   rsp_data_i,
  input  logic              rsp_error_i,
  // to the queues
  output logic              cmd_valid_o,
  input  logic              cmd_ready_i,
  output logic [511:0]      cmd_o,
  output extension_t        cmd_extension_o,
  output index_t            cmd_index_o,
  // every command was handed over; a command waits for room in its queue
  output logic              done_o,
  output logic              blocked_o,
  // something changes with the coming clock edge (kt_clk_gate)
  output logic              active_o,
  // pulses: illegal command, bus error; with the number of the command, why, and the number of the next command
  output logic              illegal_o,
  output logic              bus_error_o,
  output index_t            error_index_o,
  output info_t             error_info_o,
  output index_t            next_index_o
);

  if (AxiW != 128 && AxiW != 256 && AxiW != 512) begin : gen_check_width
    $error("kt_cmd_fetch: AxiW must be 128, 256 or 512");
  end
  if (Ahead < Chunk) begin : gen_check_ahead
    $error("kt_cmd_fetch: Ahead must be at least Chunk");
  end

  localparam int unsigned Beats = 512 / AxiW;
  localparam int unsigned RoomW = $clog2(Ahead + 1);

  localparam int unsigned BeatW = (Beats > 1) ? $clog2(Beats) : 1;

  // ---- requests
  logic [33:0]      next_q;    // next command to ask for: address / 64
  index_t           todo_q;    // commands not yet asked for
  logic [RoomW-1:0] room_q;    // commands that may be asked for
  logic [RoomW-1:0] chunk;
  logic             req_fire, pop;

  assign chunk       = (todo_q < index_t'(Chunk)) ? RoomW'(todo_q) : RoomW'(Chunk);
  assign req_valid_o = todo_q != '0 && room_q >= chunk;
  assign req_addr_o  = {next_q, 6'b0};
  assign req_bytes_o = BytesW'({chunk, 6'b0});
  assign req_fire    = req_valid_o && req_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      todo_q <= '0;
      room_q <= RoomW'(Ahead);
    end else begin
      if (start_i) todo_q <= count_i;
      else if (stop_i) todo_q <= '0;
      else if (req_fire) todo_q <= todo_q - index_t'(chunk);
      if (req_fire || pop) room_q <= room_q - (req_fire ? chunk : '0) + RoomW'(pop);
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) next_q <= addr_i;
    else if (req_fire) next_q <= next_q + 34'(chunk);
  end

  // ---- beats to commands
  logic [511:0]     word;        // complete with the last beat of a command
  logic [BeatW-1:0] beat_q;
  logic             push;
  index_t           received_q;  // complete commands, extensions not counted
  logic             failed_q;    // a beat had an error

  assign rsp_ready_o = 1'b1;
  assign push        = rsp_valid_i && beat_q == BeatW'(Beats - 1) && !rsp_error_i && !failed_q;

  if (Beats > 1) begin : gen_assemble
    logic [511-AxiW:0] earlier_q;
    if (Beats == 2) begin : gen_two
      always_ff @(posedge clk_i) if (rsp_valid_i) earlier_q <= rsp_data_i;
    end else begin : gen_more
      always_ff @(posedge clk_i) if (rsp_valid_i) earlier_q <= {rsp_data_i, earlier_q[511-AxiW:AxiW]};
    end
    assign word = {rsp_data_i, earlier_q};
  end else begin : gen_whole
    assign word = rsp_data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q     <= '0;
      received_q <= '0;
      failed_q   <= 1'b0;
    end else if (start_i) begin
      received_q <= '0;
    end else if (rsp_valid_i) begin
      beat_q   <= (beat_q == BeatW'(Beats - 1)) ? '0 : beat_q + 1'b1;
      failed_q <= failed_q || rsp_error_i;
      if (push && word[3:0] != OpExtendConv) received_q <= received_q + 1'b1;
    end
  end

  logic             ahead_valid, unused_ready;
  logic [511:0]     ahead;
  logic [RoomW-1:0] unused_level;
  kt_fifo #(
    .Width(512),
    .Depth(Ahead)
  ) u_ahead (
    .clk_i,
    .rst_ni,
    .in_valid_i (push),
    .in_ready_o (unused_ready),
    .in_data_i  (word),
    .out_valid_o(ahead_valid),
    .out_ready_i(pop),
    .out_data_o (ahead),
    .level_o    (unused_level)
  );

  // ---- checks
  count_t              seen_q[Queues];  // commands of each queue so far
  index_t              left_q;          // commands and extensions not yet handed over
  logic                valid_q, halted_q, legal;
  logic                extends_conv, extended_q;  // an extension is at the head, was the one before
  logic                extend;                    // it is taken in
  extension_t          extension_q;
  logic [511:0]        cmd_q;
  index_t              index_q;         // of the command in cmd_q or, if there is none, of the next one
  header_t             header;
  logic [1:0]          queue;
  logic [BodyBits-1:0] body;
  info_t               wrong;

  assign header = header_t'(ahead[$bits(header_t)-1:0]);
  assign body   = ahead[511:$bits(header_t)];
  assign queue  = queue_of(header.op);
  assign extends_conv = Extend && header.op == OpExtendConv;
  assign pop    = ahead_valid && !halted_q && !stop_i && (!valid_q || cmd_ready_i);
  assign legal  = wrong == '0;
  assign extend = pop && extends_conv && legal;

  always_comb begin
    wrong = '0;
    if (pop) begin
      wrong[IllegalOp]         = header.op < OpLoadRows || (header.op > OpStore && !extends_conv) ||
                                 (extended_q && header.op != OpConv);
      wrong[IllegalReserved]   = (queue != 2'(QLoad) && header.wait_arrived != '0) ||
                                 (extends_conv && {header.wait_arrived, header.wait_load, header.wait_conv,
                                 header.wait_vector, header.wait_store} != '0);
      wrong[IllegalSpare]      = spare_used(header.op, body);
      wrong[IllegalZero]       = count_is_zero(header.op, body);
      wrong[IllegalWaitLoad]   = header.wait_load > seen_q[QLoad];
      wrong[IllegalWaitConv]   = header.wait_conv > seen_q[QConv];
      wrong[IllegalWaitVector] = header.wait_vector > seen_q[QVector];
      wrong[IllegalWaitStore]  = header.wait_store > seen_q[QStore];
      wrong[IllegalMany]       = seen_q[queue] == '1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      halted_q <= 1'b0;
      left_q   <= '0;
      index_q  <= '0;
      seen_q   <= '{default: '0};
      extended_q <= 1'b0;
    end else if (start_i) begin
      left_q  <= count_i;
      index_q <= '0;
      seen_q  <= '{default: '0};
      extended_q <= 1'b0;
    end else begin
      if (pop) begin
        valid_q    <= legal && !extends_conv;
        halted_q   <= !legal;
        extended_q <= extends_conv;
        if (legal && !extends_conv) seen_q[queue] <= seen_q[queue] + 1'b1;
      end else if (cmd_ready_i || stop_i) begin
        valid_q <= 1'b0;
      end
      if ((valid_q && cmd_ready_i) || extend) left_q <= left_q - index_t'(valid_q && cmd_ready_i) - index_t'(extend);
      if (valid_q && cmd_ready_i) index_q <= index_q + 1'b1;
    end
  end

  /* verilator lint_off UNUSEDSIGNAL */  // its spare bits are checked above
  extend_conv_t fields;
  /* verilator lint_on UNUSEDSIGNAL */
  assign fields = extend_conv_t'(body);

  always_ff @(posedge clk_i) begin
    if (pop) cmd_q <= ahead;
    if (extend) begin
      extension_q <= '{first: fields.resident, pitch: fields.resident_pitch, passes: fields.resident_passes,
                       last_groups: fields.last_groups, look_up: fields.look_up,
                       table_word: addr_t'(fields.table_word)};
    end else if (pop && !extended_q) begin
      extension_q <= '0;
    end
  end

  assign cmd_extension_o = Extend ? extension_q : '0;
  assign cmd_valid_o  = valid_q;
  assign cmd_o        = cmd_q;
  assign cmd_index_o  = index_q;
  assign next_index_o = index_q;
  assign done_o       = left_q == '0;
  assign blocked_o    = valid_q && !cmd_ready_i;
  assign active_o     = start_i || stop_i || req_valid_o || rsp_valid_i || pop || (valid_q && cmd_ready_i) ||
                        illegal_o || bus_error_o;

  // ---- errors
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      illegal_o   <= 1'b0;
      bus_error_o <= 1'b0;
    end else begin
      illegal_o   <= pop && !legal;
      bus_error_o <= rsp_valid_i && rsp_error_i && !failed_q;
    end
  end

  // A bus error is reported rather than an illegal command of the same cycle: what it delivered decides nothing else.
  always_ff @(posedge clk_i) begin
    if (rsp_valid_i && rsp_error_i && !failed_q) begin
      error_index_o <= received_q;
      error_info_o  <= '0;
    end else if (pop && !legal) begin
      error_index_o <= index_q + index_t'(valid_q);
      error_info_o  <= wrong;
    end
  end
endmodule
