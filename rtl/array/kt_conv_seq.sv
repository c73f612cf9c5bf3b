// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Slot sequencer of one CONV command. A slot may request one SB read and may emit one window; all stalls happen
// here, in order; the pipeline downstream never stalls.
//
// Columns are counted from the start of the command (modulo 8192): `pushed` have been requested, the window to be
// emitted starts at `left`, the row's columns end before `stop`. Only columns of the map are read: `left` may lie
// before the row's first column or after its last. The line buffer holds four columns, hence the two rules
//   read when pushed + cols - min(left, stop) <= 4   (neither the window of this slot nor the next row's first columns
//                                                     are overwritten)
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

  logic               busy_q;
  logic [9:0]         x_q, y_q, tile_q;  // left after this one
  logic [ObAw-1:0]    pixel_q;
  logic               pass_start_q, first_pass_q;
  logic [12:0]        pushed_q, left_q, stop_q;
  logic signed [12:0] column_q;  // input column of the window's left column

  /* verilator lint_off UNUSEDSIGNAL */  // the reader alone looks at rows of kernel tiles
  kt_array_pkg::pass_t     pass;
  /* verilator lint_on UNUSEDSIGNAL */
  kt_array_pkg::pass_row_t next_row;

  logic               whole, stride2;
  logic [12:0]        cols;
  logic signed [12:0] held;     // requested columns from the window's left column on
  logic signed [12:0] ahead;    // the same from the column on that must stay
  logic signed [12:0] to_edge;  // columns of the map from the window's left column on
  logic signed [12:0] need;
  logic               may_emit, emit, read;

  assign whole      = cmd_i.mode != kt_cmd_pkg::Mode3x3;
  assign stride2    = cmd_i.column_stride[1];
  assign cols       = pass.row.two ? {8'd0, cmd_i.column_stride, 1'b0} : 13'(cmd_i.column_stride);
  assign held       = $signed(pushed_q - left_q);
  assign ahead      = ($signed(stop_q - left_q) < 0) ? $signed(pushed_q - stop_q) : held;
  assign to_edge    = $signed({3'b0, cmd_i.in_width}) - column_q;
  assign need       = (to_edge < 13'sd3) ? to_edge : 13'sd3;

  logic last_pass, weights_ok;
  assign weights_ok = !pass_start_q || (weights_i && (params_i || !last_pass));
  assign may_emit   = busy_q && weights_ok && (credit_i || !last_pass);
  always_comb begin
    if (whole) begin
      read = may_emit;
      emit = may_emit;
    end else begin
      read = busy_q && !rd_done_i && (ahead + $signed(cols) <= 13'sd4);
      emit = may_emit && ((to_edge <= 0) || (held + $signed(read ? cols : 13'd0) >= need));
    end
  end

  logic row_end, pass_end, tile_end, last;
  assign row_end     = x_q == '0;
  assign pass_end    = row_end && (y_q == '0);
  assign tile_end    = pass_end && last_pass;
  assign last        = emit && tile_end && (tile_q == '0);

  kt_conv_kernel_tiles #(
    .TwoPixels(TwoPixels)
  ) u_kernel_tiles (
    .clk_i,
    .start_i,
    .cmd_i,
    .step_i    (emit && pass_end),
    .pass_o    (pass),
    .next_row_o(next_row)
  );
  assign last_pass = pass.last;

  // the row that begins next: its first window and the columns it reads
  kt_array_pkg::pass_row_t row;
  logic [12:0]             row_from;
  assign row      = (start_i || pass_end) ? next_row : pass.row;
  assign row_from = start_i ? '0 : stop_q;
  logic [9:0] slots;   // of that row, less one
  logic [1:0] pixels;  // of this slot
  assign slots  = row.two ? (cmd_i.columns - 10'd1) >> 1 : cmd_i.columns - 10'd1;
  assign pixels = (pass.row.two && !(row_end && cmd_i.columns[0])) ? 2'd2 : 2'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (start_i) busy_q <= 1'b1;
    else if (last) busy_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      x_q          <= slots;
      y_q          <= cmd_i.rows - 10'd1;
      tile_q       <= cmd_i.tiles - 10'd1;
      pixel_q      <= '0;
      pass_start_q <= 1'b1;
      first_pass_q <= 1'b1;
      pushed_q     <= '0;
    end else begin
      if (read) pushed_q <= pushed_q + cols;
      if (emit) begin
        pixel_q      <= pass_end ? '0 : pixel_q + ObAw'(pixels);
        pass_start_q <= pass_end;
        x_q          <= row_end ? slots : x_q - 10'd1;
        left_q       <= left_q + cols;
        column_q     <= column_q + $signed(cols);
        if (row_end) y_q <= pass_end ? cmd_i.rows - 10'd1 : y_q - 10'd1;
        if (pass_end) first_pass_q <= tile_end;
        if (tile_end) tile_q <= tile_q - 10'd1;
      end
    end
    if (start_i || (emit && row_end)) begin
      left_q   <= (row.left < 0) ? row_from + 13'(row.left) : row_from;
      column_q <= 13'(row.left);
      stop_q   <= row_from + (stride2 ? {2'b0, row.reads, 1'b0} : {3'b0, row.reads});
    end
  end

  assign busy_o         = busy_q;
  assign rd_o           = read;
  assign rd_col_o       = pushed_q[1:0];
  assign last_tile_o    = tile_q == '0;
  assign last_pass_o    = pass.last_kernel_tile;
  assign swap_o         = emit && pass_start_q;
  assign result_o       = emit && last_pass;
  assign wait_weights_o = busy_q && !weights_ok;
  assign wait_credit_o  = busy_q && weights_ok && last_pass && !credit_i;
  assign token_o        = '{valid: emit, swap: swap_o, first: first_pass_q, last: last_pass, two: pass.row.two};
  assign pixel_o        = pixel_q;
  assign win_col_o      = left_q[1:0];
  logic outside;
  assign outside     = column_q < 0 || to_edge <= 0;
  assign rd_masked_o = whole && outside;
  always_comb begin
    for (int c = 0; c < 3; c++) edge_o[c] = whole ? outside : ((column_q + 13'(c) < 0) || (to_edge <= 13'(c)));
  end

endmodule
