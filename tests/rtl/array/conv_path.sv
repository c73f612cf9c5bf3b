// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The convolution path for its test: SB -> kt_conv -> kt_result_writer -> VB-like second buffer. The ports only load
// memories, start commands and read results back.
module conv_path
  import kt_cmd_pkg::*;
  import kt_pkg::*;
  import kt_array_pkg::*;
#(
  parameter int unsigned Kp       = 32,
  parameter int unsigned Cp       = 8,
  parameter int unsigned StageRows = 4,
  parameter int unsigned WbRows   = 4096,
  parameter int unsigned SbDepth  = 8192,
  parameter int unsigned ZsbDepth = 1024,
  parameter int unsigned ObPixels = 512,
  parameter bit          TwoPixels = 0,
  parameter int unsigned MultiplierW = 18,
  localparam int unsigned Words    = Kp / Cp,
  localparam int unsigned OutWords = TwoPixels ? 2 * Words : Words
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // one word into bank `mem_bank_i` of SB; the tap word `mem_bank_i` of a WB row; a ZSB word
  input  logic                sb_we_i,
  input  logic                wb_we_i,
  input  logic                zsb_we_i,
  input  logic [15:0]         mem_addr_i,
  input  logic [3:0]          mem_bank_i,
  input  logic [Cp*72-1:0]    mem_data_i,
  input  logic [71:0]         zsb_data_i,
  input  logic [15:0]         wb_split_i,
  // queue
  input  logic                cmd_peek_i,
  input  logic                cmd_valid_i,
  output logic                cmd_ready_o,
  input  logic [BodyBits-1:0] cmd_i,
  input  logic [63:0]         extension_i,  // fields of extend_conv
  output logic                done_o,
  output logic                active_o,
  // results
  input  logic                st_ready_i,
  output logic                st_valid_o,
  output logic [Kp*8-1:0]     st_data_o,
  input  logic [3:0]          out_bank_i,
  input  logic [15:0]         out_addr_i,
  output logic [Cp*8-1:0]     out_data_o
);

  logic                sb_we_q, wb_we_q, zsb_we_q, st_ready_q;
  logic [15:0]         mem_addr_q, out_addr_q;
  logic [3:0]          mem_bank_q, out_bank_q;
  logic [Cp*72-1:0]    mem_data_q;
  logic [71:0]         zsb_data_q;
  logic                peek_q, valid_q;
  logic [BodyBits-1:0] cmd_q;
  extension_t          extension_q;
  always_ff @(posedge clk_i) begin
    sb_we_q    <= sb_we_i;
    wb_we_q    <= wb_we_i;
    zsb_we_q   <= zsb_we_i;
    mem_addr_q <= mem_addr_i;
    mem_bank_q <= mem_bank_i;
    mem_data_q <= mem_data_i;
    zsb_data_q <= zsb_data_i;
    out_addr_q <= out_addr_i;
    out_bank_q <= out_bank_i;
    st_ready_q <= st_ready_i;
  end
  // a queue of one command
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      peek_q  <= 1'b0;
      valid_q <= 1'b0;
    end else if (cmd_peek_i) begin
      peek_q  <= 1'b1;
      valid_q <= cmd_valid_i;
    end else if (conv_ready && valid_q) begin
      peek_q  <= 1'b0;
      valid_q <= 1'b0;
    end else if (cmd_valid_i) begin
      valid_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (cmd_peek_i) begin
      cmd_q       <= cmd_i;
      extension_q <= '{first: extension_i[15:0], pitch: extension_i[31:16], passes: extension_i[41:32],
                       last_groups: extension_i[45:42], look_up: extension_i[46],
                       table_word: addr_t'(extension_i[60:47])};
    end
  end
  logic conv_ready;
  assign cmd_ready_o = !peek_q;

  bank_req_t       req[9], no_req[9], load_req[1], no_vector_req[3], no_conv_req[OutWords], out_req[9];
  logic [Cp*8-1:0] word[9], load_word[1], no_vector_word[3], no_conv_word[OutWords], out_word[9];
  for (genvar t = 0; t < 9; t++) begin : g_req
    assign out_req[t] = (t == 0) ? '{en: 1'b1, bank: out_bank_q, addr: out_addr_q} : '0;
  end
  assign load_req[0]  = '{en: 1'b1, bank: mem_bank_q, addr: mem_addr_q};
  assign load_word[0] = mem_data_q[Cp*8-1:0];
  assign no_vector_req  = '{default: '0};
  assign no_vector_word = '{default: '0};
  assign no_conv_req   = '{default: '0};
  assign no_conv_word  = '{default: '0};
  assign no_req         = '{default: '0};

  logic unused_grant[4], unused_valid[2];
  kt_stream_buf #(.Cp(Cp), .Depth(SbDepth), .ConvWords(OutWords), .LoadWords(1)) u_sb (
    .clk_i, .rst_ni,
    .conv_we_i(1'b0), .conv_req_i(no_conv_req), .conv_word_i(no_conv_word),
    .vector_grant_o(unused_grant[0]), .vector_valid_i(1'b0), .vector_we_i(1'b0),
    .vector_req_i(no_vector_req), .vector_word_i(no_vector_word),
    .load_grant_o(unused_grant[1]), .load_valid_i(sb_we_q), .load_req_i(load_req), .load_word_i(load_word),
    .rd_req_i(req), .word_o(word)
  );

  logic            start, ready, take, credit, valid, second;
  out_cmd_t        out_cmd;
  logic [Cp*8-1:0] result[OutWords], written[OutWords];
  logic            unused_wait[2], unused_busy;
  kt_conv #(
    .Kp(Kp), .Cp(Cp), .StageRows(StageRows), .WbRows(WbRows), .ZsbDepth(ZsbDepth), .ObPixels(ObPixels), .TwoPixels(TwoPixels),
    .MultiplierW(MultiplierW)
  ) u_conv (
    .clk_i, .rst_ni,
    .cmd_peek_i(peek_q), .cmd_valid_i(valid_q), .cmd_ready_o(conv_ready), .cmd_i({24'd0, OpConv, cmd_q}),
    .extension_i(extension_q),
    .wb_split_i, .wb_we_i(wb_we_q), .wb_addr_i(mem_addr_q), .wb_data_i(mem_data_q),
    .zsb_we_i(zsb_we_q), .zsb_addr_i(mem_addr_q), .zsb_data_i(zsb_data_q),
    .rd_req_o(req), .word_i(word),
    .out_start_o(start), .out_cmd_o(out_cmd), .out_ready_i(ready), .out_take_o(take), .out_credit_i(credit),
    .out_valid_o(valid), .out_second_o(second), .out_word_o(result),
    .busy_o(unused_busy), .active_o, .wait_weights_o(unused_wait[0]), .wait_output_o(unused_wait[1])
  );

  bank_req_t   sb_req[OutWords], vb_req[OutWords];
  logic   sb_we, vb_we, blocked;
  watch_t watch;
  kt_result_writer #(
    .Cp(Cp), .Words(Words), .Pixels(TwoPixels ? 2 : 1), .Depth(conv_fifo(Kp / StageRows, chain_of(Cp, TwoPixels)))
  ) u_writer (
    .clk_i, .rst_ni,
    .start_i(start), .cmd_i(out_cmd), .ready_o(ready), .done_o,
    .take_i(take), .credit_o(credit), .valid_i(valid), .second_i(second), .word_i(result),
    .sb_req_o(sb_req), .sb_valid_o(unused_valid[0]), .sb_grant_i(1'b1), .sb_we_o(sb_we),
    .vb_req_o(vb_req), .vb_valid_o(unused_valid[1]), .vb_grant_i(1'b1), .vb_we_o(vb_we),
    .st_valid_o, .st_ready_i(st_ready_q), .word_o(written), .blocked_o(blocked), .watch_o(watch)
  );
  for (genvar w = 0; w < int'(Words); w++) begin : g_store
    assign st_data_o[Cp*8*w+:Cp*8] = written[w];
  end

  kt_stream_buf #(.Cp(Cp), .Depth(SbDepth), .ConvWords(OutWords), .LoadWords(1)) u_out (
    .clk_i, .rst_ni,
    .conv_we_i(vb_we), .conv_req_i(vb_req), .conv_word_i(written),
    .vector_grant_o(unused_grant[2]), .vector_valid_i(1'b0), .vector_we_i(1'b0),
    .vector_req_i(no_vector_req), .vector_word_i(no_vector_word),
    .load_grant_o(unused_grant[3]), .load_valid_i(1'b0), .load_req_i(load_req), .load_word_i(load_word),
    .rd_req_i(out_req), .word_o(out_word)
  );
  assign out_data_o = out_word[0];

  // what the test does not look at
  logic unused;
  assign unused = &{1'b0, sb_we, blocked, watch, unused_grant[0], unused_grant[1], unused_grant[2], unused_grant[3],
                    unused_valid[0], unused_valid[1], unused_wait[0], unused_wait[1], unused_busy, no_req[0]};

endmodule
