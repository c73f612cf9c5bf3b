// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Output FIFO and writer of one engine: a result pixel of a tile (Words words of CP channels) per cycle into any subset
// of SB, VB and the STORE stream. A window may enter its last pass only with a credit, so the FIFO has room for
// everything in flight and the engine needs no stall. Results come in command order: tile by tile, row by row, column
// by column. Commands queue here while the results of the one before are still on their way. A pixel goes from the FIFO
// into a register, with its requests, and leaves from there when all its sinks take it in the same cycle.
//
// With Pixels = 2, commands may have two neighbouring columns in a result; the last of an odd number of columns comes
// alone. They leave one after the other where their words could meet in a bank, or go to STORE.
module kt_result_writer
  import kt_pkg::*;
#(
  parameter int unsigned Cp    = 8,
  parameter int unsigned Words = 4,
  parameter int unsigned Pixels = 1,   // of a result, at most
  parameter int unsigned Depth = 64,   // results; a power of two, at least those in flight
  localparam int unsigned DepthW = $clog2(Depth),
  localparam int unsigned AllWords = Pixels * Words
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // command
  input  logic            start_i,
  input  out_cmd_t        cmd_i,
  output logic            ready_o,     // another command can be started
  output logic            done_o,      // one pulse a command: its last result leaves
  // credits
  input  logic            take_i,
  output logic            credit_o,
  // results
  input  logic            valid_i,
  /* verilator lint_off UNUSEDSIGNAL */  // writers of one pixel have none
  input  logic            second_i,  // its second half is valid
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [Cp*8-1:0] word_i [AllWords],
  // sinks: a request to SB and VB is written when *_we_o is set, which needs the grant of every sink it goes to; with
  // *_valid_o nothing but grants is missing
  output bank_req_t       sb_req_o [AllWords],
  output logic            sb_valid_o,
  input  logic            sb_grant_i,
  output logic            sb_we_o,
  output bank_req_t       vb_req_o [AllWords],
  output logic            vb_valid_o,
  input  logic            vb_grant_i,
  output logic            vb_we_o,
  output logic            st_valid_o,
  input  logic            st_ready_i,
  output logic [Cp*8-1:0] word_o [AllWords],
  output logic            blocked_o,   // a result waits for a bank of SB or VB
  output watch_t          watch_o
);

  logic [DepthW-1:0] head_q, tail_q;
  logic [DepthW:0]   fill_q, credit_q;
  logic              pop;      // a pixel goes to the output register, or two together
  logic              leave;    // and from there to its sinks
  logic              advance;  // the result is over with it
  logic              half_q;   // its first pixel has gone

  // in the output register, with words and requests
  typedef struct packed {
    logic   to_sb, to_vb, to_store;
    logic   last;   // of its command
    logic   half;   // the second pixel of a result, alone
    watch_t watch;
  } out_t;
  out_t            out_q;
  logic [Cp*8-1:0] word_q[AllWords];  // both pixels of the result

  // One memory per word, read through a short path into the output register: LUT RAM.
  for (genvar w = 0; w < int'(AllWords); w++) begin : gen_fifo
    logic [Cp*8-1:0] mem[Depth];
    always_ff @(posedge clk_i) if (w < int'(Words) ? valid_i : second_i) mem[tail_q] <= word_i[w];
    always_ff @(posedge clk_i) if (pop) word_q[w] <= mem[head_q];
  end
  always_comb begin
    word_o = word_q;
    if (Pixels == 2 && out_q.half) for (int w = 0; w < int'(Words); w++) word_o[w] = word_q[AllWords-Words+w];
  end

  // commands: current and next
  out_cmd_t   cur_q, next_q;
  logic       cur_valid_q, next_valid_q;
  logic       finish;
  logic [9:0] x_q, y_q, tile_q, group_q;
  word_t      pos_q, first_q;
  logic       split_q;      // columns leave one after the other
  logic       pairs, two;   // two together: in this command, now
  logic       begin_q;  // counters are to be loaded from cur_q
  logic       head;     // a result is at hand
  logic       sb_ok, vb_ok, st_ok;


  assign head      = cur_valid_q && !begin_q && (fill_q != '0);
  assign sb_ok     = !out_q.to_sb || sb_grant_i;
  assign vb_ok     = !out_q.to_vb || vb_grant_i;
  assign st_ok     = !out_q.to_store || st_ready_i;
  assign leave     = out_q.watch.valid && sb_ok && vb_ok && st_ok;
  assign pop       = head && (!out_q.watch.valid || leave);
  assign credit_o  = credit_q != '0;
  assign ready_o   = !next_valid_q;
  assign sb_valid_o = out_q.watch.valid && out_q.to_sb && st_ok;
  assign vb_valid_o = out_q.watch.valid && out_q.to_vb && st_ok;
  assign sb_we_o   = leave && out_q.to_sb;
  assign vb_we_o   = leave && out_q.to_vb;
  assign st_valid_o = out_q.watch.valid && out_q.to_store && sb_ok && vb_ok;
  assign blocked_o = out_q.watch.valid && !(sb_ok && vb_ok);
  assign pairs     = Pixels == 2 && cur_q.two && !split_q;
  assign two       = pairs && x_q != '0;
  assign done_o    = leave && out_q.last;
  always_comb begin
    watch_o       = out_q.watch;
    watch_o.valid = leave;
    watch_o.two   = leave && out_q.watch.two;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q   <= '0;
      tail_q   <= '0;
      fill_q   <= '0;
      credit_q <= (DepthW + 1)'(Depth);
    end else begin
      if (advance) head_q <= head_q + 1'b1;
      if (valid_i) tail_q <= tail_q + 1'b1;
      fill_q   <= fill_q + (DepthW + 1)'(valid_i) - (DepthW + 1)'(advance);
      credit_q <= credit_q + (DepthW + 1)'(advance) - (DepthW + 1)'(take_i);
    end
  end

  logic row_end, tile_end;
  assign row_end  = x_q == '0 || (pairs && x_q == 10'd1);
  assign tile_end = row_end && (y_q == '0);
  assign advance  = pop && (Pixels == 1 || !cur_q.two || !split_q || half_q || row_end);
  assign finish   = pop && tile_end && (tile_q == '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cur_valid_q  <= 1'b0;
      next_valid_q <= 1'b0;
      begin_q      <= 1'b0;
    end else begin
      begin_q <= 1'b0;
      if (!cur_valid_q || finish) begin
        cur_valid_q  <= next_valid_q || start_i;
        begin_q      <= next_valid_q || start_i;
        next_valid_q <= next_valid_q && start_i;
      end else if (start_i) begin
        next_valid_q <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if ((!cur_valid_q || finish) && (next_valid_q || start_i)) cur_q <= next_valid_q ? next_q : cmd_i;
    if (start_i) next_q <= cmd_i;
  end

  localparam word_t TileStep = '{div: 14'(Words / 9), mod: 4'(Words % 9)};
  // Words of two pixels meet where these are fewer words apart than are written, banks being a ring of nine.
  logic [3:0] written;
  logic       apart, split;
  assign written = (cur_q.groups - cur_q.group < 10'(Words)) ? 4'(cur_q.groups - cur_q.group) : 4'(Words);
  assign apart   = cur_q.pixel.mod >= written && cur_q.pixel.mod <= 4'd9 - written;
  assign split   = cur_q.to_store || !apart;

  word_t tile_first, step_q;
  assign tile_first = word_add(first_q, TileStep);

  always_ff @(posedge clk_i) begin
    if (begin_q) begin
      x_q     <= cur_q.columns - 10'd1;
      y_q     <= cur_q.rows - 10'd1;
      tile_q  <= cur_q.tiles - 10'd1;
      group_q <= cur_q.group;
      pos_q   <= cur_q.first;
      first_q <= cur_q.first;
      split_q <= split;
      step_q  <= (Pixels == 2 && cur_q.two && !split) ? word_add(cur_q.pixel, cur_q.pixel) : cur_q.pixel;
    end else if (pop) begin
      x_q   <= row_end ? cur_q.columns - 10'd1 : x_q - (pairs ? 10'd2 : 10'd1);
      pos_q <= tile_end ? tile_first : row_end ? first_q : word_add(pos_q, step_q);
      if (tile_end) begin
        y_q     <= cur_q.rows - 10'd1;
        first_q <= tile_first;
        group_q <= group_q + 10'(Words);
        tile_q  <= tile_q - 10'd1;
      end else if (row_end) begin
        y_q <= y_q - 10'd1;
      end
    end
  end

  if (Pixels == 2) begin : gen_half
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) half_q <= 1'b0;
      else if (pop) half_q <= !advance;
    end
  end else begin : gen_whole
    assign half_q = 1'b0;
  end

  addr_t      sb_slot, vb_slot;
  logic [3:0] bank_offset;
  kt_row_cursor u_row (
    .clk_i,
    .set_i        (begin_q || (pop && tile_end)),
    .sb_slot_i    (cur_q.sb_slot),
    .vb_slot_i    (cur_q.vb_slot),
    .row_mod3_i   (cur_q.row_mod3),
    .next_i       (pop && row_end),
    .sb_ring_i    (cur_q.sb_ring),
    .vb_ring_i    (cur_q.vb_ring),
    .sb_slot_o    (sb_slot),
    .vb_slot_o    (vb_slot),
    .bank_offset_o(bank_offset)
  );

  // ---- output register
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_q <= '0;
    else if (pop) begin
      out_q <= '{
        to_sb:    cur_q.to_sb,
        to_vb:    cur_q.to_vb,
        to_store: cur_q.to_store,
        last:     tile_end && tile_q == '0,
        half:     half_q,
        watch:    '{two: two, valid: 1'b1, index: cur_q.index, columns: x_q, rows: y_q, tiles: tile_q}
      };
    end else if (leave) begin
      out_q.watch.valid <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (pop) begin
      automatic bank_req_t sb[AllWords], vb[AllWords];
      for (int unsigned p = 0; p < Pixels; p++) begin
        automatic word_t pos = (p == 0) ? pos_q : word_add(pos_q, cur_q.pixel);
        for (int unsigned w = 0; w < Words; w++) begin
          automatic word_t more = few_words(4'(w));
          automatic logic exists = group_q + 10'(w) < cur_q.groups && (p == 0 || two);
          sb[p*Words+w] = bank_req_behind(exists, sb_slot, bank_offset, pos, more);
          vb[p*Words+w] = bank_req_behind(exists, vb_slot, bank_offset, pos, more);
        end
      end
      sb_req_o <= sb;
      vb_req_o <= vb;
    end
  end

endmodule
