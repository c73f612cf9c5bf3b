// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// Streaming buffer: a word of array or vector engine, written with its grant, is what a later read of its place returns, and so
// is a word of LOAD, written as soon as neither array nor vector engine ask for its bank, once, and before its request's grant. Writers that share a cycle
// never share a bank. One place (bank, address), picked at an arbitrary moment, is watched: a write is seen by reads from two
// cycles later on, and a read's word is at its access, any of nine, in the cycle after.
// With FV_BUG the vector engine writes without its grant and the proof must fail.
module fv_kt_stream_buf
  import kt_pkg::*;
#(
  parameter int unsigned Cp    = 2,
  parameter int unsigned Depth = 4,
  localparam int unsigned Aw   = $clog2(Depth)
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       conv_we_i, vector_valid_i, vector_leave_i, load_valid_i,
  input bank_req_t  conv_req_i [2],
  input bank_req_t  vector_req_i[3],
  input bank_req_t  load_req_i  [2],
  input logic [Cp*8-1:0] conv_word_i [2],
  input logic [Cp*8-1:0] vector_word_i[3],
  input logic [Cp*8-1:0] load_word_i  [2],
  input bank_req_t  rd_req_i    [9],

  input logic [3:0] pick_bank_i,
  input logic [Aw-1:0] pick_addr_i
);
  `include "fv_reset.svh"

  logic       vector_grant, load_grant, vector_we;
  logic [Cp*8-1:0] word[9];
`ifdef FV_BUG
  assign vector_we = vector_valid_i;
