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

  // Only columns are chosen at run time: a word of the ring has at most three sources, a tap four.
  logic [Cp*8-1:0] word[9], ring_q[3][4];

  always_comb begin
    for (int unsigned t = 0; t < 9; t++) word[t] = outside_i[t%3] ? push_pad : word_i[t];
  end

  for (genvar c = 0; c < 4; c++) begin : gen_column
    logic first, second, whole;
    assign first  = col_i == 2'(c);
    assign second = two_i && (col_i == 2'(c + 3));
    assign whole  = wide_i && (c < 3);
    for (genvar r = 0; r < 3; r++) begin : gen_row
      always_ff @(posedge clk_i) begin
        if (push_i && (wide_i ? whole : first || second)) begin
          ring_q[r][c] <= whole ? word[3*(c%3)+r] : second ? word[3+r] : word[r];
        end
      end
    end
  end

  always_comb begin
    automatic logic [1:0] left = win_col_i;
    for (int unsigned c = 0; c < 3; c++) begin
      automatic logic [1:0] col = win_wide_i ? 2'(c) : left + 2'(c);
      for (int unsigned r = 0; r < 3; r++) begin
        automatic logic [Cp*8-1:0] w;
        unique case (col)
          2'd0: w = ring_q[r][0];
          2'd1: w = ring_q[r][1];
          2'd2: w = ring_q[r][2];
          default: w = ring_q[r][3];
        endcase
        tap[3*c+r] = edge_i[c] ? win_pad : w;
      end
    end
  end

  // One assignment per byte, not a loop: the C++ compiler merges the eight byte stores of a word into one.
  for (genvar t = 0; t < 9; t++) begin : gen_word
    for (genvar b = 0; b < int'(Cp); b++) begin : gen_byte
      assign act_o[t*Cp+b] = tap[t][8*b+:8];
    end
  end

endmodule
