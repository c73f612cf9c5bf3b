// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Vector engine: its table has two halves. A command's 32 words are written once each, in order, into one half, before its first
// step (a_order, a_all); in every such cycle no result on its way will be looked up in that half (a_half); and its results are looked
// up in the half its words went to (a_own). So a result finds the table of its own command, all of it, and no word is read while
// it is written. A result in the table meets no other at its end (a_alone). With FV_WIDE the table is read at all lanes at once.
// Besides: the command that runs and its plan are those that the setup had, steps pass unchanged from stage to stage (a_runs, a_step),
// the word of an average is read at the address formed for its window (a_average), and two never read one memory in the same cycle
// (a_ports). Commands are free, and so is what the memories hold; the rest of the engine is here for its timing only.
//
// One promise of kt_result_writer is assumed (m_writer): it takes a command only while at most one older one is not done, and none
// is done before its last result has left this block (fv_kt_result_writer: a_ready, a_done; fv_kt_vector_seq: a_exact). With FV_BUG
// it is dropped and the proof must fail.
module fv_kt_vector
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp = 4
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                cmd_valid_i,
  input logic [3:0]          op_i,
  input logic [BodyBits-1:0] cmd_i,
  input index_t              cmd_index_i,
  input logic                vwb_we_i,
  input addr_t               vwb_addr_i,
  input logic [9*Cp*8-1:0]   vwb_data_i,
  input logic                zsb_we_i,
  input addr_t               zsb_addr_i,
  input requant_params_t     zsb_data_i,
  input logic [Cp*8-1:0]     word_i[9],
  input logic                out_ready_i,
  input logic                out_credit_i
);
  bank_req_t       req[9];
  logic            cmd_ready, out_start, out_take, out_valid, active_step;
  out_cmd_t        out_cmd;
  logic [Cp*8-1:0] out_word[3];
  kt_vector #(
    .Cp      (Cp),
`ifdef FV_WIDE
    .WideTable(1),
`endif
    .VwbRows (16),
    .ZsbDepth(64)
  ) dut (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o(cmd_ready),
    .cmd_i      ({cmd_index_i, op_i, cmd_i}),
    .vwb_we_i,
    .vwb_addr_i,
    .vwb_data_i,
    .zsb_we_i,
    .zsb_addr_i,
    .zsb_data_i,
    .rd_req_o   (req),
    .word_i,
    .out_start_o(out_start),
    .out_cmd_o  (out_cmd),
    .out_ready_i,
    .out_take_o (out_take),
    .out_credit_i,
    .out_valid_o(out_valid),
    .out_word_o (out_word),
    .active_o   (active_step)
  );
  `include "fv_reset.svh"

  // ---- results on their way: stages 0 (sequencer) to 13 (table), and in the table; which of them is its command's last
  localparam int unsigned Stages = 13;
  logic [Stages:0]   last, looks, half, swaps;  // a result; to be looked up, and where; a step that takes what was loaded
  logic [Stages:1]   end_q, table_end_q;  // a command's last result; of a command with a table
  logic              held_end_q;          // the same of the result in the table
  logic              held;                // a result is in the table
  vec_token_t        token[7];
  assign token = '{dut.token0, dut.token1_q, dut.token2_q, dut.token3_q, dut.token4_q, dut.token5_q, dut.token6_q};
  for (genvar s = 0; s <= Stages; s++) begin : g_stage
    if (s < 7) begin : g_token
      assign last[s]  = token[s].last;
      assign looks[s] = token[s].last && token[s].look_up;
      assign half[s]  = token[s].second;
      assign swaps[s] = token[s].swap;
    end else begin : g_requant
      assign looks[s] = dut.gen_table.look_up_q[s-7];
      assign half[s]  = dut.gen_table.second_q[s-7];
      assign swaps[s] = 1'b0;
    end
  end
  assign last[Stages:7] = {dut.u_result.u_requant.valid6_q[0], dut.u_result.u_requant.valid5_q[0], dut.u_result.u_requant.valid4_q[0],
                           dut.u_result.u_requant.valid3_q[0], dut.u_result.u_requant.valid2_q[0], dut.u_result.u_requant.valid1_q[0],
                           dut.u_result.last_q};
`ifdef FV_WIDE
  assign held = dut.gen_table.gen_wide.u_table.valid_q;
