// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Parameters of the lanes: from the cycle in which a tile's first total reaches a lane until the next tile's does, the lane has the word
// of its own channel of the tile, as ZSB held it when it was read, and the rule of the tile's command. Tiles come with
// ready_o only; commands and writes of ZSB are free. One lane and one word of ZSB, picked at power-up, and one tile that reads
// that word for that lane, picked at an arbitrary moment, are followed. A word of a table, read with the grant, is there in the
// next cycle, whatever tiles do.
module fv_kt_params
  import kt_cmd_pkg::*;
  import kt_pkg::*;
#(
  parameter int unsigned Stages    = 4,
  parameter int unsigned StageRows = 2,
  parameter int unsigned Depth     = 16,
  localparam int unsigned Kp    = Stages * StageRows,
  localparam int unsigned LaneW = $clog2(Kp)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             start_i,
  input addr_t            base_i,
  input out_quant_t       out_quant_i,
  input logic             tile_i,
  input logic             wr_en_i,
  input addr_t            wr_addr_i,
  input requant_params_t  wr_data_i,
  input logic             table_rd_i,
  input addr_t            table_addr_i,
  input logic [LaneW-1:0] pick_lane_i,
  input addr_t            pick_word_i,
  input logic             pick_i
);
  logic               ready, some_float, table_grant;
  logic [63:0]        table_word;
  logic signed [31:0] bias [Kp];
  logic signed [31:0] mult [Kp];
  logic signed [7:0]  shift[Kp];
  logic signed [7:0]  zero [Kp];
  logic signed [7:0]  low  [Kp];
  logic signed [7:0]  high [Kp];
  logic [1:0]         rule [Kp];
  kt_params #(
    .Stages   (Stages),
    .StageRows(StageRows),
    .Depth    (Depth)
  ) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .base_i,
    .out_quant_i,
    .ready_o(ready),
    .tile_i,
    .wr_en_i,
    .wr_addr_i,
    .wr_data_i,
    .table_grant_o(table_grant),
    .table_rd_i,
    .table_addr_i,
    .table_word_o (table_word),
    .bias_o (bias),
    .mult_o (mult),
    .shift_o(shift),
    .zero_o (zero),
    .low_o  (low),
    .high_o (high),
    .rule_o (rule),
    .float_o(some_float)
  );
  `include "fv_reset.svh"
  // a command begins before its first tile
  logic begun_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begun_q <= 1'b0;
    else if (start_i) begun_q <= 1'b1;
  end
  `FV_ASSUME(m_tile, !tile_i || (ready && begun_q && !start_i))
  `FV_ASSUME(m_base, !start_i || (base_i < addr_t'(Depth) && base_i % addr_t'(Kp) == '0))
  `FV_ASSUME(m_write, wr_addr_i < addr_t'(Depth))
  `FV_ASSUME(m_table, !table_rd_i || (table_grant && table_addr_i < addr_t'(Depth)))

  // ---- the tile that comes next, and the watched word
  addr_t            next_q, word_q;
  logic [LaneW-1:0] lane_q;
  requant_params_t  value_q;
  wire              hit = wr_en_i && wr_addr_i == word_q;
  always_ff @(posedge clk_i) begin
    if (start_i) next_q <= base_i;
    else if (tile_i) next_q <= (next_q + addr_t'(Kp)) % addr_t'(Depth);
    if (!past_ok_q) begin
      lane_q <= pick_lane_i;
      word_q <= pick_word_i;
    end else if (hit) value_q <= wr_data_i;
  end
  logic known_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= 1'b0;
    else if (hit && past_ok_q) known_q <= 1'b1;
  end

  // ---- the followed tile: cycles since its slot, and since that of the tile after it; 0: none
  function automatic logic [7:0] older(logic [7:0] age);
    return (age == '0 || age == '1) ? age : age + 8'd1;
  endfunction
  logic [7:0]      age_q, after_q;
  out_quant_t      out_quant_q;
  requant_params_t read_q;
  wire [7:0]       stage = 8'(32'(lane_q) / StageRows);
  wire             picks = pick_i && tile_i && known_q && age_q == '0 && next_q + addr_t'(lane_q) == word_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      age_q   <= '0;
      after_q <= '0;
    end else begin
      age_q   <= picks ? 8'd1 : older(age_q);
      after_q <= (age_q != '0 && tile_i && after_q == '0) ? 8'd1 : older(after_q);
    end
  end
  always_ff @(posedge clk_i) begin
    if (picks) out_quant_q <= out_quant_i;
    if (age_q == 8'd3 + stage) read_q <= value_q;
  end
  // five cycles behind the slot the first stage's lanes have them, the others a cycle later each
  wire due = age_q >= 8'd5 + stage && after_q < 8'd5 + stage;
  `FV_ASSERT(a_word, !due || (bias[lane_q] == read_q.bias && mult[lane_q] == read_q.mult && shift[lane_q] == read_q.shift))
  `FV_ASSERT(a_rule, !due || (zero[lane_q] == out_quant_q.zero && low[lane_q] == out_quant_q.low && high[lane_q] == out_quant_q.high &&
             rule[lane_q] == out_quant_q.rule))
  `FV_ASSERT(a_float, !due || rule[lane_q] != RuleFloat || some_float)

  // ---- the watched word as one of a table
  logic            table_q;
  requant_params_t table_want_q;
  always_ff @(posedge clk_i) begin
    table_q      <= rst_ni && table_rd_i && known_q && table_addr_i == word_q;
    table_want_q <= value_q;
  end
  `FV_ASSERT(a_table, !(past_ok_q && table_q) || table_word == {table_want_q.mult, table_want_q.bias})
  `FV_ASSERT(i_table, !(past_ok_q && table_q) || 32'(dut.table_bank_q) == 32'(word_q) % StageRows)
  for (genvar r = 0; r < int'(StageRows); r++) begin : g_table
    `FV_ASSERT(i_read, !(past_ok_q && table_q && 32'(word_q) % StageRows == r) || dut.param[r] == table_want_q)
  end

  // ---- invariants: the cycles since the last tile's slot and since that of the one before, and what the pipeline has of them
  logic [7:0] last_q, prev_q;
  logic [1:0] tiles_q;  // since the followed one, at most three
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      last_q  <= '0;
      prev_q  <= '0;
      tiles_q <= '0;
    end else begin
      last_q <= tile_i ? 8'd1 : older(last_q);
      prev_q <= older(tile_i ? last_q : prev_q);
      if (age_q != '0 && tile_i && tiles_q != 2'd3) tiles_q <= tiles_q + 2'd1;
    end
  end
  wire [7:0] reads = (last_q >= 8'd3) ? last_q : prev_q;
  wire [7:0] writes = (last_q >= 8'd4) ? last_q : prev_q;
  wire       reading = reads >= 8'd3 && reads < 8'(3 + Stages);
  wire       writing = writes >= 8'd4 && writes < 8'(4 + Stages);
  wire addr_t tile_word = word_q - addr_t'(lane_q);
  `FV_ASSERT(i_apart, (prev_q == '0 || (last_q != '0 && 32'(prev_q) >= 32'(last_q) + Stages) || prev_q == '1) &&
             (last_q == '0 || begun_q))
  `FV_ASSERT(i_wait, 32'(dut.wait_q) == ((last_q == '0 || 32'(last_q) >= Stages) ? 0 : Stages - 32'(last_q)))
  `FV_ASSERT(i_tile, dut.tile_q == {last_q == 8'd2, last_q == 8'd1})
  `FV_ASSERT(i_reads, dut.reading_q == reading && (!reading || 8'(dut.read_stage_q) == reads - 8'd3))
  `FV_ASSERT(i_writes, dut.write_q == writing && (!writing || 8'(dut.stage_q) == writes - 8'd4))
  `FV_ASSERT(i_next, !begun_q || (dut.tile_addr_q == next_q && next_q < addr_t'(Depth) && next_q % addr_t'(Kp) == '0))
  `FV_ASSERT(i_ages, (age_q == '0) ? after_q == '0 && tiles_q == '0
             : (tiles_q == 2'd0) ? after_q == '0 && age_q == last_q
             : (tiles_q == 2'd1) ? after_q == last_q && age_q == prev_q && last_q != '0
             : (tiles_q == 2'd2) ? after_q == prev_q && prev_q != '0 : 32'(after_q) > 2 * Stages)
  `FV_ASSERT(i_order, after_q == '0 || 32'(age_q) >= 32'(after_q) + Stages || age_q == '1)
  `FV_ASSERT(i_word, age_q == '0 || (known_q && tile_word < addr_t'(Depth) && tile_word % addr_t'(Kp) == '0))
  `FV_ASSERT(i_pending, !(age_q == 8'd1 || age_q == 8'd2) || (dut.pending_q == tile_word && dut.pending_out_quant_q == out_quant_q))
  `FV_ASSERT(i_read, !(age_q >= 8'd3 && age_q <= 8'd3 + stage) || (dut.read_out_quant_q == out_quant_q &&
             dut.addr_q == tile_word + addr_t'(age_q - 8'd3) * addr_t'(StageRows)))
  for (genvar r = 0; r < int'(StageRows); r++) begin : g_bank
    wire ours = 32'(lane_q) % StageRows == r;
    `FV_ASSERT(i_param, !(ours && age_q == 8'd4 + stage) || (dut.param[r] == read_q && dut.out_quant_q == out_quant_q))
    `FV_ASSERT(i_mem, !(known_q && 32'(word_q) % StageRows == r && word_q < addr_t'(Depth)) ||
               dut.gen_bank[r].u_zsb.mem[word_q[$clog2(StageRows)+:$clog2(Depth/StageRows)]] == value_q)
  end
  `FV_ASSERT(i_rule, (!(age_q >= 8'd3 && age_q < 8'(3 + Stages)) || dut.read_out_quant_q == out_quant_q) &&
             (!(age_q >= 8'd4 && age_q < 8'(4 + Stages)) || dut.out_quant_q == out_quant_q))
  `FV_ASSERT(i_float, !(age_q >= 8'd5 && after_q < 8'(4 + Stages)) || out_quant_q.rule != RuleFloat || some_float)

  `FV_COVER(c_table, table_q && due)
  `FV_COVER(c_close, due && after_q == 8'd4 + stage && age_q == after_q + 8'd4 && stage == 8'd3)
endmodule
