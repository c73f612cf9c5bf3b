// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

`include "fv.svh"
// The AXI4-Lite slave between any master and any register block: answers stay until taken, one answer for each request, never
// one without; every access to the registers is made once, with the address and data that were taken with it; reads
// and writes that can go on do go on.
module fv_kt_axi_lite #(
  parameter int unsigned AddrW = 4
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             aw_i, w_i, ar_i, b_ready_i, r_ready_i,
  input logic [AddrW-1:2] aw_addr_i, ar_addr_i,
  input logic [31:0]      w_data_i,
  input logic [3:0]       w_strb_i,
  input logic [31:0]      rdata_i,
  input logic             error_i
);
  `include "fv_reset.svh"

  logic             aw_ready, w_ready, ar_ready, b, r, req, write;
  logic [1:0]       b_resp, r_resp;
  logic [31:0]      r_data, wdata;
  logic [AddrW-1:2] addr;
  logic [3:0]       strb;
  kt_axi_lite #(
    .AddrW(AddrW)
  ) dut (
    .clk_i, .rst_ni,
    .aw_valid_i(aw_i), .aw_ready_o(aw_ready), .aw_addr_i,
    .w_valid_i(w_i), .w_ready_o(w_ready), .w_data_i, .w_strb_i,
    .b_valid_o(b), .b_ready_i, .b_resp_o(b_resp),
    .ar_valid_i(ar_i), .ar_ready_o(ar_ready), .ar_addr_i,
    .r_valid_o(r), .r_ready_i, .r_data_o(r_data), .r_resp_o(r_resp),
    .busy_o(), .req_o(req), .write_o(write), .addr_o(addr), .wdata_o(wdata), .strb_o(strb), .rdata_i, .error_i
  );

  logic on;
  assign on = past_ok_q && rst_ni;

  // ---- history: requests taken and not answered; what was taken and not used; the answer that must come
  logic [1:0]       aw_open_q, w_open_q, ar_open_q;
  logic             aw_there_q, w_there_q, ar_there_q, b_stall_q, r_stall_q, wrote_q, read_q;
  logic [AddrW-1:2] aw_addr_q, ar_addr_q;
  logic [35:0]      w_q;
  logic [33:0]      r_q;
  logic [1:0]       b_q;
  logic [2:0]       read_wait_q, write_wait_q;
  logic             can_write, can_read;
  assign can_write = aw_there_q && w_there_q;
  assign can_read  = ar_there_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {aw_open_q, w_open_q, ar_open_q} <= '0;
      {aw_there_q, w_there_q, ar_there_q, b_stall_q, r_stall_q, wrote_q, read_q} <= '0;
      {read_wait_q, write_wait_q} <= '0;
    end else begin
      aw_open_q    <= aw_open_q + 2'(aw_i && aw_ready) - 2'(b && b_ready_i);
      w_open_q     <= w_open_q + 2'(w_i && w_ready) - 2'(b && b_ready_i);
      ar_open_q    <= ar_open_q + 2'(ar_i && ar_ready) - 2'(r && r_ready_i);
      aw_there_q   <= (aw_i && aw_ready) || (aw_there_q && !(req && write));
      w_there_q    <= (w_i && w_ready) || (w_there_q && !(req && write));
      ar_there_q   <= (ar_i && ar_ready) || (ar_there_q && !(req && !write));
      b_stall_q    <= b && !b_ready_i;
      r_stall_q    <= r && !r_ready_i;
      wrote_q      <= req && write;
      read_q       <= req && !write;
      write_wait_q <= (can_write && !(req && write) && !b && !wrote_q) ? write_wait_q + 1'b1 : '0;
      read_wait_q  <= (can_read && !(req && !write) && !r && !read_q) ? read_wait_q + 1'b1 : '0;
    end
    if (aw_i && aw_ready) aw_addr_q <= aw_addr_i;
    if (ar_i && ar_ready) ar_addr_q <= ar_addr_i;
    if (w_i && w_ready) w_q <= {w_data_i, w_strb_i};
    if (wrote_q) b_q <= {error_i, 1'b0};
    if (read_q) r_q <= {rdata_i, error_i, 1'b0};
  end

  `FV_ASSERT(a_stable, !on || ((!b_stall_q || b) && (!r_stall_q || r)))
  `FV_ASSERT(a_owed, !on || ((!b || (aw_open_q != '0 && w_open_q != '0)) && (!r || ar_open_q != '0)))
  `FV_ASSERT(a_bound, !on || (aw_open_q <= 2'd2 && w_open_q <= 2'd2 && ar_open_q <= 2'd2))
  `FV_ASSERT(a_write, !(on && req && write) || (can_write && addr == aw_addr_q && {wdata, strb} == w_q))
  `FV_ASSERT(a_read, !(on && req && !write) || (can_read && addr == ar_addr_q))
  `FV_ASSERT(a_answers, !on || ((!b || b_resp == b_q) && (!r || {r_data, r_resp} == r_q)))
  `FV_ASSERT(a_prompt, !on || (write_wait_q <= 3'd1 && read_wait_q == '0))

  `FV_ASSERT(i_there, !on || (dut.aw_q == aw_there_q && dut.w_q == w_there_q && dut.ar_q == ar_there_q &&
             dut.wrote_q == wrote_q && dut.read_q == read_q))
  `FV_ASSERT(i_open, !on || (aw_open_q == 2'(aw_there_q) + 2'(wrote_q) + 2'(b) && w_open_q == 2'(w_there_q) + 2'(wrote_q) + 2'(b) &&
             ar_open_q == 2'(ar_there_q) + 2'(read_q) + 2'(r) && !(wrote_q && b) && !(read_q && r) &&
             !(ar_there_q && read_q) && !(wrote_q && (aw_there_q || w_there_q))))
  `FV_ASSERT(i_kept, !on || ((!aw_there_q || dut.aw_addr_q == aw_addr_q) && (!ar_there_q || dut.ar_addr_q == ar_addr_q) &&
             (!w_there_q || {wdata, strb} == w_q)))
  `FV_COVER(c_both, on && b_stall_q && r_stall_q && aw_open_q == 2'd2 && ar_open_q == 2'd2)
  `FV_COVER(c_wait, on && write_wait_q == 3'd1)
endmodule
