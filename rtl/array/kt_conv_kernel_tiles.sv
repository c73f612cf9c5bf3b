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
  output logic      begin_o,    // in the cycle after start_i: the first pass is the next one
  output pass_t     pass_o,
  output pass_row_t next_row_o  // of the next pass
);

  // of the next pass
  logic [9:0]        pass_q;         // left after it
  logic [3:0]        column_q, row_q;
  logic              pass_last_q, column_last_q, row_last_q;  // none is left
  logic signed [6:0] left_q, left_d;
  logic signed [6:0] right_q;        // `left` of the kernel tile to its right
  logic [9:0]        more_reads_q, first_reads_q;  // first: of the leftmost kernel tile
  // of this one
  pass_t             now_q;
  logic              begin_q, step;
  assign step = step_i || begin_q;

  logic last_kernel_tile, last_row, last, two;
  assign last_kernel_tile = pass_last_q;
  assign last_row         = last_kernel_tile && column_last_q;
  assign last             = last_row && row_last_q;
  assign two              = TwoPixels && cmd_i.mode == Mode1x1 && cmd_i.pair_groups != '0 && last_kernel_tile;

  // without a chain of carries
  function automatic logic signed [6:0] minus(logic [4:0] n);
    for (int i = 0; i < 5; i++) minus[i] = n[i] ^ ((n & 5'((1 << i) - 1)) != '0);
    minus[6:5] = {2{n != '0}};
  endfunction

  // Columns of a row are numbered from the first one that is read. One less than a count of reads is a number, too. Those
  // of the leftmost kernel tile are kept.
  logic               whole, stride2;
  logic signed [6:0]  from;                        // `left` of the kernel tile whose reads are counted
  logic signed [12:0] under, in_map, last_column;  // the last column under the windows; in the map; in both
  logic [9:0]         reads;                       // less one
  assign whole   = cmd_i.mode != Mode3x3;
  assign stride2 = !whole && cmd_i.column_stride[1];
  assign from    = start_i ? minus(cmd_i.pad_left) : right_q;
  always_comb begin
    under       = '0;
    in_map      = '0;
    last_column = '0;
    reads       = '0;
    if (!Rests || start_i || step) begin
      under = $signed(stride2 ? {2'b0, cmd_i.columns, 1'b0} : {3'b0, cmd_i.columns}) +
              (whole ? -13'sd1 : (from < 0) ? 13'(from) : 13'sd0) + $signed({12'b0, !whole && !stride2});
      in_map = $signed({3'b0, cmd_i.in_width}) + ((from < 0) ? ~13'sd0 : ~13'(from));
      last_column = (whole || under < in_map) ? under : in_map;
      if (last_column >= 0) reads = stride2 ? last_column[10:1] : last_column[9:0];
    end
  end
  assign left_d = (start_i || last_row) ? minus(cmd_i.pad_left) : last_kernel_tile ? right_q : left_q;

  always_ff @(posedge clk_i) begin
    begin_q <= start_i;
    if (start_i) first_reads_q <= reads;
    if (start_i || (step && last_kernel_tile)) more_reads_q <= (start_i || !column_last_q) ? reads : first_reads_q;
    if (start_i || step) begin
      automatic logic [9:0] passes = (start_i || last_kernel_tile) ? cmd_i.passes : pass_q;
      left_q       <= left_d;
      right_q      <= left_d + (whole ? 7'sd1 : 7'sd3);
      pass_q       <= passes - 10'd1;
      pass_last_q  <= passes == 10'd1;
    end
    if (start_i || (step && last_kernel_tile)) begin
      column_q      <= (start_i || column_last_q) ? cmd_i.more_kernel_tile_columns : column_q - 4'd1;
      column_last_q <= (start_i || column_last_q) ? cmd_i.more_kernel_tile_columns == '0 : column_q == 4'd1;
    end
    if (start_i || (step && last_row)) begin
      row_q      <= (start_i || row_last_q) ? cmd_i.more_kernel_tile_rows : row_q - 4'd1;
      row_last_q <= (start_i || row_last_q) ? cmd_i.more_kernel_tile_rows == '0 : row_q == 4'd1;
    end
    if (step) now_q <= '{last: last, last_row: last_row, last_kernel_tile: last_kernel_tile, row: next_row_o};
  end

  assign begin_o    = begin_q;
  assign pass_o     = now_q;
  assign next_row_o = '{left: left_q, more_reads: two ? more_reads_q >> 1 : more_reads_q, two: two};

endmodule
