// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Rows of LoadWeights, with any command whose rows fit the ring: one slice for each row of each pass, in this order, the last of
// them marked. A row has all its bytes, or those of a tile's last pass; it lies at row + pass * pitch + number, modulo the ring
// [wb_split, WbRows), with VWB without a ring. Loops are counted upwards here, the block counts down; steps come when they like.
module fv_kt_load_weights
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned Cp     = 4,
  parameter int unsigned WbRows = 48,
  localparam int unsigned NeedW = $clog2(9 * Cp + 1)
) (
  input logic          clk_i,
  input logic          rst_ni,
  input logic          start_i,
  input load_weights_t cmd_i,
  input addr_t         split_i,
  input logic          step_i
);
  logic [NeedW-1:0] more;
  logic             plain, last;
  logic [3:0]       full;
  logic [4:0]       bytes;
  logic [7:0]       fill;
  addr_t            addr, split_q;
  kt_load_weights #(
    .Cp    (Cp),
    .WbRows(WbRows)
  ) dut (
    .clk_i,
    .wb_split_i(split_q),
    .start_i,
    .cmd_i,
    .step_i,
    .more_o    (more),
    .plain_o   (plain),
    .full_o    (full),
    .bytes_o   (bytes),
    .fill_o    (fill),
    .end_o     (last),
    .addr_o    (addr)
  );
  `include "fv_reset.svh"

  // ---- a command, from its start to its last step
  load_weights_t cmd_q;
  logic          busy_q;
  logic [15:0]   pass_q, tile_pass_q, row_q;
  wire           moves = busy_q && step_i;
  wire           pass_end = row_q + 16'd1 == 16'(cmd_q.rows);
  wire           tile_end = tile_pass_q + 16'd1 == 16'(cmd_q.tile_passes);
  wire           all_end = pass_end && pass_q + 16'd1 == 16'(cmd_q.passes);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else if (start_i) begin
      busy_q <= 1'b1;
    end else if (moves && all_end) begin
      busy_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      cmd_q       <= cmd_i;
      split_q     <= split_i;
      pass_q      <= '0;
      tile_pass_q <= 16'(cmd_i.first_pass);
      row_q       <= '0;
    end else if (moves) begin
      row_q <= pass_end ? '0 : row_q + 16'd1;
      if (pass_end) begin
        pass_q      <= pass_q + 16'd1;
        tile_pass_q <= tile_end ? '0 : tile_pass_q + 16'd1;
      end
    end
  end
  wire addr_t ring_rows = addr_t'(WbRows) - split_i;
  `FV_ASSUME(m_start, !start_i || !busy_q)
  `FV_ASSUME(m_legal, !start_i || (cmd_i.rows != '0 && cmd_i.passes != '0 && cmd_i.tile_passes != '0 && cmd_i.first_pass < cmd_i.tile_passes))
  `FV_ASSUME(m_ring, !start_i || cmd_i.to_vwb || (split_i < addr_t'(WbRows) && cmd_i.row >= split_i && cmd_i.row < addr_t'(WbRows) &&
             addr_t'(cmd_i.rows) <= ring_rows && addr_t'(cmd_i.pass_pitch) <= ring_rows))

  // ---- where rows lie: the distance from the command's row, and how often the ring's rows were taken off it
  logic [31:0] pass_at_q, pass_off_q, off_q;
  always_ff @(posedge clk_i) begin
    if (start_i) pass_at_q <= '0;
    else if (moves && pass_end) pass_at_q <= pass_at_q + 32'(cmd_q.pass_pitch);
  end
  wire [31:0] place = 32'(cmd_q.row) + pass_at_q + 32'(row_q);
  wire [31:0] rows_of_ring = 32'(WbRows) - 32'(split_q);
  logic [31:0] at;
  assign at = place - off_q;
  wire [31:0] pass_place = 32'(cmd_q.row) + pass_at_q - pass_off_q;
  // what comes off a place that is beyond the ring
  function automatic logic [31:0] beyond(logic [31:0] next);
    return (!cmd_q.to_vwb && next >= WbRows) ? rows_of_ring : '0;
  endfunction
  wire [31:0] next_pass_off = pass_off_q + beyond(pass_place + 32'(cmd_q.pass_pitch));
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      pass_off_q <= '0;
      off_q      <= '0;
    end else if (moves && pass_end) begin
      pass_off_q <= next_pass_off;
      off_q      <= next_pass_off;
    end else if (moves) begin
      off_q <= off_q + beyond(at + 32'd1);
    end
  end

  // ---- claims
  `FV_ASSERT(a_end, !busy_q || last == all_end)
  `FV_ASSERT(a_more, !busy_q || more + NeedW'(1) == (tile_end ? NeedW'(cmd_q.last_row_bytes) : NeedW'(9 * Cp)))
  `FV_ASSERT(a_plain, !busy_q || plain == (more == NeedW'(9 * Cp - 1)))
  `FV_ASSERT(a_words, !busy_q || (full == cmd_q.last_full_words && bytes == cmd_q.last_word_bytes && fill == cmd_q.fill))
  `FV_ASSERT(a_place, !busy_q || addr == addr_t'(at))
  `FV_ASSERT(a_ring, !busy_q || cmd_q.to_vwb || (at >= 32'(split_q) && at < WbRows))

  // ---- invariants
  `FV_ASSERT(i_counts, !busy_q || (row_q < 16'(cmd_q.rows) && pass_q < 16'(cmd_q.passes) && tile_pass_q < 16'(cmd_q.tile_passes) &&
             16'(dut.row_q) + row_q + 16'd1 == 16'(cmd_q.rows) && 16'(dut.pass_q) + pass_q == 16'(cmd_q.passes) &&
             16'(dut.tile_pass_q) + tile_pass_q + 16'd1 == 16'(cmd_q.tile_passes)))
  `FV_ASSERT(i_command, !busy_q || (dut.rows_q == cmd_q.rows - 8'd1 && dut.pitch_q == cmd_q.pass_pitch && dut.ring_q == !cmd_q.to_vwb &&
             dut.last_more_q == NeedW'(cmd_q.last_row_bytes) - NeedW'(1) && dut.tile_passes_q == cmd_q.tile_passes - 12'd1 &&
             dut.last_full_words_q == cmd_q.last_full_words && dut.last_word_bytes_q == cmd_q.last_word_bytes &&
             dut.fill_q == cmd_q.fill))
  `FV_ASSERT(i_pass, !busy_q || (dut.pass_addr_q == addr_t'(pass_place) &&
             (cmd_q.to_vwb || (pass_place >= 32'(split_q) && pass_place < WbRows))))
  `FV_ASSERT(i_legal, !busy_q || (cmd_q.rows != '0 && (cmd_q.to_vwb || (split_q < addr_t'(WbRows) &&
             32'(cmd_q.rows) <= rows_of_ring && 32'(cmd_q.pass_pitch) <= rows_of_ring))))

  `FV_COVER(c_wraps, busy_q && last && off_q != '0 && pass_off_q == '0 && cmd_q.first_pass == 12'd1 && cmd_q.tile_passes == 12'd3 && pass_q == 16'd2)
  `FV_COVER(c_vwb, busy_q && last && cmd_q.to_vwb && pass_q == 16'd1)
endmodule
