// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Slot sequencer of one CONV command. A slot may request one SB read and may emit one window; all stalls happen
// here, in order; the pipeline downstream never stalls.
//
// Of the columns that have been requested, `held` are those from the window's left column on, `ahead` those behind the
// row's last one; both are negative where columns are missing. Only columns of the map are read: the window may start
// before the row's first column or after its last. The line buffer holds four columns, hence the two rules
//   read when held + step <= 4 and ahead + step <= 4   (neither the window of this slot nor the next row's first columns
//                                                       are overwritten)
//   emit when all columns of the window inside the map have been requested, this slot's read included.
// A window at a row's right edge leaves the read port free for the first column of the next row, next pass or next
// tile, so rows and passes follow without a bubble; only windows wholly outside the map, with nothing to read, outrun
// the reader. In modes 1x1 and 3x1 a read is a whole window: both go together; where the window is masked it is a dummy
// read. Two windows at once count as one here.
module kt_conv_seq
  import kt_cmd_pkg::*;
#(
  parameter int unsigned ObAw      = 9,
  parameter bit          TwoPixels = 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            start_i,
  // reader and sequencer each use their own fields of the command
  /* verilator lint_off UNUSEDSIGNAL */
  input  conv_t           cmd_i,       // stable from start to the end of busy
  /* verilator lint_on UNUSEDSIGNAL */
  output logic            busy_o,
  // reader
  input  logic            rd_done_i,
  output logic            rd_o,
  output logic            rd_masked_o, // its window lies outside the map
  output logic [1:0]      rd_col_o,    // line buffer column the read goes to
  // permission: weights of the next pass are on their way; parameters of the next tile can be read; a result slot is
  // free
  input  logic            weights_i,
  input  logic            params_i,
  input  logic            credit_i,
  output logic            swap_o,      // a pass starts in this slot
  output logic            last_tile_o,
  output logic            last_pass_o,  // this slot's pass is the last of its kernel tile
  output logic            result_o,    // this slot's window ends in a result
  // why no window is emitted in this slot
  output logic            wait_weights_o,
  output logic            wait_credit_o,
  // the window emitted in this slot
  output kt_array_pkg::token_t token_o,
  output logic [ObAw-1:0] pixel_o,
  output logic [1:0]      win_col_o,   // line buffer column of the window's left column
  output logic [2:0]      edge_o       // window columns outside the map
);

  logic               busy_q, walk_q;    // a command runs; its first row is set up
  logic [9:0]         x_q, y_q, tile_q;  // left after this one
  logic [ObAw-1:0]    pixel_q;
  logic               pass_start_q, first_pass_q;
  logic [1:0]         pushed_q;           // requested columns modulo 4
  logic signed [12:0] held_q, ahead_q;
  logic signed [12:0] to_edge_q;          // columns of the map from the window's left column on
  logic signed [6:0]  column_q;           // input column of the window's left column, while it is negative

  /* verilator lint_off UNUSEDSIGNAL */  // the reader alone looks at rows of kernel tiles
  kt_array_pkg::pass_t     pass;
  /* verilator lint_on UNUSEDSIGNAL */
  kt_array_pkg::pass_row_t next_row;

  logic       whole, stride2;
  logic [4:0] cols;  // from this slot's window to the next one's
  logic [1:0] step;  // columns of a read
  logic       may_emit, emit, read;
  assign whole   = cmd_i.mode != kt_cmd_pkg::Mode3x3;
  assign stride2 = cmd_i.column_stride[1];
  assign cols    = pass.row.two ? {cmd_i.column_stride, 1'b0} : {1'b0, cmd_i.column_stride};
  assign step    = {stride2, !stride2};

  // n + step <= 4
  function automatic logic has_room(logic signed [12:0] n);
    return n < 0 || (n[11:2] == '0 && !(stride2 && n[1:0] == 2'd3));
  endfunction

  // No window needs more than three columns, no read brings more than two: of `held`, -1 to 3 are told apart.
  logic [3:-1] has;     // so many columns at least
  logic [3:1]  enough;  // for a window of so many columns in the map, this slot's read included
  logic        beyond;  // the window begins right of the map
  assign beyond = to_edge_q[12] || to_edge_q == '0;
  always_comb begin
    if (held_q < 0) has = {4'b0, &held_q};
    else has = {held_q[11:2] != '0 || held_q[1:0] == 2'd3, held_q[11:1] != '0, held_q[11:0] != '0, 2'b11};
    enough = !read ? has[3:1] : stride2 ? has[1:-1] : has[2:0];
  end

  logic last_pass, weights_ok;
  assign weights_ok = !pass_start_q || (weights_i && (params_i || !last_pass));
  assign may_emit   = walk_q && weights_ok && (credit_i || !last_pass);
  always_comb begin
    if (whole) begin
      read = may_emit;
      emit = may_emit;
    end else begin
      read = walk_q && !rd_done_i && has_room(held_q) && has_room(ahead_q);
      emit = may_emit && (beyond || enough[(to_edge_q[11:2] != '0) ? 2'd3 : to_edge_q[1:0]]);
    end
  end

  logic row_end, pass_end, tile_end, last;
  assign row_end     = x_q == '0;
  assign pass_end    = row_end && (y_q == '0);
  assign tile_end    = pass_end && last_pass;
  assign last        = emit && tile_end && (tile_q == '0);

  // A walk begins like a pass behind one that ends: start_i leaves the counters as at such an end.
  logic walk_begin, move;
  assign move = emit || walk_begin;

  kt_conv_kernel_tiles #(
    .TwoPixels(TwoPixels)
  ) u_kernel_tiles (
    .clk_i,
    .start_i,
    .cmd_i,
    .step_i    (emit && pass_end),
    .begin_o   (walk_begin),
    .pass_o    (pass),
    .next_row_o(next_row)
  );
  assign last_pass = pass.last;

  // the row that begins next
  kt_array_pkg::pass_row_t row;
  logic [9:0]              slots;        // of that row, less one
  logic [10:0]             last_column;  // that it reads, from its first on
  logic signed [12:0]      left_pad;     // columns under its first window that lie left of the map, negative
  logic [1:0]              pixels;       // of this slot
  assign row         = pass_end ? next_row : pass.row;
  assign slots       = row.two ? (cmd_i.columns - 10'd1) >> 1 : cmd_i.columns - 10'd1;
  assign last_column = stride2 ? {row.more_reads, 1'b1} : {1'b0, row.more_reads};
  assign left_pad    = (row.left < 0) ? 13'(row.left) : '0;
  assign pixels      = (pass.row.two && !(row_end && cmd_i.columns[0])) ? 2'd2 : 2'd1;

  // Columns held and ahead in the next slot. Whether a read comes in this one is known late: what there is with it is a
  // sum by itself.
  logic signed [12:0] by, held_more, ahead_more, row_held, row_ahead;
  assign by         = $signed({11'b0, step});
  assign held_more  = held_q + by;
  assign ahead_more = ahead_q + by;
  assign row_held   = (read ? ahead_more : ahead_q) - left_pad;
  assign row_ahead  = (read ? ahead_more : ahead_q) - $signed({2'b0, last_column}) - 13'sd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      walk_q <= 1'b0;
    end else begin
      if (start_i) busy_q <= 1'b1;
      else if (last) busy_q <= 1'b0;
      walk_q <= busy_q && !last;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      x_q          <= '0;
      y_q          <= '0;
      tile_q       <= cmd_i.tiles - 10'd1;
      first_pass_q <= 1'b1;
      pushed_q     <= '0;
      ahead_q      <= '0;
    end else begin
      if (read) pushed_q <= pushed_q + step;
      if (move) begin
        x_q          <= row_end ? slots : x_q - 10'd1;
        pixel_q      <= pass_end ? '0 : pixel_q + ObAw'(pixels);
        pass_start_q <= pass_end;
        to_edge_q    <= row_end ? $signed({3'b0, cmd_i.in_width}) - 13'(row.left) : to_edge_q - $signed({8'b0, cols});
        if (row_end) y_q <= pass_end ? cmd_i.rows - 10'd1 : y_q - 10'd1;
        if (row_end) column_q <= row.left;
        else if (column_q < 0) column_q <= column_q + $signed({2'b0, cols});
      end
      if (emit && pass_end) first_pass_q <= tile_end;
      if (emit && tile_end) tile_q <= tile_q - 10'd1;
      if (move && row_end) held_q <= row_held;
      else if (move != read) held_q <= read ? held_more : held_q - by;
      if (move && row_end) ahead_q <= row_ahead;
      else if (read) ahead_q <= ahead_more;
    end
  end

  assign busy_o         = busy_q;
  assign rd_o           = read;
  assign rd_col_o       = pushed_q;
  assign last_tile_o    = tile_q == '0;
  assign last_pass_o    = pass.last_kernel_tile;
  assign swap_o         = emit && pass_start_q;
  assign result_o       = emit && last_pass;
  assign wait_weights_o = walk_q && !weights_ok;
  assign wait_credit_o  = walk_q && weights_ok && last_pass && !credit_i;
  assign token_o        = '{valid: emit, swap: swap_o, first: first_pass_q, last: last_pass, two: pass.row.two};
  assign pixel_o        = pixel_q;
  assign win_col_o      = pushed_q - held_q[1:0];
  logic outside;
  assign outside     = column_q < 0 || beyond;
  assign rd_masked_o = whole && outside;
  always_comb begin
    for (int c = 0; c < 3; c++) edge_o[c] = whole ? outside : ((column_q + 7'(c) < 0) || (to_edge_q <= 13'(c)));
  end

endmodule
