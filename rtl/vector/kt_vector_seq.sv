// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Slot sequencer of the vector engine. A slot may take one read and may emit one step; all stalls happen here, in
// order; the pipeline downstream never stalls.
//
// Window by window: a slot reads a column and emits it as a step of its window. A result costs
// ceil(kernel_rows / 3) * kernel_columns slots (Add: its operands, or one for a pair of them).
// Streamed: columns are read ahead into a ring of four and each step is a whole window. Columns are counted from the
// start of the command (modulo 16): `pushed` have been requested, the window to be emitted starts at `left`, hence
//   read when pushed - left < 4                      (the window of this slot is not overwritten; behind the map's last
//                                                    column no window needs what is read for the next row)
//   emit when all its columns inside the map have been requested, this slot's read included.
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
  logic               tile_start_q, first_tile_q;
  logic [3:0]         pushed_q, base_q, left_q;  // base: column 0 of the row emitted next
  logic signed [11:0] column_q;
  // of the window to be emitted: columns of the map from its left one on; those in it, none behind the map's last one
  logic signed [11:0] to_edge_q;
  logic [1:0]         need_q;
  logic signed [12:0] row_q;
  addr_t              weight_q, tile_weight_q;

  logic needs_load, needs_weights, may_start, emit, rd, window_end;
  logic pass_end, last_pass, row_end, tile_end, result, finish;

  // ---- kernel tile that a row is streamed for; the only one where windows are not large
  logic [7:0] tap_rows_q;     // of the kernel, from the tile on
  logic [3:0] tap_columns_q;
  logic [1:0] side_q;         // tiles left of it
  logic       first_pass_q, pass_start_q;
  logic [1:0] width;
  logic       sides_end;
  assign width     = tile_width(tap_columns_q);
  assign sides_end = side_q == plan_i.last_tile;
  assign last_pass = !plan_i.tiled || (sides_end && (tap_rows_q <= 8'd3));

  // Depthwise: own weights and parameters for each tile. Others: one set for the command.
  assign needs_load    = tile_start_q && (first_tile_q || (cmd_i.kind == KindDepthwise));
  assign needs_weights = plan_i.stream && (cmd_i.kind == KindDepthwise) && (plan_i.tiled ? pass_start_q : tile_start_q);
  assign may_start     = (!needs_load || loaded_i) && (!needs_weights || weights_loaded_i);

  logic [3:0] held;
  assign held = pushed_q - (need_q == '0 ? base_q : left_q);

  always_comb begin
    if (plan_i.stream) begin
      rd   = busy_q && rd_ready_i && (held < 4'd4);
      emit = busy_q && may_start && (credit_i || !last_pass) && (held + {3'd0, rd} >= {2'd0, need_q});
    end else begin
      emit = busy_q && may_start && rd_ready_i && (credit_i || !rd_last_i);
      rd   = emit;
    end
  end

  assign window_end = emit && (plan_i.stream || rd_last_i);
  assign pass_end   = x_q == '0;
  assign row_end    = pass_end && last_pass;
  assign tile_end   = row_end && (y_q == '0);
  assign result     = window_end && last_pass;
  assign finish     = window_end && tile_end && (tile_q == '0);

  logic last_of_tile;  // no weights but these will be needed in the tile
  assign last_of_tile = !plan_i.tiled || (last_pass && (y_q == '0));
  assign again_o      = plan_i.tiled && last_pass && (y_q != '0);
  assign other_o      = last_of_tile && (tile_q != '0);
  assign none_o       = last_of_tile && (tile_q == '0);

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
  logic [3:0]         offset_q, next_offset;       // column of the kernel where its tile begins
  logic signed [4:0]  next_left;                   // column of the map under it, of the first window of a row
  logic [1:0]         next_side;
  logic [3:0]         next_columns;                // of the kernel, from that tile on
  // columns of the map from the next window on: in the same row, in the next, in the first of the command
  logic signed [11:0] edge_inside, edge_below, edge_first;
  assign next_side    = sides_end ? '0 : side_q + 2'd1;
  assign next_offset  = sides_end ? '0 : offset_q + {2'd0, width};
  assign next_columns = sides_end ? cmd_i.kernel_columns[3:0] : tap_columns_q - {2'd0, width};
  assign next_left    = $signed({1'b0, next_offset}) - $signed({1'b0, cmd_i.pad_left});
  assign edge_inside  = to_edge_q - $signed({8'd0, cmd_i.stride});
  assign edge_first   = $signed({2'b0, cmd_i.in_width}) + $signed({8'd0, cmd_i.pad_left});
  assign edge_below   = $signed({2'b0, cmd_i.in_width}) - 12'(next_left);

  // columns of the map in a window of a kernel tile so wide
  function automatic logic [1:0] covered(logic signed [11:0] to_edge, logic [1:0] tile);
    return (to_edge <= 0) ? 2'd0 : (to_edge < $signed({10'd0, tile})) ? to_edge[1:0] : tile;
  endfunction

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      x_q          <= cmd_i.columns - 10'd1;
      y_q          <= cmd_i.rows - 10'd1;
      tile_q       <= cmd_i.tiles - 10'd1;
      tile_start_q <= 1'b1;
      first_tile_q <= 1'b1;
      pushed_q     <= '0;
      base_q       <= plan_i.steps[0][3:0];
      left_q       <= plan_i.stream ? -cmd_i.pad_left : '0;
      column_q     <= -$signed({8'd0, cmd_i.pad_left});
      to_edge_q    <= edge_first;
      need_q       <= covered(edge_first, tile_width(cmd_i.kernel_columns[3:0]));
      row_q        <= 13'(cmd_i.top_row);
      tap_rows_q    <= cmd_i.kernel_rows;
      tap_columns_q <= cmd_i.kernel_columns[3:0];
      offset_q      <= '0;
      side_q        <= '0;
      first_pass_q  <= 1'b1;
      pass_start_q  <= 1'b1;
    end else begin
      if (rd) pushed_q <= pushed_q + 4'd1;
      if (emit) tile_start_q <= window_end && tile_end;
      if (emit) pass_start_q <= window_end && pass_end;
      if (window_end) begin
        x_q      <= (pass_end ? cmd_i.columns : x_q) - 10'd1;
        column_q  <= pass_end ? 12'(next_left) : column_q + $signed({8'd0, cmd_i.stride});
        to_edge_q <= pass_end ? edge_below : edge_inside;
        need_q    <= pass_end ? covered(edge_below, plan_i.tiled ? tile_width(next_columns) : width)
                              : covered(edge_inside, width);
        if (pass_end && plan_i.tiled) begin
          offset_q      <= next_offset;
          side_q        <= next_side;
          tap_columns_q <= next_columns;
          if (sides_end) tap_rows_q <= last_pass ? cmd_i.kernel_rows : tap_rows_q - 8'd3;
          first_pass_q  <= last_pass;
        end
        if (pass_end) base_q <= base_q + plan_i.steps[plan_i.tiled ? next_side : 2'd0][3:0];
        if (row_end) begin
          y_q    <= tile_end ? cmd_i.rows - 10'd1 : y_q - 10'd1;
          row_q  <= tile_end ? 13'(cmd_i.top_row) : row_q + $signed({9'd0, cmd_i.stride});
        end
        if (tile_end) begin
          tile_q       <= tile_q - 10'd1;
          first_tile_q <= 1'b0;
        end
        if (plan_i.stream) left_q <= pass_end ? base_q + (next_left[4] ? next_left[3:0] : 4'd0) : left_q + cmd_i.stride;
      end
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
  assign rd_column_o  = pushed_q[1:0];
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
        left:      plan_i.stream ? left_q[1:0] : pushed_q[1:0],
        off_map:   '0,
        columns:   3'b001,
        rows:      3'b111,
        pad_value: cmd_i.pad_value
      };
      if (plan_i.stream) begin
        for (int c = 0; c < 3; c++) begin
          token_o.off_map[c] = (column_q + 12'(c) < 0) || (to_edge_q <= 12'(c));
          token_o.columns[c] = 2'(c) < width;
          token_o.rows[c]    = 8'(c) < tap_rows_q;
        end
      end
    end
  end

endmodule
