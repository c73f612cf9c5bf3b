// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// One AXI4 read port for two read masters: client 0 (command fetch, ID 0) and client 1 (LOAD, ID 1).
//
// AR: client 0 goes first. It cannot starve client 1, because it asks only for what the command queues have room for.
// R: beats are routed by RID; bursts of different IDs may return in any order and interleaved.
//
// All port signals come from or go to flip-flops (skid buffers), so the masters behind need no R register of their own.
// Because the R channel has one register for both, a beat whose client stalls holds up the other client. So client 0
// must take its beats unconditionally (requests covered by free room); then client 1 may stall for as long as work that
// is already fetched needs, and nothing can wait in a circle.
module kt_axi_rd_arb #(
  parameter type ar_t = kt_axi_pkg::burst_t,
  parameter type r_t  = logic                 // see kt_axi_pkg
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // clients; c_r_o: a beat for either
  input  logic [1:0] c_ar_valid_i,
  output logic [1:0] c_ar_ready_o,
  input  ar_t        c_ar_i[2],
  output logic [1:0] c_r_valid_o,
  input  logic [1:0] c_r_ready_i,
  output r_t         c_r_o,
  // AXI4 AR, R
  output logic       ar_valid_o,
  input  logic       ar_ready_i,
  output logic [0:0] ar_id_o,
  output ar_t        ar_o,
  input  logic       r_valid_i,
  output logic       r_ready_o,
  input  logic [0:0] r_id_i,
  input  r_t         r_i
);

  logic ar_free, pick1;

  assign pick1           = !c_ar_valid_i[0];
  assign c_ar_ready_o[0] = ar_free;
  assign c_ar_ready_o[1] = ar_free && pick1;

  kt_skid #(
    .Width($bits(ar_t) + 1)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .in_valid_i (c_ar_valid_i != '0),
    .in_ready_o (ar_free),
    .in_data_i  ({pick1 ? c_ar_i[1] : c_ar_i[0], pick1}),
    .out_valid_o(ar_valid_o),
    .out_ready_i(ar_ready_i),
    .out_data_o ({ar_o, ar_id_o})
  );

  logic       beat_valid, beat_ready;
  logic [0:0] beat_id;
  kt_skid #(
    .Width($bits(r_t) + 1)
  ) u_r (
    .clk_i,
    .rst_ni,
    .in_valid_i (r_valid_i),
    .in_ready_o (r_ready_o),
    .in_data_i  ({r_id_i, r_i}),
    .out_valid_o(beat_valid),
    .out_ready_i(beat_ready),
    .out_data_o ({beat_id, c_r_o})
  );
  assign c_r_valid_o[0] = beat_valid && beat_id == 1'b0;
  assign c_r_valid_o[1] = beat_valid && beat_id == 1'b1;
  assign beat_ready     = (beat_id == 1'b0) ? c_r_ready_i[0] : c_r_ready_i[1];

endmodule
