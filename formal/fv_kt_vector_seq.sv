// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
`ifdef FV_RING
  `define FV_HOLDS(name, what) `FV_ASSUME(name, !rst_ni || (what))
`else
  `define FV_HOLDS(name, what) `FV_ASSERT(name, what)
`endif
// Slot sequencer of the vector engine with any command, the plan that fv_kt_vector_setup proves of it, and any behaviour of reader,
// loaders and result writer:
//   a result takes a credit; a command has exactly columns * rows * tiles results, in the order it counts them, and ends
//   with the last; a streamed window finds its columns requested and none of them overwritten in the ring of four;
//   a step names its place in the map, its weights and what is outside;
//   of a large window every kernel tile comes once, from left to right and downwards, with its own weights; the first one's sum
//   is kept, each other one's is added to what was kept in the same place, three slots before or earlier, and the last one's is
//   the result.
// The model counts results and kernel tiles upwards in nested counters, the sequencer counts down. Tasks `ring` prove the ring, where all
// else holds: that is proven without it.
module fv_kt_vector_seq
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
(
  input logic      clk_i,
  input logic      rst_ni,
  input logic     offer_i,     // a command
  input vec_cmd_t cmd_i,
  input vec_plan_t plan_i,     // of it
  input logic     rd_ready_i,
  input logic     rd_first_i,
  input logic     rd_last_i,
  input logic [1:0] rd_operand_i,
  input logic     loaded_i,
  input logic     weights_loaded_i,
  input logic     credit_i,
  input logic [6:0] any_place_i  // looked at while a command runs
);
  vec_cmd_t           cmd_q;
  vec_plan_t          plan_q;
  logic               start_q, busy, finish, rd, take, again, other, none;
  logic [1:0]         rd_column;
  vec_token_t         token;
  addr_t              weight_row;
  logic signed [11:0] column;
  logic signed [12:0] row;

  wire take_cmd = offer_i && !start_q && (!busy || finish);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) start_q <= 1'b0;
    else start_q <= take_cmd;
  always_ff @(posedge clk_i)
    if (take_cmd) begin
      cmd_q  <= cmd_i;
      plan_q <= plan_i;
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
    .weights_loaded_i,
    .credit_i,
    .take_o      (take),
    .again_o     (again),
    .other_o     (other),
    .none_o      (none),
    .token_o     (token),
    .weight_row_o(weight_row),
    .column_o    (column),
    .row_o       (row)
  );
  `include "fv_reset.svh"


  `include "fv_kernel_tiles.svh"

  // ---- what a command and its plan promise (fv_kt_vector_setup: a_stream, a_last_tile, a_steps)
  function automatic logic plan_ok(vec_cmd_t cmd, vec_plan_t plan);
    automatic logic signed [13:0] last_end = last_window(cmd) + 14'(cmd.kernel_columns);
    automatic logic ok = cmd.columns != '0 && cmd.rows != '0 && cmd.tiles != '0 && cmd.in_width != '0 && cmd.stride != '0;
    ok &= plan.tiled == (plan.stream && is_tiled(cmd)) && plan.last_tile == (plan.tiled ? last_tile_of(cmd.kernel_columns[3:0]) : 2'd0);
    if (plan.tiled) begin
      for (int unsigned t = 0; t < 3; t++) ok &= 2'(t) > plan.last_tile || plan.steps[t] == tile_steps(cmd, 2'(t));
    end else if (plan.stream) begin
      ok &= (cmd.stride == 4'd1 || cmd.stride == 4'd2) && 8'(cmd.stride) < cmd.kernel_columns && cmd.kernel_columns <= 8'd3 &&
            8'(cmd.pad_left) < cmd.kernel_columns && last_window(cmd) < $signed(14'(cmd.in_width)) &&
            $signed(14'(plan.steps[0])) == (last_end < $signed(14'(cmd.in_width)) ? last_end : $signed(14'(cmd.in_width)));
    end
    return ok;
  endfunction
  wire active = busy || start_q;
  `FV_ASSUME(m_plan, !active || plan_ok(cmd_q, plan_q))  // as it was taken

  // ---- model
  logic [9:0] x_q, y_q, tile_q;
  logic [1:0] side_q, down_q;  // kernel tiles left of this one and above it
  wire [3:0] kernel_columns = cmd_q.kernel_columns[3:0];
  wire [1:0] last_side = plan_q.tiled ? last_tile_of(kernel_columns) : 2'd0;
  wire [1:0] last_down = (cmd_q.kernel_rows > 8'd6) ? 2'd2 : (cmd_q.kernel_rows > 8'd3) ? 2'd1 : 2'd0;
  wire [1:0] width     = tile_columns(kernel_columns, side_q);
  wire [3:0] offset    = tile_offset(kernel_columns, side_q);
  wire last_pass = !plan_q.tiled || (side_q == last_side && down_q == last_down);
  wire window   = token.valid && (plan_q.stream || rd_last_i);
  wire pass_end = x_q == cmd_q.columns - 10'd1;
  wire row_end  = pass_end && last_pass;
  wire tile_end = row_end && y_q == cmd_q.rows - 10'd1;
  wire cmd_end  = tile_end && tile_q == cmd_q.tiles - 10'd1;
  always_ff @(posedge clk_i)
    if (start_q) {x_q, y_q, tile_q, side_q, down_q} <= '0;
    else if (window) begin
      x_q <= pass_end ? '0 : x_q + 10'd1;
      if (pass_end && plan_q.tiled) begin
        side_q <= (side_q == last_side) ? 2'd0 : side_q + 2'd1;
        if (side_q == last_side) down_q <= last_pass ? 2'd0 : down_q + 2'd1;
      end
      if (row_end) y_q <= tile_end ? '0 : y_q + 10'd1;
      if (tile_end) tile_q <= tile_q + 10'd1;
    end

  `FV_HOLDS(a_credit, !take || credit_i)
  `FV_HOLDS(a_idle, busy || (!take && !rd && !token.valid))
  `FV_HOLDS(a_exact, finish == (take && cmd_end))
  `FV_HOLDS(a_last, token.last == take)
  `FV_HOLDS(a_take, take == (window && last_pass))

  // ---- the two tables take turns
  logic second_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) second_q <= 1'b0;
    else if (finish && token.look_up) second_q <= !second_q;
  `FV_HOLDS(a_table, !token.valid || token.second == second_q)
  `FV_HOLDS(i_table, dut.second_q == second_q)
  `FV_HOLDS(a_loaded, (!token.swap || loaded_i) && (!token.swap_weights || weights_loaded_i))

  // ---- sums of large windows: of any place
  logic [6:0] any_place_q;
  logic [1:0] age_q;   // slots since the sum was kept, 3 and more
  logic       kept_q;  // a sum of this row waits there
  wire here = token.valid && plan_q.tiled && token.place == any_place_q;
  always_ff @(posedge clk_i)
    if (start_q) begin
      kept_q    <= 1'b0;
      any_place_q <= any_place_i;
    end else begin
      if (here) kept_q <= token.keep;
      age_q <= (here && token.keep) ? 2'd1 : (age_q == 2'd3) ? 2'd3 : age_q + 2'd1;
    end
  wire first_pass = side_q == '0 && down_q == '0;
  `FV_HOLDS(a_kept, !here || (token.add_kept == kept_q && (!token.add_kept || age_q == 2'd3)))
  `FV_HOLDS(a_pass, !token.valid || (token.add_kept == !first_pass && token.keep == !last_pass))
  // which windows of the row have kept theirs: in this pass, and in the one before; the two windows before this one, in turn
  wire [9:0] any_x  = 10'(any_place_q);
  wire [9:0] last_x = cmd_q.columns - 10'd1;
  wire [9:0] x_1    = (dut.x_q == last_x) ? 10'd0 : dut.x_q + 10'd1;
  wire [9:0] x_2    = (x_1 == last_x) ? 10'd0 : x_1 + 10'd1;
  `FV_HOLDS(i_kept, !busy || !plan_q.tiled || kept_q == (any_x <= last_x && (any_x > dut.x_q ? !last_pass : !first_pass)))
  `FV_HOLDS(i_age, !busy || !plan_q.tiled || !kept_q || age_q == 2'd3 || (any_x == x_1 && age_q != 2'd0) || (any_x == x_2 && age_q == 2'd2))

  // ---- steps: place in the map, columns of the ring, weights
  logic signed [11:0] at_column_q;
  logic signed [12:0] at_row_q;
  logic [1:0] requested_q, row_base_q;  // columns requested, mod 4; those before this row
  addr_t      tile_weights_q, steps_q;  // weights of the tile; steps of the window so far
  logic       fresh_q;                  // the next step is the tile's first
  wire signed [11:0] first_column = -12'(cmd_q.pad_left);
  wire signed [11:0] tile_column  = at_column_q + 12'(plan_q.tiled ? offset : 4'd0);  // under the kernel tile's left column
  wire [3:0]         first_read   = plan_q.tiled ? tile_first(cmd_q, side_q) : 4'd0;
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
      if (token.valid) steps_q <= window ? '0 : steps_q + 16'd1;
      if (window) begin
        at_column_q <= pass_end ? first_column : at_column_q + 12'(cmd_q.stride);
        if (row_end) at_row_q <= tile_end ? 13'(cmd_q.top_row) : at_row_q + 13'(cmd_q.stride);
        if (pass_end) row_base_q <= row_base_q + plan_q.steps[side_q][1:0];
        if (tile_end) tile_weights_q <= tile_weights_q + steps_q + 16'd1;
      end
    end
  `FV_HOLDS(a_place, !busy || (column == at_column_q && row == at_row_q && weight_row == 16'(tile_weights_q + steps_q)))
  `FV_HOLDS(a_ring, !busy || rd_column == requested_q)
  // the weights change with the kernel tile, or with the tile where there is one
  wire needs_weights = plan_q.stream && cmd_q.kind == KindDepthwise && (plan_q.tiled ? x_q == '0 : fresh_q);
  wire last_row      = y_q == cmd_q.rows - 10'd1;
  wire last_tile     = tile_q == cmd_q.tiles - 10'd1;
  `FV_HOLDS(a_weights, !token.valid || token.swap_weights == needs_weights)
  `FV_HOLDS(a_behind, !token.swap_weights || (again == (plan_q.tiled && last_pass && !last_row) &&
      other == ((!plan_q.tiled || (last_pass && last_row)) && !last_tile) && none == ((!plan_q.tiled || (last_pass && last_row)) && last_tile)))
  `FV_HOLDS(a_swap, !token.valid || token.swap == (fresh_q && (tile_q == '0 || cmd_q.kind == KindDepthwise)))
  `FV_HOLDS(a_none, token.valid || (token == '0 && !take))
  `FV_HOLDS(a_copy, !token.valid || (token.kind == cmd_q.kind && token.element == cmd_q.element && token.look_up == cmd_q.look_up &&
      token.pad_value == cmd_q.pad_value && token.stream == plan_q.stream && token.operand == rd_operand_i))
  `FV_HOLDS(a_first, !token.valid || token.first == (plan_q.stream || rd_first_i || cmd_q.element == ElementProduct))
  `FV_HOLDS(a_left, !token.valid || token.left == (plan_q.stream ? 2'(row_base_q + 2'(tile_column) - first_read[1:0]) : requested_q))
  for (genvar c = 0; c < 3; c++) begin : g_cell
    `FV_HOLDS(a_cell, !token.valid || (!plan_q.stream ? !token.off_map[c] && token.columns[c] == (c == 0) && token.rows[c] :
        token.off_map[c] == (tile_column + 12'(c) < 0 || tile_column + 12'(c) >= $signed(12'(cmd_q.in_width))) &&
        token.columns[c] == (width > 2'(c)) && token.rows[c] == (9'(cmd_q.kernel_rows) > 9'(down_q) * 9'd3 + 9'(c))))
  end
  `FV_HOLDS(i_steps, !busy || (dut.tile_weight_q == tile_weights_q && dut.pushed_q == requested_q && (!plan_q.stream || dut.from_base_q[1:0] == 2'(requested_q - row_base_q - plan_q.steps[side_q][1:0])) &&
      dut.tile_start_q == fresh_q && dut.first_tile_q == (tile_q == '0)))

  // ---- invariants
  wire stream = busy && plan_q.stream;
  `FV_HOLDS(i_tile, !busy || (side_q <= last_side && down_q <= (plan_q.tiled ? last_down : 2'd0) && dut.side_q == side_q &&
      dut.first_pass_q == first_pass && dut.offset_q == (plan_q.tiled ? offset : 4'd0) && dut.tap_columns_q == kernel_columns - dut.offset_q &&
      dut.tap_rows_q == cmd_q.kernel_rows - 8'(down_q) * 8'd3 && (!plan_q.stream || dut.pass_start_q == (x_q == '0))))
  wire signed [13:0] at = (cmd_q.stride == 4'd2 ? 14'({x_q, 1'b0}) : 14'(x_q)) - 14'(cmd_q.pad_left) + 14'(plan_q.tiled ? offset : 4'd0);
  `FV_HOLDS(i_one, !(busy && start_q))
  `FV_HOLDS(i_count, !busy
      || (11'(dut.x_q) + 11'(x_q) + 11'd1 == 11'(cmd_q.columns) && 11'(dut.y_q) + 11'(y_q) + 11'd1 == 11'(cmd_q.rows)
          && 11'(dut.tile_q) + 11'(tile_q) + 11'd1 == 11'(cmd_q.tiles)))
  `FV_HOLDS(i_column, !stream || 14'(dut.column_q) == at)
  `FV_HOLDS(i_left, !stream || 4'(dut.from_base_q - dut.from_left_q) == 4'(dut.column_q[3:0] - first_read - plan_q.steps[side_q][3:0]))
  // columns of the map in the window's part of it, 3 for more; in this row's next window; in the next pass's first one, which is
  // known once windows of this pass have gone
  function automatic logic [1:0] clamped(logic signed [11:0] columns);
    return (columns <= 0) ? 2'd0 : (columns < 12'sd3) ? columns[1:0] : 2'd3;
  endfunction
  wire [1:0]         side_below = (side_q == last_side) ? 2'd0 : side_q + 2'd1;
  wire [1:0]         down_below = (side_q == last_side) ? down_q + 2'd1 : down_q;
  wire signed [11:0] left_below = (plan_q.tiled ? $signed(12'(tile_offset(kernel_columns, side_below))) : 12'sd0) - $signed(12'(cmd_q.pad_left));
  wire signed [11:0] edge_below = $signed(12'(cmd_q.in_width)) - left_below;
  logic signed [11:0] to_edge_q;  // columns of the map from the window's left one on
  wire signed [11:0] edge_next = to_edge_q - $signed(12'(cmd_q.stride));
  always_ff @(posedge clk_i)
    if (start_q) to_edge_q <= $signed(12'(cmd_q.in_width)) + $signed(12'(cmd_q.pad_left));
    else if (window) to_edge_q <= pass_end ? edge_below : edge_next;
  `FV_HOLDS(i_to_edge, !stream || to_edge_q == $signed(12'(cmd_q.in_width)) - dut.column_q)
  `FV_HOLDS(i_edge, !stream || (dut.inside_q == clamped(to_edge_q) && dut.next_edge_q == edge_next && dut.next_inside_q == clamped(edge_next)))
  `FV_HOLDS(i_left_below, !busy || (plan_q.tiled && x_q == '0) || (12'(dut.below_left_q) == left_below &&
      (!plan_q.stream || dut.below_steps_q == plan_q.steps[plan_q.tiled ? side_below : 2'd0][3:0]) &&
      (!plan_q.stream || dut.below_width_q == (plan_q.tiled ? tile_columns(kernel_columns, side_below) : cmd_q.kernel_columns[1:0])) &&
      dut.below_last_q == (!plan_q.tiled || (!last_pass && side_below == last_side && down_below == last_down))))
  `FV_HOLDS(i_edge_below, !stream || (plan_q.tiled && x_q < 10'd2) || (dut.below_edge_q == edge_below && dut.below_inside_q == clamped(edge_below)))
  `FV_HOLDS(i_last, !busy || (dut.x_last_q == (dut.x_q == '0) && dut.y_last_q == (dut.y_q == '0) && dut.tile_last_q == (dut.tile_q == '0) &&
      dut.last_pass_q == last_pass))

`ifdef FV_RING
  // ---- ring: columns of the map that a streamed window covers are there, and not yet overwritten
  wire [3:0] requested = dut.from_left_q + 4'(rd);  // from the window's left column on
  for (genvar c = 0; c < 3; c++) begin : g_ring
    `FV_ASSERT(a_there, !stream || !token.valid || token.off_map[c] || !token.columns[c] || requested > 4'(c))
    `FV_ASSERT(a_kept, !stream || !token.valid || token.off_map[c] || !token.columns[c]
      || requested - 4'(c) <= 4'd4)
  end
  // nothing but permission holds it up
  `FV_ASSERT(a_goes, !(busy && loaded_i && weights_loaded_i && credit_i && rd_ready_i) || rd || token.valid)
  // columns outside the map on the left are never requested, so they do not fill the ring
  `FV_ASSERT(i_held, !stream || $signed({1'b0, dut.held}) + $signed(dut.column_q < 0 ? dut.column_q[4:0] : 5'd0) <= 5'sd4)
  wire [1:0] need = (dut.inside_q < width) ? dut.inside_q : width;
  `FV_ASSERT(i_decided, !stream || (dut.room_q == (dut.held < 4'd4) && dut.enough_q == (dut.held >= 4'(need)) && dut.nearly_q == (dut.held + 4'd1 >= 4'(need))))
  `FV_ASSERT(i_behind, !stream || dut.held <= (plan_q.tiled ? 4'd12 : 4'd6))
`endif

  // ---- the interesting states can be reached
  logic [1:0] commands_q;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) commands_q <= '0;
    else if (finish && commands_q != 2'd3) commands_q <= commands_q + 2'd1;
  `FV_COVER(c_stream, commands_q == 2'd1 && finish && stream && cmd_q.stride == 4'd2 && cmd_q.pad_left == 4'd1
      && cmd_q.columns > 10'd1 && cmd_q.tiles > 10'd1)
  `FV_COVER(c_steps, commands_q == 2'd1 && finish && !plan_q.stream && cmd_q.rows > 10'd1)
  `FV_COVER(c_table, commands_q == 2'd1 && finish && cmd_q.look_up && stream)
  `FV_COVER(c_tiled, commands_q == 2'd1 && finish && plan_q.tiled && cmd_q.pad_left != '0 && cmd_q.kind == KindDepthwise)
  `FV_COVER(c_edge, stream && token.valid && token.off_map == 3'b101)
endmodule