`else
  assign vector_we = vector_valid_i && vector_grant && vector_leave_i;  // other sinks may be missing
`endif

  kt_stream_buf #(.Cp(Cp), .Depth(Depth), .ConvWords(2), .LoadWords(2)) dut (
    .clk_i, .rst_ni,
    .conv_we_i(conv_we_i && rst_ni), .conv_req_i, .conv_word_i,
    .vector_grant_o(vector_grant), .vector_valid_i(vector_valid_i && rst_ni), .vector_we_i(vector_we && rst_ni), .vector_req_i, .vector_word_i,
    .load_grant_o(load_grant), .load_valid_i(load_valid_i && rst_ni), .load_req_i, .load_word_i,
    .rd_req_i, .word_o(word)
  );

  // Every request names different, existing banks; what is not enabled may say anything.
  function automatic logic two(bank_req_t a, bank_req_t b);
    return !(a.en && b.en && a.bank == b.bank);
  endfunction
  function automatic logic exists(bank_req_t t);
    return !t.en || t.bank < 4'd9;
  endfunction
  `FV_ASSUME(m_array, two(conv_req_i[0], conv_req_i[1]) && exists(conv_req_i[0]) && exists(conv_req_i[1]))
  `FV_ASSUME(m_load, two(load_req_i[0], load_req_i[1]) && exists(load_req_i[0]) && exists(load_req_i[1]))
  `FV_ASSUME(m_vector, two(vector_req_i[0], vector_req_i[1]) && two(vector_req_i[0], vector_req_i[2]) && two(vector_req_i[1], vector_req_i[2])
             && exists(vector_req_i[0]) && exists(vector_req_i[1]) && exists(vector_req_i[2]))
  // A request of LOAD stays until its grant.
  logic       waits_q;
  bank_req_t  load_req_q [2];
  logic [Cp*8-1:0] load_word_q[2];
  always_ff @(posedge clk_i) begin
    waits_q     <= rst_ni && load_valid_i && !load_grant;
    load_req_q  <= load_req_i;
    load_word_q <= load_word_i;
  end
  `FV_ASSUME(m_stay, !(past_ok_q && rst_ni && waits_q) ||
             (load_valid_i && load_req_i[0] == load_req_q[0] && load_req_i[1] == load_req_q[1] &&
              load_word_i[0] == load_word_q[0] && load_word_i[1] == load_word_q[1]))

  // Which of LOAD's words are written now: what is not yet and finds its bank free.
  function automatic logic taken(bank_req_t t);
    taken = 1'b0;
    for (int unsigned a = 0; a < 2; a++) if (conv_we_i && !two(conv_req_i[a], t)) taken = 1'b1;
    for (int unsigned v = 0; v < 3; v++) if (vector_valid_i && !two(vector_req_i[v], t)) taken = 1'b1;
  endfunction
  logic [1:0] done_q, load_we;
  for (genvar w = 0; w < 2; w++) begin : g_load
    assign load_we[w] = load_valid_i && load_req_i[w].en && !done_q[w] && !taken(load_req_i[w]);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !load_valid_i || load_grant) done_q <= '0;
    else done_q <= done_q | load_we;
  end
  // the grant comes with the last of them
  `FV_ASSERT(a_load, !(past_ok_q && rst_ni && load_valid_i) ||
             load_grant == ((load_we | done_q) == {load_req_i[1].en, load_req_i[0].en}))
  logic [15:0] done_banks;
  assign done_banks = 16'(done_q[0]) << load_req_q[0].bank | 16'(done_q[1]) << load_req_q[1].bank;
  `FV_ASSERT(i_done, !past_ok_q || dut.load_done_q == done_banks)
  `FV_ASSERT(i_waits, !past_ok_q || (done_q & ~({2{waits_q}} & {load_req_q[1].en, load_req_q[0].en})) == '0)

  logic reads_ok;
  always_comb begin
    reads_ok = 1'b1;
    for (int unsigned t = 0; t < 9; t++) begin
      if (!exists(rd_req_i[t])) reads_ok = 1'b0;
      for (int unsigned u = 0; u < t; u++) if (!two(rd_req_i[t], rd_req_i[u])) reads_ok = 1'b0;
    end
  end
  `FV_ASSUME(m_reads, reads_ok)

  // The watched place and what was last written there; -1 and -2 cycles ago are still on their way.
  logic [3:0] bank_q;
  logic [Aw-1:0] addr_q;
  always_ff @(posedge clk_i) begin
    if (!past_ok_q) begin
      bank_q <= pick_bank_i;
      addr_q <= pick_addr_i;
    end
  end
  // memories outlive a reset; one at power-up is enough here
  `FV_ASSUME(m_reset_once, !past_ok_q || rst_ni)
  `FV_ASSUME(m_bank, pick_bank_i <= 4'd8)

  function automatic logic here(bank_req_t t);
    return t.en && t.bank == bank_q && t.addr[Aw-1:0] == addr_q;
  endfunction
  logic       hit;
  logic [Cp*8-1:0] value;
  always_comb begin
    hit   = 1'b0;
    value = '0;
    for (int unsigned w = 0; w < 2; w++) if (load_we[w] && here(load_req_i[w])) begin hit = 1'b1; value = load_word_i[w]; end
    if (vector_we) for (int unsigned w = 0; w < 3; w++) if (here(vector_req_i[w])) begin hit = 1'b1; value = vector_word_i[w]; end
    if (conv_we_i) for (int unsigned w = 0; w < 2; w++) if (here(conv_req_i[w])) begin hit = 1'b1; value = conv_word_i[w]; end
  end
  logic       on, was_on_q, hit1_q, known_q;
  logic [Cp*8-1:0] value1_q, stored_q;
  assign on = past_ok_q && rst_ni;
  always_ff @(posedge clk_i) begin
    if (!on) begin
      hit1_q  <= 1'b0;
      known_q <= 1'b0;
    end else begin
      hit1_q <= hit;
      if (hit1_q) known_q <= 1'b1;
    end
    was_on_q <= on;
    value1_q <= value;
    if (hit1_q) stored_q <= value1_q;
  end
  // a read issued now sees what is stored now and arrives a cycle later
  logic       read_q, known1_q;
  logic [3:0] access_q;
  logic [Cp*8-1:0] expect_q;
  logic       read;
  logic [3:0] access;
  always_comb begin
    read = 1'b0;
    access = '0;
    for (int unsigned t = 0; t < 9; t++) if (here(rd_req_i[t])) begin read = 1'b1; access = 4'(t); end
  end
  always_ff @(posedge clk_i) begin
    read_q   <= on && read;
    access_q <= access;
    known1_q <= known_q;
    expect_q <= stored_q;
  end
  // what ties the watched place to the banks
  logic [Cp*8-1:0] mem_at[9];
  for (genvar b = 0; b < 9; b++) begin : g_mem
    assign mem_at[b] = dut.gen_bank[b].u_ram.mem[addr_q];
  end
  `FV_ASSERT(i_place, !past_ok_q || bank_q <= 4'd8)
  `FV_ASSERT(i_mem, !(past_ok_q && known_q) || mem_at[bank_q] == stored_q)
  `FV_ASSERT(i_pipe, !past_ok_q || hit1_q == (was_on_q && dut.wr_en_q[bank_q] && dut.wr_addr_q[bank_q] == addr_q))
  `FV_ASSERT(i_data, !(past_ok_q && hit1_q) || dut.wr_data_q[bank_q] == value1_q)
  `FV_ASSERT(i_read, !(past_ok_q && read_q) || (dut.rd_bank_q[access_q] == bank_q && access_q < 9))
  `FV_ASSERT(i_word, !(past_ok_q && read_q && known1_q) || dut.bank_data[bank_q] == expect_q)
  `FV_ASSERT(a_read, !(on && read_q && known1_q) || word[access_q] == expect_q)

  // No bank is named twice among the words written in one cycle (LOAD's: those the buffer says it writes).
  logic clash;
  always_comb begin
    clash = 1'b0;
    for (int unsigned v = 0; v < 3; v++) begin
      for (int unsigned w = 0; w < 2; w++) begin
        if (vector_we && conv_we_i && vector_req_i[v].en && !two(vector_req_i[v], conv_req_i[w])) clash = 1'b1;
        if (vector_we && vector_req_i[v].en && dut.load_writes[vector_req_i[v].bank]) clash = 1'b1;
      end
    end
    for (int unsigned a = 0; a < 2; a++) begin
      if (conv_we_i && conv_req_i[a].en && dut.load_writes[conv_req_i[a].bank]) clash = 1'b1;
    end
  end
  `FV_ASSERT(a_clash, !on || !clash)

  `FV_COVER(c_three, on && conv_we_i && vector_we && load_we[0] && conv_req_i[0].en && vector_req_i[0].en)
  `FV_COVER(c_parts, on && load_valid_i && load_grant && done_q[0] && load_we[1])
  `FV_COVER(c_read, on && read_q && known1_q && expect_q == 'h5aa5 && access_q == 4'd8)
endmodule
