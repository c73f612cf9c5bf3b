// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The ports of kaiten_top, and nothing behind them but a counter, for tests of what explores a chip. The first register written
// starts it: the lower half of what is written is the count at which it interrupts, the upper half the bits that it counts in.
module waiting_chip (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         csr_aw_valid_i, csr_w_valid_i, csr_b_ready_i, csr_ar_valid_i, csr_r_ready_i,
  input  logic [9:0]   csr_aw_addr_i, csr_ar_addr_i,
  input  logic [31:0]  csr_w_data_i,
  input  logic [3:0]   csr_w_strb_i,
  output logic         csr_aw_ready_o, csr_w_ready_o, csr_b_valid_o,
  output logic [1:0]   csr_b_resp_o,
  input  logic         axi_ar_ready_i, axi_aw_ready_i, axi_w_ready_i,
  input  logic         axi_r_valid_i, axi_r_last_i, axi_r_id_i, axi_b_valid_i,
  input  logic [1:0]   axi_r_resp_i, axi_b_resp_i,
  input  logic [127:0] axi_r_data_i,
  output logic         axi_ar_valid_o, axi_ar_id_o, axi_aw_valid_o, axi_w_valid_o, axi_w_last_o,
  output logic         axi_r_ready_o, axi_b_ready_o,
  output logic [31:0]  axi_ar_addr_o, axi_aw_addr_o,
  output logic [7:0]   axi_ar_len_o, axi_aw_len_o,
  output logic [2:0]   axi_ar_size_o, axi_aw_size_o,
  output logic [1:0]   axi_ar_burst_o, axi_aw_burst_o,
  output logic [127:0] axi_w_data_o,
  output logic [15:0]  axi_w_strb_o,
  output logic         irq_o
);

  logic        start, going_q;
  logic [15:0] count_q, last_q, bits_q;

  assign start = csr_aw_valid_i && csr_w_valid_i && !csr_b_valid_o;
  assign {csr_aw_ready_o, csr_w_ready_o} = {2{start}};
  assign csr_b_resp_o = '0;
  assign irq_o        = going_q && count_q == last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      csr_b_valid_o <= 1'b0;
      going_q       <= 1'b0;
      count_q       <= '0;
      last_q        <= '0;
      bits_q        <= '0;
    end else begin
      csr_b_valid_o <= start || (csr_b_valid_o && !csr_b_ready_i);
      if (start) begin
        going_q          <= 1'b1;
        {bits_q, last_q} <= csr_w_data_i;
      end
      if (going_q) count_q <= (count_q + 16'd1) & bits_q;
    end
  end

  assign {axi_ar_valid_o, axi_ar_id_o, axi_aw_valid_o, axi_w_valid_o, axi_w_last_o, axi_r_ready_o, axi_b_ready_o} = '0;
  assign {axi_ar_addr_o, axi_ar_len_o, axi_ar_size_o, axi_ar_burst_o} = '0;
  assign {axi_aw_addr_o, axi_aw_len_o, axi_aw_size_o, axi_aw_burst_o} = '0;
  assign {axi_w_data_o, axi_w_strb_o} = '0;

  logic unused;
  assign unused = ^{csr_ar_valid_i, csr_r_ready_i, csr_aw_addr_i, csr_ar_addr_i, csr_w_strb_i, axi_ar_ready_i, axi_aw_ready_i,
                    axi_w_ready_i, axi_r_valid_i, axi_r_last_i, axi_r_id_i, axi_b_valid_i, axi_r_resp_i, axi_b_resp_i, axi_r_data_i};

endmodule