`else
  assign held = dut.gen_table.gen_narrow.u_table.step_q != '0;
`endif
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      end_q       <= '0;
      table_end_q <= '0;
      held_end_q  <= 1'b0;
    end else begin
      end_q       <= {end_q[Stages-1:1], dut.seq_finish};
      table_end_q <= {table_end_q[Stages-1:1], dut.seq_finish && dut.cmd_q.look_up};
`ifdef FV_WIDE
      held_end_q <= looks[Stages] && end_q[Stages];
`else
      if (dut.gen_table.gen_narrow.u_table.start) held_end_q <= end_q[Stages];
      else if (dut.gen_table.gen_narrow.u_table.step_q == 2'd3) held_end_q <= 1'b0;
`endif
    end
  end

  // ---- commands whose last result has not left: what the result writer cannot be done with
  logic       waits, runs;  // in the setup; in the sequencer
  logic [4:0] open;
  assign waits = dut.next_valid;
  assign runs  = dut.seq_busy || dut.start_q;
  always_comb begin
    open = 5'(waits) + 5'(runs) + 5'(held_end_q);
    for (int s = 1; s <= Stages; s++) open += 5'(end_q[s]);
  end
`ifndef FV_BUG
  `FV_ASSUME(m_writer, !out_ready_i || open <= 5'd1)
  `FV_ASSERT(i_open, !past_ok_q || open <= 5'd2)
`endif

  // ---- the writes of a table
  logic        write;
  logic [5:0]  place;
  logic [5:0]  written_q;  // since the load began
  addr_t       from_q;     // where the word comes from
  logic        own_q;      // half of the running command's table
  logic        fresh_q;    // the command that the loader has begun last has not stepped
  vec_cmd_t    fresh;
  assign write = dut.param_we_q && dut.dest_q == ToTable;
  assign place = dut.gen_table.table_addr_q;
  assign fresh = dut.claimed_q ? dut.next_cmd : dut.cmd_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fresh_q <= 1'b0;
    else if (dut.loader_start) fresh_q <= 1'b1;
    else if (token[0].swap) fresh_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (dut.loader_start) written_q <= '0;
    else if (write) written_q <= written_q + 6'd1;
    from_q <= dut.zsb_addr;
    if (dut.take) own_q <= dut.u_loader.second_q ^ (dut.loader_start && dut.next_cmd.look_up);
  end

  // ---- claims
  wire on = past_ok_q && rst_ni;
  for (genvar s = 0; s <= Stages; s++) begin : g_half
    `FV_ASSERT(a_half, !(on && write && looks[s]) || half[s] != place[5])
  end
`ifdef FV_WIDE
  `FV_ASSERT(a_alone, !(on && held && last[Stages]) || looks[Stages])
`else
  `FV_ASSERT(a_half_held, !(on && write && held) || dut.gen_table.gen_narrow.u_table.second_q != place[5])
  `FV_ASSERT(a_alone, !(on && held && last[Stages]) || (dut.gen_table.gen_narrow.u_table.step_q == 2'd3 && looks[Stages]))
`endif
  `FV_ASSERT(a_own, !(on && token[0].valid && token[0].look_up) || token[0].second == own_q)
  `FV_ASSERT(a_order, !(on && write) || (place[4:0] == written_q[4:0] && from_q == fresh.table_word + addr_t'(written_q)))
  `FV_ASSERT(a_all, !(on && token[0].valid && token[0].look_up && dut.u_seq.first_tile_q && dut.u_seq.tile_start_q) ||
             (written_q == 6'(TableWords) && !write))

  // ---- commands and steps on their way
  logic       on_q;
  vec_token_t step_q[6];
  vec_cmd_t   runs_q;
  vec_plan_t  plan_q;
  addr_t      average_q[3];
  always_ff @(posedge clk_i) begin
    on_q         <= on;
    runs_q       <= dut.take ? dut.next_cmd : dut.cmd_q;
    plan_q       <= dut.take ? dut.next_plan : dut.plan_q;
    average_q    <= '{dut.average_addr2, dut.average_addr3_q, dut.average_addr4_q};
    for (int s = 0; s < 6; s++) step_q[s] <= token[s];
  end
  for (genvar s = 0; s < 6; s++) begin : g_step
    `FV_ASSERT(a_step, !on_q || !rst_ni || token[s+1] == step_q[s])
  end
  `FV_ASSERT(a_runs, !on_q || (dut.cmd_q == runs_q && dut.plan_q == plan_q))
  // stage by stage beside the step, which reads with it
  `FV_ASSERT(a_average, !on_q || (dut.average_addr3_q == average_q[0] && dut.average_addr4_q == average_q[1] &&
             dut.average_addr5_q == average_q[2] && (!(token[5].last && token[5].kind == KindAverage) || dut.zsb_addr == average_q[2])))
  `FV_ASSERT(a_ports, !(dut.average5 && dut.loader_zsb_rd) && !(dut.step_weights2 && dut.loader_vwb_rd))

  // ---- invariants: halves take turns
  wire turn = dut.u_seq.second_q;
  wire first_step = dut.u_seq.tile_start_q && dut.u_seq.first_tile_q;  // is still to come
  wire stepping   = dut.seq_busy && !first_step;
  logic [Stages+1:0] ended;     // commands with a table that ended with or behind this result, mod 2
  logic [Stages+1:0] of_table;  // the command of this result, which ends with it, behind it or not yet, has a table
  always_comb begin
    ended    = '0;
    of_table = {{(Stages + 1){1'b0}}, stepping && dut.cmd_q.look_up};
    for (int s = 1; s <= Stages; s++) begin
      ended[s]    = ended[s-1] ^ table_end_q[s];
      of_table[s] = end_q[s] ? table_end_q[s] : of_table[s-1];
    end
    ended[Stages+1]    = ended[Stages] ^ held_end_q;
    of_table[Stages+1] = held_end_q || of_table[Stages];
  end
  for (genvar s = 1; s <= Stages; s++) begin : g_turn
    `FV_ASSERT(i_turn, !(on && looks[s]) || (half[s] == (turn ^ ended[s]) && of_table[s]))
    `FV_ASSERT(i_end, !on || table_end_q[s] == (end_q[s] && looks[s]))
  end
  `FV_ASSERT(i_held, !on || !held_end_q || held)
  `FV_ASSERT(i_last, !on || ((looks | {end_q, 1'b0}) & ~last) == '0)
  `FV_ASSERT(i_own, !(on && runs && dut.cmd_q.look_up) || own_q == turn)
  `FV_ASSERT(i_loader_turn, !on || dut.u_loader.second_q == !(turn ^ (runs && dut.cmd_q.look_up) ^ (dut.claimed_q && dut.next_cmd.look_up)))

  // ---- invariants: a result that is looked up meets no other
`ifdef FV_WIDE
  // what follows is of the same command: between two of them a slot makes none
  `FV_ASSERT(i_gap, !(on && end_q[1]) || !dut.seq_busy)
  for (genvar s = 1; s <= Stages; s++) begin : g_pace
    `FV_ASSERT(i_pace, !(on && looks[s] && last[s-1]) || looks[s-1])
  end
`else
  `FV_ASSERT(i_turn_held, !(on && held) || (dut.gen_table.gen_narrow.u_table.second_q == (turn ^ ended[Stages+1]) && of_table[Stages+1]))
  logic [Stages+3:0] results;  // and no stage behind the last
  assign results = (Stages + 4)'(last);
  for (genvar s = 1; s <= Stages + 3; s++) begin : g_pace  // in the table: s - Stages is its step
    wire here = (s <= Stages) ? looks[(s <= Stages) ? s : 0] : 32'(dut.gen_table.gen_narrow.u_table.step_q) == s - Stages;
    wire ends = (s <= Stages) ? end_q[(s <= Stages) ? s : 1] : held_end_q;
    `FV_ASSERT(i_pace, !(on && here) || !(results[s-1] || (s >= 2 && results[(s >= 2) ? s - 2 : 0]) ||
               (s >= 3 && results[(s >= 3) ? s - 3 : 0] && (ends || !looks[(s >= 3 && s <= Stages + 3) ? s - 3 : 0]))))
  end
  for (genvar s = 1; s <= 3; s++) begin : g_pace_young
    `FV_ASSERT(i_pace, !(on && looks[s]) || 32'(dut.gen_table.gen_narrow.u_table.pace_q) >= 32'(end_q[s]) + 3 - s)
  end
`endif

  // ---- invariants: the loader loads for the command whose first step is still to come
  wire job     = dut.u_loader.job_q;
  wire loading = dut.u_loader.loading_q;
  wire loaded  = dut.u_loader.loaded_q;
  logic [2:0] swapping;  // steps on their way to the last stage that uses the shadow registers
  always_comb begin
    swapping = '0;
    for (int s = 1; s <= 5; s++) swapping += 3'(swaps[s]);
  end
  wire [5:0]  words = dut.u_loader.table_left_q;
  `FV_ASSERT(i_one, !on || !(dut.seq_busy && dut.start_q))
  `FV_ASSERT(i_setup, !on || dut.next_valid || !(dut.next_planned || dut.next_ready))
  `FV_ASSERT(i_tile_last, !(on && dut.seq_busy) || dut.u_seq.tile_last_q == (dut.u_seq.tile_q == '0))
  `FV_ASSERT(i_claimed, !on || !dut.claimed_q || (fresh_q && waits))
  `FV_ASSERT(i_fresh, !on || (fresh_q && !dut.claimed_q) == (dut.start_q || (dut.seq_busy && first_step)))
  `FV_ASSERT(i_job, !on || (3'(loading) + 3'(loaded) + swapping == 3'(job) && (!fresh_q || loading || loaded)))
  `FV_ASSERT(i_words, !on || ((!job || fresh_q || words == '0) && (!write || (fresh_q && loading))))
  `FV_ASSERT(i_table, !(on && fresh_q) || (fresh.look_up ? 7'(written_q) + 7'(words) + 7'(write) == 7'(TableWords) && (words == '0 || loading)
                                                         : words == '0 && !write))
  `FV_ASSERT(i_place, !(on && write) || place == {dut.u_loader.second_q, written_q[4:0]})
  `FV_ASSERT(i_address, !(on && loading && words != '0) || dut.u_loader.zsb_addr_q == fresh.table_word + addr_t'(TableWords) - addr_t'(words))
  `FV_ASSERT(i_from, !(on && write) || from_q == fresh.table_word + addr_t'(written_q))
  // and has as many tiles left as the sequencer
  logic [11:0] loads, tiles;
  assign loads = !job ? '0 : (dut.u_loader.kind_q == KindDepthwise) ? 12'(dut.u_loader.tiles_q) + 12'd1 : 12'd1;
  assign tiles = (stepping && dut.cmd_q.kind == KindDepthwise) ? 12'(dut.u_seq.tile_q) + 12'(dut.u_seq.tile_start_q) : '0;
  `FV_ASSERT(i_kind, !(on && fresh_q) || (dut.u_loader.kind_q == fresh.kind && dut.u_loader.tiles_q == fresh.tiles - 10'd1))
  `FV_ASSERT(i_first, !(on && dut.seq_busy && first_step) || dut.u_seq.tile_q == dut.cmd_q.tiles - 10'd1)
  `FV_ASSERT(i_same, !(on && !fresh_q && job && stepping) || dut.u_loader.kind_q == dut.cmd_q.kind)
  `FV_ASSERT(i_tiles, !on || (fresh_q ? tiles == '0 : loads == tiles + 12'(swapping)))

  // ---- the interesting states can be reached
  logic [1:0] tables_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tables_q <= '0;
    else if (dut.loader_start && dut.next_cmd.look_up && tables_q != 2'd3) tables_q <= tables_q + 2'd1;
  end
  `FV_COVER(c_beside, on && write && held && looks[0])
  `FV_COVER(c_again, on && write && tables_q == 2'd3 && looks[Stages])
endmodule
