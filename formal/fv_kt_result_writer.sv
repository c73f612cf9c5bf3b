// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Result writer: results leave in order and unchanged, each once, through an output register, to all sinks of its command in the same cycle; word g of
// column c of absolute row r goes to word i = first + c * P + tile * Words + g of the row, that is bank (i + 3 r) mod 9, address
// i div 9 of the row's slot, and no two words to the same bank; the columns of a result of two leave together or one after the
// other; words beyond the groups of the map go nowhere. A command is done with its last result. Credits and results on their way never exceed the FIFO.
// Commands, results and grants are free; counts and positions are small, rings and groups any.
module fv_kt_result_writer
  import kt_pkg::*;
#(
  parameter int unsigned Words = 2,
  parameter int unsigned Pixels = 2,
  parameter int unsigned Depth = 4,
  parameter int unsigned Most  = 3,  // of every count
  localparam int unsigned AllWords = Pixels * Words
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       start_i,
  input out_cmd_t   cmd_i,
  input logic       take_i,
  input logic       valid_i,
  input logic [7:0] word_i[AllWords],
  input logic       sb_grant_i,
  input logic       vb_grant_i,
  input logic       st_ready_i,
  input logic       pick_i
);
  logic       ready, done, credit, sb_valid, sb_we, vb_valid, vb_we, st_valid, blocked;
  bank_req_t  sb_req[AllWords], vb_req[AllWords];
  logic [7:0] word[AllWords];
  watch_t     watch;
  kt_result_writer #(
    .Cp   (1),
    .Words(Words),
    .Pixels(Pixels),
    .Depth(Depth)
  ) dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .cmd_i,
    .ready_o   (ready),
    .done_o    (done),
    .take_i,
    .credit_o  (credit),
    .valid_i,
    .second_i  (valid_i),
    .word_i,
    .sb_req_o  (sb_req),
    .sb_valid_o(sb_valid),
    .sb_grant_i,
    .sb_we_o   (sb_we),
    .vb_req_o  (vb_req),
    .vb_valid_o(vb_valid),
    .vb_grant_i,
    .vb_we_o   (vb_we),
    .st_valid_o(st_valid),
    .st_ready_i,
    .word_o    (word),
    .blocked_o (blocked),
    .watch_o   (watch)
  );
  `include "fv_reset.svh"

  localparam int unsigned LevelW = $clog2(Depth + 1);
  typedef logic [LevelW-1:0] level_t;

  // ---- environment: a result for each credit taken; commands while there is room for them
  level_t on_way_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) on_way_q <= '0;
    else on_way_q <= on_way_q + level_t'(take_i) - level_t'(valid_i);
  end
  function automatic logic legal(out_cmd_t c);
    return c.columns != '0 && 32'(c.columns) <= Most && c.rows != '0 && 32'(c.rows) <= Most && c.tiles != '0 &&
           32'(c.tiles) <= Most && c.first.mod < 4'd9 && c.pixel.mod < 4'd9 && c.first.div < 14'd4 && c.pixel.div < 14'd4 &&
           c.row_mod3 != 2'd3 && (!c.two || 32'(c.group) + Most * Words < 1024);
  endfunction
  function automatic logic splits(out_cmd_t c);
    logic [9:0] groups;
    groups = c.groups - c.group;
    if (32'(groups) > Words) groups = 10'(Words);
    return c.to_store || 10'(c.pixel.mod) < groups || 10'(c.pixel.mod) + groups > 10'd9;
  endfunction
  `FV_ASSUME(m_take, !take_i || credit)
  `FV_ASSUME(m_valid, !valid_i || on_way_q != '0)
  `FV_ASSUME(m_start, !start_i || (ready && legal(cmd_i)))

  // ---- the command whose results leave, the one behind it, and the place in its loops
  logic       have_q, behind_q;
  out_cmd_t   cmd_q, next_q;
  logic [1:0] tile_q, row_q, column_q;
  logic [7:0] tile_word_q, word_q;       // word of the tile's, of the pixel's first group
  addr_t      sb_slot_q, vb_slot_q;
  logic [1:0] mod3_q;
  logic       pop, row_end, tile_end, cmd_end;
  out_cmd_t   fresh;
  logic       begins;
  assign pop      = dut.pop;
  logic       pairs, two, advance;
  logic       half_q;  // the first of two columns has left
  assign advance  = pop && (!cmd_q.two || !splits(cmd_q) || half_q || 32'(column_q) + 1 == 32'(cmd_q.columns));
  assign pairs    = Pixels == 2 && cmd_q.two && !splits(cmd_q);
  assign two      = pairs && 32'(column_q) + 1 != 32'(cmd_q.columns);
  assign row_end  = 32'(column_q) + (two ? 2 : 1) == 32'(cmd_q.columns);
  assign tile_end = row_end && 32'(row_q) + 1 == 32'(cmd_q.rows);
  assign cmd_end  = tile_end && 32'(tile_q) + 1 == 32'(cmd_q.tiles);
  assign begins   = (!have_q || (pop && cmd_end)) && (behind_q || start_i);
  assign fresh    = behind_q ? next_q : cmd_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      have_q   <= 1'b0;
      behind_q <= 1'b0;
    end else begin
      have_q   <= begins || (have_q && !(pop && cmd_end));
      behind_q <= begins ? behind_q && start_i : behind_q || start_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) next_q <= cmd_i;
    if (pop) half_q <= !advance;
    if (begins) begin
      half_q      <= 1'b0;
      cmd_q       <= fresh;
      tile_q      <= '0;
      row_q       <= '0;
      column_q    <= '0;
      tile_word_q <= 8'(9 * 32'(fresh.first.div) + 32'(fresh.first.mod));
      word_q      <= 8'(9 * 32'(fresh.first.div) + 32'(fresh.first.mod));
      sb_slot_q   <= fresh.sb_slot;
      vb_slot_q   <= fresh.vb_slot;
      mod3_q      <= fresh.row_mod3;
    end else if (pop) begin
      column_q <= row_end ? '0 : column_q + (two ? 2'd2 : 2'd1);
      word_q   <= row_end ? tile_word_q : word_q + 8'((two ? 2 : 1) * (9 * 32'(cmd_q.pixel.div) + 32'(cmd_q.pixel.mod)));
      if (row_end) begin
        row_q     <= row_q + 1'b1;
        sb_slot_q <= next_slot(cmd_q.sb_ring, sb_slot_q);
        vb_slot_q <= next_slot(cmd_q.vb_ring, vb_slot_q);
        mod3_q    <= (mod3_q == 2'd2) ? 2'd0 : mod3_q + 1'b1;
      end
      if (tile_end) begin
        tile_q      <= tile_q + 1'b1;
        row_q       <= '0;
        tile_word_q <= tile_word_q + 8'(Words);
        word_q      <= tile_word_q + 8'(Words);
        sb_slot_q   <= cmd_q.sb_slot;
        vb_slot_q   <= cmd_q.vb_slot;
        mod3_q      <= cmd_q.row_mod3;
      end
    end
  end

  // ---- the output register: what was at hand when it was filled
  typedef struct packed {
    logic       sb, vb, store, last, half;
    logic [1:0] mod3;
    addr_t      sb_slot, vb_slot;
    logic [AllWords-1:0]      exists;
    logic [AllWords-1:0][7:0] word;  // number in its row
  } out_t;
  logic out_valid_q;
  out_t out_q, out_d;
  wire  leave = dut.leave;
  always_comb begin
    out_d = '{sb: cmd_q.to_sb, vb: cmd_q.to_vb, store: cmd_q.to_store, last: cmd_end, half: half_q, mod3: mod3_q, sb_slot: sb_slot_q,
              vb_slot: vb_slot_q, default: '0};
    for (int unsigned w = 0; w < AllWords; w++) begin
      out_d.word[w]   = word_q + 8'(w % int'(Words)) + ((w < Words) ? 8'd0 : 8'(9 * 32'(cmd_q.pixel.div) + 32'(cmd_q.pixel.mod)));
      out_d.exists[w] = 10'(cmd_q.group + 10'(tile_q) * 10'(Words)) + 10'(w % Words) < cmd_q.groups && (w < Words || two);
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_q <= 1'b0;
    else out_valid_q <= pop || (out_valid_q && !leave);
  end
  always_ff @(posedge clk_i) if (pop) out_q <= out_d;

  // ---- sinks
  wire stored = st_valid && st_ready_i;
  `FV_ASSERT(a_all, !(sb_we || vb_we || stored || done || leave) || (out_valid_q && leave && sb_we == out_q.sb &&
             vb_we == out_q.vb && stored == out_q.store))
  `FV_ASSERT(a_granted, (!sb_we || sb_grant_i) && (!vb_we || vb_grant_i))
  `FV_ASSERT(a_done, done == (leave && out_q.last))
  `FV_ASSERT(a_room, !pop || (have_q && (!out_valid_q || leave)))
  // a result that stays waits for a bank, and says so, or for STORE
  wire no_bank = (out_q.sb && !sb_grant_i) || (out_q.vb && !vb_grant_i);
  `FV_ASSERT(a_blocked, blocked == (out_valid_q && no_bank) && (!out_valid_q || leave || no_bank || (out_q.store && !st_ready_i)))
  `FV_ASSERT(i_out, dut.out_q.watch.valid == out_valid_q && (!out_valid_q || (dut.out_q.to_sb == out_q.sb && dut.out_q.to_vb == out_q.vb &&
             dut.out_q.to_store == out_q.store && dut.out_q.last == out_q.last &&
             dut.out_q.half == out_q.half)))
  for (genvar w = 0; w < int'(AllWords); w++) begin : g_word
    wire [7:0] i = out_q.word[w];
    `FV_ASSERT(a_exists, !out_valid_q || (sb_req[w].en == out_q.exists[w] && vb_req[w].en == out_q.exists[w]))
    `FV_ASSERT(a_bank, !out_valid_q || (32'(sb_req[w].bank) == (32'(i) + 3 * 32'(out_q.mod3)) % 9 && vb_req[w].bank == sb_req[w].bank))
    `FV_ASSERT(a_address, !out_valid_q || (sb_req[w].addr == out_q.sb_slot + addr_t'(i / 8'd9) &&
               vb_req[w].addr == out_q.vb_slot + addr_t'(i / 8'd9)))
    for (genvar v = 0; v < w; v++) begin : g_other
      `FV_ASSERT(a_distinct, !out_valid_q || !sb_req[w].en || !sb_req[v].en || sb_req[w].bank != sb_req[v].bank)
    end
  end

  // ---- results: one of them, from its arrival on
  logic       follow_q;
  level_t     ahead_q;  // results that leave before it
  logic [7:0] value_q[AllWords];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) follow_q <= 1'b0;
    else if (!follow_q) follow_q <= valid_i && pick_i;
    else if (advance && ahead_q == '0) follow_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (!follow_q) begin
      ahead_q <= level_t'(dut.fill_q) - level_t'(advance);
      value_q <= word_i;
    end else if (advance) begin
      ahead_q <= ahead_q - 1'b1;
    end
  end
  localparam int unsigned PointerW = $clog2(Depth);
  wire [PointerW-1:0] place = dut.head_q + PointerW'(ahead_q);
  // and in the output register
  logic       out_follow_q;
  logic [7:0] out_value_q[AllWords];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_follow_q <= 1'b0;
    else if (pop) out_follow_q <= follow_q && ahead_q == '0;
  end
  always_ff @(posedge clk_i) if (pop) out_value_q <= value_q;
  wire out_followed = out_valid_q && out_follow_q;
  for (genvar w = 0; w < int'(AllWords); w++) begin : g_value
    `FV_ASSERT(a_value, !(out_followed && !out_q.half) || word[w] == out_value_q[w])
    if (w < int'(Words)) begin : g_second
      `FV_ASSERT(a_second, !(out_followed && out_q.half) || word[w] == out_value_q[AllWords-Words+w])
    end
    `FV_ASSERT(i_value, !follow_q || dut.gen_fifo[w].mem[place] == value_q[w])
  end
  `FV_ASSERT(i_ahead, !follow_q || 32'(ahead_q) < 32'(dut.fill_q))

  // ---- credits
  `FV_ASSERT(a_credits, 32'(dut.credit_q) + 32'(on_way_q) + 32'(dut.fill_q) == Depth)
  `FV_ASSERT(a_credit, credit == (dut.credit_q != '0))
  `FV_ASSERT(i_pointers, PointerW'(dut.tail_q - dut.head_q) == PointerW'(dut.fill_q))

  // ---- it moves: with a result, its command and all grants, it goes, and leaves
  `FV_ASSERT(a_moves, !(sb_grant_i && vb_grant_i && st_ready_i) || (leave == out_valid_q &&
             (pop || !(have_q && !dut.begin_q && dut.fill_q != '0))))
  `FV_ASSERT(a_ready, ready == !behind_q)

  // ---- the engine's registers say the same
  wire running = have_q && !dut.begin_q;
  `FV_ASSERT(i_commands, dut.cur_valid_q == have_q && dut.next_valid_q == behind_q && (have_q || !behind_q) &&
             (!have_q || dut.cur_q == cmd_q) && (!behind_q || dut.next_q == next_q) && (!dut.begin_q || have_q))
  `FV_ASSERT(i_legal, (!have_q || legal(cmd_q)) && (!behind_q || legal(next_q)))
  `FV_ASSERT(i_begin, !dut.begin_q || (tile_q == '0 && row_q == '0 && column_q == '0 && sb_slot_q == cmd_q.sb_slot &&
             vb_slot_q == cmd_q.vb_slot && mod3_q == cmd_q.row_mod3 && word_q == tile_word_q &&
             32'(word_q) == 9 * 32'(cmd_q.first.div) + 32'(cmd_q.first.mod)))
  `FV_ASSERT(i_counts, !have_q || (32'(tile_q) < 32'(cmd_q.tiles) && 32'(row_q) < 32'(cmd_q.rows) &&
             32'(column_q) < 32'(cmd_q.columns)))
  `FV_ASSERT(i_left, !running || (32'(dut.x_q) + 32'(column_q) + 1 == 32'(cmd_q.columns) &&
             32'(dut.y_q) + 32'(row_q) + 1 == 32'(cmd_q.rows) && 32'(dut.tile_q) + 32'(tile_q) + 1 == 32'(cmd_q.tiles)))
  `FV_ASSERT(i_group, !running || dut.group_q == 10'(cmd_q.group + 10'(tile_q) * 10'(Words)))
  `FV_ASSERT(i_slots, !running || (dut.u_row.sb_slot_q == sb_slot_q && dut.u_row.vb_slot_q == vb_slot_q && dut.u_row.mod3_q == mod3_q &&
             mod3_q != 2'd3))
  `FV_ASSERT(i_word, !running || (dut.pos_q.mod < 4'd9 && dut.first_q.mod < 4'd9 &&
             9 * 32'(dut.pos_q.div) + 32'(dut.pos_q.mod) == 32'(word_q) &&
             9 * 32'(dut.first_q.div) + 32'(dut.first_q.mod) == 32'(tile_word_q)))
  `FV_ASSERT(i_split, !running || (dut.split_q == splits(cmd_q) && dut.half_q == half_q))
  `FV_ASSERT(i_half, !have_q || !half_q || (running && cmd_q.two && splits(cmd_q) && column_q != '0))
  `FV_ASSERT(i_no_half, (have_q && half_q) || !dut.half_q)
  `FV_ASSERT(i_step, !running || (dut.step_q.mod < 4'd9 &&
             9 * 32'(dut.step_q.div) + 32'(dut.step_q.mod) == (pairs ? 2 : 1) * (9 * 32'(cmd_q.pixel.div) + 32'(cmd_q.pixel.mod))))
  `FV_ASSERT(i_bounds, !have_q || (32'(tile_word_q) <= 35 + Words * 32'(tile_q) &&
             32'(word_q) <= 32'(tile_word_q) + 35 * 32'(column_q)))

  // what is valid lacks grants alone, and nothing else is written
  `FV_ASSERT(a_valid, (!sb_we || sb_valid) && (!vb_we || vb_valid) &&
             (!(sb_valid && sb_grant_i && vb_grant_i) || sb_we) && (!(vb_valid && sb_grant_i && vb_grant_i) || vb_we))
  `FV_COVER(c_loops, pop && tile_q == 2'd1 && row_q == 2'd1 && cmd_q.to_sb && cmd_q.to_store)
  `FV_COVER(c_two, pop && two && row_q == 2'd1)
  `FV_COVER(c_split, pop && half_q && cmd_q.to_store && row_q == 2'd1)
  `FV_COVER(c_behind, leave && out_q.last && behind_q && dut.fill_q != '0)
  `FV_COVER(c_full, 32'(dut.fill_q) == Depth && blocked)
endmodule
