// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// An address taken from a client, picked at an arbitrary moment, comes out of the port unchanged with the client's ID;
// a beat taken from the port comes out unchanged at the client of its ID and only there. Client 0 goes first.
module fv_kt_axi_rd_arb #(
  parameter int unsigned AddrW = 14,
  parameter int unsigned DataW = 32
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             c0_ar_valid_i,
  input logic [AddrW-1:0] c0_ar_addr_i,
  input logic [7:0]       c0_ar_len_i,
  input logic             c0_r_ready_i,
  input logic             c1_ar_valid_i,
  input logic [AddrW-1:0] c1_ar_addr_i,
  input logic [7:0]       c1_ar_len_i,
  input logic             c1_r_ready_i,
  input logic             ar_ready_i,
  input logic             r_valid_i,
  input logic [0:0]       r_id_i,
  input logic [DataW-1:0] r_data_i,
  input logic [1:0]       r_resp_i,
  input logic             r_last_i,
  input logic             pick_ar_i,
  input logic             pick_r_i
);
  logic c0_ar_ready, c1_ar_ready, c0_r_valid, c1_r_valid, ar_valid, r_ready, c_r_last;
  logic [DataW-1:0] c_r_data;
  logic [1:0] c_r_resp;
  logic [0:0] ar_id;
  logic [AddrW-1:0] ar_addr;
  logic [7:0] ar_len;
  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [7:0]       len;
  } ar_t;
  typedef struct packed {
    logic [1:0]       resp;
    logic             last;
    logic [DataW-1:0] data;
  } r_t;
  ar_t ar, c_ar[2];
  r_t  c_r;
  assign c_ar[0] = {c0_ar_addr_i, c0_ar_len_i};
  assign c_ar[1] = {c1_ar_addr_i, c1_ar_len_i};
  assign {ar_addr, ar_len}             = ar;
  assign {c_r_resp, c_r_last, c_r_data} = c_r;
  kt_axi_rd_arb #(
    .ar_t(ar_t),
    .r_t (r_t)
  ) dut (
    .clk_i,
    .rst_ni,
    .c_ar_valid_i({c1_ar_valid_i, c0_ar_valid_i}),
    .c_ar_ready_o({c1_ar_ready, c0_ar_ready}),
    .c_ar_i      (c_ar),
    .c_r_valid_o ({c1_r_valid, c0_r_valid}),
    .c_r_ready_i ({c1_r_ready_i, c0_r_ready_i}),
    .c_r_o       (c_r),
    .ar_valid_o  (ar_valid),
    .ar_ready_i,
    .ar_id_o     (ar_id),
    .ar_o        (ar),
    .r_valid_i,
    .r_ready_o   (r_ready),
    .r_id_i,
    .r_i         ({r_resp_i, r_last_i, r_data_i})
  );
  `include "fv_reset.svh"

  wire take0  = c0_ar_valid_i && c0_ar_ready;
  wire take1  = c1_ar_valid_i && c1_ar_ready;
  wire ar_out = ar_valid && ar_ready_i;
  wire r_in   = r_valid_i && r_ready;
  wire out0   = c0_r_valid && c0_r_ready_i;
  wire out1   = c1_r_valid && c1_r_ready_i;

  // the picked address and beat, and what stands before them
  logic             a_live_q, r_live_q, a_ahead_q, r_ahead_q;
  logic [1:0]       a_count_q, r_count_q;
  logic [AddrW+8:0] a_word_q;
  logic [DataW+3:0] r_word_q;
  wire [AddrW+8:0] a_in = take0 ? {c0_ar_addr_i, c0_ar_len_i, 1'b0} : {c1_ar_addr_i, c1_ar_len_i, 1'b1};
  wire [DataW+3:0] beat_in = {r_id_i, r_resp_i, r_last_i, r_data_i};
  wire r_out = out0 || out1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_live_q  <= 1'b0;
      r_live_q  <= 1'b0;
      a_count_q <= '0;
      r_count_q <= '0;
    end else begin
      a_count_q <= a_count_q + 2'(take0 || take1) - 2'(ar_out);
      r_count_q <= r_count_q + 2'(r_in) - 2'(r_out);
      if (!a_live_q) a_live_q <= pick_ar_i && (take0 || take1);
      else if (ar_out && !a_ahead_q) a_live_q <= 1'b0;
      if (!r_live_q) r_live_q <= pick_r_i && r_in;
      else if (r_out && !r_ahead_q) r_live_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!a_live_q) begin
      a_word_q  <= a_in;
      a_ahead_q <= a_count_q != 2'(ar_out);
    end else if (ar_out) a_ahead_q <= 1'b0;
    if (!r_live_q) begin
      r_word_q  <= beat_in;
      r_ahead_q <= r_count_q != 2'(r_out);
    end else if (r_out) r_ahead_q <= 1'b0;
  end

  // AR stability at the port
  logic stall_q;
  logic [AddrW+8:0] ar_h;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stall_q <= 1'b0;
    else stall_q <= ar_valid && !ar_ready_i;
  end
  always_ff @(posedge clk_i) ar_h <= {ar_addr, ar_len, ar_id};
  logic waited_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waited_q <= 1'b0;
    else waited_q <= c1_ar_valid_i && !c1_ar_ready && c0_ar_valid_i && c0_ar_ready;
  end

  `FV_ASSERT(a_hold, !stall_q || (ar_valid && {ar_addr, ar_len, ar_id} == ar_h))
  `FV_ASSERT(a_one, !(take0 && take1))
  `FV_ASSERT(a_first, !(c0_ar_valid_i && take1))
  `FV_ASSERT(a_address, !(a_live_q && !a_ahead_q && ar_out) || {ar_addr, ar_len, ar_id} == a_word_q)
  `FV_ASSERT(a_route, !(c0_r_valid && c1_r_valid))
  `FV_ASSERT(a_beat, !(r_live_q && !r_ahead_q && r_out) ||
             ({out1, c_r_resp, c_r_last, c_r_data} == r_word_q))
  `FV_ASSERT(i_a, a_count_q == 2'(dut.u_ar.out_valid_q) + 2'(dut.u_ar.skid_valid_q))
  `FV_ASSERT(i_r, r_count_q == 2'(dut.u_r.out_valid_q) + 2'(dut.u_r.skid_valid_q))
  `FV_ASSERT(i_a_order, !dut.u_ar.skid_valid_q || dut.u_ar.out_valid_q)
  `FV_ASSERT(i_r_order, !dut.u_r.skid_valid_q || dut.u_r.out_valid_q)
  `FV_ASSERT(i_a_word, !a_live_q || (a_count_q > 2'(a_ahead_q) &&
             (a_ahead_q ? dut.u_ar.skid_data_q : dut.u_ar.out_data_q) == a_word_q))
  `FV_ASSERT(i_r_word, !r_live_q || (r_count_q > 2'(r_ahead_q) &&
             (r_ahead_q ? dut.u_r.skid_data_q : dut.u_r.out_data_q) == r_word_q))
  `FV_COVER(c_contended, waited_q && take1)
  `FV_COVER(c_interleaved, r_live_q && !r_ahead_q && out1 && r_count_q == 2'd2)
endmodule
