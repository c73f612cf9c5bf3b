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
  parameter int unsigned AddrW = 40,
  parameter int unsigned DataW = 128
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // client 0
  input  logic             c0_ar_valid_i,
  output logic             c0_ar_ready_o,
  input  logic [AddrW-1:0] c0_ar_addr_i,
  input  logic [7:0]       c0_ar_len_i,
  output logic             c0_r_valid_o,
  input  logic             c0_r_ready_i,
  // client 1
  input  logic             c1_ar_valid_i,
  output logic             c1_ar_ready_o,
  input  logic [AddrW-1:0] c1_ar_addr_i,
  input  logic [7:0]       c1_ar_len_i,
  output logic             c1_r_valid_o,
  input  logic             c1_r_ready_i,
  // beat for either client
  output logic [DataW-1:0] c_r_data_o,
  output logic [1:0]       c_r_resp_o,
  output logic             c_r_last_o,
  // AXI4 AR, R
  output logic             ar_valid_o,
  input  logic             ar_ready_i,
  output logic [0:0]       ar_id_o,
  output logic [AddrW-1:0] ar_addr_o,
  output logic [7:0]       ar_len_o,
  output logic [2:0]       ar_size_o,
  output logic [1:0]       ar_burst_o,
  input  logic             r_valid_i,
  output logic             r_ready_o,
  input  logic [0:0]       r_id_i,
  input  logic [DataW-1:0] r_data_i,
  input  logic [1:0]       r_resp_i,
  input  logic             r_last_i
);

  logic             ar_free, pick1;
  logic [AddrW-1:0] ar_addr;
  logic [7:0]       ar_len;

  assign pick1         = !c0_ar_valid_i;
  assign c0_ar_ready_o = ar_free;
  assign c1_ar_ready_o = ar_free && pick1;
  assign ar_addr       = pick1 ? c1_ar_addr_i : c0_ar_addr_i;
  assign ar_len        = pick1 ? c1_ar_len_i : c0_ar_len_i;

  kt_skid #(
    .Width(AddrW + 9)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .in_valid_i (c0_ar_valid_i || c1_ar_valid_i),
    .in_ready_o (ar_free),
    .in_data_i  ({ar_addr, ar_len, pick1}),
    .out_valid_o(ar_valid_o),
    .out_ready_i(ar_ready_i),
    .out_data_o ({ar_addr_o, ar_len_o, ar_id_o})
  );
  assign ar_size_o  = 3'($clog2(DataW / 8));
  assign ar_burst_o = 2'b01;  // INCR

  logic       beat_valid, beat_ready;
  logic [0:0] beat_id;
  kt_skid #(
    .Width(DataW + 4)
  ) u_r (
    .clk_i,
    .rst_ni,
    .in_valid_i (r_valid_i),
    .in_ready_o (r_ready_o),
    .in_data_i  ({r_resp_i, r_last_i, r_id_i, r_data_i}),
    .out_valid_o(beat_valid),
    .out_ready_i(beat_ready),
    .out_data_o ({c_r_resp_o, c_r_last_o, beat_id, c_r_data_o})
  );
  assign c0_r_valid_o = beat_valid && beat_id == 1'b0;
  assign c1_r_valid_o = beat_valid && beat_id == 1'b1;
  assign beat_ready   = (beat_id == 1'b0) ? c0_r_ready_i : c1_r_ready_i;

endmodule
