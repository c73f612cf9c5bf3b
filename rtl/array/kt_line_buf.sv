// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Line buffer: a ring of four columns of three words. A read writes one column (3x3), two (stride 2) or, where it is a
// whole window (1x1, column), columns 0..2. The window is any three neighbouring columns. Rows outside the map are
// replaced by the pad value when they enter, columns outside it when the window leaves: neither costs a read.
module kt_line_buf #(
  parameter int unsigned Cp = 8
) (
  input  logic              clk_i,
  // arriving read
  input  logic [7:0]        push_pad_i,
  input  logic              push_i,
  input  logic              wide_i,       // 1x1, column: a whole window
  input  logic              two_i,        // stride 2: two columns
  input  logic [1:0]        col_i,
  input  logic              outside_i [3],
  input  logic [Cp*8-1:0]   word_i    [9],
  // window, one cycle later than the read that completes it
  input  logic [7:0]        win_pad_i,
  input  logic              win_wide_i,
  input  logic [1:0]        win_col_i,
  input  logic [2:0]        edge_i,
  output logic signed [7:0] act_o  [Cp*9]  // tap 3 * column + row (column: 3 * group + row), then channel
);

  logic [Cp*8-1:0] push_pad, win_pad;
  logic [Cp*8-1:0] tap[9];

  assign push_pad = {Cp{push_pad_i}};
  assign win_pad  = {Cp{win_pad_i}};

  // word 3 * column + row, as in a DPE
  logic [Cp*8-1:0] ring_q[16];  // 12 words; the rest keeps an index from leaving the array
  logic [3:0] first, second;    // words of the two columns
  assign first  = {2'b0, col_i} + {1'b0, col_i, 1'b0};
  assign second = (col_i == 2'd3) ? 4'd0 : first + 4'd3;

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      automatic logic [Cp*8-1:0] ring[16] = ring_q;
      if (wide_i) begin
        for (int unsigned t = 0; t < 9; t++) ring[t] = outside_i[t%3] ? push_pad : word_i[t];
      end else begin
        for (int unsigned r = 0; r < 3; r++) begin
          ring[first+4'(r)] = outside_i[r] ? push_pad : word_i[r];
          if (two_i) ring[second+4'(r)] = outside_i[r] ? push_pad : word_i[r+3];
        end
      end
      ring_q <= ring;
    end
  end

  logic [3:0] from[3];  // first word of each window column
  always_comb begin
    automatic logic [1:0] left = win_col_i;
    for (int unsigned c = 0; c < 3; c++) begin
      automatic logic [1:0] col = win_wide_i ? 2'(c) : left + 2'(c);
      from[c] = {2'b0, col} + {1'b0, col, 1'b0};
    end
    for (int unsigned c = 0; c < 3; c++) begin
      for (int unsigned r = 0; r < 3; r++) tap[3*c+r] = edge_i[c] ? win_pad : ring_q[from[c]+4'(r)];
    end
  end

  // One assignment per byte, not a loop: the C++ compiler merges the eight byte stores of a word into one.
  for (genvar t = 0; t < 9; t++) begin : gen_word
    for (genvar b = 0; b < int'(Cp); b++) begin : gen_byte
      assign act_o[t*Cp+b] = tap[t][8*b+:8];
    end
  end

endmodule
