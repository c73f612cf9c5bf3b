// The loops of LoadWeights: pass, row of the pass that exists in memory and, where a row's words must be spread apart,
// word of the row. A spread row whose words are full is contiguous and takes one piece like any other row.
module kt_load_weights
  import kt_pkg::*;
  import kt_cmd_pkg::*;
#(
  parameter int unsigned Cp     = 4,
  parameter int unsigned WbRows = 2048,
  localparam int unsigned NeedW = $clog2(9 * Cp + 1)
) (
  input  logic             clk_i,
  input  addr_t            wb_split_i,
  // command
  input  logic             start_i,
  input  load_weights_t    cmd_i,
  // piece
  input  logic             step_i,
  output logic [NeedW-1:0] need_o,
  output logic             word_o,     // the piece is one word of a row, words come in order
  output logic             row_end_o,  // the row is complete with this piece
  output logic             end_o,      // last piece of the command
  output addr_t            addr_o      // of the row
);

  localparam logic [7:0] RowBytes = 8'(9 * Cp);

  // of the command
  logic [7:0]  rows_q, pitch_q, row_bytes_q, last_row_bytes_q;
  logic [11:0] tile_passes_q;
  logic        spread_q, ring_q;

  // of the current piece; counters hold what is left after it
  logic [11:0] pass_q, tile_pass_q;
  logic [7:0]  row_q, bytes_q;
  logic [3:0]  word_q;             // number of the word
  addr_t       pass_addr_q, addr_q;

  logic        pass_end;
  logic [11:0] tile_pass_d;
  addr_t       next_pass;

  // Addresses from the end of WB on continue at wb_split_i.
  function automatic addr_t wrap(logic ring, addr_t split, logic [16:0] a);
    return (ring && a >= 17'(WbRows)) ? addr_t'(a - 17'(WbRows)) + split : addr_t'(a);
  endfunction

  assign word_o      = spread_q && bytes_q != 8'(Cp);
  assign need_o      = NeedW'((spread_q && !word_o) ? RowBytes : bytes_q);
  assign row_end_o   = !word_o || word_q == 4'd8;
  assign pass_end    = row_end_o && row_q == '0;
  assign end_o       = pass_end && pass_q == '0;
  assign addr_o      = addr_q;
  assign tile_pass_d = (tile_pass_q == '0) ? tile_passes_q : tile_pass_q - 12'd1;
  assign next_pass   = wrap(ring_q, wb_split_i, 17'(pass_addr_q) + 17'(pitch_q));

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      rows_q           <= cmd_i.rows - 8'd1;
      pitch_q          <= cmd_i.pass_pitch;
      row_bytes_q      <= cmd_i.row_bytes;
      last_row_bytes_q <= cmd_i.last_row_bytes;
      tile_passes_q    <= cmd_i.tile_passes - 12'd1;
      spread_q         <= cmd_i.spread;
      ring_q           <= !cmd_i.to_vwb;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      pass_q      <= cmd_i.passes - 12'd1;
      tile_pass_q <= cmd_i.tile_passes - 12'd1 - cmd_i.first_pass;
      bytes_q     <= (cmd_i.tile_passes - 12'd1 == cmd_i.first_pass) ? cmd_i.last_row_bytes : cmd_i.row_bytes;
      row_q       <= cmd_i.rows - 8'd1;
      word_q      <= '0;
      pass_addr_q <= cmd_i.row;
      addr_q      <= cmd_i.row;
    end else if (step_i) begin
      word_q <= row_end_o ? '0 : word_q + 4'd1;
      if (pass_end) begin
        pass_q      <= pass_q - 12'd1;
        tile_pass_q <= tile_pass_d;
        bytes_q     <= (tile_pass_d == '0) ? last_row_bytes_q : row_bytes_q;
        row_q       <= rows_q;
        pass_addr_q <= next_pass;
        addr_q      <= next_pass;
      end else if (row_end_o) begin
        row_q  <= row_q - 8'd1;
        addr_q <= wrap(ring_q, wb_split_i, 17'(addr_q) + 17'd1);
      end
    end
  end

  logic unused_cmd;
  assign unused_cmd = ^{cmd_i.spare, cmd_i.bytes, cmd_i.offset, cmd_i.base};

endmodule
