// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Words of a slice: `full` words of Cp bytes, then words of `bytes`, one after the other; what a word or the stream does not have is
// the fill value. So each byte of the slice that belongs to the stream is in its place in one word, and in no other. One byte of
// one word, any at all, is compared with this definition, for the three kinds of slices.
module fv_kt_load_words #(
  parameter int unsigned Cp     = 4,
  localparam int unsigned NeedW = $clog2(9 * Cp + 1)
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic [9*Cp*8-1:0]     slice_i,
  input logic                  plain_i,
  input logic signed [NeedW:0] first_i,
  input logic [NeedW-1:0]      more_i,
  input logic [3:0]            full_i,
  input logic [4:0]            bytes_i,
  input logic [7:0]            fill_i,
  input logic [3:0]            pick_word_i,
  input logic [4:0]            pick_byte_i
);
  logic [Cp*8-1:0] word[9];
  kt_load_words #(
    .Cp(Cp)
  ) dut (
    .slice_i,
    .plain_i,
    .low_i (-(NeedW + 2)'(first_i)),
    .high_i($signed({2'b0, more_i}) - (NeedW + 2)'(first_i)),
    .full_i,
    .bytes_i,
    .fill_i,
    .word_o(word)
  );
  `include "fv_reset.svh"
  `FV_ASSUME(m_pick, pick_word_i < 4'd9 && 32'(pick_byte_i) < Cp)

  // ---- the kinds: narrow words alone; three of them behind three or six full ones; one behind any number. The last two begin
  // with the slice and end with the stream.
  wire integer full = 32'(full_i);
  wire integer bytes = 32'(bytes_i);
  wire integer first = 32'(first_i);
  wire integer need = 32'(more_i) + 1;
  wire      whole = full == 9 || bytes == 32'(Cp);
  wire      narrow = full == 0 && bytes > 0 && bytes < 32'(Cp);
  wire      three = (full == 3 || full == 6) && bytes > 0 && bytes < 32'(Cp) && first == 0 && need == full * int'(Cp) + 3 * bytes;
  wire      one = full < 9 && bytes > 0 && bytes < 32'(Cp) && first == 0 && need == full * int'(Cp) + bytes;
  wire      all = need == 9 * int'(Cp) && first == 0 && whole;
  `FV_ASSUME(m_kind, whole || narrow || three || one)
  `FV_ASSUME(m_plain, !plain_i || all)

  // ---- the definition
  wire integer  w = 32'(pick_word_i);
  wire integer  b = 32'(pick_byte_i);
  wire integer  at = (whole || w < full) ? w * int'(Cp) + b : full * int'(Cp) + (w - full) * bytes + b;
  wire logic there = (whole || w < full || b < bytes) && at + first >= 0 && at + first < need && at < 9 * int'(Cp);
  wire [7:0] want = there ? slice_i[8*at+:8] : fill_i;
  `FV_ASSERT(a_byte, word[pick_word_i][8*pick_byte_i+:8] == want)

  `FV_COVER(c_narrow, narrow && bytes == 3 && first == -2 && w == 5 && there && want == 8'h5a && fill_i == 8'ha5)
  `FV_COVER(c_three, three && full == 6 && w == 7 && b == 1 && there)
  `FV_COVER(c_one, one && full == 4 && w == 4 && there)
endmodule
