// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The reader of a CONV never asks one bank for two words: for any command, any walk. It rests on P (words of a pixel) not
// being a multiple of 3, and for two windows of G groups on the words from one to the next, modulo 9, between G and 9 - G; with FV_BUG that assumption is dropped and the proof must fail.
module fv_kt_row_reader
  import kt_cmd_pkg::*;
  import kt_pkg::*;
(
  input logic  clk_i,
  input logic  rst_ni,
  input logic  start_i,
  input conv_t cmd_i,
  input logic  rd_i,
  input logic  masked_i
);
  `include "fv_reset.svh"

  // A command is captured with start and stays.
  conv_t cmd_q, cmd;
  logic  started_q, walks_q, start;
  assign start = start_i && rst_ni;
  assign cmd   = start ? cmd_i : cmd_q;

  bank_req_t req[9];
  logic done, outside[3];
  kt_row_reader dut (
    .clk_i, .start_i(start), .cmd_i(cmd), .rd_i, .masked_i, .done_o(done), .rd_req_o(req), .outside_o(outside)
  );


  always_ff @(posedge clk_i) begin
    if (!rst_ni) started_q <= 1'b0;
    else if (start) started_q <= 1'b1;
    walks_q <= rst_ni && started_q && !start;
    if (start) cmd_q <= cmd_i;
  end
  // a read in the start cycle, or the one after it, would use the counters of the command before
  `FV_ASSUME(m_started, !rd_i || (walks_q && !start))

  function automatic logic legal(conv_t c);
    legal = c.in_pixel.mod < 4'd9 && c.in_step.mod < 4'd9 && c.in_group.mod < 4'd9 && c.top_mod3 < 2'd3;
`ifndef FV_BUG
    legal = legal && (c.in_pixel.mod != 4'd0) && (c.in_pixel.mod != 4'd3) && (c.in_pixel.mod != 4'd6);
    legal = legal && (c.pair_groups == 3'd0 || (c.pair_groups <= 3'd4 && c.in_step.mod >= 4'(c.pair_groups) &&
            c.in_step.mod <= 4'd9 - 4'(c.pair_groups)));
`endif
  endfunction
  `FV_ASSUME(m_legal, !start || legal(cmd_i))

  // words from a read's first column to its second one, or to group g of its second window
  function automatic word_t to_second(int unsigned g);
    word_t step;
    step = word_of((cmd_q.mode == kt_cmd_pkg::Mode1x1) ? cmd_q.in_step : cmd_q.in_pixel);
    return (step.mod + g < 9) ? '{div: step.div, mod: 4'(step.mod + g)} : '{div: step.div + 14'd1, mod: 4'(step.mod + g - 9)};
  endfunction

  logic distinct, in_range;
  always_comb begin
    distinct = 1'b1;
    in_range = 1'b1;
    for (int unsigned a = 0; a < 9; a++) begin
      if (req[a].en && req[a].bank > 4'd8) in_range = 1'b0;
      for (int unsigned b = 0; b < a; b++) begin
        if (req[a].en && req[b].en && req[a].bank == req[b].bank) distinct = 1'b0;
      end
    end
  end
  // what the request shows belongs to the cycle before
  logic valid_q, nine_q, column_q, six_q, three_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && rd_i;
    nine_q   <= cmd.mode == kt_cmd_pkg::Mode1x1;
    column_q <= cmd.mode == kt_cmd_pkg::Mode3x1;
    six_q    <= cmd.mode == kt_cmd_pkg::Mode3x3 && cmd.column_stride == 4'd2;
    three_q  <= cmd.mode == kt_cmd_pkg::Mode3x3 && cmd.column_stride == 4'd1;
  end

  `FV_ASSERT(a_distinct, !(past_ok_q && valid_q) || distinct)
  `FV_ASSERT(a_banks, !(past_ok_q && valid_q) || in_range)
  `FV_ASSERT(i_start, !(past_ok_q && rst_ni && started_q) || (legal(cmd_q) && dut.stride_mod3_q < 2'd3 && dut.two_pixels_q.mod < 4'd9 && dut.two_steps_q.mod < 4'd9 &&
             dut.second_q[0] == to_second(0) && dut.second_q[1] == to_second(1) && dut.second_q[2] == to_second(2) && dut.second_q[3] == to_second(3) &&
             (walks_q || dut.walk_begin)))
  `FV_ASSERT(i_walk, !(past_ok_q && rst_ni && walks_q) || (started_q && dut.pos_q.mod < 4'd9 && dut.group_q.mod < 4'd9 &&
             dut.kernel_tile_q.mod < 4'd9 && dut.mod3_q < 2'd3 &&
             dut.kernel_tile_mod3_q < 2'd3 && dut.three_pixels_q.mod < 4'd9 &&
             (!dut.pass.row.two || (cmd_q.pair_groups != 3'd0 && cmd_q.mode == kt_cmd_pkg::Mode1x1))))
  `FV_COVER(c_nine, valid_q && nine_q && req[8].en)
  `FV_COVER(c_two, valid_q && nine_q && cmd_q.pair_groups == 3'd3 && req[6].en && !req[7].en)
  `FV_COVER(c_column, valid_q && column_q && req[8].en && dut.mod3_q != cmd_q.top_mod3)
  `FV_COVER(c_six, valid_q && six_q && req[5].en && dut.rows_q == 10'd0)
  `FV_COVER(c_three, valid_q && three_q && req[2].en)
  `FV_COVER(c_kernel_tile_row, valid_q && three_q && req[2].en && dut.kernel_tile_top_q == cmd_q.top_row + 12'sd3)
  `FV_COVER(c_one_row, valid_q && nine_q && req[2].en && dut.kernel_tile_top_q == cmd_q.top_row + 12'sd1)
  `FV_COVER(c_kernel_tile_column, valid_q && three_q && req[2].en && dut.kernel_tile_q != dut.first_group)
endmodule
