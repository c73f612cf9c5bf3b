// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Weights of the array, from WB to the rows: every pass is computed with its own weights in every stage, whenever its slot comes
// and whenever commands follow each other. kt_weight_loader and kt_dpe_array together, with the registers of kt_conv between
// them: WB is read in one cycle, a slot reaches the array after three. A word of WB holds the rows of a stage; here it is
// its own address in each of them, turned by the row's number, so that what a row holds tells where it came from. Passes of
// DB follow each other, behind WB's last word comes `split`; the first passes of a kernel tile may be resident: they follow
// each other from a place of their own.
//
// One stage, picked at power-up, and one pass, picked when its load begins, are followed.
//
// OB besides: no stage ever reads an accumulator in the cycle that writes it, though passes may be one pixel long and follow
// each other as closely as the loader lets them (passes before one of two pixels a slot: three pixels); and every stage begins, keeps and ends sums as the slot's token says, at its pixel,
// one cycle after the stage above. (Passes that begin or end sums are any.)
module fv_weight_swap
  import kt_pkg::*;
  import kt_array_pkg::*;
#(
  parameter int unsigned Stages    = 4,
  parameter int unsigned StageRows = 2,
  parameter int unsigned WbWords   = 11,
  localparam int unsigned StageW   = $clog2(Stages),
  localparam int unsigned Kp       = Stages * StageRows,
  localparam int unsigned ObDepth  = 4
) (
  input logic           clk_i,
  input logic           rst_ni,
  input addr_t          split_i,
  input logic           start_i,
  input addr_t          base_i,
  input logic [2:0]     passes_i,  // of a kernel tile, and how many of them are resident
  input logic [2:0]     resident_i,
  input addr_t          resident_base_i,
  input addr_t          resident_pitch_i,
  input logic           two_i,
  input logic           swap_i,
  input logic           valid_i,  // a slot inside a pass, behind its first
  input logic           last_i,
  input logic           begins_i,  // sums begin in this slot, end in it
  input logic           ends_i,
  input logic           pair_i,    // and the slot has two pixels
  input logic           pick_i,
  input logic [StageW-1:0] pick_stage_i
);
  `include "fv_reset.svh"

  typedef logic [3:0] word_no_t;
  logic           active, ready, rd_en, rd_two;
  addr_t          rd_addr, split;
  logic [StageW-1:0] rd_stage;
  kt_weight_loader #(
    .Stages (Stages),
    .WbWords(WbWords)
  ) dut (
    .clk_i,
    .rst_ni,
    .split_i  (split),
    .start_i,
    .base_i,
    .passes_i         (10'(passes_i)),
    .resident_passes_i(10'(resident_i)),
    .resident_base_i,
    .resident_pitch_i,
    .two_i,
    .active_o (active),
    .swap_i,
    .last_i,
    .ready_o  (ready),
    .rd_en_o  (rd_en),
    .rd_addr_o(rd_addr),
    .stage_o  (rd_stage),
    .two_o    (rd_two)
  );

  // ---- the registers of kt_conv
  logic           load_q;
  logic [StageW-1:0] load_stage_q;
  logic [7:0]     word_q;
  token_t         token1_q, token2_q, token3_q;
  logic [1:0]     pixel, pixel1_q, pixel2_q, pixel3_q, last_pixel_q;
  logic           pair, last_pair_q, last_ends_q;  // of this slot, of the one before
  assign pair = pair_i && ends_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      load_q   <= 1'b0;
      token1_q <= '0;
      token2_q <= '0;
      token3_q <= '0;
    end else begin
      load_q   <= rd_en;
      token1_q <= '{valid: valid_i || swap_i, swap: swap_i, first: begins_i, last: ends_i, two: pair};
      token2_q <= token1_q;
      token3_q <= token2_q;
    end
  end
  always_ff @(posedge clk_i) begin
    load_stage_q <= rd_stage;
    if (rd_en) word_q <= 8'(rd_addr);
    if (valid_i || swap_i) begin
      last_pixel_q <= pixel;
      last_pair_q  <= pair;
      last_ends_q  <= ends_i;
    end
    pixel1_q <= pixel;
    pixel2_q <= pixel1_q;
    pixel3_q <= pixel2_q;
  end

  assign pixel = swap_i ? '0 : last_pixel_q + (last_pair_q ? 2'd2 : 2'd1);

  logic signed [7:0]  act[1], weight[StageRows][1];
  logic [Stages-1:0]  valid, second_valid;
  logic signed [31:0] total[Kp], second[Kp];
  assign act[0] = '0;
  for (genvar r = 0; r < int'(StageRows); r++) begin : g_weight
    assign weight[r][0] = word_q + 8'(64 * r);
  end
  kt_dpe_array #(
    .Stages   (Stages),
    .StageRows(StageRows),
    .Taps     (1),
    .ObDepth  (ObDepth),
    .SumRow   (0),
    .TwoPixels(1),
    .Chain    (0)
  ) u_array (
    .clk_i,
    .rst_ni,
    .token_i      (token3_q),
    .pixel_i      (pixel3_q),
    .act_i        (act),
    .weight_zero_i('0),
    .load_i       (load_q),
    .load_stage_i (load_stage_q),
    .weight_i     (weight),
    .valid_o      (valid),
    .total_o      (total),
    .second_valid_o(second_valid),
    .second_o      (second)
  );

  // ---- environment: a command begins when the passes of the one before were issued, a pass when its load has begun
  addr_t split_picked_q;
  always_ff @(posedge clk_i) if (!past_ok_q) split_picked_q <= split_i;
  assign split = (32'(split_picked_q) < WbWords) ? split_picked_q : '0;
  `FV_ASSUME(m_base, 32'(base_i) < WbWords && 32'(resident_base_i) < WbWords && 32'(resident_pitch_i) < WbWords)
  `FV_ASSUME(m_passes, passes_i != '0 && resident_i <= passes_i)
  `FV_ASSUME(m_start, !start_i || !active)
  `FV_ASSUME(m_swap, !swap_i || ready)
  `FV_ASSUME(m_pixels, !valid_i || 32'(last_pixel_q) + (last_pair_q ? 2 : 1) < ObDepth)
  `FV_ASSUME(m_three, !(swap_i && pair) || last_pixel_q[1] || last_ends_q)

  function automatic word_no_t after(word_no_t from, int unsigned n);
    after = from;
    for (int unsigned i = 0; i < Stages; i++) begin
      if (i < n) after = (32'(after) == WbWords - 1) ? word_no_t'(split) : after + 1'b1;
    end
  endfunction

  // ---- the pass whose load begins next: its number in the kernel tile, where that tile's resident passes begin, where this
  // one is if it is resident, where DB goes on
  logic [2:0] passes_q, resident_q, number_q;
  word_no_t   pitch_q, tile_q, inside_q, db_q;
  word_no_t   next, begun_q;  // first word of it, and of the load that began last
  logic       is_resident, tile_ends;
  logic [4:0] next_tile;
  assign is_resident = number_q < resident_q;
  assign tile_ends   = number_q + 3'd1 == passes_q;
  assign next        = is_resident ? inside_q : db_q;
  assign next_tile   = 5'(tile_q) + 5'(pitch_q);
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      passes_q   <= passes_i;
      resident_q <= resident_i;
      pitch_q    <= word_no_t'(resident_pitch_i);
      number_q   <= '0;
      tile_q     <= word_no_t'(resident_base_i);
      inside_q   <= word_no_t'(resident_base_i);
      db_q       <= word_no_t'(base_i);
    end else if (dut.begin_tile) begin
      number_q <= tile_ends ? '0 : number_q + 1'b1;
      if (tile_ends) tile_q <= word_no_t'(next_tile);
      inside_q <= tile_ends ? word_no_t'(next_tile) : after(inside_q, Stages);
      if (!is_resident) db_q <= after(db_q, Stages);
    end
    if (dut.begin_tile) begun_q <= next;
  end
  // resident passes of every kernel tile that is used begin in WB
  `FV_ASSUME(m_tile, !(dut.begin_tile && tile_ends && resident_q != '0) || 32'(next_tile) < WbWords)

  // ---- the followed stage and pass: 0 none, 1 its load has begun, 2 its slot was issued, 3 it has reached the stage and is current
  localparam int unsigned AgeW = $clog2(Stages + 5);
  typedef logic [AgeW-1:0] age_t;
  logic [StageW-1:0] stage_q;
  logic [1:0]     follow_q;
  age_t           load_age_q, swap_age_q;  // cycles since then, up to Stages + 4
  word_no_t       want_q;
  logic           over_q;                  // the next load has begun
  logic           arrives, next_arrives;
  assign arrives      = follow_q == 2'd2 && swap_age_q == age_t'(3) + age_t'(stage_q);
  assign next_arrives = (stage_q == '0) ? token3_q.swap : u_array.swap_q[stage_q-1'b1];
  always_ff @(posedge clk_i) if (!past_ok_q) stage_q <= pick_stage_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      follow_q <= 2'd0;
    end else begin
      case (follow_q)
        2'd0:    if (dut.begin_tile && pick_i) follow_q <= 2'd1;
        2'd1:    if (swap_i) follow_q <= 2'd2;
        2'd2:    if (arrives) follow_q <= 2'd3;
        default: if (next_arrives) follow_q <= 2'd0;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (follow_q == 2'd0) begin
      want_q     <= after(next, 32'(stage_q));
      load_age_q <= age_t'(1);
      over_q     <= 1'b0;
    end else begin
      if (load_age_q != age_t'(Stages + 4)) load_age_q <= load_age_q + 1'b1;
      if (dut.begin_tile) over_q <= 1'b1;
    end
    if (follow_q != 2'd2) swap_age_q <= age_t'(1);
    else swap_age_q <= swap_age_q + 1'b1;
  end

  // what the rows of a stage hold: the word, turned
  logic [7:0] current[Stages][StageRows], shadow[Stages][StageRows];
  for (genvar s = 0; s < int'(Stages); s++) begin : g_stage
    for (genvar r = 0; r < int'(StageRows); r++) begin : g_held
      assign current[s][r] = u_array.gen_stage[s].gen_row[r].gen_at_once.u_row.weight_q[0] - 8'(64 * r);
      assign shadow[s][r]  = u_array.gen_stage[s].gen_row[r].gen_at_once.u_row.shadow_q[0] - 8'(64 * r);
    end
  end
  logic held, ready_to_swap;  // by every row of the followed stage
  always_comb begin
    held          = 1'b1;
    ready_to_swap = 1'b1;
    for (int unsigned r = 0; r < StageRows; r++) begin
      held          = held && current[stage_q][r] == 8'(want_q);
      ready_to_swap = ready_to_swap && shadow[stage_q][r] == 8'(want_q);
    end
  end

  `FV_ASSERT(a_arrives, !arrives || (next_arrives && ready_to_swap))
  `FV_ASSERT(a_own, follow_q != 2'd3 || held)

  // ---- a command is active from its start to its last pass, and the next load begins as soon as the one before has ended
  logic              active_h_q;
  logic [StageW:0]      lacking_q;  // cycles without a load that could be swapped in
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_h_q <= 1'b0;
      lacking_q  <= '0;
    end else begin
      if (start_i) active_h_q <= 1'b1;
      else if (swap_i && last_i) active_h_q <= 1'b0;
      lacking_q <= (active && !ready) ? lacking_q + 1'b1 : '0;
    end
  end
  `FV_ASSERT(a_active, active == active_h_q)
  `FV_ASSERT(a_prompt, 32'(lacking_q) <= Stages)
  `FV_ASSERT(i_lacking, lacking_q == '0 || ready || !dut.loading_q || 32'(lacking_q) <= 32'(dut.stage_q))

  // ---- invariants: numbers
  `FV_ASSERT(i_stage, !past_ok_q || 32'(stage_q) < Stages)
  `FV_ASSERT(i_loading, !dut.loading_q || 32'(dut.stage_q) < Stages)
  `FV_ASSERT(i_new, !active || (32'(db_q) < WbWords && (resident_q == '0 || (32'(tile_q) < WbWords && 32'(inside_q) < WbWords))))
  `FV_ASSERT(i_number, !active || (passes_q != '0 && resident_q <= passes_q && number_q < passes_q &&
             dut.passes_q == 10'(passes_q) && dut.resident_passes_q == 10'(resident_q)))
  `FV_ASSERT(i_ready, !ready || active)
  `FV_ASSERT(i_first, !(active && dut.new_q) || (!ready && number_q == '0 && dut.next_q == addr_t'(db_q) &&
             inside_q == tile_q))
  `FV_ASSERT(i_tile, !active || resident_q == '0 || (32'(dut.pitch_q) == 32'(pitch_q) &&
             dut.tile_q + addr_t'(number_q == '0 && !dut.new_q ? pitch_q : '0) == addr_t'(tile_q)))
  `FV_ASSERT(i_segment, !active || dut.new_q || (
             number_q == '0 ? dut.left_q == '0 && dut.resident_q == (resident_q == passes_q) && inside_q == tile_q :
             number_q <= resident_q ? dut.left_q == 10'(resident_q - number_q) && dut.resident_q :
                                      dut.left_q == 10'(passes_q - number_q) && !dut.resident_q))
  `FV_ASSERT(i_next, !active || dut.new_q || (dut.resident_q ?
             dut.next_q == addr_t'(db_q) && (number_q == '0 || inside_q == after(begun_q, Stages)) :
             db_q == after(begun_q, Stages)))
  // addresses are used while they are of a command that is active, or of one whose last pass was issued
  logic chain_q;  // a load has begun since reset
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) chain_q <= 1'b0;
    else chain_q <= chain_q || dut.begin_tile;
  end
  // a word goes to both windows of a slot in the last pass of a command that has two
  logic two_q, begun_two_q;
  always_ff @(posedge clk_i) begin
    if (start_i) two_q <= two_i;
    if (dut.begin_tile) begun_two_q <= two_q && tile_ends;
  end
  `FV_ASSERT(a_two, !rd_en || rd_two == begun_two_q)
  `FV_ASSERT(i_two, (!chain_q || dut.two_q == begun_two_q) && (!active || dut.two_next_q == two_q) &&
             (!active || dut.new_q || dut.passes_left_q == (number_q == '0 ? 10'd0 : 10'(passes_q - number_q))))

  `FV_ASSERT(i_chain, chain_q || (!dut.loading_q && !ready && (!active || dut.new_q)))
  `FV_ASSERT(i_address, !chain_q || (32'(begun_q) < WbWords && dut.addr_q ==
             addr_t'(after(begun_q, dut.loading_q ? 32'(dut.stage_q) : Stages))))
  // the shadow register's neighbour in time: the word on its way
  wire onway = follow_q == 2'd1 || follow_q == 2'd2;
  wire lands = load_q && load_stage_q == stage_q;  // in the followed stage, with the coming edge
  `FV_ASSERT(i_word, !(onway && lands) || 32'(load_age_q) != 32'(stage_q) + 2 || word_q == 8'(want_q))

  // ---- invariants: time
  `FV_ASSERT(i_ages, !onway || (load_age_q != '0 && 32'(load_age_q) <= Stages + 4 &&
             (follow_q != 2'd2 || (swap_age_q != '0 && 32'(swap_age_q) <= 3 + 32'(stage_q) && swap_age_q < load_age_q + age_t'(32'(load_age_q) == Stages + 4)))))
  `FV_ASSERT(i_own_load, !(onway && !over_q) || (after(begun_q, 32'(stage_q)) == want_q &&
             dut.loading_q == (32'(load_age_q) <= Stages) && (!dut.loading_q || 32'(dut.stage_q) + 1 == 32'(load_age_q))))
  `FV_ASSERT(i_waiting, follow_q != 2'd1 || (ready && !over_q))
  // the load after it began after its slot was issued: its stage is that many cycles behind
  `FV_ASSERT(i_over, !(follow_q == 2'd2 && over_q) || !dut.loading_q || 32'(dut.stage_q) + 2 <= 32'(swap_age_q))
  `FV_ASSERT(i_over_last, !(follow_q == 2'd2 && over_q) || 32'(load_age_q) > Stages + 1 ||
             (32'(load_age_q) == Stages + 1 && load_q && 32'(load_stage_q) == Stages - 1))
  `FV_ASSERT(i_over_load, !(follow_q == 2'd2 && over_q && lands) || 32'(stage_q) + 3 <= 32'(swap_age_q) ||
             32'(load_age_q) == 32'(stage_q) + 2)
  `FV_ASSERT(i_load, !(onway && !over_q) || load_q == (load_age_q >= age_t'(2) && 32'(load_age_q) <= Stages + 1) ||
             load_age_q == age_t'(1))
  `FV_ASSERT(i_load_stage, !(onway && !over_q && load_q && load_age_q >= age_t'(2)) || 32'(load_stage_q) + 2 == 32'(load_age_q))
  `FV_ASSERT(i_shadow, !onway || 32'(load_age_q) < 32'(stage_q) + 3 || ready_to_swap)

  // slots on their way are the history of swap_i
  logic [Stages+1:0] issued_q;  // newest in bit 0
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) issued_q <= '0;
    else issued_q <= {issued_q[Stages:0], swap_i};
  end
  `FV_ASSERT(i_slots, issued_q == {u_array.swap_q, token3_q.swap, token2_q.swap, token1_q.swap})
  `FV_ASSERT(i_issued, follow_q != 2'd2 || issued_q[swap_age_q-1'b1])

  // ---- OB: slots that follow each other at once are of different pixels, all the way down
  wire [Stages+3:0] valids = {u_array.sum_valid_q[Stages-1], u_array.act_valid_q, token3_q.valid, token2_q.valid, token1_q.valid};
  wire [Stages+3:0] twos = {u_array.sum_two_q[Stages-1], u_array.act_two_q, token3_q.two, token2_q.two, token1_q.two};
  wire [Stages+3:0] ends = {u_array.sum_last_q[Stages-1], u_array.act_last_q, token3_q.last, token2_q.last, token1_q.last};
  logic [1:0]   pixels[Stages+4];
  always_comb begin
    pixels[0] = pixel1_q;
    pixels[1] = pixel2_q;
    pixels[2] = pixel3_q;
    for (int unsigned k = 0; k < Stages; k++) pixels[k+3] = u_array.act_pixel_q[k];
    pixels[Stages+3] = u_array.sum_pixel_q[Stages-1];
  end
  for (genvar k = 0; k < int'(Stages); k++) begin : g_ob
    `FV_ASSERT(a_collision, !(u_array.acc_rd[k] && u_array.acc_wr[k]) || (u_array.act_pixel_q[k] != u_array.sum_pixel_q[k] &&
               (!u_array.act_two_q[k] || 3'(u_array.act_pixel_q[k]) + 3'd1 != 3'(u_array.sum_pixel_q[k]))))
    `FV_ASSERT(i_sum, !u_array.sum_valid_q[k] || (valids[k+4] && u_array.sum_pixel_q[k] == pixels[k+4] &&
               u_array.sum_last_q[k] == ends[k+4] && u_array.sum_two_q[k] == twos[k+4]))
  end
  for (genvar s = 0; s < int'(Stages) + 3; s++) begin : g_slot
    `FV_ASSERT(i_differ, !(valids[s] && valids[s+1]) || (pixels[s] != pixels[s+1] &&
               (!twos[s] || ends[s+1] || 3'(pixels[s]) + 3'd1 != 3'(pixels[s+1]))))
  end
  `FV_ASSERT(i_first_pixel, !token1_q.valid || (token1_q.swap ? pixel1_q == '0 && !ready : pixel1_q != '0))
  `FV_ASSERT(i_last, !token1_q.valid || (last_pixel_q == pixel1_q && last_pair_q == token1_q.two && last_ends_q == token1_q.last))

  // ---- slots: what stage k has with its activations (k) and with its sum (k + 1)
  typedef struct packed {
    logic       valid, first, last, two;
    logic [1:0] pixel;
  } slot_t;
  slot_t slot_q[Stages+1];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_q <= '{default: '0};
    end else begin
      slot_q[0] <= '{valid: token3_q.valid, first: token3_q.first, last: token3_q.last, two: token3_q.two, pixel: pixel3_q};
      for (int unsigned k = 0; k < Stages; k++) slot_q[k+1] <= slot_q[k];
    end
  end
  for (genvar k = 0; k < int'(Stages); k++) begin : g_sums
    wire slot_t sum = slot_q[k+1];
    `FV_ASSERT(a_reads, u_array.acc_rd[k] == (slot_q[k].valid && !slot_q[k].first) &&
               (!slot_q[k].valid || u_array.act_pixel_q[k] == slot_q[k].pixel))
    `FV_ASSERT(a_writes, u_array.acc_wr[k] == (sum.valid && !sum.last) && (!sum.valid || u_array.sum_pixel_q[k] == sum.pixel))
    `FV_ASSERT(a_result, valid[k] == (sum.valid && sum.last) && second_valid[k] == (sum.valid && sum.last && sum.two))
    for (genvar r = 0; r < int'(StageRows); r++) begin : g_total
      `FV_ASSERT(a_total, !sum.valid || total[k*StageRows+r] == u_array.sum[k*StageRows+r] +
                 (sum.first ? 32'd0 : u_array.old[k][32*r+:32]))
      `FV_ASSERT(a_second, !second_valid[k] || second[k*StageRows+r] == u_array.second[k*StageRows+r] +
                 (sum.first ? 32'd0 : u_array.second_old[k][32*r+:32]))
    end
    `FV_ASSERT(i_flags, !slot_q[k].valid || (u_array.act_first_q[k] == slot_q[k].first && u_array.act_last_q[k] == slot_q[k].last &&
               u_array.act_two_q[k] == slot_q[k].two))
    `FV_ASSERT(i_valid, u_array.act_valid_q[k] == slot_q[k].valid)
  end

  // OB's banks: of the pixel and the one behind it the even one and the odd one
  for (genvar k = 0; k < int'(Stages); k++) begin : g_banks
    for (genvar b = 0; b < 2; b++) begin : g_bank
      wire       here = u_array.act_pixel_q[k][0] == 1'(b);
      wire [2:0] read = 3'(u_array.act_pixel_q[k]) + 3'(!here);
      `FV_ASSERT(a_bank, u_array.gen_stage[k].gen_banks.gen_bank[b].u_ob.rd_en_i == (u_array.acc_rd[k] && (here || u_array.act_two_q[k])) &&
                 u_array.gen_stage[k].gen_banks.gen_bank[b].u_ob.rd_addr_i == read[1] &&
                 u_array.gen_stage[k].gen_banks.gen_bank[b].u_ob.wr_en_i == (u_array.acc_wr[k] && u_array.sum_pixel_q[k][0] == 1'(b)) &&
                 u_array.gen_stage[k].gen_banks.gen_bank[b].u_ob.wr_addr_i == u_array.sum_pixel_q[k][1])
    end
  end

  logic busy_q;
  always_ff @(posedge clk_i) busy_q <= follow_q == 2'd3 && over_q;
  `FV_COVER(c_close, follow_q == 2'd2 && issued_q[2:0] == 3'b101 && stage_q == StageW'(Stages - 1))
  `FV_COVER(c_pair, u_array.acc_rd[1] && u_array.act_two_q[1] && u_array.acc_wr[1] && u_array.act_pixel_q[1] == '0)
  `FV_COVER(c_late, follow_q == 2'd1 && 32'(load_age_q) == Stages + 4 && u_array.sum_valid_q[1])
  `FV_COVER(c_wrapped, follow_q == 2'd3 && want_q == word_no_t'(split) && stage_q == StageW'(2) && split != '0)
  `FV_COVER(c_resident, follow_q == 2'd3 && resident_q == 3'd1 && passes_q == 3'd2 && number_q == 3'd1 && want_q != begun_q)
  `FV_COVER(c_next_command, busy_q && start_i)
endmodule
