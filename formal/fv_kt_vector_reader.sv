// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Reader of the vector engine with any command: the nine accesses of a request never meet in a bank and name existing banks,
// a request holds all cells of the column that are inside the map and the kernel, no other, and it is the one whose turn it
// is: tiles of rows of windows of kernel tiles, from left to right and downwards, of steps, each cell at its word of its row; of a pair of operands, which the
// command promises to be apart, the second stands in the place of the second row. The model counts upwards, the reader down.
module fv_kt_vector_reader
  import kt_pkg::*;
  import kt_vector_pkg::*;
(
  input logic      clk_i,
  input logic      rst_ni,
  input logic      start_i,
  input vec_cmd_t  cmd_i,
  input vec_plan_t plan_i,
  input logic      rd_i
);
  vec_cmd_t   cmd_q;
  vec_plan_t  plan_q;
  logic       start_q, started_q;
  logic       ready, first, last;
  logic [1:0] operand;
  bank_req_t  req[9];
  logic [2:0] off_map, missing;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {start_q, started_q} <= 2'b00;
    else begin
      start_q   <= start_i;
      started_q <= start_q || (started_q && !start_i);
    end
  always_ff @(posedge clk_i)
    if (start_i) begin
      cmd_q  <= cmd_i;
      plan_q <= plan_i;
    end

  wire rd = rd_i && ready && started_q && !start_q;
  kt_vector_reader dut (
    .clk_i,
    .start_i  (start_q),
    .cmd_i    (cmd_q),
    .plan_i   (plan_q),
    .rd_i     (rd),
    .ready_o  (ready),
    .first_o  (first),
    .last_o   (last),
    .operand_o(operand),
    .rd_req_o (req),
    .off_map_o(off_map),
    .missing_o(missing)
  );
  `include "fv_reset.svh"

  `FV_ASSUME(m_words, cmd_i.pixel.mod < 4'd9 && cmd_i.operand_step.mod < 4'd9 && plan_i.origin.mod < 4'd9 && plan_i.window_step.mod < 4'd9)
  function automatic logic tiles_ok(vec_plan_t plan);
    return plan.last_tile <= 2'd2 && (plan.stream || plan.last_tile == 2'd0) && plan.tile_start[0] == '0 &&
           plan.tile_start[1].mod < 4'd9 && plan.tile_start[2].mod < 4'd9;
  endfunction
  `FV_ASSUME(m_tiles, tiles_ok(plan_i))
  `FV_ASSUME(m_mod3, cmd_i.top_mod3 < 2'd3 && cmd_i.mod3_2 < 2'd3 && plan_i.stride_mod3 < 2'd3)
  // banks from the first operand's word to the second's
  function automatic logic [5:0] distance(vec_cmd_t cmd);
    return (6'(cmd.operand_step.mod) + 6'd3 * (6'd3 + 6'(cmd.mod3_2) - 6'(cmd.top_mod3))) % 6'd9;
  endfunction
  function automatic logic pair_ok(vec_cmd_t cmd, vec_plan_t plan);
    return !cmd.pair || (cmd.kind == KindAdd && !cmd.broadcast && cmd.kernel_rows == 8'd1 && plan.kernel_tiles == 7'd1 &&
                         plan.last_tile == 2'd0 && plan.steps[0] == 10'd1 && distance(cmd) >= 6'd3 && distance(cmd) <= 6'd6);
  endfunction
  `FV_ASSUME(m_pair, pair_ok(cmd_i, plan_i))

  logic rd_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) rd_q <= 1'b0;
    else rd_q <= rd;

  for (genvar t = 0; t < 9; t++) begin : g_req
    `FV_ASSERT(a_bank, !rd_q || !req[t].en || req[t].bank < 4'd9)
    `FV_ASSERT(a_cell, !rd_q || req[t].en == (!off_map[t / 3] && !missing[t / 3]))
    for (genvar u = 0; u < t; u++) begin : g_other
      `FV_ASSERT(a_alone, !rd_q || !req[t].en || !req[u].en || req[t].bank != req[u].bank)
    end
  end

  `FV_ASSERT(i_words, !(start_q || started_q) || (cmd_q.pixel.mod < 4'd9 && cmd_q.operand_step.mod < 4'd9 && plan_q.origin.mod < 4'd9
      && plan_q.window_step.mod < 4'd9 && cmd_q.top_mod3 < 2'd3 && cmd_q.mod3_2 < 2'd3 && plan_q.stride_mod3 < 2'd3
      && pair_ok(cmd_q, plan_q) && tiles_ok(plan_q)))
  `FV_ASSERT(i_position, !started_q || (dut.pos_q.mod < 4'd9 && dut.window_pos_q.mod < 4'd9 && dut.origin_q.mod < 4'd9 &&
      (start_q || !cmd_q.pair || (dut.pair_pos_q.mod < 4'd9 && dut.pair_origin_q.mod < 4'd9))
      && dut.mod3_q < 2'd3 && dut.operand_mod3_q < 2'd3))

  // ---- whose turn it is, counted upwards
  logic [9:0] step_q, window_q, row_q, tile_q;
  logic [6:0] kernel_tile_q;  // of three rows
  logic [1:0] side_q;         // in them
  logic       done_q;
  logic [3:0] since_q;  // cycles in this row of windows, up to the stride
  wire is_add     = cmd_q.kind == KindAdd;
  wire step_end   = step_q + 10'd1 == plan_q.steps[side_q];
  wire rows_end   = step_end && side_q == plan_q.last_tile;
  wire [1:0] next_side = rows_end ? 2'd0 : side_q + 2'd1;
  wire window_end = rows_end && kernel_tile_q + 7'd1 == plan_q.kernel_tiles;
  wire row_end    = window_end && window_q + 10'd1 == plan_q.windows;
  wire tile_end   = row_end && row_q + 10'd1 == cmd_q.rows;
  always_ff @(posedge clk_i)
    if (start_q) begin
      {step_q, window_q, row_q, tile_q, kernel_tile_q, side_q} <= '0;
      done_q  <= 1'b0;
      since_q <= '0;
    end else begin
      if (rd && row_end) since_q <= '0;
      else if (since_q != cmd_q.stride - 4'd1) since_q <= since_q + 4'd1;
      if (rd) begin
        step_q <= step_end ? '0 : step_q + 10'd1;
        if (step_end) side_q <= next_side;
        if (rows_end) kernel_tile_q <= window_end ? '0 : kernel_tile_q + 7'd1;
        if (window_end) window_q <= row_end ? '0 : window_q + 10'd1;
        if (row_end) row_q <= tile_end ? '0 : row_q + 10'd1;
        if (tile_end) begin
          tile_q <= tile_q + 10'd1;
          done_q <= tile_q + 10'd1 == cmd_q.tiles;
        end
      end
    end

  // ---- where that is: words and column of the step, the window and the row; rows of the kernel tile, the row and the next one
  `include "fv_places.svh"
  word_t              word_q, window_word_q, row_word_q;
  logic signed [11:0] column_q, window_column_q;
  logic signed [12:0] first_row_q;
  logic [1:0]         mod3_q, operand_mod3_q;
  addr_t              slot_q[3], row_slot_q[3], next_slot_q[3], operand_slot_q;
  wire signed [11:0] first_column = plan_q.stream ? 12'sd0 : -12'(cmd_q.pad_left);
  wire word_t         tile_word   = plus(row_word_q, '{div: 14'd0, mod: 4'd3});
  wire word_t         window_word = plus(window_word_q, plan_q.window_step);
  always_ff @(posedge clk_i)
    if (start_q) begin
      word_q          <= plan_q.origin;
      window_word_q   <= plan_q.origin;
      row_word_q      <= plan_q.origin;
      column_q        <= first_column;
      window_column_q <= first_column;
    end else if (rd) begin
      if (tile_end) row_word_q <= tile_word;
      if (window_end) begin
        word_q          <= tile_end ? tile_word : row_end ? row_word_q : window_word;
        window_word_q   <= tile_end ? tile_word : row_end ? row_word_q : window_word;
        column_q        <= row_end ? first_column : window_column_q + 12'(cmd_q.stride);
        window_column_q <= row_end ? first_column : window_column_q + 12'(cmd_q.stride);
      end else if (step_end) begin
        word_q   <= !is_add ? plus(window_word_q, plan_q.tile_start[next_side]) : plus(cmd_q.broadcast ? row_word_q : word_q, cmd_q.operand_step);
        column_q <= window_column_q;
      end else begin
        word_q   <= plus(word_q, cmd_q.pixel);
        column_q <= column_q + 12'sd1;
      end
    end
  always_ff @(posedge clk_i)
    if (start_q || (rd && tile_end)) begin
      first_row_q    <= 13'(cmd_q.top_row);
      mod3_q         <= cmd_q.top_mod3;
      operand_mod3_q <= cmd_q.mod3_2;
      operand_slot_q <= cmd_q.slot2;
      for (int unsigned r = 0; r < 3; r++) begin
        slot_q[r]      <= plan_q.slots[r];
        row_slot_q[r]  <= plan_q.slots[r];
        next_slot_q[r] <= plan_q.slots[r+1];
      end
    end else begin
      if (rd && row_end) begin
        first_row_q    <= first_row_q + 13'(cmd_q.stride);
        mod3_q         <= 2'((3'(mod3_q) + 3'(plan_q.stride_mod3)) % 3'd3);
        if (!cmd_q.broadcast) operand_mod3_q <= 2'((3'(operand_mod3_q) + 3'(plan_q.stride_mod3)) % 3'd3);
        operand_slot_q <= below(cmd_q.ring2, operand_slot_q);
        slot_q         <= next_slot_q;
        row_slot_q     <= next_slot_q;
      end else if (rd && window_end) begin
        slot_q <= row_slot_q;
      end else if (rd && rows_end) begin
        if (is_add) slot_q <= '{operand_slot_q, '0, '0};
        else begin
          slot_q[0] <= below(cmd_q.ring, slot_q[2]);
          slot_q[1] <= below(cmd_q.ring, below(cmd_q.ring, slot_q[2]));
          slot_q[2] <= below(cmd_q.ring, below(cmd_q.ring, below(cmd_q.ring, slot_q[2])));
        end
      end
      // a row further down for each row of the stride but the first, which is one further down already
      if ((rd && row_end) || since_q != cmd_q.stride - 4'd1) begin
        next_slot_q[0] <= next_slot_q[1];
        next_slot_q[1] <= next_slot_q[2];
        next_slot_q[2] <= below(cmd_q.ring, next_slot_q[2]);
      end
    end

  wire live = started_q && !start_q;
  `FV_ASSERT(a_ready, !live || ready == (!done_q && (!row_end || since_q == cmd_q.stride - 4'd1)))
  `FV_ASSERT(a_first, !live || first == (step_q == '0 && side_q == '0 && kernel_tile_q == '0))
  `FV_ASSERT(a_last, !live || last == window_end)
  `FV_ASSERT(a_operand, !live || operand == (is_add ? kernel_tile_q[1:0] : 2'd0))

  // ---- what is asked for there
  wire signed [12:0] row = first_row_q + (is_add ? 13'sd0 : 13'(kernel_tile_q) * 13'sd3);
  wire [1:0]         rot = (is_add && kernel_tile_q[1:0] != '0) ? operand_mod3_q : mod3_q;
  wire word_t        second = plus(word_q, cmd_q.operand_step);
  bank_req_t  req_due_q[9];
  logic [2:0] off_map_due_q, missing_due_q;
  always_ff @(posedge clk_i)
    for (int unsigned r = 0; r < 3; r++) begin
      off_map_due_q[r] <= row + 13'(r) < 0 || row + 13'(r) >= $signed(13'(cmd_q.in_height)) || column_q < 0 ||
                          column_q >= $signed(12'(cmd_q.in_width));
      missing_due_q[r] <= (is_add ? 9'd0 : 9'(8'(kernel_tile_q * 8'd3))) + 9'(r) >= 9'(cmd_q.kernel_rows);
      for (int unsigned g = 0; g < 3; g++) begin
        req_due_q[3*r+g].en   <= 1'b1;  // a_cell
        req_due_q[3*r+g].bank <= 4'((6'(word_q.mod) + 6'(g) + 6'd3 * 6'((3'(rot) + 3'(r)) % 3'd3)) % 6'd9);
        req_due_q[3*r+g].addr <= slot_q[r] + 16'(word_q.div) + 16'((6'(word_q.mod) + 6'(g)) / 6'd9);
        if (cmd_q.pair && r == 1) begin
          req_due_q[3*r+g].bank <= 4'((6'(second.mod) + 6'(g) + 6'd3 * 6'(operand_mod3_q)) % 6'd9);
          req_due_q[3*r+g].addr <= operand_slot_q + 16'(second.div) + 16'((6'(second.mod) + 6'(g)) / 6'd9);
        end
      end
      if (cmd_q.pair && r == 1) begin
        off_map_due_q[r] <= row < 0 || row >= $signed(13'(cmd_q.in_height)) || column_q < 0 ||
                            column_q >= $signed(12'(cmd_q.in_width));
        missing_due_q[r] <= 1'b0;
      end
    end
  `FV_ASSERT(a_off_map, !rd_q || off_map == off_map_due_q)
  `FV_ASSERT(a_missing, !rd_q || missing == missing_due_q)
  for (genvar t = 0; t < 9; t++) begin : g_due
    `FV_ASSERT(a_req, !rd_q || !req[t].en || req[t] == req_due_q[t])
  end

  // ---- the reader's counters are the model's
  `FV_ASSERT(i_counts, !live || (dut.step_q == plan_q.steps[side_q] - 10'd1 - step_q && dut.side_q == side_q && dut.kernel_tile_q == plan_q.kernel_tiles - 7'd1 - kernel_tile_q &&
      dut.window_q == plan_q.windows - 10'd1 - window_q && dut.row_q == cmd_q.rows - 10'd1 - row_q && (done_q ||
      dut.tile_q == cmd_q.tiles - 10'd1 - tile_q) && dut.done_q == done_q && dut.walk_q == cmd_q.stride - 4'd1 - since_q))
  `FV_ASSERT(i_bounds, !live || (step_q <= plan_q.steps[side_q] - 10'd1 && side_q <= plan_q.last_tile && kernel_tile_q <= plan_q.kernel_tiles - 7'd1))
  `FV_ASSERT(i_place, !live || (dut.pos_q == word_q && dut.window_pos_q == window_word_q && dut.origin_q == row_word_q &&
      dut.column_q == column_q && dut.window_column_q == window_column_q))
  `FV_ASSERT(i_last, !live || (dut.step_last_q == (dut.step_q == '0) && dut.side_last_q == (dut.side_q == plan_q.last_tile) &&
      dut.kernel_tile_last_q == (dut.kernel_tile_q == '0) && dut.window_last_q == (dut.window_q == '0) && dut.row_last_q == (dut.row_q == '0) &&
      (done_q || dut.tile_last_q == (dut.tile_q == '0))))
  `FV_ASSERT(i_pair, !live || !cmd_q.pair || (dut.pair_pos_q == plus(word_q, cmd_q.operand_step) &&
      dut.pair_origin_q == plus(row_word_q, cmd_q.operand_step) && word_q == window_word_q))
  `FV_ASSERT(i_rows, !live || (dut.top_window_q == first_row_q && dut.top_q == row && dut.mod3_q == mod3_q && dut.operand_mod3_q == operand_mod3_q &&
      dut.tap_row_q == (is_add ? 8'd0 : 8'(kernel_tile_q * 8'd3)) && dut.operand_slot_q == operand_slot_q))
  for (genvar r = 0; r < 3; r++) begin : g_slots
    `FV_ASSERT(i_slots, !live || (dut.slot_q[r] == slot_q[r] && dut.top_slot_q[r] == row_slot_q[r] && dut.next_slot_q[r] == next_slot_q[r]))
  end

  `FV_COVER(c_all, rd_q && off_map == 3'b000 && missing == 3'b000)
  // both operands' rows go on alike, so their distance stays
  `FV_ASSERT(i_turn, !live || cmd_q.broadcast || (3'(operand_mod3_q) + 3'(cmd_q.top_mod3)) % 3'd3 == (3'(mod3_q) + 3'(cmd_q.mod3_2)) % 3'd3)

  `FV_COVER(c_pair, rd_q && cmd_q.pair && off_map == 3'b000)
  `FV_COVER(c_operand, rd_q && operand == 2'd3)
  `FV_COVER(c_side, rd_q && side_q == 2'd2 && kernel_tile_q == 7'd1 && off_map == 3'b000)
  `FV_COVER(c_kernel_tile, rd_q && missing == 3'b110 && off_map == 3'b000 && cmd_q.kernel_rows == 8'd4)
endmodule
