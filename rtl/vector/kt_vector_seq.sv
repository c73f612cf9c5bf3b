// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Slot sequencer of the vector engine. A slot may take one read and may emit one step; all stalls happen here, in
// order; the pipeline downstream never stalls.
//
// Window by window: a slot reads a column and emits it as a step of its window. A result costs
// ceil(kernel_rows / 3) * kernel_columns slots (Add: its operands, or one for a pair of them).
// Streamed: columns are read ahead into a ring of four and each step is a whole window. Columns are counted from the
// left one of the window to be emitted (modulo 16), and beyond its row's last one:
//   read when fewer than four have been requested    (the window of this slot is not overwritten; behind the map's last
//                                                    column no window needs what is read for the next row)
//   emit when all its columns inside the map have been requested, this slot's read included.
// Both are found a slot ahead, the second for either case of that read.
// Columns outside the map are never read: a window at a row's right edge leaves the read port free for the first column
// of the next row or tile, so rows and tiles follow without a bubble: `columns` slots a row, or the columns of the map
// if that is more (stride 2).
// Large windows are streamed too, a row once for each of their kernel tiles, from left to right and downwards: what the
// tiles come to is added up in a memory, a place a window, and the last one makes the results. Weights change with the
// tile: they are loaded while the one before is streamed.
module kt_vector_seq
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       start_i,
  // reader and sequencer each use their own fields of the command
  /* verilator lint_off UNUSEDSIGNAL */
  input  vec_cmd_t   cmd_i,          // stable from start to the end of busy
  input  vec_plan_t  plan_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic       busy_o,
  output logic       finish_o,       // last slot of the command
  // reader
  input  logic       rd_ready_i,
  input  logic       rd_first_i,
  input  logic       rd_last_i,
  input  logic [1:0] rd_operand_i,
  output logic       rd_o,
  output logic [1:0] rd_column_o,    // line buffer column the read goes to
  // permission: weights and parameters are in the shadow registers; there is room for a result
  input  logic       loaded_i,
  input  logic       weights_loaded_i,
  input  logic       credit_i,
  output logic       take_o,         // this slot's step ends in a result
  // the weights behind those that become current in this slot: the tile's first ones again, those of another tile, none
  output logic       again_o,
  output logic       other_o,
  output logic       none_o,
  // the step emitted in this slot
  output vec_token_t token_o,
  output addr_t      weight_row_o,   // VWB row of the step (depthwise, window by window)
  output logic signed [11:0] column_o,  // column and row of the map under the window's upper left cell
  output logic signed [12:0] row_o
);

  logic               busy_q;
  logic [9:0]         x_q, y_q, tile_q;  // left after this one
  logic               x_last_q, y_last_q, tile_last_q;  // none is
  logic               tile_start_q, first_tile_q;
  // columns requested: line buffer column of the next one; how many from the window's left column on, and beyond the
  // row that is emitted
  logic [1:0]         pushed_q;
  logic [3:0]         from_left_q, from_base_q;
  // whether a column may be read; the window has all it needs, or lacks but the one that is read in this slot
  logic               room_q, enough_q, nearly_q;
  logic signed [11:0] column_q;
  // columns of the map from the left one of the window to be emitted on, 3 for more, and of the next one in its row
  logic [1:0]         inside_q, next_inside_q;
  logic signed [11:0] next_edge_q;  // all of these
  logic signed [12:0] row_q;
  addr_t              weight_q, tile_weight_q;

  logic needs_load, needs_weights, may_start, emit, rd, window_end;
  logic pass_end, last_pass, row_end, tile_end, result, finish;

  // ---- kernel tile that a row is streamed for; the only one where windows are not large
  logic [7:0] tap_rows_q;     // of the kernel, from the tile on
  logic [3:0] tap_columns_q;
  logic [1:0] side_q;         // tiles left of it
  logic       first_pass_q, last_pass_q, pass_start_q;
  logic [1:0] width;
  logic       sides_end;
  assign width     = tile_width(tap_columns_q);
  assign sides_end = side_q == plan_i.last_tile;
  assign last_pass = last_pass_q;

  // Depthwise: own weights and parameters for each tile. Others: one set for the command.
  assign needs_load    = tile_start_q && (first_tile_q || (cmd_i.kind == KindDepthwise));
  assign needs_weights = plan_i.stream && (cmd_i.kind == KindDepthwise) && (plan_i.tiled ? pass_start_q : tile_start_q);
  assign may_start     = (!needs_load || loaded_i) && (!needs_weights || weights_loaded_i);

  // columns that a window needs: those of the map in a kernel tile
  function automatic logic [1:0] least(logic [1:0] covered, logic [1:0] tile);
    return ((covered == 2'd3) || (covered == 2'd2 && tile == 2'd1)) ? tile : covered;
  endfunction
  function automatic logic reaches(logic [3:0] have, logic [1:0] need);
    return have >= {2'd0, need};
  endfunction
  // {room, enough, nearly} with so many columns requested
  function automatic logic [2:0] decided(logic [3:0] have, logic [1:0] need);
    return {have[3:2] == '0, reaches(have, need), reaches(have, {need == 2'd3, need == 2'd2})};
  endfunction

  logic [3:0] held;  // in the ring: columns that this window or later ones need
  logic [1:0] need;
  assign held = (inside_q == '0) ? from_base_q : from_left_q;
  assign need = least(inside_q, width);

  always_comb begin
    if (plan_i.stream) begin
      rd   = busy_q && rd_ready_i && room_q;
      emit = busy_q && may_start && (credit_i || !last_pass) && (enough_q || (nearly_q && rd));
    end else begin
      emit = busy_q && may_start && rd_ready_i && (credit_i || !rd_last_i);
      rd   = emit;
    end
  end

  assign window_end = emit && (plan_i.stream || rd_last_i);
  assign pass_end   = x_last_q;
  assign row_end    = pass_end && last_pass;
  assign tile_end   = row_end && y_last_q;
  assign result     = window_end && last_pass;
  assign finish     = window_end && tile_end && tile_last_q;

  logic last_of_tile;  // no weights but these will be needed in the tile
  assign last_of_tile = !plan_i.tiled || (last_pass && y_last_q);
  assign again_o      = plan_i.tiled && last_pass && !y_last_q;
  assign other_o      = last_of_tile && !tile_last_q;
  assign none_o       = last_of_tile && tile_last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (start_i) busy_q <= 1'b1;
    else if (finish) busy_q <= 1'b0;
  end

  // ---- tables, the two in turn
  logic second_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) second_q <= 1'b0;
    else if (finish && cmd_i.look_up) second_q <= !second_q;
  end

  // ---- windows
  logic [3:0]        offset_q, next_offset;  // column of the kernel where its tile begins
  logic signed [4:0] next_left;              // column of the map under it, of the first window of a row
  logic [1:0]        next_side;
  logic [3:0]        next_columns;           // of the kernel, from that tile on
  logic              next_last;              // it is the row's last one
  assign next_side    = sides_end ? '0 : side_q + 2'd1;
  assign next_offset  = sides_end ? '0 : offset_q + {2'd0, width};
  assign next_columns = sides_end ? cmd_i.kernel_columns[3:0] : tap_columns_q - {2'd0, width};
  assign next_left    = $signed({1'b0, next_offset}) - $signed({1'b0, cmd_i.pad_left});
  assign next_last    = !last_pass && (next_side == plan_i.last_tile) && (tap_rows_q <= (sides_end ? 8'd6 : 8'd3));

  // columns of the map from a window on, 3 for more
  function automatic logic [1:0] clamped(logic signed [11:0] columns);
    return columns[11] ? 2'd0 : (columns[10:2] != '0) ? 2'd3 : columns[1:0];
  endfunction

  // Of the next pass's first window: found in two cycles, while this pass's first two windows are emitted; unless
  // tiled it is always the same.
  logic signed [4:0]  below_left_q;    // its left column
  logic signed [11:0] below_edge_q;    // columns of the map from there on
  logic [1:0]         below_inside_q, below_width_q;
  logic [3:0]         below_steps_q;   // columns that it reads
  logic               below_last_q;    // last pass of the row
  logic signed [11:0] first_edge, below_edge, after_edge;
  assign first_edge = $signed({2'b0, cmd_i.in_width}) + $signed({8'd0, cmd_i.pad_left});
  assign below_edge = $signed({2'b0, cmd_i.in_width}) - 12'(below_left_q);
  assign after_edge = (pass_end ? below_edge_q : next_edge_q) - $signed({8'd0, cmd_i.stride});

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      below_left_q   <= -$signed({1'b0, cmd_i.pad_left});
      below_edge_q   <= first_edge;
      below_inside_q <= clamped(first_edge);
      below_width_q  <= tile_width(cmd_i.kernel_columns[3:0]);
      below_steps_q  <= plan_i.steps[0][3:0];
      below_last_q   <= !plan_i.tiled;
    end else if (busy_q && plan_i.tiled) begin
      below_left_q   <= next_left;
      below_edge_q   <= below_edge;
      below_inside_q <= clamped(below_edge);
      below_width_q  <= tile_width(next_columns);
      below_steps_q  <= plan_i.steps[next_side][3:0];
      below_last_q   <= next_last;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      automatic logic signed [4:0]  left = $signed({1'b0, cmd_i.pad_left}) - $signed({1'b0, cmd_i.stride});
      automatic logic signed [11:0] second_edge = $signed({2'b0, cmd_i.in_width}) + 12'(left);
      x_q           <= cmd_i.columns - 10'd1;
      y_q           <= cmd_i.rows - 10'd1;
      tile_q        <= cmd_i.tiles - 10'd1;
      x_last_q      <= cmd_i.columns == 10'd1;
      y_last_q      <= cmd_i.rows == 10'd1;
      tile_last_q   <= cmd_i.tiles == 10'd1;
      tile_start_q  <= 1'b1;
      first_tile_q  <= 1'b1;
      pushed_q      <= '0;
      column_q      <= -$signed({8'd0, cmd_i.pad_left});
      inside_q      <= clamped(first_edge);
      next_edge_q   <= second_edge;
      next_inside_q <= clamped(second_edge);
      row_q         <= 13'(cmd_i.top_row);
      tap_rows_q    <= cmd_i.kernel_rows;
      tap_columns_q <= cmd_i.kernel_columns[3:0];
      offset_q      <= '0;
      side_q        <= '0;
      first_pass_q  <= 1'b1;
      last_pass_q   <= !plan_i.tiled;
      pass_start_q  <= 1'b1;
    end else begin
      if (rd) pushed_q <= pushed_q + 2'd1;
      if (emit) tile_start_q <= window_end && tile_end;
      if (emit) pass_start_q <= window_end && pass_end;
      if (window_end) begin
        automatic logic [9:0] columns = pass_end ? cmd_i.columns : x_q;
        automatic logic [9:0] rows    = tile_end ? cmd_i.rows : y_q;
        x_q           <= columns - 10'd1;
        x_last_q      <= columns == 10'd1;
        column_q      <= pass_end ? 12'(below_left_q) : column_q + $signed({8'd0, cmd_i.stride});
        inside_q      <= pass_end ? below_inside_q : next_inside_q;
        next_edge_q   <= after_edge;
        next_inside_q <= clamped(after_edge);
        if (pass_end && plan_i.tiled) begin
          offset_q      <= next_offset;
          side_q        <= next_side;
          tap_columns_q <= next_columns;
          if (sides_end) tap_rows_q <= last_pass ? cmd_i.kernel_rows : tap_rows_q - 8'd3;
          first_pass_q  <= last_pass;
          last_pass_q   <= below_last_q;
        end
        if (row_end) begin
          y_q      <= rows - 10'd1;
          y_last_q <= rows == 10'd1;
          row_q    <= tile_end ? 13'(cmd_i.top_row) : row_q + $signed({9'd0, cmd_i.stride});
        end
        if (tile_end) begin
          tile_q       <= tile_q - 10'd1;
          tile_last_q  <= tile_q == 10'd1;
          first_tile_q <= 1'b0;
        end
      end
    end
  end

  // ---- ring: what it holds, and what that allows in the next slot
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      from_left_q <= cmd_i.pad_left;
      from_base_q <= -plan_i.steps[0][3:0];
      {room_q, enough_q, nearly_q} <=
        decided(cmd_i.pad_left, least(clamped(first_edge), tile_width(cmd_i.kernel_columns[3:0])));
    end else if (plan_i.stream && (rd || window_end)) begin
      // with the next window, but for the column of this slot; modulo 16, that may be the one that is missing
      automatic logic [3:0] left = from_left_q - cmd_i.stride, base = from_base_q, more = {3'd0, rd};
      automatic logic [1:0] covered = next_inside_q, tile = width;
      if (pass_end) begin
        left   = from_base_q - (below_left_q[4] ? below_left_q[3:0] : 4'd0);
        base   = from_base_q - below_steps_q;
        covered = below_inside_q;
        tile   = below_width_q;
      end
      from_left_q <= (window_end ? left : from_left_q) + more;
      from_base_q <= (window_end ? base : from_base_q) + more;
      {room_q, enough_q, nearly_q} <=
        window_end ? decided(((covered == '0) ? base : left) + more, least(covered, tile)) : decided(held + 4'd1, need);
    end
  end

  // ---- VWB rows, one a step, the same ones for every window of a tile
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      weight_q      <= cmd_i.weights;
      tile_weight_q <= cmd_i.weights;
    end else if (emit) begin
      weight_q <= (window_end && !tile_end) ? tile_weight_q : weight_q + 1'b1;
      if (window_end && tile_end) tile_weight_q <= weight_q + 1'b1;
    end
  end

  assign busy_o       = busy_q;
  assign finish_o     = finish;
  assign rd_o         = rd;
  assign rd_column_o  = pushed_q;
  assign take_o       = result;
  assign weight_row_o = weight_q;
  assign column_o     = column_q - $signed({8'd0, offset_q});
  assign row_o        = row_q;

  always_comb begin
    token_o = '0;
    if (emit) begin
      token_o = '{
        valid:     1'b1,
        first:     plan_i.stream || rd_first_i || (cmd_i.element == ElementProduct),
        last:      result,
        swap:      needs_load,
        swap_weights: needs_weights,
        add_kept:  !first_pass_q,
        keep:      !last_pass,
        place:     x_q[SumAw-1:0],
        kind:      cmd_i.kind,
        stream:    plan_i.stream,
        operand:   rd_operand_i,
        element:   cmd_i.element,
        pair:      cmd_i.pair,
        look_up:   cmd_i.look_up,
        second:    second_q,
        left:      plan_i.stream ? pushed_q - from_left_q[1:0] : pushed_q,
        off_map:   '0,
        columns:   3'b001,
        rows:      3'b111,
        pad_value: cmd_i.pad_value
      };
      if (plan_i.stream) begin
        for (int c = 0; c < 3; c++) begin
          token_o.off_map[c] = (column_q + 12'(c) < 0) || (inside_q <= 2'(c));
          token_o.columns[c] = 2'(c) < width;
          token_o.rows[c]    = 8'(c) < tap_rows_q;
        end
      end
    end
  end

endmodule
