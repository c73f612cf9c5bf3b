// The loops of LoadRows: row, segment, column, piece of a pixel (Lw words at most).
// need_o belongs to the current piece; step_i moves on to the next one and leaves the taps of this one at the outputs.
// Positions count in words, see the package; the words of a piece follow each other, so they name different banks.
module kt_load_rows
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned Cp = 4,
  parameter int unsigned Lw = 4,                       // words of a piece, at most 9
  localparam int unsigned NeedW = $clog2(Lw * Cp + 1)
) (
  input  logic             clk_i,
  // command
  input  logic             start_i,
  input  load_rows_t       cmd_i,
  // piece
  input  logic             step_i,
  output logic [NeedW-1:0] need_o,
  output logic             request_end_o,  // last piece of a (row, segment)
  output logic             end_o,          // last piece of the command
  output tap_t             sb_tap_o[Lw],   // of the last piece stepped over
  output tap_t             vb_tap_o[Lw]
);

  localparam int unsigned PieceBytes = Lw * Cp;

  // of the command
  logic [9:0]  columns_q;
  logic [7:0]  segments_q;
  logic [13:0] pixel_bytes_q, last_pixel_bytes_q;
  word_t       first_q, pixel_step_q, segment_step_q;
  ring_t       sb_ring_q, vb_ring_q;

  // of the current piece; counters hold what is left after it
  logic [9:0]  row_q, column_q;
  logic [7:0]  segment_q;
  logic [13:0] left_q;              // bytes of the pixel, this piece included
  word_t       segment_pos_q, pixel_pos_q, pos_q;
  addr_t       sb_slot_q, vb_slot_q;
  logic [1:0]  mod3_q;

  logic        pixel_end, segment_end, row_end, more_segments;
  logic [7:0]  segment_d;
  word_t       next_segment, next_pixel;

  assign pixel_end     = left_q <= 14'(PieceBytes);
  assign need_o        = pixel_end ? NeedW'(left_q) : NeedW'(PieceBytes);
  assign segment_end   = pixel_end && column_q == '0;
  assign row_end       = segment_end && segment_q == '0;
  assign request_end_o = segment_end;
  assign end_o         = row_end && row_q == '0;

  assign next_pixel    = word_add(pixel_pos_q, pixel_step_q);
  assign next_segment  = (segment_q == '0) ? first_q : word_add(segment_pos_q, segment_step_q);
  assign segment_d     = (segment_q == '0) ? segments_q : segment_q - 8'd1;
  assign more_segments = (segment_end ? segment_d : segment_q) != '0;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      columns_q          <= cmd_i.columns - 10'd1;
      segments_q         <= cmd_i.segments - 8'd1;
      pixel_bytes_q      <= cmd_i.pixel_bytes;
      last_pixel_bytes_q <= cmd_i.last_pixel_bytes;
      first_q            <= word_of(cmd_i.first);
      pixel_step_q       <= word_of(cmd_i.pixel);
      segment_step_q     <= word_of(cmd_i.segment_groups);
      sb_ring_q <= '{first: addr_t'(cmd_i.sb_first), last: addr_t'(cmd_i.sb_last), size: addr_t'(cmd_i.slot_size)};
      vb_ring_q <= '{first: addr_t'(cmd_i.vb_first), last: addr_t'(cmd_i.vb_last), size: addr_t'(cmd_i.slot_size)};
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q         <= cmd_i.rows - 10'd1;
      column_q      <= cmd_i.columns - 10'd1;
      segment_q     <= cmd_i.segments - 8'd1;
      left_q        <= (cmd_i.segments == 8'd1) ? cmd_i.last_pixel_bytes : cmd_i.pixel_bytes;
      segment_pos_q <= word_of(cmd_i.first);
      pixel_pos_q   <= word_of(cmd_i.first);
      pos_q         <= word_of(cmd_i.first);
      sb_slot_q     <= addr_t'(cmd_i.sb_slot);
      vb_slot_q     <= addr_t'(cmd_i.vb_slot);
      mod3_q        <= cmd_i.row_mod3;
    end else if (step_i) begin
      left_q <= !pixel_end ? left_q - 14'(PieceBytes) : more_segments ? pixel_bytes_q : last_pixel_bytes_q;
      if (!pixel_end) begin
        pos_q <= word_add(pos_q, '{div: 14'(Lw / 9), mod: 4'(Lw % 9)});
      end else if (!segment_end) begin
        column_q    <= column_q - 10'd1;
        pixel_pos_q <= next_pixel;
        pos_q       <= next_pixel;
      end else begin
        column_q      <= columns_q;
        segment_q     <= segment_d;
        segment_pos_q <= next_segment;
        pixel_pos_q   <= next_segment;
        pos_q         <= next_segment;
      end
      if (row_end) begin
        row_q     <= row_q - 10'd1;
        sb_slot_q <= next_slot(sb_ring_q, sb_slot_q);
        vb_slot_q <= next_slot(vb_ring_q, vb_slot_q);
        mod3_q    <= add3(mod3_q, 2'd1);
      end
    end
  end

  // ---- taps
  addr_t      sb_addr, vb_addr;
  logic [3:0] bank0;
  assign sb_addr = sb_slot_q + addr_t'(pos_q.div);
  assign vb_addr = vb_slot_q + addr_t'(pos_q.div);
  assign bank0   = add9(pos_q.mod, row_bank(mod3_q));

  for (genvar w = 0; w < int'(Lw); w++) begin : gen_tap
    logic       en, carry;
    logic [3:0] bank;
    assign en    = 32'(need_o) > w * Cp;
    assign carry = 32'(pos_q.mod) + w >= 32'd9;
    assign bank  = add9(bank0, 4'(w));

    always_ff @(posedge clk_i) begin
      if (step_i) begin
        sb_tap_o[w] <= '{en: en, bank: bank, addr: sb_addr + addr_t'(carry)};
        vb_tap_o[w] <= '{en: en, bank: bank, addr: vb_addr + addr_t'(carry)};
      end
    end
  end

  logic unused_cmd;
  assign unused_cmd = ^{cmd_i.spare, cmd_i.to_sb, cmd_i.to_vb, cmd_i.row_pitch, cmd_i.segment_pitch, cmd_i.offset,
                        cmd_i.base};

endmodule
