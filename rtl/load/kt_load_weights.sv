// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The loops of LoadWeights: pass, row of the pass that exists in memory. A row is one slice; what kt_load_words needs
// to spread it comes with it.
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
  // slice
  input  logic             step_i,
  output logic [NeedW-1:0] more_o,     // bytes behind its first one
  output logic             plain_o,    // see kt_load_words
  output logic [3:0]       full_o,
  output logic [4:0]       bytes_o,
  output logic [7:0]       fill_o,
  output logic             end_o,      // last slice of the command
  output addr_t            addr_o      // of the row
);

  localparam logic [NeedW-1:0] MoreBytes = NeedW'(9 * Cp - 1);

  // of the command
  logic [7:0]  rows_q, pitch_q, fill_q;
  logic [NeedW-1:0] last_more_q;
  logic [3:0]  last_full_words_q;
  logic [4:0]  last_word_bytes_q;
  logic [11:0] tile_passes_q;
  logic        ring_q;

  // of the current slice; counters hold what is left after it (passes with its own: start_i waits for no subtraction)
  logic [11:0] pass_q, tile_pass_q;
  logic [7:0]  row_q;
  addr_t       pass_addr_q, addr_q;

  logic        pass_end, last_pass;
  addr_t       next_pass;

  // Addresses from the end of WB on continue at wb_split_i.
  function automatic addr_t wrap(logic ring, addr_t split, logic [16:0] a);
    return (ring && a >= 17'(WbRows)) ? addr_t'(a - 17'(WbRows)) + split : addr_t'(a);
  endfunction

  assign last_pass   = tile_pass_q == '0;
  assign more_o      = last_pass ? last_more_q : MoreBytes;
  assign plain_o     = more_o == MoreBytes;
  assign full_o      = last_full_words_q;
  assign bytes_o     = last_word_bytes_q;
  assign fill_o      = fill_q;
  assign pass_end    = row_q == '0;
  assign end_o       = pass_end && pass_q == 12'd1;
  assign addr_o      = addr_q;
  assign next_pass   = wrap(ring_q, wb_split_i, 17'(pass_addr_q) + 17'(pitch_q));

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      rows_q            <= cmd_i.rows - 8'd1;
      pitch_q           <= cmd_i.pass_pitch;
      last_more_q       <= NeedW'(cmd_i.last_row_bytes) - 1'b1;
      last_full_words_q <= cmd_i.last_full_words;
      last_word_bytes_q <= cmd_i.last_word_bytes;
      fill_q            <= cmd_i.fill;
      tile_passes_q     <= cmd_i.tile_passes - 12'd1;
      ring_q            <= !cmd_i.to_vwb;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      pass_q      <= cmd_i.passes;
      tile_pass_q <= cmd_i.tile_passes - 12'd1 - cmd_i.first_pass;
      row_q       <= cmd_i.rows - 8'd1;
      pass_addr_q <= cmd_i.row;
      addr_q      <= cmd_i.row;
    end else if (step_i) begin
      if (pass_end) begin
        pass_q      <= pass_q - 12'd1;
        tile_pass_q <= last_pass ? tile_passes_q : tile_pass_q - 12'd1;
        row_q       <= rows_q;
        pass_addr_q <= next_pass;
        addr_q      <= next_pass;
      end else begin
        row_q  <= row_q - 8'd1;
        addr_q <= wrap(ring_q, wb_split_i, 17'(addr_q) + 17'd1);
      end
    end
  end

  logic unused_cmd;
  assign unused_cmd = ^{cmd_i.spare, cmd_i.zvc_beats, cmd_i.bytes, cmd_i.offset, cmd_i.base};

endmodule
