// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The loops of LoadRows: row, segment, column, slice of a pixel (Lw words at most) or, where they are short, of several
// pixels. The outputs with `more` belong to the current slice; step_i moves on to the next one. The bank requests of
// the slice stepped over last are at the outputs after take_i. Positions count in words, see the package.
//
// Multiples of a pixel's words take two cycles: the first slice is there one cycle after the command (setup_o). In that
// cycle the loops end the row before the first one.
//
// In a row-flattened image pixels overlap and may begin before the row (`lead` bytes, fewer with each pixel) or end
// behind it: a slice has what the row has of the pixel, and shows it from byte `first` on.
module kt_load_rows
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned Cp = 4,
  parameter int unsigned Lw = 4,                       // words of a slice, at most 9
  localparam int unsigned NeedW = $clog2(9 * Cp + 1)
) (
  input  logic             clk_i,
  // command
  input  logic             start_i,
  input  load_rows_t       cmd_i,
  output logic             setup_o,        // no slice yet: nothing is stepped
  // slice, see kt_gearbox and kt_load_words
  input  logic             step_i,
  input  logic             take_i,         // comes with or before the next step_i
  output logic [NeedW-1:0] more_o,
  output logic             follow_o,
  output logic [NeedW-1:0] advance_o,
  output logic signed [NeedW:0] first_o,
  output logic             plain_o,
  output logic [3:0]       full_o,
  output logic [4:0]       bytes_o,
  output logic [7:0]       fill_o,
  output logic             request_end_o,  // last slice of a (row, segment)
  output logic             end_o,          // last slice of the command
  output bank_req_t        sb_req_o[Lw],   // of the last slice taken
  output bank_req_t        vb_req_o[Lw]
);

  localparam int unsigned SliceBytes = Lw * Cp;
  localparam int unsigned CpW        = $clog2(Cp);

  // of the command
  logic [9:0]  columns_q;
  logic [7:0]  segments_q;
  logic [13:0] pixel_more_q, last_more_q, image_more_q;  // bytes behind the first one: of pixels, of an image's row
  logic [3:0]  pixels_q;            // of a slice
  logic [2:0]  more_pixels_q;       // one less
  logic        several_q, image_q;
  logic [7:0]  step_bytes_q, lead_bytes_q, fill_q;
  word_t       first_q, pixel_step_q, segment_step_q;
  word_t       offset_q[8];         // of the pixels of a slice: multiples of P
  ring_t       sb_ring_q, vb_ring_q;

  // of the current slice; counters hold what is left after it (columns: after its first pixel, bytes: after the first)
  logic [9:0]  row_q, column_q;
  logic        last_pixels_q;       // those of this slice are the row's last ones
  logic [7:0]  segment_q;
  logic [13:0] more_q;              // bytes of the pixel
  logic [13:0] row_more_q;          // of an image: bytes of the row behind the first one it has of the pixel
  logic [7:0]  lead_q, skip_q;      //              bytes of the pixel left of the row, before this slice
  word_t       segment_pos_q, pixel_pos_q, pos_q;

  logic        pixel_end, segment_end, row_end, more_segments;
  logic [2:0]  more_pixels;         // of this slice
  logic [7:0]  segment_d;
  word_t       next_segment, next_pixel;

  assign pixel_end     = setup_o || more_q < 14'(SliceBytes);
  assign segment_end   = setup_o || (pixel_end && last_pixels_q);
  assign row_end       = segment_end && segment_q == '0;
  assign request_end_o = segment_end;
  assign end_o         = row_end && row_q == '0;
  assign more_pixels   = (setup_o || last_pixels_q) ? column_q[2:0] : more_pixels_q;  // several have no more slices

  // ---- bytes
  logic [7:0]  advance;
  logic [13:0] in_row;
  logic [6:0]  left;                // of a pixel where there are several in a slice
  logic        narrow;
  assign advance   = (step_bytes_q > lead_q) ? step_bytes_q - lead_q : '0;
  assign in_row    = last_more_q - 14'(lead_q);
  assign left      = more_q[6:0] + 7'd1;
  assign narrow    = several_q && more_q < 14'(Cp - 1);
  assign full_o    = narrow ? 4'd0 : 4'd9;
  assign bytes_o   = left[4:0];
  assign fill_o    = fill_q;
  assign plain_o   = !image_q && !narrow && more_o[CpW-1:0] == '1;
  assign follow_o  = !image_q;
  assign advance_o = pixel_end ? NeedW'(advance) : '0;
  always_comb begin
    first_o = '0;
    more_o  = pixel_end ? NeedW'(more_q) : NeedW'(SliceBytes - 1);
    if (image_q) begin
      more_o  = NeedW'((in_row < row_more_q) ? in_row : row_more_q);
      first_o = $signed((NeedW + 1)'(skip_q)) - $signed((NeedW + 1)'(lead_q));
    end else if (several_q) begin
      more_o = NeedW'(10'(more_pixels) * 10'(left) + 10'(more_q[6:0]));
    end
  end

  // ---- loops
  assign next_pixel    = word_add(pixel_pos_q, pixel_step_q);
  assign next_segment  = (segment_q == '0) ? first_q : word_add(segment_pos_q, segment_step_q);
  assign segment_d     = (segment_q == '0) ? segments_q : segment_q - 8'd1;
  assign more_segments = (segment_end ? segment_d : segment_q) != '0;

  // Arithmetic stands inside clocked processes: in simulation it rests otherwise, and hardware waits for no condition.
  always_ff @(posedge clk_i) begin
    setup_o <= start_i;
    if (start_i) begin
      automatic word_t offset[8] = '{default: '0};
      offset[1] = word_of(cmd_i.pixel);
      offset[2] = word_add(offset[1], offset[1]);
      offset[3] = word_add(offset[2], offset[1]);
      offset[4] = word_add(offset[2], offset[2]);
      offset_q <= offset;
    end else if (setup_o) begin
      automatic word_t offset[16] = '{default: '0};  // multiples of P, eight of them; the rest keeps an index inside
      for (int unsigned k = 1; k < 5; k++) begin
        offset[k]   = offset_q[k];
        offset[k+4] = word_add(offset_q[4], offset_q[k]);
      end
      offset_q     <= offset[0:7];
      pixel_step_q <= offset[pixels_q];
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      columns_q          <= cmd_i.columns - 10'd1;
      segments_q         <= cmd_i.segments - 8'd1;
      pixel_more_q       <= cmd_i.pixel_bytes - 14'd1;
      last_more_q        <= cmd_i.last_pixel_bytes - 14'd1;
      image_more_q       <= cmd_i.row_bytes - 14'd1;
      pixels_q           <= 4'(cmd_i.more_pixels) + 4'd1;
      more_pixels_q      <= cmd_i.more_pixels;
      several_q          <= cmd_i.more_pixels != '0;
      image_q            <= cmd_i.step_bytes != '0;
      step_bytes_q       <= cmd_i.step_bytes;
      lead_bytes_q       <= cmd_i.lead_bytes;
      fill_q             <= cmd_i.fill;
      first_q            <= word_of(cmd_i.first);
      segment_step_q     <= word_of(cmd_i.segment_groups);
      sb_ring_q <= '{first: addr_t'(cmd_i.sb_first), last: addr_t'(cmd_i.sb_last), size: addr_t'(cmd_i.slot_size)};
      vb_ring_q <= '{first: addr_t'(cmd_i.vb_first), last: addr_t'(cmd_i.vb_last), size: addr_t'(cmd_i.slot_size)};
    end
  end

  always_ff @(posedge clk_i) begin
    if (setup_o || step_i) begin
      automatic logic [9:0] column = segment_end ? columns_q : pixel_end ? column_q - 10'(pixels_q) : column_q;
      column_q      <= column;
      last_pixels_q <= column < 10'(pixels_q);
      more_q <= !pixel_end ? more_q - 14'(SliceBytes) : more_segments ? pixel_more_q : last_more_q;
      if (!pixel_end) begin
        pos_q <= word_add(pos_q, '{div: 14'(Lw / 9), mod: 4'(Lw % 9)});
      end else if (!segment_end) begin
        pixel_pos_q <= next_pixel;
        pos_q       <= next_pixel;
      end else begin
        segment_q     <= segment_d;
        segment_pos_q <= next_segment;
        pixel_pos_q   <= next_segment;
        pos_q         <= next_segment;
      end
      if (image_q) begin
        skip_q <= pixel_end ? '0 : skip_q + 8'(SliceBytes);
        if (segment_end) begin
          row_more_q <= image_more_q;
          lead_q     <= lead_bytes_q;
        end else if (pixel_end) begin
          row_more_q <= row_more_q - 14'(advance);
          lead_q     <= (lead_q > step_bytes_q) ? lead_q - step_bytes_q : '0;
        end
      end
      if (row_end) row_q <= row_q - 10'd1;
    end
    if (start_i) begin
      row_q     <= cmd_i.rows;
      segment_q <= '0;
    end
  end

  addr_t      sb_slot, vb_slot;
  logic [3:0] bank_offset;
  kt_row_cursor u_row (
    .clk_i,
    .set_i        (start_i),
    .sb_slot_i    (addr_t'(cmd_i.sb_slot)),
    .vb_slot_i    (addr_t'(cmd_i.vb_slot)),
    .row_mod3_i   (cmd_i.row_mod3),
    .next_i       (step_i && row_end),
    .sb_ring_i    (sb_ring_q),
    .vb_ring_i    (vb_ring_q),
    .sb_slot_o    (sb_slot),
    .vb_slot_o    (vb_slot),
    .bank_offset_o(bank_offset)
  );

  // ---- bank requests: the words of a slice follow each other, or those of each of its pixels do. First where a word's
  // pixel lies and which group of it the word is, then the bank and its address.
  logic [1:0] words;  // of a pixel behind its first one, where there are several pixels in a slice
  addr_t      sb_slot_q, vb_slot_q;
  logic [3:0] bank_offset_q;
  assign words = more_q[CpW+:2];

  always_ff @(posedge clk_i) begin
    if (step_i) begin
      sb_slot_q     <= sb_slot;
      vb_slot_q     <= vb_slot;
      bank_offset_q <= bank_offset;
    end
  end

  for (genvar w = 0; w < int'(Lw); w++) begin : gen_req
    logic       en_q;
    word_t      from_q;
    logic [3:0] group_q;
    always_ff @(posedge clk_i) begin
      if (step_i) begin
        automatic logic [3:0] pixel = '0, group = 4'(w);
        automatic logic [13:0] skipped = 14'(w * Cp);  // bytes of the words before it
        if (several_q) begin
          unique case (words)
            2'd0: {pixel, group} = {4'(w), 4'd0};
            2'd1: {pixel, group} = {4'(w / 2), 4'(w % 2)};
            2'd2: {pixel, group} = {4'(w / 3), 4'(w % 3)};
            default: {pixel, group} = {4'(w / 4), 4'(w % 4)};
          endcase
        end
        from_q  <= several_q ? word_add(pos_q, offset_q[pixel[2:0]]) : pos_q;
        group_q <= group;
        en_q    <= several_q ? pixel <= 4'(more_pixels) : more_q >= skipped;
      end
      if (take_i) begin
        automatic logic [4:0] mod   = 5'(from_q.mod) + 5'(group_q);
        automatic logic [4:0] place = mod + 5'(bank_offset_q);  // modulo nine: the bank
        automatic logic [3:0] bank  = 4'(place) - ((place >= 5'd18) ? 4'(5'd18) : (place >= 5'd9) ? 4'd9 : 4'd0);
        automatic logic       next  = mod >= 5'd9;              // of from_q.div
        sb_req_o[w] <= '{en: en_q, bank: bank, addr: sb_slot_q + addr_t'(from_q.div) + addr_t'(next)};
        vb_req_o[w] <= '{en: en_q, bank: bank, addr: vb_slot_q + addr_t'(from_q.div) + addr_t'(next)};
      end
    end
  end

  logic unused_cmd;
  assign unused_cmd = ^{cmd_i.spare, cmd_i.zvc, cmd_i.surface, cmd_i.to_sb, cmd_i.to_vb, cmd_i.row_pitch,
                        cmd_i.segment_pitch, cmd_i.offset, cmd_i.base};

endmodule
