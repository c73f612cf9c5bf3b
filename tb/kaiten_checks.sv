// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Assertions of the debug models: what the blocks promise each other, bound to them so that rtl/ stays free of it. A failing
// one ends the simulation. The proofs (formal/) show the same of single blocks for all inputs; here the neighbours are real.

// A result never meets a full output FIFO, and credits tell the room that is really left.
module kt_result_writer_checks #(
  parameter int unsigned Depth = 64
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   start_i,
  input logic                   ready_o,
  input logic                   take_i,
  input logic                   credit_o,
  input logic                   valid_i,
  input logic                   pop,
  input logic [$clog2(Depth):0] fill_q,
  input logic [$clog2(Depth):0] credit_q
);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_room : assert (!valid_i || fill_q < ($clog2(Depth) + 1)'(Depth))
      else $error("a result meets a full FIFO");
      a_credit : assert (!take_i || credit_o)
      else $error("a window without a credit");
      a_balance : assert (fill_q <= ($clog2(Depth) + 1)'(Depth) - credit_q)
      else $error("more results than credits given");
      a_pop : assert (!pop || fill_q != '0)
      else $error("a result taken from an empty FIFO");
      a_start : assert (!start_i || ready_o)
      else $error("a command overwrites the next one");
    end
  end
endmodule

// Enabled accesses of one request lie in different banks, of those that exist; a request of LOAD stays until its grant.
module kt_stream_buf_checks
  import kt_pkg::*;
#(
  parameter int unsigned Cp         = 8,
  parameter int unsigned ConvWords = 4,
  parameter int unsigned LoadWords  = 8
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic            conv_we_i,
  input bank_req_t       conv_req_i [ConvWords],
  input logic            vector_grant_o,
  input logic            vector_we_i,
  input bank_req_t       vector_req_i[3],
  input logic            load_grant_o,
  input logic            load_valid_i,
  input bank_req_t       load_req_i  [LoadWords],
  input logic [Cp*8-1:0] load_word_i [LoadWords],
  input logic [15:0]     load_writes,
  input bank_req_t       rd_req_i    [9]
);
  logic [15:0]     read, array, vector, load, written_q;
  logic            clash, waits_q;
  bank_req_t       load_req_q [LoadWords];
  logic [Cp*8-1:0] word_q[LoadWords];

  always_comb begin
    {read, array, vector, load} = '0;
    clash = 1'b0;
    for (int t = 0; t < 9; t++) begin
      if (rd_req_i[t].en) begin
        clash = clash || read[rd_req_i[t].bank] || rd_req_i[t].bank > 4'd8;
        read[rd_req_i[t].bank] = 1'b1;
      end
    end
    for (int w = 0; w < int'(ConvWords); w++) begin
      if (conv_we_i && conv_req_i[w].en) begin
        clash = clash || array[conv_req_i[w].bank] || conv_req_i[w].bank > 4'd8;
        array[conv_req_i[w].bank] = 1'b1;
      end
    end
    for (int w = 0; w < 3; w++) begin
      if (vector_we_i && vector_req_i[w].en) begin
        clash = clash || vector[vector_req_i[w].bank] || vector_req_i[w].bank > 4'd8;
        vector[vector_req_i[w].bank] = 1'b1;
      end
    end
    for (int w = 0; w < int'(LoadWords); w++) begin
      if (load_valid_i && load_req_i[w].en) begin
        clash = clash || load[load_req_i[w].bank] || load_req_i[w].bank > 4'd8;
        load[load_req_i[w].bank] = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    waits_q   <= rst_ni && load_valid_i && !load_grant_o;
    written_q <= (rst_ni && load_valid_i && !load_grant_o) ? written_q | load_writes : '0;
    if (load_valid_i) begin
      load_req_q <= load_req_i;
      word_q <= load_word_i;
    end
    if (rst_ni) begin
      a_banks : assert (!clash)
      else $error("two words of one request meet in a bank");
      a_writers : assert ((array & vector) == '0 && ((array | vector) & load_writes) == '0)
      else $error("two writers meet in a bank");
      a_grant : assert (!vector_we_i || vector_grant_o)
      else $error("a write without its grant");
      a_load : assert (!load_valid_i || ((written_q & load_writes) == '0 && load_grant_o == ((written_q | load_writes) == load)))
      else $error("LOAD's words are not written once each, the last with the grant");
      a_stable : assert (!waits_q || (load_valid_i && load_req_i == load_req_q && load_word_i == word_q))
      else $error("a request of LOAD changes before its grant");
    end
  end
endmodule

// Pointers and level agree; the output stays until it is taken.
module kt_fifo_checks #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4
) (
  input logic                       clk_i,
  input logic                       rst_ni,
  input logic                       out_valid_o,
  input logic                       out_ready_i,
  input logic [Width-1:0]           out_data_o,
  input logic [$clog2(Depth+1)-1:0] level_o
);
  logic             waits_q;
  logic [Width-1:0] data_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && out_valid_o && !out_ready_i;
    data_q  <= out_data_o;
    if (rst_ni) begin
      a_level : assert (level_o <= ($clog2(Depth + 1))'(Depth) && (!out_valid_o || level_o != '0))
      else $error("the level of a FIFO is wrong");
      a_stable : assert (!waits_q || (out_valid_o && out_data_o == data_q))
      else $error("the output of a FIFO changes before it is taken");
    end
  end
endmodule

// The command fetch asks for no more than fits its FIFO.
module kt_cmd_fetch_checks (
  input logic clk_i,
  input logic rst_ni,
  input logic push,
  input logic unused_ready
);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_room : assert (!push || unused_ready)
      else $error("a command meets a full FIFO");
    end
  end
endmodule

// Commands complete after they were taken.
module kt_scoreboard_checks
  import kt_control_pkg::*;
(
  input logic              clk_i,
  input logic              rst_ni,
  input logic [Queues-1:0] done_i,
  input logic [Queues-1:0] running_o
);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_done : assert ((done_i & ~running_o) == '0)
      else $error("an engine completes a command it has not taken");
    end
  end
endmodule

bind kt_result_writer kt_result_writer_checks #(.Depth(Depth)) u_checks (.*);
bind kt_stream_buf kt_stream_buf_checks #(.Cp(Cp), .ConvWords(ConvWords), .LoadWords(LoadWords)) u_checks (.*);
bind kt_fifo kt_fifo_checks #(.Width(Width), .Depth(Depth)) u_checks (.*);
bind kt_cmd_fetch kt_cmd_fetch_checks u_checks (.*);
bind kt_scoreboard kt_scoreboard_checks u_checks (.*);
