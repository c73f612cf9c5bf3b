// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Reader of the vector engine: walks steps of kernel tiles of windows of rows of tiles and forms the nine bank
// addresses of each read, one column of three rows x three channel groups (word 3 * row + group); where an addition
// takes its operands in pairs the second one has the place of the second row. Kernel tiles of a large window that lie
// side by side read the same rows one after the other, each its own columns of them. It knows nothing of the line buffer, of weights or of results. Positions left of a row wrap around; no cell outside the map is read.
module kt_vector_reader
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter bit Pair = 1  // Add: commands may take operands in pairs
) (
  input  logic       clk_i,
  input  logic       start_i,
  // reader and sequencer each use their own fields of the command
  /* verilator lint_off UNUSEDSIGNAL */
  input  vec_cmd_t   cmd_i,     // stable from start to the end of the command
  input  vec_plan_t  plan_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic       rd_i,
  output logic       ready_o,   // a read is left and possible in this slot
  output logic       first_o,   // the next read is a window's first,
  output logic       last_o,    // its last
  output logic [1:0] operand_o, // Add: the operand it belongs to
  // registered request, and which of its cells are not to be taken from the words (bit r: row r)
  output bank_req_t  rd_req_o [9],
  output logic [2:0] off_map_o,
  output logic [2:0] missing_o
);

  logic [9:0]         step_q, window_q, row_q, tile_q;  // left after this one
  logic [6:0]         kernel_tile_q;
  logic [1:0]         side_q, next_side;                // kernel tiles of a large window left of this one
  // none is left
  logic               step_last_q, side_last_q, kernel_tile_last_q, window_last_q, row_last_q, tile_last_q;
  logic               first_q, done_q;
  logic [1:0]         operand_q;
  word_t              pos_q;                            // word of this column
  word_t              window_pos_q, origin_q;           // of the window's, of the row's first column
  word_t              pair_pos_q, pair_origin_q;        // Add: words of the second operand of a pair
  logic signed [11:0] column_q, window_column_q;        // streamed columns, all of the map, count from any on
  logic signed [12:0] top_q, top_window_q;              // row under the first tap row of the kernel tile, of the window
  logic [7:0]         tap_row_q;                        // first kernel row of the kernel tile
  logic [1:0]         mod3_q, operand_mod3_q;           // of the row; Add: of the further operands' row

  // Slots of the rows under this kernel tile, this window, and the next row of windows. The last ones are found by one
  // step a cycle while the row is read.
  addr_t      slot_q[3], top_slot_q[3], next_slot_q[3];
  addr_t      operand_slot_q;  // Add: row of the second operand and further ones
  logic [3:0] walk_q;          // steps still missing

  logic step_end, rows_end, window_end, row_end, tile_end;
  assign step_end   = step_last_q;
  assign rows_end   = step_end && side_last_q;  // three rows are read
  assign window_end = rows_end && kernel_tile_last_q;
  assign row_end    = window_end && window_last_q;
  assign tile_end   = row_end && row_last_q;

  assign ready_o   = !done_q && (walk_q == '0 || !row_end);
  assign first_o   = first_q;
  assign last_o    = window_end;
  assign operand_o = operand_q;

  assign next_side = side_last_q ? 2'd0 : {side_q[0], side_q == '0};  // three at most

  logic pair;
  assign pair = Pair && cmd_i.pair;

  // Where the next read is, and the second operand of a pair there: each one sum.
  word_t from, by, sum, pair_sum;
  always_comb begin
    from = pos_q;
    by   = cmd_i.pixel;
    sum  = '0;
    if (!Rests || rd_i) begin
      if (row_end) begin
        from = origin_q;
        by   = few_words(row_last_q ? 4'd3 : 4'd0);
      end else if (window_end) begin
        from = window_pos_q;
        by   = plan_i.window_step;
      end else if (step_end && (cmd_i.kind == KindAdd)) begin
        from = cmd_i.broadcast ? origin_q : pos_q;
        by   = cmd_i.operand_step;
      end else if (step_end) begin
        from = window_pos_q;
        by   = plan_i.tile_start[next_side];
      end
      sum = word_add(from, by);
    end
  end
  always_comb begin
    pair_sum = '0;
    if (!Rests || (pair && (start_i || rd_i))) begin
      pair_sum = word_add(start_i ? plan_i.origin : row_end ? pair_origin_q : pair_pos_q,
                          start_i ? cmd_i.operand_step : by);
    end
  end

  logic signed [11:0] first_column;
  assign first_column = plan_i.stream ? 12'sd0 : -$signed({8'd0, cmd_i.pad_left});

  addr_t first_slot[3], second_slot[3];
  always_comb begin
    for (int r = 0; r < 3; r++) begin
      first_slot[r]  = plan_i.slots[r];
      second_slot[r] = plan_i.slots[r+1];
    end
  end

  addr_t ahead[3];
  always_comb begin
    ahead[0] = next_slot_q[1];
    ahead[1] = next_slot_q[2];
    ahead[2] = next_slot(cmd_i.ring, next_slot_q[2]);
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      done_q             <= 1'b0;
      first_q            <= 1'b1;
      operand_q          <= '0;
      step_q             <= plan_i.steps[0] - 10'd1;
      side_q             <= '0;
      kernel_tile_q      <= plan_i.kernel_tiles - 7'd1;
      window_q           <= plan_i.windows - 10'd1;
      row_q              <= cmd_i.rows - 10'd1;
      tile_q             <= cmd_i.tiles - 10'd1;
      step_last_q        <= plan_i.steps[0] == 10'd1;
      side_last_q        <= plan_i.last_tile == '0;
      kernel_tile_last_q <= plan_i.kernel_tiles == 7'd1;
      window_last_q      <= plan_i.windows == 10'd1;
      row_last_q         <= cmd_i.rows == 10'd1;
      tile_last_q        <= cmd_i.tiles == 10'd1;
      pos_q              <= plan_i.origin;
      window_pos_q       <= plan_i.origin;
      origin_q           <= plan_i.origin;
      column_q           <= first_column;
      window_column_q    <= first_column;
    end else if (rd_i) begin
      automatic logic [9:0] steps        = step_end ? plan_i.steps[next_side] : step_q;
      automatic logic [6:0] kernel_tiles = window_end ? plan_i.kernel_tiles : kernel_tile_q;
      automatic logic [9:0] windows      = row_end ? plan_i.windows : window_q;
      automatic logic [9:0] rows         = tile_end ? cmd_i.rows : row_q;
      first_q     <= window_end;
      if (window_end || (cmd_i.kind != KindAdd)) operand_q <= '0;
      else if (rows_end) operand_q <= operand_q + 2'd1;
      step_q      <= steps - 10'd1;
      step_last_q <= steps == 10'd1;
      if (step_end) begin
        side_q      <= next_side;
        side_last_q <= next_side == plan_i.last_tile;
      end
      if (rows_end) begin
        kernel_tile_q      <= kernel_tiles - 7'd1;
        kernel_tile_last_q <= kernel_tiles == 7'd1;
      end
      if (window_end) begin
        window_q      <= windows - 10'd1;
        window_last_q <= windows == 10'd1;
      end
      if (row_end) begin
        row_q      <= rows - 10'd1;
        row_last_q <= rows == 10'd1;
      end
      if (tile_end) begin
        tile_q      <= tile_q - 10'd1;
        tile_last_q <= tile_q == 10'd1;
        done_q      <= tile_last_q;
        origin_q    <= sum;
      end
      pos_q <= sum;
      if (window_end) window_pos_q <= sum;
      if (row_end) begin
        column_q        <= first_column;
        window_column_q <= first_column;
      end else if (window_end) begin
        column_q        <= window_column_q + $signed({8'd0, cmd_i.stride});
        window_column_q <= window_column_q + $signed({8'd0, cmd_i.stride});
      end else begin
        column_q <= step_end ? window_column_q : column_q + 12'sd1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (pair && (start_i || (rd_i && window_end))) begin
      pair_pos_q <= pair_sum;
      if (start_i || tile_end) pair_origin_q <= pair_sum;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i || (rd_i && tile_end)) begin
      slot_q         <= first_slot;
      top_slot_q     <= first_slot;
      next_slot_q    <= second_slot;
      operand_slot_q <= cmd_i.slot2;
      walk_q         <= cmd_i.stride - 4'd1;
      mod3_q         <= cmd_i.top_mod3;
      operand_mod3_q <= cmd_i.mod3_2;
      top_q          <= 13'(cmd_i.top_row);
      top_window_q   <= 13'(cmd_i.top_row);
      tap_row_q      <= '0;
    end else begin
      if (rd_i && row_end) begin
        slot_q         <= next_slot_q;
        top_slot_q     <= next_slot_q;
        operand_slot_q <= next_slot(cmd_i.ring2, operand_slot_q);
        mod3_q         <= add3(mod3_q, plan_i.stride_mod3);
        if (!cmd_i.broadcast) operand_mod3_q <= add3(operand_mod3_q, plan_i.stride_mod3);
        top_q          <= top_window_q + $signed({9'd0, cmd_i.stride});
        top_window_q   <= top_window_q + $signed({9'd0, cmd_i.stride});
        tap_row_q      <= '0;
      end else if (rd_i && window_end) begin
        slot_q    <= top_slot_q;
        top_q     <= top_window_q;
        tap_row_q <= '0;
      end else if (rd_i && rows_end) begin
        if (cmd_i.kind == KindAdd) begin
          slot_q <= '{operand_slot_q, '0, '0};
        end else begin
          automatic addr_t below[3];
          below[0] = next_slot(cmd_i.ring, slot_q[2]);
          below[1] = slot_after_next(cmd_i.ring, slot_q[2]);
          below[2] = next_slot(cmd_i.ring, below[1]);
          slot_q    <= below;
          top_q     <= top_q + 13'sd3;
          tap_row_q <= tap_row_q + 8'd3;
        end
      end
      if (rd_i && row_end) begin
        next_slot_q <= ahead;
        walk_q      <= cmd_i.stride - 4'd1;
      end else if (walk_q != '0) begin
        next_slot_q <= ahead;
        walk_q      <= walk_q - 4'd1;
      end
    end
  end

  // ---- request
  bank_req_t  rd_req_d[9];
  logic [2:0] off_map_d, missing_d;
  always_comb begin
    rd_req_d  = '{default: '0};
    off_map_d = '0;
    missing_d = '0;
    if (rd_i) begin
      for (int unsigned r = 0; r < 3; r++) begin
        automatic logic signed [12:0] row = top_q + 13'(r);
        automatic logic               second = pair && (r == 1);
        automatic logic [1:0]         top_mod3 = (second || (operand_q != '0)) ? operand_mod3_q : mod3_q;
        automatic logic [1:0]         mod3 = second ? top_mod3 : add3(top_mod3, 2'(r));
        automatic addr_t              slot = second ? operand_slot_q : slot_q[r];
        automatic logic               off_row = (row < 0) || (row >= $signed({3'd0, cmd_i.in_height}));
        automatic logic               off_column = (column_q < 0) || (column_q >= $signed({2'd0, cmd_i.in_width}));
        off_map_d[r] = (second && off_map_d[0]) || (!second && (off_row || off_column));
        missing_d[r] = !second && ({1'b0, tap_row_q} + 9'(r) >= {1'b0, cmd_i.kernel_rows});
        for (int unsigned g = 0; g < 3; g++) begin
          rd_req_d[3*r+g] = bank_req_behind(!off_map_d[r] && !missing_d[r], slot, row_bank(mod3),
                                            second ? pair_pos_q : pos_q, few_words(4'(g)));
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    rd_req_o     <= rd_req_d;
    off_map_o <= off_map_d;
    missing_o <= missing_d;
  end

endmodule
