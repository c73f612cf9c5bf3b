// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Command fetch: asks for every command of the program once, in order, never for more than it has room for; hands over
// every one once, in order, unchanged, with its number and what the extension before it says; none that is illegal, none from an error on; reports either once
// with its number; is done when all were handed over; and never stands still while it could go on. One command, picked at an
// arbitrary moment, is followed from its first beat on. Program, read master, bus and queues are free.
module fv_kt_cmd_fetch
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_control_pkg::*;
  import kt_csr_pkg::*;
#(
  parameter int unsigned AxiW  = 256,
  parameter int unsigned Ahead = 3,
  parameter int unsigned Chunk = 2,
  parameter int unsigned Most  = 7,  // commands of a program
  parameter bit          Data  = 1   // follow a command; otherwise look at what changes while active_o is low
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic            start_i,
  input logic            stop_i,
  input logic [39:6]     addr_i,
  input index_t          count_i,
  input logic            req_ready_i,
  input logic            rsp_valid_i,
  input logic [AxiW-1:0] rsp_data_i,
  input logic            rsp_error_i,
  input logic            cmd_ready_i,
  input logic            pick_i
);
  localparam int unsigned Beats = 512 / AxiW;
  localparam int unsigned OwedW = $clog2(Ahead * Beats + 1);
  typedef logic [OwedW-1:0] owed_t;

  logic         req_valid, rsp_ready, cmd_valid, done, blocked, active, illegal, bus_error;
  logic [39:0]  req_addr;
  logic [19:0]  req_bytes;
  logic [511:0] cmd;
  extension_t   cmd_extension;
  index_t       cmd_index, error_index, next_index;
  info_t        error_info;
  kt_cmd_fetch #(
    .AxiW (AxiW),
    .Ahead(Ahead),
    .Chunk(Chunk)
  ) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .stop_i,
    .addr_i,
    .count_i,
    .req_valid_o  (req_valid),
    .req_ready_i,
    .req_addr_o   (req_addr),
    .req_bytes_o  (req_bytes),
    .rsp_valid_i,
    .rsp_ready_o  (rsp_ready),
    .rsp_data_i,
    .rsp_error_i,
    .cmd_valid_o  (cmd_valid),
    .cmd_ready_i,
    .cmd_o        (cmd),
    .cmd_extension_o(cmd_extension),
    .cmd_index_o  (cmd_index),
    .done_o       (done),
    .blocked_o    (blocked),
    .active_o     (active),
    .illegal_o    (illegal),
    .bus_error_o  (bus_error),
    .error_index_o(error_index),
    .error_info_o (error_info),
    .next_index_o (next_index)
  );
  `include "fv_reset.svh"

  wire   ask    = req_valid && req_ready_i;
  wire   hand   = cmd_valid && cmd_ready_i;
  wire   last   = 32'(dut.beat_q) == Beats - 1;
  wire   absorb = dut.pop && dut.header.op == OpExtendConv && dut.wrong == '0;  // an extension; it has no number
  header_t header;
  assign header = header_t'(cmd[$bits(header_t)-1:0]);

  // ---- history of the run
  logic        started_q, stopped_q, bad_q, reported_q;
  logic [33:0] base_q;
  index_t      count_q, asked_q, got_q, handed_q;  // commands and extensions: of the program, asked for, arrived without error, handed over
  index_t      got_numbers_q, number_q;            // of which commands: arrived, handed over
  logic        before_q, after_q;                  // the last to leave the FIFO, and the one before it, is an extension
  logic [3:0]  op_q;                               // of the command that arrives
  wire [3:0]   arriving = (dut.beat_q == '0) ? rsp_data_i[3:0] : op_q;
  count_t      of_q[Queues];                       // handed over to each queue
  owed_t       owed_q;                             // beats
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      started_q  <= 1'b0;
      stopped_q  <= 1'b0;
      bad_q      <= 1'b0;
      reported_q <= 1'b0;
      owed_q     <= '0;
      count_q    <= '0;
      asked_q    <= '0;
      got_q      <= '0;
      handed_q   <= '0;
      number_q   <= '0;
      got_numbers_q <= '0;
      before_q   <= 1'b0;
      after_q    <= 1'b0;
      of_q       <= '{default: '0};
    end else begin
      stopped_q  <= stopped_q || stop_i;
      bad_q      <= bad_q || (rsp_valid_i && rsp_error_i);
      reported_q <= reported_q || illegal;
      owed_q     <= owed_q + (ask ? owed_t'(req_bytes / (AxiW / 8)) : '0) - owed_t'(rsp_valid_i);
      if (start_i) begin
        started_q <= 1'b1;
        count_q   <= count_i;
        asked_q   <= '0;
        got_q     <= '0;
        handed_q  <= '0;
        number_q  <= '0;
        got_numbers_q <= '0;
        before_q  <= 1'b0;
        after_q   <= 1'b0;
        of_q      <= '{default: '0};
      end else begin
        if (dut.pop) begin
          before_q <= dut.header.op == OpExtendConv;
          after_q  <= before_q;
        end
        if (ask) asked_q <= asked_q + index_t'(req_bytes / 64);
        if (rsp_valid_i && last && !rsp_error_i && !bad_q) begin
          got_q         <= got_q + 1'b1;
          got_numbers_q <= got_numbers_q + index_t'(arriving != OpExtendConv);
        end
        handed_q <= handed_q + index_t'(hand) + index_t'(absorb);
        if (hand) begin
          number_q                 <= number_q + 1'b1;
          of_q[queue_of(header.op)] <= of_q[queue_of(header.op)] + 1'b1;
        end
      end
    end
  end
  always_ff @(posedge clk_i) if (start_i) base_q <= addr_i;
  always_ff @(posedge clk_i) if (rsp_valid_i && dut.beat_q == '0) op_q <= rsp_data_i[3:0];
  logic [BodyBits-1:0] extension_q;  // of the last extension
  always_ff @(posedge clk_i) if (absorb) extension_q <= dut.body;

  // ---- environment: beats that are owed; a run begins when the one before is over; nothing but a reset ends a stop
  `FV_ASSUME(m_rsp, !rsp_valid_i || owed_q != '0)
  `FV_ASSUME(m_start, !start_i || (!stop_i && !stopped_q && handed_q == count_q))
  `FV_ASSUME(m_count, !start_i || 32'(count_i) <= Most)
  `FV_ASSUME(m_stop, !stopped_q || stop_i)

  // ---- what must be wrong with a command, given those before it
  function automatic info_t faults(logic [511:0] c, count_t earlier[Queues], logic extended);
    header_t h;
    faults = '0;
    h      = header_t'(c[$bits(header_t)-1:0]);
    faults[IllegalOp]         = h.op == 4'd0 || h.op > 4'd8 || (extended && h.op != 4'd4);
    faults[IllegalReserved]   = (h.wait_arrived != '0 && h.op >= 4'd4 && h.op <= 4'd8) ||
                                (h.op == 4'd8 && (h.wait_load | h.wait_conv | h.wait_vector | h.wait_store) != '0);
    faults[IllegalSpare]      = spare_used(h.op, c[511:$bits(header_t)]);
    faults[IllegalZero]       = count_is_zero(h.op, c[511:$bits(header_t)]);
    faults[IllegalWaitLoad]   = h.wait_load > earlier[QLoad];
    faults[IllegalWaitConv]   = h.wait_conv > earlier[QConv];
    faults[IllegalWaitVector] = h.wait_vector > earlier[QVector];
    faults[IllegalWaitStore]  = h.wait_store > earlier[QStore];
    faults[IllegalMany]       = earlier[queue_of(h.op)] == '1;
  endfunction
  info_t cmd_faults;
  assign cmd_faults = faults(cmd, of_q, after_q);

  // ---- requests
  `FV_ASSERT(a_addr, !req_valid || req_addr == {base_q + 34'(asked_q), 6'b0})
  `FV_ASSERT(a_bytes, !req_valid || (req_bytes != '0 && req_bytes[5:0] == '0 && 32'(req_bytes) <= 64 * Chunk))
  `FV_ASSERT(a_program, !req_valid || 32'(asked_q) + 32'(req_bytes / 64) <= 32'(count_q))
  `FV_ASSERT(a_ahead, 32'(asked_q) - 32'(handed_q) <= Ahead + 1)
  `FV_ASSERT(a_taken, rsp_ready && (!(rsp_valid_i && last) || dut.u_ahead.in_ready_o))
  logic        wait_q;
  logic [59:0] wanted_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wait_q <= 1'b0;
    else wait_q <= req_valid && !req_ready_i && !stop_i;
  end
  always_ff @(posedge clk_i) wanted_q <= {req_addr, req_bytes};
  `FV_ASSERT(a_hold, !wait_q || (req_valid && {req_addr, req_bytes} == wanted_q))

  // ---- commands
  logic hold_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) hold_q <= 1'b0;
    else hold_q <= cmd_valid && !cmd_ready_i && !stop_i;
  end
  `FV_ASSERT(a_stay, !hold_q || cmd_valid)
  `FV_ASSERT(a_legal, !cmd_valid || cmd_faults == '0)
  `FV_ASSERT(a_index, cmd_index == number_q && next_index == number_q)
  `FV_ASSERT(a_extension, !cmd_valid || (after_q ? header.op == OpConv &&
             {cmd_extension.table_word, cmd_extension.look_up, cmd_extension.last_groups, cmd_extension.passes, cmd_extension.pitch,
              cmd_extension.first} == {2'b0, extension_q[60:0]} :
             cmd_extension == '0))
  `FV_ASSERT(a_done, done == (handed_q == count_q))
  `FV_ASSERT(a_after, !cmd_valid || (!reported_q && !illegal && handed_q < got_q))
  `FV_ASSERT(a_blocked, blocked == (cmd_valid && !cmd_ready_i))
  `FV_ASSERT(a_stopped, !stopped_q || (!req_valid && !cmd_valid))

  // ---- errors: the command that would have come next is at fault
  logic bad_now_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) bad_now_q <= 1'b0;
    else bad_now_q <= rsp_valid_i && rsp_error_i && !bad_q;
  end
  `FV_ASSERT(a_bus_error, bus_error == bad_now_q && (!bus_error || (error_index == got_numbers_q && error_info == '0)))
  `FV_ASSERT(a_illegal, !illegal || (!reported_q && (bus_error ||
             (error_index == number_q && error_info == cmd_faults && cmd_faults != '0))))

  // ---- it never stands still: a command inside moves on; with nothing inside or on its way, the next is asked for
  logic could_q, absorbed_q;
  wire  some = dut.u_ahead.level_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) absorbed_q <= 1'b0;
    else absorbed_q <= absorb;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) could_q <= 1'b0;
    else could_q <= some && !dut.halted_q && !stop_i && (!cmd_valid || cmd_ready_i);
  end
  `FV_ASSERT(a_moves, !could_q || cmd_valid || illegal || absorbed_q)
  `FV_ASSERT(a_halts, !dut.halted_q || illegal || reported_q)
  `FV_ASSERT(a_asks, bad_q || stopped_q || asked_q == count_q || some || owed_q != '0 || req_valid)

  // ---- the clock may stand still without active_o: nothing would have changed
  logic         still_q;
  logic [511:0] cmd_h;
  logic [322:0] state, state_h;
  assign state = 340'({dut.extended_q, cmd_extension, dut.next_q, dut.todo_q, dut.room_q, dut.beat_q, dut.received_q, dut.failed_q, dut.left_q, dut.valid_q,
                       dut.halted_q, dut.index_q, dut.seen_q[0], dut.seen_q[1], dut.seen_q[2], dut.seen_q[3],
                       dut.u_ahead.level_q, illegal, bus_error, error_index, error_info});
  always_ff @(posedge clk_i) begin
    still_q <= rst_ni && !active;
    state_h <= state;
    cmd_h   <= cmd;
  end
  `FV_ASSERT(a_still, Data || !(past_ok_q && still_q) || (state == state_h && cmd == cmd_h))

  // ---- the followed command: 0 none, 1 some of its beats are here, 2 all are
  logic [1:0]   follow_q;
  index_t       order_q;
  logic [511:0] data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) follow_q <= 2'd0;
    else if (start_i) follow_q <= 2'd0;
    else if (rsp_valid_i && follow_q != 2'd2) begin
      if (rsp_error_i || bad_q) follow_q <= 2'd0;
      else if (dut.beat_q == '0) follow_q <= !pick_i ? 2'd0 : last ? 2'd2 : 2'd1;
      else if (last && follow_q == 2'd1) follow_q <= 2'd2;
    end
  end
  always_ff @(posedge clk_i) begin
    if (rsp_valid_i && follow_q != 2'd2) begin
      if (dut.beat_q == '0) order_q <= got_q;
      data_q[dut.beat_q*AxiW+:AxiW] <= rsp_data_i;
    end
  end
  `FV_ASSERT(a_data, !Data || !(cmd_valid && follow_q == 2'd2 && order_q == handed_q) || cmd == data_q)
  `FV_ASSERT(a_fault, !Data || !(illegal && !bus_error && follow_q == 2'd2 && order_q == handed_q) || cmd == data_q)

  // ---- invariants
  localparam int unsigned RoomW = $clog2(Ahead + 1);
  localparam int unsigned FifoW = (Ahead > 2) ? $clog2(Ahead - 1) : 1;
  logic [RoomW-1:0] level, on_way, place;
  logic [FifoW-1:0] rp, wp;
  assign level  = dut.u_ahead.level_q;
  assign on_way = RoomW'((32'(owed_q) + 32'(dut.beat_q)) / Beats);  // commands, wholly or in part
  assign place  = RoomW'(order_q - (got_q - index_t'(level)));      // words in front of the followed one
  assign rp     = dut.u_ahead.gen_lut.rp_q;
  assign wp     = dut.u_ahead.gen_lut.wp_q;
  logic [511:0] stored;
  assign stored = (place == '0) ? dut.u_ahead.out_data_o : dut.u_ahead.gen_lut.mem[FifoW'(rp + FifoW'(place - 1'b1))];
  wire  in_fifo = follow_q == 2'd2 && got_q - order_q <= index_t'(level);

  `FV_ASSERT(i_idle, started_q || (count_q == '0 && asked_q == '0 && got_q == '0 && handed_q == '0 && owed_q == '0))
  `FV_ASSERT(i_most, 32'(count_q) <= Most && 32'(asked_q) <= Most && 32'(got_q) <= Most && 32'(handed_q) <= Most)
  `FV_ASSERT(i_todo, dut.todo_q == (stopped_q ? '0 : count_q - asked_q) && asked_q <= count_q)
  `FV_ASSERT(i_next, !started_q || dut.next_q == base_q + 34'(asked_q))
  `FV_ASSERT(i_beats, owed_t'(owed_q + owed_t'(dut.beat_q)) % owed_t'(Beats) == '0 &&
             32'(owed_q) <= 32'(Ahead * Beats) && 32'(dut.beat_q) < Beats && (dut.beat_q == '0 || owed_q != '0))
  `FV_ASSERT(i_failed, dut.failed_q == bad_q && dut.received_q == got_numbers_q)
  `FV_ASSERT(i_room, 32'(dut.room_q) + 32'(on_way) + 32'(level) <= Ahead &&
             (bad_q || 32'(dut.room_q) + 32'(on_way) + 32'(level) == Ahead))
  `FV_ASSERT(i_asked, got_q <= asked_q && index_t'(on_way) <= asked_q - got_q &&
             (bad_q || index_t'(on_way) == asked_q - got_q) && (!bad_q || got_q < asked_q))
  `FV_ASSERT(i_got, handed_q <= got_q && (stopped_q ? index_t'(level) + index_t'(dut.halted_q) <= got_q - handed_q :
             got_q - handed_q == index_t'(level) + index_t'(dut.valid_q) + index_t'(dut.halted_q)))
  `FV_ASSERT(i_lost, !bad_q || 32'(asked_q - got_q) + 32'(level) + 32'(dut.room_q) <= Ahead)
  `FV_ASSERT(i_left, dut.left_q == count_q - handed_q && dut.index_q == number_q)
  `FV_ASSERT(i_extended, dut.extended_q == before_q && (!dut.valid_q || !before_q) && (!before_q || stopped_q || dut.halted_q ||
             {dut.extension_q.table_word, dut.extension_q.look_up, dut.extension_q.last_groups, dut.extension_q.passes,
              dut.extension_q.pitch, dut.extension_q.first} == {2'b0, extension_q[60:0]}))
  `FV_ASSERT(i_halted, dut.halted_q == (reported_q || illegal) && !(dut.halted_q && dut.valid_q))
  `FV_ASSERT(i_fifo, 32'(level) <= Ahead && dut.u_ahead.out_valid_q == (level != '0) &&
             FifoW'(wp - rp) == FifoW'(level - RoomW'(level != '0)))
  for (genvar q = 0; q < int'(Queues); q++) begin : g_seen
    `FV_ASSERT(i_of, 32'(of_q[q]) <= 32'(handed_q))
    `FV_ASSERT(i_seen, stopped_q || dut.seen_q[q] == of_q[q] + count_t'(dut.valid_q && queue_of(header.op) == 2'(q)))
  end
  `FV_ASSERT(i_collect, follow_q != 2'd1 || (dut.beat_q != '0 && order_q == got_q && !bad_q))
  if (Beats == 2) begin : g_two
    `FV_ASSERT(i_op, dut.beat_q == '0 || op_q == dut.gen_assemble.earlier_q[3:0])
    `FV_ASSERT(i_part, !Data || follow_q != 2'd1 || dut.gen_assemble.earlier_q == data_q[AxiW-1:0])
  end
  `FV_ASSERT(i_follow, follow_q != 2'd2 || order_q < got_q)
  `FV_ASSERT(i_stored, !Data || !in_fifo || stored == data_q)
  `FV_ASSERT(i_head, !Data || !(follow_q == 2'd2 && order_q == handed_q && (dut.valid_q || dut.halted_q)) || cmd == data_q)

  logic full_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) full_q <= 1'b0;
    else full_q <= full_q || 32'(level) == Ahead;
  end
  `FV_COVER(c_done, done && count_q == index_t'(3) && header.op == OpStore && header.wait_load == 20'd1 && full_q)
  `FV_COVER(c_extension, hand && after_q && cmd_extension.first == 16'd5 && number_q == index_t'(1))
  `FV_COVER(c_wait, illegal && error_info == 9'h008 && handed_q == index_t'(1))
  `FV_COVER(c_bus_error, bus_error && got_q == index_t'(1) && cmd_valid)
  `FV_COVER(c_second_run, started_q && start_i && count_q != '0)
  `FV_COVER(c_follow, hand && follow_q == 2'd2 && order_q == handed_q && order_q == index_t'(1))
endmodule
