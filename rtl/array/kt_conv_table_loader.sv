// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Fills one of two tables with the 32 ZSB words of the command at the head of the queue, while the other one is in use, and says
// which of them a result goes through. A command that looks up starts once its table has begun to fill; its first result
// waits until all words are read. A fill begins only when the results of all commands before the running one have left.
// ZSB has one read port; the parameters of a tile come first. A word arrives in the cycle after its grant.
module kt_conv_table_loader
  import kt_pkg::*;
#(
  parameter int unsigned Latency  = 16,   // cycles from a slot to its result
  parameter int unsigned ZsbDepth = 1024
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // head of the queue, its parameters are in ZSB
  input  logic       head_i,
  input  logic       look_up_i,     // goes through a table
  input  addr_t      table_word_i,  // whose first word lies here
  input  logic       start_i,       // it becomes the running command
  output logic       ready_o,       // it may
  // the running command's table is read: results may be asked for
  output logic       filled_o,
  // ZSB
  input  logic       zsb_grant_i,
  output logic       zsb_rd_o,
  output addr_t      zsb_addr_o,
  // table, with the word
  output logic       we_o,
  output logic [5:0] wr_addr_o,     // table, word
  // of the result that leaves the requantiser
  output logic       look_up_o,
  output logic       second_o       // in the second table
);

  localparam int unsigned AgeW = $clog2(Latency + 1);

  logic            claimed_q;  // the head's table is being filled, or is
  logic [5:0]      left_q;     // words to be read
  logic            second_q;   // table of the latest fill
  addr_t           addr_q;
  logic [AgeW-1:0] age_q;      // cycles since the last start, at most Latency
  logic            claim, old;

  assign old      = age_q == AgeW'(Latency);
  assign claim    = head_i && look_up_i && !claimed_q && !start_i && left_q == '0 && old;
  assign ready_o  = !(head_i && look_up_i) || claimed_q;
  assign filled_o = claimed_q || left_q == '0;

  assign zsb_rd_o   = left_q != '0 && zsb_grant_i;
  assign zsb_addr_o = addr_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      claimed_q <= 1'b0;
      left_q    <= '0;
      second_q  <= 1'b0;
      age_q     <= AgeW'(Latency);
      we_o      <= 1'b0;
    end else begin
      if (start_i) claimed_q <= 1'b0;
      else if (claim) claimed_q <= 1'b1;
      if (claim) left_q <= 6'(TableWords);
      else if (zsb_rd_o) left_q <= left_q - 6'd1;
      if (claim) second_q <= !second_q;
      if (start_i) age_q <= '0;
      else if (!old) age_q <= age_q + 1'b1;
      we_o <= zsb_rd_o;
    end
  end

  // ZSB is a ring: behind its end comes its beginning.
  always_ff @(posedge clk_i) begin
    if (claim) addr_q <= table_word_i;
    else if (zsb_rd_o) addr_q <= (addr_q == addr_t'(ZsbDepth - 1)) ? '0 : addr_q + 1'b1;
    if (zsb_rd_o) wr_addr_o <= {second_q, 5'(6'(TableWords) - left_q)};
  end

  // What holds for the running command holds for the results of its slots, Latency cycles later.
  logic               look_up_q, running_second_q;
  logic [Latency-1:0] look_ups_q, seconds_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      look_up_q  <= 1'b0;
      look_ups_q <= '0;
    end else begin
      if (start_i) look_up_q <= look_up_i;
      look_ups_q <= {look_ups_q[Latency-2:0], look_up_q};
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) running_second_q <= second_q;
    seconds_q <= {seconds_q[Latency-2:0], running_second_q};
  end
  assign look_up_o = look_ups_q[Latency-1];
  assign second_o  = seconds_q[Latency-1];

endmodule
