// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Fills the shadow registers with the parameters of a tile while the tile before computes:
//   depthwise  3 * Cp ZSB words, one a lane, for every tile
//   maximum    one ZSB word for all lanes, once a command
//   average    none (its words are read result by result)
//   Add        a ZSB word for each operand and one for the sum, once
// and, before them and once a command, the 32 words of a table into whichever of the two is not in use. No result needs
// it any more then: the result writer holds two commands, so that one is taken only when the last but one has left.
// ZSB has one read port; a step on its way through the pipeline comes first. The words arrive in the
// cycle after the grant. `loaded_o` rises when all are on their way; the next load begins after the swap has reached
// the last stage that uses the shadow registers.
module kt_vector_loader
  import kt_pkg::*;
  import kt_vector_pkg::*;
#(
  parameter int unsigned Cp = 8,
  localparam int unsigned LaneW = $clog2(3 * Cp)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // command, only while ready_o is high
  input  logic             start_i,
  // it uses few fields of it
  /* verilator lint_off UNUSEDSIGNAL */
  input  vec_cmd_t         cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic             ready_o,
  // sequencer: a swap is issued; it has reached the last stage
  output logic             loaded_o,
  input  logic             swap_i,
  input  logic             swapped_i,
  // ZSB
  input  logic             zsb_grant_i,
  output logic             zsb_rd_o,
  output addr_t            zsb_addr_o,
  output param_dest_e      zsb_dest_o,    // with the request
  output logic [LaneW-1:0] zsb_lane_o,    // ToOperand: bits 1:0 are the operand
  output logic [5:0]       zsb_table_o,   // ToTable: word
  // of the tile in the shadow registers
  output out_quant_t       out_quant_o
);

  logic       job_q;      // tiles of a command are left
  logic       loading_q;  // reads are left
  logic       loaded_q;
  kind_e      kind_q;
  logic [9:0] tiles_q;    // left after this one
  addr_t      zsb_addr_q, params_q;
  out_quant_t out_quant_q;

  // words of a load and those still to be read
  logic [LaneW-1:0] words_q, word_q;
  logic             zsb_left;

  logic [LaneW-1:0] words;
  always_comb begin
    unique case (cmd_i.kind)
      KindDepthwise: words = LaneW'(3 * Cp);
      KindMaximum:   words = LaneW'(1);
      KindAdd:       words = LaneW'(3) + LaneW'(cmd_i.more_operands);
      default:       words = '0;
    endcase
  end

  logic [5:0] table_left_q;  // its words, with the other ones behind them
  logic       second_q;      // table to be filled
  logic       table_left;

  assign table_left = table_left_q != '0;
  assign zsb_left   = loading_q && (table_left || (word_q != words_q));
  assign zsb_rd_o   = zsb_left && zsb_grant_i;

  logic last_tile;
  assign last_tile = (kind_q != KindDepthwise) || (tiles_q == '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      job_q     <= 1'b0;
      loading_q <= 1'b0;
      loaded_q  <= 1'b0;
      second_q  <= 1'b1;
    end else begin
      if (start_i && cmd_i.look_up) second_q <= !second_q;
      if (start_i) begin
        job_q     <= 1'b1;
        loading_q <= 1'b1;
      end else if (swapped_i) begin
        job_q     <= !last_tile;
        loading_q <= !last_tile;
      end else if (loading_q && !zsb_left) begin
        loading_q <= 1'b0;
      end
      if (swap_i) loaded_q <= 1'b0;
      else if (loading_q && !zsb_left) loaded_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      kind_q       <= cmd_i.kind;
      tiles_q      <= cmd_i.tiles - 10'd1;
      params_q     <= cmd_i.params;
      zsb_addr_q   <= cmd_i.look_up ? cmd_i.table_word : cmd_i.params;
      out_quant_q  <= cmd_i.out_quant;
      words_q      <= words;
      word_q       <= '0;
      table_left_q <= cmd_i.look_up ? 6'(TableWords) : '0;
    end else begin
      if (swapped_i) begin
        tiles_q <= tiles_q - 10'd1;
        word_q  <= '0;
      end
      if (zsb_rd_o) begin
        zsb_addr_q <= (table_left_q == 6'd1) ? params_q : zsb_addr_q + 1'b1;
        if (table_left) table_left_q <= table_left_q - 6'd1;
        else word_q <= word_q + 1'b1;
      end
    end
  end

  assign ready_o      = !job_q;
  assign loaded_o     = loaded_q;
  assign zsb_addr_o   = zsb_addr_q;
  assign zsb_lane_o   = word_q;
  assign zsb_table_o  = {second_q, 5'(6'(TableWords) - table_left_q)};
  assign out_quant_o  = out_quant_q;
  always_comb begin
    zsb_dest_o = ToLane;
    if (kind_q == KindMaximum) zsb_dest_o = ToAll;
    if (kind_q == KindAdd) zsb_dest_o = (word_q == words_q - 1'b1) ? ToAll : ToOperand;
    if (table_left) zsb_dest_o = ToTable;
  end

endmodule
