// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Slot sequencer of the vector engine behind kt_vector_setup, with any command and any behaviour of reader, loader and
// result writer:
//   a result takes a credit; a command has exactly columns * rows * tiles results, in the order it counts them, and ends
//   with the last; a streamed window finds its columns requested and none of them overwritten in the ring of four;
//   a step names its place in the map, its weights and what is outside.
// The model counts results upwards in three nested counters, the sequencer counts down.
module fv_kt_vector_seq
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
(
  input logic      clk_i,
  input logic      rst_ni,
  input logic     offer_i,     // a command
  input vec_cmd_t cmd_i,
  input logic     rd_ready_i,
  input logic     rd_first_i,
  input logic     rd_last_i,
  input logic [1:0] rd_operand_i,
  input logic     loaded_i,
  input logic     credit_i
);
  vec_cmd_t           cmd_q;
  vec_plan_t          plan_q;
  logic               start_q, busy, finish, rd, take;
  logic [1:0]         rd_column;
  vec_token_t         token;
  addr_t              weight_row;
  logic signed [11:0] column;
  logic signed [12:0] row;

  vec_cmd_t  next_cmd;
  vec_plan_t next_plan;
  logic      next_valid, next_ready;
  wire take_cmd = next_ready && !start_q && (!busy || finish);
  kt_vector_setup u_setup (
    .clk_i,
    .rst_ni,
    .start_i(offer_i && !next_valid),
    .cmd_i,
    .take_i (take_cmd),
    .valid_o(next_valid),
    .ready_o(next_ready),
    .cmd_o  (next_cmd),
    .plan_o (next_plan)
  );

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) start_q <= 1'b0;
    else start_q <= take_cmd;
  always_ff @(posedge clk_i)
    if (take_cmd) begin
      cmd_q  <= next_cmd;
      plan_q <= next_plan;
    end

  kt_vector_seq dut (
    .clk_i,
    .rst_ni,
    .start_i     (start_q),
    .cmd_i       (cmd_q),
    .plan_i      (plan_q),
    .busy_o      (busy),
    .finish_o    (finish),
    .rd_ready_i,
    .rd_first_i,
    .rd_last_i,
    .rd_operand_i,
    .rd_o        (rd),
    .rd_column_o (rd_column),
    .loaded_i,
    .credit_i,
    .take_o      (take),
    .token_o     (token),
    .weight_row_o(weight_row),
    .column_o    (column),
    .row_o       (row)
  );
  `include "fv_reset.svh"

  `FV_ASSUME(m_size, cmd_i.columns != 0 && cmd_i.rows != 0 && cmd_i.tiles != 0 && cmd_i.in_width != 0 && cmd_i.stride != 0)

  // ---- model
  logic [9:0] x_q, y_q, tile_q;
  wire row_end  = x_q == cmd_q.columns - 10'd1;
  wire tile_end = row_end && y_q == cmd_q.rows - 10'd1;
  wire cmd_end  = tile_end && tile_q == cmd_q.tiles - 10'd1;
  always_ff @(posedge clk_i)
    if (start_q) {x_q, y_q, tile_q} <= '0;
    else if (take) begin
      x_q <= row_end ? '0 : x_q + 10'd1;
      if (row_end) y_q <= tile_end ? '0 : y_q + 10'd1;
      if (tile_end) tile_q <= tile_q + 10'd1;
    end

  `FV_ASSERT(a_credit, !take || credit_i)
  `FV_ASSERT(a_idle, busy || (!take && !rd && !token.valid))
  `FV_ASSERT(a_exact, finish == (take && cmd_end))
  `FV_ASSERT(a_last, token.last == take)
  `FV_ASSERT(a_take, take == (token.valid && (plan_q.stream || rd_last_i)))

  // ---- results of a table are three cycles apart, those that follow them four; the two tables take turns
  logic [2:0] since_q;  // cycles since the last such result, 4 and more
  logic       ended_q, second_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      since_q  <= 3'd4;
      ended_q  <= 1'b0;
      second_q <= 1'b0;
    end else begin
      if (take && token.look_up) begin
        since_q <= 3'd1;
        ended_q <= finish;
        if (finish) second_q <= !second_q;
      end else if (since_q < 3'd4) begin
        since_q <= since_q + 3'd1;
      end
    end
  `FV_ASSERT(a_pace, !take || since_q >= (ended_q ? 3'd4 : 3'd3))
  `FV_ASSERT(a_table, !token.valid || token.second == second_q)
  `FV_ASSERT(i_pace, 3'(dut.pace_q) + since_q == (ended_q ? 3'd4 : 3'd3) || (dut.pace_q == '0 && since_q >= (ended_q ? 3'd4 : 3'd3)))
  `FV_ASSERT(i_table, dut.second_q == second_q)
  `FV_ASSERT(a_loaded, !token.swap || loaded_i)

  // ---- ring: columns of the map that a streamed window covers are there, and not yet overwritten
  wire stream = busy && plan_q.stream;
  wire [3:0] requested = dut.pushed_q - dut.left_q + 4'(rd);  // from the window's left column on
  for (genvar c = 0; c < 3; c++) begin : g_ring
    `FV_ASSERT(a_there, !stream || !token.valid || token.off_map[c] || !token.columns[c] || requested > 4'(c))
    `FV_ASSERT(a_kept, !stream || !token.valid || token.off_map[c] || !token.columns[c]
      || requested - 4'(c) <= 4'd4)
  end

  // ---- steps: place in the map, columns of the ring, weights
  logic signed [11:0] at_column_q;
  logic signed [12:0] at_row_q;
  logic [1:0] requested_q, row_base_q;  // columns requested, mod 4; those before this row
  addr_t      tile_weights_q, steps_q;  // weights of the tile; steps of the window so far
  logic       fresh_q;                  // the next step is the tile's first
  wire signed [11:0] first_column = -12'(cmd_q.pad_left);
  always_ff @(posedge clk_i)
    if (start_q) begin
      at_column_q    <= first_column;
      at_row_q       <= 13'(cmd_q.top_row);
      requested_q    <= '0;
      row_base_q     <= '0;
      tile_weights_q <= cmd_q.weights;
      steps_q        <= '0;
      fresh_q        <= 1'b1;
    end else begin
      requested_q <= requested_q + 2'(rd);
      if (token.valid) fresh_q <= take && tile_end;
      if (token.valid) steps_q <= take ? '0 : steps_q + 16'd1;
      if (take) begin
        at_column_q <= row_end ? first_column : at_column_q + 12'(cmd_q.stride);
        if (row_end) at_row_q <= tile_end ? 13'(cmd_q.top_row) : at_row_q + 13'(cmd_q.stride);
        if (row_end) row_base_q <= row_base_q + plan_q.steps[1:0];
        if (tile_end) tile_weights_q <= tile_weights_q + steps_q + 16'd1;
      end
    end
  `FV_ASSERT(a_place, !busy || (column == at_column_q && row == at_row_q && weight_row == 16'(tile_weights_q + steps_q)))
  `FV_ASSERT(a_ring, !busy || rd_column == requested_q)
  `FV_ASSERT(a_swap, !token.valid || token.swap == (fresh_q && (tile_q == '0 || cmd_q.kind == KindDepthwise)))
  `FV_ASSERT(a_none, token.valid || (token == '0 && !take))
  `FV_ASSERT(a_copy, !token.valid || (token.kind == cmd_q.kind && token.element == cmd_q.element && token.look_up == cmd_q.look_up &&
      token.pad_value == cmd_q.pad_value && token.stream == plan_q.stream && token.operand == rd_operand_i))
  `FV_ASSERT(a_first, !token.valid || token.first == (plan_q.stream || rd_first_i || cmd_q.element == ElementProduct))
  `FV_ASSERT(a_left, !token.valid || token.left == (plan_q.stream ? 2'(row_base_q + 2'(at_column_q)) : requested_q))
  for (genvar c = 0; c < 3; c++) begin : g_cell
    `FV_ASSERT(a_cell, !token.valid || (!plan_q.stream ? !token.off_map[c] && token.columns[c] == (c == 0) && token.rows[c] :
        token.off_map[c] == (at_column_q + 12'(c) < 0 || at_column_q + 12'(c) >= $signed(12'(cmd_q.in_width))) &&
        token.columns[c] == (cmd_q.kernel_columns > 8'(c)) && token.rows[c] == (cmd_q.kernel_rows > 8'(c))))
  end
  // nothing but permission and the table's pace holds it up
  `FV_ASSERT(a_goes, !(busy && loaded_i && credit_i && rd_ready_i && since_q >= 3'd4) || rd || token.valid)
  `FV_ASSERT(i_steps, !busy || (dut.tile_weight_q == tile_weights_q && dut.pushed_q[1:0] == requested_q && dut.base_q[1:0] == row_base_q &&
      dut.tile_start_q == fresh_q && dut.first_tile_q == (tile_q == '0)))

  // ---- invariants
  wire signed [13:0] at = (cmd_q.stride == 4'd2 ? 14'({x_q, 1'b0}) : 14'(x_q)) - 14'(cmd_q.pad_left);
  wire signed [13:0] q_last = (cmd_q.stride == 4'd2 ? 14'({cmd_q.columns - 10'd1, 1'b0}) : 14'(cmd_q.columns - 10'd1))
                            - 14'(cmd_q.pad_left);
  wire signed [13:0] q_end = q_last + 14'(cmd_q.kernel_columns);
  wire active = busy || start_q;
  `FV_ASSERT(i_one, !(busy && start_q))
  `FV_ASSERT(i_next, !next_valid || (next_cmd.columns != 0 && next_cmd.rows != 0 && next_cmd.tiles != 0
      && next_cmd.in_width != 0 && next_cmd.stride != 0))
  `FV_ASSERT(i_size, !active
      || (cmd_q.columns != 0 && cmd_q.rows != 0 && cmd_q.tiles != 0 && cmd_q.in_width != 0))
  `FV_ASSERT(i_stream, !active || !plan_q.stream
      || ((cmd_q.stride == 4'd1 || cmd_q.stride == 4'd2) && 8'(cmd_q.stride) < cmd_q.kernel_columns
          && cmd_q.kernel_columns <= 8'd3 && 8'(cmd_q.pad_left) < cmd_q.kernel_columns
          && q_last < $signed(14'(cmd_q.in_width))
          && $signed(14'(plan_q.steps)) == (q_end < $signed(14'(cmd_q.in_width)) ? q_end : $signed(14'(cmd_q.in_width)))))
  `FV_ASSERT(i_count, !busy
      || (11'(dut.x_q) + 11'(x_q) + 11'd1 == 11'(cmd_q.columns) && 11'(dut.y_q) + 11'(y_q) + 11'd1 == 11'(cmd_q.rows)
          && 11'(dut.tile_q) + 11'(tile_q) + 11'd1 == 11'(cmd_q.tiles)))
  `FV_ASSERT(i_column, !stream || 14'(column) == at)
  `FV_ASSERT(i_left, !stream || dut.left_q == dut.base_q + column[3:0])
  // columns outside the map on the left are never requested, so they do not fill the ring
  `FV_ASSERT(i_held, !stream || $signed({1'b0, dut.held}) + $signed(column < 0 ? column[4:0] : 5'd0) <= 5'sd4)
  `FV_ASSERT(i_behind, !stream || dut.held <= 4'd6)

  // ---- the interesting states can be reached
  logic [1:0] commands_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) commands_q <= '0;
    else if (finish && commands_q != 2'd3) commands_q <= commands_q + 2'd1;
  `FV_COVER(c_stream, commands_q == 2'd1 && finish && stream && cmd_q.stride == 4'd2 && cmd_q.pad_left == 4'd1
      && cmd_q.columns > 10'd1 && cmd_q.tiles > 10'd1)
  `FV_COVER(c_steps, commands_q == 2'd1 && finish && !plan_q.stream && cmd_q.rows > 10'd1)
  `FV_COVER(c_table, commands_q == 2'd1 && finish && cmd_q.look_up && stream)
  `FV_COVER(c_edge, stream && token.valid && token.off_map == 3'b101)
endmodule
