// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Loader of the vector engine's parameters: for every load of a command, exactly its words of ZSB are asked for, each once, in order,
// at their addresses and with their destinations: in front of the first load the 32 words of its table, if it has one, into
// the halves in turn; then lanes and operands. Only with a grant, and in every cycle with one while words are left.
// loaded_o tells that all were, and a command ends with the last stage's swap of its last load.
// Assumed is what kt_vector does: a command while ready_o is high, a swap while loaded_o is high, and each reaches the last stage
// once (fv_kt_vector: i_job).
module fv_kt_vector_loader
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp = 4,
  localparam int unsigned LaneW = $clog2(3 * Cp)
) (
  input logic     clk_i,
  input logic     rst_ni,
  input logic     start_i,
  input vec_cmd_t cmd_i,
  input logic     swap_i,
  input logic     swapped_i,
  input logic     zsb_grant_i
);
  logic             ready, loaded, zsb_rd;
  addr_t            zsb_addr;
  param_dest_e      zsb_dest;
  logic [LaneW-1:0] zsb_lane;
  logic [5:0]       zsb_table;
  out_quant_t       out_quant;
  kt_vector_loader #(
    .Cp(Cp)
  ) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .cmd_i,
    .ready_o     (ready),
    .loaded_o    (loaded),
    .swap_i,
    .swapped_i,
    .zsb_grant_i,
    .zsb_rd_o    (zsb_rd),
    .zsb_addr_o  (zsb_addr),
    .zsb_dest_o  (zsb_dest),
    .zsb_lane_o  (zsb_lane),
    .zsb_table_o (zsb_table),
    .out_quant_o (out_quant)
  );
  `include "fv_reset.svh"

  // ---- the command, its loads and what was read for this one
  vec_cmd_t   cmd_q;
  logic       have_q, swapping_q, half_q;
  logic [9:0] load_q;
  logic [5:0] table_q, word_q;
  addr_t      zsb_q;  // of the next word
  logic [5:0] table_words, words;
  logic       last_load;
  assign table_words = cmd_q.look_up ? 6'd32 : 6'd0;
  always_comb begin
    unique case (cmd_q.kind)
      KindDepthwise: words = 6'(3 * Cp);
      KindMaximum:   words = 6'd1;
      KindAdd:       words = 6'd3 + 6'(cmd_q.more_operands);
      default:       words = 6'd0;
    endcase
  end
  assign last_load = cmd_q.kind != KindDepthwise || 10'(load_q + 10'd1) == cmd_q.tiles;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      have_q     <= 1'b0;
      swapping_q <= 1'b0;
      half_q     <= 1'b1;
    end else begin
      have_q     <= start_i || (have_q && !(swapped_i && last_load));
      swapping_q <= swap_i || (swapping_q && !swapped_i);
      if (start_i && cmd_i.look_up) half_q <= !half_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      cmd_q    <= cmd_i;
      load_q   <= '0;
      table_q  <= '0;
      word_q   <= '0;
      zsb_q    <= cmd_i.look_up ? cmd_i.table_word : cmd_i.params;
    end else begin
      if (zsb_rd) begin
        zsb_q <= (table_q + 6'd1 == table_words) ? cmd_q.params : zsb_q + 16'd1;
        if (table_q != table_words) table_q <= table_q + 6'd1;
        else word_q <= word_q + 6'd1;
      end
      if (swapped_i) begin
        load_q   <= load_q + 10'd1;
        word_q   <= '0;
      end
    end
  end
  wire words_left   = table_q != table_words || word_q != words;
  wire reading      = have_q && !swapping_q && !loaded;

  `FV_ASSUME(m_start, !start_i || ready)
  `FV_ASSUME(m_swap, !swap_i || loaded)
  `FV_ASSUME(m_swapped, !swapped_i || swapping_q)
  `FV_ASSUME(m_tiles, !start_i || cmd_i.tiles != '0)

  // ---- claims
  wire on = past_ok_q && rst_ni;
  `FV_ASSERT(a_ready, !on || ready == !have_q)
  `FV_ASSERT(a_zsb, !on || zsb_rd == (reading && words_left && zsb_grant_i))
  `FV_ASSERT(a_loaded, !(on && loaded) || (have_q && !swapping_q && !words_left))
  `FV_ASSERT(a_word, !(on && zsb_rd) || zsb_addr == zsb_q)
  wire of_table = table_q != table_words;
  `FV_ASSERT(a_table, !(on && zsb_rd) || ((zsb_dest == ToTable) == of_table && (!of_table || zsb_table == {half_q, table_q[4:0]})))
  `FV_ASSERT(a_all, !(on && zsb_rd && !of_table) || (zsb_dest == ToAll) == (cmd_q.kind == KindMaximum ||
             (cmd_q.kind == KindAdd && word_q + 6'd1 == words)))
  `FV_ASSERT(a_lane, !(on && zsb_rd) || (zsb_dest == ToLane) == (!of_table && cmd_q.kind == KindDepthwise))
  `FV_ASSERT(a_place, !(on && zsb_rd && (zsb_dest == ToLane || zsb_dest == ToOperand)) || 6'(zsb_lane) == word_q)
  `FV_ASSERT(a_out_quant, !(on && have_q) || out_quant == cmd_q.out_quant)
  // what was read for the last time in this cycle is loaded in the one after the next
  logic complete_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) complete_q <= 1'b0;
    else complete_q <= reading && !words_left;
  end
  `FV_ASSERT(a_told, !(on && complete_q) || loaded)

  // ---- invariants: the loader's registers say the same
  `FV_ASSERT(i_states, !on || (dut.job_q == have_q && dut.loading_q == reading && (!swapping_q || have_q) && (!loaded || !swapping_q)))
  `FV_ASSERT(i_half, !on || dut.second_q == half_q)
  `FV_ASSERT(i_command, !(on && have_q) || (dut.kind_q == cmd_q.kind && 6'(dut.words_q) == words && cmd_q.tiles != '0))
  `FV_ASSERT(i_loads, !(on && have_q && cmd_q.kind == KindDepthwise) || (load_q < cmd_q.tiles && dut.tiles_q == cmd_q.tiles - 10'd1 - load_q))
  `FV_ASSERT(i_params, !(on && have_q) || dut.params_q == cmd_q.params)
  `FV_ASSERT(i_counts, !(on && have_q) || (dut.zsb_addr_q == zsb_q &&
             6'(dut.word_q) == word_q && word_q <= words && table_q <= table_words &&
             7'(dut.table_left_q) + 7'(table_q) == 7'(table_words)))
  `FV_ASSERT(i_order, !(on && have_q) || table_q == table_words || (word_q == '0 && load_q == '0 && reading))

  `FV_COVER(c_second, loaded && load_q == 10'd1)
  `FV_COVER(c_table, zsb_rd && of_table && table_q == 6'd31 && cmd_q.kind == KindAdd)
endmodule
