// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Rows that LOAD writes: with any command of small counts, every word it writes lies where docs/formats/tensors.md places it, and so in
// the slot of its own row: word i of row r in bank (i + 3r) mod 9 at address slot + i div 9, i < 9 * size. Slots of the ring follow
// each other, so no other row of the ring is touched, and each existing word of a pixel is written once. Loops are counted
// upwards here, the block counts down. A slice has the bytes that its words take of the pixel, or of a row-flattened image's pixel
// those inside the row; the next one follows, or begins where the next pixel does. (That a row's slot is free when it is written is the program's part: hazards of the
// compiler, tests/system/poison_test.)
module fv_kt_load_rows
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned Cp = 2,
  parameter int unsigned Lw = 2
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       offer_i,
  input load_rows_t cmd_i,
  input logic       step_i,
  input logic       take_i
);
  localparam int unsigned NeedW = $clog2(9 * Cp + 1);
  typedef logic [7:0] num_t;

  load_rows_t cmd_q, cmd;
  logic       start, setup, step, take, active_q, ahead_q, end_, segment_end;
  bank_req_t  sb[Lw], vb[Lw];
  logic             follow;
  logic [NeedW-1:0] more, advance;
  logic signed [NeedW:0] first;
  kt_load_rows #(
    .Cp(Cp),
    .Lw(Lw)
  ) dut (
    .clk_i,
    .start_i      (start),
    .cmd_i        (shrunk(cmd_i)),
    .setup_o      (setup),
    .step_i       (step),
    .take_i       (take),
    .more_o       (more),
    .follow_o     (follow),
    .advance_o    (advance),
    .first_o      (first),
    .plain_o      (),
    .full_o       (),
    .bytes_o      (),
    .fill_o       (),
    .request_end_o(segment_end),
    .end_o        (end_),
    .sb_req_o     (sb),
    .vb_req_o     (vb)
  );
  `include "fv_reset.svh"

  // ---- commands: small counts, rings of 1 to 4 slots
  function automatic load_rows_t shrunk(load_rows_t c);
    shrunk = '0;
    shrunk.rows             = 10'(c.rows[1:0]);
    shrunk.segments         = 8'(c.segments[1:0]);
    shrunk.columns          = 10'(c.columns[1:0]);
    shrunk.pixel_bytes      = 14'(c.pixel_bytes[2:0]);
    shrunk.last_pixel_bytes = 14'(c.last_pixel_bytes[2:0]);
    shrunk.more_pixels      = 3'(c.more_pixels[0]);
    shrunk.first            = '{div: 8'(c.first.div[0]), mod: c.first.mod};
    shrunk.pixel            = '{div: '0, mod: c.pixel.mod};
    shrunk.segment_groups   = '{div: '0, mod: c.segment_groups.mod};
    shrunk.row_mod3         = c.row_mod3;
    shrunk.slot_size        = 14'(c.slot_size[2:0]);
    shrunk.sb_first         = 14'(c.sb_first[1:0]);
    shrunk.sb_last          = 14'(c.sb_last[4:0]);
    shrunk.sb_slot          = 14'(c.sb_slot[4:0]);
    shrunk.vb_first         = 14'(c.vb_first[1:0]);
    shrunk.vb_last          = 14'(c.vb_last[4:0]);
    shrunk.vb_slot          = 14'(c.vb_slot[4:0]);
    shrunk.step_bytes       = 8'(c.step_bytes[1:0]);
    shrunk.lead_bytes       = 8'(c.lead_bytes[1:0]);
    shrunk.row_bytes        = 14'(c.row_bytes[4:0]);
  endfunction

  function automatic num_t times(num_t a, logic [1:0] n);
    return (n[0] ? a : 8'd0) + (n[1] ? 8'(2 * a) : 8'd0);
  endfunction
  function automatic num_t words_of(load_rows_t c, logic last_segment);
    return (num_t'(last_segment ? c.last_pixel_bytes[2:0] : c.pixel_bytes[2:0]) + 8'(Cp - 1)) / 8'(Cp);
  endfunction
  // first word of a pixel
  function automatic num_t word_at(load_rows_t c, logic [1:0] segment, logic [1:0] column);
    return num_t'(c.first.div[0] ? 8'd9 : 8'd0) + num_t'(c.first.mod) + times(num_t'(c.segment_groups.mod), segment) +
           times(num_t'(c.pixel.mod), column);
  endfunction
  function automatic num_t slot(load_rows_t c, logic vb_ring, logic [1:0] n);
    return num_t'(vb_ring ? c.vb_first[1:0] : c.sb_first[1:0]) + times(num_t'(c.slot_size[2:0]), n);
  endfunction
  function automatic logic [2:0] slots_of(load_rows_t c, logic vb_ring);
    for (int n = 1; n < 4; n++) if ((vb_ring ? c.vb_last[4:0] : c.sb_last[4:0]) == 5'(slot(c, vb_ring, 2'(n - 1)))) return 3'(n);
    return 3'd4;
  endfunction
  function automatic logic [1:0] slot_no(load_rows_t c, logic vb_ring);
    for (int n = 0; n < 3; n++) if ((vb_ring ? c.vb_slot[4:0] : c.sb_slot[4:0]) == 5'(slot(c, vb_ring, 2'(n)))) return 2'(n);
    return 2'd3;
  endfunction
  function automatic logic legal_ring(load_rows_t c, logic vb_ring);
    return (vb_ring ? c.vb_last[4:0] : c.sb_last[4:0]) == 5'(slot(c, vb_ring, 2'(slots_of(c, vb_ring) - 3'd1))) &&
           (vb_ring ? c.vb_slot[4:0] : c.sb_slot[4:0]) == 5'(slot(c, vb_ring, slot_no(c, vb_ring))) &&
           3'(slot_no(c, vb_ring)) < slots_of(c, vb_ring);
  endfunction
  function automatic logic legal(load_rows_t c);
    legal = c.rows[1:0] != '0 && c.columns[1:0] != '0 && (c.segments[1:0] inside {1, 2}) && c.pixel_bytes[2:0] != '0 &&
            c.last_pixel_bytes[2:0] != '0 && c.first.mod < 9 && c.pixel.mod < 9 && c.segment_groups.mod < 9 && c.row_mod3 != 2'd3 &&
            c.slot_size[2:0] != '0 && legal_ring(c, 1'b0) && legal_ring(c, 1'b1);
    // several pixels in a slice: one word each, in different banks
    legal = legal && (!c.more_pixels[0] || (c.pixel_bytes[2:0] <= 3'(Cp) && c.last_pixel_bytes[2:0] <= 3'(Cp) && c.pixel.mod != '0 &&
                                            c.step_bytes == '0));
    legal = legal && (c.step_bytes == '0 || c.segments[1:0] == 2'd1);
    // a slot holds a row
    for (int last = 0; last < 2; last++) begin
      if (word_at(c, last ? c.segments[1:0] - 2'd1 : 2'd0, c.columns[1:0] - 2'd1) + words_of(c, last || c.segments[1:0] == 2'd1) >
          9 * num_t'(c.slot_size[2:0])) legal = 1'b0;
    end
  endfunction

  // kt_load: a command is walked to its end, then the next begins; a slice waits until it is taken
  assign start = offer_i && !active_q && past_ok_q && rst_ni;
  assign take  = take_i && ahead_q;
  assign step  = step_i && active_q && !setup && (!ahead_q || take);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ahead_q <= 1'b0;
    else ahead_q <= step || (ahead_q && !take);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (start) active_q <= 1'b1;
    else if (step && end_) active_q <= 1'b0;
    if (start) cmd_q <= cmd_i;
  end
  assign cmd = shrunk(cmd_q);
  `FV_ASSUME(m_legal, !start || legal(shrunk(cmd_i)))

  // ---- the loops
  typedef struct packed {
    logic [1:0] row, segment, column, slice;
  } place_t;
  place_t at_q;
  logic   last_segment;
  num_t   words, pixels;
  logic   pixel_last, segment_last, row_last, all_last;
  assign last_segment = at_q.segment == cmd.segments[1:0] - 2'd1;
  assign words        = words_of(cmd, last_segment);
  assign pixels       = (cmd.more_pixels[0] && at_q.column != cmd.columns[1:0] - 2'd1) ? 8'd2 : 8'd1;
  assign pixel_last   = num_t'(Lw) * (num_t'(at_q.slice) + 8'd1) >= words;
  assign segment_last = pixel_last && num_t'(at_q.column) + pixels == num_t'(cmd.columns[1:0]);
  assign row_last     = segment_last && last_segment;
  assign all_last     = row_last && at_q.row == cmd.rows[1:0] - 2'd1;
  always_ff @(posedge clk_i) begin
    if (start) begin
      at_q <= '0;
    end else if (step) begin
      at_q.slice <= pixel_last ? 2'd0 : at_q.slice + 2'd1;
      if (pixel_last) at_q.column <= segment_last ? 2'd0 : at_q.column + pixels[1:0];
      if (segment_last) at_q.segment <= row_last ? 2'd0 : at_q.segment + 2'd1;
      if (row_last) at_q.row <= at_q.row + 2'd1;
    end
  end
  wire walks = active_q && !setup;
  `FV_ASSERT(a_segment, !walks || segment_end == segment_last)
  `FV_ASSERT(a_end, !walks || end_ == all_last)

  // ---- bytes of a slice
  function automatic logic legal_image(load_rows_t c);
    return c.row_bytes[4:0] != '0 && 3'(c.lead_bytes[1:0]) < c.last_pixel_bytes[2:0] && 3'(c.step_bytes[1:0]) <= c.last_pixel_bytes[2:0] &&
           num_t'(c.row_bytes[4:0]) + num_t'(c.lead_bytes[1:0]) > times(num_t'(c.step_bytes[1:0]), c.columns[1:0] - 2'd1);
  endfunction
  wire        image = cmd.step_bytes != '0;
  num_t       bytes, step_at, in_row, row_end, next_step_at, next_in_row;
  logic signed [8:0] shown;
  assign bytes        = num_t'(last_segment ? cmd.last_pixel_bytes[2:0] : cmd.pixel_bytes[2:0]);
  assign step_at      = times(num_t'(cmd.step_bytes[1:0]), at_q.column);  // from the byte `lead` before the row on
  assign in_row       = (step_at > num_t'(cmd.lead_bytes[1:0])) ? step_at : num_t'(cmd.lead_bytes[1:0]);
  assign row_end      = (step_at + bytes < num_t'(cmd.lead_bytes[1:0]) + num_t'(cmd.row_bytes[4:0])) ?
                        step_at + bytes : num_t'(cmd.lead_bytes[1:0]) + num_t'(cmd.row_bytes[4:0]);
  assign next_step_at = step_at + num_t'(cmd.step_bytes[1:0]);
  assign next_in_row  = (next_step_at > num_t'(cmd.lead_bytes[1:0])) ? next_step_at : num_t'(cmd.lead_bytes[1:0]);
  assign shown        = $signed(9'(step_at)) + $signed(9'(Lw * Cp) * 9'(at_q.slice)) - $signed(9'(in_row));
  `FV_ASSERT(a_follow, !walks || follow == !image)
  `FV_ASSERT(a_more, !walks || image || num_t'(more) + 8'd1 == (cmd.more_pixels[0] ? ((pixels == 8'd2) ? 8'(2 * bytes) : bytes) :
             pixel_last ? bytes - num_t'(Lw * Cp) * num_t'(at_q.slice) : num_t'(Lw * Cp)))
  `FV_ASSERT(a_inside, !walks || !image || !legal_image(cmd) || num_t'(more) + 8'd1 == row_end - in_row)
  `FV_ASSERT(a_advance, !walks || !image || !legal_image(cmd) || num_t'(advance) == (pixel_last ? next_in_row - in_row : 8'd0))
  `FV_ASSERT(a_first, !walks || (image ? !legal_image(cmd) || 9'(first) == shown : first == '0))

  // ---- what is written: the slice ahead, after it is taken
  typedef struct packed {
    load_rows_t cmd;
    place_t     at;
    num_t       words, pixels;
  } slice_t;
  logic   written_q;
  slice_t was_q, out_q;  // of the slice ahead; of the one taken last
  always_ff @(posedge clk_i) begin
    written_q <= past_ok_q && rst_ni && take;
    if (step) was_q <= '{cmd: cmd, at: at_q, words: words, pixels: pixels};
    if (take) out_q <= was_q;
  end
  function automatic num_t row_slot(slice_t s, logic vb_ring);
    return slot(s.cmd, vb_ring, 2'((5'(slot_no(s.cmd, vb_ring)) + 5'(s.at.row)) % 5'(slots_of(s.cmd, vb_ring))));
  endfunction
  function automatic num_t word_in(slice_t s, int w);
    return s.cmd.more_pixels[0] ? word_at(s.cmd, s.at.segment, s.at.column + 2'(w))
                                : word_at(s.cmd, s.at.segment, s.at.column) + num_t'(Lw) * num_t'(s.at.slice) + 8'(w);
  endfunction
  function automatic logic exists_in(slice_t s, int w);
    return s.cmd.more_pixels[0] ? 8'(w) < s.pixels : num_t'(Lw) * num_t'(s.at.slice) + 8'(w) < s.words;
  endfunction
  for (genvar w = 0; w < int'(Lw); w++) begin : g_word
    num_t word;
    logic exists;
    assign word   = word_in(out_q, w);
    assign exists = exists_in(out_q, w);
    wire checked  = written_q;
    `FV_ASSERT(a_exists, !checked || (sb[w].en == exists && vb[w].en == exists))
    `FV_ASSERT(a_bank, !(checked && exists) || (8'(sb[w].bank) == (word + 8'(row_bank(2'((5'(out_q.cmd.row_mod3) + 5'(out_q.at.row)) % 5'd3)))) % 8'd9 &&
               vb[w].bank == sb[w].bank))
    `FV_ASSERT(a_address, !(checked && exists) || (sb[w].addr == addr_t'(row_slot(out_q, 1'b0) + word / 8'd9) &&
               vb[w].addr == addr_t'(row_slot(out_q, 1'b1) + word / 8'd9)))
    `FV_ASSERT(a_own_slot, !(checked && exists) || (sb[w].addr >= addr_t'(row_slot(out_q, 1'b0)) &&
               sb[w].addr < addr_t'(row_slot(out_q, 1'b0)) + addr_t'(out_q.cmd.slot_size) && vb[w].addr >= addr_t'(row_slot(out_q, 1'b1)) &&
               vb[w].addr < addr_t'(row_slot(out_q, 1'b1)) + addr_t'(out_q.cmd.slot_size)))
    for (genvar v = 0; v < w; v++) begin : g_other
      `FV_ASSERT(a_distinct, !checked || !sb[w].en || !sb[v].en || sb[w].bank != sb[v].bank)
    end
  end

  // ---- invariants: the block's registers say the same
  function automatic num_t position(word_t p);
    return 8'(8 * p.div[3:0]) + 8'(p.div[3:0]) + num_t'(p.mod);
  endfunction
  `FV_ASSERT(i_legal, !active_q || legal(cmd))
  `FV_ASSERT(i_loops, !active_q || (at_q.row < cmd.rows[1:0] && at_q.segment < cmd.segments[1:0] && at_q.column < cmd.columns[1:0] &&
             num_t'(Lw) * num_t'(at_q.slice) < words && (!cmd.more_pixels[0] || !at_q.column[0])))
  function automatic logic sound(slice_t s);
    return legal(s.cmd) && s.at.row < s.cmd.rows[1:0] && s.at.segment < s.cmd.segments[1:0] && s.at.column < s.cmd.columns[1:0] &&
           s.words == words_of(s.cmd, s.at.segment == s.cmd.segments[1:0] - 2'd1) && num_t'(Lw) * num_t'(s.at.slice) < s.words &&
           s.pixels == ((s.cmd.more_pixels[0] && s.at.column != s.cmd.columns[1:0] - 2'd1) ? 8'd2 : 8'd1) &&
           (!s.cmd.more_pixels[0] || !s.at.column[0]);
  endfunction
  `FV_ASSERT(i_was, !ahead_q || sound(was_q))
  `FV_ASSERT(i_out, !written_q || sound(out_q))
  `FV_ASSERT(i_ahead, !ahead_q || (dut.sb_slot_q == addr_t'(row_slot(was_q, 1'b0)) && dut.vb_slot_q == addr_t'(row_slot(was_q, 1'b1)) &&
             dut.bank_offset_q == row_bank(2'((5'(was_q.cmd.row_mod3) + 5'(was_q.at.row)) % 5'd3))))
  for (genvar w = 0; w < int'(Lw); w++) begin : g_ahead
    wire word_t from = dut.gen_req[w].from_q;
    wire exists      = exists_in(was_q, w);
    `FV_ASSERT(i_word, !ahead_q || (dut.gen_req[w].en_q == exists && (!exists || (from.mod < 4'd9 && from.div < 14'd10 &&
               dut.gen_req[w].group_q < 4'(Lw) && position(from) + num_t'(dut.gen_req[w].group_q) == word_in(was_q, w)))))
  end
  `FV_ASSERT(i_setup, !setup || (active_q && at_q == '0 && dut.row_q == cmd.rows && dut.segment_q == '0))
  `FV_ASSERT(i_counts, !walks || (dut.row_q + 10'(at_q.row) + 10'd1 == cmd.rows && dut.segment_q + 8'(at_q.segment) + 8'd1 == cmd.segments &&
             dut.column_q + 10'(at_q.column) + 10'd1 == cmd.columns && dut.last_pixels_q == (dut.column_q < 10'(dut.pixels_q)) &&
             dut.more_q + 14'd1 + 14'(Lw * Cp) * 14'(at_q.slice) == (last_segment ? cmd.last_pixel_bytes : cmd.pixel_bytes)))
  `FV_ASSERT(i_image, !walks || !image || !legal_image(cmd) || (dut.skip_q == 8'(Lw * Cp) * 8'(at_q.slice) &&
             dut.lead_q == in_row - step_at &&
             dut.row_more_q + 14'd1 + 14'(in_row) == 14'(cmd.row_bytes[4:0]) + 14'(cmd.lead_bytes[1:0])))
  `FV_ASSERT(i_command, !active_q || (dut.columns_q == cmd.columns - 10'd1 && dut.segments_q == cmd.segments - 8'd1 &&
             dut.pixel_more_q == cmd.pixel_bytes - 14'd1 && dut.last_more_q == cmd.last_pixel_bytes - 14'd1 &&
             dut.image_more_q == cmd.row_bytes - 14'd1 && dut.step_bytes_q == cmd.step_bytes && dut.lead_bytes_q == cmd.lead_bytes &&
             dut.pixels_q == 4'(cmd.more_pixels) + 4'd1 && dut.more_pixels_q == cmd.more_pixels && dut.several_q == cmd.more_pixels[0] && dut.image_q == (cmd.step_bytes != '0) &&
             dut.first_q == word_of(cmd.first) && dut.segment_step_q == word_of(cmd.segment_groups) &&
             dut.sb_ring_q == {addr_t'(cmd.sb_first), addr_t'(cmd.sb_last), addr_t'(cmd.slot_size)} &&
             dut.vb_ring_q == {addr_t'(cmd.vb_first), addr_t'(cmd.vb_last), addr_t'(cmd.slot_size)}))
  `FV_ASSERT(i_offsets, !active_q || (dut.offset_q[0] == '0 && dut.offset_q[1] == word_of(cmd.pixel) && dut.offset_q[2].div < 14'd2 &&
             dut.offset_q[2].mod < 4'd9 && position(dut.offset_q[2]) == times(num_t'(cmd.pixel.mod), 2'd2)))
  `FV_ASSERT(i_step, !(active_q && !setup) || dut.pixel_step_q == dut.offset_q[2'(cmd.more_pixels[0]) + 2'd1])
  `FV_ASSERT(i_positions, !walks || (dut.segment_pos_q.mod < 4'd9 && dut.pixel_pos_q.mod < 4'd9 && dut.pos_q.mod < 4'd9 &&
             dut.segment_pos_q.div < 14'd16 && dut.pixel_pos_q.div < 14'd16 && dut.pos_q.div < 14'd16 &&
             position(dut.segment_pos_q) == word_at(cmd, at_q.segment, 2'd0) &&
             position(dut.pixel_pos_q) == word_at(cmd, at_q.segment, at_q.column) &&
             position(dut.pos_q) == position(dut.pixel_pos_q) + num_t'(Lw) * num_t'(at_q.slice)))
  function automatic num_t slot_now(logic vb_ring);
    return slot(cmd, vb_ring, 2'((5'(slot_no(cmd, vb_ring)) + 5'(at_q.row)) % 5'(slots_of(cmd, vb_ring))));
  endfunction
  `FV_ASSERT(i_slots, !active_q || (dut.u_row.sb_slot_q == addr_t'(slot_now(1'b0)) && dut.u_row.vb_slot_q == addr_t'(slot_now(1'b1)) &&
             dut.u_row.mod3_q == 2'((5'(cmd.row_mod3) + 5'(at_q.row)) % 5'd3)))

  `FV_COVER(c_wraps, written_q && out_q.at.row == 2'd2 && out_q.at.segment == 2'd1 && out_q.at.slice == 2'd1 && sb[0].addr < sb[1].addr)
  `FV_COVER(c_image, walks && image && legal_image(cmd) && first == -6'd1 && at_q.column == 2'd1 && row_end < step_at + bytes)
  `FV_COVER(c_pair, written_q && out_q.cmd.more_pixels[0] && out_q.at.column == 2'd2 && out_q.at.row == 2'd1 && slots_of(out_q.cmd, 1'b0) == 3'd1)
endmodule
