// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Streaming buffer (SB, VB): nine banks of Cp bytes with one write and one read port each. Invariant: word i of
// absolute row r lies in bank (i + 3r) mod 9. The enabled accesses of one request name different banks. Reading: the
// words of a request are at word_o two cycles later (address crossbar and memory, then data crossbar). Writing: three
// writers meet at the banks, fixed priority array > vector > LOAD. The vector engine's grant says that no bank of its
// request (vector_valid_i) is written by the array in this cycle; vector_we_i then writes it. A request of LOAD stays,
// unchanged, until its grant: its words are written as their banks become free, the last of them with the grant. It
// keeps off the banks of the vector engine's request whether that is written or not, so no grant waits for another.
// Words are in the banks two cycles after their write.
module kt_stream_buf
  import kt_pkg::*;
#(
  parameter int unsigned Cp         = 8,
  parameter int unsigned Depth      = 8192,
  parameter int unsigned ConvWords = 4,
  parameter int unsigned LoadWords  = 8,
  localparam int unsigned Aw        = $clog2(Depth)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // writers
  input  logic            conv_we_i,
  input  bank_req_t       conv_req_i  [ConvWords],
  input  logic [Cp*8-1:0] conv_word_i [ConvWords],
  output logic            vector_grant_o,
  input  logic            vector_valid_i,
  input  logic            vector_we_i,
  input  bank_req_t       vector_req_i  [3],
  input  logic [Cp*8-1:0] vector_word_i [3],
  output logic            load_grant_o,
  input  logic            load_valid_i,
  input  bank_req_t       load_req_i  [LoadWords],
  input  logic [Cp*8-1:0] load_word_i [LoadWords],
  // reader
  input  bank_req_t       rd_req_i  [9],
  output logic [Cp*8-1:0] word_o [9]
);

  // Sets of banks are masks of sixteen bits and arrays indexed by a bank have sixteen entries, so that simulation needs
  // no bounds check; nine are used. Bits of addresses above the depth of the memory are not looked at.
  /* verilator lint_off UNUSEDSIGNAL */

  // ---- which banks are taken: where one writer's request matters. In hardware requests do not wait for what makes them
  // valid, which comes late.
  logic [15:0] conv_all, vector_all, conv_banks, vector_banks, load_banks, load_writes;

  always_comb begin
    conv_all = '0;
    if (!Rests || conv_we_i) begin
      for (int unsigned w = 0; w < ConvWords; w++) conv_all |= 16'(conv_req_i[w].en) << conv_req_i[w].bank;
    end
  end
  always_comb begin
    vector_all = '0;
    if (!Rests || vector_valid_i) begin
      for (int unsigned w = 0; w < 3; w++) vector_all |= 16'(vector_req_i[w].en) << vector_req_i[w].bank;
    end
  end
  assign conv_banks   = conv_we_i ? conv_all : '0;
  assign vector_banks = vector_valid_i ? vector_all : '0;
  always_comb begin
    load_banks = '0;
    if (load_valid_i) begin
      for (int unsigned w = 0; w < LoadWords; w++) load_banks |= 16'(load_req_i[w].en) << load_req_i[w].bank;
    end
  end
  // LOAD's words whose banks are free go first; `load_done_q` are the banks of those already written.
  logic [15:0] load_done_q;
  assign load_writes = load_banks & ~load_done_q & ~conv_banks & ~vector_banks;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) load_done_q <= '0;
    else if (load_valid_i) load_done_q <= load_grant_o ? '0 : load_done_q | load_writes;
  end
  assign vector_grant_o = !(conv_we_i && (conv_all & vector_all) != '0);
  assign load_grant_o   = (load_writes | load_done_q) == load_banks;

  // ---- one write a bank, registered; in the clocked process, so that idle cycles cost nothing in simulation. Address
  // and word of a bank that is not written are don't-care: nothing is held.
  logic [15:0]     wr_en_q;
  logic [Aw-1:0]   wr_addr_q[16];
  logic [Cp*8-1:0] wr_data_q[16];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wr_en_q <= '0;
    else wr_en_q <= conv_banks | (vector_we_i ? vector_banks : '0) | load_writes;
  end
`ifdef KT_FAST_SIM
  logic write;
  assign write = conv_we_i || vector_we_i || load_valid_i;
  always_ff @(posedge clk_i) begin
    if (write) begin
      automatic logic [Aw-1:0]   addr[16] = '{default: 'x};
      automatic logic [Cp*8-1:0] data[16] = '{default: 'x};
      if (load_valid_i) begin
        for (int unsigned w = 0; w < LoadWords; w++) begin
          if (load_writes[load_req_i[w].bank] && load_req_i[w].en) begin
            addr[load_req_i[w].bank] = load_req_i[w].addr[Aw-1:0];
            data[load_req_i[w].bank] = load_word_i[w];
          end
        end
      end
      if (vector_we_i) begin
        for (int unsigned w = 0; w < 3; w++) begin
          if (vector_req_i[w].en) begin
            addr[vector_req_i[w].bank] = vector_req_i[w].addr[Aw-1:0];
            data[vector_req_i[w].bank] = vector_word_i[w];
          end
        end
      end
      if (conv_we_i) begin
        for (int unsigned w = 0; w < ConvWords; w++) begin
          if (conv_req_i[w].en) begin
            addr[conv_req_i[w].bank] = conv_req_i[w].addr[Aw-1:0];
            data[conv_req_i[w].bank] = conv_word_i[w];
          end
        end
      end
      wr_addr_q <= addr;
      wr_data_q <= data;
    end
  end
`else
  // One number of a way in for all bits of a bank, instead of a choice by priority a bit.
  localparam int unsigned Ways = ConvWords + 3 + LoadWords;
  localparam int unsigned WayW = $clog2(Ways);
  bank_req_t       way_req [2**WayW];
  logic [Cp*8-1:0] way_word[2**WayW];
  always_comb begin
    way_req  = '{default: 'x};
    way_word = '{default: 'x};
    for (int unsigned w = 0; w < ConvWords; w++) begin
      way_req[w]  = conv_req_i[w];
      way_word[w] = conv_word_i[w];
    end
    for (int unsigned w = 0; w < 3; w++) begin
      way_req[ConvWords+w]  = vector_req_i[w];
      way_word[ConvWords+w] = vector_word_i[w];
    end
    for (int unsigned w = 0; w < LoadWords; w++) begin
      way_req[ConvWords+3+w]  = load_req_i[w];
      way_word[ConvWords+3+w] = load_word_i[w];
    end
  end

  for (genvar b = 0; b < 9; b++) begin : gen_way
    logic [WayW-1:0] way;
    always_comb begin
      way = '0;
      for (int unsigned w = 0; w < Ways; w++) begin
        automatic logic on = (w < ConvWords) ? conv_we_i : (w < ConvWords + 3) ? vector_valid_i && !conv_banks[b]
                                                                               : load_writes[b];
        if (on && way_req[w].en && way_req[w].bank == 4'(b)) way |= WayW'(w);
      end
    end
    always_ff @(posedge clk_i) begin
      wr_addr_q[b] <= way_req[way].addr[Aw-1:0];
      wr_data_q[b] <= way_word[way];
    end
  end
  for (genvar b = 9; b < 16; b++) begin : gen_no_way
    assign wr_addr_q[b] = 'x;
    assign wr_data_q[b] = 'x;
  end
`endif

  // ---- reads
  logic [15:0]     bank_en;
  logic [Aw-1:0]   bank_addr[16];
  logic [Cp*8-1:0] bank_data[16];
  logic [3:0]      rd_bank_q[16];
  /* verilator lint_on UNUSEDSIGNAL */

`ifdef KT_FAST_SIM
  always_comb begin
    bank_en   = '0;
    bank_addr = '{default: '0};
    for (int unsigned t = 0; t < 9; t++) begin
      if (rd_req_i[t].en) begin
        bank_en[rd_req_i[t].bank]   = 1'b1;
        bank_addr[rd_req_i[t].bank] = rd_req_i[t].addr[Aw-1:0];
      end
    end
  end
