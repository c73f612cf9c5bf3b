// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Passes of a tile: the kernel tiles (row, column) and, fastest, the input passes of each. The reader is ahead of the
// windows, so reader and sequencer have one of these each.
//
// Where a read is a whole window, there is one for each. A kernel tile of 3x3 taps reads only columns of the map:
// windows begin at column `left` (negative: outside), reads at the first column of the map from there on and end with
// the last window or the map. Where no window touches the map, a row has one dummy read, so that every row has a read;
// its windows are masked whatever it brings. With pair_groups a read of the last pass is two windows.
module kt_conv_kernel_tiles
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_array_pkg::*;
#(
  parameter bit TwoPixels = 1
) (
  input  logic      clk_i,
  input  logic      start_i,
  // each block uses its own fields of the command
  /* verilator lint_off UNUSEDSIGNAL */
  input  conv_t     cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic      step_i,     // the pass ends
  output pass_t     pass_o,
  output pass_row_t next_row_o  // of the next pass; with start_i: of the first
);

  logic [9:0]        pass_q;         // left after this one
  logic [3:0]        column_q, row_q;
  logic signed [6:0] left_q, left_d;
  logic [9:0]        reads_q, reads_d;
  logic              two_q, two_d;

  logic last_kernel_tile, last_row, last;
  assign last_kernel_tile = pass_q == '0;
  assign last_row         = last_kernel_tile && (column_q == '0);
  assign last             = last_row && (row_q == '0);

  logic               stride2, whole;
  logic signed [12:0] stop, count;  // one past the last column under the windows and in the map; columns
  assign stride2 = cmd_i.column_stride[1];
  assign whole   = cmd_i.mode != Mode3x3;
  always_comb begin
    left_d  = left_q;
    reads_d = reads_q;
    two_d   = two_q;
    stop    = '0;
    count   = '0;
    if (!Rests || start_i || step_i) begin
      if (start_i || last_row) left_d = -$signed({2'b0, cmd_i.pad_left});
      else if (last_kernel_tile) left_d = left_q + (whole ? 7'sd1 : 7'sd3);
      two_d = TwoPixels && cmd_i.mode == Mode1x1 && cmd_i.pair_groups != '0 &&
              ((start_i || last_kernel_tile) ? cmd_i.passes == 10'd1 : pass_q == 10'd1);
      stop = 13'(left_d) + (stride2 ? $signed({2'b0, cmd_i.columns, 1'b1}) : $signed({3'b0, cmd_i.columns}) + 13'sd2);
      if (stop > $signed({3'b0, cmd_i.in_width})) stop = $signed({3'b0, cmd_i.in_width});
      count = (left_d < 0) ? stop : stop - 13'(left_d);
      if (whole) reads_d = two_d ? 10'((11'(cmd_i.columns) + 11'd1) >> 1) : cmd_i.columns;
      else if (count <= 0) reads_d = 10'd1;
      else reads_d = stride2 ? 10'((count + 13'sd1) >>> 1) : count[9:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i || step_i) begin
      left_q   <= left_d;
      reads_q  <= reads_d;
      two_q    <= two_d;
      pass_q   <= (start_i || last_kernel_tile) ? cmd_i.passes - 10'd1 : pass_q - 10'd1;
      if (start_i || last_row) column_q <= cmd_i.more_kernel_tile_columns;
      else if (last_kernel_tile) column_q <= column_q - 4'd1;
      if (start_i || last) row_q <= cmd_i.more_kernel_tile_rows;
      else if (last_row) row_q <= row_q - 4'd1;
    end
  end

  assign pass_o = '{
    last:             last,
    last_row:         last_row,
    last_kernel_tile: last_kernel_tile,
    row:              '{left: left_q, reads: reads_q, two: two_q}
  };
  assign next_row_o = '{left: left_d, reads: reads_d, two: two_d};

endmodule
