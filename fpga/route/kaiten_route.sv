// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Kaiten between two shift registers, so that an FPGA whose package has fewer pins than the bus has wires takes it for
// place and route (scripts/route.py): scan_i is shifted into the flip-flops that drive the inputs, the outputs are taken
// while take_i is high, shifted to scan_o otherwise. Every path of the design starts and ends in a flip-flop, as it does
// beside a processor.
//
// PARAMETERS is what kaiten_top is given, as in a list of parameters; AxiW is among them.
module kaiten_route #(
  parameter int unsigned AxiW = 128
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic scan_i,
  input  logic take_i,
  output logic scan_o,
  output logic irq_o
);

  localparam int unsigned AddrW = kt_axi_pkg::AddrW;

  // inputs of the design, but clock and reset
  typedef struct packed {
    logic            aw_valid, w_valid, b_ready, ar_valid, r_ready;
    logic [9:0]      aw_addr, ar_addr;
    logic [31:0]     w_data;
    logic [3:0]      w_strb;
    logic            axi_ar_ready, axi_r_valid, axi_r_id, axi_r_last, axi_aw_ready, axi_w_ready, axi_b_valid;
    logic [AxiW-1:0] axi_r_data;
    logic [1:0]      axi_r_resp, axi_b_resp;
  } in_t;

  // outputs, but the interrupt
  typedef struct packed {
    logic              aw_ready, w_ready, b_valid, ar_ready, r_valid;
    logic [1:0]        b_resp, r_resp;
    logic [31:0]       r_data;
    logic              axi_ar_valid, axi_r_ready, axi_aw_valid, axi_w_valid, axi_w_last, axi_b_ready;
    logic              axi_ar_id, axi_aw_id;
    logic [AddrW-1:0]  axi_ar_addr, axi_aw_addr;
    logic [7:0]        axi_ar_len, axi_aw_len;
    logic [2:0]        axi_ar_size, axi_aw_size;
    logic [1:0]        axi_ar_burst, axi_aw_burst;
    logic [AxiW-1:0]   axi_w_data;
    logic [AxiW/8-1:0] axi_w_strb;
  } out_t;

  (* keep *) in_t  in_q;  // kept: scripts/routed.py finds the design's ports by these names
  (* keep *) out_t out;
  (* keep *) logic irq;
  out_t out_q;

  always_ff @(posedge clk_i) begin
    in_q  <= {in_q[$bits(in_t)-2:0], scan_i};
    out_q <= take_i ? out : {out_q[$bits(out_t)-2:0], 1'b0};
    irq_o <= irq;
  end
  assign scan_o = out_q[$bits(out_t)-1];

  kaiten_top #(
    `PARAMETERS
  ) u_kaiten (
    .clk_i,
    .rst_ni,
    .irq_o         (irq),
    .csr_aw_valid_i(in_q.aw_valid),
    .csr_aw_ready_o(out.aw_ready),
    .csr_aw_addr_i (in_q.aw_addr),
    .csr_w_valid_i (in_q.w_valid),
    .csr_w_ready_o (out.w_ready),
    .csr_w_data_i  (in_q.w_data),
    .csr_w_strb_i  (in_q.w_strb),
    .csr_b_valid_o (out.b_valid),
    .csr_b_ready_i (in_q.b_ready),
    .csr_b_resp_o  (out.b_resp),
    .csr_ar_valid_i(in_q.ar_valid),
    .csr_ar_ready_o(out.ar_ready),
    .csr_ar_addr_i (in_q.ar_addr),
    .csr_r_valid_o (out.r_valid),
    .csr_r_ready_i (in_q.r_ready),
    .csr_r_data_o  (out.r_data),
    .csr_r_resp_o  (out.r_resp),
    .axi_ar_valid_o(out.axi_ar_valid),
    .axi_ar_ready_i(in_q.axi_ar_ready),
    .axi_ar_id_o   (out.axi_ar_id),
    .axi_ar_addr_o (out.axi_ar_addr),
    .axi_ar_len_o  (out.axi_ar_len),
    .axi_ar_size_o (out.axi_ar_size),
    .axi_ar_burst_o(out.axi_ar_burst),
    .axi_r_valid_i (in_q.axi_r_valid),
    .axi_r_ready_o (out.axi_r_ready),
    .axi_r_id_i    (in_q.axi_r_id),
    .axi_r_data_i  (in_q.axi_r_data),
    .axi_r_resp_i  (in_q.axi_r_resp),
    .axi_r_last_i  (in_q.axi_r_last),
    .axi_aw_valid_o(out.axi_aw_valid),
    .axi_aw_ready_i(in_q.axi_aw_ready),
    .axi_aw_id_o   (out.axi_aw_id),
    .axi_aw_addr_o (out.axi_aw_addr),
    .axi_aw_len_o  (out.axi_aw_len),
    .axi_aw_size_o (out.axi_aw_size),
    .axi_aw_burst_o(out.axi_aw_burst),
    .axi_w_valid_o (out.axi_w_valid),
    .axi_w_ready_i (in_q.axi_w_ready),
    .axi_w_data_o  (out.axi_w_data),
    .axi_w_strb_o  (out.axi_w_strb),
    .axi_w_last_o  (out.axi_w_last),
    .axi_b_valid_i (in_q.axi_b_valid),
    .axi_b_ready_o (out.axi_b_ready),
    .axi_b_resp_i  (in_q.axi_b_resp)
  );

endmodule