`else
  always_comb begin
    automatic logic [Aw-1:0] addr[16] = '{default: 'x};
    bank_en   = '0;
    bank_addr = '{default: 'x};
    for (int unsigned t = 0; t < 9; t++) addr[t] = rd_req_i[t].addr[Aw-1:0];
    for (int unsigned b = 0; b < 9; b++) begin
      automatic logic [3:0] from = '0;
      for (int unsigned t = 0; t < 9; t++) begin
        if (rd_req_i[t].en && rd_req_i[t].bank == 4'(b)) begin
          bank_en[b] = 1'b1;
          from |= 4'(t);
        end
      end
      bank_addr[b] = addr[from];
    end
  end
`endif

  for (genvar b = 0; b < 9; b++) begin : gen_bank
    kt_ram_1r1w #(
      .Width(Cp * 8),
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .wr_en_i  (wr_en_q[b]),
      .wr_addr_i(wr_addr_q[b]),
      .wr_data_i(wr_data_q[b]),
      .rd_en_i  (bank_en[b]),
      .rd_addr_i(bank_addr[b]),
      .rd_data_o(bank_data[b])
    );
  end

  for (genvar b = 9; b < 16; b++) begin : gen_none
    assign bank_data[b] = 'x;
  end

  always_ff @(posedge clk_i) begin
    if (bank_en != '0) begin
      automatic logic [3:0] bank[16] = '{default: '0};
      for (int unsigned t = 0; t < 9; t++) bank[t] = rd_req_i[t].bank;
      rd_bank_q <= bank;
    end
  end

  always_comb for (int unsigned t = 0; t < 9; t++) word_o[t] = bank_data[rd_bank_q[t]];

endmodule
