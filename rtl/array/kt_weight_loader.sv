// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Weight loader: streams WB words into the shadow registers of the array, that of stage s s cycles after stage 0's. A
// word of WB holds the rows of a stage.
// Swap and load travel down the array at the same speed, so the only order that matters is at stage 0:
//   a load starts after the swap of the tile before it was issued (its shadow is then free when the data arrive),
//   a swap is issued after its load started. Nothing waits for a whole tile.
// WB holds the tiles of a command in the order they are used; behind the last word of WB follows `split_i` (ring of DB).
// With resident passes every kernel tile begins with those, in PB, and goes on where the one before ended in DB.
module kt_weight_loader
  import kt_pkg::*;
#(
  parameter int unsigned Stages  = 8,
  parameter int unsigned WbWords = 1024,
  parameter bit          Resident = 1,
  localparam int unsigned StageW = $clog2(Stages)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // words of WB
  input  addr_t             split_i,
  input  logic              start_i,   // begin a command, only while active_o is low
  input  addr_t             base_i,
  input  logic [9:0]        passes_i,  // of a kernel tile
  // of which these are resident: the first kernel tile's at base, the next one's pitch words on
  input  logic [9:0]        resident_passes_i,
  input  addr_t             resident_base_i,
  input  addr_t             resident_pitch_i,
  input  logic              two_i,     // the last pass has two windows at once
  output logic              active_o,  // tiles of the command may still be needed
  input  logic              swap_i,    // a pass is issued in this slot
  input  logic              last_i,    // and it is the command's last
  output logic              ready_o,   // a load has started that was not swapped in yet
  output logic              rd_en_o,
  output addr_t             rd_addr_o,
  output logic [StageW-1:0] stage_o,
  output logic              two_o      // the word that is read goes to both
);

  logic              active_q;
  logic              loading_q;  // a word is read in this cycle
  logic              ready_q;
  logic [StageW-1:0] stage_q;
  addr_t             addr_q;
  logic              last_stage, begin_tile;

  assign last_stage = stage_q == StageW'(Stages - 1);
  assign begin_tile = active_q && !ready_q && (!loading_q || last_stage);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q  <= 1'b0;
      loading_q <= 1'b0;
      ready_q   <= 1'b0;
    end else begin
      if (start_i) active_q <= 1'b1;
      else if (swap_i && last_i) active_q <= 1'b0;
      if (begin_tile) loading_q <= 1'b1;
      else if (last_stage) loading_q <= 1'b0;
      if (begin_tile) ready_q <= 1'b1;
      else if (swap_i) ready_q <= 1'b0;
    end
  end

  // Which pass begins: the first of a kernel tile, a resident one.
  logic       new_q;         // the command's first
  logic       two_q, two_next_q;
  logic [9:0] passes_left_q, passes_left;  // of the kernel tile, after this one
  logic       resident_q;    // the pass before it was
  logic [9:0] left_q;        // passes after that one, of the kernel tile's resident ones or of the others
  logic [9:0] passes_q, resident_passes_q;
  logic       some, all, segment_end, first, resident;
  assign passes_left = (new_q || passes_left_q == '0) ? passes_q - 10'd1 : passes_left_q - 10'd1;
  assign some        = Resident && resident_passes_q != '0;
  assign all         = resident_passes_q == passes_q;
  assign segment_end = left_q == '0;
  assign first       = new_q || (segment_end && (!resident_q || all));
  assign resident    = some && (first || (resident_q && !segment_end));

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      new_q             <= 1'b1;
      passes_q          <= passes_i;
      resident_passes_q <= resident_passes_i;
      two_next_q        <= two_i;
    end else if (begin_tile) begin
      new_q <= 1'b0;
    end
    if (begin_tile) begin
      passes_left_q <= passes_left;
      two_q         <= two_next_q && passes_left == '0;
      resident_q <= resident;
      if (first) left_q <= (some ? resident_passes_q : passes_q) - 10'd1;
      else if (segment_end) left_q <= passes_q - resident_passes_q - 10'd1;
      else left_q <= left_q - 10'd1;
    end
  end

  // A command may start while the last words of the one before are still read: its addresses wait until they are.
  addr_t next_q;                // in DB
  addr_t tile_q, pitch_q;       // the kernel tile's resident passes
  addr_t follow, tile;
  assign follow = !loading_q ? addr_q : (addr_q == addr_t'(WbWords - 1)) ? split_i : addr_q + 1'b1;
  assign tile   = new_q ? tile_q : tile_q + pitch_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      next_q  <= base_i;
      tile_q  <= resident_base_i;
      pitch_q <= resident_pitch_i;
    end else if (begin_tile && first && some) begin
      tile_q <= tile;
      if (!new_q && !resident_q) next_q <= follow;
    end
    if (begin_tile) stage_q <= '0;
    else if (loading_q) stage_q <= stage_q + 1'b1;
    if (begin_tile && resident && first) addr_q <= tile;
    else if (begin_tile && !resident && (new_q || resident_q)) addr_q <= next_q;
    else addr_q <= follow;
  end

  assign active_o  = active_q;
  assign ready_o   = ready_q;
  assign rd_en_o   = loading_q;
  assign rd_addr_o = addr_q;
  assign stage_o   = stage_q;
  assign two_o     = two_q;

endmodule
